"""Differences to the baseline seed by seed: these show effects that the spread over splits hides."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from mfplots.bar_page import Bar, bar_page, panel_rows
from mfplots.errors import NotDrawable, PlotError
from mfplots.figures import figure
from mfplots.metrics import NO_INTERVAL
from mfplots.names import names_of
from mfplots.page import Page
from mfplots.recipes import Recipe
from mfplots.series import Panel, Series, View, repeats
from mfplots.smallprint import small_print
from mfplots.style import looks, plain_tick
from mfplots.summary import baseline_label, baseline_name, find_baseline, main_metric, status_text
from mfplots.values import Metric, axis_label, metric, values


@dataclass(frozen=True)
class Row:
    panel: Panel
    series: Series
    base: str
    seeds: list[int | str]  # with their folds
    differences: list[float]  # of these seeds: this series less its baseline


@figure("paired-differences")
def paired_differences(view: View, recipe: Recipe) -> Page:
    """A dot a seed, a line at their median; the baseline is at zero."""
    recipe = replace(recipe, y=recipe.y or f"headline_{main_metric(view)}")
    found = metric(recipe.y)
    rows = [row for panel in view.panels for series in panel.series
            if (row := _row(panel, series, found, recipe)) is not None]
    if not any(row.differences for row in rows):
        raise NotDrawable("no configuration shares a seed with its baseline")
    label = axis_label(found, recipe)
    names = names_of(view, recipe)
    looks_of = looks(view.labels, baseline_label(view, recipe.question))
    panels = []
    for panel in view.panels:
        if own := [row for row in rows if row.panel is panel]:
            bars = [Bar(NO_INTERVAL, looks_of[row.series.label], dots=row.differences) for row in own]
            panels.append(panel_rows(panel, names, [(row.series, _words(row, names), [bar]) for row, bar in zip(own, bars)],
                                     f"{label}, less the baseline's"))
    page = bar_page(recipe.title or f"{label}: differences by seed", panels, plain_tick, origin=0.0, closeup=True)
    return page.done(_numbers(rows, recipe.y), small_print(
        view, names, "A dot a seed: its value less that of the baseline with the same seed, and so the same split; line: their "
        "median. Zero: the baseline.", shown=""))


def _row(panel: Panel, series: Series, found: Metric, recipe: Recipe) -> Row | None:
    """None for a baseline."""
    name = baseline_name(panel, recipe.question)
    base = find_baseline(panel, series, name) if name else "no baseline named"
    if isinstance(base, str):
        raise NotDrawable(f"{series.label}: {base}")
    if base is series:
        return None
    own, other = _by_seed(series, panel, found, recipe), _by_seed(base, panel, found, recipe)
    seeds = [seed for seed in own if math.isfinite(own[seed] - other.get(seed, math.nan))]
    return Row(panel, series, base.label, seeds, [own[seed] - other[seed] for seed in seeds])


def _by_seed(series: Series, panel: Panel, found: Metric, recipe: Recipe) -> dict[int | str, float]:
    seeds = repeats(series.finished)
    if len(set(seeds)) < len(seeds):
        raise PlotError(f"{series.label}: two cases of one seed; narrow the results or the filter")
    return dict(zip(seeds, values(series, panel, found, recipe)))


def _words(row: Row, names: Mapping[str, str]) -> list[str]:
    base = names[row.base]
    if not row.differences:
        return [f"no seed in common with {base}" if len(row.series.finished) else status_text(row.series.rows)]
    return [f"{np.median(row.differences):+.4f}", f"n = {len(row.seeds)}", f"against {base}"]


def _numbers(rows: list[Row], name: str) -> pd.DataFrame:
    return pd.DataFrame([
        {"dataset": row.panel.title, "look_alike": row.panel.look_alike,
         "series": row.series.label, "baseline": row.base, "seed": seed, f"{name}_less": value}
        for row in rows for seed, value in zip(row.seeds, row.differences)])
