"""Measure how much copies of rows change AUCClassifier and AUCBlender.

Tables of 300 rows are simulated, with linear and interaction effects and noise columns.
Models are fitted to a table, and to the same table with every row repeated four times,
and their AUCs on 3,000 new rows are compared. Copies add no information, so the
difference should be zero. With ``--blend``, AUCBlender is compared too; so is each of
its members, whose penalties and leaf sizes may depend on the number of rows, and a
blend of given scores, in which only the weights can change. Prints means with standard
errors over tables.

Run as ``copies.py [tables] [--blend]``; the default is 24 tables, without AUCBlender.
"""

import sys
import warnings

import numpy as np

import rocpath as rp
from calibration import simulate

N_ROWS, N_TEST, N_COPIES = 300, 3_000, 4


def member_scores(blend, X):
    return np.column_stack(blend._member_scores(X))


def differences(seed, *, has_blend):
    """Return the changes in AUC that copies cause, by name of the model."""
    X, y, X_test, y_test = simulate(seed, N_ROWS, N_TEST, n_columns=(5, 30), informative_share=0.5)
    copy = np.repeat(np.arange(len(y)), N_COPIES)
    difference = {}

    def add(name, once, copied):
        difference[name] = rp.auc(y_test, copied) - rp.auc(y_test, once)

    models = [rp.AUCClassifier(random_state=0).fit(X[k], y[k]) for k in (slice(None), copy)]
    add("AUCClassifier", *(model.decision_function(X_test) for model in models))
    if not has_blend:
        return difference
    blends = [rp.AUCBlender(random_state=0).fit(X[k], y[k]) for k in (slice(None), copy)]
    add("AUCBlender", *(blend.decision_function(X_test) for blend in blends))
    scores = [member_scores(blend, X_test) for blend in blends]
    for k, name in enumerate(blends[0].member_names_):
        add(f"member {name}", scores[0][:, k], scores[1][:, k])
    n_fit = N_TEST // 10
    S, T, z = scores[0][:n_fit], scores[0][n_fit:], y_test[n_fit:]
    copy = np.repeat(np.arange(n_fit), N_COPIES)
    weights = [
        rp.AUCBlender(random_state=0).fit_scores(S[k], y_test[:n_fit][k], groups=k)
        for k in (np.arange(n_fit), copy)
    ]
    areas = [rp.auc(z, blend.decision_function(T)) for blend in weights]
    difference["blend of the same scores"] = areas[1] - areas[0]
    return difference


def main():
    warnings.simplefilter("ignore")
    numbers = [int(one) for one in sys.argv[1:] if one.isdigit()]
    results = [
        differences(seed, has_blend="--blend" in sys.argv)
        for seed in range(numbers[0] if numbers else 24)
    ]
    print("| model | tables | change in AUC with every row repeated | smallest | largest |")
    print("|---|---|---|---|---|")
    for name in results[0]:
        change = np.array([one[name] for one in results])
        error = change.std(ddof=1) / np.sqrt(change.size)
        print(
            f"| {name} | {change.size} | {change.mean():+.4f} ± {error:.4f} | "
            f"{change.min():+.4f} | {change.max():+.4f} |"
        )


if __name__ == "__main__":
    main()
