"""What happens at a threshold: rates, predictive values and net benefit with intervals."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath.evaluation.alert_rates import Days
from rocpath.evaluation.columns import design_warnings
from rocpath.evaluation.decision_rates import DecisionRates
from rocpath.evaluation.named_thresholds import NamedThreshold, named_thresholds
from rocpath.evaluation.results import Limits, Sentence, TextTable, frame_of, percent
from rocpath.sample import Sample, label_vector
from rocpath.validation import Floats, check_count, share_between

_OPTIMISTIC = "the threshold was chosen on the same rows, so its rates are optimistic"
_WEIGHTED = (
    "intervals are not available with unequal weights: a few rows with large weights can "
    "determine a rate"
)
# Named here and in the text table, in the order of most papers.
_RATES = {"sensitivity": "sensitivity", "specificity": "specificity", "ppv": "PPV", "npv": "NPV"}
_RATIOS = {
    "lr_positive": "LR+",
    "lr_negative": "LR-",
    "accuracy": "accuracy",
    "predicted_positive_rate": "predicted positive",
    "net_benefit": "net benefit",
    "alerts_per_day": "alerts per day",
}
_OPTIONAL = ("net_benefit", "alerts_per_day")


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class ThresholdRow(Sentence):
    """The rates at one threshold, of all rows or of a subgroup.

    Each rate has ``value``, ``low`` and ``high``.

    Attributes
    ----------
    threshold : float
        Rows with at least this score are predicted positive.
    name : str
        Name of the threshold, such as "youden".
    subgroup : label or None
        Subgroup, if ``by`` was given; None for all rows.
    sensitivity, specificity : Limits
        Share of positives predicted positive, and of negatives predicted negative.
    ppv, npv : Limits
        Positive and negative predictive value; the first is also called precision.
    lr_positive, lr_negative : Limits
        Likelihood ratios of a positive and of a negative prediction.
    accuracy, predicted_positive_rate : Limits
        Share of correct predictions, and of rows predicted positive.
    alerts_per_day : Limits or None
        Mean number of rows predicted positive per day, if ``time`` was given.
    net_benefit : Limits or None
        Net benefit (Vickers and Elkin, 2006); None if scores are not probabilities.
    tp, fp, fn, tn : int
        Numbers of rows.
    prevalence : float
        Share of positives for which predictive values and net benefit hold.
    confidence : float
        Nominal coverage of each interval.
    positive : label
        Positive class.
    notes : tuple of str
        Reasons to doubt the rates or their intervals.
    """

    threshold: float
    name: str
    subgroup: Any
    sensitivity: Limits
    specificity: Limits
    ppv: Limits
    npv: Limits
    lr_positive: Limits
    lr_negative: Limits
    accuracy: Limits
    predicted_positive_rate: Limits
    net_benefit: Limits | None
    tp: int
    fp: int
    fn: int
    tn: int
    prevalence: float
    confidence: float
    positive: Any
    alerts_per_day: Limits | None = None
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, with a key for each value and limit."""
        return _flat(self)

    def __repr__(self) -> str:
        rule = "" if self.name == f"{self.threshold:g}" else f" ({self.name})"
        part = "" if self.subgroup is None else f" in subgroup {self.subgroup}"
        rates = [f"{label} {_percents(getattr(self, name))}" for name, label in _RATES.items()]
        rates[0] = rates[0].replace("(", f"({percent(self.confidence)} CI ", 1)
        ratio = f"likelihood ratios {_numbers(self.lr_positive)} and {_numbers(self.lr_negative)}"
        sizes = (
            f"{self.tp + self.fn:,} positives ({self.positive}), {self.fp + self.tn:,} negatives"
        )
        text = f"At threshold {self.threshold:.4g}{rule}{part}: {', '.join([*rates, ratio, sizes])}"
        return "\n".join([f"{text}.", *(f"Note: {note}." for note in self.notes)])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ThresholdTable(TextTable):
    """Rates at one or several thresholds, by subgroup.

    Attributes
    ----------
    rows : list of ThresholdRow
        One row per threshold, and per subgroup if ``by`` was given: first those of all
        rows. The table can be indexed and iterated.
    """

    rows: list[ThresholdRow]

    @overload
    def __getitem__(self, index: int) -> ThresholdRow: ...
    @overload
    def __getitem__(self, index: slice) -> list[ThresholdRow]: ...
    def __getitem__(self, index: int | slice) -> ThresholdRow | list[ThresholdRow]:
        """Return a row."""
        return self.rows[index]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    def __iter__(self) -> Iterator[ThresholdRow]:
        """Iterate over the rows."""
        return iter(self.rows)

    def to_frame(self) -> Any:
        """Return a data frame with three columns for each rate."""
        return frame_of([row.to_dict() for row in self.rows])

    def _tables(self) -> list[tuple[list[str], list[list[str]]]]:
        unknown = [
            name for name in _OPTIONAL if all(getattr(row, name) is None for row in self.rows)
        ]
        ratios = {name: label for name, label in _RATIOS.items() if name not in unknown}
        has_subgroups = any(row.subgroup is not None for row in self.rows)
        tables = []
        for columns, text in ((_RATES, _percents), (ratios, _numbers)):
            header = ["threshold", *["subgroup"] * has_subgroups, *columns.values()]
            body = []
            for row in self.rows:
                where = [_place(row)]
                if has_subgroups:
                    where.append("all" if row.subgroup is None else str(row.subgroup))
                body.append(where + [text(getattr(row, name)) for name in columns])
            tables.append((header, body))
        return tables

    def _below(self) -> list[str]:
        first = self.rows[0]
        intervals = f"{percent(first.confidence)} confidence intervals in parentheses"
        sizes = f"{first.tp + first.fn:,} positives ({first.positive})"
        sizes += f", {first.fp + first.tn:,} negatives, prevalence {100 * first.prevalence:.3g}%"
        notes = dict.fromkeys(note for row in self.rows for note in row.notes)
        return [f"{intervals}; {sizes}.", *(f"Note: {note}." for note in notes)]


