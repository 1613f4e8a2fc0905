"""
Find rare images with torch
===========================

A network that is evaluated by AUC need not be trained with cross-entropy. This one
detects handwritten nines, 40 of them among 1,100 digits, with an ordinary
``DataLoader`` of small shuffled batches. Half of the batches contain no nine. For these,
a loss over pairs is 0, but ``AUMLoss`` with a learned threshold still has a gradient.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from rocpath.torch import AUMLoss, BinaryAUC, PairwiseSquaredHinge

torch.set_num_threads(1)
digits = load_digits()
X = torch.tensor(digits.images[:, None] / 16, dtype=torch.float32)
y = torch.tensor(digits.target == 9)


# %%
# A third of the rows are used for testing. Only 40 of the nines in the training rows are kept.
def split(seed):
    rows = torch.tensor(np.random.default_rng(seed).permutation(len(y)))
    train, test = rows[:1200], rows[1200:]
    nines, others = train[y[train]], train[~y[train]]
    return torch.cat((nines[:40], others)), test


# %%
# This is the usual training loop, except that the loss may also have parameters.
def train(loss, rows, seed):
    torch.manual_seed(seed)
    network = nn.Sequential(
        nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 1), nn.Flatten(0)
    )
    parameters = [*network.parameters(), *loss.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=3e-3)
    data = TensorDataset(X[rows], y[rows].float())
    for _ in range(4):
        for images, target in DataLoader(data, batch_size=16, shuffle=True):
            optimizer.zero_grad()
            loss(network(images), target).backward()
            optimizer.step()
    return network


# %%
# Compare three losses on five random splits.
aucs = {}
for seed in range(5):
    rows, test = split(seed)
    share = y[rows].float().mean().item()
    for name, loss in {
        "cross-entropy": nn.BCEWithLogitsLoss(),
        "pairwise squared hinge": PairwiseSquaredHinge(),
        "AUMLoss": AUMLoss(positive_share=share),
    }.items():
        network = train(loss, rows, seed)
        metric = BinaryAUC()
        with torch.no_grad():
            metric.update(network(X[test]), y[test])
        aucs.setdefault(name, []).append(metric.compute())
for name, auc in aucs.items():
    print(f"{name:22} AUC {np.mean(auc):.4f} on test rows")

# %%
# Which loss is best depends on the task; the user guide has a larger comparison.
figure, ax = plt.subplots(figsize=(7, 2.6), layout="constrained")
for row, auc in enumerate(aucs.values()):
    ax.plot(auc, [row] * len(auc), "o", color="0.6")
    ax.plot(np.mean(auc), row, "D", color="#d55e00")
ax.set(yticks=range(len(aucs)), yticklabels=aucs, xlabel="AUC on test rows")
plt.show()
