"""A page of curves over the epochs of a run: a panel a data set, a curve a series."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import AutoMinorLocator, FuncFormatter, MaxNLocator

from mfplots.curves import Curve, panel_curves, wants_log, window_of
from mfplots.errors import NotDrawable
from mfplots.metrics import FEWEST, row
from mfplots.names import is_library, names_of
from mfplots.page import Page, fit, inches_of
from mfplots.palette import of_system, system_name
from mfplots.published import Point, notes as published_notes
from mfplots.recipes import Recipe
from mfplots.series import Panel, View, marks, panel_title
from mfplots.smallprint import small_print
from mfplots.style import Look, log_axis, looks, plain_tick, si_tick, significant, words_size
from mfplots.summary import baseline_label, before_note, status_text, target_of, writes_note

# Words for the foot, and for the caption.
BANDS = {"minmax": ("range", " Band: smallest to largest, from 3 seeds on."), "iqr": ("quartiles", " Band: quartiles, from 3 seeds on."),
         "none": ("", "")}
OPEN_FILLS = ("none", "left", "bottom", "right", "top")
LEVEL_WORDS = 0.9  # inches of words beside a panel
LONG_NUMBERS = 1e5  # from here with the letters of SI


def draw_curves(view: View, recipe: Recipe, x: tuple[str, str], y: tuple[str, str], title: str,
                points: Sequence[Point]) -> Page:
    """`x` and `y`: a column of the trace and its words on an axis."""
    whole = [panel_curves(panel, recipe, x[0], y[0]) for panel in view.panels]
    if not any(whole):
        raise NotDrawable(f"no finished case has a trace with {x[0]} and {y[0]}")
    names, looks_of = names_and_looks(view, recipe, baseline_label(view, recipe.question))
    datasets = {panel.dataset for panel in view.panels}
    metric = row(y[0])  # on a linear axis with a window of its own
    shown = [p for p in points if p.dataset in datasets and not (metric and p.foreign)]
    all_of, view, whole = view, *with_curves(view, whole, shown)
    page = curve_page(view, recipe, title, whole, looks_of, shown, x[1])
    notes = published_notes(points, shown, datasets)
    for axes, panel, curves in zip(page.axes, view.panels, whole):
        near = [p for p in shown if p.dataset == panel.dataset]
        if metric:
            target = target_of(panel, recipe.question)
            target = target if target is not None and target.metric == y[0] else None
            levels = [(p.y, fit(f"{p.label}, {p.y:g}", LEVEL_WORDS, words_size()), of_system(p.system)[0]) for p in near if p.is_line]
            axes.set_ylabel(y[1])
            if curves:
                limits = recipe.y_range or window_of(beside(panel, view, whole), target, [p.y for p in near], metric.less)
                axes.set_ylim(*limits)
                notes.append(_cut_off(panel, curves, limits))
                if target is not None and limits[0] <= target <= limits[1]:
                    levels.append((target, f"target\n{target:g}", "#555555"))
            _draw_levels(axes, levels, page.width / page.columns - 0.6)
        else:
            finish_y(axes, beside(panel, view, whole), near, y[1], recipe)
        _label_curves(axes, curves, names, page.width / page.columns - 0.6, looks_of if recipe.direct else None)
    if y[0] == "updates_per_s":
        notes.append(writes_note(view))
    if x[0] in ("train_s", "train_device_s"):
        notes.append(before_note(view))
    handles = legend(page, all_of, whole, looks_of, names, shown)  # which also says what is left out
    words = small_print(all_of, names, reading(view, recipe), *dict.fromkeys(notes), shown=BANDS[recipe.band][0])
    return page.done(numbers(view.panels, whole, x[0], y[0], shown), words, point_handles(shown) if recipe.direct else handles)


def with_curves(view: View, per_panel: Sequence[Sequence[Curve]], points: Sequence[Point] = ()) -> tuple[View, list[Sequence[Curve]]]:
    """The panels that have any curve, or a published point."""
    kept = [(panel, curves) for panel, curves in zip(view.panels, per_panel) if curves or any(p.dataset == panel.dataset for p in points)]
    return replace(view, panels=[panel for panel, _ in kept]), [curves for _, curves in kept]


def curve_page(view: View, recipe: Recipe, title: str, per_panel: Sequence[Sequence[Curve]], looks_of: Mapping[str, Look],
               points: Sequence[Point] = (), x_label: str = "") -> Page:
    """With all curves and published points; without a label, x is left to the figure."""
    page = Page(recipe.title or f"{view.specs}: {title}", len(view.panels))
    for axes, panel, curves in zip(page.axes, view.panels, per_panel):
        near = [p for p in points if p.dataset == panel.dataset]
        draw_points(axes, near, points)
        for curve in curves:
            draw_line(axes, curve.points, looks_of[curve.series.label], curve.joined, recipe.band != "none")
        axes.set_title(panel_title(panel), loc="left")
        if x_label:
            alike = beside(panel, view, per_panel)
            values = [*(x for curve in alike for x in curve.points["x"]), *(p.x for p in near)]
            scale(axes, "x", x_label, values, wants_log(alike, recipe.x_scale),
                  si_tick if max(values, default=0) > LONG_NUMBERS else plain_tick)
            axes.update_datalim([(max(values, default=0), np.nan)], updatey=False)
    return page


def beside(panel: Panel, view: View, per_panel: Sequence[Sequence[Curve]]) -> list[Curve]:
    """The curves of the panels that differ from this one in the number of devices only: these have the same axes."""
    return [curve for other, curves in zip(view.panels, per_panel) for curve in curves
            if replace(other, devices=0).title == replace(panel, devices=0).title]


def names_and_looks(view: View, recipe: Recipe, baseline: str | None) -> tuple[dict[str, str], dict[str, Look]]:
    """The look of each label. Labels of one short name, which never meet in a panel, look alike."""
    names = names_of(view, recipe)
    first: dict[str, str] = {}
    for label in view.labels:
        first.setdefault(names[label], label)
    stands_for = {label: first[name] for label, name in names.items()}
    found = looks(list(first.values()), baseline and stands_for.get(baseline),
                  [[stands_for[label] for label in own] for own in view.by_panel])
    own = {label: found[one] for label, one in stands_for.items()}
    return names, dict(sorted(own.items(), key=lambda item: item[1].order))


def draw_line(axes: Axes, points: pd.DataFrame, look: Look, joined: bool, band: bool = True) -> None:
    """Its x and y with the band from low to high; whiskers instead if nothing joins them, or if the band has no width."""
    p, every = points, max(len(points) // 8, 1)
    style = {**look.as_line(), "markevery": (look.order % every, every)} if joined else _as_points(look)
    axes.plot(p["x"], p["y"], zorder=3, **style)
    enough = p["seeds"] >= FEWEST
    wide = (p["high"] > p["low"]) & enough
    if not band or not wide.any():
        return
    if joined and enough.sum() > 1:
        axes.fill_between(p["x"].to_numpy(float), p["low"].to_numpy(float), p["high"].to_numpy(float), color=look.colour,
                          alpha=0.18, where=enough.to_numpy(), linewidth=0, zorder=2)
    else:
        axes.vlines(p["x"][wide], p["low"][wide], p["high"][wide], color=look.colour, alpha=0.4, zorder=2)


def draw_points(axes: Axes, points: Sequence[Point], everywhere: Sequence[Point]) -> None:
    """Open markers; a thin dotted line joins those of one published system, and nothing else."""
    style_of = published_styles(everywhere)
    for label in dict.fromkeys(point.label for point in points if not point.is_line):
        own = sorted((p.x, p.y) for p in points if p.label == label)
        axes.plot(*zip(*own), **{**style_of[label], "linestyle": (0, (1, 2)), "linewidth": 0.7, "color": "#888888"}, zorder=5)


def _draw_levels(axes: Axes, levels: Sequence[tuple[float, str, str]], inches: float) -> None:
    """Dashed lines across a panel that is `inches` wide, with their words and colours. The words stand right of it, off the
    curves, one above the other."""
    size, to_axes, top = words_size(), axes.transData + axes.transAxes.inverted(), -np.inf
    for y, words, colour in sorted(levels):
        axes.axhline(y, color=colour, linewidth=0.9, linestyle=(0, (2, 2)), zorder=1)
        high = 1.4 * size / 72 * (words.count("\n") + 1) / (0.6 * inches)
        foot = max(to_axes.transform((1, y))[1] - high / 2, top)
        top = foot + high
        axes.annotate(words, (1, foot + high / 2), xycoords="axes fraction", xytext=(3, 0), textcoords="offset points",
                      va="center", fontsize=size, color="#444444", linespacing=1.0)


def _label_curves(axes: Axes, curves: Sequence[Curve], names: Mapping[str, str], inches: float,
                  direct: Mapping[str, Look] | None = None) -> None:
    """Names the curves that lie over each other in a panel that is `inches` wide, by the words that not all curves have: at the
    end of the first, above or below it, if there is room. With the looks of `direct` each curve, below its end first."""
    to_axes, size = axes.transData + axes.transAxes.inverted(), words_size()
    groups: list[list[tuple[Curve, np.ndarray]]] = []
    for curve in curves:
        path = to_axes.transform(curve.points[["x", "y"]].to_numpy(float)).T
        if (path := path[:, np.isfinite(path).all(axis=0)]).size:  # 0 has no place on a logarithmic axis
            over = next((group for group in groups if not direct and _overlap(group[0][1], path)), None)
            groups.append([(curve, path)]) if over is None else over.append((curve, path))
    taken: list[tuple[float, float, float, float]] = []
    common = set.intersection(*(set(names[curve.series.label].split()) for curve in curves)) if curves else set()
    for group in [group for group in groups if len(group) > 1 or direct]:
        own = [names[curve.series.label] + (_remarks(curve.series.cases) if direct else "") for curve, _ in group]
        words = fit(", ".join(" ".join(word for word in name.split() if word not in common) or name for name in own), inches / 2, size)
        high, wide = (1.4 * size / 72 * (words.count("\n") + 1) / (0.6 * inches),
                      max(inches_of(line, size) for line in words.split("\n")) / inches)
        x, y = group[0][1][:, -1]
        left, right = (0.0, 1.0) if not direct else (x - wide, x) if x + wide / 2 > 1 else (x - wide / 2, x + wide / 2)
        above, below = [*np.arange(y + 0.03, 1 - high, 0.02)], [*np.arange(y - 0.03 - high, 0, -0.02)]
        foot = next((foot for foot in (below + above if direct else above + below) if 0 < foot < 1 - high and all(
            foot > top or foot + high < low or left > end or right < start for start, end, low, top in taken)), None)
        if foot is not None:
            taken.append((left, right, foot, foot + high))
            axes.annotate(words, ((left + right) / 2 if direct else x, foot), xycoords="axes fraction", va="bottom", fontsize=size,
                          ha="center" if direct else "right" if x > 0.5 else "left", zorder=2.5,
                          color=direct[group[0][0].series.label].colour if direct else "#444444",
                          bbox={"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 0.5})


def _overlap(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two paths differ by less than a hundredth of the axes' height at nine tenths of the width that both have."""
    start, end = max(one[0].min(), other[0].min()), min(one[0].max(), other[0].max())
    xs = np.linspace(start, end, 41)
    apart = np.abs(np.interp(xs, *one) - np.interp(xs, *other))
    return end - start > 0.5 * max(np.ptp(one[0]), np.ptp(other[0])) and bool(np.quantile(apart, 0.9) < 0.01)


