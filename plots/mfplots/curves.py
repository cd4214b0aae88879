"""From the traces of a series to one curve with its band, and the window worth looking at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mfplots.load import PENDING
from mfplots.recipes import Recipe
from mfplots.series import Panel, Series
from mfplots.traces import Numbers, Trace

QUARTILES = (0.25, 0.75)
OF_A_RUN = ("train_s", "train_device_s", "answer_s")  # times of the run that gave a point
CLOSED_FORM = "closed_form"  # a method
LOG_FROM = 20  # x_scale auto: log if the longest series is over this many times the shortest


@dataclass(frozen=True)
class Curve:
    """`points`: epoch, x, y (medians over the seeds there), low, high, seeds; one row an epoch."""

    series: Series
    points: pd.DataFrame
    joined: bool = True  # by a line; points of several runs against their times are not, nor is a closed form's only one

    @property
    def diverged(self) -> bool:
        return bool((self.series.cases["status"] == "diverged").any())


def drawn_cases(series: Series) -> list[int]:
    cases = series.cases[~series.cases["status"].isin(PENDING)]
    return [i for i in cases.index if len(series.traces[i])]


def panel_curves(panel: Panel, recipe: Recipe, x: str, y: str = "test_rmse") -> list[Curve]:
    """Curves of the series that have any point of `y` on `x`; a closed form has no way to its model, which is a point."""
    curves = []
    for s in panel.series:
        points, closed = aggregate([s.traces[i] for i in drawn_cases(s)], x, recipe.band, y), s.method == CLOSED_FORM
        if len(points := points[points["epoch"] > 0] if closed else points):
            curves.append(Curve(s, points, joined=not (closed or (s.restarts and x in OF_A_RUN))))
    return curves


def aggregate(traces: Sequence[Trace | pd.DataFrame], x: str, band: str, y: str = "test_rmse") -> pd.DataFrame:
    """medians() as a frame."""
    return pd.DataFrame(medians(traces, x, band, y))


def medians(traces: Sequence[Trace | pd.DataFrame], x: str, band: str, y: str) -> dict[str, Numbers]:
    """Median x and y by epoch over the seeds, as far as more than half of them go.

    Seeds are matched by epoch, not by time, so that no number is interpolated."""
    if all(y not in trace for trace in traces):
        return {name: np.array([]) for name in ("epoch", "x", "y", "low", "high", "seeds")}
    epochs, values = _matrices(traces, (x, y))
    xs, ys = np.sort(np.where(np.isfinite(values).all(axis=0), values, np.nan), axis=1)  # a point has both; NaN last
    seeds = np.isfinite(ys).sum(axis=0)
    keep = (seeds * 2 > len(traces)) & (seeds > 0)
    xs, ys, seeds = xs[:, keep], ys[:, keep], seeds[keep]
    low, high = (_quantile(ys, seeds, q) for q in (QUARTILES if band == "iqr" else (0.0, 1.0)))
    return {"epoch": epochs[keep], "x": _quantile(xs, seeds, 0.5), "y": _quantile(ys, seeds, 0.5), "low": low, "high": high,
            "seeds": seeds}


def _quantile(rising: Numbers, counts: Numbers, q: float) -> Numbers:
    """Of each column; its first `counts` numbers are known, and sorted."""
    place = q * (counts - 1)
    below, columns = np.floor(place).astype(int), np.arange(len(counts))
    less, more = rising[below, columns], rising[np.ceil(place).astype(int), columns]
    return less + (more - less) * (place - below)


def _matrices(traces: Sequence[Trace | pd.DataFrame], names: Sequence[str]) -> tuple[Numbers, Numbers]:
    """All epochs, and for each name a matrix: one row a trace, one column an epoch. NaN: the trace lacks that value.
    The last line counts if a trace has an epoch twice."""
    own = [np.asarray(trace["epoch"], float) for trace in traces]
    epochs = np.unique(np.concatenate(own))
    values = np.full((len(names), len(traces), len(epochs)), np.nan)
    for i, (trace, at) in enumerate(zip(traces, own)):
        for k, name in enumerate(names):
            if name in trace:
                values[k, i, np.searchsorted(epochs, at)] = np.asarray(trace[name], float)
    return epochs, values


def wants_log(curves: Sequence[Curve], scale: str, axis: str = "x") -> bool:
    """Whether x (or y) is logarithmic: as asked, or if the series end far apart."""
    ends = [float(curve.points[axis].iloc[-1]) for curve in curves]
    return far_apart([end for end in ends if end > 0], scale)


def far_apart(numbers: Sequence[float], scale: str) -> bool:
    positive = [n for n in numbers if n > 0]
    if not positive or scale == "linear":
        return False
    return scale == "log" or (len(positive) == len(numbers) and max(positive) > LOG_FROM * min(positive))


def window_of(curves: Sequence[Curve], target: float | None, published: Sequence[float] = (),
                 less: bool = True) -> tuple[float, float]:
    """The range in which the series differ: every best and last value, the target and published values, and the part of
    the way to them that is common to most series. The initial model, often far away, may fall outside. `less` is better;
    else the same, mirrored."""
    sign, near, far = (1, "low", "high") if less else (-1, "high", "low")
    steady = [curve for curve in curves if not curve.diverged] or list(curves)
    started = [c.points[c.points["epoch"] > 0] for c in steady]
    started = [points for points in started if len(points)] or [c.points for c in steady]
    best = min(float((sign * points[near]).min()) for points in started)
    worst_end = max(sign * float(points["y"].iloc[-1]) for points in started)
    first = float(np.quantile([sign * points["y"].iloc[0] for points in started], 0.75))
    goals = [sign * goal for goal in [*([] if target is None else [target]), *published]]
    best, worst = min([best, *goals]), max([worst_end, first, *goals])
    limit = max(float((sign * curve.points[far]).max()) for curve in curves)
    if limit - best <= 1.5 * (worst - best):
        worst = limit
    pad = 0.06 * (worst - best) or 0.01 * abs(worst) or 0.01
    return (best - pad, worst + pad) if less else (-worst - pad, pad - best)
