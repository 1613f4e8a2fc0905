"""Text and data of the labeling page, without a browser."""

import base64
import json
import re

import numpy as np
import pytest

from rocpath import changepoint as cp
from rocpath.cli import main
from tests.cli.command_tables import fails, long_tables, read, write

X = np.array([1.0, 1, 5, 5, 5, 2])


def embedded(html):
    (text,) = re.findall(r'<script type="application/json">(.*?)</script>', html)
    return json.loads(text)


def page(**changes):
    arguments = {"names": ["a"], "sequences": [X]}
    return cp.labeling_page(**{**arguments, **changes})


def sequence(**changes):
    (one,) = embedded(page(**changes))["sequences"]
    return one


def numbers(text, dtype):
    return np.frombuffer(base64.b64decode(text), dtype)


def test_models_are_selected_by_penalties_and_sorted_by_changes():
    # The costs are 20.8, 6.75 and 0: some penalty selects each number of changes.
    models = sequence(max_changes=2)["models"]
    assert [one["changes"] for one in models] == [[], [2], [2, 5]]
    selection = cp.model_selection(cp.segment(X, 2).cost)
    penalty = [one["min_penalty"] for one in models]
    assert penalty == selection.min_penalty[::-1].tolist()
    # Values from 1 to 5 are scaled to the range from -1 to 1.
    assert models[2]["mean"] == [-1, 1, -0.5]


def test_values_can_be_restored_at_any_scale():
    for factor in (1e-90, 1.0, 1e90):
        value = sequence(sequences=[factor * X], max_changes=1)["value"]
        scaled = numbers(value["float32"], "<f4")
        restored = value["middle"] + value["half"] * scaled.astype(float)
        np.testing.assert_allclose(restored / factor, X, rtol=1e-6)


def test_even_positions_are_encoded_as_two_numbers_and_others_exactly():
    even = sequence(positions=[0.5 + 0.25 * np.arange(6)])["position"]
    assert even == {"kind": "number", "first": 0.5, "step": 0.25, "n": 6}
    uneven = np.array([0.1, 0.2, 0.4, 5, 7, 1e9 + 0.1])
    encoded = sequence(positions=[uneven])["position"]
    assert numbers(encoded["float64"], "<f8").tolist() == uneven.tolist()


def test_positions_keep_their_text():
    time = [f"2024-05-01T10:2{k}" for k in range(6)]
    coded = sequence(positions=[time])["position"]
    assert (coded["kind"], coded["text"], coded["step"]) == ("time", time, 60_000)
    number = [f"{k}.50" for k in range(6)]
    coded = sequence(positions=[number])["position"]
    assert (coded["kind"], coded["text"], coded["first"]) == ("number", number, 0.5)
    order = ["first", "second", "x", "y", "z", "<b>"]
    coded = sequence(positions=[order])["position"]
    assert (coded["kind"], coded["text"], coded["step"]) == ("order", order, 1)


def test_synonyms_of_label_kinds_are_replaced():
    labels = [("a", 0, 2, "1change"), ("a", "3", "5", "noPeaks")]
    data = embedded(page(labels=labels))
    assert data["labels"] == [["a", 0, 2, "one_change"], ["a", "3", "5", "no_peaks"]]
    assert data["has_peaks"]
    assert not embedded(page())["has_peaks"]
    assert embedded(page(constraint="up_down"))["has_peaks"]


def test_the_penalty_selects_the_initial_model():
    assert sequence(penalties=[1e9])["shown"] == 0
    assert sequence(penalties=[0], max_changes=2)["shown"] == 2
    # The default penalty selects no changes in noise.
    noise = np.random.default_rng(0).normal(size=200)
    one = sequence(sequences=[noise], positions=[np.arange(200)])
    assert one["models"][one["shown"]]["changes"] == []


def test_pages_with_other_data_or_initial_labels_have_other_keys():
    keys = {
        embedded(page(**changes))["key"]
        for changes in (
            {},
            {"names": ["b"]},
            {"sequences": [X + np.arange(6)]},
            {"labels": [("a", 0, 2, "no_change")]},
        )
    }
    assert len(keys) == 4
    assert embedded(page(title="other"))["key"] in keys


