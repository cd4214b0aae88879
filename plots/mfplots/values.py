"""One number a case, at its end or at the target: as sweeps and bars compare them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from mfplots import metrics
from mfplots.errors import PlotError, hint
from mfplots.recipes import Recipe
from mfplots.series import Panel, Series
from mfplots.style import duration, plain_tick, si, si_tick, time_tick
from mfplots.summary import ANSWER, CLOCK_NAMES, at_epochs, bests, end_times, headlines, last, target_of, throughputs

Measure = Callable[[Series, str], list[float]]  # of each finished case, by the clock of times
ASKED = "the clock asked for"


@dataclass(frozen=True)
class Metric:
    """`kind`: error, time, rate or count. `beside`: the metric without which this one is not to be shown."""

    label: str
    kind: str
    of: Measure | None = None
    beside: str = ""
    to_target: str = ""  # the value read at the target, a column or ASKED: seeds without one missed it
    by_method: bool = False  # counts updates, whose costs differ between methods
    most: bool = False  # is best

    @property
    def tick(self) -> Callable[[float, int], str]:
        ticks = {"error": plain_tick, "time": time_tick, "count": plain_tick}
        return ticks.get(self.kind, si_tick)

    def text(self, value: float) -> str:
        if self.kind in ("error", "count"):
            return f"{value:{'.4f' if self.kind == 'error' else '.4g'}}" if math.isfinite(value) else "–"
        return duration(value) if self.kind == "time" else si(value, "/s")


def _per(column: str) -> Measure:
    """The time to the end over the work done in it."""
    return lambda series, clock: [time / done if done > 0 else math.nan for time, done
                                  in zip(end_times(series, clock), last(series, column))]


METRICS = {  # beside headline_, final_, best_ and at_EPOCH_ with the key of a metric
    "time": Metric("{clock}", "time", end_times), "s_per_epoch": Metric("{clock} of one epoch", "time", _per("epoch")),
    "s_per_iteration": Metric("{clock} of one iteration: an update for each user", "time", _per("iterations"), by_method=True),
    "updates_per_s": Metric("rating updates per second of {clock}", "rate", throughputs, by_method=True, most=True),
    "time_to_target": Metric("{clock} to the target", "time", beside="answer_to_target", to_target=ASKED),
    "answer_to_target": Metric("prepare + transfer + training time to the target", "time",
                               beside="time_to_target", to_target=ANSWER),
}


FACTS = "facts."


def metric(name: str) -> Metric:
    """`facts.NAME`, and `facts.NAME/OTHER` for a ratio, are numbers of the header's `facts`."""
    if name.startswith(FACTS):
        fact = name[len(FACTS):]
        return Metric(fact.replace("_", " ").replace("/", " / "), "count",
                      lambda series, _: [fact_of(facts, fact) for facts in series.finished["facts"]])
    if name in METRICS:
        return METRICS[name]
    start, _, key = name.partition("_")
    kinds: dict[str, Measure] = {"headline": headlines, "final": last, "best": bests}
    if (after := re.fullmatch(r"at_(\d+)_(.+)", name)) and metrics.row(after[2]):
        start, key = f"epoch {after[1]}", after[2]
        kinds[start] = lambda series, column: at_epochs(series, column, [int(after[1])] * len(series.finished))
    if start not in kinds or not metrics.row(key):
        known = [*METRICS, *(f"{kind}_test_rmse" for kind in kinds)]
        raise PlotError(f'"y": unknown "{name}"{hint(name, known)}')
    row, of = metrics.row(key), kinds[start]
    # An oracle, and no result.
    label = f"best {row.axis}, chosen on the {row.part} part" if start == "best" else \
        f"{row.axis} after {start}" if after else row.axis
    return Metric(label, "error", lambda series, _: of(series, row.key), most=not row.less)


def axis_label(found: Metric, recipe: Recipe) -> str:
    return found.label.format(clock=CLOCK_NAMES[recipe.clock])


def values(series: Series, panel: Panel, found: Metric, recipe: Recipe) -> list[float]:
    """One number a finished case; NaN if it has none: no trace, no target."""
    if found.of is not None:
        return found.of(series, recipe.clock)
    target = target_of(panel, recipe.question)
    if target is None:
        return [math.nan] * len(series.finished)
    return series.at_target(target, recipe.clock if found.to_target == ASKED else found.to_target)


def fact_of(facts: object, name: str) -> float:
    """A number of `facts`, or the ratio of two; NaN if a case has none of that name."""
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
    """Over the seeds that have the number; others that missed a target count as infinitely late: with half of them or
    more, the median does not exist, and n is 0."""
    known = metrics.spread(numbers)
    if not found.to_target:
        return known
    median = metrics.censored_median(numbers)
    return metrics.spread([]) if math.isnan(median) else replace(known, median=median)
