"""Compare AUCClassifier with logistic regression on the words of package descriptions.

Each task predicts whether a package is in one section of Debian, from the log counts of
the words in its description (``apt-cache dumpavail``, about 60,000 short documents),
with 2,000 training rows and 8,000 test rows. Baselines are logistic regression on log
counts and on columns with unit variance, tuned for AUC by 5-fold cross-validation. The
rule of `common_scale` was chosen on the sections in CHOSEN; those in SECTIONS are for
evaluation. Prints AUC, CPU seconds, and differences from the better of the two
baselines with standard errors over sections.

Run as ``text.py`` for the evaluation sections, or as ``text.py --choose`` for the
others.
"""

import re
import subprocess
import sys
import time
import warnings

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rocpath import AUCClassifier
from rocpath.ranking import fit

CHOSEN = ("python", "web", "net", "sound")
SECTIONS = ("games", "science", "math", "graphics", "utils", "admin", "perl", "doc", "text", "mail")
N_TRAIN, N_TEST, N_REPEATS = 2_000, 8_000, 2
MODELS = ("log counts", "unit variance", "AUCClassifier, unit variance", "AUCClassifier")
BOTH_SCALES = fit.common_scale


def read_packages():
    """Return the description and the section of each package."""
    listing = subprocess.run(
        ["apt-cache", "dumpavail"], capture_output=True, text=True, check=True
    ).stdout
    sections_of = {}
    for entry in listing.split("\n\n"):
        fields = [
            re.search(pattern, entry, re.MULTILINE)
            for pattern in (
                r"^Package: (\S+)",
                r"^Section: (\S+)",
                r"^Description(?:-en)?: (.*(?:\n .*)*)",
            )
        ]
        if all(fields):
            name, section, text = (field.group(1) for field in fields)
            sections_of.setdefault(name, (text, section.split("/")[-1]))
    texts, sections = zip(*sections_of.values(), strict=True)
    return list(texts), np.array(sections)


def fitted(name, X, y, seed):
    """Return a fitted model."""
    if name.startswith("AUCClassifier"):
        is_plain = name == "AUCClassifier"
        fit.common_scale = BOTH_SCALES if is_plain else lambda X, _: np.ones(X.shape[1])
        return AUCClassifier(n_rounds=0, random_state=seed).fit(X, y)
    is_scaled = name == "unit variance"
    Cs = np.logspace(-5, 2, 8) if is_scaled else np.logspace(-3, 4, 8)
    search = LogisticRegressionCV(Cs=Cs, cv=5, scoring="roc_auc", max_iter=300)
    steps = [StandardScaler(with_mean=False)] if is_scaled else []
    return make_pipeline(*steps, search).fit(X, y)


def evaluate(X, y):
    """Return the AUC and CPU seconds of every model, averaged over repetitions."""
    results = np.zeros((N_REPEATS, len(MODELS), 2))
    for repeat in range(N_REPEATS):
        order = np.random.default_rng(repeat).permutation(y.size)
        train, test = order[:N_TRAIN], order[N_TRAIN : N_TRAIN + N_TEST]
        for k, name in enumerate(MODELS):
            start = time.process_time()
            model = fitted(name, X[train], y[train], repeat)
            seconds = time.process_time() - start
            auc = roc_auc_score(y[test], model.decision_function(X[test]))
            results[repeat, k] = auc, seconds
    return results.mean(axis=0)


def main():
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", FutureWarning)
    texts, section = read_packages()
    X = CountVectorizer(min_df=2).fit_transform(texts).astype(float)
    X = sparse.csr_matrix(X.log1p())
    print(f"{X.shape[0]:,} documents, {X.shape[1]:,} words")
    sections = CHOSEN if "--choose" in sys.argv else SECTIONS
    results = np.array([evaluate(X, section == one) for one in sections])
    auc, seconds = results[..., 0], results[..., 1]
    difference = auc - auc[:, :2].max(axis=1, keepdims=True)
    print("| model | AUC | difference from the better baseline | worst | CPU s |")
    print("|---|---|---|---|---|")
    for k, name in enumerate(MODELS):
        error = difference[:, k].std(ddof=1) / np.sqrt(len(sections))
        print(
            f"| {name} | {auc[:, k].mean():.4f} | {difference[:, k].mean():+.4f} ± "
            f"{error:.4f} | {difference[:, k].min():+.4f} | {seconds[:, k].mean():.2f} |"
        )


if __name__ == "__main__":
    main()
