"""Scorers: compared with the metric of scikit-learn, and used in cross-validation."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier

import rocpath as rp


@pytest.mark.parametrize("max_fpr", [None, 0.1, 0.5])
def test_partial_auc_score_matches_scikit_learn(max_fpr):
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.3
    score = np.round(rng.normal(size=200) + y, 1)
    expected = roc_auc_score(y, score, max_fpr=max_fpr)
    assert rp.partial_auc_score(y, score, max_fpr=max_fpr) == pytest.approx(expected)


@pytest.mark.parametrize("estimator", [LogisticRegression(), DecisionTreeClassifier(max_depth=3)])
def test_scorers_use_decision_functions_and_probabilities(estimator):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3))
    y = np.where(X[:, 0] + rng.normal(size=300) > 0, "yes", "no")
    scoring = rp.scorers.partial_auc_scorer(max_fpr=0.2)
    found = cross_val_score(estimator, X, y, scoring=scoring, cv=3)
    assert ((found > 0.5) & (found <= 1)).all()


def test_scorers_are_an_attribute_of_the_package_after_a_plain_import():
    # A new process is needed, because other tests may have imported the module.
    code = "import rocpath; print(rocpath.scorers.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "rocpath.ranking.scorers"
