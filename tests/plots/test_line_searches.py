"""Data drawn in figures of AUC and AUM along a path."""

import numpy as np
import pytest

import rocpath as rp

pytest.importorskip("matplotlib", reason="plots require matplotlib").use("Agg")
from rocpath import plots  # noqa: E402


@pytest.fixture
def lines():
    bp = rp.ErrorBreakpoints.from_labels([0, 0, 1, 1])
    return rp.Lines.from_predictions(bp, [-7, -2, 0, -4], [0, -0.5, 0, 0.5])


def test_curves_show_the_path_and_best_steps_are_marked(lines):
    path, best = rp.sweep(lines), rp.best_aum_step(lines)
    auc_axes, aum_axes = plots.plot_step_path(path, {"smallest AUM": best}, max_step=6.0)
    # AUM decreases from 1 to 0 at step 2, where AUC becomes 1.
    np.testing.assert_array_equal(auc_axes.lines[0].get_xdata(), [0, 2, 2, 6])
    np.testing.assert_array_equal(auc_axes.lines[0].get_ydata(), [0.75, 0.75, 1, 1])
    np.testing.assert_array_equal(aum_axes.lines[0].get_xydata(), [(0, 1), (2, 0), (6, 0)])
    for axis in (auc_axes, aum_axes):
        assert axis.lines[1].get_xdata()[0] == best.step
    assert auc_axes.get_legend().get_texts()[0].get_text() == f"smallest AUM: step {best.step:.3g}"


def test_the_whole_path_is_drawn_if_no_step_is_marked(lines):
    path = rp.sweep(lines)
    auc_axes, aum_axes = plots.plot_step_path(path)
    assert aum_axes.lines[0].get_xdata()[-1] == path.step[-1]
    assert auc_axes.get_legend() is None
