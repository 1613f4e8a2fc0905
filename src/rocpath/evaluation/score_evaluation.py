"""Evaluate one or several scores of the same rows: what the terminal and the page show."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from numpy.typing import ArrayLike

from rocpath.evaluation.comparison_results import MetricComparison
from rocpath.evaluation.comparisons import compare
from rocpath.evaluation.intervals import auc_interval, auc_metric, interval
from rocpath.evaluation.results import AUCInterval, MetricInterval, TextTable, p_text, percent
from rocpath.files.writer import write_file
from rocpath.sample import Sample
from rocpath.validation import Floats, share_between

_LEVEL = 0.05  # significance level for Holm-adjusted p-values


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class ScoreEvaluation(TextTable):
    """Intervals and comparisons of scores, as shown in a terminal and on a page.

    Attributes
    ----------
    sample : Sample
        Labels and groups of the rows.
    scores : dict of array
        Scores of the rows, by name.
    intervals : dict of AUCInterval
        AUC, or partial AUC up to ``max_fpr``, of each score.
    average_precision : dict of MetricInterval
        Average precision of each score.
    comparison : MetricComparison or None
        Comparisons of all pairs; None for a single score.
    max_fpr : float or None
        Upper limit of the false positive rate, for partial AUCs.
    confidence : float
        Nominal coverage of the intervals.
    """

    sample: Sample
    scores: dict[str, Floats]
    intervals: dict[str, AUCInterval]
    average_precision: dict[str, MetricInterval]
    comparison: MetricComparison | None
    max_fpr: float | None
    confidence: float

    @classmethod
    def from_scores(
        cls,
        y: ArrayLike,
        scores: Mapping[str, ArrayLike],
        *,
        max_fpr: float | None = None,
        groups: ArrayLike | None = None,
        confidence: float = 0.95,
        positive: Any = None,
    ) -> Self:
        """Evaluate and compare scores of the same rows.

        The command ``rocpath compare`` calls this method, and prints and writes its result.

        Parameters
        ----------
        y : array-like, shape (n_rows,)
            Labels with exactly two distinct values.
        scores : dict of array-like, shape (n_rows,)
            Scores by name, larger for rows that are more likely to be positive.
        max_fpr, groups, confidence, positive
            As in :func:`rocpath.auc_interval`.

        Returns
        -------
        ScoreEvaluation
            Its method ``report`` writes a page, and ``to_dict`` returns its numbers for JSON.

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
        settings: dict[str, Any] = {"groups": groups, "confidence": confidence, "positive": True}
        comparison = None
        if len(columns) > 1:
            metric = auc_metric(max_fpr)
            comparison = compare(sample.is_positive, columns, metric, **settings)
            intervals: dict[str, Any] = comparison.intervals
        else:
            intervals = {
                name: auc_interval(sample.is_positive, score, max_fpr=max_fpr, **settings)
                for name, score in columns.items()
            }
        average_precision = {
            name: interval(sample.is_positive, score, "average_precision", **settings)
            for name, score in columns.items()
        }
        return cls(
            sample=sample,
            scores=columns,
            intervals=intervals,
            average_precision=average_precision,
            comparison=comparison,
            max_fpr=max_fpr,
            confidence=confidence,
        )

    @property
    def metric(self) -> str:
        """Name of the compared metric, such as "partial AUC (FPR up to 0.1)"."""
        return next(iter(self.intervals.values())).name

    @property
    def classes(self) -> tuple[str, str]:
        """Negative and positive label, as text."""
        negative, positive = self.sample.classes
        return str(negative), str(positive)

    @property
    def findings(self) -> list[str]:
        """Each significant difference in a sentence, or the absence of any."""
        if self.comparison is None:
            return []
        sentences = []
        for (first, second), pair in self.comparison.differences.items():
            if pair.adjusted_p_value < _LEVEL:
                better, worse = (first, second) if pair.value > 0 else (second, first)
                sentences.append(
                    f"{better!r} has a significantly higher {self.metric} than {worse!r} "
                    f"(difference {abs(pair.value):.4f} ± {pair.standard_error:.4f}, "
                    f"Holm-adjusted {p_text(pair.adjusted_p_value)})."
                )
        return sentences or [f"No significant difference in {self.metric}."]

    def _tables(self) -> list[tuple[list[str], list[list[str]]]]:
        if self.comparison is not None:
            return self.comparison._tables()
        header = ["score", self.metric, f"{percent(self.confidence)} CI"]
        rows = [
            [name, f"{area.value:.4f}", f"{area.low:.4f} to {area.high:.4f}"]
            for name, area in self.intervals.items()
        ]
        return [(header, rows)]

    def _below(self) -> list[str]:
        counts = self.sample.counts
        sizes = (
            f"{counts['n_positives']:,} rows of {self.classes[1]!r} (positive), "
            f"{counts['n_negatives']:,} of {self.classes[0]!r}"
        )
        return [*([] if self.comparison is None else self.comparison._below()), sizes]

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
        }

    def report(self, path: str | Path, *, title: str = "Evaluation of scores") -> Path:
        """Write a self-contained HTML page, and return its path.

        Parameters
        ----------
        path : str or Path
            File to write.
        title : str
            Title of the page, as plain text.
        """
        # Pages are above the results that they show.
        from rocpath.pages.evaluation import evaluation_html

        write_file(path, evaluation_html(self, title=title))
        return Path(path)
