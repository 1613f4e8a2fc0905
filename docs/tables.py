"""Write the tables of the guide from the benchmarks' CSV files, at every build."""

import csv
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).parent


def read(name):
    with (HERE.parent / "benchmarks" / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


def write(name, head, rows):
    lines = [head, ["---"] * len(head), *rows]
    text = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    (HERE / "tables").mkdir(exist_ok=True)
    (HERE / "tables" / f"{name}.md").write_text(text)


def seconds(value):
    return "" if value is None else f"{value:.2g}" if value < 10 else f"{value:.0f}"


def write_search_speed():
    time = defaultdict(dict)
    for row in read("core_speed") + read("search_speed"):
        if not row["what"].startswith("np."):
            time[row["what"]][int(row["n"])] = float(row["seconds"])
    sizes = (1_000, 3_000, 10_000, 100_000, 1_000_000)
    rows = [[what, *(seconds(at.get(n)) for n in sizes)] for what, at in time.items()]
    write("search_speed", ["B =", *(f"{n:,}" for n in sizes)], rows)


def write_segmentation_speed():
    time = defaultdict(dict)
    for row in read("segmentation_speed"):
        if row["max_changes"] == "20":
            what = row["what"], row["cost"], row["constraint"]
            time[what][int(row["n"])] = float(row["seconds"])
    sizes = (1_000, 10_000, 100_000)
    rows = [[*what, *(seconds(at.get(n)) for n in sizes)] for what, at in time.items()]
    head = ["function", "cost", "constraint", *(f"n = {n:,}" for n in sizes)]
    write("segmentation_speed", head, rows)


def write_accuracy():
    auc = defaultdict(lambda: defaultdict(list))
    for row in read("accuracy"):
        auc[row["set"]][row["model"]].append(float(row["auc"]))
    models = list(dict.fromkeys(model for one in auc.values() for model in one))
    rows = [
        [name, *(f"{sum(one[m]) / len(one[m]):.4f}" if one[m] else "" for m in models)]
        for name, one in auc.items()
    ]
    write("accuracy", ["set", *models], rows)


def write_penalties():
    folds = defaultdict(list)
    for row in read("penalties"):
        folds[row["method"]].append((int(row["label_errors"]), float(row["test_auc"])))
    rows = [
        [
            method,
            str(sum(errors for errors, _ in values)),
            f"{sum(auc for _, auc in values) / len(values):.4f}",
        ]
        for method, values in folds.items()
    ]
    write("penalties", ["penalty", "label errors", "mean AUC"], rows)


def write_all():
    write_search_speed()
    write_segmentation_speed()
    write_accuracy()
    write_penalties()
