"""Load and use damaged and forged model files in child processes, none of which may crash.

Run ``python -m tests.files.mutated_models 10000`` for more mutations than the tests run.
"""

import io
import json
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.ensemble import ExtraTreesClassifier

import rocpath as rp
from rocpath import changepoint as cp
from rocpath.ranking import members

KINDS = ("linear", "logistic", "boosting", "blend", "changepoint")
_INTEGERS = (0, -1, 1, 2, 7, 2**31 - 10, 2**31 - 1, 2**32 - 1, 2**62, -(2**31), 2**63 - 1)
_FLOATS = (0.0, -1.0, 1e308, -1e308, 5e-324, np.nan, np.inf, -np.inf)
_TEXTS = ("", "x", "rbf", "linear", "precomputed", "passthrough", "drop", "<f8", "|O", "numpy")
_SECONDS = 20  # per mutation; arbitrary numbers may also take arbitrarily long


def table(n_rows=60):
    """Return rows with numbers, missing values, categories and dates."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_rows)
    return pl.DataFrame(
        {
            "x": rng.normal(size=n_rows) + y,
            "z": [None if value > 1 else value for value in rng.normal(size=n_rows)],
            "color": rng.choice(["a", "b", "c", "rare"], n_rows, p=[0.5, 0.3, 0.18, 0.02]),
            "day": rng.choice(["2020-01-01", "2021-02-03"], n_rows),
            "y": y,
        }
    )


def sequences():
    """Return short sequences with one change."""
    rng = np.random.default_rng(1)
    return [np.repeat([0.0, 3.0], 20) + rng.normal(size=40) for _ in range(6)]


def save_models(folder):
    """Save one model of each kind, with few trees, and return the files."""
    forest = members.ExtraTreesClassifier
    members.ExtraTreesClassifier = lambda _, **options: ExtraTreesClassifier(5, **options)
    try:
        for kind in KINDS[:-1]:
            model = rp.TableClassifier(kind, fast=True, random_state=0)
            model.fit(table(), "y").save(folder / f"{kind}.skops")
    finally:
        members.ExtraTreesClassifier = forest
    labels = [cp.Labels([0, 15], [15, 25], ["no_change", "one_change"])] * 6
    cp.LearnedDetector().fit(sequences(), labels).save(folder / "changepoint.skops")
    return [folder / f"{kind}.skops" for kind in KINDS]


def use(path):
    """Load a model and predict with it."""
    model = rp.load_model(path)
    if isinstance(model, rp.TableClassifier):
        return model.decision_function(table())
    return model.predict(sequences())


def mutated(content, rng):
    """Return a model file with one to three changes."""
    if rng.random() < 0.05:
        changed = bytearray(content)
        for place in rng.integers(0, len(changed), 3):
            changed[place] = rng.integers(256)
        return bytes(changed)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    arrays = [name for name in files if name.endswith(".npy")]
    for _ in range(rng.integers(1, 4)):
        if arrays and rng.random() < 0.7:
            name = arrays[rng.integers(len(arrays))]
            files[name] = _mutated_array(files[name], rng)
        else:
            files["schema.json"] = _mutated_schema(files["schema.json"], rng)
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, part in files.items():
            archive.writestr(name, part)
    return written.getvalue()


def _mutated_array(content, rng):
    array = np.load(io.BytesIO(content), allow_pickle=False).copy()
    change = rng.integers(10)
    if change == 0 and array.ndim:
        array = array[: rng.integers(len(array) + 1)]
    elif change == 1 and array.size:
        array = np.concatenate([array.ravel()] * 2)
    elif change == 2:
        array = array.T if array.ndim > 1 else array[None]
    elif change == 3 and array.dtype.names is None and array.dtype.kind in "iuf":
        array = array.astype(rng.choice(["i1", "i4", "i8", "f4", "f8", "u8"]))
    elif array.size:
        flat = array.reshape(-1)
        if array.dtype.names:
            flat = flat[array.dtype.names[rng.integers(len(array.dtype.names))]]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for place in rng.integers(0, flat.size, rng.integers(1, 4)):
                flat[place] = _extreme(flat.dtype, flat.size, rng)
    written = io.BytesIO()
    np.save(written, array)
    return written.getvalue()


def _extreme(dtype, size, rng):
    if dtype.kind == "f":
        return rng.choice(_FLOATS)
    if dtype.kind in "iu":
        value = int(rng.choice([*_INTEGERS, size, size - 1, size + 1]))
        return np.array([value]).astype(dtype)[0]
    return rng.integers(0, 2) if dtype.kind == "b" else "x"


def _mutated_schema(content, rng):
    schema = json.loads(content)
    places, waiting = [], [schema]
    while waiting:
        node = waiting.pop()
        entries = node.items() if isinstance(node, dict) else enumerate(node)
        for key, value in entries:
            # The identities of nodes are not data.
            if key not in ("__id__", "protocol", "_skops_version"):
                places.append((node, key))
            if isinstance(value, (dict, list)):
                waiting.append(value)
    node, key = places[rng.integers(len(places))]
    other, other_key = places[rng.integers(len(places))]
    change = rng.integers(4)
    if change == 0 and isinstance(node, dict):
        del node[key]
    elif change == 1:
        node[key], other[other_key] = other[other_key], node[key]
    else:
        values = (*map(str, _INTEGERS), "true", "null", "NaN", *_TEXTS, *_INTEGERS, None, True, [])
        node[key] = values[rng.integers(len(values))]
    try:
        return json.dumps(schema).encode()
    except ValueError:  # a node was swapped with a part of itself
        return content


def run_child(folder, first, last):
    """Load and use models with the seeds from first to last, and print each seed before."""
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (6 * 2**30, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    contents = [(folder / f"{kind}.skops").read_bytes() for kind in KINDS]
    path = folder / f"mutated-{first}.skops"

    def stop(*_):
        raise TimeoutError

    signal.signal(signal.SIGALRM, stop)
    for seed in range(first, last):
        print("start", seed, flush=True)
        rng = np.random.default_rng(seed)
        path.write_bytes(mutated(contents[seed % len(KINDS)], rng))
        signal.alarm(_SECONDS)
        try:
            use(path)
            print("used", flush=True)
        except Exception as error:
            is_rejected = isinstance(error, ValueError) and str(path) in str(error)
            print("rejected" if is_rejected else type(error).__name__, flush=True)
        finally:
            signal.alarm(0)


def run(folder, first, last):
    """Run mutations in child processes; return outcomes, and the seeds of crashes."""
    outcomes, crashes = Counter(), []
    while first < last:
        command = [sys.executable, "-m", "tests.files.mutated_models", folder, first, last]
        # A crash in compiled code may leave a process that hangs.
        limit = 60 + _SECONDS * 3 * (last - first)
        done = subprocess.run(
            [str(word) for word in command], capture_output=True, text=True, timeout=limit
        )
        lines = done.stdout.split("\n")
        seeds = [int(line.split()[1]) for line in lines if line.startswith("start")]
        outcomes.update(line for line in lines if line and not line.startswith("start"))
        if done.returncode == 0:
            break
        crashes.append((seeds[-1] if seeds else None, done.returncode, done.stderr[-300:]))
        if not seeds:
            break
        first = seeds[-1] + 1
    return outcomes, crashes


def main(n_mutations):
    """Run many mutations, and report crashes and the numbers of outcomes."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save_models(folder)
        outcomes, crashes = run(folder, 0, n_mutations)
    seconds = time.perf_counter() - start
    print(f"{n_mutations:,} mutated models in {seconds:.0f} s: {len(crashes)} crashes")
    for outcome, count in outcomes.most_common():
        print(f"  {count:6,} {outcome}")
    for seed, code, error in crashes:
        print(f"crash: seed {seed}, exit code {code}: {error}")
    return bool(crashes)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        run_child(Path(sys.argv[1]), *map(int, sys.argv[2:]))
    else:
        sys.exit(main(int(sys.argv[1])))
