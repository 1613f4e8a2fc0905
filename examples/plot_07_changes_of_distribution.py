"""
Detect changes in distribution
==============================

Not every change is a change in the mean. Here the level changes twice and the spread once, with
noise so heavy-tailed that its mean does not exist. Indicator columns record whether an observation
is below each of five quantiles. They turn a change in distribution into a change in means, and the
cost for several columns finds the optimal segmentation exactly.
"""

# %%
# A sequence with four segments: the level changes at 300 and 600, the spread at 900.

import warnings

import matplotlib.pyplot as plt
import numpy as np

from rocpath import changepoint as cp

rng = np.random.default_rng(0)
level = np.repeat([0.0, 4.0, 0.0, 0.0], 300)
spread = np.repeat([1.0, 1.0, 1.0, 5.0], 300)
x = level + spread * rng.standard_cauchy(size=1200)

# %%
# The squared-error cost detects outliers as changes, and a warning recommends a robust cost, which
# finds the changes in level, but not the change in spread.

for cost in ("normal", "biweight"):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        (found,) = cp.detect_changes([x], cost=cost)
    for one in caught:
        print(one.message)
    print(f"{cost}: {found.n_changes} changes, {found.changes[:6].tolist()}")

# %%
# The indicators depend only on the ranks of the observations, so the changes are the same for every
# increasing function of the data.

quantile = np.quantile(x, [0.1, 0.25, 0.5, 0.75, 0.9])
columns = (x[:, None] <= quantile).astype(float)
(found,) = cp.detect_changes([columns])
print(f"indicators: {found.changes.tolist()}")

other = np.arctan(x)
other_columns = (other[:, None] <= np.arctan(quantile)).astype(float)
print(f"of arctan(x): {cp.detect_changes([other_columns])[0].changes.tolist()}")

# %%
# The means of the columns are the fractions of observations below each quantile. They describe the
# distribution of every segment.

print(found.mean.round(2))

figure, (top, bottom) = plt.subplots(2, 1, figsize=(8, 5), sharex=True)
top.plot(x, ".", markersize=2, color="#8c959f")
top.set(ylim=(-20, 20), ylabel="observation")
edges = np.concatenate(([0], found.changes, [x.size]))
for column, q in enumerate((10, 25, 50, 75, 90)):
    bottom.stairs(found.mean[:, column], edges, baseline=None, label=f"{q}% quantile")
bottom.set(xlabel="index", ylabel="fraction below", ylim=(0, 1.2))
bottom.legend(ncols=5, loc="upper center", fontsize="small", frameon=False)
for ax in (top, bottom):
    for change in found.changes:
        ax.axvline(change, color="#0072B2", linewidth=1)
figure.tight_layout()
plt.show()
