"""Saved models: predictions for data frames, and rejected files."""

import os
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import skops.io
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

import rocpath as rp
from rocpath.cli import main
from rocpath.files import models
from tests.cli.command_tables import fails, labeled_table


def saved_state(folder):
    file = os.path.join(folder, "model.skops")
    types = skops.io.get_untrusted_types(file=file)
    return skops.io.load(file, trusted=types)


@pytest.fixture(scope="module")
def dated(tmp_path_factory):
    """Fit a table with dates as text, decimal commas and numeric categories."""
    folder = tmp_path_factory.mktemp("dated")
    rows = labeled_table(120)
    rng = np.random.default_rng(0)
    day = rng.integers(1, 28, size=120)
    rows = rows.with_columns(
        since=pl.Series([f"{one:02d}.0{1 + one % 9}.2020" for one in day]),
        price=pl.Series([f"{one},5" for one in rng.integers(0, 9, size=120)]),
        shop=pl.Series(rng.choice(["01", "2", "3"], size=120)),
    )
    table, out = str(folder / "t.csv"), str(folder / "model")
    rows.write_csv(table)
    argv = ["fit", table, "--label", "y", "--out", out, "--fast", "--quiet"]
    assert main([*argv, "--type", "shop=category"]) == 0
    return out, table


def test_a_loaded_model_scores_frames_as_predict_scores_the_table(dated, capsys):
    out, table = dated
    capsys.readouterr()
    assert main(["predict", out, table]) == 0
    expected = pl.read_csv(capsys.readouterr().out.encode())
    model = rp.load_model(out)
    text = {"shop": "string"}
    frames = {
        "polars": pl.read_csv(table, schema_overrides={"shop": pl.String}),
        "lazy": pl.scan_csv(table, schema_overrides={"shop": pl.String}),
        "pandas": pd.read_csv(table, dtype=text),
        "nullable": pd.read_csv(table, dtype=text).convert_dtypes(),
        "other order": pd.read_csv(table, dtype=text)[::-1].iloc[::-1, ::-1],
        "dates": pd.read_csv(table, dtype=text).assign(
            since=lambda one: pd.to_datetime(one["since"], format="%d.%m.%Y"),
            price=lambda one: one["price"].str.replace(",", ".").astype(float),
        ),
        "categories": pd.read_csv(table, dtype=text).astype({"color": "category"}),
    }
    for name, frame in frames.items():
        score = model.decision_function(frame)
        np.testing.assert_allclose(score, expected["score"], err_msg=name)
        assert model.predict(frame).tolist() == expected["prediction"].to_list()
        np.testing.assert_allclose(model.predict_proba(frame)[:, 1], expected["probability"])


def test_a_loaded_model_is_a_fitted_classifier(dated):
    model = rp.load_model(os.path.join(dated[0], "model.skops"))
    assert is_classifier(model)
    check_is_fitted(model)
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.n_features_in_ == len(model.feature_names_in_) == 6
    frame = pd.read_csv(dated[1], dtype={"shop": str})
    assert 0.5 < model.score(frame, frame["y"]) <= 1
    with pytest.raises(TypeError, match="X must be a pandas or polars data frame"):
        model.predict(np.zeros((2, 6)))
    with pytest.raises(ValueError, match="column 'size' not found"):
        model.predict(frame.drop(columns="size"))
    with pytest.raises(ValueError, match=r"column 'since' must be dates .* in row 3"):
        model.predict(frame.assign(since=["1.1.20", "1.1.20", "soon"] + ["1.1.20"] * 117))


def test_the_version_is_that_of_the_package():
    settings = Path(__file__).parents[2] / "pyproject.toml"
    assert rp.__version__ in settings.read_text()
    assert "__version__" in dir(rp)
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = rp.no_such_name


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda state: state.pop("pipeline"), "'pipeline' is missing"),
        (lambda state: state.pop("positive"), "'positive' is missing"),
        (lambda state: state.update(more=1), "has an unknown entry 'more'"),
        (
            lambda state: state["pipeline"][-1].coef_.__setitem__((0, 1), np.nan),
            "coef_ of its AUCClassifier is not finite",
        ),
        (
            lambda state: state["pipeline"][0].transformers_[0][1].statistics_.fill(np.inf),
            "statistics_ of its SimpleImputer is not finite",
        ),
        (lambda state: state.update(pipeline=3), "is damaged"),
        (lambda state: state.update(format=0), "not a model of this version"),
    ],
)
def test_incomplete_or_invalid_models_are_rejected(tmp_path, dated, capsys, change, message):
    state = saved_state(dated[0])
    change(state)
    file = str(tmp_path / "model.skops")
    skops.io.dump(state, file)
    with pytest.raises(ValueError, match=r"model\.skops") as error:
        rp.load_model(file)
    assert message in str(error.value)
    assert message in fails(capsys, ["predict", file, dated[1]])


def test_truncated_and_foreign_files_are_rejected_in_one_line(tmp_path, dated, capsys):
    with open(os.path.join(dated[0], "model.skops"), "rb") as whole:
        content = whole.read()
    file = tmp_path / "model.skops"
    for damaged in (b"", b"text", content[:2000], content[:-9], content[50:]):
        file.write_bytes(damaged)
        message = fails(capsys, ["predict", str(file), dated[1]])
        assert "not a rocpath model" in message
    flipped = bytearray(content)
    flipped[len(content) // 2] ^= 255
    file.write_bytes(flipped)
    fails(capsys, ["predict", str(file), dated[1]])
    file.unlink()
    assert "does not exist" in fails(capsys, ["predict", str(tmp_path), dated[1]])


def test_files_with_too_large_an_unpacked_size_are_rejected(tmp_path, monkeypatch):
    file = tmp_path / "model.skops"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", b" " * 5_000_000)
    assert file.stat().st_size < 10_000
    monkeypatch.setattr(models, "LARGEST_MODEL", 4 * 2**20)
    with pytest.raises(ValueError, match="would unpack to 5 MiB, more than the 4 MiB"):
        rp.load_model(file)


def test_a_table_with_only_categories_is_fitted_and_scored(tmp_path):
    y = np.arange(60) % 3 == 0
    rows = pl.DataFrame({"word": np.where(y, "a", "b"), "y": np.where(y, "yes", "no")})
    table, out = str(tmp_path / "t.csv"), str(tmp_path / "model")
    rows.write_csv(table)
    argv = ["fit", table, "--label", "y", "--out", out, "--fast", "--quiet"]
    assert main(argv) == 0
    assert main(["predict", out, table, "--out", str(tmp_path / "scores.csv")]) == 0
    assert rp.load_model(out).predict(rows).tolist() == rows["y"].to_list()
