"""Data drawn in decision curves and calibration plots."""

import matplotlib as mpl
import numpy as np
import pytest

import rocpath as rp
from rocpath import plots

mpl.use("Agg")


def predictions(n_rows=300):
    rng = np.random.default_rng(0)
    p = rng.beta(2, 4, n_rows)
    return np.where(rng.random(n_rows) < p, "yes", "no"), p


def test_decision_curves_draw_the_net_benefit_and_both_defaults():
    y, p = predictions()
    at = np.linspace(0.1, 0.6, 6)
    ax = plots.plot_decision_curve(y, {"new": p, "old": p[::-1]}, at)
    assert [line.get_label() for line in ax.lines] == ["new", "old", "treat all", "treat none"]
    for line, given in zip(ax.lines, (p, p[::-1]), strict=False):
        curve = rp.net_benefit(y, given, at)
        np.testing.assert_allclose(line.get_ydata(), curve.column("value"))
    np.testing.assert_allclose(ax.lines[2].get_ydata(), curve.column("treat_all"))
    assert len(ax.collections) == 2


def test_calibration_plots_draw_bins_and_a_smooth_curve():
    y, p = predictions()
    ax = plots.plot_calibration(y, p)
    (bins,) = ax.containers
    expected = rp.calibration_curve(y, p).bins
    np.testing.assert_allclose(bins.lines[0].get_ydata(), [point.share for point in expected])
    smooth = next(line for line in ax.lines if line.get_label() == "smooth curve")
    assert np.diff(smooth.get_ydata()).min() > 0
    assert "Observed share of yes" in ax.get_ylabel()
    assert "slope" in ax.get_title(loc="left")
    with pytest.raises(ValueError, match="probability must be in"):
        plots.plot_calibration(y, p + 1)
