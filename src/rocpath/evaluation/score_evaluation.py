"""Evaluate one or several scores of the same rows: what the terminal and the page show."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from numpy.typing import ArrayLike

from rocpath.evaluation.comparison_results import MetricComparison
from rocpath.evaluation.comparisons import compare
from rocpath.evaluation.intervals import auc_metric, interval
from rocpath.evaluation.methods import methods_paragraph
from rocpath.evaluation.results import MetricInterval, TextTable, percent
from rocpath.evaluation.score_decisions import ScoreDecisions
from rocpath.files.writer import write_file
from rocpath.sample import Sample
from rocpath.validation import Floats, share_between

_THRESHOLDS = ("youden", "fpr=0.05", "tpr=0.95")


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class ScoreEvaluation(TextTable):
    """Intervals, comparisons and decisions of scores, as shown in a terminal and on a page.

    Attributes
    ----------
    sample : Sample
        Labels and groups of the rows.
    scores : dict of array
        Scores of the rows, by name.
    intervals : dict of MetricInterval
        Metric of each score.
    average_precision : dict of MetricInterval
        Average precision of each score.
    comparison : MetricComparison or None
        Comparisons of all pairs; None for a single score.
    subgroups : dict of MetricInterval, or None
        Metric of each score with ``subgroups``, ``equality_p_value`` and
        ``largest_gap``, if ``by`` was given.
    decisions : dict of ScoreDecisions
        Rates at thresholds, calibration and net benefit of each score.
    confidence : float
        Nominal coverage of the intervals.
    """

    sample: Sample
    scores: dict[str, Floats]
    intervals: dict[str, MetricInterval]
    average_precision: dict[str, MetricInterval]
    comparison: MetricComparison | None
    subgroups: dict[str, MetricInterval] | None
    decisions: dict[str, ScoreDecisions]
    confidence: float

    @classmethod
    def from_scores(
        cls,
        y: ArrayLike,
        scores: Mapping[str, ArrayLike],
        *,
        metric: Any = "auc",
        max_fpr: float | None = None,
        thresholds: Any = _THRESHOLDS,
        groups: ArrayLike | None = None,
        by: ArrayLike | None = None,
        confidence: float = 0.95,
        positive: Any = None,
    ) -> Self:
        """Evaluate and compare scores of the same rows.

        The command ``rocpath compare`` calls this method, and prints and writes its result.

        Parameters
        ----------
        y, scores, metric, max_fpr, thresholds, groups, by, confidence, positive
            As in :func:`rocpath.evaluation_report`.

        Returns
        -------
        ScoreEvaluation

        Examples
        --------
        >>> import rocpath as rp
        >>> y = [0, 0, 0, 0, 1, 1, 1, 1]
        >>> scores = {"a": [1, 2, 3, 5, 4, 6, 7, 8], "b": [1, 5, 3, 7, 2, 4, 8, 6]}
        >>> evaluation = rp.ScoreEvaluation.from_scores(y, scores)
        >>> evaluation.findings
        ['No significant difference in AUC.']
        """
        confidence = share_between("confidence", confidence)
        sample = Sample.from_labels(y, groups=groups, positive=positive)
        columns = {name: sample.scores(name, score) for name, score in scores.items()}
        if not columns:
            raise ValueError("scores must have at least one entry, got an empty dict.")
        if max_fpr is not None:
            metric = auc_metric(max_fpr)
        settings = {"groups": groups, "confidence": confidence, "positive": sample.classes[1]}

        def each(metric: Any, **more: Any) -> dict[str, MetricInterval]:
            names = columns.items()
            return {name: interval(y, score, metric, **settings, **more) for name, score in names}

        is_several = len(columns) > 1
        comparison = compare(y, columns, metric, by=by, **settings) if is_several else None
        intervals = each(metric, by=by) if comparison is None or by is not None else None
        return cls(
            sample=sample,
            scores=columns,
            intervals=intervals or comparison.intervals,  # type: ignore[union-attr]
            average_precision=each("average_precision"),
            comparison=comparison,
            subgroups=None if by is None else intervals,
            decisions={
                name: ScoreDecisions.from_score(sample, score, thresholds, confidence)
                for name, score in columns.items()
            },
            confidence=confidence,
        )

    @property
    def metric(self) -> str:
        """Name of the compared metric, such as "partial AUC (FPR up to 0.1)"."""
        return next(iter(self.intervals.values())).name

    @property
    def max_fpr(self) -> float | None:
        """Upper limit of the false positive rate, if partial AUCs are compared."""
        return getattr(next(iter(self.intervals.values())), "max_fpr", None)

    @property
    def classes(self) -> tuple[str, str]:
        """Negative and positive label, as text."""
        negative, positive = self.sample.classes
        return str(negative), str(positive)

    @property
    def methods(self) -> str:
        """A paragraph about the methods, for a paper."""
        return methods_paragraph(self)

    @property
    def findings(self) -> list[str]:
        """Each significant difference in a sentence, or the absence of any."""
        return [] if self.comparison is None else self.comparison.findings

    def _tables(self) -> list[tuple[list[str], list[list[str]]]]:
        if self.comparison is not None:
            return [*self.comparison._tables(), self._threshold_table()]
        header = ["score", self.metric, f"{percent(self.confidence)} CI"]
        rows = [
            [name, f"{area.value:.4f}", f"{area.low:.4f} to {area.high:.4f}"]
            for name, area in self.intervals.items()
        ]
        return [(header, rows), self._threshold_table()]

    def _threshold_table(self) -> tuple[list[str], list[list[str]]]:
        """Return the rates of all scores at their thresholds."""
        tables = {name: one.thresholds._tables()[0] for name, one in self.decisions.items()}
        header = next(iter(tables.values()))[0]
        rows = [[name, *row] for name, (_, body) in tables.items() for row in body]
        return ["score", *header], rows

    def _below(self) -> list[str]:
        counts = self.sample.counts
        sizes = (
            f"{counts['n_positives']:,} rows of {self.classes[1]!r} (positive), "
            f"{counts['n_negatives']:,} of {self.classes[0]!r}"
        )
        first = next(iter(self.decisions.values())).thresholds
        return [
            *([] if self.comparison is None else self.comparison._below()),
            *(f"Note: {note}." for note in dict.fromkeys(n for row in first for n in row.notes)),
            sizes,
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as nested dicts and lists, for JSON."""
        comparison = self.comparison
        differences = {} if comparison is None else comparison.differences
        return {
            "positive": self.classes[1],
            "negative": self.classes[0],
            "n_positive": self.sample.counts["n_positives"],
            "n_negative": self.sample.counts["n_negatives"],
            "metric": self.metric,
            "max_fpr": self.max_fpr,
            "scores": {name: asdict(area) for name, area in self.intervals.items()},
            "pairs": [
                {"first": first, "second": second, **asdict(pair)}
                for (first, second), pair in differences.items()
            ],
            "p_value": None if comparison is None else comparison.p_value,
            "thresholds": {
                name: [row.to_dict() for row in one.thresholds]
                for name, one in self.decisions.items()
            },
            "methods": self.methods,
        }

    def report(self, path: str | Path, *, title: str = "Evaluation of scores") -> Path:
        """Write a self-contained HTML page, and return its path.

        Parameters
        ----------
        path : path
            File to write.
        title : str
            Title of the page.

        Returns
        -------
        Path
        """
        # Pages are above the results that they show.
        from rocpath.pages.evaluation import evaluation_html

        write_file(path, evaluation_html(self, title=title))
        return Path(path)
