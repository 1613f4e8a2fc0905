"""Data drawn in the figures."""

import sys
from subprocess import run

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import rocpath as rp
from rocpath import changepoint as cp
from rocpath.search.step_view import line_sample, step_view

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")
plots = pytest.importorskip("rocpath.plots")

FOUR = rp.ErrorBreakpoints.from_labels([0, 0, 1, 1])
PREDICTIONS, DIRECTION = [-7, -2, 0, -4], [0, -0.5, 0, 0.5]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def labeled(axes):
    return {line.get_label(): line for line in axes.lines}


def texts(axes):
    return [text.get_text() for text in axes.texts]


def two_classes(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = X @ rng.normal(size=4) + 2 * rng.normal(size=n) > 0.5
    bp = rp.ErrorBreakpoints.from_labels(y)
    prediction = X @ rng.normal(size=4)
    direction = -X @ (X.T @ rp.aum_gradient(bp, prediction))
    return X, y, bp, rp.Lines.from_predictions(bp, prediction, direction)


def test_importing_rocpath_or_its_plots_does_not_import_matplotlib():
    code = "import sys, rocpath.plots; sys.exit('matplotlib' in sys.modules)"
    assert run([sys.executable, "-c", code], check=False).returncode == 0


def test_roc_errors_letter_the_points_and_shade_the_aum():
    top, bottom = plots.plot_roc_errors(FOUR, PREDICTIONS)
    assert bottom.figure is top.figure
    assert labeled(top)["ROC"].get_xdata().tolist() == [0, 0, 0.5, 0.5, 1]
    assert sorted(texts(top)) == ["A 0", "B 0", "C 0.5", "D 0", "E 0"]
    assert texts(bottom) == list("ABCDE")
    # The thresholds of positives are 0 and 4; those of negatives are 2 and 7.
    lines = labeled(bottom)
    x, fp = lines["FP"].get_data()
    inside = (x >= 0) & (x <= 7)
    assert x[inside].tolist() == [0, 0, 2, 2, 4, 4, 7, 7]
    assert fp[inside].tolist() == [0, 0, 0, 0.5, 0.5, 0.5, 0.5, 1]
    assert lines["FN"].get_ydata()[inside].tolist() == [1, 0.5, 0.5, 0.5, 0.5, 0, 0, 0]
    least = lines["min(FP, FN)"].get_ydata()
    assert np.trapezoid(least, x) == pytest.approx(rp.aum(FOUR, PREDICTIONS))
    shade = bottom.collections[0].get_paths()[0].get_extents()
    assert (shade.y0, shade.y1) == (0, 0.5)


def test_roc_errors_label_coinciding_points_once():
    errors = cp.PenaltyErrors([0, 1, 2, 3, 4], fp=[1, 0, 1, 0, 0], fn=[0, 0, 0, 0, 1])
    bp = cp.error_breakpoints([errors])
    axes = plots.plot_roc_errors(bp, [0.0])
    assert sorted(texts(axes[0])) == ["A 0", "B,D 0", "C,E 0"]


def test_roc_errors_of_many_points_have_no_letters():
    X, _, bp, _ = two_classes(60)
    axes = plots.plot_roc_errors(bp, X[:, 0])
    assert not texts(axes[0])
    assert not texts(axes[1])


def test_roc_errors_in_given_axes_show_the_name_and_auc():
    X, y, bp, _ = two_classes(60)
    predictions = rp.AUCClassifier(random_state=0).fit(X, y).decision_function(X)
    _, given = plt.subplots(2, 3)
    axes = plots.plot_roc_errors(bp, predictions, name="model", ax=given[:, 1])
    assert axes.tolist() == given[:, 1].tolist()
    assert axes[0].get_title().startswith(f"model\nAUC {rp.auc(bp, predictions):.4g}, AUM ")


def test_a_wrong_number_of_axes_raises():
    with pytest.raises(ValueError, match="ax must have 2 axes, got 1"):
        plots.plot_roc_errors(FOUR, PREDICTIONS, ax=plt.gca())


def test_line_search_display_draws_exact_curves_and_marks_the_variants():
    _, _, _, lines = two_classes(40)
    display = plots.LineSearchDisplay.from_lines(lines)
    path = rp.sweep(lines)
    auc_axes, aum_axes, line_axes = display.ax_
    step, auc = auc_axes.lines[0].get_data()
    jumps = path.step[path.step <= display.view.max_step]
    assert np.unique(step[:-1]).tolist() == jumps.tolist()
    assert auc[1::3].tolist() == path.auc[: jumps.size].tolist()
    step, aum = aum_axes.lines[0].get_data()
    assert aum == pytest.approx(path.aum_at(step))
    marked = {line.get_label().split(" (")[0]: line for line in line_axes.lines}
    assert marked["best AUM"].get_xdata()[0] == rp.aum_path(lines).global_min.step
    assert marked["best AUC"].get_xdata()[0] == rp.best_auc_step(lines).step
    drawn = sum(len(group.get_segments()) for group in line_axes.collections)
    assert drawn == len(lines)
    ends = line_axes.collections[0].get_segments()[0]
    negative = np.flatnonzero(lines.fp_diff)[0]
    assert ends[0].tolist() == [0, lines.intercept[negative]]


def test_line_search_display_along_the_gradient_starts_from_the_predictions():
    X, y, bp, _ = two_classes(50)
    predictions = rp.AUCClassifier(random_state=0).fit(X, y).decision_function(X)
    lines = rp.Lines.down_gradient(X, bp, predictions)
    display = plots.LineSearchDisplay.from_lines(lines)
    assert display.view.auc.value[0] == rp.auc(bp, predictions)


def test_lines_along_the_gradient_do_not_depend_on_units_or_sparsity():
    X, y, bp, _ = two_classes(50)
    predictions = LinearDiscriminantAnalysis().fit(X, y).decision_function(X)
    lines = rp.Lines.down_gradient(X, bp, predictions)
    sparse_rows = rp.Lines.down_gradient(csr_array(X), bp, predictions)
    assert sparse_rows.slope == pytest.approx(lines.slope)
    # In other units, the same predictions change along the same lines.
    unit = np.array([1.0, 1e3, 1e-3, 10.0])
    other = rp.Lines.down_gradient(X * unit, bp, predictions)
    assert other.slope == pytest.approx(lines.slope)


def test_label_errors_are_drawn_with_segments_and_labels():
    x = np.repeat([0.0, 5.0], [10, 10]) + np.tile([0.0, 0.1], 10)
    labels = cp.Labels([2, 8], [6, 12], ["no_change", "one_change"])
    left, right = plots.plot_label_errors(x, labels, max_changes=5)
    assert left.get_title(loc="left") == "number of changes: 1"
    mean = labeled(left)["mean"]
    assert mean.get_xdata().tolist() == [0, 10, 10, 20]
    assert mean.get_ydata() == pytest.approx([0.05, 0.05, 5.05, 5.05])
    regions = [(patch.get_x(), patch.get_width()) for patch in left.patches]
    assert regions == [(2, 4), (8, 4)]
    jumps = cp.errors_by_penalty(x, labels, max_changes=5).min_log_penalty[1:]
    x, fn = labeled(right)["FN"].get_data()
    assert np.unique(x)[1:-1].tolist() == jumps.tolist()
    assert (fn[0], fn[-1]) == (0, 1)


def test_label_errors_show_the_segmentation_of_a_given_penalty():
    x = np.repeat([0.0, 5.0], 10)
    labels = cp.Labels([8], [12], ["one_change"])
    left, right = plots.plot_label_errors(x, labels, 100.0)
    assert left.get_title(loc="left") == "number of changes: 0"
    assert labeled(right)["shown left"].get_xdata()[0] == 100.0


def test_descent_display_shows_both_samples_and_the_selected_weights():
    X, _, bp, _ = two_classes(40)
    descent = rp.minimize_aum(X, bp, coef=np.ones(4), validation=(X, bp), max_steps=5)
    display = plots.DescentDisplay.from_descent(descent)
    for axes, area in zip(display.ax_, (descent.aum, descent.auc), strict=True):
        lines = labeled(axes)
        assert lines["training"].get_ydata().tolist() == area.tolist()
        assert lines["validation"].get_ydata().tolist() == area.tolist()
        assert lines["selected weights"].get_xdata()[0] == descent.chosen
    alone = rp.minimize_aum(X, bp, coef=np.ones(4), max_steps=5)
    axes = plots.DescentDisplay.from_descent(alone).ax_
    assert "validation" not in labeled(axes[0])


def test_several_descents_on_one_display_keep_their_names_and_colors():
    X, _, bp, _ = two_classes(40)
    axes = None
    for name in ("one", "two", "three"):
        descent = rp.minimize_aum(X, bp, coef=np.ones(4), max_steps=len(name))
        axes = plots.DescentDisplay.from_descent(descent, name=name, ax=axes).ax_
    lines = labeled(axes[0])
    training = [lines[f"{name}: training"] for name in ("one", "two", "three")]
    assert [line.get_xdata()[-1] for line in training] == [3, 3, 5]
    assert len({line.get_color() for line in training}) == 3
    shown = [text.get_text() for text in axes[0].get_legend().get_texts()]
    assert "one: training" in shown
    assert "three: selected weights" in shown


def test_simplified_curves_keep_their_extremes():
    _, _, _, lines = two_classes(500)
    view = step_view(lines)
    path = rp.sweep(lines, max_step=view.max_step)
    assert view.n_crossings == len(path) - 1
    assert view.auc.step.size <= 2002
    assert view.auc.value.max() == path.auc_after.max()
    assert (np.diff(view.auc.step) >= 0).all()
    for one in view.variants:
        assert one.auc == path.auc_at(one.step)


def test_auc_of_very_many_lines_is_sampled_exactly():
    _, _, _, lines = two_classes(2500)
    view = step_view(lines)
    assert view.n_crossings is None
    path = rp.sweep(lines, max_step=view.max_step / 100)
    is_known = view.auc.step <= path.end
    assert view.auc.value[is_known] == pytest.approx(path.auc_at(view.auc.step[is_known]))


def test_subsampled_lines_keep_the_shares_and_sums_of_each_kind():
    _, _, _, lines = two_classes(1000)
    sample = line_sample(lines, 100)
    assert sample.slope.size <= 100
    share = (lines.fp_diff > 0).mean()
    assert (sample.fp_diff > 0).mean() == pytest.approx(share, abs=0.02)
    assert sample.fp_diff.sum() == pytest.approx(1)
    assert sample.fn_diff.sum() == pytest.approx(-1)
    again = line_sample(lines, 100)
    assert (again.intercept == sample.intercept).all()


def test_changes_are_drawn_with_segments_intervals_and_labels():
    rng = np.random.default_rng(0)
    x = np.repeat([0.0, 3.0], 30) + rng.normal(size=60)
    (found,) = cp.detect_changes([x])
    ax = plots.plot_changes(x, found, cp.Labels([20], [40], ["one_change"]))
    assert ax.get_title(loc="left") == "number of changes: 1"
    regions = [(patch.get_x(), patch.get_x() + patch.get_width()) for patch in ax.patches]
    assert regions == [(20, 40), tuple(found.intervals[0])]
    first = labeled(ax)["segments"]
    assert first.get_ydata().tolist() == [found.mean[0]] * found.changes[0]
    # With indices only, the means are drawn without intervals.
    plain = plots.plot_changes(x, [10, 30])
    assert len(plain.patches) == 0
    assert labeled(plain)["segments"].get_ydata()[0] == pytest.approx(x[:10].mean())
    with pytest.raises(ValueError, match="changes must increase from 1 to at most 59"):
        plots.plot_changes(x, [0, 30])
