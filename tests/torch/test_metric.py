"""BinaryAUC in loops, with torchmetrics and Lightning, and in several processes."""

import math
import os
import socket
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rocpath as rp

torch = pytest.importorskip("torch", reason="torch is not installed")
import rocpath.torch as rt  # noqa: E402


def make_rows(n=500, seed=0):
    rng = np.random.default_rng(seed)
    target = rng.random(n) < 0.2
    return torch.tensor(rng.normal(size=n).round(1) + target), torch.tensor(target)


def updated(metric, scores, target, *rest, size=64):
    for batch in zip(*(one.split(size) for one in (scores, target, *rest)), strict=True):
        metric.update(*batch)
    return metric


@given(st.integers(0, 100), st.integers(1, 200))
def test_the_metric_equals_the_auc_of_all_batches(seed, size):
    scores, target = make_rows(seed=seed)
    metric = updated(rt.BinaryAUC(), scores, target, size=size)
    assert metric.compute().item() == rp.auc(
        rp.ErrorBreakpoints.from_labels(target.numpy()), scores.numpy()
    )


def test_auc_of_one_class_is_nan_and_reset_drops_all_batches():
    metric = rt.BinaryAUC()
    metric.update(torch.tensor([0.5, 1.0]), torch.tensor([1, 1]))
    assert math.isnan(metric.compute())
    metric.update(torch.tensor([0.0]), torch.tensor([0]))
    assert metric.compute() == 1.0
    metric.reset()
    metric.update(torch.tensor([0.0, 1.0]), torch.tensor([1, 0]))
    assert metric.compute() == 0.0


def test_calling_the_metric_returns_the_auc_of_the_batch():
    metric = rt.BinaryAUC()
    assert metric(torch.tensor([0.1, 0.8]), torch.tensor([0, 1])) == 1.0
    assert metric(torch.tensor([0.4, 0.3]), torch.tensor([0, 1])) == 0.0
    # One of the four pairs is in the wrong order: the positive at 0.3 and the negative at 0.4.
    assert metric.compute() == 0.75


def test_weights_equal_repeated_rows_and_rows_with_zero_weight_are_dropped():
    scores, target = make_rows(60)
    weight = torch.arange(60) % 3
    metric = updated(rt.BinaryAUC(), scores, target, weight.double(), size=7)
    index = torch.arange(60).repeat_interleave(weight)
    repeated = updated(rt.BinaryAUC(), scores[index], target[index])
    assert metric.compute().item() == pytest.approx(repeated.compute().item(), rel=1e-14)


@pytest.mark.parametrize("standardized", [False, True])
def test_partial_auc_equals_that_of_all_rows(standardized):
    scores, target = make_rows()
    metric = rt.BinaryAUC(0.1, standardized=standardized)
    bp = rp.ErrorBreakpoints.from_labels(target.numpy())
    expected = rp.auc(bp, scores.numpy(), max_fpr=0.1, standardized=standardized)
    computed = updated(metric, scores, target).compute().item()
    assert computed == pytest.approx(expected, rel=1e-14)


def test_interval_equals_that_of_all_rows():
    scores, target = make_rows()
    interval = updated(rt.BinaryAUC(), scores, target).compute_interval(confidence=0.9)
    expected = rp.auc_interval(target.numpy(), scores.numpy(), confidence=0.9)
    assert (interval.low, interval.high) == (expected.low, expected.high)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_buckets_are_exact_for_16_bit_floats(dtype):
    # Scores are all finite values of the dtype, including both zeros and subnormal numbers.
    bits = torch.arange(-(2**15), 2**15, dtype=torch.int32).to(torch.int16)
    scores = bits.view(dtype)
    scores = scores[scores.isfinite()]
    target = torch.randint(0, 2, scores.shape, generator=torch.manual_seed(0))
    metric = rt.BinaryAUC(buckets=True)
    metric.update(scores, target)
    bp = rp.ErrorBreakpoints.from_labels(target.numpy())
    assert metric.compute().item() == rp.auc(bp, scores.double().numpy())
    assert metric.error_bound() == 0.0


