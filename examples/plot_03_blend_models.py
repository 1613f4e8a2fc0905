"""
Blend models by AUC
===================

Logistic regression, a random forest and nearest neighbors make different mistakes.
Their scores are the columns of a new table, and ``AUCClassifier`` learns the weight of
each. The task is to recognize handwritten eights, the hardest digit, in images of half
the resolution. (At full resolution, neighbors alone are nearly as good as any blend.)
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import logit
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedShuffleSplit, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rocpath import AUCClassifier

digits = load_digits()
X = digits.images.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16)
y = digits.target == 8
models = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression(C=0.1)),
    "forest": RandomForestClassifier(random_state=0),
    "neighbors": KNeighborsClassifier(10, weights="distance"),
}


# %%
# The blend must not learn from scores of rows that a model was fitted to: a forest
# memorizes them. In training, each row is therefore scored by models fitted to other
# folds.
def log_odds(probability):
    return logit(0.98 * probability + 0.01)  # finite for 0 and 1


def scores_out_of_fold(X, y):
    scores = [
        cross_val_predict(model, X, y, cv=5, method="predict_proba")[:, 1]
        for model in models.values()
    ]
    return log_odds(np.column_stack(scores))


# %%
# Six random splits into 900 training rows and 897 test rows.
table = []
splits = StratifiedShuffleSplit(6, train_size=900, random_state=0)
for train, test in splits.split(X, y):
    blend = AUCClassifier(random_state=0)
    blend.fit(scores_out_of_fold(X[train], y[train]), y[train])
    fitted = [model.fit(X[train], y[train]) for model in models.values()]
    scores = np.column_stack([model.predict_proba(X[test])[:, 1] for model in fitted])
    tried = [*scores.T, scores.mean(axis=1), blend.decision_function(log_odds(scores))]
    table.append([roc_auc_score(y[test], score) for score in tried])
table = np.array(table)
names = [*models, "mean of the three", "AUCClassifier"]
for name, auc in zip(names, table.T, strict=True):
    gain = table[:, -1] - auc
    error = gain.std(ddof=1) / len(gain) ** 0.5
    print(f"{name:18} AUC {auc.mean():.4f}  blend gains {gain.mean():.4f} ± {error:.4f}")

# %%
# Gains are paired by split. Splits overlap, so standard errors are a little too small.
figure, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
ax.plot(table.T, np.arange(5), "o", color="0.6")
ax.plot(table.mean(axis=0), np.arange(5), "D", color="#d55e00", label="mean")
ax.set(yticks=np.arange(5), yticklabels=names, xlabel="AUC on test rows")
ax.invert_yaxis()
ax.legend()
plt.show()
