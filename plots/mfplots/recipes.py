"""Recipes of figures: a recipe is a JSON object a figure, a recipe file one recipe or a list of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from mfplots.errors import PlotError, hint
from mfplots.files import read_json
from mfplots.metrics import Target
from mfplots.summary import CLOCK_NAMES, Question, is_number, parse_target

SCALES = ("auto", "linear", "log")
CHOICES = {"x_scale": SCALES, "y_scale": SCALES, "band": ("minmax", "iqr", "none"),
           "clock": tuple(CLOCK_NAMES), "part": ("test", "train")}
PEAKS = ("bytes_per_s", "flops_per_s")
TYPES: dict[str, type] = {
    **dict.fromkeys(("figure", "name", "title", "baseline", "csv", "x", "y", "panel_by", "metric", "stack_by"), str),
    **dict.fromkeys(("filter", "names", "peaks", "dataset", "cumulative"), dict),
    **dict.fromkeys(("optional", "relative", "direct"), bool), "slope": int}


@dataclass(frozen=True)
class Published:
    """Points from a CSV of published numbers. `filter` by its columns; `dataset` maps its data-set names to one or
    several names in the results; `metric` names the rows to draw if a figure can show any metric."""

    csv: str
    filter: Mapping[str, Any] = field(default_factory=dict)
    dataset: Mapping[str, Any] = field(default_factory=dict)
    metric: str = ""


@dataclass(frozen=True)
class Recipe:
    figure: str
    name: str = ""                  # of the files; empty: the figure's
    title: str = ""                 # empty: spec and figure
    filter: Mapping[str, Any] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)  # of series, named as baselines are
    x: str = ""                     # trace, speedup-trace: a clock or count; sweep: a parameter
    y: str = ""                     # trace: a column; sweep, metric-bars: a metric;
                                    # benchmark-bars: time or a counter
    x_scale: str = "auto"           # auto: log if the series differ by more than 20 times
    y_scale: str = "auto"           # the same, of times and rates; errors are linear
    y_range: tuple[float, float] | None = None  # empty: the range in which the series differ
    band: str = "minmax"            # over seeds
    direct: bool = False            # curves: names at their ends instead of a legend
    clock: str = "train_s"
    panel_by: str = ""              # sweep, benchmark-bars: a parameter, a panel a value
    slope: int = 0                  # sweep: of a dotted line from the first value of each; 0: none
    stack_by: str = ""              # benchmark-bars: a parameter, whose values stack up in one bar
    # benchmark-bars: if each value of stack_by includes those before it: the values in that order, with the names of
    # their additions
    cumulative: Mapping[str, str] = field(default_factory=dict)
    relative: bool = False          # benchmark-bars: over the baseline
    part: str = "test"              # user-groups: test or train
    target: Target | Mapping[str, Target] | None = None  # {"metric", "value"}, or a test RMSE by data set
    baseline: str | None = None
    optional: bool = False          # left out, with the reason, if the results do not allow it
    peaks: Mapping[str, float] = field(default_factory=dict)  # benchmark-bars: of its device
    published: Published | None = None

    @property
    def file_name(self) -> str:
        return self.name or self.figure

    @property
    def question(self) -> Question:
        return Question(self.target, self.baseline, self.clock)


def read_recipes(path: Path) -> list[Recipe]:
    data = read_json(path, named=True)
    items = data if isinstance(data, list) else [data]
    recipes = [parse_recipe(item, f"{path}[{i}]") for i, item in enumerate(items)]
    _check_names(recipes, path)
    return recipes


def parse_recipe(data: Any, where: str) -> Recipe:
    _check_keys(data, Recipe, where)
    if "figure" not in data:
        raise PlotError(f'{where}: no "figure"')
    if "/" in data.get("name", ""):
        raise PlotError(f"{where}.name: a file name without folders, found {data['name']!r}")
    for key, choices in CHOICES.items():
        if data.get(key, choices[0]) not in choices:
            raise PlotError(f"{where}.{key}: {data[key]!r}{hint(str(data[key]), choices)}")
    values = dict(data)
    for key, parse in (("published", _parse_published), ("y_range", _parse_range), ("target", _parse_target)):
        if values.get(key) is not None:
            values[key] = parse(values[key], f"{where}.{key}")
    _check_peaks(data, where)
    return Recipe(**values)


def _check_keys(data: Any, kind: type, where: str) -> None:
    if not isinstance(data, dict):
        raise PlotError(f"{where}: found {data!r}, expected an object")
    known = [item.name for item in fields(kind)]
    for key in data:
        if key not in known:
            raise PlotError(f'{where}: unknown key "{key}"{hint(key, known)}')
        if key in TYPES and not isinstance(data[key], TYPES[key]):
            raise PlotError(f"{where}.{key}: {data[key]!r} is not of the expected kind")


def _parse_published(data: Any, where: str) -> Published:
    _check_keys(data, Published, where)
    if "csv" not in data:
        raise PlotError(f'{where}: no "csv"')
    folder = Path(where.rsplit("[", 1)[0]).parent
    return Published(**{**data, "csv": str(folder / data["csv"])})


def _parse_target(data: Any, where: str) -> Target | Mapping[str, Target]:
    if not isinstance(data, dict) or "metric" in data:
        return parse_target(data, where)
    return {name: parse_target({"metric": "test_rmse", "value": value}, f"{where}.{name}") for name, value in data.items()}


def _parse_range(data: Any, where: str) -> tuple[float, float]:
    numbers = isinstance(data, list) and all(isinstance(v, (int, float)) for v in data)
    if not numbers or len(data) != 2 or not data[0] < data[1]:
        raise PlotError(f"{where}: found {data!r}, expected [low, high]")
    return float(data[0]), float(data[1])


def _check_peaks(data: Mapping[str, Any], where: str) -> None:
    for key, value in data.get("peaks", {}).items():
        if not (is_number(value) and value > 0):
            raise PlotError(f"{where}.peaks: found {value!r}, expected a number above 0")
        if key not in PEAKS:
            raise PlotError(f'{where}.peaks: unknown key "{key}"{hint(key, PEAKS)}')


def _check_names(recipes: list[Recipe], path: Path) -> None:
    names = [recipe.file_name for recipe in recipes]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise PlotError(f'{path}: two figures would be written to {twice[0]}; give them a "name"')