@given(st.integers(0, 30), st.sampled_from([1e-3, 1.0, 1e4]))
def test_buckets_are_within_their_error_bound(seed, scale):
    rng = np.random.default_rng(seed)
    target = rng.random(3000) < 0.3
    # Scores are close together: near 1, a bucket is 2**-11 wide and contains many of them.
    scores = scale * (1.0 + 0.01 * (rng.normal(size=3000) + target))
    metric = rt.BinaryAUC(buckets=True)
    updated(metric, torch.tensor(scores), torch.tensor(target))
    exact = rp.auc(rp.ErrorBreakpoints.from_labels(target), scores)
    assert 0 < metric.error_bound() < 0.05
    assert abs(metric.compute().item() - exact) <= metric.error_bound()


def test_buckets_have_a_fixed_size():
    metric = rt.BinaryAUC(buckets=True)
    size = metric.bucket_weight.nbytes
    for seed in range(20):
        metric.update(*make_rows(10_000, seed=seed))
    assert metric.bucket_weight.nbytes == size == 2**24


def test_rows_take_nine_bytes_without_weights():
    metric = updated(rt.BinaryAUC(), *make_rows(2000))
    kept = sum(one.nbytes for one in [*metric.score, *metric.signed_weight])
    assert kept == 9 * 2000


@pytest.mark.parametrize("buckets", [False, True])
def test_a_merged_metric_has_the_rows_of_both_metrics(buckets):
    scores, target = make_rows()
    one, two = (rt.BinaryAUC(buckets=buckets) for _ in range(2))
    updated(one, scores[:300], target[:300])
    updated(two, scores[300:], target[300:])
    one.merge_state(two)
    both = updated(rt.BinaryAUC(buckets=buckets), scores, target)
    assert one.compute() == both.compute()


def test_half_does_not_change_the_precision_of_scores():
    scores, target = make_rows()
    metric = updated(rt.BinaryAUC(), scores, target).half().to("cpu")
    assert torch.cat(list(metric.score)).dtype == torch.float64


def test_invalid_input_raises():
    one = torch.tensor([1])
    invalid = [
        (lambda: rt.BinaryAUC(max_fpr=1.5), "max_fpr must be"),
        (
            lambda: rt.BinaryAUC().update(torch.zeros(3, 2), torch.zeros(3, 2)),
            "one BinaryAUC for each label",
        ),
        (lambda: rt.BinaryAUC().update(torch.tensor([math.nan]), one), "got nan at"),
        (lambda: rt.BinaryAUC(max_fpr=0.5, buckets=True).error_bound(), "max_fpr must be None"),
    ]
    for call, message in invalid:
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(TypeError, match="scores must be a tensor, got list"):
        rt.BinaryAUC().update([0.5], one)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_compiled_function_may_compute_the_metric():
    scores, target = make_rows(40)

    def evaluate(scores, target):
        metric = rt.BinaryAUC()
        metric.update(2 * scores, target)
        return metric.compute()

    expected = evaluate(scores, target)
    assert torch.compile(evaluate, backend="aot_eager")(scores, target) == expected


def test_torchmetrics_collections_accept_the_metric():
    torchmetrics = pytest.importorskip("torchmetrics")
    scores, target = make_rows()
    collection = torchmetrics.MetricCollection(
        {"ours": rt.BinaryAUC(), "theirs": torchmetrics.AUROC(task="binary")}
    )
    assert isinstance(collection["ours"], torchmetrics.Metric)
    # Scores are probabilities, because torchmetrics applies a sigmoid to other scores.
    updated(collection, torch.sigmoid(scores), target.int())
    value = collection.compute()
    assert value["ours"].item() == pytest.approx(value["theirs"].item(), abs=1e-6)
    metric = collection["ours"].clone()
    metric.persistent(True)
    restored = rt.BinaryAUC()
    restored.persistent(True)
    restored.load_state_dict(metric.state_dict())
    assert "signed_weight" in metric.state_dict()
    pytest.importorskip("matplotlib").use("Agg")
    _, axes = collection["ours"].plot()
    assert axes.lines[0].get_ydata()[0] == pytest.approx(value["ours"].item())


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_lightning_logs_the_auc_of_the_epoch(tmp_path):
    lightning = pytest.importorskip("lightning")
    scores, target = make_rows(256)

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(1, 1)
            self.auc = rt.BinaryAUC()

        def training_step(self, batch, _):
            return self.layer(batch[0]).square().mean()

        def validation_step(self, batch, _):
            self.auc.update(batch[0].squeeze(1), batch[1])
            self.log("auc", self.auc, on_epoch=True)

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.0)

    data = torch.utils.data.TensorDataset(scores.float()[:, None], target)
    loader = torch.utils.data.DataLoader(data, batch_size=50)
    trainer = lightning.Trainer(
        max_epochs=2,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=tmp_path,
    )
    trainer.fit(Module(), loader, loader)
    bp = rp.ErrorBreakpoints.from_labels(target.numpy())
    expected = rp.auc(bp, scores.float().double().numpy())
    assert trainer.callback_metrics["auc"].item() == pytest.approx(expected, abs=1e-6)


