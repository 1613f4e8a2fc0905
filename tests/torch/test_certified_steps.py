"""Certified steps for layers of ReLU networks, compared with exact arithmetic."""

import copy
import itertools
import math
from dataclasses import astuple
from fractions import Fraction

import numpy as np
import pytest

import rocpath as rp
from tests import oracle_relu

torch = pytest.importorskip("torch", reason="torch is not installed")
import rocpath.torch as rt  # noqa: E402
from tests.torch.relu_problems import (  # noqa: E402
    FAMILIES,
    call,
    exact_predictions,
    forward,
    make_problem,
    random_case,
    violations,
)


def sequential(*widths, seed=0, dtype=torch.float64):
    torch.manual_seed(seed)
    modules = []
    for a, b in itertools.pairwise(widths):
        modules += [torch.nn.Linear(a, b, dtype=dtype), torch.nn.ReLU()]
    return torch.nn.Sequential(*modules[:-1])


def make_rows(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    y = X[:, 0] + np.abs(X[:, 1]) + rng.normal(size=n) > 1.0
    return torch.tensor(X), y


def descent_direction(network, layer, X, y):
    loss = rt.aum_loss(network(X)[:, 0], torch.tensor(y), margin=0.0)
    return [-one for one in torch.autograd.grad(loss, list(layer.parameters()))]


def scores_at(network, layer, X, direction, step):
    with torch.no_grad():
        for parameter, move in zip(layer.parameters(), direction, strict=True):
            parameter += step * move
        scores = network(X)[:, 0].numpy()
        for parameter, move in zip(layer.parameters(), direction, strict=True):
            parameter -= step * move
    return scores


def test_the_fast_oracle_equals_the_plain_oracle():
    rng = np.random.default_rng(0)
    for family in FAMILIES:
        problem = make_problem(rng, family)
        network, moved, direction, rows, _ = problem
        steps = [Fraction(0), Fraction(1, 3), Fraction(7, 2)]
        exact = [oracle_relu.exact(one) for one in (network, direction, rows)]
        for step, (scores, unit) in zip(steps, exact_predictions(problem, steps), strict=True):
            plain = oracle_relu.predictions(exact[0], moved, exact[1], exact[2], step)
            assert [Fraction(score, unit) for score in scores] == plain


def test_no_step_is_better_than_the_bound_and_the_value_is_that_of_a_forward_pass():
    n_certified = 0
    for number in range(280):
        found, is_certified = violations(*random_case(1, number))
        assert not found, (number, found)
        n_certified += is_certified
    # In the other cases, predictions coincide up to rounding.
    assert n_certified >= 270


@pytest.mark.parametrize("metric", ["auc", "aum"])
@pytest.mark.parametrize("widths", [(5, 8, 1), (5, 6, 4, 1)])
def test_no_step_of_a_dense_grid_is_better(widths, metric):
    network, (X, y) = sequential(*widths), make_rows(300)
    layer = network[0]
    direction = descent_direction(network, layer, X, y)
    best = rt.certified_step(network, layer, X, y, direction, metric=metric, tol=1e-3)
    assert best.is_global
    measure = rp.auc if metric == "auc" else rp.aum
    assert best.value == measure(y, scores_at(network, layer, X, direction, best.step))
    grid = np.concatenate([np.linspace(0, 3 * best.step + 1, 800), np.geomspace(1, 1e5, 100)])
    values = [measure(y, scores_at(network, layer, X, direction, step)) for step in grid]
    if metric == "auc":
        assert max(values) <= best.bound <= best.value + 1e-3
    else:
        assert min(values) >= best.bound >= best.value - 1e-3
    assert best.value != values[0]


def test_auc_is_constant_on_the_interval():
    network, (X, y) = sequential(5, 6, 1), make_rows(60)
    direction = descent_direction(network, network[0], X, y)
    best = rt.certified_step(network, network[0], X, y, direction, tol=0.0)
    low, high = best.interval
    assert low < best.step < high
    for step in np.linspace(low, high, 9)[1:-1]:
        assert rp.auc(y, scores_at(network, network[0], X, direction, step)) == best.value


def test_steps_of_the_last_layer_equal_those_of_line_searches():
    network, (X, y) = sequential(5, 8, 1), make_rows(200)
    layer = network[2]
    direction = descent_direction(network, layer, X, y)
    bp = rp.ErrorBreakpoints.from_labels(y)
    features = network[1](network[0](X)).detach().numpy()
    weight, bias = (one.detach().numpy() for one in layer.parameters())
    move = [one.numpy() for one in direction]
    lines = rp.Lines.from_predictions(
        bp, (features @ weight.T + bias)[:, 0], (features @ move[0].T + move[1])[:, 0]
    )
    for max_step in (None, 0.7):
        expected = rp.best_auc_step(lines, max_step=max_step)
        best = rt.certified_step(network, layer, X, y, direction, tol=0.0, max_step=max_step)
        assert astuple(best) == astuple(expected)
        smallest = rp.best_aum_step(lines, max_step=max_step)
        best = rt.certified_step(network, layer, X, y, direction, metric="aum", max_step=max_step)
        assert best.step == smallest.step
        assert best.value == pytest.approx(smallest.value, rel=1e-12)
        assert smallest.value * (1 - 1e-11) < best.bound <= best.value
        assert best.interval == (best.step, best.step)


def test_the_bound_on_aum_holds_between_neighboring_float64_steps():
    # The last layer changes, and AUM is smallest at 7/6, which is not a float64 number.
    problem, metric, *options = random_case(32, 5762)
    assert metric == "aum"
    assert problem[1] == len(problem[0]) - 1
    assert violations(problem, metric, *options) == ([], True)


def test_labels_may_be_tensors_of_any_dtype():
    network, (X, y) = sequential(5, 4, 1), make_rows(40)
    direction = descent_direction(network, network[0], X, y)
    expected = astuple(rt.certified_step(network, network[0], X, y, direction))
    for dtype in (torch.bool, torch.int32, torch.float32, torch.bfloat16):
        labels = torch.tensor(y).to(dtype)
        assert astuple(rt.certified_step(network, network[0], X, labels, direction)) == expected


@pytest.mark.parametrize("metric", ["auc", "aum"])
def test_a_smaller_tolerance_is_never_worse(metric):
    network, (X, y) = sequential(5, 8, 1), make_rows(120)
    direction = descent_direction(network, network[0], X, y)
    sign = 1 if metric == "auc" else -1
    previous = None
    for tol in (0.1, 0.01, 1e-3, 1e-4, 1e-6):
        best = rt.certified_step(network, network[0], X, y, direction, metric=metric, tol=tol)
        assert 0 <= sign * (best.bound - best.value) <= tol
        if previous is not None:
            assert sign * best.value >= sign * previous.value
            assert sign * best.bound <= sign * previous.bound
        previous = best


def test_degenerate_networks_are_certified():
    X, y = make_rows(40)
    ones = [torch.ones(4, 5, dtype=torch.float64), torch.ones(4, dtype=torch.float64)]
    network = sequential(5, 4, 1)
    torch.nn.init.constant_(network[2].weight, 0.0)
    assert rt.certified_step(network, network[0], X, y, ones).is_global
    # All predictions are equal at step 0, so that rounding orders them at the first steps.
    network = sequential(5, 4, 1)
    torch.nn.init.constant_(network[0].weight, 0.0)
    best = rt.certified_step(network, network[0], X, y, ones)
    assert (best.bound, best.is_global) == (1.0, False)
    network = sequential(5, 4, 1)
    torch.nn.init.constant_(network[0].bias, -1e6)
    zero = [0 * one for one in ones]
    best = rt.certified_step(network, network[0], X, y, zero)
    # All units are inactive, so that all predictions are tied.
    assert (best.value, best.bound, best.is_global) == (0.5, 0.5, True)
    network = sequential(5, 4, 1)
    same = X[:1].expand(40, 5)
    best = rt.certified_step(network, network[0], same, y, ones)
    assert (best.value, best.bound) == (0.5, pytest.approx(0.5, abs=1e-12))


def test_repeated_rows_do_not_change_the_result():
    network, (X, y) = sequential(5, 8, 1), make_rows(80)
    direction = descent_direction(network, network[0], X, y)
    once = rt.certified_step(network, network[0], X, y, direction, tol=1e-6)
    repeated = rt.certified_step(
        network, network[0], X.repeat(3, 1), np.tile(y, 3), direction, tol=1e-6
    )
    assert repeated.value == pytest.approx(once.value, abs=1e-6)
    assert repeated.is_global


def test_max_step_limits_the_step():
    network, (X, y) = sequential(5, 8, 1), make_rows(80)
    direction = descent_direction(network, network[0], X, y)
    free = rt.certified_step(network, network[0], X, y, direction)
    limit = 0.5 * free.step
    best = rt.certified_step(network, network[0], X, y, direction, max_step=limit)
    assert best.step <= limit
    assert best.value < free.value
    none = rt.certified_step(network, network[0], X, y, direction, max_step=0.0)
    assert none.step == 0.0
    assert none.value == rp.auc(y, network(X)[:, 0].detach().numpy())


def test_any_modules_may_precede_the_layer_and_the_network_is_unchanged():
    network = torch.nn.Sequential(
        torch.nn.Unflatten(1, (1, 5)),
        torch.nn.Conv1d(1, 2, 2),
        torch.nn.Flatten(),
        torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.ReLU(), torch.nn.Dropout()),
        torch.nn.Linear(4, 1, bias=False),
        torch.nn.Flatten(0),
    )
    X, y = make_rows(50)
    layer = network[3][0]
    direction = [torch.randn_like(one) for one in layer.parameters()]
    before = [one.clone() for one in network.parameters()]
    best = rt.certified_step(network, layer, X.float(), y, direction)
    assert best.is_global
    assert network.training
    assert all(torch.equal(a, b) for a, b in zip(before, network.parameters(), strict=True))
    assert all(one.dtype == torch.float32 for one in network.parameters())


