"""Evaluate scores of censored times: what the terminal and the page show."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from rocpath.evaluation.comparison_results import MetricComparison
from rocpath.evaluation.comparisons import compare
from rocpath.evaluation.intervals import interval
from rocpath.evaluation.metrics.concordance import UnoConcordance
from rocpath.evaluation.metrics.time_dependent_auc import TimeDependentAUC
from rocpath.evaluation.results import MetricInterval, TextTable, percent
from rocpath.files.writer import write_file
from rocpath.sample import Sample
from rocpath.survival import Survival
from rocpath.validation import share_between

_TIMES = (0.25, 0.5, 0.75)  # quantiles of the event times at which the AUC is shown


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class SurvivalEvaluation(TextTable):
    """Intervals and comparisons of scores of censored times, for a terminal and a page.

    Attributes
    ----------
    y : Survival
        Times and events.
    intervals : dict of dict of MetricInterval
        Intervals by the name of the metric and of the score: Harrell's C, Uno's C up to
        the last event, and the AUC at the quartiles of the event times. Metrics that are
        undefined are not included.
    comparison : MetricComparison or None
        Comparisons of Harrell's C; None for a single score.
    confidence : float
        Nominal coverage of the intervals.
    """

    y: Survival
    intervals: dict[str, dict[str, MetricInterval]]
    comparison: MetricComparison | None
    confidence: float

    @classmethod
    def from_scores(
        cls,
        y: Any,
        scores: Mapping[str, ArrayLike],
        *,
        groups: ArrayLike | None = None,
        confidence: float = 0.95,
    ) -> Self:
        """Evaluate and compare scores of the same rows.

        The command ``rocpath compare --survival-time`` calls this method, and prints and
        writes its result.

        Parameters
        ----------
        y : Survival or structured array
            Times and events.
        scores : dict of array-like, shape (n_rows,)
            Scores by name, larger for rows whose event is expected earlier.
        groups, confidence
            As in :func:`rocpath.interval`.

        Returns
        -------
        SurvivalEvaluation
            Its method ``report`` writes a page, and ``to_dict`` returns its numbers for JSON.

        Examples
        --------
        >>> import rocpath as rp
        >>> y = rp.Survival([2, 4, 4, 5, 7, 8], [1, 1, 0, 1, 0, 1])
        >>> scores = {"a": [6, 5, 1, 3, 4, 2], "b": [1, 2, 3, 4, 5, 6]}
        >>> evaluation = rp.SurvivalEvaluation.from_scores(y, scores)
        >>> len(evaluation.findings)
        1
        """
        confidence = share_between("confidence", confidence)
        sample = Sample.from_outcome(y, groups=groups)
        if sample.duration is None:
            raise ValueError("y must be a rocpath.Survival, got labels: use ScoreEvaluation.")
        censored = Survival(sample.duration, sample.is_positive)
        columns = {name: sample.scores(name, score) for name, score in scores.items()}
        if not columns:
            raise ValueError("scores must have at least one entry, got an empty dict.")
        settings: dict[str, Any] = {"groups": groups, "confidence": confidence}
        comparison = None
        if len(columns) > 1:
            comparison = compare(censored, columns, "concordance", **settings)
        intervals: dict[str, dict[str, MetricInterval]] = {}
        for metric in _metrics(censored):
            for name, score in columns.items():
                try:
                    result = interval(censored, score, metric, **settings)
                except ValueError:
                    if metric == "concordance":
                        raise
                    continue  # undefined, such as an AUC at a time that no row survives
                intervals.setdefault(result.name, {})[name] = result
        return cls(y=censored, intervals=intervals, comparison=comparison, confidence=confidence)

    @property
    def metric(self) -> str:
        """Name of the compared metric."""
        return next(iter(self.intervals))

    @property
    def findings(self) -> list[str]:
        """Each significant difference in a sentence, or the absence of any."""
        return [] if self.comparison is None else self.comparison.findings

    @property
    def first(self) -> MetricInterval:
        """Interval of the compared metric of the first score."""
        return next(iter(self.intervals[self.metric].values()))

    def _tables(self) -> list[tuple[list[str], list[list[str]]]]:
        header = ["metric", "score", "value", f"{percent(self.confidence)} CI"]
        rows = [
            [metric, name, f"{one.value:.4f}", f"{one.low:.4f} to {one.high:.4f}"]
            for metric, of_scores in self.intervals.items()
            for name, one in of_scores.items()
        ]
        tables = [(header, rows)]
        return tables if self.comparison is None else [*tables, self.comparison._tables()[1]]

    def _below(self) -> list[str]:
        if self.comparison is None:
            return [f"{', '.join(self.first.sizes)}."]
        return self.comparison._below()

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as nested dicts and lists, for JSON."""
        comparison = self.comparison
        differences = {} if comparison is None else comparison.differences
        fields = ("value", "low", "high", "standard_error", "confidence")
        return {
            "metric": self.metric,
            "n_events": self.first.n_events,
            "n_censored": self.first.n_censored,
            "n_groups": self.first.n_groups,
            "metrics": {
                metric: {
                    name: {field: getattr(one, field) for field in fields}
                    for name, one in of_scores.items()
                }
                for metric, of_scores in self.intervals.items()
            },
            "pairs": [
                {"first": first, "second": second, **asdict(pair)}
                for (first, second), pair in differences.items()
            ],
            "p_value": None if comparison is None else comparison.p_value,
        }

    def report(self, path: str | Path, *, title: str = "Evaluation of risk scores") -> Path:
        """Write a self-contained HTML page, and return its path.

        Parameters
        ----------
        path : str or Path
            File to write.
        title : str
            Title of the page, as plain text.
        """
        # Pages are above the results that they show.
        from rocpath.pages.survival import survival_html

        write_file(path, survival_html(self, title=title))
        return Path(path)


def _metrics(y: Survival) -> list[Any]:
    """Return the metrics that are shown for an outcome."""
    events = y.time[y.event]
    if not events.size:
        return ["concordance"]
    # The weight of an event at the time of the last row may be infinite.
    is_last = events.max() == y.time.max()
    uno = UnoConcordance(float(events.max()) if is_last and events.max() > 0 else None)
    times = np.unique(np.quantile(events, _TIMES, method="lower"))
    return ["concordance", uno, *(TimeDependentAUC(time) for time in times[times > 0].tolist())]
