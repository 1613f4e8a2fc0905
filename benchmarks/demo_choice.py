"""Tell which table that ships with scikit-learn the demo should show.

The rule: split every table in halves. On the first half fit the command's blend and
tuned logistic regression, plain and balanced, to two thirds of the rows, and compare
their AUCs on the last third (DeLong). The table is taken where the smaller of both
leads is the most standard errors above zero. The demo fits to the first half and shows
the second, whose rows had no say. Tables of more than two classes are asked for each
class against the rest; disease progression, a number, for its highest tenth.

Run: python benchmarks/demo_choice.py
"""

from __future__ import annotations

import numpy as np
import polars as pl
from sklearn.model_selection import train_test_split

from rocpath import compare_auc
from rocpath.cli.demo_table import candidates, halves
from rocpath.tables.rankers import BALANCED, BLEND, LOGISTIC, fitted_steps


def lead_in_errors(half: pl.DataFrame) -> tuple[float, str]:
    """Return the smaller lead in standard errors, and both in words."""
    X = half.drop("label").to_numpy()
    y = (half["label"] == "yes").to_numpy()
    train, test = train_test_split(
        np.arange(y.size), test_size=1 / 3, stratify=y, random_state=0
    )
    score = {}
    for method in (BLEND, LOGISTIC, BALANCED):
        steps = fitted_steps(method, X[train], y[train], random_state=0)
        rows = X[test]
        for _, step in steps[:-1]:
            rows = step.transform(rows)
        score[method] = steps[-1][1].decision_function(rows)
    leads = [
        compare_auc(y[test], score[BLEND], score[rival])
        for rival in (LOGISTIC, BALANCED)
    ]
    told = ", ".join(
        f"{one.difference:+.4f} ± {one.standard_error:.4f}" for one in leads
    )
    return min(
        one.difference / one.standard_error if one.standard_error else 0.0
        for one in leads
    ), told


def main() -> None:
    found = {}
    for name in candidates():
        first, _ = halves(name)
        found[name], told = lead_in_errors(first)
        print(f"{name:16} {found[name]:+6.2f} errors   {told}", flush=True)
    print("chosen:", max(found, key=found.__getitem__))


if __name__ == "__main__":
    main()
