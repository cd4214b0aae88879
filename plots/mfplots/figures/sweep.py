"""A metric against a swept parameter: a line a remaining configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator

from mfplots.curve_page import LONG_NUMBERS, draw_line, draw_points, point_handles, scale
from mfplots.curves import far_apart
from mfplots.errors import NotDrawable, PlotError, hint
from mfplots.figures import figure
from mfplots.metrics import Spread
from mfplots.names import ON_AXES, named, short_names
from mfplots.page import Page
from mfplots.palette import system_name
from mfplots.published import Point, fits, notes, points_of
from mfplots.recipes import Recipe
from mfplots.series import SHARES, Panel, Series, View, canonical, make_labels, marks, methods_apart, panel_title
from mfplots.smallprint import small_print
from mfplots.style import Look, looks, plain_tick, si_tick
from mfplots.summary import main_metric, status_text, writes_note
from mfplots.values import Metric, axis_label, metric, spread_of, values

ABSENT = object()
FEW_VALUES = 5  # up to which each has a tick


@dataclass(frozen=True)
class Item:
    """One series of the view at its place: `x` is ABSENT if it lacks the swept parameter."""

    title: str       # of its panel here
    dataset: str
    label: str
    algorithm: str
    x: object
    spread: Spread
    cases: pd.DataFrame
    method: str


@figure("sweep")
def sweep(view: View, recipe: Recipe) -> Page:
    recipe = replace(recipe, y=recipe.y or f"final_{main_metric(view)}")
    found = metric(recipe.y)
    view = methods_apart(view) if found.by_method else view
    items = _items(view, recipe, found)
    if not any(item.spread.n for item in items):
        raise NotDrawable(f"no finished case has a value of {recipe.y}")
    scaling = recipe.x in SHARES and found.kind == "time"
    slope = -1 if scaling else recipe.slope
    places = _places(items)
    points = points_of(recipe.published)
    datasets = {item.dataset for item in items}
    titles = list(dict.fromkeys(item.title for item in items if item.spread.n))
    near_of = {title: _near(points, [item for item in items if item.title == title], found) for title in titles}
    fitting = list(dict.fromkeys(p for near in near_of.values() for p in near))
    shown = [_sized(p, recipe) for p in fitting]
    names = named(zip([item.label for item in items], [series for panel in view.panels for series in panel.series]), recipe,
                  short_names(item.label for item in items))
    page = Page(recipe.title or f"{view.specs}: {axis_label(found, recipe)} by {recipe.x}", len(titles))
    for item in items:
        if not item.spread.n:
            where = ("" if item.x is ABSENT else f" at {item.x}") + (f" on {item.title}" if len(titles) > 1 else "")
            failed = status_text(item.cases) if (item.cases["status"] != "completed").any() else ""
            page.leave_out(names[item.label] + where, failed or ("target not reached" if found.to_target else "no value"))
    looks_of = looks(list(dict.fromkeys(item.label for item in items)), _baseline(view, items))
    for axes, title in zip(page.axes, titles):
        own = [item for item in items if item.title == title]
        near = [_sized(p, recipe) for p in near_of[title]]
        _draw_panel(axes, own, places, looks_of)
        if slope:
            _draw_slope(axes, own, looks_of, slope, 1.0 if scaling else None)
        draw_points(axes, near, shown)
        axes.set_title(title, loc="left")
        _finish(axes, own, near, places, found, recipe)
    numbers = _numbers(items, recipe, shown)
    dotted = f"the time on one, divided by the {recipe.x}" if scaling else \
        f"{'' if slope > 0 else 'inversely '}proportional to {recipe.x}, from the first value of each line"
    return page.done(_with_efficiency(numbers, recipe) if scaling else numbers, small_print(
        view, names, "Median over seeds, band or whiskers from smallest to largest of 3 or more.",
        f"Dotted: {dotted}." if slope else "",
        *notes(points, fitting, datasets), writes_note(view) if found.by_method else ""),
        [*_legend(items, looks_of, names), *point_handles(shown)])


def _near(points: Sequence[Point], own: Sequence[Item], found: Metric) -> list[Point]:
    """The published ones that may stand in a panel."""
    methods = {item.method for item in own}
    return [p for p in points if any(p.dataset == item.dataset for item in own) and fits(p, found.kind, methods)]


def _draw_slope(axes: Axes, items: Sequence[Item], looks_of: Mapping[str, Look], slope: int, start: float | None) -> None:
    """A dotted line from the first value of each series, if that is at `start`: the time of one, if workers share it without
    loss."""
    for label in dict.fromkeys(item.label for item in items):
        own = {float(item.x): item.spread.median for item in items
               if item.label == label and item.spread.n and item.x is not ABSENT}
        xs = sorted(own)
        if len(xs) > 1 and start in (None, xs[0]):
            axes.plot(xs, [own[xs[0]] * (x / xs[0]) ** slope for x in xs], linestyle=":", linewidth=1,
                      color=looks_of[label].colour, zorder=1)


def _with_efficiency(numbers: pd.DataFrame, recipe: Recipe) -> pd.DataFrame:
    """T(1) / (K T(K)) beside each time."""
    time = recipe.y
    one = {(row["panel"], row["series"]): row[time] for _, row in numbers.iterrows() if row[recipe.x] == 1}
    efficiency = [one.get((row["panel"], row["series"]), float("nan")) / (row[recipe.x] * row[time])
                  for _, row in numbers.iterrows()]
    return numbers.assign(efficiency=efficiency)


def _sized(point: Point, recipe: Recipe) -> Point:
    """Its x says how many factors it has, so that the sizes of one system share a label."""
    if recipe.x != "factors" or not point.system:
        return point
    name = system_name(point.system)
    return replace(point, label=point.label.replace(point.system, name), system=name)


def _items(view: View, recipe: Recipe, found: Metric) -> list[Item]:
    pairs = [(panel, series) for panel in view.panels for series in panel.series]
    _check_names(pairs, recipe)
    dropped = {recipe.x, recipe.panel_by}
    labels = make_labels([("" if recipe.x == "algorithm" else series.algorithm,
                           {key: value for key, value in series.facets.items()
                            if key not in dropped}) for _, series in pairs],
                         [panel.title for panel, _ in pairs])
    return [Item(_title(panel, series, recipe), panel.dataset,
                 label.strip() or "all algorithms", series.algorithm, _x(series, recipe.x),
                 spread_of(found, values(series, panel, found, recipe)), series.cases, series.method)
            for (panel, series), label in zip(pairs, labels)]


def _check_names(pairs: Sequence[tuple[Panel, Series]], recipe: Recipe) -> None:
    facets = {key for _, series in pairs for key in series.facets}
    known = {"x": facets | {"algorithm"}, "panel_by": facets | {""}}
    for key, names in known.items():
        name = getattr(recipe, key)
        if name not in names:
            raise PlotError(f'sweep: "{key}": unknown "{name}"{hint(name, names - {""})}')


def _x(series: Series, name: str) -> object:
    if name == "algorithm":
        return series.algorithm
    value = series.facets.get(name, 1 if name in SHARES else ABSENT)
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if number or value is ABSENT else value if isinstance(value, str) else canonical(value)


def _title(panel: Panel, series: Series, recipe: Recipe) -> str:
    if not recipe.panel_by:
        return panel_title(panel)
    value = series.facets.get(recipe.panel_by)
    return f"{panel_title(panel)}, {ON_AXES.get(recipe.panel_by, recipe.panel_by)}={value if isinstance(value, str) else canonical(value)}"


def _places(items: Sequence[Item]) -> dict[object, float] | None:
    """Positions of values that are not numbers, in order of appearance; None for numbers."""
    known = list(dict.fromkeys(item.x for item in items if item.x is not ABSENT))
    if all(isinstance(x, (int, float)) for x in known):
        return None
    return {x: float(i) for i, x in enumerate(known)}


def _baseline(view: View, items: Sequence[Item]) -> str | None:
    names = {str(b) for b in view.cases["baseline"] if isinstance(b, str)}
    return next((item.label for item in items if item.algorithm in names), None)


def _draw_panel(axes: Axes, items: Sequence[Item], places: Mapping[object, float] | None,
                looks_of: Mapping[str, Look]) -> None:
    labels = list(dict.fromkeys(item.label for item in items))
    for k, label in enumerate(labels):
        own = [item for item in items if item.label == label]
        for item in own:
            if item.x is ABSENT and item.spread.n:
                axes.axhline(item.spread.median, zorder=2, color=looks_of[label].colour,
                             linestyle=looks_of[label].line, linewidth=1)
        # Words have no width between them: their dots stand side by side, and nothing joins them.
        shift = 0.0 if places is None else (k - (len(labels) - 1) / 2) * min(0.1, 0.6 / len(labels))
        found = [(float(item.x) if places is None else places[item.x] + shift, item.spread)  # type: ignore[arg-type]
                 for item in own if item.x is not ABSENT]
        known = pd.DataFrame([(x, s.median, s.low, s.high, s.n) for x, s in found if s.n],
                             columns=["x", "y", "low", "high", "seeds"])
        if len(known):
            draw_line(axes, known.sort_values("x"), looks_of[label], joined=places is None)


def _finish(axes: Axes, items: Sequence[Item], points: Sequence[Point],
            places: Mapping[object, float] | None, found: Metric, recipe: Recipe) -> None:
    ys = [*(v for item in items if item.spread.n for v in (item.spread.low, item.spread.high)), *(p.y for p in points)]
    if found.kind == "error":
        axes.set_ylabel(axis_label(found, recipe))
    else:
        scale(axes, "y", axis_label(found, recipe), ys, far_apart(ys, recipe.y_scale), found.tick)
    if recipe.y_range:
        axes.set_ylim(*recipe.y_range)
    label = ON_AXES.get(recipe.x, recipe.x)
    if places is not None:
        axes.set_xlabel(label)
        axes.set_xticks(list(places.values()), [x if isinstance(x, str) else canonical(x) for x in places])
        axes.set_xlim(-0.5, len(places) - 0.5)
        return
    xs = [float(item.x) for item in items if item.x is not ABSENT] + [p.x for p in points]
    log = far_apart(xs, recipe.x_scale)
    scale(axes, "x", label, xs, log, si_tick if max(xs, default=0) >= LONG_NUMBERS else plain_tick, zero=False)
    if not log and len(set(xs)) <= FEW_VALUES:
        axes.xaxis.set_major_locator(FixedLocator(sorted(set(xs))))
        axes.xaxis.set_minor_locator(NullLocator())


def _legend(items: Sequence[Item], looks_of: Mapping[str, Look], names: Mapping[str, str]) -> list[Line2D]:
    handles = []
    for label, look in looks_of.items():
        own = [item for item in items if item.label == label]
        cases = pd.concat([item.cases for item in own])
        words = f" ({status_text(cases)})" if (cases["status"] != "completed").any() else ""
        if any(item.spread.n for item in own):
            handles.append(Line2D([], [], label=names[label] + marks(cases) + words, **look.as_line()))
    return handles


def _numbers(items: Sequence[Item], recipe: Recipe, points: Sequence[Point]) -> pd.DataFrame:
    name = recipe.y
    rows = [{"panel": item.title, "series": item.label, "algorithm": item.algorithm,
             recipe.x: None if item.x is ABSENT else item.x, name: item.spread.median,
             "low": item.spread.low, "high": item.spread.high, "seeds": item.spread.n,
             "statuses": status_text(item.cases)} for item in items]
    rows += [{"panel": p.dataset, "series": p.label, recipe.x: p.x, name: p.y} for p in points]
    return pd.DataFrame(rows)
