"""Names of the segment costs and of constraints on their centers.

With center μ, observations x and weights w of a segment, the costs are

- ``"normal"``: Σ w (x - μ)², summed over columns.
- ``"poisson"``: Σ w (μ - x log μ), with 0 log 0 = 0, for non-negative x.
- ``"exponential"``: Σ w (log μ + x / μ), for positive x, such as waiting times. Values
  must be at least 1e-100, because the cost of zeros is unbounded below.
- ``"binomial"``: -Σ w (x log μ + (1 - x) log(1 - μ)), for binary x, or for fractions x of
  successes in w trials.
- ``"geometric"``: Σ w ((1 + x) log(1 + μ) - x log μ), for non-negative x, such as numbers
  of failures before a success, or counts with a larger variance than Poisson counts.
- ``"variance"``: W log σ², with the total weight W and the weighted mean σ² of x², for x
  with mean zero; if x has another known mean, subtract it first. Values of x² below 1e-6
  times their mean over the sequence are replaced by that bound or, if there are zeros, by
  1/12 of the smallest positive value (the variance of rounding) if it is larger.
- ``"biweight"``: Σ w min((x - μ)², c²), with the threshold c.
- ``"huber"``: Σ w h(x - μ), where h(r) is r² if abs(r) is at most c, and c (2 abs(r) - c)
  otherwise.
- ``"linear"``: Σ w (x - α - β t)², where t is the index of an observation; a line with its
  own level α and slope β for each segment, which has at least two observations.
- ``"mean_variance"``: W log σ², with the total weight W and the variance σ² of the
  segment, which has at least two observations, summed over columns. If the mean square V
  around the mean is below a floor v, the cost is W (log v + V / v - 1). The floor is 1e-6
  times the noise variance of the column or, if it is larger and values repeat, 1/12 of the
  squared smallest distance of two values (the variance of rounding).
"""

from typing import Literal

SegmentCost = Literal[
    "normal",
    "poisson",
    "exponential",
    "binomial",
    "geometric",
    "variance",
    "biweight",
    "huber",
    "linear",
    "mean_variance",
]
# "auto" chooses a cost for each sequence.
DetectionCost = Literal[SegmentCost, "auto"]
Constraint = Literal["up_down"] | None
