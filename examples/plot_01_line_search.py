"""
Exact line search on handwritten digits
=======================================

Class 0 against the rest, as in the paper: one gradient step from random weights, with
the step size chosen exactly.
"""

import numpy as np
from sklearn.datasets import load_digits

import rocpath as rp

X, digit = load_digits(return_X_y=True)
X = (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-9)
bp = rp.ErrorBreakpoints.from_labels(digit != 0)

# %%
# Predictions move along a line as the step grows, and so does every threshold.
weights = np.random.default_rng(0).normal(size=X.shape[1])
predictions = X @ weights
direction = -X @ (X.T @ rp.aum_gradient(bp, predictions))
lines = rp.Lines.from_predictions(bp, predictions, direction)

# %%
# The best step for AUM, and the best of all steps for AUC, each with a certificate.
for name, best in (
    ("start", None),
    ("smallest AUM", rp.best_aum_step(lines)),
    ("largest AUC", rp.best_auc_step(lines)),
):
    step = 0.0 if best is None else best.step
    scores = predictions + step * direction
    aum, auc = rp.aum(bp, scores), rp.auc(bp, scores)
    print(f"{name:12}  step {step:.5f}  AUM {aum:.4f}  AUC {auc:.4f}")
