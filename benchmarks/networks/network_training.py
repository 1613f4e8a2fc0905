"""Train small networks with many losses, and select a learning rate for each loss.

The networks are so small that the overhead of torch would dominate the time. All networks
of a task are therefore trained together, with stacked weights: one network for each loss,
learning rate and held-out third of the rows. They do not influence each other. The number
of steps is also selected for each loss.
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
from network_tasks import folds, make_network, repeated, shuffled

# The sampler of LibAUC imports torchvision, but does not use it if labels are given.
sys.modules.setdefault("torchvision", types.ModuleType("torchvision"))
from libauc.losses import AUCMLoss  # noqa: E402
from libauc.optimizers import PESG  # noqa: E402
from libauc.sampler import DualSampler  # noqa: E402

LIBAUC = "AUCM (LibAUC)"
N_FOLDS = 3
N_STEPS = {64: 400, 512: 80}
PARTS = (0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0)  # fractions of the steps after which to evaluate
# Smallest learning rate by batch size. Large batches have fewer steps, which may be longer.
SMALLEST_RATE = {"Adam": {64: 6e-4, 512: 1.2e-3}, "PESG": {64: 0.06, 512: 0.12}}
RATE_FACTORS = (1, 3.3, 10, 33, 100, 330)
EVALUATED_ROWS = 1000  # number of rows per forward pass


def bce(scores, target, weight=None):
    return functional.binary_cross_entropy_with_logits(
        scores, target.to(scores.dtype), pos_weight=weight
    )


def focal(scores, target):
    """Compute the focal loss of Lin et al. (2017), with gamma 2 and alpha 1/4."""
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


def of_batch(loss):
    return lambda _: lambda scores, target, _: loss(scores, target)


def bce_and_pairwise(scores, target):
    return bce(scores, target) + rt.pairwise_squared_hinge(scores, target)


class Training(NamedTuple):
    """Loss, as a function of the share of positives, and sampler of batches."""

    loss: Callable
    draw: Callable = shuffled


TRAININGS = {
    "BCE": Training(of_batch(bce)),
    "weighted BCE": Training(weighted_bce),
    "focal": Training(of_batch(focal)),
    "pairwise": Training(of_batch(rt.pairwise_squared_hinge)),
    "AUM of the batch": Training(of_batch(rt.aum_loss)),
    "AUM streaming": Training(streaming_aum),
    "smoothed AUC": Training(of_batch(rt.smoothed_auc_loss)),
    "BCE, repeated": Training(of_batch(bce), repeated),
    "smoothed AUC, repeated": Training(of_batch(rt.smoothed_auc_loss), repeated),
    "BCE + pairwise, repeated": Training(of_batch(bce_and_pairwise), repeated),
}


def rates(optimizer, size):
    return [round(SMALLEST_RATE[optimizer][size] * factor, 7) for factor in RATE_FACTORS]


class Stack:
    """Many networks of one shape, each a row of a matrix."""

    def __init__(self, X, seed):
        self.network = make_network(X)
        self.parts = [(n, p.shape) for n, p in self.network.named_parameters()]
        rows = []
        for fold in range(N_FOLDS):
            torch.manual_seed(N_FOLDS * seed + fold)
            parameters = make_network(X).parameters()
            rows.append(nn.utils.parameters_to_vector(parameters).detach())
        # The last column is the threshold of losses that have one.
        self.initial = functional.pad(torch.stack(rows), (0, 1))

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
            parts = [self.scores(rows, part) for part in X.split(EVALUATED_ROWS)]
        # Non-finite scores of a diverged network are replaced by 0, so that they are tied.
        return torch.cat(parts, dim=1).double().nan_to_num(0.0, 0.0, 0.0)


class Adam:
    """The steps of `torch.optim.Adam`, with one learning rate for each row."""

    def __init__(self, like, rate):
        self.rate, self.n_steps = rate, 0
        self.mean, self.square = torch.zeros_like(like), torch.zeros_like(like)

    def step(self, rows, gradient):
        self.n_steps += 1
        self.mean.lerp_(gradient, 0.1)
        self.square.lerp_(gradient**2, 0.001)
        mean = self.mean / (1 - 0.9**self.n_steps)
        square = self.square / (1 - 0.999**self.n_steps)
        rows -= self.rate * mean / (square.sqrt() + 1e-8)


class Plan(NamedTuple):
    """The rows of each batch, the held-out rows, and the steps at which to evaluate."""

    taken: torch.Tensor  # step, fold, row
    held_out: list
    checked: set


def make_plan(y, size, draw, seed):
    fold, n_steps = folds(y, N_FOLDS, seed), N_STEPS[size]
    inside = [np.flatnonzero(fold != k) for k in range(N_FOLDS)]
    taken = [
        rows[draw(y[rows], size, n_steps, N_FOLDS * seed + k)] for k, rows in enumerate(inside)
    ]
    held_out = [torch.tensor(np.flatnonzero(fold == k)) for k in range(N_FOLDS)]
    checked = {round(part * n_steps) for part in PARTS}
    return Plan(torch.tensor(np.stack(taken, axis=1)), held_out, checked)


def train(task, stack, plan, losses, rates):
    """Return the networks at each check, with axes (check, fold, loss, rate, parameter)."""
    rate = torch.tensor(rates)
    rows = stack.initial[:, None, None].repeat(1, len(losses), len(rate), 1)
    optimizer = Adam(rows, rate[:, None])

    def total(rows, X, y):
        scores = vmap(stack.scores)(rows.flatten(1, 2), X).view(*rows.shape[:3], -1)
        target = y[:, None].expand(-1, len(rate), -1).flatten(0, 1)
        columns = zip(losses, scores.unbind(1), rows[..., -1].unbind(1), strict=True)
        return sum(
            vmap(loss)(score.flatten(0, 1), target, threshold.flatten()).sum()
            for loss, score, threshold in columns
        )

    kept, gradient = [], None
    for step, taken in enumerate(plan.taken):
        batch = task.X[taken], task.y[taken]
        # Trace the gradient once, to avoid the overhead of function transforms in each step.
        gradient = gradient or make_fx(grad(total))(rows, *batch)
        optimizer.step(rows, gradient(rows, *batch))
        if step + 1 in plan.checked:
            kept.append(rows.clone())
    return torch.stack(kept)


def libauc_rows(y, size, n_steps, seed):
    """Return the batches that LibAUC's sampler draws: half of each is positive."""
    sampler = DualSampler(None, size, labels=y, random_seed=seed)
    n_epochs = -(-n_steps * size // len(list(sampler)))
    rows = np.concatenate([list(sampler) for _ in range(n_epochs)])
    return rows[: n_steps * size].reshape(n_steps, size)


def aucm(scores, target, a, b, alpha):
    """Compute LibAUC's AUCMLoss for balanced batches, with operations that vmap supports."""
    h, y = torch.sigmoid(scores), target.float()
    apart = (h - a) ** 2 * y + (h - b) ** 2 * (1 - y) + 2 * alpha * h * (1 - 2 * y)
    return 0.5 * apart.mean(-1, keepdim=True) + 0.5 * alpha - 0.25 * alpha**2


def check_aucm():
    """Raise unless the formula agrees with LibAUC."""
    theirs, scores = AUCMLoss(), torch.linspace(-2, 3, 8)
    target = torch.arange(8) % 2
    with torch.no_grad():
        theirs.a.fill_(0.7), theirs.b.fill_(0.2), theirs.alpha.fill_(0.4)
    value = theirs(torch.sigmoid(scores), target.float())
    ours = aucm(scores, target, theirs.a, theirs.b, theirs.alpha)
    torch.testing.assert_close(value, ours)


def train_libauc(task, stack, plan, rates):
    """Train as `train` does, with the loss and the optimizer of LibAUC."""
    check_aucm()
    rate = torch.tensor(rates)[:, None]
    rows = stack.initial[:, None].repeat(1, len(rate), 1).requires_grad_()
    shape = (*rows.shape[:2], 1)
    a, b, alpha = (torch.zeros(shape, requires_grad=True) for _ in range(3))
    loss = types.SimpleNamespace(a=a, b=b, alpha=alpha, margin=1.0)
    optimizer = PESG([rows], loss_fn=loss, verbose=False)
    # PESG multiplies by the rate, so each network can have its own.
    optimizer.param_groups[0]["lr"] = rate

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
        optimizer.step()
        if step + 1 in plan.checked:
            kept.append(rows.detach().clone()[:, None])
    return torch.stack(kept)


def auc_of(scores, y):
    bp = rp.ErrorBreakpoints.from_labels(y.numpy())
    return [rp.auc(bp, one.numpy()) for one in scores]


def choose(task, stack, kept, held_out):
    """Yield the best check and rate of each loss, the held-out AUC, and the networks."""
    auc = np.empty(kept.shape[:-1])
    for check, fold in np.ndindex(*auc.shape[:2]):
        rows, out = kept[check, fold], held_out[fold]
        scores = stack.evaluated(rows.flatten(0, 1), task.X[out])
        auc[check, fold] = np.reshape(auc_of(scores, task.y[out]), rows.shape[:2])
    mean = auc.mean(axis=1)
    for loss in range(mean.shape[1]):
        check, rate = np.unravel_index(mean[:, loss].argmax(), mean[:, loss].shape)
        yield check, rate, auc[check, :, loss, rate].mean(), kept[check, :, loss, rate]


def evaluate_task(task, size, seed):
    """Yield loss, rate, fraction of steps, and mean held-out and test AUC over the folds."""
    stack, y, share = Stack(task.X, seed), task.y.numpy(), float(task.y.float().mean())
    chosen = {}
    adam_rates, pesg_rates = rates("Adam", size), rates("PESG", size)
    for draw in (shuffled, repeated):
        plan = make_plan(y, size, draw, seed)
        group = {name: training for name, training in TRAININGS.items() if training.draw == draw}
        losses = [training.loss(share) for training in group.values()]
        kept = train(task, stack, plan, losses, adam_rates)
        chosen.update(zip(group, choose(task, stack, kept, plan.held_out), strict=True))
    plan = make_plan(y, size, libauc_rows, seed)
    kept = train_libauc(task, stack, plan, pesg_rates)
    (chosen[LIBAUC],) = choose(task, stack, kept, plan.held_out)
    for name, (check, rate, valid_auc, rows) in chosen.items():
        used = pesg_rates if name == LIBAUC else adam_rates
        test_auc = np.mean(auc_of(stack.evaluated(rows, task.X_test), task.y_test))
        yield name, used[rate], PARTS[check], round(valid_auc, 6), round(test_auc, 6)
