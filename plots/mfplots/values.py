"""One number a case, at its end or at a named epoch: what sweeps and bars compare."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from mfplots import metrics
from mfplots.errors import PlotError, hint
from mfplots.recipes import Recipe
from mfplots.series import Panel, Series
from mfplots.style import duration, plain_tick, si, si_tick, time_tick
from mfplots.summary import ANSWER, CLOCK_NAMES, target_of, to_the_end


Measure = Callable[[pd.DataFrame, str], float]  # of a trace and the clock of times
ASKED = "the clock asked for"


@dataclass(frozen=True)
class Metric:
    """`of` sees a trace up to the epoch asked for, or `fact` names a number of the header's `facts`;
    `kind`: error, time, rate, count or energy. `beside`: the metric without which this one is not to
    be shown. `column`: of the cases, which has the number of the whole trace."""

    label: str
    kind: str
    of: Measure = lambda trace, clock: math.nan
    fact: str = ""
    beside: str = ""
    to_target: str = ""  # what it reads at the target, a column or ASKED: seeds without one missed it
    by_method: bool = False  # counts updates: what those of another method cost is no comparison
    column: str = ""

    @property
    def tick(self) -> Callable[[float, int], str]:
        ticks = {"error": plain_tick, "time": time_tick, "count": plain_tick}
        return ticks.get(self.kind, si_tick)

    def text(self, value: float) -> str:
        if self.kind == "error":
            return f"{value:.4f}" if math.isfinite(value) else "–"
        if self.kind == "count":
            return f"{value:.4g}" if math.isfinite(value) else "–"
        return duration(value) if self.kind == "time" else \
            si(value, "J" if self.kind == "energy" else "/s")


def _end(column: str) -> Measure:
    return lambda trace, _: float(trace[column].iloc[-1]) if column in trace else math.nan


def _best(column: str) -> Measure:
    return lambda trace, _: metrics.best_of(trace.get(column, []), column)


def _clock(trace: pd.DataFrame, clock: str) -> float:
    return float(trace[clock].iloc[-1])


def _per(column: str) -> Measure:
    def seconds(trace: pd.DataFrame, clock: str) -> float:
        done = float(trace[column].iloc[-1])
        return _clock(trace, clock) / done if done > 0 else math.nan
    return seconds


def _rate(trace: pd.DataFrame, clock: str) -> float:
    return metrics.rates([float(trace["updates"].iloc[-1])], [_clock(trace, clock)])[0]


METRICS = {  # beside final_ and best_ with the key of a metric
    "time": Metric("{clock}", "time", _clock),
    "s_per_epoch": Metric("{clock} of one epoch", "time", _per("epoch")),
    "s_per_iteration": Metric("{clock} of one iteration: an update for each user", "time",
                              _per("iterations"), by_method=True),
    "updates_per_s": Metric("rating updates per second of {clock}", "rate", _rate,
                            by_method=True),
    "time_to_target": Metric("{clock} to the target", "time",
                             beside="answer_to_target", to_target=ASKED),
    "answer_to_target": Metric("prepare + transfer + training time to the target", "time",
                               beside="time_to_target", to_target=ANSWER),
    "energy_to_target": Metric("energy of training to the target (J)", "energy",
                               to_target="train_energy_j"),
    "first_epoch_s": Metric("time of the first epoch", "time", column="first_epoch_s"),
    "steady_epoch_s": Metric("time of an epoch after the first", "time", column="steady_epoch_s"),
}


FACTS = "facts."


def metric(name: str) -> Metric:
    """`facts.NAME`, and `facts.NAME/OTHER` for a ratio, are numbers of the header's `facts`."""
    if name.startswith(FACTS):
        fact = name[len(FACTS):]
        return Metric(fact.replace("_", " ").replace("/", " / "), "count", fact=fact)
    if name in METRICS:
        return METRICS[name]
    start, _, key = name.partition("_")
    if start not in ("final", "best") or not metrics.row(key):
        raise PlotError(f'"y": unknown "{name}"{hint(name, [*METRICS, "final_test_rmse", "best_test_rmse"])}')
    row = metrics.row(key)
    return Metric(row.axis, "error", _end(row.key)) if start == "final" else \
        Metric(f"best {row.axis}", "error", _best(row.key))


def axis_label(found: Metric, recipe: Recipe) -> str:
    text = found.label.format(clock=CLOCK_NAMES[recipe.clock])
    return f"{text} at epoch {recipe.epoch}" if recipe.epoch else text


def values(series: Series, panel: Panel, found: Metric, recipe: Recipe) -> list[float]:
    """One number a finished case; NaN where it has none: no trace, no such epoch, no target."""
    if found.fact:
        return [fact_of(facts, found.fact) for facts in series.finished["facts"]]
    if found.to_target:
        return _at_target(series, found, target_of(panel, recipe.question), recipe)
    done = series.finished
    if found.column:
        if recipe.epoch:
            raise PlotError(f'"epoch": {found.column} is of all epochs of a run; leave it out')
        return to_the_end(series, pd.to_numeric(done[found.column]))
    numbers = [_value(series.traces[i], found, recipe) for i in done.index]
    return numbers if found.kind == "error" else to_the_end(series, numbers)


def fact_of(facts: object, name: str) -> float:
    """A number of `facts`, or the ratio of two; NaN where a case has none of that name."""
    numbers = []
    for path in name.split("/"):
        value = facts
        for key in path.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        known = isinstance(value, (int, float)) and not isinstance(value, bool)
        numbers.append(float(value) if known else math.nan)
    if len(numbers) == 1:
        return numbers[0]
    return numbers[0] / numbers[1] if numbers[1] else math.nan


def spread_of(found: Metric, numbers: Sequence[float]) -> metrics.Spread:
    """Over the seeds that have the number; where the others missed a target, they count as
    infinitely late: with half of them or more, there is no median, and n is 0."""
    known = metrics.spread(numbers)
    if not found.to_target:
        return known
    median = metrics.censored_median(numbers)
    return metrics.spread([]) if math.isnan(median) else replace(known, median=median)


def _at_target(series: Series, found: Metric, target: metrics.Target | None, recipe: Recipe) -> list[float]:
    """By the epoch asked for, of the runs that evaluated it."""
    done = series.finished
    if target is None:
        return [math.nan] * len(done)
    times = series.at_target(target, recipe.clock if found.to_target == ASKED else found.to_target)
    if not recipe.epoch:
        return times
    epochs = series.at_target(target, "epoch")
    return [time if epoch <= recipe.epoch and (series.traces[i]["epoch"] == recipe.epoch).any() else math.nan
            for i, time, epoch in zip(done.index, times, epochs)]


def _value(trace: pd.DataFrame, found: Metric, recipe: Recipe) -> float:
    if recipe.epoch:
        if not (trace["epoch"] == recipe.epoch).any():
            return math.nan
        trace = trace[trace["epoch"] <= recipe.epoch]
    return found.of(trace, recipe.clock) if len(trace) else math.nan