def test_names_cannot_close_the_script_element():
    name = "</script><script>alert(1)</script>"
    html = page(names=[name], title=name)
    assert name not in html
    assert embedded(html)["sequences"][0]["name"] == name


def test_the_page_is_small_and_its_policy_lists_its_scripts():
    html = page()
    assert len(html) < 150_000
    assert "http://" not in html.replace("http://www.w3.org", "")
    scripts = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    (policy,) = re.findall(r'Policy" content="(.*?)"', html)
    assert len(re.findall(r"'sha256-[^']+'", policy)) == len(scripts)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"names": ["a", "b"]}, "names must have an entry for each of the 1 sequences, got 2"),
        ({"names": ["a", "a"], "sequences": [[1]] * 2}, "names must not repeat, got 'a' twice"),
        ({"names": [], "sequences": []}, "at least one sequence"),
        ({"positions": [np.arange(5)]}, "one entry for each of the 6 values"),
        ({"positions": [[0, 1, 1, 2, 3, 4]]}, "must increase, got 1.0 at index 2"),
        ({"sequences": [[1, 2, 3, np.inf, 5, 6]]}, "sequences[0] must be finite"),
        ({"labels": [("b", 0, 1, "no_change")]}, "got 'b' in row 0"),
        ({"labels": [("a", 0, 1, "change")]}, "got 'change' in row 0"),
        ({"penalties": []}, "penalties must have an entry for each of the 1 sequences"),
        ({"max_changes": -1}, "max_changes must be an integer of at least 0"),
    ],
)
def test_invalid_arguments_raise(changes, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        page(**changes)


def test_the_command_writes_the_page_with_the_labels_as_written(tmp_path, capsys):
    sequences, labels = long_tables(tmp_path)
    out = str(tmp_path / "page.html")
    argv = ["changepoint", "label", sequences, "--labels", labels, "--out", out]
    assert main(argv) == 0
    assert "page.html; open it in a browser" in capsys.readouterr().err
    data = embedded(read(out))
    assert [one["name"] for one in data["sequences"]] == [f"0{k}" for k in range(12)]
    assert data["labels"][:2] == [["00", "0", "15", "no_change"], ["00", "15", "25", "one_change"]]
    assert "already exists" in fails(capsys, argv)
    assert main([*argv, "--force", "--max-changes", "3", "--quiet"]) == 0
    models = embedded(read(out))["sequences"][0]["models"]
    assert len(models[-1]["changes"]) == 3


def test_the_command_keeps_times_as_written_and_names_invalid_sequences(tmp_path, capsys):
    rows = ["host,time,ms"] + [f"a,2024-05-01T10:2{k},{k // 3}" for k in range(6)]
    sequences = write(tmp_path / "times.csv", "\n".join([*rows, "b,2024-05-01,x"]))
    text = "host,start,end,kind\na,2024-05-01T10:20,2024-05-01T10:22:30,normal"
    labels = write(tmp_path / "labels.csv", text + "\nb,2024-05-01,2024-05-02,normal")
    out = str(tmp_path / "page.html")
    argv = ["changepoint", "label", sequences, "--labels", labels, "--out", out]
    argv += ["--sequence", "host", "--position", "time", "--value", "ms"]
    assert main(argv) == 0
    assert "skipped sequence 'b'" in capsys.readouterr().err
    data = embedded(read(out))
    assert data["sequences"][0]["position"]["text"][1] == "2024-05-01T10:21"
    start, end = "2024-05-01T10:20", "2024-05-01T10:22:30"
    assert data["labels"] == [["a", start, end, "no_change"]]


def test_the_command_rejects_labels_outside_the_sequence(tmp_path, capsys):
    sequences, _ = long_tables(tmp_path)
    labels = write(tmp_path / "bad.csv", "sequence,start,end,kind\n00,50,60,no_change")
    out = str(tmp_path / "page.html")
    argv = ["changepoint", "label", sequences, "--labels", labels, "--out", out]
    assert "must lie within the sequence" in fails(capsys, argv)
    assert not (tmp_path / "page.html").exists()
