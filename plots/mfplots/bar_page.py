"""A figure of horizontal bars: a panel a data set, a row a series, its name to the left, its values to the right."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from mfplots.errors import NotDrawable
from mfplots.metrics import Interval
from mfplots.names import marked
from mfplots.page import Page, fit
from mfplots.palette import BLACK
from mfplots.published import Point
from mfplots.series import Panel, panel_title
from mfplots.style import Look, log_axis, words_size

NAMES, WORDS = 0.36, 0.33   # of the figure's width at most, left and right of the axes
AROUND = 1.2               # inches that titles, ticks and legends take at least
A_TITLE = 0.46             # inches above and below each panel
SIZES = (1.0, 0.9, 0.8, 0.7)  # of the letters, smaller if there are many rows
SPACE = 4.5                # points between rows
LOG_FROM = 30              # logarithmic where the bars differ by more than this
OPEN = {"linestyle": "none", "marker": "D", "markersize": 5, "markerfacecolor": "none",
        "markeredgecolor": "#333333", "markeredgewidth": 1.1}

Tick = Callable[[float, int], str]  # a value of the axis in words


@dataclass(frozen=True)
class Bar:
    """Without a value it is not drawn; without a look, an open marker: published, not measured here."""

    interval: Interval
    look: Look | None
    light: bool = False
    shift: float = 0.0  # from the middle of its row, whose bars have a height of 1 in all
    height: float = 0.6
    parts: Sequence[tuple[float, str]] = ()  # lengths and colours of a stack that adds up to it
    dots: Sequence[float] = ()  # instead of it: one each, with a line at their median


@dataclass(frozen=True)
class Row:
    """`words`: the most important first. Sorted by its first bar; rows of one group, as of one baseline, stay together."""

    name: str
    words: Sequence[str]
    bars: Sequence[Bar]
    group: str = ""

    @property
    def has_value(self) -> bool:
        return any(bar.dots or bar.interval.known for bar in self.bars)


@dataclass(frozen=True)
class Rows:
    """A panel."""

    title: str
    rows: Sequence[Row]
    x_label: str


def bar_page(title: str, panels: Sequence[Rows], tick: Tick, origin: float | None = None, closeup: bool = False,
             most: bool = False) -> Page:
    """`origin`: a line at which bars begin on a logarithmic axis; without one dots, since it has no zero. `closeup`: dots
    on an axis around the values, for errors, which differ little. `most`: the longest is the first row, not the shortest."""
    left_out = [(f"{row.name} on {panel.title}" if len(panels) > 1 else row.name, ", ".join(filter(None, row.words)))
                for panel in panels for row in panel.rows if not row.has_value]
    panels = [replace(panel, rows=rows) for panel in panels if (rows := _sorted(panel.rows, -1 if most else 1))]
    if not panels:
        raise NotDrawable(f"no row has a value: {'; '.join(dict.fromkeys(why for _, why in left_out))}")
    width, highest = matplotlib.rcParams["figure.figsize"]
    room = highest - AROUND - A_TITLE * (len(panels) - 1)
    for most_lines, share in ((2, 1.0), *((1, share) for share in SIZES)):  # most words, then the largest letters
        size = share * words_size()
        line, space = 1.2 * size / 72, SPACE * share / 72
        shown = [list(zip([fit(row.name, NAMES * width, size) for row in panel.rows],
                          worded([row.words for row in panel.rows], WORDS * width, size, most_lines))) for panel in panels]
        high = [[max(line * (1 + max(name.count("\n"), words.count("\n"))), len(row.bars) * share / 18) + space
                 for row, (name, words) in zip(panel.rows, own)] for panel, own in zip(panels, shown)]
        if sum(map(sum, high)) <= room:
            break
    page = Page(title, len(panels), [sum(own) for own in high])
    for name, why in left_out:
        page.leave_out(name, why)
    for axes, panel, texts, own in zip(page.axes, panels, shown, high):
        axes.set_title(panel.title, loc="left")
        log = _set_scale(axes, [bar for row in panel.rows for bar in row.bars], tick, origin, closeup)
        axes.set_xlabel(panel.x_label + (", log scale" if log else ""))
        middle = [end - inches / 2 for end, inches in zip(accumulate(own), own)]  # the axis of y has inches
        for y, row in zip(middle, panel.rows):
            for bar in row.bars:
                start = None if closeup else origin if log else 0.0
                _draw_bar(axes, bar, y + bar.shift * min(own), bar.height * min(own), start)
        if origin is not None:
            axes.axvline(origin, color="#555555", linewidth=0.9, linestyle=(0, (2, 2)), zorder=0.5)
        axes.set_yticks(middle, [name for name, _ in texts], fontsize=size, linespacing=1.0)
        axes.set_ylim(sum(own), 0)
        axes.grid(False, axis="y")
        axes.tick_params(axis="y", length=0)
        for y, (_, words) in zip(middle, texts):
            axes.annotate(words, (1, y), xytext=(4, 0), fontsize=size, va="center", xycoords=("axes fraction", "data"),
                          textcoords="offset points", color="#222222", annotation_clip=False, linespacing=1.0)
    return page


def panel_rows(panel: Panel, names: Mapping[str, str], rows: Iterable[tuple[Any, ...]], x_label: str) -> Rows:
    """Of each series its words, its bars, and its group, if it has one."""
    return Rows(panel_title(panel), [Row(marked(series, names), *more) for series, *more in rows], x_label)


def _sorted(rows: Sequence[Row], sign: int) -> list[Row]:
    """Those with a value; last, if it is not of the first bar."""
    def place(row: Row) -> float:
        value = sign * (np.median(row.bars[0].dots) if row.bars[0].dots else row.bars[0].interval.value)
        return math.inf if math.isnan(value) else value

    rows = [row for row in rows if row.has_value]
    several = len({row.group for row in rows} - {""}) > 1
    first = {group: min(place(row) for row in rows if row.group == group) for group in {row.group for row in rows}}
    return sorted(rows, key=lambda row: (first[row.group], row.group, place(row)) if several else (place(row),))


def published_rows(points: Sequence[Point], text: Callable[[float], str]) -> list[Row]:
    return [Row(p.name, [text(p.x)], [Bar(Interval(p.x, math.nan, math.nan), None)]) for p in points]


def open_handle() -> Line2D:
    return Line2D([], [], label="published, not measured here", **OPEN)


def worded(rows: Sequence[Sequence[str]], inches: float, size: float, most: int = 1) -> list[str]:
    """Of each row as many pieces as `most` lines hold; either all ratios have their intervals, or none, so that rows compare."""
    if any(fit(", ".join(filter(None, row)), inches, size).count("\n") >= most for row in rows if any(" [" in piece for piece in row)):
        rows = [[re.sub(r" \[[^\]]*\]", "", piece) for piece in row] for row in rows]
    return [_as_fit(row, inches, size, most) for row in rows]


def _as_fit(pieces: Sequence[str], inches: float, size: float, most: int) -> str:
    """The first piece may take more lines."""
    text = ""
    for piece in filter(None, pieces):
        longer = f"{text}, {piece}" if text else piece
        if text and fit(longer, inches, size).count("\n") >= most:
            break
        text = longer
    return fit(text, inches, size)


def _set_scale(axes: Axes, bars: Sequence[Bar], tick: Tick, origin: float | None, closeup: bool) -> bool:
    """Around the values for a close-up; else from 0, or logarithmic (True) if they differ much and none is a stack."""
    ends = [end for bar in bars for end in (bar.interval.value, bar.interval.low, bar.interval.high, *bar.dots)
            if math.isfinite(end)]
    few = max(2, min(6, int((1 - NAMES - WORDS) * axes.figure.get_figwidth() / (4.5 * words_size() / 72))))
    if closeup:
        ends = [*ends, *([] if origin is None else [origin])] or [1.0]
        pad = 0.08 * (max(ends) - min(ends)) or 0.01 * abs(max(ends)) or 0.01
        axes.set_xlim(min(ends) - pad, max(ends) + pad)
    else:
        values = [bar.interval.value for bar in bars if bar.interval.value > 0] or [1.0]
        ends = [end for end in ends if end > 0] or [1.0]
        if max(values) > LOG_FROM * min(values) and not any(bar.parts for bar in bars):
            log_axis(axes, min(ends) / 1.6, max(ends) * 1.6, tick, most=few)
            return True
        axes.set_xlim(0, 1.05 * max(ends))
    axes.xaxis.set_major_locator(MaxNLocator(few, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(tick))
    return False


def _draw_bar(axes: Axes, bar: Bar, y: float, height: float, start: float | None) -> None:
    value, low, high = bar.interval.value, bar.interval.low, bar.interval.high
    if bar.look is None:
        axes.plot([value], [y], **OPEN)
    elif bar.dots:
        axes.plot(bar.dots, [y] * len(bar.dots), zorder=3, **{**bar.look.as_line(), "linestyle": "none"})
        axes.vlines(np.median(bar.dots), y - height / 2, y + height / 2, color=bar.look.colour, linewidth=2)
    elif not bar.interval.known:
        return
    elif bar.parts:
        for left, (length, colour) in zip(accumulate((length for length, _ in bar.parts), initial=0.0), bar.parts):
            axes.barh(y, length, left=left, height=height, color=colour, edgecolor="white", linewidth=0.4)
    elif start is None:
        axes.plot([value], [y], **{**bar.look.as_line(), "linestyle": "none", "markersize": 6})
    else:
        share = 0.3 if bar.light else 1.0  # of the colour; the rest is white
        axes.barh(y, value - start, left=start, height=height, edgecolor=bar.look.colour, linewidth=0.8,
                  color=[1 - share * (1 - channel) for channel in to_rgb(bar.look.colour)])
    if bar.look is not None and math.isfinite(low) and high > low:
        axes.errorbar([value], [y], xerr=[[value - low], [high - value]], fmt="none",
                      ecolor="#888888" if bar.look.colour == BLACK else "#222222", elinewidth=0.9, capsize=2)
