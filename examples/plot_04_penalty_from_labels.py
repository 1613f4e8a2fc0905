"""
Learn a changepoint penalty from labels
=======================================

ruptures detects changes for a given penalty. Here rocpath learns the penalty from labeled regions.
"""

import matplotlib.pyplot as plt
import numpy as np
import ruptures

import rocpath as rp
from rocpath import changepoint as cp

rng = np.random.default_rng(0)


# %%
# Each sequence has 200 observations and up to three changes; noise levels vary widely. In each
# sequence, nine regions are labeled as having a change or not.
def simulate():
    noise = 10 ** rng.uniform(-0.5, 0.5)
    n_changes = rng.integers(0, 4)
    changes = 20 * np.sort(rng.choice(np.arange(1, 10), n_changes, replace=False))
    jump = rng.choice([-1.0, 1.0], n_changes) * 1.8 * noise
    mean = (np.arange(200) >= changes[:, None]).T @ jump
    start = 20 * np.arange(9) + 10
    kind = np.where(np.isin(start + 10, changes), "one_change", "no_change")
    labels = cp.Labels(start, start + 20, kind)
    return mean + noise * rng.normal(size=200), labels, changes


# %%
# Compute the label errors of the optimal segmentations with 0 to 12 changes, as a function
# of the penalty. The lists that ruptures returns end with the length of the sequence.
def errors_by_penalty(x, labels):
    search = ruptures.KernelCPD(kernel="linear").fit(x)
    models = [[], *(search.predict(n_bkps=k)[:-1] for k in range(1, 13))]
    cost = [ruptures.costs.CostL2().fit(x).sum_of_costs([*m, x.size]) for m in models]
    errors = cp.label_errors(models, labels, n=x.size)
    return cp.penalty_errors(cp.model_selection(cost), errors)


sequences, labels, changes = zip(*(simulate() for _ in range(200)), strict=True)
y = [errors_by_penalty(*pair) for pair in zip(sequences, labels, strict=True)]

# %%
# The features are statistics of the differences between neighboring values, which measure the
# noise.
features = cp.sequence_features(list(sequences))
X = features.value[:, [name.startswith("log.abs_diff.") for name in features.name]]

# %%
# Train on one half. The baseline is the best constant penalty on that half.
model = rp.PenaltyRegressor(random_state=0).fit(X[::2], y[::2])
grid = np.linspace(-3, 7, 500)
constant = grid[sum(errors.at(grid) for errors in y[::2]).argmin()]
learned = model.predict(X[1::2])
for name, log_penalty in (("constant", np.full(100, constant)), ("learned", learned)):
    wrong = [e.at(v) for e, v in zip(y[1::2], log_penalty, strict=True)]
    print(f"{name} penalty: {sum(wrong)} of 900 test labels are wrong")

# %%
# ruptures segments two of the test sequences with both penalties.
style = {"learned": "C1-", "constant": "C0--"}
figure, axes = plt.subplots(2, 1, figsize=(8, 5), sharex=True, layout="constrained")
for ax, k in zip(axes, np.argsort(learned)[[8, -8]], strict=True):
    x = sequences[1::2][k]
    pelt = ruptures.Pelt(model="l2", jump=1).fit(x)
    ax.plot(x, ".", color="0.6", label="observations")
    for change in changes[1::2][k]:
        ax.axvline(change, color="0.85", lw=7, zorder=0)
    for name, log_penalty in {"learned": learned[k], "constant": constant}.items():
        found = np.split(x, pelt.predict(pen=np.exp(log_penalty))[:-1])
        mean = np.concatenate([np.full(own.size, own.mean()) for own in found])
        ax.plot(mean, style[name], label=f"{name} penalty, {np.exp(log_penalty):.1f}")
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
axes[1].set(xlabel="position (gray bars: the true changes)", ylabel="value")
plt.show()
