"""Colors of all figures and pages, defined once."""

# The palette of Okabe and Ito, which is suitable for color-blind readers.
BLACK, GRAY = "#000000", "#767676"
ORANGE, SKY, GREEN, BLUE = "#E69F00", "#56B4E9", "#009E73", "#0072B2"
RED, PURPLE, YELLOW = "#D55E00", "#CC79A7", "#F0E442"
SERIES = (BLUE, RED, GREEN, PURPLE, ORANGE, SKY, BLACK)

FP_COLOR = RED
FN_COLOR = BLUE
MIN_COLOR = BLACK
VARIANT_COLORS = {"first min": GREEN, "linear": ORANGE, "best AUM": BLACK, "best AUC": PURPLE}
KIND_COLORS = {
    "no_change": YELLOW,
    "one_change": PURPLE,
    "at_least_one_change": SKY,
    "no_peaks": "#999999",
    "peaks": GREEN,
    "peak_start": ORANGE,
    "peak_end": BLUE,
}
# Colors of text, lines and backgrounds of pages.
_TONES = {
    "ink": "#1b1f24",
    "soft": "#57606a",
    "border": "#afb8c1",
    "faint": "#c5ccd3",
    "rule": "#d8dee4",
    "hover": "#eaeef2",
    "wash": "#f6f8fa",
    "link": BLUE,
    "link-dark": "#005c91",
    "link-wash": "#eef6fb",
    "note-wash": "#fff8e6",
    "wrong": "#b31d28",
    "wrong-wash": "#fbeee6",
    "right-wash": "#e6f2f9",
    "cursor": "#d1242f",
    "fp-text": "#b34a00",  # on white, RED has too little contrast for text
}


def css_variables() -> str:
    """Return a style that defines all colors as variables, for style sheets and scripts."""
    colors = {
        **_TONES,
        "gray": GRAY,
        "orange": ORANGE,
        "sky": SKY,
        "fp": FP_COLOR,
        "fn": FN_COLOR,
        **{name.lower().replace(" ", "-"): color for name, color in VARIANT_COLORS.items()},
        **{f"series-{k}": color for k, color in enumerate(SERIES)},
    }
    return f":root {{ {' '.join(f'--{name}: {color};' for name, color in colors.items())} }}\n"
