"""Colors of the kinds of labels on the labeling page and in reports."""

# The palette of Okabe and Ito, whose colors can be distinguished with color blindness.
KIND_COLORS = {
    "no_change": "#F0E442",
    "one_change": "#CC79A7",
    "at_least_one_change": "#56B4E9",
    "no_peaks": "#999999",
    "peaks": "#009E73",
    "peak_start": "#E69F00",
    "peak_end": "#0072B2",
}
