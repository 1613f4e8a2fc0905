"""
A better ranking of a rare class
================================

One handwritten digit in ten is an eight. A model that always predicts "no eight" has
an accuracy of 90%, so models are compared by AUC: the probability that an eight has a
higher score than another digit.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rocpath import AUCClassifier

X, digit = load_digits(return_X_y=True)
y = digit == 8

# %%
# The baseline is standardized logistic regression with an L2 penalty tuned by AUC.
# ``AUCClassifier`` standardizes columns and tunes penalties itself.
logistic = GridSearchCV(
    make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    {"logisticregression__C": [0.001, 0.01, 0.1, 1.0]},
    scoring="roc_auc",
)
models = {"logistic": logistic, "AUCClassifier": AUCClassifier(random_state=0)}

# %%
# Both models are evaluated on six random splits into training and test halves. Tuned logistic
# regression is a strong baseline here: the gain is small, and the probabilities are equally good.
auc = {name: [] for name in models}
probability = {name: np.empty(0) for name in models}
label = np.empty(0)
splits = StratifiedShuffleSplit(6, test_size=0.5, random_state=0)
for train, test in splits.split(X, y):
    label = np.append(label, y[test])
    for name, model in models.items():
        chance = model.fit(X[train], y[train]).predict_proba(X[test])[:, 1]
        auc[name].append(roc_auc_score(y[test], chance))
        probability[name] = np.append(probability[name], chance)
for name in models:
    brier = brier_score_loss(label, probability[name])
    print(f"{name:14} AUC {np.mean(auc[name]):.4f}  Brier score {brier:.4f}")
gain = np.subtract(auc["AUCClassifier"], auc["logistic"])
error = gain.std(ddof=1) / len(gain) ** 0.5
print(f"gain in AUC    {gain.mean():.4f}, standard error {error:.4f}")

# %%
# The left panel shows AUC, with one gray line per split. The right panel shows calibration:
# of the rows with a predicted probability near p, a fraction near p should be eights.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
left.plot(list(auc.values()), "o-", color="0.6", lw=1)
left.plot([np.mean(values) for values in auc.values()], "s-", color="k", lw=3)
left.set(xticks=range(2), xticklabels=list(models), xlim=(-0.3, 1.3))
left.set(ylabel="AUC on test rows", title="six splits and their mean (thick)")
right.plot([0, 1], [0, 1], ":", color="0.5")
for name, style in (("logistic", "oC0--"), ("AUCClassifier", "sC1-")):
    happened, predicted = calibration_curve(label, probability[name], n_bins=8)
    right.plot(predicted, happened, style, label=name)
right.set(xlabel="predicted probability", ylabel="fraction of eights")
right.set(title="calibration on test rows")
right.legend(loc="upper left")
plt.show()
