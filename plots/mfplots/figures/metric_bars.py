"""One metric as a bar a configuration, with its ratio to the named baseline."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from mfplots import metrics
from mfplots.bar_page import Bar, bar_page, open_handle, panel_rows, published_rows
from mfplots.errors import NotDrawable
from mfplots.figures import figure
from mfplots.metrics import NO_INTERVAL, Interval, Spread
from mfplots.names import over, names_of
from mfplots.page import Page
from mfplots.published import fits, notes, value_points
from mfplots.recipes import Recipe
from mfplots.series import Panel, Series, View, methods_apart, repeats
from mfplots.smallprint import small_print
from mfplots.style import looks, plain_tick, ratio_text, speed_text
from mfplots.summary import baseline_label, baseline_name, find_baseline, status_text, writes_note
from mfplots.values import METRICS, Metric, axis_label, metric, spread_of, values

RATIO_DIGITS = {"error": 4, "count": 3}  # errors differ little
BASELINE = "baseline"
NO_BREAK = "\N{NO-BREAK SPACE}"
BESIDE = {"answer_to_target": "answer", "time_to_target": "train"}  # in a bar's words


@dataclass(frozen=True)
class Row:
    """`ratio`: this series over the baseline; seeds without a value are left out."""

    panel: Panel
    series: Series
    spread: Spread
    ratio: Interval
    baseline: str
    problem: str  # why the ratio is missing
    misses: str   # seeds that missed the target, which count as infinitely late
    beside: Spread | None  # of the metric that must be shown beside this one
    beside_ratio: Interval


@figure("metric-bars")
def metric_bars(view: View, recipe: Recipe) -> Page:
    found = metric(recipe.y or "s_per_epoch")
    view = methods_apart(view) if found.by_method else view
    rows = [_row(panel, series, found, recipe) for panel in view.panels for series in panel.series]
    if not any(row.spread.n for row in rows):
        raise NotDrawable(f"no finished case has a value of {recipe.y or 's_per_epoch'}")
    names = names_of(view, recipe)
    label = axis_label(found, recipe)
    if recipe.relative:
        label += f", over {over((row.baseline for row in rows), names)}"
    published = value_points(recipe.published)
    looks_of = looks(view.labels, baseline_label(view, recipe.question))
    panels, points = [], []
    for panel in view.panels:
        own = [row for row in rows if row.panel is panel and not (recipe.relative and row.problem == BASELINE)]
        near = [p for p in published if p.dataset == panel.dataset
                and fits(p, found.kind, {s.method for s in panel.series})]
        points += near
        shown = panel_rows(panel, names, [(row.series, _words(row, found, recipe.relative), [
            Bar(row.ratio if recipe.relative else row.spread.whiskers, looks_of[row.series.label])], row.baseline) for row in own], label)
        panels.append(replace(shown, rows=[*shown.rows, *published_rows(near, found.text)]))
    page = bar_page(recipe.title or f"{view.specs}: {label}", panels, plain_tick if recipe.relative else found.tick,
                    origin=1.0 if recipe.relative else None, closeup=recipe.relative or found.kind == "error", most=found.most)
    datasets = {panel.dataset for panel in view.panels}
    return page.done(_numbers(rows, recipe.y or "s_per_epoch"), small_print(
        view, names, _reading(rows, names, found, recipe), *notes(published, points, datasets),
        writes_note(view) if found.by_method else "",
        shown="95 % interval" if recipe.relative else "range"), [open_handle()] if points else [])


def _row(panel: Panel, series: Series, found: Metric, recipe: Recipe) -> Row:
    own = values(series, panel, found, recipe)
    name = baseline_name(panel, recipe.question)
    base = find_baseline(panel, series, name) if name else "no baseline named"
    if isinstance(base, str):
        ratio, label, problem = NO_INTERVAL, "", base
    elif base is series:
        ratio, label, problem = NO_INTERVAL, base.label, BASELINE
    else:
        ratio = _ratio_to(series, base, panel, found, recipe)
        label, problem = base.label, "" if ratio.known else f"{base.label} has no value"
    return Row(panel, series, spread_of(found, own), ratio, label, problem, _misses(own, found),
               *_beside(panel, series, base, found, recipe))


def _beside(panel: Panel, series: Series, base: Series | str, found: Metric,
            recipe: Recipe) -> tuple[Spread | None, Interval]:
    """The metric that is to stand beside this one, and its ratio to the baseline."""
    if not found.beside:
        return None, NO_INTERVAL
    other = METRICS[found.beside]
    spread = spread_of(other, values(series, panel, other, recipe))
    if isinstance(base, str) or base is series:
        return spread, NO_INTERVAL
    return spread, _ratio_to(series, base, panel, other, recipe)


def _misses(numbers: Sequence[float], found: Metric) -> str:
    missed = sum(math.isnan(number) for number in numbers) if found.to_target else 0
    return f"{missed} of {len(numbers)} did not reach" if missed else ""


def _ratio_to(series: Series, base: Series, panel: Panel, found: Metric, recipe: Recipe) -> Interval:
    """Errors seed by seed, since a seed is a split; times and rates by their medians."""
    own, other = (values(s, panel, found, recipe) for s in (series, base))
    if found.kind == "error":
        seeds, rivals = repeats(series.finished), repeats(base.finished)
        if len(set(seeds)) == len(seeds) and len(set(rivals)) == len(rivals):
            of = dict(zip(rivals, other))
            return metrics.median_of_ratios(own, [of.get(seed, math.nan) for seed in seeds])
    if found.to_target:
        return metrics.ratio_of_medians(own, other)
    return metrics.ratio_of_medians(_known(own), _known(other))


def _known(numbers: Sequence[float]) -> list[float]:
    return [number for number in numbers if math.isfinite(number)]


def _words(row: Row, found: Metric, relative: bool) -> list[str]:
    """First the parts that must not be left out: the value, its notes, and failures."""
    failed = (row.series.cases["status"] != "completed").any()
    own = [row.misses, status_text(row.series.cases) if failed else ""]
    times = row.problem if not row.ratio.known else _times(row.ratio, found)
    if not row.spread.n:
        return [", ".join(filter(None, own)) or "no value"]
    if relative:
        return [", ".join(filter(None, [times, *own])), found.text(row.spread.median)]
    if row.beside is not None:
        own = [f"{BESIDE[found.beside]} {METRICS[found.beside].text(row.beside.median)}".replace(" ", NO_BREAK), *own]
    return [", ".join(filter(None, [found.text(row.spread.median).replace(" ", NO_BREAK), *own])), times,
            _times(row.beside_ratio, found) if row.beside_ratio.known else ""]


def _times(ratio: Interval, found: Metric) -> str:
    """Of times the inverse is the speed."""
    if found.kind in RATIO_DIGITS:
        return ratio_text(ratio, RATIO_DIGITS[found.kind])
    return speed_text(ratio.inverse if found.kind == "time" else ratio)


def _reading(rows: Sequence[Row], names: Mapping[str, str], found: Metric, recipe: Recipe) -> str:
    text = "" if recipe.relative else "Median over seeds, whiskers from smallest to largest."
    if found.to_target:
        text += " To the target: at the first evaluated point; seeds that missed it count as infinitely late."
    if found.beside:
        text += " Answer: prepare + transfer + train."
    if not any(row.baseline for row in rows):
        return text
    of = "median of the ratios seed by seed" if found.kind == "error" else "ratio of medians"
    shown = "Whiskers" if recipe.relative else "in brackets"
    return f"{text} Ratios: over {over((row.baseline for row in rows), names)}, {of}, {shown} the {metrics.BRACKETS}.".strip()


def _numbers(rows: Sequence[Row], name: str) -> pd.DataFrame:
    beside = metric(name).beside
    return pd.DataFrame([{
        "dataset": row.panel.title, "look_alike": row.panel.look_alike, "series": row.series.label,
        "seeds": row.spread.n, "statuses": status_text(row.series.cases), name: row.spread.median,
        "low": row.spread.low, "high": row.spread.high, "baseline": row.baseline,
        **({beside: row.beside.median, f"{beside}_ratio": row.beside_ratio.value}
           if row.beside is not None else {}),
        "ratio": row.ratio.value, "ratio_low": row.ratio.low, "ratio_high": row.ratio.high,
        "remark": row.problem} for row in rows])
