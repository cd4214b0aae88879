"""Test or train RMSE by groups of user ids: whether a schedule favours some users."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.ticker import FuncFormatter, MaxNLocator

from mfplots.curve_page import BANDS, curve_page, legend, names_and_looks, numbers, with_curves
from mfplots.curves import Curve, aggregate
from mfplots.errors import NotDrawable, PlotError
from mfplots.figures import figure
from mfplots.page import Page
from mfplots.recipes import Recipe
from mfplots.series import Panel, Series, View
from mfplots.smallprint import small_print
from mfplots.summary import baseline_label

USERS = ["first_user", "last_user"]


@figure("user-groups")
def user_groups(view: View, recipe: Recipe) -> Page:
    per_panel = [_curves(panel, recipe) for panel in view.panels]
    if not any(per_panel):
        raise NotDrawable(f"no finished case has {recipe.part} errors by user group; the spec asks "
                          'for them with "evaluate": {"user_groups": 10}')
    names, looks_of = names_and_looks(view, recipe, baseline_label(view, recipe.question))
    all_of, view, per_panel = view, *with_curves(view, per_panel)
    page = curve_page(view, recipe, f"{recipe.part} RMSE by user id", per_panel, looks_of)
    for axes in page.axes:
        axes.set_xlabel("group of user ids, lowest first")
        axes.xaxis.set_major_locator(MaxNLocator(12, integer=True))
        axes.set_ylabel(f"{recipe.part} RMSE over that of all users (%)")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:+g}" if value else "0"))
        axes.axhline(0, color="#555555", linewidth=0.9, linestyle=(0, (2, 2)), zorder=0.5)
    return page.done(
        numbers(view.panels, per_panel, "group", f"{recipe.part}_rmse_over_all_percent"),
        small_print(all_of, names, f"Group 1: the lowest user ids. Line: median over seeds.{BANDS[recipe.band][1]} Over: the RMSE of "
                    "all users of the same case.", shown=BANDS[recipe.band][0]), legend(page, all_of, per_panel, looks_of, names))


def _curves(panel: Panel, recipe: Recipe) -> list[Curve]:
    curves = [Curve(series, _points(series, recipe)) for series in panel.series]
    return [curve for curve in curves if len(curve.points)]


def _points(series: Series, recipe: Recipe) -> pd.DataFrame:
    parts = [_of_case(row["user_groups"], recipe.part, str(row["file"]))
             for _, row in series.finished.cases.iterrows() if isinstance(row["user_groups"], list)]
    points = aggregate(parts, "epoch", recipe.band, "error")
    return points.join(parts[0].set_index("epoch")[USERS], on="epoch").drop(columns="epoch") if parts else points


def _of_case(groups: list[Mapping], part: str, file: str) -> pd.DataFrame:
    """A row a group as a trace has one an epoch; NaN if a group has no rating in this part."""
    wanted = (*USERS, f"{part}_rmse", f"{part}_count")
    for group in groups:
        if absent := [key for key in wanted if key not in group]:
            raise PlotError(f"{file}: user_groups: no {', '.join(absent)}")
    table = pd.DataFrame(groups, columns=wanted, index=range(1, len(groups) + 1)).rename_axis("epoch").reset_index()
    error, count = (table[key].astype(float) for key in wanted[2:])
    known = error.notna() & (count > 0)
    overall = math.sqrt(np.average(error[known] ** 2, weights=count[known])) if known.any() else math.nan
    return table.assign(error=(100 * (error / overall - 1)).where(known))
