"""Small random networks for tests of certified steps, many of them degenerate.

``python -m tests.torch.relu_problems 100000`` compares that many problems with a dense
grid of steps in exact arithmetic and prints the number of violations.
"""

import argparse
import itertools
import sys
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import torch

import rocpath.torch as rt
from rocpath.torch.moved_layer import MovedLayer
from tests import oracle_relu

FAMILIES = ("integers", "tenths", "normal", "dead units", "copied rows", "zero weights", "float32")


def make_problem(rng, family):
    """Return a network, the index of the moved layer, a direction, rows and labels."""
    n_rows, n_inputs = int(rng.integers(2, 9)), int(rng.integers(1, 4))
    widths = [n_inputs, *rng.integers(2, 5, size=int(rng.choice([0, 1, 1, 1, 2]))), 1]

    def draw(*shape):
        if family in ("integers", "dead units", "copied rows", "zero weights"):
            values = rng.integers(-3, 4, size=shape).astype(float)
        elif family == "tenths":
            values = rng.integers(-9, 10, size=shape) / 10
        else:
            values = rng.normal(size=shape)
        if family == "zero weights":
            values = values * (rng.random(shape) < 0.5)
        if family in ("copied rows", "dead units") and rng.random() < 0.5:
            values = values + rng.normal(size=shape)
        return values.astype(np.float32) if family == "float32" else values

    network = [(draw(b, a), draw(b)) for a, b in itertools.pairwise(widths)]
    if family == "dead units":
        network = [(weight, bias - 4 * (len(bias) > 1)) for weight, bias in network]
    moved = int(rng.integers(0, len(network)))
    direction = draw(*network[moved][0].shape), draw(*network[moved][1].shape)
    rows = draw(n_rows, n_inputs)
    if family == "copied rows":
        rows = rows[rng.integers(0, max(1, n_rows // 2), size=n_rows)]
    y = rng.permutation(np.arange(n_rows) < rng.integers(1, n_rows))
    return network, moved, direction, rows, y


def as_torch(network):
    """Return the network as a module, and its linear layers."""
    layers = []
    for weight, bias in network:
        layer = torch.nn.Linear(weight.shape[1], weight.shape[0], dtype=_dtype(weight))
        with torch.no_grad():
            layer.weight.copy_(torch.tensor(weight))
            layer.bias.copy_(torch.tensor(bias))
        layers.append(layer)
    modules = [module for layer in layers for module in (layer, torch.nn.ReLU())]
    return torch.nn.Sequential(*modules[:-1]), layers


def _dtype(array):
    return torch.float32 if array.dtype == np.float32 else torch.float64


def call(function, problem, **options):
    network, moved, direction, rows, y = problem
    module, layers = as_torch(network)
    move = [torch.tensor(one) for one in direction]
    return function(module, layers[moved], torch.tensor(rows), y, move, **options)


def forward(problem, step):
    """Return the scores of a forward pass in float64 at a step."""
    network, moved, direction, rows, _ = problem
    network = [[part.astype(np.float64) for part in layer] for layer in network]
    network[moved] = [
        part + step * move.astype(np.float64)
        for part, move in zip(network[moved], direction, strict=True)
    ]
    with torch.no_grad():
        return as_torch(network)[0](torch.tensor(rows.astype(np.float64)))[:, 0].tolist()


SCALE = 2**1100  # the smallest float64 is a multiple of 2**-1074


def whole(numbers):
    """Return float64 numbers as integer multiples of 1 / SCALE."""
    flat = [int(Fraction(float(number)) * SCALE) for number in np.ravel(numbers)]
    return np.array(flat, dtype=object).reshape(np.shape(numbers))


def exact_predictions(problem, steps):
    """Return predictions at rational steps, as integers in a unit for each step.

    This is faster than `oracle_relu.predictions`: numbers are multiples of a power of two.
    """
    network, moved, direction, rows, _ = problem
    values, unit = whole(rows)[None], SCALE
    top = np.array([step.numerator for step in steps], dtype=object)[:, None, None]
    bottom = np.array([step.denominator for step in steps], dtype=object)[:, None, None]
    for index, (weight, bias) in enumerate(network):
        w, b = whole(weight), whole(bias)
        product = np.array([part @ w.T for part in values], dtype=object) + b * unit
        unit = unit * SCALE
        if index == moved:
            dw, db = whole(direction[0]), whole(direction[1])
            change = np.array([part @ dw.T for part in values], dtype=object)
            product = product * bottom + (change + db * (unit // SCALE)) * top
            unit = unit * bottom
        values = product
        if index < len(network) - 1:
            values = np.where(values > 0, values, 0)
    return [(part[:, 0].tolist(), one) for part, one in zip(values, np.ravel(unit), strict=False)]


class LinesAtStep(NamedTuple):
    """Values of the float64 lines of all rows at a step, in exact arithmetic."""

    scores: list[int]
    errors: list[int]  # bounds on the differences from the exact predictions
    is_at_kink: bool  # whether a row has a kink at the step, up to rounding


def lines_at(problem, steps, units, max_step):
    """Yield the lines at each step, as integers in the unit of that step."""
    moved = call(MovedLayer.from_network, problem)
    ray = moved.ray(moved.default_max_step if max_step is None else max_step)
    kink = ray.kinks.step
    kinks = ray.kinks._replace(intercept=whole(ray.kinks.intercept), slope=whole(ray.kinks.slope))
    first = type(ray.lines)(*map(whole, ray.lines))
    error = type(ray.lines)(whole(ray.intercept_error), whole(ray.slope_error))
    for step, unit in zip(steps, units, strict=True):
        top, bottom = step.numerator, step.denominator
        factor = unit // (SCALE * bottom)
        scores, errors = (
            ((lines.intercept * bottom + lines.slope * top) * factor).tolist()
            for lines in (first.after(kinks.take(kink <= float(step))), error)
        )
        is_at_kink = np.any(abs(kink - float(step)) <= 2.0**-40 * kink)
        yield LinesAtStep(scores, errors, bool(is_at_kink))


def separated_auc(scores, errors, y):
    """Compute the AUC; pairs that are closer than the errors of their predictions count 0."""
    rows = list(zip(scores, errors, y, strict=True))
    positive = [(score, error) for score, error, label in rows if label]
    negative = [(score, error) for score, error, label in rows if not label]
    won = sum(p - q > e + f for p, e in positive for q, f in negative)
    return Fraction(won, len(positive) * len(negative))


def checked_steps(best, metric, max_step):
    """Return a grid of steps: float64 numbers for AUC, any fractions for AUM."""
    last = 4.0 if max_step is None else max_step
    grid = {Fraction(k, 24) for k in range(int(24 * last) + 1)}
    grid |= {Fraction(best.step)} | {Fraction(10) ** k for k in range(1, 7) if max_step is None}
    # A bound on AUC holds for all float64 steps, as in `best_auc_step`.
    return sorted({Fraction(float(step)) for step in grid} if metric == "auc" else grid)


def bound_violation(problem, best, metric, max_step):
    """Return the first step that contradicts the certificate, or None.

    - The bound on AUM along a hidden layer holds for exact predictions.
    - Other bounds hold for the float64 lines between kinks. In a hidden layer, these differ
      from the exact predictions by at most their errors.
    - At a kink, the bound on AUC holds for pairs that are further apart than their errors.
    """
    network, moved, *_, y = problem
    is_last = moved == len(network) - 1
    steps = checked_steps(best, metric, max_step)
    exact = exact_predictions(problem, steps)
    at_steps = lines_at(problem, steps, [unit for _, unit in exact], max_step)
    for step, (scores, unit), lines in zip(steps, exact, at_steps, strict=True):
        rows = zip(scores, lines.scores, lines.errors, strict=True)
        if not is_last and any(abs(one - other) > error for one, other, error in rows):
            return f"a line is further from the exact prediction than its error at step {step}"
        if metric == "aum":
            value = Fraction(oracle_relu.aum(lines.scores if is_last else scores, y), unit)
            is_wrong = value < Fraction(best.bound)
        else:
            if lines.is_at_kink:
                value = separated_auc(scores, lines.errors, y)
            else:
                value = oracle_relu.auc(lines.scores, y)
            # The bound may be the float64 nearest to this fraction.
            is_wrong = float(value) > best.bound
        if is_wrong:
            return f"bound {best.bound} but {float(value)} at step {step}"
    return None


def violations(problem, metric, tol, max_step=None):
    """Return the errors of a certified step, and whether it is certified."""
    best = call(rt.certified_step, problem, metric=metric, tol=tol, max_step=max_step)
    sign = 1 if metric == "auc" else -1
    scores = [Fraction(score) for score in forward(problem, best.step)]
    value = float(getattr(oracle_relu, metric)(scores, problem[-1]))
    found = []
    # A forward pass may sum in a different order for a different number of rows.
    if abs(value - best.value) > 1e-12 * (1 + abs(value)):
        found.append(f"value {best.value} but forward pass {value}")
    wrong_bound = bound_violation(problem, best, metric, max_step)
    if wrong_bound is not None:
        found.append(wrong_bound)
    if best.is_global != (abs(best.bound - best.value) <= tol):
        found.append("is_global is wrong")
    if sign * (best.value - best.bound) > 0:
        found.append("value beyond bound")
    if max_step is not None and best.step > max_step:
        found.append("step too large")
    return found, best.is_global


def random_case(seed, number):
    """Return a problem, a metric, a tolerance and a maximum step."""
    rng = np.random.default_rng([seed, number])
    problem = make_problem(rng, FAMILIES[number % len(FAMILIES)])
    metric = ("auc", "aum")[number // len(FAMILIES) % 2]
    max_step = None if rng.random() < 0.7 else float(rng.integers(0, 5)) / 2
    return problem, metric, 10.0 ** -rng.integers(2, 7), max_step


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n_problems", type=int)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    n_wrong = n_certified = 0
    for number in range(options.n_problems):
        found, is_global = violations(*random_case(options.seed, number))
        n_certified += is_global
        n_wrong += bool(found)
        if found:
            print(f"seed {options.seed}, problem {number}: {'; '.join(found)}", flush=True)
    print(f"{options.n_problems} problems: {n_wrong} violations, {n_certified} certified")
    sys.exit(bool(n_wrong))


if __name__ == "__main__":
    main()