def published_styles(points: Sequence[Point]) -> dict[str, dict[str, object]]:
    """The marker and colour of each label's system; sizes and machines of one differ in filling. A
    line has its words beside it."""
    seen: Counter[str] = Counter()
    styles: dict[str, dict[str, object]] = {}
    for label, system in dict.fromkeys((point.label, point.system) for point in points if not point.is_line):
        colour, marker = of_system(system)
        fill = OPEN_FILLS[seen[system_name(system)] % len(OPEN_FILLS)]
        seen[system_name(system)] += 1
        styles[label] = {"linestyle": "none", "marker": marker, "markersize": 8, "fillstyle": fill,
                         "markerfacecolor": "#bbbbbb" if fill != "none" else "none",
                         "markerfacecoloralt": "white", "markeredgecolor": colour, "markeredgewidth": 1.1}
    return styles


def point_handles(points: Sequence[Point]) -> list[Line2D]:
    return [Line2D([], [], label=label, **style) for label, style in published_styles(points).items()]


def scale(axes: Axes, which: str, label: str, values: Iterable[float], log: bool, tick: Callable[[float, int], str],
          zero: bool = True) -> None:
    """The axis of x or y: logarithmic around the values, or linear, from zero if `zero`."""
    axis = getattr(axes, f"{which}axis")
    getattr(axes, f"set_{which}label")(label + (", log scale" if log else ""))
    if log:
        positive = [value for value in values if value > 0] or [1.0]
        log_axis(axes, min(positive) / 1.2, max(positive) * 1.2, tick, which)
        return
    if zero:
        getattr(axes, f"set_{which}lim")(0)
    axis.set_major_formatter(FuncFormatter(tick))
    axis.set_major_locator(MaxNLocator(7, steps=[1, 2, 5, 10]))
    axis.set_minor_locator(AutoMinorLocator(2))