def test_layer_path_equals_the_definitions_between_its_rows():
    for number in range(60):
        rng = np.random.default_rng([3, number])
        problem = make_problem(rng, "integers")
        path = call(rt.layer_path, problem, max_step=3.0)
        y, steps = problem[-1], np.append(path.step, 3.0)
        middle = [Fraction(a) / 2 + Fraction(b) / 2 for a, b in itertools.pairwise(steps)]
        for row, (scores, unit) in enumerate(exact_predictions(problem, middle)):
            # A kink and a crossing at the same step, such as 1/5, may differ by rounding.
            if steps[row + 1] - steps[row] < 1e-9:
                continue
            aum = float(oracle_relu.aum(scores, y) / unit)
            assert path.aum_at(float(middle[row])) == pytest.approx(aum, abs=1e-9)
            assert path.auc_after[row] == float(oracle_relu.auc(scores, y)), number


def test_certified_steps_attain_the_best_values_of_layer_path():
    network, (X, y) = sequential(5, 4, 3, 1), make_rows(60)
    direction = descent_direction(network, network[0], X, y)
    path = rt.layer_path(network, network[0], X, y, direction)
    assert (np.diff(path.step) >= 0).all()
    best = rt.certified_step(network, network[0], X, y, direction, tol=1e-9)
    assert best.value == path.auc_after.max()
    assert path.auc_at(best.step) == best.value
    smallest = rt.certified_step(network, network[0], X, y, direction, metric="aum", tol=1e-9)
    assert smallest.value == pytest.approx(path.aum.min(), abs=1e-9)


