"""Every metric with every design works, or is refused by name with a reason.

``python -m tests.evaluation.test_cells`` writes the table of the guide, and a test
compares the guide with it.
"""

from pathlib import Path

import numpy as np
import pytest

import rocpath as rp

GUIDE = Path(__file__).parents[2] / "docs" / "intervals.md"
START, END = "<!-- cells: start -->\n", "<!-- cells: end -->\n"
N_ROWS = 240
METRICS = {
    '`"auc"`': "auc",
    "`PartialAUC`": rp.metrics.PartialAUC(max_fpr=0.4),
    '`"average_precision"`': "average_precision",
    '`"brier"`': "brier",
    "`TPRAtFPR`": rp.metrics.TPRAtFPR(0.2),
    "`FPRAtTPR`": rp.metrics.FPRAtTPR(0.8),
    "`PrecisionAtK`": rp.metrics.PrecisionAtK(8),
    "`AtThreshold`": rp.metrics.AtThreshold("ppv", 0.6),
    '`"concordance"`': "concordance",
    "`UnoConcordance`": rp.metrics.UnoConcordance(1.0),
    "`TimeDependentAUC`": rp.metrics.TimeDependentAUC(0.5),
}
DESIGNS = ("rows", "groups", "weights", "strata", "sampled strata", "subgroups", "two samples")
DESIGNS += ("several classes",)


def rows():
    """Return labels and times, three scores, and the arguments of each design."""
    rng = np.random.default_rng(0)
    y = rng.random(N_ROWS) < 0.35
    logit = rng.normal(size=N_ROWS) + y
    noise = rng.normal(size=(3, N_ROWS)) * [[0.0], [0.7], [1.5]]
    scores = dict(zip("abc", 1.0 / (1.0 + np.exp(-logit - noise)), strict=True))
    times = rp.Survival(rng.exponential(size=N_ROWS) * np.exp(-logit), rng.random(N_ROWS) < 0.6)
    designs = {
        "rows": {},
        "groups": {"groups": rng.integers(0, 40, N_ROWS)},
        "weights": {"sample_weight": rng.uniform(0.2, 2.0, N_ROWS)},
        "strata": {"strata": rng.integers(0, 4, N_ROWS), "population": "these"},
        "sampled strata": {"strata": rng.integers(0, 12, N_ROWS), "population": "like these"},
        "subgroups": {"by": rng.integers(0, 3, N_ROWS)},
    }
    return y, times, scores, designs


def calls(metric, design, y, scores, designs):
    """Yield the interval and the comparisons of two and of three scores."""
    two = {name: scores[name] for name in "ab"}
    if design == "two samples":
        yield lambda: rp.compare(y, two, metric, other_y=y)
    elif design == "several classes":
        label = np.arange(N_ROWS) % 3
        matrix = np.stack(list(scores.values()), axis=1) + 0.2 * np.eye(3)[label]
        matrix /= matrix.max() * 1.01
        yield lambda: rp.interval(label, matrix, metric)
        yield lambda: rp.compare(label, {"a": matrix, "b": matrix[:, ::-1]}, metric)
    else:
        given = designs[design]
        yield lambda: rp.interval(y, scores["a"], metric, **given)
        yield lambda: rp.compare(y, two, metric, margin=0.05, **given)
        yield lambda: rp.compare(y, scores, metric, **given)


def refusal(metric, design, y, scores, designs):
    """Return the message that refuses a cell, or None; check the numbers of all results."""
    messages = set()
    for call in calls(metric, design, y, scores, designs):
        try:
            found = call()
        except ValueError as error:
            messages.add(str(error))
            continue
        messages.add(None)
        parts = found.intervals.values() if hasattr(found, "intervals") else [found]
        for part in parts:
            assert part.low <= part.value <= part.high
            assert part.low < part.high
        for part in getattr(found, "differences", {}).values():
            assert part.low <= part.value <= part.high
            assert 0 <= part.p_value <= part.adjusted_p_value <= 1
        if design == "subgroups":
            assert set(found.subgroups) == {0, 1, 2}
            assert 0 <= found.equality_p_value <= 1
            if found.largest_gap is not None:
                assert found.largest_gap.low <= found.largest_gap.value <= found.largest_gap.high
    assert len(messages) == 1, messages  # intervals and comparisons agree
    return messages.pop()


def cell(name, design):
    """Return the text of a cell, or raise if a refusal does not name its reason."""
    y, times, scores, designs = rows()
    is_survival = getattr(METRICS[name], "outcome", "") == "survival" or name == '`"concordance"`'
    metric = METRICS[name]
    message = refusal(metric, design, times if is_survival else y, scores, designs)
    if message is None:
        return "yes"
    assert "must be" in message
    return "refused"


def table():
    lines = ["| metric | " + " | ".join(DESIGNS) + " |", "|---" * (len(DESIGNS) + 1) + "|"]
    for name in METRICS:
        lines.append("| " + " | ".join([name, *(cell(name, each) for each in DESIGNS)]) + " |")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", METRICS)
def test_the_table_of_the_guide_states_which_cells_work(name):
    text = GUIDE.read_text()
    shown = text[text.index(START) + len(START) : text.index(END)]
    (line,) = [line for line in shown.splitlines() if line.startswith(f"| {name} ")]
    assert [part.strip() for part in line.split("|")[2:-1]] == [cell(name, d) for d in DESIGNS]


if __name__ == "__main__":
    text = GUIDE.read_text()
    before, after = text[: text.index(START) + len(START)], text[text.index(END) :]
    GUIDE.write_text(before + table() + after)