def finish_y(axes: Axes, curves: Sequence[Curve], points: Sequence[Point], label: str, recipe: Recipe) -> None:
    """Of times, rates and ratios: from zero, or logarithmic."""
    values = [*(y for curve in curves for end in ("low", "high") for y in curve.points[end]), *(p.y for p in points)]
    scale(axes, "y", label, values, wants_log(curves, recipe.y_scale, "y"), si_tick)
    if recipe.y_range:
        axes.set_ylim(*recipe.y_range)


def _cut_off(panel: Panel, curves: Sequence[Curve], limits: tuple[float, float]) -> str:
    """For the small print."""
    low, high = (pick(float(end) for curve in curves for end in curve.points[side]) for pick, side in ((min, "low"), (max, "high")))
    words = [f"over {significant(limits[1])} (up to {significant(high)})"] if high > limits[1] else []
    words += [f"under {significant(limits[0])} (down to {significant(low)})"] if low < limits[0] else []
    return f"{panel.title}: values {' and '.join(words)} are not shown." if words else ""


def legend(page: Page, view: View, per_panel: Sequence[Sequence[Curve]], looks_of: Mapping[str, Look], names: Mapping[str, str],
           points: Sequence[Point] = ()) -> list[Line2D]:
    """Ours, libraries, and what was published; each name once."""
    curves = {names[curve.series.label]: curve for own in per_panel for curve in own}
    found = {}
    for label, look in looks_of.items():
        name = names[label]
        cases = pd.concat([s.cases for p in view.panels for s in p.series if names[s.label] == name])
        if name not in curves:
            page.leave_out(name + marks(cases), "no value" if (cases["status"] == "completed").all() else status_text(cases))
            continue
        style = look.as_line() if curves[name].joined else _as_points(look)
        words = name + _remarks(cases)
        found[name] = (is_library(label.split()[0]), Line2D([], [], label=words, **style))
    return [*(handle for _, handle in sorted(found.values(), key=lambda one: one[0])), *point_handles(points)]


def _as_points(look: Look) -> dict[str, object]:
    return {**look.as_line(), "linestyle": "none"}


def _remarks(cases: pd.DataFrame) -> str:
    """The marks of its times, and every status but completed: ' † (1 diverged)'."""
    return marks(cases) + ("" if (cases["status"] == "completed").all() else f" ({status_text(cases)})")


def reading(view: View, recipe: Recipe) -> str:
    if all(len(s.cases) == 1 for p in view.panels for s in p.series):
        return ""
    return f"Line: median over seeds by epoch, while more than half of them run.{BANDS[recipe.band][1]}"


def numbers(panels: Sequence[Panel], per_panel: Sequence[Sequence[Curve]], x: str, y: str,
            points: Sequence[Point] = ()) -> pd.DataFrame:
    """The drawn data; published points have neither epoch nor seeds."""
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