def threshold_table(
    y: ArrayLike,
    scores: ArrayLike,
    thresholds: Any = None,
    *,
    prevalence: float | None = None,
    selection: tuple[ArrayLike, ArrayLike] | None = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    by: ArrayLike | None = None,
    time: ArrayLike | None = None,
    confidence: float = 0.95,
    positive: Any = None,
) -> ThresholdTable:
    """Compute rates, predictive values and net benefit at thresholds, with intervals.

    Parameters
    ----------
    y : array-like, shape (n_rows,)
        Labels with exactly two distinct values, from rows that the model was not
        fitted to.
    scores : array-like, shape (n_rows,)
        Scores, larger for rows that are more likely to be positive. The net benefit is
        computed if they are probabilities.
    thresholds : float, str, or list of these, optional
        Thresholds, or rules that choose them: "youden" (the default; the largest sum of
        sensitivity and specificity), "closest" (to perfect prediction in ROC space),
        "fpr=0.05" (largest sensitivity with at most this false positive rate),
        "tpr=0.95", "precision=0.8", "top=100" (rows), "alerts=50" (per day, with
        ``time``), or "cost=1:20" (costs of a false positive and of a false negative).
    prevalence : float, optional
        Share of positives in the population in which the threshold will be used. By
        default, that of the rows. Predictive values and net benefit depend on it.
    selection : tuple of labels and scores, optional
        Other rows, on which named thresholds are chosen. Rates of a threshold chosen on
        the same rows are optimistic, and marked as such.
    groups : array-like, shape (n_rows,), optional
        Group of each row, as in :func:`auc_interval`.
    sample_weight : array-like, shape (n_rows,), optional
        Non-negative weight of each row. With unequal weights, intervals are NaN.
    by : array-like, shape (n_rows,), optional
        Subgroup of each row. Each subgroup has a row of the table for each threshold.
    time : array-like, shape (n_rows,), optional
        Date of each row, or its time in days: the table then has the number of alerts
        (rows predicted positive) per day. Different days are assumed to be independent.
    confidence : float
        Nominal coverage of each interval.
    positive : label, optional
        Positive class; by default, the larger of the two labels.

    Returns
    -------
    ThresholdTable

    Examples
    --------
    >>> import numpy as np
    >>> import rocpath as rp
    >>> y = np.repeat([1, 0], [100, 100])
    >>> test = np.repeat([1, 0, 1, 0], [80, 20, 10, 90])
    >>> row = rp.threshold_table(y, test, 1, prevalence=0.05)[0]
    >>> round(row.sensitivity.value, 3), round(row.lr_positive.value, 3), round(row.ppv.value, 3)
    (0.8, 8.0, 0.296)
    """
    confidence = share_between("confidence", confidence)
    prevalence = None if prevalence is None else share_between("prevalence", prevalence)
    sample = Sample.from_labels(y, groups=groups, sample_weight=sample_weight, positive=positive)
    score = sample.scores("scores", scores)
    labels = None if by is None else _subgroup_labels(by, len(sample))
    days = None if time is None else Days.from_time(time, len(sample))
    if sample.weight is not None:
        used = np.flatnonzero(sample.weights)
        sample, score = _used_rows(sample, used), score[used]
        labels = None if labels is None else labels[used]
        days = None if days is None else days.take(used)
    chooser = None
    if selection is not None:
        other = Sample.from_labels(selection[0], positive=sample.classes[1])
        chooser = other, other.scores("selection", selection[1])
    return rates_at_thresholds(
        sample,
        score,
        thresholds,
        chooser=chooser,
        labels=labels,
        days=days,
        prevalence=prevalence,
        confidence=confidence,
    )


