"""Train small networks by many losses at once, and choose rate and steps for each.

The networks are tiny, so that most time would go into calling torch. All networks of a
task are therefore trained together, their weights stacked: one for each loss, rate and
third of the rows that is held out. None knows of the others.
"""

import sys
import types
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch import nn
from torch.func import functional_call, grad, vmap
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn import functional

import rocpath as rp
import rocpath.torch as rt
from network_tasks import balanced, folds, make_network, shuffled

try:
    # Its sampler imports torchvision, but has no use for it where labels are given.
    sys.modules.setdefault("torchvision", types.ModuleType("torchvision"))
    from libauc.losses import AUCMLoss
    from libauc.optimizers import PESG
    from libauc.sampler import DualSampler
except ImportError:
    AUCMLoss = PESG = None

N_FOLDS = 3
N_STEPS = {8: 1500, 64: 400, 512: 80}
PARTS = (0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0)  # of the steps, after which to judge
RATES = {
    "Adam": (3e-4, 1e-3, 3e-3, 1e-2, 3e-2),
    # Losses that weigh rare rows more have gradients that are larger by as much.
    "SGD": (3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1),
    "PESG": (0.1, 0.3, 1.0, 3.0),
}
EVALUATED = 1000  # rows at once


def bce(scores, target, weight=None):
    return functional.binary_cross_entropy_with_logits(
        scores, target.to(scores.dtype), pos_weight=weight
    )


def focal(scores, target):
    """Lin et al. 2017, with gamma 2 and alpha 1/4."""
    y = target.to(scores.dtype)
    log_loss = functional.binary_cross_entropy_with_logits(scores, y, reduction="none")
    balance = torch.where(target, 0.25, 0.75)
    return (balance * (1 - torch.exp(-log_loss)) ** 2 * log_loss).mean()


def bce_and_pairwise(scores, target):
    return bce(scores, target) + rt.pairwise_squared_hinge(scores, target)


def weighted_bce(share):
    weight = torch.tensor((1 - share) / share)
    return lambda scores, target, _: bce(scores, target, weight)


def streaming_aum(share):
    loss = rt.AUMLoss(share)
    return lambda scores, target, threshold: functional_call(
        loss, {"threshold": threshold}, (scores, target)
    )


def plain(loss):
    return lambda _: lambda scores, target, _: loss(scores, target)


class Way(NamedTuple):
    """How to train: the share of positives to a loss, and which rows to draw."""

    loss: Callable
    draw: Callable = shuffled


WAYS = {
    "BCE": Way(plain(bce)),
    "weighted BCE": Way(weighted_bce),
    "BCE, balanced batches": Way(plain(bce), balanced),
    "focal": Way(plain(focal)),
    "pairwise squared hinge": Way(plain(rt.pairwise_squared_hinge)),
    "pairwise, balanced batches": Way(plain(rt.pairwise_squared_hinge), balanced),
    "BCE and pairwise, balanced batches": Way(plain(bce_and_pairwise), balanced),
    "AUM of the batch": Way(plain(rt.aum_loss)),
    "AUM streaming": Way(streaming_aum),
    "smoothed AUC": Way(plain(rt.smoothed_auc_loss)),
}


class Stack:
    """Many networks of one shape, each a row of one matrix."""

    def __init__(self, X):
        self.network = make_network(X)
        self.parts = [(n, p.shape) for n, p in self.network.named_parameters()]
        rows = []
        for seed in range(N_FOLDS):
            torch.manual_seed(seed)
            parameters = make_network(X).parameters()
            rows.append(nn.utils.parameters_to_vector(parameters).detach())
        # The last column is the threshold of losses that have one.
        self.start = functional.pad(torch.stack(rows), (0, 1))

    def scores(self, rows, X, in_dims=(0, 0)):
        """Apply each network to its own rows of X, or all to the same."""
        sizes = [shape.numel() for _, shape in self.parts]

        def one(row, X):
            pieces = zip(self.parts, row[:-1].split(sizes), strict=True)
            named = {name: piece.view(shape) for (name, shape), piece in pieces}
            return functional_call(self.network, named, (X,))

        return vmap(one, in_dims=in_dims)(rows, X)

    def evaluated(self, rows, X):
        with torch.no_grad():
            parts = [self.scores(rows, part, (0, None)) for part in X.split(EVALUATED)]
        # A network that has diverged ranks nothing.
        return torch.cat(parts, dim=1).double().nan_to_num(0.0, 0.0, 0.0)


