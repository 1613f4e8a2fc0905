"""Train small networks with many losses at once, and select rate and steps for each.

The networks are tiny, so that calls of torch would take most of the time. All networks
of a task are therefore trained together, with stacked weights: one for each loss, rate
and held-out third of the rows. They do not influence each other.
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
from network_summary import LIBAUC, RECIPE
from network_tasks import RARE, folds, make_network, repeated, shuffled

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
PARTS = (0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0)  # of the steps, after which to evaluate
# The smallest rate, for SGD times what a loss wants. Of large batches there are fewer
# steps, which may be longer.
RATE = {
    "Adam": {8: 1e-3, 64: 2e-3, 512: 4e-3},
    "PESG": {8: 0.1, 64: 0.2, 512: 0.4},
    "SGD": {8: 1, 64: 5, 512: 30},
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


def weighted_bce(share):
    weight = torch.tensor((1 - share) / share)
    return lambda scores, target, _: bce(scores, target, weight)


def streaming_aum(share):
    loss = rt.AUMLoss(share)
    return lambda scores, target, threshold: functional_call(
        loss, {"threshold": threshold}, (scores, target)
    )


def streaming_aum_repeated(share):
    """Build AUMLoss for the share of positives after rare ones are repeated."""
    return streaming_aum(0.5 if share < RARE else share)


def plain(loss):
    return lambda _: lambda scores, target, _: loss(scores, target)


def with_bce(make):
    """Add cross-entropy to a loss."""

    def make_sum(share):
        loss = make(share)
        return lambda *batch: bce(*batch[:2]) + loss(*batch)

    return make_sum


pairwise, smoothed = plain(rt.pairwise_squared_hinge), plain(rt.smoothed_auc_loss)


class Way(NamedTuple):
    """How to train: a loss for a share of positives, rates, and which rows to draw."""

    loss: Callable
    sgd_rate: float  # losses that weigh rare rows more want less
    draw: Callable = shuffled

    def rates(self, optimizer, size):
        scale = self.sgd_rate if optimizer == "SGD" else 1
        return rates_from(RATE[optimizer][size] * scale)


def rates_from(smallest):
    return [round(smallest * factor, 7) for factor in (0.3, 1, 3, 10, 30, 100)]


WAYS = {
    "BCE": Way(plain(bce), 3e-3),
    "weighted BCE": Way(weighted_bce, 1e-3),
    "focal": Way(plain(focal), 1e-2),
    "pairwise": Way(pairwise, 1e-3),
    "AUM of the batch": Way(plain(rt.aum_loss), 3e-3),
    "AUM streaming": Way(streaming_aum, 3e-4),
    "smoothed AUC": Way(smoothed, 3e-3),
    "BCE, repeated": Way(plain(bce), 3e-3, repeated),
    "AUM of the batch, repeated": Way(plain(rt.aum_loss), 3e-3, repeated),
    RECIPE: Way(with_bce(pairwise), 1e-3, repeated),
}


class Stack:
    """Many networks of one shape, each a row of a matrix."""

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

    def scores(self, rows, X):
        """Apply all networks to the same X."""
        sizes = [shape.numel() for _, shape in self.parts]

        def one(row):
            pieces = zip(self.parts, row[:-1].split(sizes), strict=True)
            named = {name: piece.view(shape) for (name, shape), piece in pieces}
            return functional_call(self.network, named, (X,))

        return vmap(one)(rows)

    def evaluated(self, rows, X):
        with torch.no_grad():
            parts = [self.scores(rows, part) for part in X.split(EVALUATED)]
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
    """Which rows each step takes, held-out rows, and when to evaluate."""

    taken: torch.Tensor  # step, fold, row
    held_out: list
    checked: set


def make_plan(y, size, draw):
    fold, n_steps = folds(y, N_FOLDS), N_STEPS[size]
    inside = [np.flatnonzero(fold != k) for k in range(N_FOLDS)]
    taken = [rows[draw(y[rows], size, n_steps, k)] for k, rows in enumerate(inside)]
    held_out = [torch.tensor(np.flatnonzero(fold == k)) for k in range(N_FOLDS)]
    checked = {round(part * n_steps) for part in PARTS}
    return Plan(torch.tensor(np.stack(taken, axis=1)), held_out, checked)


def train(task, stack, plan, losses, rates, optimizer):
    """Return the networks at each check: check, fold, loss, rate, parameter."""
    rate = torch.tensor(rates)
    rows = stack.start[:, None, None].repeat(1, *rate.shape, 1)
    stepper = {"Adam": Adam, "SGD": SGD}[optimizer](rows, rate[..., None])

    def total(rows, X, y):
        scores = vmap(stack.scores)(rows.flatten(1, 2), X).view(*rows.shape[:3], -1)
        target = y[:, None].expand(-1, rate.shape[1], -1).flatten(0, 1)
        columns = zip(losses, scores.unbind(1), rows[..., -1].unbind(1), strict=True)
        return sum(
            vmap(loss)(score.flatten(0, 1), target, threshold.flatten()).sum()
            for loss, score, threshold in columns
        )

    kept, gradient = [], None
    for step, taken in enumerate(plan.taken):
        batch = task.X[taken], task.y[taken]
        # As a list of operations, without what finds them anew each time.
        gradient = gradient or make_fx(grad(total))(rows, *batch)
        stepper.step(rows, gradient(rows, *batch))
        if step + 1 in plan.checked:
            kept.append(rows.clone())
    return torch.stack(kept)


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
    return 0.5 * apart.mean(-1, keepdim=True) + 0.5 * alpha - 0.25 * alpha**2


def check_aucm():
    """Raise unless the formula is that of LibAUC."""
    theirs, scores = AUCMLoss(), torch.linspace(-2, 3, 8)
    target = torch.arange(8) % 2
    with torch.no_grad():
        theirs.a.fill_(0.7), theirs.b.fill_(0.2), theirs.alpha.fill_(0.4)
    value = theirs(torch.sigmoid(scores), target.float())
    ours = aucm(scores, target, theirs.a, theirs.b, theirs.alpha)
    torch.testing.assert_close(value, ours)


def train_libauc(task, stack, plan, rates):
    """As `train`, but LibAUC's own loss and optimizer."""
    check_aucm()
    rate = torch.tensor(rates)[:, None]
    rows = stack.start[:, None].repeat(1, len(rate), 1).requires_grad_()
    shape = (*rows.shape[:2], 1)
    a, b, alpha = (torch.zeros(shape, requires_grad=True) for _ in range(3))
    loss = types.SimpleNamespace(a=a, b=b, alpha=alpha, margin=1.0)
    stepper = PESG([rows], loss_fn=loss, verbose=False)
    # It multiplies by the rate, so that each network can have its own.
    stepper.param_groups[0]["lr"] = rate

    def total(rows, a, b, alpha, X, y):
        scores = vmap(stack.scores)(rows, X)
        return aucm(scores, y[:, None], a, b, alpha).sum()

    kept, gradient = [], None
    tensors = (rows, a, b, alpha)
    for step, taken in enumerate(plan.taken):
        inputs = [one.detach() for one in tensors] + [task.X[taken], task.y[taken]]
        gradient = gradient or make_fx(grad(total, (0, 1, 2, 3)))(*inputs)
        for one, part in zip(tensors, gradient(*inputs), strict=True):
            one.grad = part
        stepper.step()
        if step + 1 in plan.checked:
            kept.append(rows.detach().clone()[:, None])
    return torch.stack(kept)


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
    for check, fold in np.ndindex(*auc.shape[:2]):
        rows, out = kept[check, fold], held_out[fold]
        scores = stack.evaluated(rows.flatten(0, 1), task.X[out])
        auc[check, fold] = np.reshape(auc_of(scores, task.y[out]), rows.shape[:2])
    mean = auc.mean(axis=1)
    for way in range(mean.shape[1]):
        check, rate = np.unravel_index(mean[:, way].argmax(), mean[:, way].shape)
        yield check, rate, auc[check, :, way, rate], kept[check, :, way, rate]