def test_the_value_for_a_float32_network_is_that_of_a_float64_forward_pass():
    problem = make_problem(np.random.default_rng(5), "float32")
    best = call(rt.certified_step, problem, metric="aum")
    scores = [Fraction(score) for score in forward(problem, best.step)]
    assert best.value == pytest.approx(float(oracle_relu.aum(scores, problem[-1])), rel=1e-12)


def test_invalid_input_raises():
    network, (X, y) = sequential(5, 4, 1), make_rows(20)
    layer = network[0]
    direction = [torch.ones_like(one) for one in layer.parameters()]
    sigmoid = torch.nn.Sequential(layer, torch.nn.Sigmoid(), network[2])
    two = torch.nn.Sequential(layer, network[1], torch.nn.Linear(4, 2))
    broken = torch.nn.Sequential(layer, network[1], torch.nn.Linear(4, 1))
    torch.nn.init.constant_(broken[2].weight, math.nan)

    class Custom(torch.nn.Module):
        def forward(self, X):
            return network(X)

    invalid = [
        ((Custom(), layer, X, y, direction), {}, ValueError, "once in network, which must be an"),
        ((network, torch.nn.Linear(5, 4), X, y, direction), {}, ValueError, "got 0 times"),
        ((network, network[1], X, y, direction), {}, TypeError, "must be an nn.Linear, got ReLU"),
        ((sigmoid, layer, X, y, direction), {}, ValueError, "got Sigmoid.* where ReLU"),
        ((two, layer, X, y, direction), {}, ValueError, "nn.Linear with one output"),
        ((network[:2], layer, X, y, direction), {}, ValueError, "must end in an nn.Linear"),
        ((network, layer, X, y[:10], direction), {}, ValueError, "for each of the 10 labels"),
        ((network, layer, X.numpy(), y, direction), {}, TypeError, "X must be a tensor"),
        ((network, layer, X, y * 0 + 1, direction), {}, ValueError, "two classes, got 1"),
        ((network, layer, X[:1], y[:1], direction), {}, ValueError, "two classes, got 1"),
        ((network, layer, X, y, direction[:1]), {}, ValueError, "shapes of layer.parameters"),
        ((network, layer, X, y, [None, None]), {}, TypeError, "a sequence of tensors"),
        ((broken, layer, X, y, direction), {}, ValueError, "parameters of network must be finite"),
        ((network, layer, X * np.nan, y, direction), {}, ValueError, "X must result in finite"),
        ((network, layer, X, y, direction), {"metric": "f1"}, ValueError, "metric must be"),
        ((network, layer, X, y, direction), {"tol": -1.0}, ValueError, "tol must be non-neg"),
        ((network, layer, X, y, direction), {"max_step": -1.0}, ValueError, "max_step must be"),
    ]
    for arguments, options, error, message in invalid:
        with pytest.raises(error, match=message):
            rt.certified_step(*arguments, **options)


