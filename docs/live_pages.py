"""Write the pages of the library that visitors of the documentation can use.

``write_all(folder)`` writes ``labeling.html``, ``evaluation.html``, ``table_report.html``
and ``line_search.html``. They are self-contained, and written at every build.
"""

import warnings
from pathlib import Path

import numpy as np
import server_metrics
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rocpath as rp
from rocpath import changepoint as cp
from rocpath.cli.demo_table import customer_table
from rocpath.pages.explorer import explorer_html

N_HOSTS = 12
N_HOURS = 24 * 7


def tumors():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X, np.where(y == 0, "malignant", "benign")


def write_labeling(path):
    rng = np.random.default_rng(7)
    # One value per hour is enough to see a change, and fast on a phone.
    values = [server_metrics.simulated(rng)[0][::6] for _ in range(N_HOSTS)]
    page = cp.labeling_page(
        values,
        names=[f"web-{k:02}" for k in range(N_HOSTS)],
        positions=[server_metrics.times()[::6]] * N_HOSTS,
        cost="biweight",
        title="CPU load of twelve servers, in percent",
    )
    path.write_text(page, encoding="utf-8")


def write_evaluation(path):
    X, y = tumors()
    scaled = make_pipeline(StandardScaler(), LogisticRegression())
    models = {
        "logistic regression": scaled,
        "random forest": RandomForestClassifier(200, random_state=0),
        "texture only": scaled,
    }
    scores = {
        name: cross_val_predict(
            model,
            X[["mean texture"]] if name == "texture only" else X,
            y,
            cv=5,
            method="predict_proba",
        )[:, 1]
        for name, model in models.items()
    }
    rp.evaluation_report(
        y, scores, positive="malignant", path=path, title="Three models of breast tumors"
    )


def write_table_report(path):
    # The warnings are shown on the page.
    with warnings.catch_warnings(action="ignore"):
        model = rp.TableClassifier(random_state=0)
        model.fit(customer_table(), "cancels", groups="customer")
    model.report(path, title="customers.csv")


def write_line_search(path):
    X, y = tumors()
    standardized = (X - X.mean()) / X.std()
    bp = rp.ErrorBreakpoints.from_labels(y, positive="malignant")
    lines = rp.Lines.from_predictions(bp, standardized["mean radius"], standardized["mean texture"])
    page = explorer_html(lines, title="Radius + step * texture: AUC and AUM")
    path.write_text(page, encoding="utf-8")


def write_all(folder):
    folder.mkdir(parents=True, exist_ok=True)
    write_labeling(folder / "labeling.html")
    write_evaluation(folder / "evaluation.html")
    write_table_report(folder / "table_report.html")
    write_line_search(folder / "line_search.html")


if __name__ == "__main__":
    write_all(Path(__file__).parent / "_live" / "live")
