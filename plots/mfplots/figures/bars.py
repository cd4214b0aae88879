"""Bars with intervals: speed-up over the baseline, and throughput."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from mfplots import metrics
from mfplots.errors import NotDrawable
from mfplots.figures import Drawing, figure
from mfplots.metrics import Interval
from mfplots.published import Point, speedup_points, throughput_points
from mfplots.recipes import Recipe
from mfplots.series import Panel, View, panel_title
from mfplots.sheet import Sheet, fit
from mfplots.smallprint import provenance
from mfplots.style import Look, log_axis, looks, plain_tick, si, si_tick, significant
from mfplots.summary import CLOCK_NAMES, Row, baseline_label, summarise

WIDTH = 3.4        # of the axes, inches
LABEL_WIDTH = 2.3  # of the names to their left
WORDS_WIDTH = 3.0  # of the values to their right
WORDS_SIZE = 8.0
LOG_FROM = 30      # logarithmic where the bars differ by more than this

Tick = Callable[[float, int], str]  # a value of the axis in words


@dataclass(frozen=True)
class Bar:
    """`text` stands to the right of the axes; without a value the bar is an empty frame."""

    y: float
    interval: Interval
    text: str
    look: Look
    light: bool = False
    height: float = 0.36


@dataclass(frozen=True)
class Mark:
    y: float
    value: float
    text: str


@figure("speedup")
def speedup(view: View, recipe: Recipe) -> Drawing:
    rows = summarise(view, recipe.question)
    if all(row.baseline is None for row in rows):
        raise NotDrawable(f"{rows[0].baseline_problem}; name one with --baseline")
    looks_of = looks(view.labels, baseline_label(view, recipe.question))
    points = speedup_points(recipe.published)
    sheet = _sheet(view, recipe, points, "speed-up over the baseline", 0.62)
    for axes, panel in zip(sheet.axes, view.panels):
        own = [row for row in rows if row.panel is panel]
        bars = [bar for y, row in enumerate(own) for bar in _speedup_bars(y, row, looks_of)]
        _draw_panel(axes, panel, own, bars, _marks(points, panel, len(own), "×"), 1.0,
                    plain_tick)
        _finish_speedup(axes, own)
    sheet.legend(_speedup_legend(rows, points))
    sheet.small_print([
        f"Medians over seeds on the {CLOCK_NAMES[recipe.clock]}; seeds that did not reach the "
        f"target count as infinitely late. Brackets: {100 * metrics.LEVEL:g} % bootstrap interval "
        f"over seeds ({metrics.RESAMPLES} resamples, percentile).", *provenance(view)])
    return Drawing(sheet, speedup_numbers(rows))


@figure("throughput")
def throughput(view: View, recipe: Recipe) -> Drawing:
    rows = summarise(view, recipe.question)
    if not any(row.throughput.n for row in rows):
        raise NotDrawable("no finished case did any update")
    looks_of = looks(view.labels, baseline_label(view, recipe.question))
    points = throughput_points(recipe.published)
    sheet = _sheet(view, recipe, points, "throughput", 0.42)
    for axes, panel in zip(sheet.axes, view.panels):
        own = [row for row in rows if row.panel is panel]
        bars = [_throughput_bar(y, row, looks_of, recipe) for y, row in enumerate(own)]
        _draw_panel(axes, panel, own, bars, _marks(points, panel, len(own), "/s"), None,
                    si_tick)
        axes.set_xlabel("rating updates per second of training"
                        + (", log scale" if axes.get_xscale() == "log" else ""))
    sheet.legend([_published_handle()] if points else [])
    sheet.small_print([
        f"Median over seeds, whiskers from smallest to largest: updates / {recipe.clock}. Bytes "
        "and operations are those the algorithm declares as compulsory.", *provenance(view)])
    return Drawing(sheet, throughput_numbers(rows))


def _sheet(view: View, recipe: Recipe, points: Sequence[Point], title: str, pitch: float) -> Sheet:
    extra = [sum(p.dataset == panel.dataset for p in points) for panel in view.panels]
    heights = [pitch * (len(panel.series) + n) + 0.25 for panel, n in zip(view.panels, extra)]
    specs = ", ".join(dict.fromkeys(view.cases["spec_name"].dropna()))
    return Sheet(recipe.title or f"{specs}: {title}", heights, 1, WIDTH)


def _speedup_bars(y: int, row: Row, looks_of: Mapping[str, Look]) -> list[Bar]:
    look = looks_of[row.series.label]
    bars = []
    if row.target is not None:
        text = row.problem or _with_misses(_ratio_text(row.equal_quality, row), row)
        bars.append(Bar(y - 0.19, row.equal_quality, text, look))
    if row.per_update.known:
        text = _ratio_text(row.per_update, row)
    else:
        text = row.baseline_problem or row.statuses
    bars.append(Bar(y + 0.19 if bars else y, row.per_update, text, look, light=True))
    return bars


def _ratio_text(interval: Interval, row: Row) -> str:
    if row.is_baseline:
        return "baseline"
    ends = "" if math.isnan(interval.low) else \
        f" [{significant(interval.low)}, {significant(interval.high)}]"
    return f"{significant(interval.value)}×{ends}"


def _with_misses(text: str, row: Row) -> str:
    return f"{text}, {row.not_reached} of {row.n} seeds did not reach" if row.not_reached else text


def _throughput_bar(y: int, row: Row, looks_of: Mapping[str, Look], recipe: Recipe) -> Bar:
    spread, look = row.throughput, looks_of[row.series.label]
    interval = Interval(spread.median, spread.low, spread.high)
    if not interval.known:
        return Bar(y, interval, row.statuses, look, height=0.6)
    words = [si(spread.median, "/s")]
    peaks = recipe.peaks.get(row.series.cases["hardware"].iloc[0], {})
    for rate, key, unit in ((row.bytes_rate, "bytes_per_s", "B/s"),
                            (row.flops_rate, "flops_per_s", "FLOP/s")):
        if rate.n:
            share = f" ({rate.median / peaks[key]:.0%} of peak)" if key in peaks else ""
            words.append(si(rate.median, unit) + share)
    return Bar(y, interval, ", ".join(words), look, height=0.6)


def _marks(points: Sequence[Point], panel: Panel, first: int, unit: str) -> list[Mark]:
    own = [p for p in points if p.dataset == panel.dataset]
    return [Mark(first + i, p.x, f"{p.label}: {si(p.x, unit) if unit != '×' else f'{p.x:g}×'}")
            for i, p in enumerate(own)]


def _draw_panel(axes: Axes, panel: Panel, rows: Sequence[Row], bars: Sequence[Bar],
                marks: Sequence[Mark], origin: float | None, tick: Tick) -> None:
    """`origin`: where bars begin on a logarithmic axis; None: dots there, for want of a zero."""
    axes.set_title(panel_title(panel), loc="left")
    log = _set_scale(axes, bars, marks, tick)
    for bar in bars:
        _draw_bar(axes, bar, origin if log else 0.0)
    for mark in marks:
        axes.plot([mark.value], [mark.y], **_open())
    for item in [*bars, *marks]:
        axes.annotate(fit(item.text, WORDS_WIDTH, WORDS_SIZE), (1, item.y), xytext=(6, 0),
                      xycoords=("axes fraction", "data"), textcoords="offset points",
                      va="center", fontsize=WORDS_SIZE, color="#222222")
    axes.set_yticks(range(len(rows)), [fit(r.series.label, LABEL_WIDTH, 8.5) for r in rows])
    axes.set_ylim(len(rows) + len(marks) - 0.45, -0.55)
    axes.grid(False, axis="y")
    axes.tick_params(axis="y", length=0)


def _set_scale(axes: Axes, bars: Sequence[Bar], marks: Sequence[Mark], tick: Tick) -> bool:
    """Linear from 0, or logarithmic (True) where the values differ much."""
    values = [b.interval.value for b in bars if b.interval.known] + [m.value for m in marks]
    ends = [end for b in bars for end in (b.interval.low, b.interval.high)]
    values = [v for v in values if v > 0] or [1.0]
    ends = values + [end for end in ends if math.isfinite(end) and end > 0]
    log = max(values) > LOG_FROM * min(values)
    if log:
        log_axis(axes, min(ends) / 1.6, max(ends) * 1.25, tick)
    else:
        axes.set_xlim(0, 1.05 * max(ends))
        axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
        axes.xaxis.set_major_formatter(FuncFormatter(tick))
    return log


def _draw_bar(axes: Axes, bar: Bar, start: float | None) -> None:
    if not bar.interval.known:
        return _draw_empty(axes, bar)
    value, low, high = bar.interval.value, bar.interval.low, bar.interval.high
    edge = {"color": _fill(bar), "edgecolor": bar.look.colour, "linewidth": 1}
    if start is None:
        axes.plot([value], [bar.y], marker=bar.look.marker, markersize=8, color=bar.look.colour)
    else:
        axes.barh(bar.y, value - start, left=start, height=bar.height, **edge)
    if math.isfinite(low) and high > low:
        axes.errorbar([value], [bar.y], xerr=[[value - low], [high - value]], fmt="none",
                      ecolor="#222222" if bar.look.order else "#888888", elinewidth=1, capsize=2.5)


def _fill(bar: Bar) -> tuple[float, ...]:
    """Full colour, or the same mixed with white."""
    share = 0.3 if bar.light else 1.0
    return tuple(1 - share * (1 - channel) for channel in to_rgb(bar.look.colour))


def _draw_empty(axes: Axes, bar: Bar) -> None:
    """A hatched frame of a fixed length on the page: there is no value, and it shows none."""
    axes.barh(bar.y, 0.06, left=0, height=bar.height, color="white", edgecolor="#888888",
              hatch="////", linewidth=0.8, linestyle=(0, (2, 1.5)),
              transform=axes.get_yaxis_transform())


def _finish_speedup(axes: Axes, rows: Sequence[Row]) -> None:
    names = sorted({row.baseline for row in rows if row.baseline})
    over = names[0] if len(names) == 1 else f"{names[0].split()[0]} of equal parameters"
    axes.set_xlabel(f"speed-up over {over} (times)"
                    + (", log scale" if axes.get_xscale() == "log" else ""))
    axes.axvline(1, color="#555555", linewidth=0.9, linestyle=(0, (2, 2)), zorder=0.5)


def _speedup_legend(rows: Sequence[Row], points: Sequence[Point]) -> list[Patch | Line2D]:
    targets = sorted({row.target for row in rows if row.target is not None})
    handles: list[Patch | Line2D] = []
    if targets:
        names = ", ".join(f"{t:g}" for t in targets)
        handles.append(Patch(facecolor="#666666", edgecolor="#666666",
                             label=f"full colour: time to test RMSE {names}"))
    handles.append(Patch(facecolor="#d0d0d0", edgecolor="#666666",
                         label="light: time of one rating update"))
    if any(not row.equal_quality.known and row.target is not None for row in rows):
        handles.append(Patch(facecolor="white", edgecolor="#888888", hatch="////",
                             label="no value: the words say why"))
    return handles + ([_published_handle()] if points else [])


def _open() -> dict[str, object]:
    return {"linestyle": "none", "marker": "D", "markersize": 6, "markerfacecolor": "none",
            "markeredgecolor": "#333333", "markeredgewidth": 1.1}


def _published_handle() -> Line2D:
    return Line2D([], [], label="published, not measured here", **_open())


def speedup_numbers(rows: Sequence[Row]) -> pd.DataFrame:
    return pd.DataFrame([{
        **_common(row), "baseline": row.baseline, "target_rmse": row.target,
        "not_reached": row.not_reached, "median_time_to_target_s": row.median_time,
        "speedup_at_target": row.equal_quality.value, "speedup_low": row.equal_quality.low,
        "speedup_high": row.equal_quality.high, "speedup_per_update": row.per_update.value,
        "per_update_low": row.per_update.low, "per_update_high": row.per_update.high,
        "remark": row.problem or row.baseline_problem} for row in rows])


def throughput_numbers(rows: Sequence[Row]) -> pd.DataFrame:
    return pd.DataFrame([{
        **_common(row), "updates_per_s": row.throughput.median, "low": row.throughput.low,
        "high": row.throughput.high, "declared_bytes_per_s": row.bytes_rate.median,
        "declared_flops_per_s": row.flops_rate.median} for row in rows])


def _common(row: Row) -> dict[str, object]:
    return {"dataset": row.panel.title, "look_alike": row.panel.look_alike,
            "series": row.series.label, "seeds": row.n, "statuses": row.statuses}
