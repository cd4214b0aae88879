"""Published numbers drawn beside measured ones: open markers, never joined to our curves."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from mfplots.errors import PlotError, hint
from mfplots.recipes import Published

REQUIRED = ("dataset", "system", "hardware", "x", "metric", "value")
_TIME_TO = re.compile(r"time_to_rmse_([0-9.]+)$")


@dataclass(frozen=True)
class Point:
    dataset: str
    label: str  # "published: <system>, <hardware>"
    x: float
    y: float


def curve_points(request: Published | None) -> list[Point]:
    """RMSE points: rows of the metric test_rmse at x, and time_to_rmse_R at (value, R)."""
    def point(row: pd.Series) -> tuple[float, float] | None:
        target = _TIME_TO.match(row["metric"])
        if target:
            return _number(row, "value") * request.x_factor, float(target[1])
        if row["metric"] == "test_rmse":
            return _number(row, "x") * request.x_factor, _number(row, "value")
        return None

    return _points(request, point, "test_rmse, time_to_rmse_<R>")


def speedup_points(request: Published | None) -> list[Point]:
    return _points(request, lambda row: (_number(row, "value"), 0.0)
                   if "speedup" in row["metric"] else None, "speedup")


def throughput_points(request: Published | None) -> list[Point]:
    return _points(request, lambda row: (_number(row, "value"), 0.0)
                   if row["metric"] == "updates_per_s" else None, "updates_per_s")


def _points(request: Published | None, place: Callable[[pd.Series], tuple[float, float] | None],
            metrics: str) -> list[Point]:
    if request is None:
        return []
    points = []
    for _, row in _rows(request).iterrows():
        where = place(row)
        if where is None:
            raise PlotError(f"{request.csv}: the metric {row['metric']} has no place in this "
                            f"figure, which takes {metrics}; narrow the filter")
        dataset = request.dataset.get(row["dataset"], row["dataset"])
        points.append(Point(dataset, f"published: {row['system']}, {row['hardware']}", *where))
    return points


def _rows(request: Published) -> pd.DataFrame:
    if not Path(request.csv).exists():
        raise PlotError(f"{request.csv}: no such file")
    table = pd.read_csv(request.csv, dtype=str, keep_default_na=False)
    missing = [column for column in REQUIRED if column not in table.columns]
    if missing:
        raise PlotError(f"{request.csv}: no column {', '.join(missing)}")
    for key, value in request.filter.items():
        if key not in table.columns:
            raise PlotError(f'{request.csv}: no column "{key}"{hint(key, table.columns)}')
        wanted = [str(v) for v in (value if isinstance(value, list) else [value])]
        table = table[table[key].isin(wanted)]
    if table.empty:
        raise PlotError(f"{request.csv}: the filter {dict(request.filter)} leaves no row")
    return table


def _number(row: pd.Series, column: str) -> float:
    try:
        return float(row[column])
    except ValueError as error:
        raise PlotError(f"published {row['system']}: {column} is {row[column]!r}, "
                        "expected a number") from error