def _subgroup_labels(by: ArrayLike, n_rows: int) -> NDArray[Any]:
    labels = label_vector("by", by)
    check_count("by must have one entry", labels.size, n_rows, "rows")
    return labels


def rates_at_thresholds(
    sample: Sample,
    score: Floats,
    thresholds: Any,
    *,
    chooser: tuple[Sample, Floats] | None = None,
    labels: NDArray[Any] | None = None,
    days: Days | None = None,
    prevalence: float | None = None,
    confidence: float,
) -> ThresholdTable:
    """Compute a table for validated rows; ``chooser`` has the rows to choose from."""
    choosing = (sample, score) if chooser is None else chooser
    n_days = None if days is None else days.n_days
    named = named_thresholds(*choosing, thresholds, n_days=n_days)
    is_probability = bool(score.min() >= 0 and score.max() <= 1)
    rows = []
    for subgroup, members in _subgroups(labels):
        part = sample if members is None else sample.take(members)
        part_score = score if members is None else score[members]
        for choice in named:
            rates = DecisionRates(part, part_score, choice.threshold, confidence)
            notes = _notes(part, choice, is_same=chooser is None)
            options: dict[str, Any] = {"prevalence": prevalence, "is_probability": is_probability}
            row = _row(rates, choice, subgroup, notes, **options)
            if days is not None:
                own = days if members is None else days.take(members)
                alerts = own.alerts(part_score >= choice.threshold, confidence)
                row = replace(row, alerts_per_day=alerts)
            rows.append(row)
    return ThresholdTable(rows)


def _subgroups(labels: NDArray[Any] | None) -> Iterator[tuple[Any, NDArray[np.intp] | None]]:
    """Yield all rows, and the rows of each subgroup."""
    yield None, None
    if labels is not None:
        for value in np.unique(labels).tolist():
            yield value, np.flatnonzero(labels == value)


def _used_rows(sample: Sample, used: NDArray[np.intp]) -> Sample:
    """Drop rows with weight 0, and weights that are all equal."""
    sample = sample.take(used)
    weight = sample.weights
    return replace(sample, weight=weight if weight.min() < weight.max() else None)


def _notes(sample: Sample, named: NamedThreshold, *, is_same: bool) -> tuple[str, ...]:
    notes = [_OPTIMISTIC] if named.is_chosen and is_same else []
    if sample.weight is not None:
        notes.append(_WEIGHTED)
    return (*notes, *(text.rstrip(".") for text in design_warnings(sample)))


def _row(
    rates: DecisionRates,
    named: NamedThreshold,
    subgroup: Any,
    notes: tuple[str, ...],
    *,
    prevalence: float | None,
    is_probability: bool,
) -> ThresholdRow:
    """Return the rates at one threshold."""
    sample = rates.sample
    observed = float(np.average(sample.is_positive, weights=sample.weight))
    return ThresholdRow(
        threshold=named.threshold,
        name=named.name,
        subgroup=subgroup,
        sensitivity=rates.share("sensitivity"),
        specificity=rates.share("specificity"),
        ppv=rates.ppv(prevalence),
        npv=rates.npv(prevalence),
        lr_positive=rates.lr_positive,
        lr_negative=rates.lr_negative,
        accuracy=rates.share("accuracy"),
        predicted_positive_rate=rates.share("predicted_positive_rate"),
        net_benefit=rates.net_benefit(prevalence) if is_probability else None,
        **rates.counts,
        prevalence=observed if prevalence is None else prevalence,
        confidence=rates.confidence,
        positive=sample.classes[1],
        notes=notes,
    )


def _flat(row: ThresholdRow) -> dict[str, Any]:
    """Return the fields of a row, with a column for each value and limit."""
    flat: dict[str, Any] = {}
    for name in (field.name for field in fields(row)):
        value = getattr(row, name)
        if isinstance(value, Limits):
            flat |= {name: value.value, f"{name}_low": value.low, f"{name}_high": value.high}
        elif name == "notes":
            flat[name] = "; ".join(value)
        else:
            flat[name] = value
    return flat


def _place(row: ThresholdRow) -> str:
    number = f"{row.threshold:.4g}"
    return number if row.name == f"{row.threshold:g}" else f"{row.name}: {number}"


def _percents(rate: Limits) -> str:
    """Format a rate and its interval in percent."""
    if np.isnan(rate.value):
        return "undefined"
    value, low, high = (f"{100 * x:.1f}" for x in rate)
    return f"{value}%" if np.isnan(rate.low) else f"{value}% ({low} to {high})"


def _numbers(rate: Limits | None) -> str:
    if rate is None or np.isnan(rate.value):
        return "undefined"
    value, low, high = (f"{x:.3f}" if abs(x) < 100 else f"{x:.0f}" for x in rate)
    return value if np.isnan(rate.low) else f"{value} ({low} to {high})"
