"""Compare AUC statistics with those of the R package pROC.

Draws samples with and without ties, computes each quantity that both packages define,
and prints the largest difference for each quantity. For partial AUCs, pROC has only
bootstrapped standard errors; their differences from ours are relative. pROC is used
through its documented functions: ``roc``, ``auc``, ``var``, ``cov``, ``roc.test`` and
``multiclass.roc``. Saves pROC's values in ``proc_reference.csv``, which a test compares
with the current results. Requires ``Rscript`` and pROC (``apt-get install
r-cran-proc``).
"""

import csv
import re
import subprocess
import tempfile
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.stats import norm

import rocpath as rp

RESULTS = Path(__file__).parent / "results"
N_SAMPLES = 12
LIMITS = (0.1, 0.5)
R_CODE = """
suppressMessages(library(pROC))
set.seed(0)
emit <- function(k, name, value) cat(sprintf("%d,%s,%.17g\\n", k, name, value))
for (k in 0:(as.integer(commandArgs(TRUE)[2]) - 1)) {
  d <- read.csv(file.path(commandArgs(TRUE)[1], sprintf("%d.csv", k)))
  curve <- function(y, s) roc(y, s, levels = c(0, 1), direction = "<", quiet = TRUE)
  R <- lapply(d[c("a", "b", "c")], function(s) curve(d$y, s))
  for (n in names(R)) {
    emit(k, paste("auc", n), as.numeric(auc(R[[n]])))
    emit(k, paste("standard error", n), sqrt(var(R[[n]], method = "delong")))
    for (limit in c(0.1, 0.5)) {
      area <- auc(R[[n]], partial.auc = c(1, 1 - limit), partial.auc.focus = "specificity")
      emit(k, paste("partial auc", limit, n), as.numeric(area))
    }
  }
  for (limit in c(0.1, 0.5)) {
    part <- roc(d$y, d$a, levels = c(0, 1), direction = "<", quiet = TRUE,
                partial.auc = c(1, 1 - limit), partial.auc.focus = "specificity")
    error <- sqrt(var(part, method = "bootstrap", boot.n = 2000, progress = "none"))
    emit(k, paste("bootstrapped error of partial auc", limit), error)
  }
  for (pair in combn(names(R), 2, simplify = FALSE)) {
    test <- roc.test(R[[pair[1]]], R[[pair[2]]], method = "delong", paired = TRUE)
    emit(k, paste("paired p-value", pair[1], pair[2]), test$p.value)
    both <- cov(R[[pair[1]]], R[[pair[2]]], method = "delong")
    emit(k, paste("covariance", pair[1], pair[2]), both)
  }
  half <- seq_len(nrow(d)) <= nrow(d) / 2
  one <- curve(d$y[half], d$a[half]); two <- curve(d$y[!half], d$a[!half])
  test <- roc.test(one, two, method = "delong", paired = FALSE)
  emit(k, "unpaired statistic", as.numeric(test$statistic))
  P <- as.matrix(d[c("a", "b", "c")]); colnames(P) <- c("0", "1", "2")
  found <- multiclass.roc(factor(d$class), P, quiet = TRUE)
  emit(k, "Hand and Till", as.numeric(auc(found)))
}
"""


def samples():
    """Yield labels, three correlated scores and classes; half the samples have ties."""
    rng = np.random.default_rng(0)
    for k in range(N_SAMPLES):
        n_rows = int(rng.integers(40, 400))
        y = (rng.random(n_rows) < (0.5, 0.2)[k % 2]).astype(int)
        common = rng.normal(size=n_rows) + y
        scores = common[:, None] + rng.normal(size=(n_rows, 3)) * [0.5, 1.0, 2.0]
        if k % 2:
            scores = np.round(2 * scores)
        yield y, scores, rng.permutation(np.arange(n_rows) % 3)


def our_values(y, scores, classes):
    """Return the quantities computed by rocpath, by name."""
    columns = dict(zip("abc", scores.T, strict=True))
    both = rp.compare(y, columns)
    values = {}
    for name, score in columns.items():
        area = both.intervals[name]
        values[f"auc {name}"], values[f"standard error {name}"] = area.value, area.standard_error
        for limit in LIMITS:
            partial = rp.auc_interval(y, score, max_fpr=limit)
            values[f"partial auc {limit} {name}"] = partial.value
    for limit in LIMITS:
        error = rp.auc_interval(y, columns["a"], max_fpr=limit).standard_error
        values[f"bootstrapped error of partial auc {limit}"] = error
    for one, two in combinations("abc", 2):
        errors = [both.intervals[name].standard_error for name in (one, two)]
        pair = both.differences[one, two]
        # The p-value of DeLong's test; that of `compare` is corrected for few rows.
        apart = pair.asymptotic_standard_error
        values[f"paired p-value {one} {two}"] = 2.0 * norm.sf(abs(pair.value) / apart)
        values[f"covariance {one} {two}"] = 0.5 * (errors[0] ** 2 + errors[1] ** 2 - apart**2)
    half = np.arange(y.size) < y.size // 2
    parts = {"first": scores[half, 0], "second": scores[~half, 0]}
    two = rp.compare(y[half], parts, other_y=y[~half]).differences["first", "second"]
    values["unpaired statistic"] = two.value / two.asymptotic_standard_error
    values["Hand and Till"] = rp.auc_interval(classes, scores, multi_class="ovo").value
    return values


def their_values():
    """Return the quantities computed by pROC, by sample and name."""
    with tempfile.TemporaryDirectory() as folder:
        for k, (y, scores, classes) in enumerate(samples()):
            rows = np.column_stack((y, scores, classes))
            header = "y,a,b,c,class"
            np.savetxt(Path(folder, f"{k}.csv"), rows, "%.17g", ",", header=header, comments="")
        script = Path(folder, "reference.R")
        script.write_text(R_CODE)
        command = ["Rscript", str(script), folder, str(N_SAMPLES)]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = (line.split(",") for line in lines.splitlines())
    return {(int(k), name): float(value) for k, name, value in rows}


def main():
    reference = their_values()
    largest = {}
    for k, sample in enumerate(samples()):
        for name, value in our_values(*sample).items():
            kind = re.sub("( [abc])+$", "", name)
            difference = abs(value - reference[k, name])
            if "bootstrapped" in name:  # relative; the bootstrap has an error of 1.6%
                difference /= value
            largest[kind] = max(largest.get(kind, 0.0), difference)
    print("| quantity | largest difference |\n|---|---|")
    for kind, difference in largest.items():
        print(f"| {kind} | {difference:.1e} |")
    with (RESULTS / "proc_reference.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("sample", "quantity", "value"))
        writer.writerows((*key, f"{value:.12g}") for key, value in reference.items())


if __name__ == "__main__":
    main()
