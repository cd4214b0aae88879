"""Numbers computed from traces. Pure functions of arrays; nothing here knows about files."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mfplots import intervals

# For small prints, where a ratio has brackets.
BRACKETS = (f"{100 * intervals.LEVEL:g} % interval over seeds (Student's t on logarithms; by ranks "
            f"where a seed did not reach), from {intervals.FEWEST} seeds a side on")
STEADY_CLOCK = 0.02  # share of the highest SM clock of a case


@dataclass(frozen=True)
class Spread:
    """Median, smallest and largest over the seeds that have the number; n of them."""

    median: float
    low: float
    high: float
    n: int

    @property
    def whiskers(self) -> Interval:
        """To be drawn: of fewer seeds than that, a range would look like an interval."""
        ends = (self.low, self.high) if self.n >= intervals.FEWEST else intervals.NONE
        return Interval(self.median, *ends)


@dataclass(frozen=True)
class Interval:
    """A value with its interval; NaN ends where there is none."""

    value: float
    low: float
    high: float

    @property
    def known(self) -> bool:
        return math.isfinite(self.value)


METRICS = {"test_rmse": "test RMSE", "objective": "objective", "recall_20": "Recall@20",
           "recall_50": "Recall@50", "ndcg_100": "NDCG@100", "map_10": "MAP@10"}
LESS_IS_BETTER = ("test_rmse", "objective")


class Target(float):
    """A value that a metric is to reach."""

    metric: str

    def __new__(cls, value: float, metric: str = "test_rmse") -> Target:
        made = super().__new__(cls, value)
        made.metric = metric
        return made

    @property
    def text(self) -> str:
        return f"{METRICS[self.metric]} {self:g}"


NO_INTERVAL = Interval(math.nan, math.nan, math.nan)


def time_to_target(clock: Sequence[float], values: Sequence[float], target: Target) -> float:
    """Clock of the first evaluated point at or beyond the target; NaN if none is.

    Nothing is interpolated: between two points there was no model that anybody had. Points whose
    clock or value is unknown (null in the file) are passed over.
    """
    t, v = np.asarray(clock, float), np.asarray(values, float)
    met = v <= target if target.metric in LESS_IS_BETTER else v >= target
    at = np.flatnonzero(met & np.isfinite(t) & np.isfinite(v))
    return float(t[at[0]]) if at.size else math.nan


def time_of_trace(trace: Mapping[str, Sequence[float]], clock: str, target: Target) -> float:
    return time_to_target(trace[clock], trace[target.metric], target)


def epoch_times(epochs: Sequence[float], seconds: Sequence[float]) -> tuple[float, float]:
    """The first epoch by itself and the median of the others, from epoch numbers and the training
    clock at the evaluated points; NaN where unknown.

    Epochs between two points count with their mean. Where the first point is not epoch 1, the first
    epoch was not timed by itself: it is unknown, and its stretch is left out of the median.
    """
    at = np.asarray([(0.0, 0.0), *zip(epochs, seconds)], float)
    at = at[np.isfinite(at).all(axis=1)]
    at = at[np.concatenate([[True], np.diff(at[:, 0]) > 0])]
    counts, times = np.diff(at[:, 0]), np.diff(at[:, 1])
    if counts.size == 0:
        return math.nan, math.nan
    first = float(times[0]) if counts[0] == 1 else math.nan
    return first, weighted_median(times[1:] / counts[1:], counts[1:])


def weighted_median(values: Sequence[float], counts: Sequence[float]) -> float:
    """Median of the values, each written out as often as its count says; NaN of none."""
    v, n = np.asarray(values, float), np.asarray(counts, float)
    if v.size == 0:
        return math.nan
    order = np.argsort(v, kind="stable")
    v, ends = v[order], np.cumsum(n[order])
    ranks = ((ends[-1] - 1) // 2, ends[-1] // 2)
    low, high = (v[np.searchsorted(ends, rank, side="right")] for rank in ranks)
    return float(low + high) / 2


def clock_moved(seen: object) -> bool:
    """Whether the SM clock that a footer saw moved by more than 2 % of its highest value."""
    if not isinstance(seen, Mapping) or seen.get("min") is None or seen.get("max") is None:
        return False
    return seen["max"] - seen["min"] > STEADY_CLOCK * seen["max"]


def best_of(values: Sequence[float], metric: str) -> float:
    known = np.asarray(values, float)
    known = known[np.isfinite(known)]
    if known.size == 0:
        return math.nan
    return float(known.min() if metric in LESS_IS_BETTER else known.max())


def spread(values: Sequence[float]) -> Spread:
    known = np.asarray(values, float)
    known = known[np.isfinite(known)]
    if known.size == 0:
        return Spread(math.nan, math.nan, math.nan, 0)
    return Spread(float(np.median(known)), float(known.min()), float(known.max()), known.size)


def censored_median(values: Sequence[float]) -> float:
    """Median of times, a seed that never reached the target (NaN) counting as infinitely late.

    Leaving such seeds out would reward an algorithm for failing often. NaN where the median itself
    is infinite, which is when half of the seeds or more never reached it.
    """
    median = float(np.median(_censor(values))) if len(values) else math.inf
    return median if math.isfinite(median) else math.nan


def ratio_of_medians(numerator: Sequence[float], denominator: Sequence[float]) -> Interval:
    """median(numerator) / median(denominator), with the interval of `intervals.of_sides`.

    NaN values are seeds that never got there, as in censored_median.
    """
    a, b = _censor(numerator), _censor(denominator)
    if a.size == 0 or b.size == 0:
        return NO_INTERVAL
    value = float(_ratio(np.median(a), np.median(b)))
    if not math.isfinite(value) or value == 0:
        return NO_INTERVAL
    return Interval(value, *intervals.of_sides(a, b))


def median_of_ratios(numerator: Sequence[float], denominator: Sequence[float]) -> Interval:
    """Median of the ratios pair by pair, with the interval of `intervals.of_pairs`.

    For numbers that share what varies from repeat to repeat, as errors on equal splits do: there
    the spread over the repeats cancels. Pairs without both numbers are left out.
    """
    a, b = np.asarray(numerator, float), np.asarray(denominator, float)
    known = np.isfinite(a) & np.isfinite(b) & (b > 0)
    ratios = a[known] / b[known]
    if ratios.size == 0:
        return NO_INTERVAL
    return Interval(float(np.median(ratios)), *intervals.of_pairs(ratios))


def _censor(values: Sequence[float]) -> np.ndarray:
    array = np.asarray(values, float)
    return np.where(np.isnan(array), np.inf, array)


def _ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a / b; 0 where only b is infinite, not a number where a is infinite or b is zero."""
    out = np.full(np.shape(a), np.nan)
    np.divide(a, b, out=out, where=np.isfinite(a) & (b > 0))
    return out


def rates(amounts: Sequence[float], seconds: Sequence[float]) -> list[float]:
    """amount / seconds, NaN where nothing was done or no time was taken."""
    return [a / s if a > 0 and s > 0 else math.nan for a, s in zip(amounts, seconds)]
