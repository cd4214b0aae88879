"""Test RMSE against time, wall time or passes: a panel a data set, a curve a series."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import AutoMinorLocator, MaxNLocator

from mfplots.curves import Curve, panel_curves, rmse_window, wants_log
from mfplots.errors import NotDrawable
from mfplots.figures import Drawing, figure
from mfplots.published import Point, curve_points
from mfplots.recipes import Recipe
from mfplots.series import Panel, Series, View, panel_title
from mfplots.sheet import Sheet
from mfplots.smallprint import provenance
from mfplots.style import PUBLISHED_MARKERS, Look, log_axis, looks, plain_tick, significant
from mfplots.summary import CLOCK_NAMES, baseline_label, status_text, target_of

BANDS = {"minmax": "smallest to largest", "iqr": "quartiles", "none": ""}


@figure("rmse-time")
def rmse_time(view: View, recipe: Recipe) -> Drawing:
    name = CLOCK_NAMES[recipe.clock]
    return _draw(view, recipe, recipe.clock, f"{name} (s)", f"test RMSE against {name}")


@figure("rmse-wall")
def rmse_wall(view: View, recipe: Recipe) -> Drawing:
    return _draw(view, recipe, "wall_s", "wall time from the start of the case (s)",
                 "test RMSE against wall time")


@figure("rmse-passes")
def rmse_passes(view: View, recipe: Recipe) -> Drawing:
    return _draw(view, recipe, "passes", "passes (updates / training ratings)",
                 "test RMSE against passes")


@figure("rmse-epochs")
def rmse_epochs(view: View, recipe: Recipe) -> Drawing:
    return _draw(view, recipe, "epoch", "epochs (what the algorithm calls an iteration)",
                 "test RMSE against epochs")


def _draw(view: View, recipe: Recipe, x: str, x_label: str, title: str) -> Drawing:
    per_panel = [panel_curves(panel, recipe, x) for panel in view.panels]
    if not any(per_panel):
        raise NotDrawable(f"no finished case has a trace with {x}")
    looks_of = looks(view.labels, baseline_label(view, recipe.question))
    points = curve_points(recipe.published)
    sheet = _sheet(len(view.panels), recipe, title, view)
    notes = []
    for axes, panel, curves in zip(sheet.axes, view.panels, per_panel):
        target = target_of(panel, recipe.question)
        _draw_panel(axes, panel, curves, looks_of, recipe)
        _draw_points(axes, [p for p in points if p.dataset == panel.dataset], points)
        _finish_axes(axes, panel, curves, x_label, wants_log(curves, recipe.x_scale))
        notes.append(_set_window(axes, panel, curves, target, recipe))
    sheet.legend(_legend(view, per_panel, looks_of, points, recipe))
    sheet.small_print([_reading(recipe), *notes, *provenance(view)])
    return Drawing(sheet, _numbers(view.panels, per_panel, x))


def _sheet(n: int, recipe: Recipe, title: str, view: View) -> Sheet:
    columns = recipe.columns or (2 if n in (2, 4) else min(n, 3))
    width, height = (6.2, 3.8) if n == 1 else (4.4, 3.2)
    specs = ", ".join(dict.fromkeys(view.cases["spec_name"].dropna()))
    return Sheet(recipe.title or f"{specs}: {title}", [height] * n, columns, width)


def _draw_panel(axes: Axes, panel: Panel, curves: Sequence[Curve], looks_of: dict[str, Look],
                recipe: Recipe) -> None:
    for curve in curves:
        look, p = looks_of[curve.series.label], curve.points
        every = max(len(p) // 8, 1)
        axes.plot(p["x"], p["y"], markevery=(look.order % every, every), zorder=3,
                  **look.as_line())
        if recipe.band != "none" and (p["high"] > p["low"]).any():
            axes.fill_between(p["x"].to_numpy(float), p["low"].to_numpy(float),
                              p["high"].to_numpy(float), color=look.colour, alpha=0.18,
                              linewidth=0, zorder=2)
    if not curves:
        axes.text(0.5, 0.5, "no case with a trace", transform=axes.transAxes, ha="center")


def _draw_points(axes: Axes, points: Sequence[Point], everywhere: Sequence[Point]) -> None:
    marker_of = _published_markers(everywhere)
    for point in points:
        axes.plot([point.x], [point.y], **_open_marker(marker_of[point.label]), zorder=5)


def _published_markers(points: Sequence[Point]) -> dict[str, str]:
    labels = dict.fromkeys(point.label for point in points)
    return {label: PUBLISHED_MARKERS[i % len(PUBLISHED_MARKERS)] for i, label in enumerate(labels)}


def _open_marker(marker: str) -> dict[str, object]:
    return {"linestyle": "none", "marker": marker, "markersize": 8, "markerfacecolor": "none",
            "markeredgecolor": "#333333", "markeredgewidth": 1.1}


def _finish_axes(axes: Axes, panel: Panel, curves: Sequence[Curve], x_label: str,
                 log: bool) -> None:
    axes.set_title(panel_title(panel), loc="left")
    axes.set_ylabel("test RMSE (rating units)")
    axes.set_xlabel(x_label + (", log scale" if log else ""))
    if log:
        positive = pd.concat([curve.points["x"] for curve in curves]).loc[lambda x: x > 0]
        log_axis(axes, positive.min() / 1.3, positive.max() * 1.3, plain_tick)
    else:
        axes.set_xlim(left=0)
        axes.xaxis.set_major_locator(MaxNLocator(7, steps=[1, 2, 5, 10]))
        axes.xaxis.set_minor_locator(AutoMinorLocator(2))


def _set_window(axes: Axes, panel: Panel, curves: Sequence[Curve], target: float | None,
                recipe: Recipe) -> str:
    """Limits of y and the line at the target; returns what is cut off, for the small print."""
    if not curves:
        return ""
    low, high = recipe.y_range or rmse_window(curves, target)
    axes.set_ylim(low, high)
    if target is not None and low <= target <= high:
        axes.axhline(target, color="#555555", linewidth=0.9, linestyle=(0, (2, 2)), zorder=1)
        axes.annotate(f"target {target:g}", (1, target), xycoords=("axes fraction", "data"),
                      xytext=(0, 2), textcoords="offset points", ha="right", va="bottom",
                      fontsize=7.5, color="#444444")
    top = max(float(curve.points["high"].max()) for curve in curves)
    return f"{panel.title}: RMSE over {significant(high)} is not shown (up to " \
           f"{significant(top)})." if top > high else ""


def _legend(view: View, per_panel: Sequence[Sequence[Curve]], looks_of: dict[str, Look],
            points: Sequence[Point], recipe: Recipe) -> list[Line2D | Patch]:
    drawn = {curve.series.label for curves in per_panel for curve in curves}
    handles: list[Line2D | Patch] = []
    for label, look in looks_of.items():
        text = label + _remarks([s for p in view.panels for s in p.series if s.label == label])
        if label in drawn:
            handles.append(Line2D([], [], label=text, **look.as_line()))
        else:
            handles.append(Line2D([], [], linestyle="none", marker="x", color="#777777",
                                  label=f"{text}, not drawn"))
    for label, marker in _published_markers(points).items():
        handles.append(Line2D([], [], label=label, **_open_marker(marker)))
    return handles


def _remarks(series: Sequence[Series]) -> str:
    """Every status but completed, counted over the panels: ' (1 diverged)'."""
    cases = pd.concat([s.cases for s in series])
    if (cases["status"] == "completed").all():
        return ""
    return f" ({status_text(cases)})"


def _reading(recipe: Recipe) -> str:
    band = BANDS[recipe.band]
    return "Line: median over seeds by epoch, while more than half of them run." + \
        (f" Band: {band}." if band else "")


def _numbers(panels: Sequence[Panel], per_panel: Sequence[Sequence[Curve]],
             x: str) -> pd.DataFrame:
    parts = []
    for panel, curves in zip(panels, per_panel):
        for curve in curves:
            part = curve.points.drop(columns="epoch" if x == "epoch" else [])
            part = part.rename(columns={"x": x, "y": "test_rmse", "low": "band_low",
                                        "high": "band_high"})
            part.insert(0, "dataset", panel_title(panel))
            part.insert(1, "series", curve.series.label)
            parts.append(part)
    return pd.concat(parts, ignore_index=True)
