"""Write the tables of the guide from the benchmarks' CSV files, at every build."""

import csv
import math
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).parent


def read(folder, name):
    with (HERE.parent / "benchmarks" / folder / "results" / f"{name}.csv").open() as file:
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
    for row in read("speed", "core_speed") + read("speed", "search_speed"):
        if not row["what"].startswith("np."):
            time[row["what"]][int(row["n"])] = float(row["seconds"])
    sizes = (1_000, 3_000, 10_000, 100_000, 1_000_000)
    rows = [[what, *(seconds(at.get(n)) for n in sizes)] for what, at in time.items()]
    write("search_speed", ["B =", *(f"{n:,}" for n in sizes)], rows)


def write_segmentation_speed():
    time = defaultdict(dict)
    for row in read("speed", "segmentation_speed"):
        if row["max_changes"] == "20":
            what = row["what"], row["cost"], row["constraint"]
            time[what][int(row["n"])] = float(row["seconds"])
    sizes = (1_000, 10_000, 100_000)
    rows = [[*what, *(seconds(at.get(n)) for n in sizes)] for what, at in time.items()]
    head = ["function", "cost", "constraint", *(f"n = {n:,}" for n in sizes)]
    write("segmentation_speed", head, rows)


def write_accuracy():
    auc = defaultdict(lambda: defaultdict(list))
    for row in read("accuracy", "accuracy"):
        auc[row["set"]][row["model"]].append(float(row["auc"]))
    models = list(dict.fromkeys(model for one in auc.values() for model in one))
    rows = [
        [name, *(f"{sum(one[m]) / len(one[m]):.4f}" if one[m] else "" for m in models)]
        for name, one in auc.items()
    ]
    write("accuracy", ["set", *models], rows)


def write_penalties():
    errors, auc = defaultdict(dict), defaultdict(lambda: defaultdict(list))
    for row in read("accuracy", "penalties"):
        rule, name = row["rule"], row["set"]
        errors[rule][name] = errors[rule].get(name, 0) + int(row["label_errors"])
        auc[rule][name].append(float(row["test_auc"]))
    names = list(errors["constant"])
    rows = []
    for rule, own in errors.items():
        ratios = [own[name] / errors["constant"][name] for name in names]
        means = [sum(auc[rule][name]) / len(auc[rule][name]) for name in names]
        rows.append(
            [
                rule,
                *(str(own[name]) for name in names),
                f"{math.prod(ratios) ** (1 / len(names)):.3f}",
                f"{sum(means) / len(names):.4f}",
            ]
        )
    short = [name.split("_")[0] + " " + name.split("_")[-1] for name in names]
    write("penalties", ["rule", *short, "mean ratio", "mean AUC"], rows)


def write_all():
    write_search_speed()
    write_segmentation_speed()
    write_accuracy()
    write_penalties()
