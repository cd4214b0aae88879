"""A page of curves over the epochs of a run: a panel a data set, a curve a series."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import AutoMinorLocator, FuncFormatter, MaxNLocator

from mfplots.curves import Curve, panel_curves, rmse_window, wants_log, whole_window
from mfplots.direct import LEVEL
from mfplots.errors import NotDrawable
from mfplots.figures import Drawing
from mfplots.metrics import FEWEST, row
from mfplots.names import explained, is_library, short_names
from mfplots.palette import of_system, system_name
from mfplots.published import Point, absent_note, foreign_note
from mfplots.recipes import Recipe
from mfplots.series import Panel, Series, View, marks, panel_title
from mfplots.sheet import Named, Sheet
from mfplots.smallprint import provenance, sample
from mfplots.style import (Look, log_axis, looks, plain_tick, si_tick, significant,
                            words_size)
from mfplots.summary import baseline_label, before_note, status_text, target_of, writes_note

BANDS = {"minmax": "smallest to largest, from 3 seeds on", "iqr": "quartiles, from 3 seeds on",
         "none": ""}
Window = Callable[[Sequence[Curve], float | None, Sequence[float]], tuple[float, float]]
OPEN_FILLS = ("none", "left", "bottom", "right", "top")
LONG_NUMBERS = 1e5  # from here with the letters of SI


@dataclass(frozen=True)
class Quantity:
    """A column of the trace and its words on an axis."""

    column: str
    label: str


def draw_curves(view: View, recipe: Recipe, x: Quantity, y: Quantity, title: str,
                points: Sequence[Point]) -> Drawing:
    whole = [panel_curves(panel, recipe, x.column, y.column) for panel in view.panels]
    if not any(whole):
        raise NotDrawable(f"no finished case has a trace with {x.column} and {y.column}")
    names, looks_of = names_and_looks(view, baseline_label(view, recipe.question))
    datasets = {panel.dataset for panel in view.panels}
    metric = row(y.column)  # on a linear axis with a window of its own
    foreign = [p for p in points if metric and p.foreign and p.dataset in datasets]
    shown = [p for p in points if p.dataset in datasets and p not in foreign]
    sheet = curve_sheet(len(view.panels), recipe, title, view)
    notes = [absent_note(points, datasets), foreign_note(foreign)]
    for axes, panel, curves in zip(sheet.axes, view.panels, whole):
        near = [p for p in shown if p.dataset == panel.dataset]
        draw_points(axes, near, shown)
        draw_panel(axes, curves, looks_of, recipe)
        axes.set_title(panel_title(panel), loc="left")
        finish_x(axes, curves, near, x.label, wants_log(curves, recipe.x_scale))
        if metric:
            target = target_of(panel, recipe.question)
            target = target if target is not None and target.metric == y.column else None
            window = whole_window if metric.ranking else rmse_window
            notes.append(_set_window(axes, panel, curves, target, near, recipe, window))
            axes.set_ylabel(y.label)
        else:
            finish_y(axes, curves, near, y.label, recipe)
    place_legend(sheet, view, whole, looks_of, names, shown)
    if y.column == "updates_per_s":
        notes.append(writes_note(view))
    if x.column in ("train_s", "train_device_s"):
        notes.append(before_note(view))
    sheet.small_print([reading(view, recipe), *dict.fromkeys(notes), explained(names), *provenance(view)])
    return Drawing(sheet, numbers(view.panels, whole, x.column, y.column, shown))


def curve_sheet(n: int, recipe: Recipe, title: str, view: View) -> Sheet:
    return Sheet(recipe.title or f"{view.specs}: {title}", n)


def names_and_looks(view: View, baseline: str | None) -> tuple[dict[str, str], dict[str, Look]]:
    """Of each label. Those of one short name, which never meet in a panel, look alike."""
    names = short_names(view.labels, view.by_panel)
    first: dict[str, str] = {}
    for label in view.labels:
        first.setdefault(names[label], label)
    stands_for = {label: first[name] for label, name in names.items()}
    found = looks(list(first.values()), baseline and stands_for.get(baseline),
                  [[stands_for[label] for label in own] for own in view.by_panel])
    own = {label: found[one] for label, one in stands_for.items()}
    return names, dict(sorted(own.items(), key=lambda item: item[1].order))


def place_legend(sheet: Sheet, view: View, per_panel: Sequence[Sequence[Curve]], looks_of: Mapping[str, Look],
                 names: Mapping[str, str], points: Sequence[Point] = ()) -> None:
    """Ours, libraries, and what was published; or, if all are curves, their names at them."""
    ours, libraries = legend(view, per_panel, looks_of, names)
    handles = {**ours, **libraries}
    sheet.legend(_once(ours), _once(libraries), point_handles(points), named=() if points else at_curves(sheet, handles))


def at_curves(sheet: Sheet, handles: Mapping[str, Line2D]) -> list[Named]:
    """The curves with the names of their handles, if each handle has one curve."""
    named = [Named(line, handles[label].get_label()) for axes in sheet.axes for line in axes.lines
             if (label := str(line.get_label())) in handles]
    return named if len(named) == len(handles) else []


def draw_panel(axes: Axes, curves: Sequence[Curve], looks_of: Mapping[str, Look],
               recipe: Recipe) -> None:
    for curve in curves:
        look, p = looks_of[curve.series.label], curve.points
        every = max(len(p) // 8, 1)
        wide = (p["high"] > p["low"]) & (p["seeds"] >= FEWEST)
        if not curve.joined:
            axes.plot(p["x"], p["y"], zorder=3, label=curve.series.label, **_as_points(look))
            if recipe.band != "none" and wide.any():
                axes.vlines(p["x"][wide], p["low"][wide], p["high"][wide], color=look.colour, alpha=0.4, zorder=2)
            continue
        axes.plot(p["x"], p["y"], markevery=(look.order % every, every), zorder=3, label=curve.series.label,
                  **look.as_line())
        if recipe.band != "none" and wide.any():
            axes.fill_between(p["x"].to_numpy(float), p["low"].to_numpy(float),
                              p["high"].to_numpy(float), color=look.colour, alpha=0.18,
                              where=(p["seeds"] >= FEWEST).to_numpy(), linewidth=0, zorder=2)
    if not curves and not axes.lines:
        axes.text(0.5, 0.5, "no case with a trace", transform=axes.transAxes, ha="center")


def draw_points(axes: Axes, points: Sequence[Point], everywhere: Sequence[Point]) -> None:
    """Open markers; a thin dotted line joins those of one published system, and nothing else. What
    has no x is a line across the panel."""
    for line in (point for point in points if point.is_line):
        draw_level(axes, line.y, f"{line.label}, {line.y:g}", of_system(line.system)[0])
    style_of = published_styles(everywhere)
    for label in dict.fromkeys(point.label for point in points if not point.is_line):
        own = sorted((p.x, p.y) for p in points if p.label == label)
        style = {**style_of[label], "linestyle": (0, (1, 2)), "linewidth": 0.7}
        axes.plot(*zip(*own), **{**style, "color": "#888888"}, zorder=5)


def draw_level(axes: Axes, y: float, words: str, colour: str, above: bool = True) -> None:
    """A dashed line with its words, which place_levels moves out of the way of curves."""
    axes.axhline(y, color=colour, linewidth=0.9, linestyle=(0, (2, 2)), zorder=1)
    axes.annotate(words, (0, y), xycoords=("axes fraction", "data"), xytext=(3, 2 if above else -2),
                  textcoords="offset points", ha="left", va="bottom" if above else "top", fontsize=words_size(),
                  color="#444444", label=LEVEL, zorder=1.5,
                  bbox={"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 0.5})


def published_styles(points: Sequence[Point]) -> dict[str, dict[str, object]]:
    """The marker and colour of each label's system; sizes and machines of one differ in filling. A
    line has its words beside it."""
    labels = dict.fromkeys((point.label, point.system) for point in points if not point.is_line)
    seen: Counter[str] = Counter()
    styles = {}
    for label, system in labels:
        name = system_name(system)
        styles[label] = open_marker(*of_system(system), OPEN_FILLS[seen[name] % len(OPEN_FILLS)])
        seen[name] += 1
    return styles


def point_handles(points: Sequence[Point]) -> list[Line2D]:
    return [Line2D([], [], label=label, **style)
            for label, style in published_styles(points).items()]


def open_marker(colour: str, marker: str, fill: str) -> dict[str, object]:
    return {"linestyle": "none", "marker": marker, "markersize": 8, "fillstyle": fill,
            "markerfacecolor": "#bbbbbb" if fill != "none" else "none",
            "markerfacecoloralt": "white", "markeredgecolor": colour, "markeredgewidth": 1.1}


def finish_x(axes: Axes, curves: Sequence[Curve], points: Sequence[Point], label: str,
             log: bool) -> None:
    low, high = _log_range(curves, points, "x")
    tick = si_tick if high > LONG_NUMBERS else plain_tick
    axes.set_xlabel(label + (", log scale" if log else ""))
    if log:
        log_axis(axes, low, high, tick)
    else:
        axes.set_xlim(left=0)
        axes.xaxis.set_major_formatter(FuncFormatter(tick))
        axes.xaxis.set_major_locator(MaxNLocator(7, steps=[1, 2, 5, 10]))
        axes.xaxis.set_minor_locator(AutoMinorLocator(2))


def finish_y(axes: Axes, curves: Sequence[Curve], points: Sequence[Point], label: str,
             recipe: Recipe) -> None:
    """Of times, rates and ratios: from zero, or logarithmic."""
    log = wants_log(curves, recipe.y_scale, "y")
    axes.set_ylabel(label + (", log scale" if log else ""))
    if log:
        log_axis(axes, *_log_range(curves, points, "y"), si_tick, which="y")
    else:
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(FuncFormatter(si_tick))
    if recipe.y_range:
        axes.set_ylim(*recipe.y_range)


def _log_range(curves: Sequence[Curve], points: Sequence[Point], axis: str) -> tuple[float, float]:
    names = ["x"] if axis == "x" else ["low", "high"]
    known = [curve.points[name] for curve in curves for name in names]
    values = pd.concat([*known, pd.Series([getattr(p, axis) for p in points], dtype=float)])
    positive = values[values > 0]
    return (positive.min() / 1.3, positive.max() * 1.3) if len(positive) else (0.1, 1.0)


def _set_window(axes: Axes, panel: Panel, curves: Sequence[Curve], target: float | None,
                points: Sequence[Point], recipe: Recipe, window: Window) -> str:
    """Limits of y and the line at the target; returns what is cut off, for the small print."""
    if not curves:
        return ""
    low, high = recipe.y_range or window(curves, target, [p.y for p in points])
    axes.set_ylim(low, high)
    if target is not None and low <= target <= high:
        draw_level(axes, target, f"target {target:g}", "#555555", above=not row(target.metric).less)
    top = max(float(curve.points["high"].max()) for curve in curves)
    return f"{panel.title}: errors over {significant(high)} are not shown (up to " \
           f"{significant(top)})." if top > high else ""


def legend(view: View, per_panel: Sequence[Sequence[Curve]], looks_of: Mapping[str, Look],
           names: Mapping[str, str]) -> tuple[dict[str, Line2D], dict[str, Line2D]]:
    """By label, of ours and of libraries."""
    drawn = [curve for curves in per_panel for curve in curves]
    handles = {label: _handle(names[label], remarks([s for p in view.panels for s in p.series if s.label == label]),
                              look, _with_label(drawn, label))
               for label, look in looks_of.items()}
    theirs = {label: handle for label, handle in handles.items() if is_library(label.split()[0])}
    return {label: handle for label, handle in handles.items() if label not in theirs}, theirs


def _once(handles: Mapping[str, Line2D]) -> list[Line2D]:
    """One of each name, if possible one that is drawn."""
    found: dict[str, Line2D] = {}
    for handle in handles.values():
        name = handle.get_label().replace(", not drawn", "")
        if name not in found or handle.get_label() == name:
            found[name] = handle
    return list(found.values())


def _with_label(curves: Sequence[Curve], label: str) -> Curve | None:
    return next((curve for curve in curves if curve.series.label == label), None)


def _as_points(look: Look) -> dict[str, object]:
    return {**look.as_line(), "linestyle": "none"}


def _handle(label: str, remark: str, look: Look, drawn: Curve | None) -> Line2D:
    if drawn:
        return Line2D([], [], label=label + remark, **(look.as_line() if drawn.joined else _as_points(look)))
    return Line2D([], [], linestyle="none", marker="x", color="#777777",
                  label=f"{label}{remark}, not drawn")


def remarks(series: Sequence[Series]) -> str:
    """The marks of its times, and every status but completed, counted over the panels: ' † (1 diverged)'."""
    cases = pd.concat([s.cases for s in series])
    if (cases["status"] == "completed").all():
        return marks(cases)
    return f"{marks(cases)} ({status_text(cases)})"


def reading(view: View, recipe: Recipe) -> str:
    band = BANDS[recipe.band]
    if all(len(s.cases) == 1 for p in view.panels for s in p.series):
        return f"{sample(view)}."
    return (f"{sample(view)}. Line: median over seeds by epoch, while more than half of them run."
            + (f" Band: {band}." if band else ""))


def numbers(panels: Sequence[Panel], per_panel: Sequence[Sequence[Curve]], x: str, y: str,
            points: Sequence[Point] = ()) -> pd.DataFrame:
    """What is drawn; published points have neither epoch nor seeds."""
    parts = []
    for panel, curves in zip(panels, per_panel):
        for curve in curves:
            part = curve.points.drop(columns="epoch" if "epoch" in (x, y) else [])
            part = part.rename(columns={"x": x, "y": y, "low": "band_low", "high": "band_high"})
            part.insert(0, "dataset", panel_title(panel))
            part.insert(1, "series", curve.series.label)
            parts.append(part)
        parts += [pd.DataFrame({"dataset": [panel_title(panel)], "series": [p.label], x: [p.x],
                                y: [p.y]}) for p in points if p.dataset == panel.dataset]
    return pd.concat(parts, ignore_index=True)
