"""Exact steps for the last layer of a network."""

import numpy as np
import pytest

import rocpath as rp

torch = pytest.importorskip("torch", reason="torch is not installed")
import rocpath.torch as rt  # noqa: E402
from rocpath.torch.last_layer import _LastLayer  # noqa: E402


def make_network(seed=0):
    torch.manual_seed(seed)
    return torch.nn.Sequential(
        torch.nn.Linear(5, 8),
        torch.nn.ReLU(),
        torch.nn.Dropout(0.5),
        torch.nn.Linear(8, 1),
        torch.nn.Flatten(0),
    )


def make_rows(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    y = X[:, 0] + np.abs(X[:, 1]) + rng.normal(size=n) > 1.5
    return torch.tensor(X, dtype=torch.float32), torch.tensor(y)


def auc_of(network, X, y):
    network.eval()
    with torch.no_grad():
        scores = network(X).double().numpy().ravel()
    return rp.auc(rp.ErrorBreakpoints.from_labels(y.numpy()), scores)


def test_layer_predictions_equal_network_predictions():
    network, (X, _) = make_network(), make_rows(50, 0)
    network.eval()
    layer = _LastLayer(network, X)
    predicted = layer.model.predict(layer.initial).predictions[0]
    scores = network(X).detach().double().numpy()
    # Up to the scale and the bias.
    assert np.corrcoef(predicted, scores)[0, 1] == pytest.approx(1.0, abs=1e-9)
    same = layer.write(layer.initial, 0.0)(X).detach().double().numpy()
    # Scores are centered, which does not change AUC.
    np.testing.assert_allclose(same, scores - scores.mean(), atol=1e-5)


def test_the_weight_of_a_constant_input_is_kept():
    network, (X, y) = torch.nn.Linear(5, 1), make_rows(200, 0)
    X[:, 2] = 3.0
    refined, _ = rt.refine_last_layer(network, X, y)
    assert refined.weight[0, 2] == network.weight[0, 2]
    assert refined.weight[0, 0] != network.weight[0, 0]
    scores = refined(X).detach().numpy().ravel()
    is_wrong = (scores > 0) != y.numpy()
    # At the selected bias, most rows of both classes are correct.
    assert max(is_wrong[y].mean(), is_wrong[~y].mean()) < 0.5


def test_auc_never_decreases_and_equals_that_of_the_returned_network():
    network, (X, y) = make_network(), make_rows(300, 0)
    before = {name: one.clone() for name, one in network.state_dict().items()}
    refined, history = rt.refine_last_layer(network, X, y)
    assert (np.diff(history.auc) >= 0).all()
    assert history.auc[-1] > history.auc[0] + 0.05
    assert auc_of(refined, X, y) == pytest.approx(history.auc[-1], abs=1e-4)
    assert history.auc[0] == pytest.approx(auc_of(network, X, y), abs=1e-4)
    for name, one in network.state_dict().items():
        assert torch.equal(one, before[name])


def test_the_bias_minimizes_errors_at_threshold_zero():
    X, y = make_rows(300, 0)
    refined, _ = rt.refine_last_layer(make_network(), X, y)
    refined.eval()
    scores = refined(X).detach().numpy()

    # Error rates of the two classes, as in the breakpoints.
    def errors(threshold):
        is_wrong = (scores > threshold) != y.numpy()
        return is_wrong[y].mean() + is_wrong[~y].mean()

    best = min(errors(t) for t in np.linspace(scores.min(), scores.max(), 2000))
    assert errors(0.0) <= best + 1e-6


def test_validation_auc_selects_the_step():
    network = make_network()
    X, y = make_rows(200, 0)
    validation = make_rows(200, 1)
    refined, history = rt.refine_last_layer(network, X, y, validation=validation)
    assert history.chosen == history.validation_auc.argmax()
    best = history.validation_auc.max()
    assert auc_of(refined, *validation) == pytest.approx(best, abs=1e-4)


def test_a_network_that_no_step_improves_is_returned_unchanged():
    network = make_network()
    X, y = make_rows(40, 0)
    # The validation labels are the predictions of the network.
    validation = make_rows(200, 1)[0]
    network.eval()
    labels = network(validation) > network(validation).median()
    network.train()
    refined, history = rt.refine_last_layer(network, X, y, validation=(validation, labels))
    assert history.chosen == 0
    assert refined is not network
    for name, one in network.state_dict().items():
        assert torch.equal(one, refined.state_dict()[name])
    assert all(module.training for module in network.modules())


def test_breakpoints_instead_of_labels():
    X, y = make_rows(100, 0)
    bp = rp.ErrorBreakpoints.from_labels(y.numpy())
    _, by_labels = rt.refine_last_layer(make_network(), X, y)
    _, by_errors = rt.refine_last_layer(make_network(), X, bp)
    np.testing.assert_array_equal(by_labels.coef, by_errors.coef)


def test_invalid_input_raises():
    network, (X, y) = make_network(), make_rows(20, 0)
    probability = torch.nn.Sequential(network, torch.nn.Sigmoid())
    flat = make_network()
    torch.nn.init.zeros_(flat[3].weight)
    invalid = [
        ((probability, X, y), {}, ValueError, "the logit, not a probability"),
        ((flat, X, y), {}, ValueError, "got scores that are all equal"),
        ((network, X, y[:10]), {}, ValueError, "X must have one row for each of the 10"),
        ((network, X.numpy(), y), {}, TypeError, "X must be a tensor, got ndarray"),
        ((network, X, y), {"validation": X}, TypeError, "a tuple of X and y"),
        ((network, X, y), {"max_steps": -1}, ValueError, "max_steps must be an int"),
    ]
    for arguments, options, error, message in invalid:
        with pytest.raises(error, match=message):
            rt.refine_last_layer(*arguments, **options)
