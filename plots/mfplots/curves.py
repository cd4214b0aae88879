"""From the traces of a series to one curve with its band, and the window worth looking at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mfplots.load import PENDING
from mfplots.recipes import Recipe
from mfplots.series import Panel, Series

QUARTILES = (0.25, 0.75)
OF_A_RUN = ("train_s", "train_device_s", "answer_s")  # times of the run that gave a point
LOG_FROM = 20  # x_scale auto: log where the longest series is over this many times the shortest


@dataclass(frozen=True)
class Curve:
    """`points`: epoch, x, y (medians over the seeds there), low, high, seeds; one row an epoch."""

    series: Series
    points: pd.DataFrame
    joined: bool = True  # by a line; points of several runs against their times are not

    @property
    def diverged(self) -> bool:
        return bool((self.series.cases["status"] == "diverged").any())


def drawn_cases(series: Series, recipe: Recipe) -> list[int]:
    cases = series.cases
    if not recipe.unfinished:
        cases = cases[~cases["status"].isin(PENDING)]
    return [i for i in cases.index if len(series.traces[i])]


def panel_curves(panel: Panel, recipe: Recipe, x: str, y: str = "test_rmse") -> list[Curve]:
    """Curves of the series that have any point of `y` on `x`."""
    curves = [Curve(s, aggregate([s.traces[i] for i in drawn_cases(s, recipe)], x, recipe.band, y),
                    joined=not (s.restarts and x in OF_A_RUN)) for s in panel.series]
    return [curve for curve in curves if len(curve.points)]


def aggregate(traces: Sequence[pd.DataFrame], x: str, band: str,
              y: str = "test_rmse") -> pd.DataFrame:
    """Median x and y by epoch over the seeds, as far as more than half of them go.

    Seeds are matched by epoch, not by time, so that no number is interpolated.
    """
    columns = ["epoch", "x", "y", "low", "high", "seeds"]
    if not traces:
        return pd.DataFrame(columns=columns)
    data = pd.concat(traces, ignore_index=True)
    if y not in data:
        return pd.DataFrame(columns=columns)
    columns_of = {"epoch": data["epoch"], "x": data[x], "y": data[y]}  # x or y may be the epoch
    data = pd.DataFrame(columns_of)[np.isfinite(data[x]) & np.isfinite(data[y])]
    if len(traces) == 1 and data["epoch"].is_unique:  # as below, which takes milliseconds
        points = data.sort_values("epoch", ignore_index=True)
        return points.assign(low=points["y"], high=points["y"], seeds=1)[columns]
    groups = data.groupby("epoch")
    points = pd.DataFrame({"x": groups["x"].median(), "y": groups["y"].median(),
                           "low": groups["y"].min(), "high": groups["y"].max(),
                           "seeds": groups.size()}).reset_index()
    if band == "iqr":
        points["low"], points["high"] = (groups["y"].quantile(q).to_numpy() for q in QUARTILES)
    return points[points["seeds"] * 2 > len(traces)][columns].reset_index(drop=True)


def wants_log(curves: Sequence[Curve], scale: str, axis: str = "x") -> bool:
    """Whether x (or y) is to be logarithmic: as asked, or where the series end far apart."""
    ends = [float(curve.points[axis].iloc[-1]) for curve in curves]
    return far_apart([end for end in ends if end > 0], scale)


def far_apart(numbers: Sequence[float], scale: str) -> bool:
    positive = [n for n in numbers if n > 0]
    if not positive or scale == "linear":
        return False
    return scale == "log" or (len(positive) == len(numbers) and max(positive) > LOG_FROM * min(positive))


def whole_window(curves: Sequence[Curve], target: float | None,
                 published: Sequence[float] = ()) -> tuple[float, float]:
    """All there is: what rises from the initial model is read from there."""
    goals = [*([] if target is None else [target]), *published]
    low = min([*(float(c.points["low"].min()) for c in curves), *goals])
    high = max([*(float(c.points["high"].max()) for c in curves), *goals])
    pad = 0.06 * (high - low) or 0.01
    return low - pad, high + pad


def rmse_window(curves: Sequence[Curve], target: float | None,
                published: Sequence[float] = ()) -> tuple[float, float]:
    """The RMSE range in which the series differ: every best and last value, the target and what is
    published, and of the descent what most series go through. The initial model, often far above,
    may fall outside."""
    steady = [curve for curve in curves if not curve.diverged] or list(curves)
    started = [c.points[c.points["epoch"] > 0] for c in steady]
    started = [points for points in started if len(points)] or [c.points for c in steady]
    low = min(float(points["low"].min()) for points in started)
    worst_end = max(float(points["y"].iloc[-1]) for points in started)
    descent = float(np.quantile([points["y"].iloc[0] for points in started], 0.75))
    goals = [*([] if target is None else [target]), *published]
    low, high = min([low, *goals]), max([worst_end, descent, *goals])
    ceiling = max(float(curve.points["high"].max()) for curve in curves)
    if ceiling - low <= 1.5 * (high - low):
        high = ceiling
    pad = 0.06 * (high - low) or 0.01 * abs(high) or 0.01
    return low - pad, high + pad
