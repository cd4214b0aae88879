"""Published numbers drawn beside measured ones: open markers, or lines, never joined to our curves."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Sequence
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
    label: str  # "published: <system>, <hardware>"; "published on <data set>: ..." on another one
    x: float  # NaN: a number without x, a line across the panel
    y: float
    system: str = ""
    source: str = ""  # the data set of the numbers, if that is not `dataset`

    @property
    def name(self) -> str:
        """The publication that a mark names."""
        return self.label.partition(": ")[2] or self.label

    @property
    def is_line(self) -> bool:
        return math.isnan(self.x)

    @property
    def foreign(self) -> bool:
        """Measured on other data than the panel's, which may be its look-alike."""
        return bool(self.source)


def points_of(request: Published | None, lines: bool = False) -> list[Point]:
    """Rows of the metric that the recipe names, at x, with `lines` also those without one; without a metric, rows of
    time_to_rmse_R, at (value, R)."""
    def place(row: pd.Series) -> tuple[float, float]:
        if request.metric:
            return math.nan if lines and not row["x"] else _number(row, "x"), _number(row, "value")
        target = _TIME_TO.match(row["metric"])
        if not target:
            raise PlotError(f"{request.csv}: the metric {row['metric']} has no place in this figure; name the "
                            'rows to draw by "metric", or narrow the filter to time_to_rmse_<R>')
        return _number(row, "value"), float(target[1])

    return _points(request, place)


def value_points(request: Published | None) -> list[Point]:
    """Rows of the metric that the recipe names, their value as x: for bars."""
    if request is not None and not request.metric:
        raise PlotError('published: name the rows to draw by "metric"')
    return _points(request, lambda row: (_number(row, "value"), 0.0))


def fits(point: Point, kind: str, methods: Collection[str]) -> bool:
    """Whether the number may stand on an axis of that kind among series of these methods: errors of
    other data lie on none with a look-alike's, and published rates are of SGD."""
    return not (kind == "error" and point.foreign) and (kind != "rate" or set(methods) == {"sgd"})


def notes(points: Sequence[Point], drawn: Sequence[Point], datasets: Collection[str]) -> list[str]:
    """For the small print: published numbers that are not drawn, and why."""
    found = {point.dataset for point in points}
    if found and not found & set(datasets):
        return [f"The published numbers are of {', '.join(sorted(found))}, which has no panel here."]
    left = [p for p in points if p.dataset in datasets and p not in drawn]
    if sources := sorted({p.source for p in left if p.foreign}):
        return [f"Published errors are of {', '.join(sources)}, not of a look-alike, whose attainable error is another: not drawn."]
    return ["Published rates are of SGD: not drawn among those of another method."] if left else []


def _points(request: Published | None, place: Callable[[pd.Series], tuple[float, float]]) -> list[Point]:
    points = []
    for _, row in _rows(request).iterrows() if request is not None else ():
        for dataset in _datasets(request, row["dataset"]):
            other = dataset != row["dataset"]
            words = ", ".join(word for word in (row["system"], row["hardware"]) if word)
            label = f"published{' on ' + row['dataset'] if other else ''}: {words}"
            points.append(Point(dataset, label, *place(row), row["system"], row["dataset"] if other else ""))
    return points


def _datasets(request: Published, name: str) -> list[str]:
    mapped = request.dataset.get(name, name)
    return mapped if isinstance(mapped, list) else [mapped]


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
    if request.metric:
        table = table[table["metric"] == request.metric]
    if table.empty:
        raise PlotError(f"{request.csv}: the filter {dict(request.filter)} "
                        f"{f'and the metric {request.metric} ' if request.metric else ''}leaves no row")
    return table


def _number(row: pd.Series, column: str) -> float:
    try:
        return float(row[column])
    except ValueError as error:
        raise PlotError(f"published {row['system']}: {column} is {row[column]!r}, expected a number") from error