def evaluate_task(task, optimizer, size, ways):
    """Give loss, rate, part of the steps, fold, two AUCs and an error, by network."""
    stack, y, share = Stack(task.X), task.y.numpy(), float(task.y.float().mean())
    chosen = {}
    for draw in dict.fromkeys(way.draw for way in ways.values()):
        plan = make_plan(y, size, draw)
        group = {name: way for name, way in ways.items() if way.draw == draw}
        losses = [way.loss(share) for way in group.values()]
        rates = [way.rates(optimizer, size) for way in group.values()]
        kept = train(task, stack, plan, losses, rates, optimizer)
        best = choose(task, stack, kept, plan.held_out)
        chosen.update(zip(group, zip(rates, best, strict=True), strict=True))
    if AUCMLoss is not None:
        plan = make_plan(y, size, libauc_rows)
        rates = rates_from(RATE["PESG"][size])
        kept = train_libauc(task, stack, plan, rates)
        chosen[LIBAUC] = rates, *choose(task, stack, kept, plan.held_out)
    base = None
    for name, (rates, (check, rate, valid, rows)) in chosen.items():
        scores = stack.evaluated(rows, task.X_test)
        base = scores if base is None else base
        error = row_error(scores, base, task.y_test)
        columns = enumerate(zip(valid, auc_of(scores, task.y_test), strict=True))
        for fold, (valid_auc, test_auc) in columns:
            setting = (name, rates[rate], PARTS[check], fold)
            yield *setting, *(round(float(x), 6) for x in (valid_auc, test_auc, error))