PROGRAM = """
    import sys
    import numpy as np, torch
    import torch.distributed as dist
    import rocpath.torch as rt
    rank = int(sys.argv[1])
    address = "tcp://127.0.0.1:" + sys.argv[2]
    dist.init_process_group("gloo", init_method=address, rank=rank, world_size=3)
    rng = np.random.default_rng(0)
    target = rng.random(301) < 0.2
    scores = rng.normal(size=301) + target
    weight = np.where(np.arange(301) < 200, 1.0, 2.0)
    # Processes have different numbers of rows, in batches of different sizes; one has none.
    mine = (slice(0, 200), slice(0, 0), slice(200, 301))[rank]
    for buckets, is_weighted in ((False, False), (False, True), (True, False), (True, True)):
        metric = rt.BinaryAUC(buckets=buckets)
        columns = [torch.tensor(one[mine]) for one in (scores, target, weight)]
        # With weights, only the last process has them.
        columns = columns if is_weighted and rank == 2 else columns[:2]
        for batch in zip(*(one.split(70) for one in columns)):
            if len(batch[0]):
                metric.update(*batch)
        kept = 0 if buckets else sum(one.numel() for one in metric.score)
        print(repr(metric.compute().item()))
        print("nan" if buckets else repr(metric.compute_interval().low))
        assert buckets or sum(one.numel() for one in metric.score) == kept
        print(kept)
    # A metric without any rows.
    print(rt.BinaryAUC().compute().item())
    dist.destroy_process_group()
"""


def run_processes():
    """Run the program in three processes, and return the output of each."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    started = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(PROGRAM), str(rank), port],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        for rank in range(3)
    ]
    finished = [one.communicate(timeout=300) for one in started]
    for (_, error), process in zip(finished, started, strict=True):
        assert process.returncode == 0, error
    return [out.split() for out, _ in finished]


def test_processes_compute_the_auc_of_all_rows_even_if_one_is_empty():
    rng = np.random.default_rng(0)
    target = rng.random(301) < 0.2
    scores = rng.normal(size=301) + target
    weight = np.where(np.arange(301) < 200, 1.0, 2.0)
    for rank, printed in enumerate(run_processes()):
        for k, weights in enumerate((None, weight, None, weight)):
            exact, low, n_kept = printed[3 * k : 3 * k + 3]
            bp = rp.ErrorBreakpoints.from_labels(target, sample_weight=weights)
            assert float(exact) == pytest.approx(rp.auc(bp, scores), abs=1e-15 if k < 2 else 1e-3)
            if k < 2:
                expected = rp.auc_interval(target, scores, sample_weight=weights).low
                assert float(low) == pytest.approx(expected, rel=1e-12)
                # Afterwards, each process has its own rows again.
                assert int(n_kept) == (200, 0, 101)[rank]
        assert printed[-1] == "nan"


def test_the_settings_are_shown():
    assert repr(rt.BinaryAUC(buckets=True)) == (
        "BinaryAUC(max_fpr=None, standardized=False, buckets=True)"
    )
    assert "max_fpr=0.1" in repr(torch.nn.ModuleDict({"auc": rt.BinaryAUC(0.1)}))


def test_a_missing_torchmetrics_names_the_remedy():
    program = """
        import sys
        sys.modules["torchmetrics"] = None
        import rocpath.torch as rt
        try:
            rt.BinaryAUC
        except ImportError as error:
            assert "pip install 'rocpath[torch]'" in str(error)
        else:
            raise AssertionError
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True)
