"""Average ROC curves of readers."""

import matplotlib as mpl
import numpy as np
import pytest

import rocpath as rp
from rocpath import plots
from rocpath.plots.reader_curves import average_curve

mpl.use("Agg")


def test_average_of_two_curves_with_steps():
    # One reader ranks perfectly; the other has a vertical step of 1/2 at 0 and at 1/2.
    first = np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0])
    second = np.array([0.0, 0.0, 0.5, 0.5, 1.0]), np.array([0.0, 0.5, 0.5, 1.0, 1.0])
    fpr, tpr = average_curve([first, second])
    assert fpr.tolist() == [0, 0, 0.5, 0.5, 1, 1]
    assert tpr.tolist() == [0, 0.75, 0.75, 1, 1, 1]


@pytest.mark.parametrize("seed", range(3))
def test_the_area_under_the_average_is_the_mean_of_the_areas(seed):
    rng = np.random.default_rng(seed)
    y = np.arange(30) % 3 == 0
    ratings = {name: np.round(2 * (y + rng.normal(size=(4, 30)))) for name in ("CT", "ultrasound")}
    ax = plots.plot_readers(y, ratings)
    # For each modality, four readers and their average; then the diagonal.
    for average, scores in zip((ax.lines[4], ax.lines[9]), ratings.values(), strict=True):
        mean = np.mean([rp.auc(y, score) for score in scores])
        assert np.trapezoid(average.get_ydata(), average.get_xdata()) == pytest.approx(mean)
        assert average.get_label().endswith(f": mean AUC {mean:.3f}")
    assert len(ax.lines) == 11
