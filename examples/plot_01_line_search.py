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
# The sweep stops at the first minimum of AUM, which for labels is the global one.
path = rp.sweep(lines, stop="first_min_aum")
moved = predictions + path.step[-1] * direction

print(f"{len(lines):,} lines, {path.n_swaps.sum():,} crossings up to the best step")
for when, scores in (("before", predictions), ("after", moved)):
    aum, auc = rp.aum(bp, scores), rp.auc(bp, scores)
    print(f"{when:6} the step: AUM {aum:.4f}, AUC {auc:.4f}")
