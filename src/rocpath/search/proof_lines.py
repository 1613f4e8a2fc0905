"""Lines, areas and their bounds in integers, without any code of the searches."""

from bisect import bisect_left, insort
from collections.abc import Iterator
from fractions import Fraction
from math import floor, inf, isfinite, nextafter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocpath.search.certificates import CertificateError
from rocpath.search.lines import Lines
from rocpath.validation import Floats

Step = float | Fraction
Counts = NDArray[np.int64]


class Ranking(NamedTuple):
    """Lines by threshold at a step; lines with equal thresholds have the same rank."""

    step: Step
    order: list[int]
    rank: list[int]


class ProofLines:
    """Distinct lines in integers, and the region of a partial AUC.

    Jumps are in units such that the borders of the region are integers.
    """

    def __init__(self, lines: Lines, max_fpr: float = 1.0, min_tpr: float = 0.0) -> None:
        jumps: dict[tuple[float, float], list[int]] = {}
        counts = zip(lines.jumps.fp.tolist(), lines.jumps.tp.tolist(), strict=True)
        places = zip(lines.intercept.tolist(), lines.slope.tolist(), strict=True)
        for place, (fp, tp) in zip(places, counts, strict=True):
            both = jumps.setdefault(place, [0, 0])
            both[0] += fp
            both[1] += tp
        self.places = [place for place, both in jumps.items() if any(both)]
        self.fp, self.tp = ([both[side] for both in jumps.values() if any(both)] for side in (0, 1))
        if min(self.fp) < 0 or min(self.tp) < 0:
            raise CertificateError(
                "lines must have monotone errors (fp_diff >= 0 and fn_diff <= 0) for a "
                "certificate, got errors that increase and decrease."
            )
        right, bottom = border(sum(self.fp), max_fpr), border(sum(self.tp), min_tpr)
        self.is_whole = right == sum(self.fp) and bottom == 0
        # Areas of ties that a border cuts are rounded, so the units of partial areas are small.
        fp_scale, tp_scale = (
            place.denominator
            * (1 if self.is_whole else max(1, 2**60 // (place.denominator * sum(count))))
            for place, count in ((right, self.fp), (bottom, self.tp))
        )
        self.fp = [count * fp_scale for count in self.fp]
        self.tp = [count * tp_scale for count in self.tp]
        self.right, self.bottom = max(1, int(right * fp_scale)), int(bottom * tp_scale)
        self.doubled_perfect = 2 * sum(self.fp) * sum(self.tp)
        ratios = [x.as_integer_ratio() for place in self.places for x in place]
        largest = max(denominator for _, denominator in ratios)
        whole = [top * (largest // denominator) for top, denominator in ratios]
        self.intercept, self.slope = whole[::2], whole[1::2]
        self.denominator = largest

    @property
    def arrays(self) -> tuple[Floats, Floats, Counts, Counts, int, int]:
        """Lines and region as arguments of the compiled code."""
        intercept, slope = (np.array(column) for column in zip(*self.places, strict=True))
        fp, tp = (np.array(count, dtype=np.int64) for count in (self.fp, self.tp))
        return intercept, slope, fp, tp, self.right, self.bottom

    def thresholds(self, step: Step) -> list[int]:
        """Return the thresholds at a step times a positive number."""
        top, bottom = (1, 0) if step == inf else (-1, 0)
        if isfinite(step):
            top, bottom = step.as_integer_ratio()
        else:  # lines are ordered by slope, and parallel ones by intercept
            top <<= max(map(abs, self.intercept)).bit_length() + 2
            bottom = 1
        return [a * bottom + b * top for a, b in zip(self.intercept, self.slope, strict=True)]

    def ranking(self, step: Step) -> Ranking:
        """Return the order of the lines at a step."""
        threshold = self.thresholds(step)
        order = sorted(range(len(threshold)), key=threshold.__getitem__)
        rank = [0] * len(order)
        number, before = 0, threshold[order[0]]
        for line in order:
            if threshold[line] != before:
                number, before = number + 1, threshold[line]
            rank[line] = number
        return Ranking(step, order, rank)

    def doubled_area(self, at: Ranking) -> int | Fraction:
        """Return twice the area of the region; tied lines are one segment of the curve."""
        area: int | Fraction = 0
        fp, tp = 0, -self.bottom  # TP from the bottom of the region on
        for lines in tied_groups(at.order, at.rank):
            width, rise = self.fp[lines[0]], self.tp[lines[0]]
            for k in lines[1:]:
                width, rise = width + self.fp[k], rise + self.tp[k]
            if width and fp + width <= self.right and tp >= 0:
                area += width * (2 * tp + rise)
            elif width and fp < self.right:  # a border cuts the segment
                inside = min(width, self.right - fp)
                top = tp + Fraction(inside * rise, width)
                if tp >= 0:
                    area += inside * (tp + top)
                elif top > 0:
                    area += top * top * Fraction(width, rise)
            fp, tp = fp + width, tp + rise
        return area

    def weights(self, order: list[int]) -> tuple[list[int], list[int]]:
        """Return the parts of the jumps in the region, for lines in an order without ties."""
        if self.is_whole:
            return self.fp, self.tp
        fp, tp = [0] * len(order), [0] * len(order)
        left = self.right
        for k in order:
            fp[k] = min(left, self.fp[k])
            left -= fp[k]
        left = sum(self.tp) - self.bottom
        for k in reversed(order):
            tp[k] = min(left, self.tp[k])
            left -= tp[k]
        return fp, tp

    def doubled_bound(self, start: Ranking, end: Ranking) -> int | Fraction:
        """Return an upper bound on twice the area at all steps between two steps."""
        order: list[int] = []
        for lines in tied_groups(start.order, start.rank):
            order += sorted(lines, key=end.rank.__getitem__) if len(lines) > 1 else lines
        fp, tp = self.weights(order)
        bound: int | Fraction = 2 * sum(fp) * sum(tp)
        entered: dict[int, list[int]] = {}  # ranks of positives at the end, for each weight
        waiting: list[int] = []  # negatives of the current group of ties
        group = -1
        for k in [*reversed(order), None]:
            if k is None or start.rank[k] != group:
                for i in waiting:
                    wrong = 0
                    for weight, ranks in entered.items():
                        wrong += weight * (len(ranks) - bisect_left(ranks, end.rank[i]))
                    bound -= 2 * fp[i] * wrong
                    if self.tp[i]:
                        bound += self.own_area(i, fp[i], tp[i])
                waiting.clear()
            if k is None:
                break
            group = start.rank[k]
            if tp[k]:
                insort(entered.setdefault(tp[k], []), end.rank[k])
            if fp[k]:
                waiting.append(k)
        return bound

    def own_area(self, line: int, fp: int, tp: int) -> int | Fraction:
        """Return twice the area below the segment of a line with jumps of both classes."""
        both = fp * self.tp[line] + tp * self.fp[line] - self.fp[line] * self.tp[line]
        return Fraction(both * both, self.fp[line] * self.tp[line]) if both > 0 else 0

    def rate(self, doubled: int | Fraction) -> float:
        """Return an area as a rate, rounded once."""
        return float(Fraction(doubled) / self.doubled_perfect)


def tied_groups(order: list[int], rank: list[int]) -> Iterator[list[int]]:
    """Divide lines in order of their ranks into groups with equal ranks."""
    group = order[:1]
    for k in order[1:]:
        if rank[k] == rank[group[0]]:
            group.append(k)
        else:
            yield group
            group = [k]
    yield group


def border(total: int, rate: float) -> Fraction:
    """Return the place of a border: 0.1 is 1/10, rounded if it needs more than 60 bits."""
    if rate in (0.0, 1.0):
        return Fraction(total) * int(rate)
    low, high = ((Fraction(rate) + Fraction(nextafter(rate, to))) / 2 for to in (0.0, 2.0))
    place = total * _simplest_between(low, high)
    if place.denominator * total <= 2**60:
        return place
    scale = max(1, 2**60 // total)
    return Fraction(floor(place * scale + Fraction(1, 2)), scale)


def _simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """Return the fraction with the smallest denominator strictly between two."""
    whole = floor(low)
    if whole + 1 < high:
        return Fraction(whole + 1)
    inverse = None if low == whole else 1 / (low - whole)
    start = 1 / (high - whole)
    if inverse is None:
        return whole + 1 / Fraction(floor(start) + 1)
    return whole + 1 / _simplest_between(start, inverse)
