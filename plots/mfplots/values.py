"""One number a case, at its end or at a named epoch: what sweeps and bars compare."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from mfplots import metrics
from mfplots.errors import PlotError, hint
from mfplots.recipes import Recipe
from mfplots.series import Panel, Series
from mfplots.style import duration, plain_tick, si, si_tick, time_tick
from mfplots.summary import CLOCK_NAMES, finished, target_of


@dataclass(frozen=True)
class Asked:
    """What is measured: the clock of times, and the target of the panel, if any."""

    clock: str
    target: metrics.Target | None


Measure = Callable[[pd.DataFrame, Asked], float]


@dataclass(frozen=True)
class Metric:
    """`of` sees a trace up to the epoch asked for; `kind`: error, time or rate."""

    label: str
    kind: str
    of: Measure

    @property
    def tick(self) -> Callable[[float, int], str]:
        return {"error": plain_tick, "time": time_tick, "rate": si_tick}[self.kind]

    def text(self, value: float) -> str:
        if self.kind == "error":
            return f"{value:.4f}" if math.isfinite(value) else "–"
        return duration(value) if self.kind == "time" else si(value, "/s")


def _end(column: str) -> Measure:
    return lambda trace, _: float(trace[column].iloc[-1])


def _best(column: str) -> Measure:
    return lambda trace, _: metrics.best_of(trace[column], column)


def _clock(trace: pd.DataFrame, asked: Asked) -> float:
    return float(trace[asked.clock].iloc[-1])


def _per(column: str) -> Measure:
    def seconds(trace: pd.DataFrame, asked: Asked) -> float:
        done = float(trace[column].iloc[-1])
        return _clock(trace, asked) / done if done > 0 else math.nan
    return seconds


def _rate(trace: pd.DataFrame, asked: Asked) -> float:
    return metrics.rates([float(trace["updates"].iloc[-1])], [_clock(trace, asked)])[0]


def _to_target(trace: pd.DataFrame, asked: Asked) -> float:
    if asked.target is None:
        return math.nan
    return metrics.time_of_trace(trace, asked.clock, asked.target)


METRICS = {
    "final_test_rmse": Metric("test RMSE (rating units)", "error", _end("test_rmse")),
    "best_test_rmse": Metric("best test RMSE (rating units)", "error", _best("test_rmse")),
    "final_test_mae": Metric("test MAE (rating units)", "error", _end("test_mae")),
    "final_train_rmse": Metric("train RMSE (rating units)", "error", _end("train_rmse")),
    **{f"final_{name}": Metric(words, "error", _end(name))
       for name, words in metrics.METRICS.items() if name != "test_rmse"},
    **{f"best_{name}": Metric(f"best {words}", "error", _best(name))
       for name, words in metrics.METRICS.items() if name != "test_rmse"},
    "time": Metric("{clock}", "time", _clock),
    "s_per_epoch": Metric("{clock} of one epoch", "time", _per("epoch")),
    "s_per_iteration": Metric("{clock} of one iteration: an update for each user", "time",
                              _per("iterations")),
    "updates_per_s": Metric("rating updates per second of {clock}", "rate", _rate),
    "time_to_target": Metric("{clock} to the target", "time", _to_target),
}


def metric(name: str) -> Metric:
    if name not in METRICS:
        raise PlotError(f'"y": unknown "{name}"{hint(name, METRICS)}')
    return METRICS[name]


def axis_label(found: Metric, recipe: Recipe) -> str:
    text = found.label.format(clock=CLOCK_NAMES[recipe.clock])
    return f"{text} at epoch {recipe.epoch}" if recipe.epoch else text


def values(series: Series, panel: Panel, found: Metric, recipe: Recipe) -> list[float]:
    """One number a finished case; NaN where it has none: no trace, no such epoch, no target."""
    asked = Asked(recipe.clock, target_of(panel, recipe.question))
    return [_value(series.traces[i], found, asked, recipe.epoch) for i in finished(series).index]


def _value(trace: pd.DataFrame, found: Metric, asked: Asked, epoch: int) -> float:
    if epoch:
        if not (trace["epoch"] == epoch).any():
            return math.nan
        trace = trace[trace["epoch"] <= epoch]
    return found.of(trace, asked) if len(trace) else math.nan
