"""
Exact line search on handwritten digits
=======================================

As in the paper, class 0 is compared with all other classes. This example takes one
gradient step from random weights, with an exact choice of the step size.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import rocpath as rp

X, digit = load_digits(return_X_y=True)
X = (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-9)
bp = rp.ErrorBreakpoints.from_labels(digit != 0)

# %%
# Predictions are linear functions of the step size, and so is every threshold.
weights = np.random.default_rng(0).normal(size=X.shape[1])
predictions = X @ weights
direction = -X @ (X.T @ rp.aum_gradient(bp, predictions))
lines = rp.Lines.from_predictions(bp, predictions, direction)

# %%
# Find the step with the smallest AUM and the step with the largest AUC. Each result has a
# ``bound``, which certifies that no other step is better.
best_aum = rp.best_aum_step(lines)
best_auc = rp.best_auc_step(lines)
for name, step in (("start", 0.0), ("smallest AUM", best_aum.step), ("largest AUC", best_auc.step)):
    scores = predictions + step * direction
    aum, auc = rp.aum(bp, scores), rp.auc(bp, scores)
    print(f"{name:12}  step {step:.5f}  AUM {aum:.4f}  AUC {auc:.4f}")

# %%
# As functions of the step size, AUM is convex and piecewise linear, and AUC is
# piecewise constant. ``sweep`` visits every crossing of two thresholds.
path = rp.sweep(lines, max_step=6.0)
print(f"{len(path) - 1:,} crossings up to step {path.end}")
step = np.linspace(0, path.end, 2001)

figure, (top, bottom) = plt.subplots(2, 1, figsize=(7, 5.5), sharex=True, layout="constrained")
top.plot(step, path.auc_at(step), color="k")
top.axvline(best_auc.step, color="#d55e00", label=f"largest AUC, {best_auc.value:.4f}")
bottom.plot(step, path.aum_at(step), color="k")
bottom.axvline(best_aum.step, color="#0072b2", ls="--", label=f"smallest AUM, {best_aum.value:.4f}")
top.axvline(best_aum.step, color="#0072b2", ls="--")
bottom.axvline(best_auc.step, color="#d55e00")
top.set(ylabel="AUC")
bottom.set(ylabel="AUM", xlabel="step size", xlim=(0, path.end))
for ax in (top, bottom):
    ax.legend(loc="center right")
plt.show()
