"""Numbers of several runs. mfbench defines targets, epochs and intervals (program.py)."""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mfplots import program
from mfplots.errors import PlotError, hint

FEWEST = 3  # runs a side, for a band or whiskers, as mfbench has it for an interval
# For small prints, if a ratio has brackets.
BRACKETS = ("95 % interval over seeds (Student's t on logarithms; by ranks "
            f"if a seed did not reach), from {FEWEST} seeds a side on")


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
        ends = (self.low, self.high) if self.n >= FEWEST else (math.nan, math.nan)
        return Interval(self.median, *ends)


@dataclass(frozen=True)
class Interval:
    """A value with its interval; NaN ends if there is none."""

    value: float
    low: float
    high: float

    @property
    def known(self) -> bool:
        return math.isfinite(self.value)

    @property
    def inverse(self) -> Interval:
        return Interval(*(1 / end if end else math.inf for end in (self.value, self.high, self.low)))


@dataclass(frozen=True)
class Row:
    """A metric of mfbench's table (`mfbench schema metrics`)."""

    key: str
    title: str
    unit: str
    better: str  # less or more
    part: str
    measure: str
    format: str
    k: int = 0

    @property
    def less(self) -> bool:
        return self.better == "less"

    @property
    def axis(self) -> str:
        return f"{self.title} ({self.unit})" if self.unit else self.title


@functools.cache
def row(key: str) -> Row | None:
    """Also of a ranking metric that is written ndcg@10."""
    found = program.ask("metric", metric=key)
    return found and Row(**found)


@functools.cache
def main() -> tuple[str, ...]:
    """The main metrics: a model is judged by the first of these that it has."""
    return tuple(program.ask("metrics")["main"])


def known(key: str, where: str, also: Iterable[str] = ()) -> Row:
    if found := row(key):
        return found
    usual = [found["key"] for found in program.ask("metrics")["rows"]]
    raise PlotError(f"{where}: unknown \"{key}\"{hint(key, [*usual, *also])}")


class Target(float):
    """A value that a metric is to reach."""

    metric: str

    def __new__(cls, value: float, metric: str = "test_rmse") -> Target:
        made = super().__new__(cls, value)
        made.metric = metric
        return made

    @property
    def text(self) -> str:
        return f"{row(self.metric).title} {self:g}"


NO_INTERVAL = Interval(math.nan, math.nan, math.nan)


def first_at(target: Target, traces: Sequence[Mapping[str, Sequence[float]]]) -> list[int | None]:
    """The place of the first evaluated point at or beyond the target in each trace; None if none is."""
    runs = [_plain(trace[target.metric] if target.metric in trace else []) for trace in traces]
    return program.ask("first at target", metric=target.metric, target=float(target), runs=runs)


def _plain(values: Sequence[float]) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in np.asarray(values, float).tolist()]


def racer(answers: Sequence[float] = (), quality: Sequence[float] = (), **more: Any) -> dict[str, Any]:
    """One of a contest, for questions to mfbench (harness/results/compare/winner.hpp)."""
    return {"answers": _plain(answers), "quality": _plain(quality), **more}


def finish_order(times: Iterable[Sequence[float]]) -> list[int]:
    """The places of those that get there in the median, the first in front; NaN is a run that does not."""
    return program.ask("finish", racers=[racer(answers) for answers in times])


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def best_of(values: Sequence[float], metric: str) -> float:
    return (min if row(metric).less else max)(_finite(values), default=math.nan)


def spread(values: Sequence[float]) -> Spread:
    known = _finite(values) or [math.nan]
    return Spread(statistics.median(known), min(known), max(known), len(_finite(known)))


def _finite(values: Sequence[float]) -> list[float]:
    return [float(value) for value in values if value is not None and math.isfinite(value)]


def censored_median(values: Sequence[float]) -> float:
    """Median of times, a seed that never reached the target (NaN) counting as infinitely late.

    Leaving such seeds out would reward an algorithm for failing often. NaN if the median itself is infinite: half of the
    seeds or more never reached it."""
    median = statistics.median([math.inf if math.isnan(time) else float(time) for time in values] or [math.inf])
    return median if math.isfinite(median) else math.nan


def ratio_of_medians(numerator: Sequence[float], denominator: Sequence[float]) -> Interval:
    """median(numerator) / median(denominator), with the interval of run against run.

    NaN values are seeds that never got there, as in censored_median."""
    return _interval("ratio", numerator, denominator)


def median_of_ratios(numerator: Sequence[float], denominator: Sequence[float]) -> Interval:
    """Median of the ratios pair by pair, with its interval.

    For numbers with shared variation from repeat to repeat, as errors on equal splits have: there the spread over the
    repeats cancels. Pairs without both numbers are left out."""
    return _interval("ratio of pairs", numerator, denominator)


def _interval(question: str, numerator: Sequence[float], denominator: Sequence[float]) -> Interval:
    found = program.ask(question, of=_plain(numerator), over=_plain(denominator))
    return Interval(*(_number(found[key]) for key in ("value", "low", "high")))


def rates(amounts: Sequence[float], seconds: Sequence[float]) -> list[float]:
    """amount / seconds, NaN if nothing was done or no time was taken."""
    return [a / s if a > 0 and s > 0 else math.nan for a, s in zip(amounts, seconds)]
