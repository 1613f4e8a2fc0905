"""Estimator checks of scikit-learn."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import rocpath as rp


@parametrize_with_checks([rp.AUCClassifier(), rp.AUCClassifier(max_fpr=0.2)])
def test_estimators_pass_the_checks_of_scikit_learn(estimator, check):
    check(estimator)
