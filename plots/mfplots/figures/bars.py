"""Bars with intervals: speed-up over the baseline, and throughput."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.patches import Patch

from mfplots import metrics
from mfplots.bar_page import Bar, bar_page, panel_rows
from mfplots.errors import NotDrawable
from mfplots.figures import figure
from mfplots.metrics import Interval, Target
from mfplots.names import over, names_of
from mfplots.page import Page
from mfplots.palette import BLACK
from mfplots.recipes import Recipe
from mfplots.series import View, methods_apart
from mfplots.smallprint import small_print
from mfplots.style import Look, looks, plain_tick, si, si_tick, speed_text
from mfplots.summary import CLOCK_NAMES, Row, baseline_label, clock_words, contended_words, summarise, writes_words

UPDATE_LOOK = Look("#777777", "-", "o", 1)  # of the time of an update: grey for every series


@figure("speedup")
def speedup(view: View, recipe: Recipe) -> Page:
    rows = summarise(view, recipe.question)
    if all(row.baseline is None for row in rows):
        raise NotDrawable(f"{rows[0].baseline_problem}; name one with --baseline")
    looks_of = looks(view.labels, baseline_label(view, recipe.question))
    names = names_of(view, recipe)
    panels = []
    for panel in view.panels:
        own = [row for row in rows if row.panel is panel]
        panels.append(panel_rows(panel, names, [(row.series, _speedup_words(row), _speedup_bars(row, looks_of), row.baseline or "")
                                                for row in own],
                                 f"times as fast as {over((row.baseline for row in own), names)}"))
    page = bar_page(recipe.title or f"{view.specs}: times as fast as the baseline", panels, plain_tick, origin=1.0, most=True)
    return page.done(speedup_numbers(rows), small_print(
        view, names, f"Medians over seeds on the {CLOCK_NAMES[recipe.clock]}; seeds that did not reach the "
        f"target count as infinitely late. Whiskers: {metrics.BRACKETS}.", shown="95 % interval"), _speedup_legend(rows, recipe.clock))


@figure("throughput")
def throughput(view: View, recipe: Recipe) -> Page:
    view = methods_apart(view)
    rows = summarise(view, recipe.question)
    if not any(row.throughput.n for row in rows):
        raise NotDrawable("no finished case did any update")
    looks_of = looks(view.labels, baseline_label(view, recipe.question))
    names = names_of(view, recipe)
    panels = [panel_rows(panel, names, [(row.series, _throughput_words(row), [Bar(row.throughput.whiskers, looks_of[row.series.label])])
                                        for row in rows if row.panel is panel],
                         f"rating updates per second of {CLOCK_NAMES[recipe.clock]}") for panel in view.panels]
    page = bar_page(recipe.title or f"{view.specs}: throughput", panels, si_tick, most=True)
    return page.done(throughput_numbers(rows), small_print(
        view, names, f"Median over seeds, whiskers from smallest to largest: updates / {recipe.clock}. Bytes "
        "and operations are those the algorithm declares as compulsory."))


def _speedup_bars(row: Row, looks_of: Mapping[str, Look]) -> list[Bar]:
    """To the target, to the answer, and of an update; without a target the last only."""
    look = looks_of[row.series.label]
    if row.target is None:
        return [Bar(row.per_update, UPDATE_LOOK, light=True)]
    return [Bar(row.equal_quality, look, shift=-0.27, height=0.25), Bar(row.answer_quality, look, light=True, height=0.25),
            *([Bar(row.per_update, UPDATE_LOOK, light=True, shift=0.27, height=0.25)] if row.per_update.known else [])]


def _speedup_words(row: Row) -> list[str]:
    if row.is_baseline:
        return ["baseline"]
    first, answer, update = (speed_text(Interval(ratio.value, math.nan, math.nan)) for ratio in (row.equal_quality, row.answer_quality, row.per_update))
    unit = " " + first.partition(" ")[2]  # said once if all are as fast, or as slow
    answer = f"answer {answer.removesuffix(unit)}" if row.answer_quality.known else ""
    update = f"update {update.removesuffix(unit)}" if row.per_update.known else ""
    if row.target is None:
        return [update or row.per_update_problem or row.baseline_problem or row.statuses]
    missed = f"{row.not_reached} of {row.n} seeds did not reach" if row.not_reached and not row.problem else ""
    return [", ".join(filter(None, [row.problem or first, missed])), answer, update]


def _throughput_words(row: Row) -> list[str]:
    spread = row.throughput
    if not spread.n:
        return [row.statuses]
    declared = [si(rate.median, unit) for rate, unit in ((row.bytes_rate, "B/s"), (row.flops_rate, "FLOP/s")) if rate.n]
    return [", ".join(filter(None, [si(spread.median, "/s"), writes_words(row.writes_made)])), clock_words(row),
            contended_words(row), *declared]


def _speedup_legend(rows: Sequence[Row], clock: str) -> list[Patch]:
    handles: list[Patch] = []
    if any(row.equal_quality.known for row in rows):
        targets = ", ".join(_target_words([row.target for row in rows if row.target is not None]))
        handles += [Patch(facecolor=BLACK, edgecolor=BLACK, label=f"full: {CLOCK_NAMES[clock]} to {targets}"),
                    Patch(facecolor="#b3b3b3", edgecolor=BLACK, label="light: answer, with prepare and transfer")]
    if any(row.per_update.known for row in rows):
        handles.append(Patch(facecolor="#d6d6d6", edgecolor="#777777", label="grey: time of one rating update"))
    return handles


def speedup_numbers(rows: Sequence[Row]) -> pd.DataFrame:
    return pd.DataFrame([{
        **_common(row), "baseline": row.baseline, **_target_columns(row.target),
        "not_reached": row.not_reached, "median_time_to_target_s": row.median_time,
        "median_answer_to_target_s": row.median_answer,
        "speedup_at_target": row.equal_quality.value, "speedup_low": row.equal_quality.low,
        "speedup_high": row.equal_quality.high, "answer_speedup": row.answer_quality.value,
        "answer_low": row.answer_quality.low, "answer_high": row.answer_quality.high,
        "speedup_per_update": row.per_update.value,
        "per_update_low": row.per_update.low, "per_update_high": row.per_update.high,
        "remark": row.problem or row.baseline_problem or row.per_update_problem} for row in rows])


def _target_words(targets: Sequence[Target]) -> list[str]:
    """'test RMSE 0.9, 0.95', each metric once."""
    words = []
    for metric in dict.fromkeys(target.metric for target in targets):
        values = sorted({float(t) for t in targets if t.metric == metric})
        words.append(f"{metrics.row(metric).title} {', '.join(f'{v:g}' for v in values)}")
    return words


def _target_columns(target: Target | None) -> dict[str, object]:
    if target is None or target.metric == "test_rmse":
        return {"target_rmse": target}
    return {"target_metric": target.metric, "target": float(target)}


def throughput_numbers(rows: Sequence[Row]) -> pd.DataFrame:
    return pd.DataFrame([{
        **_common(row), "method": row.series.method, "updates_per_s": row.throughput.median,
        "writes_made": row.writes_made.median, "low": row.throughput.low,
        "high": row.throughput.high, "declared_bytes_per_s": row.bytes_rate.median,
        "declared_flops_per_s": row.flops_rate.median} for row in rows])


def _common(row: Row) -> dict[str, object]:
    return {"dataset": row.panel.title, "look_alike": row.panel.look_alike,
            "series": row.series.label, "seeds": row.n, "statuses": row.statuses}
