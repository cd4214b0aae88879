"""Test or train RMSE by groups of user ids: whether a schedule favours some users."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from mfplots.curve_page import BANDS, curve_sheet, draw_panel, legend
from mfplots.curves import QUARTILES, Curve
from mfplots.errors import NotDrawable, PlotError
from mfplots.figures import Drawing, figure
from mfplots.recipes import Recipe
from mfplots.series import Panel, Series, View, panel_title
from mfplots.smallprint import provenance, sample
from mfplots.style import looks, plain_tick
from mfplots.summary import baseline_label


@figure("user-groups")
def user_groups(view: View, recipe: Recipe) -> Drawing:
    per_panel = [_curves(panel, recipe) for panel in view.panels]
    if not any(per_panel):
        raise NotDrawable(f"no finished case has {recipe.part} errors by user group; the spec asks "
                          'for them with "evaluate": {"user_groups": 10}')
    looks_of = looks(view.labels, baseline_label(view, recipe.question))
    sheet = curve_sheet(len(view.panels), recipe, f"{recipe.part} RMSE by user id", view)
    for axes, panel, curves in zip(sheet.axes, view.panels, per_panel):
        draw_panel(axes, curves, looks_of, recipe)
        axes.set_title(panel_title(panel), loc="left")
        _finish(axes, curves, recipe)
    sheet.legend(legend(view, per_panel, looks_of, []))
    band = BANDS[recipe.band]
    sheet.small_print([
        f"{sample(view)}. Group 1: the lowest user ids. Line: median over seeds."
        + (f" Band: {band}." if band else "")
        + (" Over: the RMSE of all users of the same case." if recipe.relative else ""),
        *provenance(view)])
    return Drawing(sheet, _numbers(view, per_panel, recipe))


def _curves(panel: Panel, recipe: Recipe) -> list[Curve]:
    curves = [Curve(series, _points(series, recipe)) for series in panel.series]
    return [curve for curve in curves if len(curve.points)]


def _points(series: Series, recipe: Recipe) -> pd.DataFrame:
    """Columns x (group from 1), y, low, high, seeds, first_user, last_user."""
    parts = [_of_case(row["user_groups"], recipe, str(row["file"]))
             for _, row in series.finished.iterrows() if isinstance(row["user_groups"], list)]
    parts = [part for part in parts if len(part)]
    if not parts:
        return pd.DataFrame(columns=["x", "y"])
    groups = pd.concat(parts).groupby("x")
    points = pd.DataFrame({"y": groups["y"].median(), "low": groups["y"].min(),
                           "high": groups["y"].max(), "seeds": groups["y"].size(),
                           "first_user": groups["first_user"].first(),
                           "last_user": groups["last_user"].first()})
    if recipe.band == "iqr":
        points["low"], points["high"] = (groups["y"].quantile(q) for q in QUARTILES)
    return points.reset_index()


def _of_case(groups: list[Mapping], recipe: Recipe, file: str) -> pd.DataFrame:
    """Groups without a rating in this part have no RMSE and are left out."""
    wanted = ("first_user", "last_user", f"{recipe.part}_rmse", f"{recipe.part}_count")
    for group in groups:
        absent = [key for key in wanted if key not in group]
        if absent:
            raise PlotError(f"{file}: user_groups: no {', '.join(absent)}")
    error = np.array([g[wanted[2]] if g[wanted[2]] is not None else math.nan for g in groups],
                     float)
    count = np.array([g[wanted[3]] or 0 for g in groups], float)
    known = np.isfinite(error) & (count > 0)
    if not known.any():
        return pd.DataFrame()
    overall = math.sqrt(np.average(error[known] ** 2, weights=count[known]))
    y = 100 * (error / overall - 1) if recipe.relative else error
    table = pd.DataFrame({"x": np.arange(1, len(groups) + 1), "y": y,
                          "first_user": [g["first_user"] for g in groups],
                          "last_user": [g["last_user"] for g in groups]})
    return table[known]


def _finish(axes: Axes, curves: list[Curve], recipe: Recipe) -> None:
    axes.set_xlabel("group of user ids, lowest first")
    axes.xaxis.set_major_locator(MaxNLocator(12, integer=True))
    if recipe.relative:
        axes.set_ylabel(f"{recipe.part} RMSE over that of all users (%)")
        axes.yaxis.set_major_formatter(
            FuncFormatter(lambda value, _: f"{value:+g}" if value else "0"))
        axes.axhline(0, color="#555555", linewidth=0.9, linestyle=(0, (2, 2)), zorder=0.5)
    else:
        axes.set_ylabel(f"{recipe.part} RMSE (rating units)")
        axes.yaxis.set_major_formatter(FuncFormatter(plain_tick))
    if recipe.y_range and curves:
        axes.set_ylim(*recipe.y_range)


def _numbers(view: View, per_panel: list[list[Curve]], recipe: Recipe) -> pd.DataFrame:
    value = f"{recipe.part}_rmse" + ("_over_all_percent" if recipe.relative else "")
    parts = []
    for panel, curves in zip(view.panels, per_panel):
        for curve in curves:
            part = curve.points.rename(columns={"x": "group", "y": value, "low": "band_low",
                                                "high": "band_high"})
            part.insert(0, "dataset", panel_title(panel))
            part.insert(1, "series", curve.series.label)
            parts.append(part)
    return pd.concat(parts, ignore_index=True)