class Adam:
    """As torch.optim.Adam, but with a rate for each row."""

    def __init__(self, like, rate):
        self.rate, self.step_number = rate, 0
        self.mean, self.square = torch.zeros_like(like), torch.zeros_like(like)

    def step(self, rows, gradient):
        self.step_number += 1
        self.mean.lerp_(gradient, 0.1)
        self.square.lerp_(gradient**2, 0.001)
        mean = self.mean / (1 - 0.9**self.step_number)
        square = self.square / (1 - 0.999**self.step_number)
        rows -= self.rate * mean / (square.sqrt() + 1e-8)


class SGD:
    """As torch.optim.SGD with momentum 0.9, but with a rate for each row."""

    def __init__(self, like, rate):
        self.rate, self.buffer = rate, torch.zeros_like(like)

    def step(self, rows, gradient):
        self.buffer.mul_(0.9).add_(gradient)
        rows -= self.rate * self.buffer


class Plan(NamedTuple):
    """Which rows each step takes, and when to judge."""

    drawn: dict  # by way of drawing: step, fold, row
    held_out: list
    checked: set


def make_plan(y, size, n_steps, draws):
    fold = folds(y, N_FOLDS)
    inside = [np.flatnonzero(fold != k) for k in range(N_FOLDS)]
    drawn = {
        draw: torch.tensor(
            np.stack(
                [
                    rows[draw(y[rows], size, n_steps, k)]
                    for k, rows in enumerate(inside)
                ],
                axis=1,
            )
        )
        for draw in draws
    }
    held_out = [torch.tensor(np.flatnonzero(fold == k)) for k in range(N_FOLDS)]
    return Plan(drawn, held_out, {round(part * n_steps) for part in PARTS})


def train(task, stack, optimizer, size):
    """Return the networks at each check: check, way, rate, fold, parameter."""
    rates, n_steps = RATES[optimizer], N_STEPS[size]
    share = float(task.y.float().mean())
    losses = [way.loss(share) for way in WAYS.values()]
    draws = [way.draw for way in WAYS.values()]
    plan = make_plan(task.y.numpy(), size, n_steps, set(draws))
    shape = (len(WAYS), len(rates), N_FOLDS)
    rows = stack.start.repeat(len(WAYS) * len(rates), 1)
    rate = torch.tensor(rates).repeat_interleave(N_FOLDS).repeat(len(WAYS))[:, None]
    stepper = {"Adam": Adam, "SGD": SGD}[optimizer](rows, rate)

    def total(rows, X, y):
        columns = (stack.scores(rows, X), y, rows[:, -1])
        parts = zip(losses, *(c.chunk(len(WAYS)) for c in columns), strict=True)
        return sum(vmap(loss)(*part).sum() for loss, *part in parts)

    kept, gradient = [], None
    for step in range(n_steps):
        taken = torch.stack([plan.drawn[draw][step] for draw in draws])
        taken = taken[:, None].expand(*shape, size).reshape(-1, size)
        batch = task.X[taken], task.y[taken]
        # As a list of operations, without what finds them anew each time.
        gradient = gradient or make_fx(grad(total))(rows, *batch)
        stepper.step(rows, gradient(rows, *batch))
        if step + 1 in plan.checked:
            kept.append(rows.clone().view(*shape, -1))
    return torch.stack(kept), plan.held_out


