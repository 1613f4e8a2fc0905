"""
A certified step for a layer of a ReLU network
==============================================

The line search of the paper requires predictions that are linear in the step. Those of a ReLU
network are piecewise linear. ``certified_step`` finds the globally best step along a
direction of one layer, with a bound that no other step exceeds, and ``layer_path`` computes
AUC and AUM along the whole ray.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch

import rocpath.torch as rt
from rocpath import plots

rng = np.random.default_rng(0)
X = torch.tensor(rng.normal(size=(150, 5)))
y = X[:, 0] + X[:, 1].abs() + 0.5 * torch.tensor(rng.normal(size=150)) > 1.5

torch.manual_seed(2)
network = torch.nn.Sequential(
    torch.nn.Linear(5, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1)
).double()

# %%
# The direction is the negative gradient of AUM with respect to the weights of the first layer.
layer = network[0]
loss = rt.aum_loss(network(X).squeeze(1), y, margin=0.0)
direction = [-one for one in torch.autograd.grad(loss, list(layer.parameters()))]

# %%
# Find the steps with the largest AUC and the smallest AUM. No step is better than its bound.
best = {}
for metric in ("auc", "aum"):
    one = rt.certified_step(network, layer, X, y, direction, metric=metric, tol=1e-4)
    best[f"best {metric.upper()}"] = one
    print(f"{metric.upper()}: step {one.step:.3f}, value {one.value:.5f}, bound {one.bound:.5f}")

# %%
# Unlike for a linear model, AUM along the ray need not be convex: each prediction has kinks,
# where a hidden unit becomes active or inactive.
path = rt.layer_path(network, layer, X, y, direction, max_step=8.0)
print(f"{len(path):,} crossings and kinks up to step {path.end}")
plots.plot_step_path(path, best, max_step=8.0)
plt.show()
