"""A figure of horizontal bars: a panel a data set, a row a series, its name to the left, its values to the right."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from mfplots.metrics import Interval
from mfplots.palette import BLACK
from mfplots.published import Point
from mfplots.sheet import Sheet, fit, inches_of
from mfplots.style import Look, log_axis, words_size

NAMES, WORDS = 0.36, 0.33   # of the figure's width at most, left and right of the axes
AROUND = 1.2               # inches that titles, ticks and legends take at least
A_TITLE = 0.46             # inches above and below each panel
SIZES = (1.0, 0.9, 0.8, 0.7)  # of the letters, smaller where there are many rows
SPACE = 4.5                # points between rows
LOG_FROM = 30              # logarithmic where the bars differ by more than this

Tick = Callable[[float, int], str]  # a value of the axis in words


@dataclass(frozen=True)
class Bar:
    """Without a value it is an empty frame. `y`: 0 is the middle of the first row, 1 of the second."""

    y: float
    interval: Interval
    look: Look
    light: bool = False
    height: float = 0.6
    parts: Sequence[tuple[float, str]] = ()  # lengths and colours of a stack that adds up to it
    dots: Sequence[float] = ()  # instead of it: one each, with a line at their median


@dataclass(frozen=True)
class Mark:
    y: float
    value: float
    name: str
    words: str


@dataclass(frozen=True)
class Rows:
    """A panel: bars, and published marks below them; of each row its name and, the most important first, its words."""

    title: str
    names: Sequence[str]
    words: Sequence[Sequence[str]]
    bars: Sequence[Bar]
    x_label: str
    marks: Sequence[Mark] = ()

    @property
    def all_names(self) -> list[str]:
        return [*self.names, *(mark.name for mark in self.marks)]

    @property
    def all_words(self) -> list[Sequence[str]]:
        return [*self.words, *([mark.words] for mark in self.marks)]


def bar_sheet(title: str, panels: Sequence[Rows], tick: Tick, bars_a_row: int = 1, origin: float | None = None,
              closeup: bool = False) -> Sheet:
    width, highest = matplotlib.rcParams["figure.figsize"]
    size, unit, high = _heights(panels, width, highest, bars_a_row)
    sheet = Sheet(title, len(panels), rows=[unit * (sum(own) + 0.2) for own in high])
    for axes, rows, own in zip(sheet.axes, panels, high):
        log = _draw_bars(axes, rows, origin, tick, closeup)
        axes.set_xlabel(rows.x_label + (", log scale" if log else ""))
        _name_rows(axes, rows, size, width)
        _spread_out(axes, own)
    return sheet


def published_marks(points: Sequence[Point], first: int, text: Callable[[float], str]) -> list[Mark]:
    return [Mark(first + i, p.x, p.name, text(p.x)) for i, p in enumerate(points)]


def _heights(panels: Sequence[Rows], width: float, highest: float, bars_a_row: int) -> tuple[float, float, list[list[float]]]:
    """The largest letters with which all rows have room: their size, the inches of a row of one line, and how many of
    these each row takes."""
    room = highest - AROUND - A_TITLE * (len(panels) - 1)
    for share in SIZES:
        size = share * words_size()
        unit = max(1.2 * size + SPACE * share, 4 * bars_a_row * share + SPACE * share) / 72
        lines = [[max(fit(name, NAMES * width, size).count("\n"), text.count("\n"))
                  for name, text in zip(rows.all_names, worded(rows.all_words, WORDS * width, size))] for rows in panels]
        high = [[max(1.0, (1.2 * size * (more + 1) + SPACE * share) / 72 / unit) for more in own] for own in lines]
        if unit * sum(sum(own) + 0.2 for own in high) <= room:
            break
    return size, unit, high


def _spread_out(axes: Axes, high: Sequence[float]) -> None:
    """Moves what is drawn at a row to the middle of its place; bars keep their height."""
    middle = np.cumsum([0.0, *high[:-1]]) + np.asarray(high) / 2 - 0.5

    def placed(y: float) -> float:
        return float(middle[min(max(round(y), 0), len(middle) - 1)] + y - round(y))

    for bar in axes.patches:
        bar.set_y(placed(bar.get_y() + bar.get_height() / 2) - bar.get_height() / 2)
    for line in axes.lines:
        if line.get_transform() is axes.transData:
            line.set_ydata([placed(float(y)) for y in line.get_ydata()])
    for whisker in axes.collections:
        whisker.set_segments([[(x, placed(y)) for x, y in part] for part in whisker.get_segments()])
    for text in axes.texts:
        text.xy = (text.xy[0], placed(text.xy[1]))
    axes.set_yticks(middle, [label.get_text() for label in axes.get_yticklabels()])
    axes.set_ylim(sum(high) - 0.4, -0.6)


def _name_rows(axes: Axes, rows: Rows, size: float, width: float) -> None:
    names = [fit(name, NAMES * width, size) for name in rows.all_names]
    axes.set_yticks(range(len(names)), names, fontsize=size, linespacing=1.0)
    axes.grid(False, axis="y")
    axes.tick_params(axis="y", length=0)
    for y, text in enumerate(worded(rows.all_words, WORDS * width, size)):
        axes.annotate(text, (1, y), xytext=(4, 0), fontsize=size, va="center",
                      xycoords=("axes fraction", "data"), textcoords="offset points", color="#222222",
                      annotation_clip=False, linespacing=1.0)


def worded(rows: Sequence[Sequence[str]], inches: float, size: float) -> list[str]:
    """Of each row as many pieces as one line holds; either all ratios have their intervals, or none, so that rows compare."""
    if all(inches_of(", ".join(filter(None, row)), size) <= inches for row in rows if any(" [" in piece for piece in row)):
        return [_as_fit(row, inches, size) for row in rows]
    return [_as_fit([_INTERVAL.sub("", piece) for piece in row], inches, size) for row in rows]


_INTERVAL = re.compile(r" \[[^\]]*\]")


def _as_fit(pieces: Sequence[str], inches: float, size: float) -> str:
    """The first piece may take several lines."""
    text = ""
    for piece in filter(None, pieces):
        longer = f"{text}, {piece}" if text else piece
        if inches_of(longer, size) > inches:
            return text or fit(longer, inches, size)
        text = longer
    return text


def _draw_bars(axes: Axes, rows: Rows, origin: float | None, tick: Tick, closeup: bool) -> bool:
    """Returns whether the axis is logarithmic. `origin`: a line, where bars begin on such an axis; None: dots instead,
    since it has no zero. `closeup`: dots on an axis around the values, for errors, which differ little."""
    axes.set_title(rows.title, loc="left")
    log = _set_closeup(axes, rows.bars, rows.marks, tick, origin) if closeup else _set_scale(axes, rows.bars, rows.marks, tick)
    for bar in rows.bars:
        _draw_bar(axes, bar, None if closeup else origin if log else 0.0)
    if origin is not None:
        axes.axvline(origin, color="#555555", linewidth=0.9, linestyle=(0, (2, 2)), zorder=0.5)
    for mark in rows.marks:
        axes.plot([mark.value], [mark.y], **_open())
    return log


def _set_scale(axes: Axes, bars: Sequence[Bar], marks: Sequence[Mark], tick: Tick) -> bool:
    """Linear from 0, or logarithmic (True) where the values differ much and none is a stack."""
    values = [b.interval.value for b in bars if b.interval.known] + [m.value for m in marks]
    ends = [end for b in bars for end in (b.interval.low, b.interval.high)]
    values = [v for v in values if v > 0] or [1.0]
    ends = values + [end for end in ends if math.isfinite(end) and end > 0]
    stacked = any(bar.parts for bar in bars)
    log = max(values) > LOG_FROM * min(values) and not stacked
    if log:
        log_axis(axes, min(ends) / 1.6, max(ends) * 1.6, tick, most=_few())
    else:
        axes.set_xlim(0, 1.05 * max(ends))
        axes.xaxis.set_major_locator(MaxNLocator(_few(), steps=[1, 2, 5, 10]))
        axes.xaxis.set_major_formatter(FuncFormatter(tick))
    return log


def _set_closeup(axes: Axes, bars: Sequence[Bar], marks: Sequence[Mark], tick: Tick, origin: float | None) -> bool:
    ends = [end for bar in bars if bar.interval.known
            for end in (bar.interval.value, bar.interval.low, bar.interval.high)]
    ends += [dot for bar in bars for dot in bar.dots]
    ends += [*(mark.value for mark in marks), *([] if origin is None else [origin])]
    ends = [end for end in ends if math.isfinite(end)] or [1.0]
    pad = 0.08 * (max(ends) - min(ends)) or 0.01 * abs(max(ends)) or 0.01
    axes.set_xlim(min(ends) - pad, max(ends) + pad)
    axes.xaxis.set_major_locator(MaxNLocator(_few(), steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(tick))
    return False


def _few() -> int:
    """Spaces between ticks that have room on an axis of bars."""
    inches = (1 - NAMES - WORDS) * matplotlib.rcParams["figure.figsize"][0]
    return max(2, min(6, int(inches / (4.5 * words_size() / 72))))


def _draw_bar(axes: Axes, bar: Bar, start: float | None) -> None:
    if bar.dots:
        return _draw_dots(axes, bar)
    if not bar.interval.known:
        return _draw_empty(axes, bar)
    value, low, high = bar.interval.value, bar.interval.low, bar.interval.high
    if bar.parts:
        return _draw_stack(axes, bar)
    edge = {"color": _fill(bar), "edgecolor": bar.look.colour, "linewidth": 0.8}
    if start is None:
        axes.plot([value], [bar.y], **{**bar.look.as_line(), "linestyle": "none", "markersize": 6})
    else:
        axes.barh(bar.y, value - start, left=start, height=bar.height, **edge)
    if math.isfinite(low) and high > low:
        axes.errorbar([value], [bar.y], xerr=[[value - low], [high - value]], fmt="none",
                      ecolor="#888888" if bar.look.colour == BLACK else "#222222", elinewidth=0.9,
                      capsize=2)


def _draw_dots(axes: Axes, bar: Bar) -> None:
    axes.plot(bar.dots, [bar.y] * len(bar.dots), zorder=3, **{**bar.look.as_line(), "linestyle": "none"})
    axes.vlines(np.median(bar.dots), bar.y - bar.height / 2, bar.y + bar.height / 2, color=bar.look.colour, linewidth=2)


def _draw_stack(axes: Axes, bar: Bar) -> None:
    start = 0.0
    for length, colour in bar.parts:
        axes.barh(bar.y, length, left=start, height=bar.height, color=colour, edgecolor="white",
                  linewidth=0.4)
        start += length


def _fill(bar: Bar) -> tuple[float, ...]:
    """Full colour, or the same mixed with white."""
    share = 0.3 if bar.light else 1.0
    return tuple(1 - share * (1 - channel) for channel in to_rgb(bar.look.colour))


def _draw_empty(axes: Axes, bar: Bar) -> None:
    """A hatched frame of a fixed length on the page: there is no value, and it shows none."""
    axes.barh(bar.y, 0.06, left=0, height=bar.height, color="white", edgecolor="#888888",
              hatch="////", linewidth=0.8, linestyle=(0, (2, 1.5)),
              transform=axes.get_yaxis_transform())


def _open() -> dict[str, object]:
    return {"linestyle": "none", "marker": "D", "markersize": 5, "markerfacecolor": "none",
            "markeredgecolor": "#333333", "markeredgewidth": 1.1}


def open_handle() -> Line2D:
    return Line2D([], [], label="published, not measured here", **_open())