def integer_problem(seed, n_rows=24):
    """Return a network with small whole numbers, which ties many predictions."""
    rng = np.random.default_rng(seed)
    network = sequential(3, 4, 1)
    with torch.no_grad():
        for parameter in network.parameters():
            values = rng.integers(-2, 3, tuple(parameter.shape))
            parameter.copy_(torch.tensor(values, dtype=torch.float64))
    X = torch.tensor(rng.integers(-2, 3, (n_rows, 3)), dtype=torch.float64)
    y = np.append([False, True], rng.integers(0, 2, n_rows - 2) > 0)
    direction = [
        torch.tensor(rng.integers(-2, 3, tuple(one.shape)), dtype=torch.float64)
        for one in network[0].parameters()
    ]
    return network, X, y, direction


@pytest.mark.parametrize("metric", ["auc", "aum"])
def test_certified_values_do_not_contradict_each_other(metric):
    n_contradicting = 0
    for seed in range(40):
        network, X, y, direction = integer_problem(seed)
        options = {"metric": metric, "tol": 1e-9}
        near, far = (
            rt.certified_step(network, network[0], X, y, direction, max_step=limit, **options)
            for limit in (5.0, 100.0)
        )
        sign = 1 if metric == "auc" else -1
        # A forward pass up to step 5 attains the value of the first search.
        n_contradicting += far.is_global and sign * (near.value - far.bound) > 1e-9
        for best, limit in ((near, 5.0), (far, 100.0)):
            assert best.interval[0] <= best.step <= best.interval[1] <= limit
    assert n_contradicting == 0


def test_batch_normalization_and_dropout_are_affine_in_evaluation_mode():
    rng = np.random.default_rng(0)
    X, y = make_rows(60)
    network = torch.nn.Sequential(
        torch.nn.Linear(5, 4),
        torch.nn.BatchNorm1d(4),
        torch.nn.ReLU(),
        torch.nn.BatchNorm1d(4, affine=False),
        torch.nn.Dropout(0.5),
        torch.nn.Linear(4, 3),
        torch.nn.ReLU(),
        torch.nn.Linear(3, 1),
        torch.nn.BatchNorm1d(1),
    ).double()
    for module in network:
        if isinstance(module, torch.nn.BatchNorm1d):
            for name in ("running_mean", "running_var", "weight", "bias"):
                tensor = getattr(module, name)
                if tensor is not None:
                    values = rng.uniform(0.5, 2, tuple(tensor.shape))
                    tensor.data.copy_(torch.tensor(values))
    network.eval()
    for k in (0, 5):
        layer = network[k]
        direction = [torch.tensor(rng.normal(size=tuple(one.shape))) for one in layer.parameters()]
        best = rt.certified_step(network, layer, X, y, direction, max_step=2.0)
        moved = copy.deepcopy(network)
        with torch.no_grad():
            for parameter, change in zip(moved[k].parameters(), direction, strict=True):
                parameter += best.step * change
            scores = moved(X)[:, 0].numpy()
        expected = rp.auc(rp.ErrorBreakpoints.from_labels(y), scores)
        assert best.value == pytest.approx(expected, abs=1e-12)
        assert best.value >= rp.auc(rp.ErrorBreakpoints.from_labels(y), network(X)[:, 0].detach())
    batch = torch.nn.BatchNorm1d(4, track_running_stats=False)
    other = torch.nn.Sequential(
        torch.nn.Linear(5, 4), batch, torch.nn.ReLU(), torch.nn.Linear(4, 1)
    )
    ones = [torch.ones(4, 5), torch.ones(4)]
    with pytest.raises(ValueError, match="track_running_stats=True"):
        rt.certified_step(other, other[0], X, y, ones)
