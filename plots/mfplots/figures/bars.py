"""Bars with intervals: speed-up over the baseline, and throughput."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from mfplots import metrics
from mfplots.bar_page import Bar, draw_bars, open_handle, published_marks, sheet_of
from mfplots.errors import NotDrawable
from mfplots.figures import Drawing, figure
from mfplots.metrics import Interval, Target
from mfplots.palette import BLACK
from mfplots.published import Point, fits, speedup_points, throughput_points
from mfplots.recipes import Recipe
from mfplots.series import View, gpus, methods_apart, panel_title
from mfplots.smallprint import provenance, sample
from mfplots.style import Look, looks, plain_tick, ratio_text, si, si_tick
from mfplots.summary import (ANSWER, CLOCK_NAMES, Row, baseline_label, clock_words,
                             contended_words, summarise, writes_words)


UPDATE_LOOK = Look("#777777", "-", "o", 1)  # of the time of an update: grey for every series


@figure("speedup")
def speedup(view: View, recipe: Recipe) -> Drawing:
    rows = summarise(view, recipe.question)
    if all(row.baseline is None for row in rows):
        raise NotDrawable(f"{rows[0].baseline_problem}; name one with --baseline")
    looks_of = looks(view.labels, baseline_label(view, recipe.question))
    points = speedup_points(recipe.published)
    pitch = 0.78 if any(row.target is not None for row in rows) else 0.42
    sheet = sheet_of(view, recipe, points, "speed-up over the baseline", pitch)
    for axes, panel in zip(sheet.axes, view.panels):
        own = [row for row in rows if row.panel is panel]
        bars = [bar for y, row in enumerate(own) for bar in _speedup_bars(y, row, looks_of)]
        marks = published_marks(points, panel, len(own), lambda value: f"{value:g}×")
        labels = [row.series.marked for row in own]
        draw_bars(axes, panel_title(panel), labels, bars, marks, 1.0, plain_tick)
        _finish_speedup(axes, own)
    sheet.legend(_speedup_legend(rows, points, recipe.clock))
    sheet.small_print([
        f"{sample(view)}. "
        f"Medians over seeds on the {CLOCK_NAMES[recipe.clock]}; seeds that did not reach the "
        f"target count as infinitely late. Brackets: {metrics.BRACKETS}.", *provenance(view)])
    return Drawing(sheet, speedup_numbers(rows))


@figure("throughput")
def throughput(view: View, recipe: Recipe) -> Drawing:
    view = methods_apart(view)
    rows = summarise(view, recipe.question)
    if not any(row.throughput.n for row in rows):
        raise NotDrawable("no finished case did any update")
    looks_of = looks(view.labels, baseline_label(view, recipe.question))
    of_panel = [[p for p in throughput_points(recipe.published) if p.dataset == panel.dataset
                 and fits(p, "rate", {s.method for s in panel.series})] for panel in view.panels]
    points = [p for own in of_panel for p in own]
    sheet = sheet_of(view, recipe, points, "throughput", 0.42)
    for axes, panel, near in zip(sheet.axes, view.panels, of_panel):
        own = [row for row in rows if row.panel is panel]
        bars = [_throughput_bar(y, row, looks_of, recipe) for y, row in enumerate(own)]
        marks = published_marks(near, panel, len(own), lambda value: si(value, "/s"))
        labels = [row.series.marked for row in own]
        draw_bars(axes, panel_title(panel), labels, bars, marks, None, si_tick)
        axes.set_xlabel(f"rating updates per second of {CLOCK_NAMES[recipe.clock or 'train_s']}"
                        + (", log scale" if axes.get_xscale() == "log" else ""))
    sheet.legend([open_handle()] if points else [])
    sheet.small_print([
        f"{sample(view)}. "
        f"Median over seeds, whiskers from smallest to largest: updates / {recipe.clock}. Bytes "
        "and operations are those the algorithm declares as compulsory.", *provenance(view)])
    return Drawing(sheet, throughput_numbers(rows))


def _speedup_bars(y: int, row: Row, looks_of: Mapping[str, Look]) -> list[Bar]:
    look = looks_of[row.series.label]
    bars = []
    if row.target is not None:
        text = row.problem or _with_misses(_ratio(row.equal_quality, row), row)
        bars.append(Bar(y - 0.27, row.equal_quality, text, look, height=0.25))
        text = f"answer: {_ratio(row.answer_quality, row)}" if not row.problem else "answer"
        bars.append(Bar(y, row.answer_quality, text, look, light=True, height=0.25))
    if row.per_update.known:
        text = f"per update: {_ratio(row.per_update, row)}"
    else:
        text = row.per_update_problem or row.baseline_problem or row.statuses
    bars.append(Bar(y + 0.27 if bars else y, row.per_update, text, UPDATE_LOOK, light=True,
                    height=0.25))
    return bars


def _ratio(interval: Interval, row: Row) -> str:
    return "baseline" if row.is_baseline else ratio_text(interval)


def _with_misses(text: str, row: Row) -> str:
    return f"{text}, {row.not_reached} of {row.n} seeds did not reach" if row.not_reached else text


def _throughput_bar(y: int, row: Row, looks_of: Mapping[str, Look], recipe: Recipe) -> Bar:
    spread, look = row.throughput, looks_of[row.series.label]
    interval = spread.whiskers
    if not interval.known:
        return Bar(y, interval, row.statuses, look, height=0.6)
    words = [si(spread.median, "/s")]
    peaks = recipe.peaks.get(row.series.cases["hardware"].iloc[0], {})
    share_of = gpus(row.series.cases.iloc[0])
    for rate, key, unit in ((row.bytes_rate, "bytes_per_s", "B/s"),
                            (row.flops_rate, "flops_per_s", "FLOP/s")):
        if rate.n:
            share = f" ({rate.median / share_of / peaks[key]:.0%} of peak)" if key in peaks else ""
            words.append(si(rate.median, unit) + share)
    words += filter(None, [writes_words(row.writes_made), clock_words(row), contended_words(row)])
    return Bar(y, interval, ", ".join(words), look, height=0.6)


def _finish_speedup(axes: Axes, rows: Sequence[Row]) -> None:
    names = sorted({row.baseline for row in rows if row.baseline})
    over = names[0] if len(names) == 1 else f"{names[0].split()[0]} of equal parameters"
    axes.set_xlabel(f"speed-up over {over} (times)"
                    + (", log scale" if axes.get_xscale() == "log" else ""))
    axes.axvline(1, color="#555555", linewidth=0.9, linestyle=(0, (2, 2)), zorder=0.5)


def _speedup_legend(rows: Sequence[Row], points: Sequence[Point], clock: str) -> list[Patch | Line2D]:
    targets = _target_words([row.target for row in rows if row.target is not None])
    handles: list[Patch | Line2D] = []
    if targets:
        names = ", ".join(targets)
        handles += [Patch(facecolor=BLACK, edgecolor=BLACK,
                          label=f"full colour: {CLOCK_NAMES[clock]} to {names}"),
                    Patch(facecolor="#b3b3b3", edgecolor=BLACK,
                          label=f"light: answer ({CLOCK_NAMES[ANSWER]}) to it")]
    handles.append(Patch(facecolor="#d6d6d6", edgecolor="#777777",
                         label="grey: time of one rating update"))
    if any(not row.equal_quality.known and row.target is not None for row in rows):
        handles.append(Patch(facecolor="white", edgecolor="#888888", hatch="////",
                             label="no value: the words say why"))
    return handles + ([open_handle()] if points else [])


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
        "remark": row.problem or row.baseline_problem or row.per_update_problem}
        for row in rows])


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
