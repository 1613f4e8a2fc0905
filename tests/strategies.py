"""Hypothesis strategies: lines and breakpoints, most of them with many ties."""

import numpy as np
from hypothesis import strategies as st

small = st.integers(-4, 4).map(float)
halves = st.integers(-6, 6).map(lambda k: k / 2)
thirds = st.integers(-9, 9).map(lambda k: k / 3)
# Floats are rounded, so that no two are so close that their crossing overflows.
floats = st.floats(-1e6, 1e6).map(lambda x: round(x, 6))
places = st.sampled_from([small, small, halves, thirds, floats])
# Powers of two change only the scale; the others also change the rounding.
scales = st.sampled_from([1.0, 1.0, 2.0**40, 2.0**-60, 1e9, 1e-9, 1e150, 1e-150])


@st.composite
def vectors(draw, size):
    element = draw(places)
    scale = draw(scales)
    return [x * scale for x in draw(st.lists(element, min_size=size, max_size=size))]


@st.composite
def label_lines(draw, max_size=8):
    """Draw lines of binary labels, with or without weights; errors are monotone."""
    n = draw(st.integers(2, max_size))
    is_positive = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    is_positive[:2] = [True, False]
    weight = draw(
        st.sampled_from([st.just(1.0), st.sampled_from([0.0, 1.0, 2.0]), st.floats(0.01, 10)])
    )
    weights = draw(st.lists(weight, min_size=n, max_size=n))
    weights[:2] = [w or 1.0 for w in weights[:2]]
    fp_diff = [0.0 if p else w for p, w in zip(is_positive, weights, strict=True)]
    fn_diff = [-w if p else 0.0 for p, w in zip(is_positive, weights, strict=True)]
    if draw(st.booleans()):
        fp_diff = [x / sum(fp_diff) for x in fp_diff]
        fn_diff = [-x / sum(fn_diff) for x in fn_diff]
    # Jumps with more than 61 bits below their sum are rejected.
    fp_diff, fn_diff = ([round(x * 2**50) / 2**50 for x in each] for each in (fp_diff, fn_diff))
    return draw(vectors(n)), draw(vectors(n)), fp_diff, fn_diff


@st.composite
def error_functions(draw):
    """Draw the breakpoints of one example and its jumps, which are rarely monotone."""
    n = draw(st.integers(1, 4))
    count = st.integers(0, 2)
    fp = [0, *draw(st.lists(count, min_size=n, max_size=n))]
    fn = [*draw(st.lists(count, min_size=n, max_size=n)), 0]
    value = draw(st.lists(small, min_size=n, max_size=n, unique=True))
    return sorted(value), np.diff(fp).tolist(), np.diff(fn).tolist()


@st.composite
def changepoint_breakpoints(draw, max_examples=4):
    """Draw columns (example, value, fp_diff, fn_diff) of several error functions."""
    functions = draw(st.lists(error_functions(), min_size=1, max_size=max_examples))
    # The last two examples ensure that errors of both kinds are possible.
    functions += [([0.0], [1], [0]), ([0.0], [0], [-1])]
    rows = [
        (k, *row) for k, function in enumerate(functions) for row in zip(*function, strict=True)
    ]
    return tuple(list(column) for column in zip(*rows, strict=True))


@st.composite
def changepoint_lines(draw):
    """Draw lines of changepoint errors: parallel within an example, not monotone."""
    example, value, fp_diff, fn_diff = draw(changepoint_breakpoints())
    n = max(example) + 1
    prediction = draw(st.lists(small, min_size=n, max_size=n))
    direction = draw(st.lists(small, min_size=n, max_size=n))
    intercept = [v - prediction[k] for k, v in zip(example, value, strict=True)]
    return intercept, [-direction[k] for k in example], fp_diff, fn_diff


@st.composite
def tenth_lines(draw):
    """Draw lines on a grid of tenths, which meet exactly only before rounding."""
    n = draw(st.integers(3, 6))
    tenths = st.lists(st.integers(-6, 6), min_size=n, max_size=n)
    intercept, slope = ([k / 10 for k in draw(tenths)] for _ in range(2))
    jump = st.lists(st.integers(0, 2), min_size=n, max_size=n)
    fp_diff, tp_diff = draw(jump), draw(jump)
    fp_diff[0] = tp_diff[1] = 1
    return intercept, slope, fp_diff, [-t for t in tp_diff]


any_lines = st.one_of(label_lines(), changepoint_lines())
