"""Data drawn in ROC figures, and bands compared with binomial intervals."""

import matplotlib as mpl
import numpy as np
import pytest
from scipy.stats import binomtest

import rocpath as rp
from rocpath import plots
from rocpath.evaluation.operating_points import RankedRows
from rocpath.evaluation.roc_bands import roc_band, threshold_grid
from rocpath.sample import group_codes

mpl.use("Agg")


def rows(n_rows=150):
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % 3 == 0
    return y, rng.normal(size=n_rows) + y


def test_plot_roc_draws_curves_bands_and_legend():
    y, score = rows()
    point = rp.choose_threshold(y, score, max_fpr=0.2)
    ax = plots.plot_roc(y, {"one": score, "two": -score}, operating_point=point)
    curve = rp.roc_curve(y, score)
    np.testing.assert_allclose(ax.lines[0].get_xdata(), curve.fpr)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), curve.tpr)
    area = rp.auc_interval(y, score)
    text = f"one: AUC {area.value:.3f} ({area.low:.3f} to {area.high:.3f})"
    assert ax.lines[0].get_label() == text
    assert len(ax.collections) >= 2
    (dot,) = ax.containers
    assert dot.lines[0].get_xdata()[0] == point.fpr
    same = plots.plot_roc(y, score, ax=ax, band=None, name="three")
    assert same is ax


def test_the_pointwise_band_has_binomial_bounds():
    y, score = rows()
    band = roc_band(y, score, 0.9)
    # Two independent intervals of this confidence contain both rates in 90% of samples.
    exact = [binomtest(k, 50).proportion_ci(np.sqrt(0.9), method="exact") for k in range(51)]
    low = np.array([one.low for one in exact])
    assert np.abs(band.tpr_low[:, None] - low).min(axis=1).max() < 1e-9


def test_the_simultaneous_band_contains_the_whole_curve():
    rng = np.random.default_rng(1)
    n_covered = 0
    for _ in range(200):
        y = np.repeat([True, False], [60, 80])
        score = rng.random(140) + 0.3 * y
        ranked = RankedRows.of(y, score)
        band = roc_band(y, score, 0.9, is_simultaneous=True)
        at = ranked.score[threshold_grid(ranked)]
        fpr, tpr = np.clip(1 - at, 0, 1), np.clip(1.3 - at, 0, 1)
        is_inside = (band.fpr_low <= fpr + 1e-9) & (fpr <= band.fpr_high + 1e-9)
        is_inside &= (band.tpr_low <= tpr + 1e-9) & (tpr <= band.tpr_high + 1e-9)
        n_covered += is_inside.all()
    assert n_covered / 200 >= 0.9


def test_groups_widen_the_band():
    y, score = rows(60)
    copies = [np.repeat(values, 10) for values in (y, score, np.arange(60))]
    groups = group_codes("groups", copies[2], 600)
    wide = roc_band(*copies[:2], groups=groups)
    narrow = roc_band(*copies[:2])
    assert (wide.tpr_high - wide.tpr_low).max() > 2 * (narrow.tpr_high - narrow.tpr_low).max()
    with pytest.raises(ValueError, match="band must be 'pointwise' or None"):
        plots.plot_roc(y, score, groups=np.arange(60) // 2, band="simultaneous")
