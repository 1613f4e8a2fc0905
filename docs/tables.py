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


def ranges(rows, column):
    values = [float(row[column]) for row in rows]
    return f"{min(values):.3f} to {max(values):.3f}"


def write_survival_coverage():
    """Summarize the coverage and sizes of each metric by number of events."""
    metrics = {"harrell": "Harrell's C", "uno": "Uno's C", "auc": "AUC(t)"}
    by_cell = defaultdict(list)
    for row in read("coverage", "survival_coverage"):
        design = row["kind"] if row["kind"] in ("groups", "weights") else "independent rows"
        by_cell[design, row["metric"], int(row["events"])].append(row)
    rows = [
        [
            design,
            metrics[metric],
            str(events),
            str(len(cells)),
            *(ranges(cells, name) for name in ("coverage", "size_of_two", "size_of_four")),
        ]
        for (design, metric, events), cells in by_cell.items()
    ]
    head = ["rows", "metric", "events", "settings", "coverage", "size, two", "size, four"]
    write("survival_coverage", head, rows)


def write_survival_speed():
    rows = read("speed", "survival_speed")
    write("survival_speed", list(rows[0]), [list(row.values()) for row in rows])


def write_reader_coverage():
    """Summarize the sizes and coverages of reader studies by number of readers."""
    by_readers = defaultdict(list)
    for row in read("coverage", "reader_coverage"):
        by_readers[int(row["readers"])].append(row)
    names = ("size", "coverage_of_difference", "coverage_of_mean")
    rows = [
        [str(n), str(len(cells)), *(ranges(cells, name) for name in names)]
        for n, cells in by_readers.items()
    ]
    head = ["readers", "settings", "size of 5% tests", "coverage of differences"]
    write("reader_coverage", [*head, "coverage of means"], rows)


def write_all():
    write_survival_coverage()
    write_survival_speed()
    write_reader_coverage()
    write_search_speed()
    write_segmentation_speed()
    write_accuracy()
    write_penalties()
