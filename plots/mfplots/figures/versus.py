"""The same spec on two machines: time of the second over time of the first, along the epochs."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from mfplots.curve_page import BANDS, curve_page, finish_y, legend, names_and_looks, numbers, reading, with_curves
from mfplots.curves import Curve, aggregate
from mfplots.errors import NotDrawable, PlotError
from mfplots.figures import figure
from mfplots.figures.trace import X, quantity
from mfplots.page import Page
from mfplots.published import notes, points_of
from mfplots.recipes import Recipe
from mfplots.series import Panel, View, canonical
from mfplots.smallprint import provenance, small_print
from mfplots.summary import CLOCK_NAMES
from mfplots.traces import Trace

MATCHED_BY = ("algorithm", "params", "schedule", "init", "dataset", "split", "content_hash", "seed")


@figure("speedup-trace")
def speedup_trace(view: View, recipe: Recipe) -> Page:
    if view.versus is None:
        raise NotDrawable("it compares two result folders of one spec; name the second with --versus DIR")
    x = quantity("x", recipe.x or "iterations", X)
    ours, theirs = machine_name(view.cases), machine_name(view.versus.cases)
    rivals = _by_key(view.versus)
    per_panel = [_curves(panel, rivals, recipe, x[0]) for panel in view.panels]
    if not any(per_panel):
        raise PlotError(f"no case of {ours} has a partner on {theirs}: equal {', '.join(MATCHED_BY)}, finished, with a clock "
                        "above 0; run the same spec on both")
    names, looks_of = names_and_looks(view, recipe, None)
    datasets = {panel.dataset for panel in view.panels}
    points = points_of(recipe.published)
    shown = [p for p in points if p.dataset in datasets]
    all_of, view, per_panel = view, *with_curves(view, per_panel, shown)
    page = curve_page(view, recipe, f"{ours} over {theirs}", per_panel, looks_of, shown, x[1])
    for axes, panel, curves in zip(page.axes, view.panels, per_panel):
        finish_y(axes, curves, [p for p in shown if p.dataset == panel.dataset], "times as fast", recipe)
        axes.axhline(1, color="#555555", linewidth=0.9, linestyle=(0, (2, 2)), zorder=0.5)
    table = numbers(view.panels, per_panel, x[0], "speedup", shown)
    table.insert(0, "over", theirs)
    table.insert(0, "of", ours)
    return page.done(table, [
        *small_print(all_of, names, f"{CLOCK_NAMES[recipe.clock].capitalize()} on {theirs} over that on {ours} at equal epochs, by seed. "
                     f"{reading(view, recipe)}", _matched_note(all_of, view.versus, rivals), *notes(points, shown, datasets), shown=BANDS[recipe.band][0]),
        f"{theirs}:", *provenance(view.versus)], legend(page, all_of, per_panel, looks_of, names, shown))


def machine_name(cases: pd.DataFrame) -> str:
    """GPU (or CPU, if no case used one) and host; several machines joined by +."""
    names = []
    for _, row in cases.iterrows():
        on_gpu = row["hardware"] == "cuda" and isinstance(row["gpu"], str)
        names.append(f"{row['gpu'] if on_gpu else row['cpu']} ({row['host'] or 'unknown host'})")
    return " + ".join(dict.fromkeys(names))


def _key(row: pd.Series) -> str:
    return canonical([row[name] if isinstance(row[name], (str, dict)) else
                      None if pd.isna(row[name]) else float(row[name]) for name in MATCHED_BY])


def _by_key(view: View) -> dict[str, Trace]:
    found: dict[str, Trace] = {}
    for panel in view.panels:
        for series in panel.series:
            for index, row in series.finished.cases.iterrows():
                if len(series.traces[index]):
                    found.setdefault(_key(row), series.traces[index])
    return found


def _curves(panel: Panel, rivals: Mapping[str, Trace], recipe: Recipe, x: str) -> list[Curve]:
    curves = []
    for series in panel.series:
        pairs = [(series.traces[index], rivals[_key(row)])
                 for index, row in series.finished.cases.iterrows() if _key(row) in rivals]
        ratios = [_ratio(ours, theirs, recipe.clock) for ours, theirs in pairs]
        points = aggregate(ratios, x, recipe.band, "speedup")
        if len(points):
            curves.append(Curve(series, points))
    return curves


def _ratio(ours: Trace, theirs: Trace, clock: str) -> pd.DataFrame:
    """Epochs that both evaluated; the clock of epoch 0 is zero on both sides."""
    both = ours.frame().merge(theirs.frame()[["epoch", clock]], on="epoch", suffixes=("", "_theirs"))
    both = both[(both["epoch"] > 0) & (both[clock] > 0)]
    return both.assign(speedup=both[f"{clock}_theirs"] / both[clock])


def _matched_note(view: View, versus: View, rivals: Mapping[str, Trace]) -> str:
    keys = {_key(row) for _, row in view.cases.iterrows()}
    return (f"{len(keys & rivals.keys())} of {len(view.cases)} and {len(versus.cases)} cases have "
            f"a partner with a trace: equal {', '.join(MATCHED_BY)}.")