def libauc_rows(y, size, n_steps, seed):
    """Give what LibAUC's sampler draws: one half of a batch is positive."""
    sampler = DualSampler(None, size, labels=y, random_seed=seed)
    n_passes = -(-n_steps * size // len(list(sampler)))
    rows = np.concatenate([list(sampler) for _ in range(n_passes)])
    return rows[: n_steps * size].reshape(n_steps, size)


def aucm(scores, target, a, b, alpha):
    """Compute LibAUC's AUCMLoss of half positives, which vmap cannot look into."""
    h, y = torch.sigmoid(scores), target.float()
    apart = (h - a) ** 2 * y + (h - b) ** 2 * (1 - y) + 2 * alpha * h * (1 - 2 * y)
    return 0.5 * apart.mean() + 0.5 * alpha - 0.25 * alpha**2


def check_aucm():
    """Raise unless the formula is that of LibAUC."""
    theirs, scores = AUCMLoss(), torch.linspace(-2, 3, 8)
    target = torch.arange(8) % 2
    with torch.no_grad():
        theirs.a.fill_(0.7), theirs.b.fill_(0.2), theirs.alpha.fill_(0.4)
    value = theirs(torch.sigmoid(scores), target.float())
    ours = aucm(scores, target, theirs.a, theirs.b, theirs.alpha)
    torch.testing.assert_close(value, ours)


def train_libauc(task, stack, size):
    """As `train`, of one way: LibAUC's own optimiser and sampler."""
    check_aucm()
    rates, n_steps = RATES["PESG"], N_STEPS[size]
    plan = make_plan(task.y.numpy(), size, n_steps, [libauc_rows])
    rows = stack.start.repeat(len(rates), 1).requires_grad_()
    a, b, alpha = (torch.zeros(len(rows), 1, requires_grad=True) for _ in range(3))
    loss = types.SimpleNamespace(a=a, b=b, alpha=alpha, margin=1.0)
    stepper = PESG([rows], loss_fn=loss, verbose=False)
    # It multiplies by the rate, so that each network can have its own.
    rate = torch.tensor(rates).repeat_interleave(N_FOLDS)[:, None]
    stepper.param_groups[0]["lr"] = rate

    def total(rows, a, b, alpha, X, y):
        scores = stack.scores(rows, X)
        return vmap(aucm)(scores, y, a[:, 0], b[:, 0], alpha[:, 0]).sum()

    kept, gradient = [], None
    tensors = (rows, a, b, alpha)
    for step in range(n_steps):
        taken = plan.drawn[libauc_rows][step].repeat(len(rates), 1)
        inputs = [one.detach() for one in tensors] + [task.X[taken], task.y[taken]]
        gradient = gradient or make_fx(grad(total, (0, 1, 2, 3)))(*inputs)
        for one, part in zip(tensors, gradient(*inputs), strict=True):
            one.grad = part
        stepper.step()
        if step + 1 in plan.checked:
            kept.append(rows.detach().clone().view(1, len(rates), N_FOLDS, -1))
    return torch.stack(kept), plan.held_out


def auc_of(scores, y):
    bp = rp.ErrorBreakpoints.from_labels(y.numpy())
    return [rp.auc(bp, one.numpy()) for one in scores]


def placements(scores, y):
    """Return the share of the other class that each row is on the right side of."""
    positive, negative = scores[y].numpy(), scores[~y].numpy()

    def share_below(row, others):
        others = np.sort(others)
        sides = (np.searchsorted(others, row, side) for side in ("left", "right"))
        return sum(sides) / (2 * len(others))

    return share_below(positive, negative), share_below(-negative, -positive)


def row_error(scores, base, y):
    """Return the standard error of a mean lead in AUC, by test rows (DeLong)."""
    lead = [
        np.mean([placements(s, y)[side] - placements(b, y)[side] for s, b in pairs], 0)
        for side in (0, 1)
        for pairs in [list(zip(scores, base, strict=True))]
    ]
    return float(np.sqrt(sum(part.var(ddof=1) / len(part) for part in lead)))


def choose(task, stack, kept, held_out):
    """Return the place of the best check and rate by held-out rows, for each way."""
    auc = np.empty(kept.shape[:-1])
    for check, fold in np.ndindex(len(kept), N_FOLDS):
        rows = kept[check, :, :, fold]
        out = held_out[fold]
        scores = stack.evaluated(rows.flatten(0, 1), task.X[out])
        auc[check, :, :, fold] = np.reshape(auc_of(scores, task.y[out]), rows.shape[:2])
    mean = auc.mean(axis=3)
    for way in range(mean.shape[1]):
        check, rate = np.unravel_index(mean[:, way].argmax(), mean[:, way].shape)
        yield check, rate, auc[check, way, rate], kept[check, way, rate]


def judge(task, optimizer, size):
    """Give loss, rate, part of the steps, fold, two AUCs and an error, by network."""
    stack = Stack(task.X)
    groups = [(WAYS, RATES[optimizer], train(task, stack, optimizer, size))]
    if AUCMLoss is not None:
        way = {"AUCM (LibAUC)": None}
        groups.append((way, RATES["PESG"], train_libauc(task, stack, size)))
    base = None
    for names, rates, (kept, held_out) in groups:
        chosen = choose(task, stack, kept, held_out)
        for name, (check, rate, valid, rows) in zip(names, chosen, strict=True):
            scores = stack.evaluated(rows, task.X_test)
            base = scores if base is None else base
            error = row_error(scores, base, task.y_test)
            columns = enumerate(zip(valid, auc_of(scores, task.y_test), strict=True))
            for fold, (valid_auc, test_auc) in columns:
                setting = (name, rates[rate], PARTS[check], fold)
                yield *setting, valid_auc, test_auc, error
