"""Data drawn in ROC figures, and bands compared with binomial intervals."""

import matplotlib as mpl
import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import beta

import rocpath as rp
from rocpath import plots
from rocpath.evaluation.roc_bands import roc_band
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


def test_a_band_without_negatives_above_the_threshold_is_jeffreys_interval():
    # All negatives score 0 or 3, so that any threshold with an FPR of one half is between
    # them, and 20 of 50 positives are above it. The share of such rows is known.
    y = np.repeat([True, False], [50, 20000])
    score = np.concatenate((np.repeat([1.0, 2.0], [30, 20]), np.tile([0.0, 1.5], 10000)))
    band = roc_band(y, score, 0.9)
    at = np.searchsorted(band.fpr, 0.25)
    low, high = beta.ppf([0.05, 0.95], 20.5, 30.5)
    assert (band.tpr_low[at], band.tpr_high[at]) == pytest.approx((low, high), abs=1e-6)


def test_bands_have_their_nominal_coverage():
    rng = np.random.default_rng(1)
    y = np.repeat([True, False], [100, 200])
    is_inside, is_whole = [], []
    for _ in range(100):
        score = rng.normal(size=300) + 1.2 * y
        for simultaneous in (False, True):
            band = roc_band(y, score, is_simultaneous=simultaneous)
            tpr = ndtr(1.2 + ndtri(band.fpr))
            inside = (band.tpr_low <= tpr) & (tpr <= band.tpr_high)
            (is_whole if simultaneous else is_inside).append(inside)
    middle = (band.fpr > 0.02) & (band.fpr < 0.9)
    pointwise = np.mean(is_inside, axis=0)
    # Four standard errors are 0.087 for one rate, and far less for the mean over rates.
    assert pointwise.min() > 0.87
    assert pointwise[middle].mean() == pytest.approx(0.965, abs=0.025)
    # A pointwise band contains the whole curve in fewer samples.
    assert np.all(is_inside, axis=1).mean() < 0.9
    assert np.all(is_whole, axis=1).mean() == pytest.approx(0.95, abs=0.05)


def test_groups_widen_the_band():
    y, score = rows(60)
    copies = [np.repeat(values, 10) for values in (y, score, np.arange(60))]
    groups = group_codes("groups", copies[2], 600)
    wide = roc_band(*copies[:2], groups=groups)
    narrow = roc_band(*copies[:2])
    assert (wide.tpr_high - wide.tpr_low).max() > 2 * (narrow.tpr_high - narrow.tpr_low).max()
    with pytest.raises(ValueError, match="band must be 'pointwise' or None"):
        plots.plot_roc(y, score, groups=np.arange(60) // 2, band="simultaneous")
