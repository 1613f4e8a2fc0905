"""Evaluation page of scores of censored times."""

from rocpath.evaluation.results import p_text, percent
from rocpath.evaluation.survival_evaluation import SurvivalEvaluation
from rocpath.pages.page import page_html


def survival_html(evaluation: SurvivalEvaluation, *, title: str) -> str:
    """Return a self-contained page about the evaluation of scores of censored times."""
    first, y = evaluation.first, evaluation.y
    counts = {
        "Rows": len(y),
        "Events": first.n_events,
        "Censored": first.n_censored,
        "Groups": first.n_groups,
    }
    facts = {name: f"{count:,}" for name, count in counts.items() if count is not None}
    facts["Observed until"] = f"{y.time.max():g}"
    return page_html(
        "survival.html",
        title=title,
        scripts=[],
        needs_plotly=False,
        level=percent(evaluation.confidence),
        metric=evaluation.metric,
        facts=facts,
        intervals=evaluation.intervals,
        comparison=evaluation.comparison,
        findings=evaluation.findings,
        p_text=p_text,
    )
