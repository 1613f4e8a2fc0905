"""
A proof that no step is better
==============================

A search reports the step with the largest AUC of all float64 steps. Its certificate is a
list of steps that proves this, and :func:`rocpath.verify` checks it in integers, without
any code of the search.
"""

# %%
# The thresholds of 300 examples move in a random direction. The certificate of the best step
# takes less than a kilobyte.

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np

import rocpath as rp

rng = np.random.default_rng(0)
y = rng.random(300) < 0.3
predictions = rng.normal(size=300) + y
direction = rng.normal(size=300) + 0.5 * y
lines = rp.Lines.from_predictions(rp.ErrorBreakpoints.from_labels(y), predictions, direction)

best = rp.best_auc_step(lines, certificate=True)
print(best.value, best.certificate)
rp.verify(lines, best)

# %%
# A claim that differs in a single pair of examples is rejected, and so is a proof without
# one of its steps that is needed.

one_pair = 1 / (y.sum() * (~y).sum())
claim = {"value": best.value - one_pair, "bound": best.value - one_pair}
proof = best.certificate
windows = np.delete(proof.steps, proof.steps.size // 2)
for false in (
    replace(best, **claim, certificate=replace(proof, **claim)),
    replace(best, certificate=replace(proof, steps=windows)),
):
    try:
        rp.verify(lines, false)
    except rp.CertificateError as error:
        print(error)

# %%
# Two thresholds cross at most once. Between two consecutive steps of the proof, so many pairs
# are ranked wrongly at both ends that AUC cannot exceed the best value. Windows are narrow
# where AUC is close to it.

path = rp.sweep(lines)
fig, ax = plt.subplots(figsize=(7, 3.5))
ax.step(path.step, path.auc_after, where="post", color="black", linewidth=0.8)
for step in proof.steps[1:-1]:
    ax.axvline(step, color="tab:blue", linewidth=0.6)
ax.axhline(best.bound, color="tab:red", linewidth=0.8)
ax.set(xlim=(0, 4 * best.step), xlabel="step", ylabel="AUC", title="Windows of the proof")
plt.show()
