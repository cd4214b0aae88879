"""A page of horizontal bars: a panel a data set, a row a series, words to the right of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.text import Annotation
from matplotlib.ticker import FuncFormatter, MaxNLocator

from mfplots.metrics import Interval
from mfplots.palette import BLACK
from mfplots.published import Point
from mfplots.sheet import Page, Sheet, fit
from mfplots.style import Look, log_axis, words_size

WIDTH = 3.4        # of the axes, inches
LABEL_WIDTH = 2.3  # of the names to their left
WORDS_WIDTH = 3.0  # of the values to their right
PITCH = 0.42       # of the rows
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
    parts: Sequence[tuple[float, str]] = ()  # lengths and colours of a stack that adds up to it


@dataclass(frozen=True)
class Mark:
    y: float
    value: float
    text: str


@dataclass(frozen=True)
class Rows:
    """A panel: bars with the label of each row, and published marks below them."""

    title: str
    labels: Sequence[str]
    bars: Sequence[Bar]
    x_label: str
    marks: Sequence[Mark] = ()


def bar_sheet(title: str, panels: Sequence[Rows], tick: Tick, pitch: float = PITCH, origin: float | None = None,
              closeup: bool = False, frames: bool = True) -> Sheet:
    sheet = Sheet(title, [pitch * (len(rows.labels) + len(rows.marks)) + 0.25 for rows in panels], 1, WIDTH)
    for axes, rows in zip(sheet.axes, panels):
        _draw_bars(axes, rows.title, rows.labels, rows.bars, rows.marks, origin, tick, closeup, frames)
        axes.set_xlabel(rows.x_label + (", log scale" if axes.get_xscale() == "log" else ""))
    return sheet


def published_marks(points: Sequence[Point], first: int, text: Callable[[float], str]) -> list[Mark]:
    return [Mark(first + i, p.x, f"{p.label}: {text(p.x)}") for i, p in enumerate(points)]


def _draw_bars(axes: Axes, title: str, labels: Sequence[str], bars: Sequence[Bar],
               marks: Sequence[Mark], origin: float | None, tick: Tick, closeup: bool, frames: bool) -> None:
    """`labels`: of the rows. `origin`: where bars begin on a logarithmic axis; None: dots there, for
    want of a zero. `closeup`: dots on an axis around the values, for errors, which differ little.
    `frames`: whether a bar without a value is drawn as an empty one."""
    axes.set_title(title, loc="left")
    log = _set_closeup(axes, bars, marks, tick) if closeup else _set_scale(axes, bars, marks, tick)
    for bar in bars if frames else ():
        _draw_bar(axes, bar, None if closeup else origin if log else 0.0)
    for mark in marks:
        axes.plot([mark.value], [mark.y], **_open())
    size = words_size()
    beside = [axes.annotate(fit(item.text, WORDS_WIDTH, size), (1, item.y), xytext=(6, 0),
                            xycoords=("axes fraction", "data"), textcoords="offset points",
                            va="center", fontsize=size, color="#222222")
              for item in [*bars, *marks]]
    if isinstance(axes.figure, Page):
        axes.figure.narrow[axes] = lambda inches: _stack(axes, labels, [*bars, *marks], beside,
                                                         inches)
    axes.set_yticks(range(len(labels)), [fit(label, LABEL_WIDTH, size) for label in labels])
    axes.set_ylim(len(labels) + len(marks) - 0.45, -0.55)
    axes.grid(False, axis="y")
    axes.tick_params(axis="y", length=0)


def _stack(axes: Axes, labels: Sequence[str], items: Sequence[Bar | Mark],
           beside: Sequence[Annotation], inches: float) -> float:
    """For a narrow page: the words of a row stand above its bars. Returns the panel's height."""
    size = words_size()
    words = []
    for row in range(len({round(item.y) for item in items})):
        own = [item.text for item in items if round(item.y) == row]
        named = [labels[row]] if row < len(labels) else []
        words.append(fit("; ".join(dict.fromkeys([*named, *own])), inches - 0.3, size))
    for text in beside:
        text.remove()
    lines = max(text.count("\n") for text in words) + 1
    high = lines * size * 1.25 / 72
    pitch = high + 0.24
    for row, text in enumerate(words):
        axes.annotate(text, (0, row - 0.5), xycoords=("axes fraction", "data"), xytext=(2, -1),
                      textcoords="offset points", va="top", fontsize=size, color="#222222")
    _squeeze(axes, high / pitch)
    axes.set_yticks([])
    axes.set_ylim(len(words) - 0.5, -0.5)
    return pitch * len(words) + 0.05


def _squeeze(axes: Axes, share: float) -> None:
    """All that is drawn at a row goes into the lower part of it, below its words."""
    def placed(y: float) -> float:
        row = round(y)
        return row - 0.5 + share + (y - row + 0.5) * (1 - share)

    for bar in axes.patches:
        low, high = placed(bar.get_y()), placed(bar.get_y() + bar.get_height())
        bar.set_y(low)
        bar.set_height(high - low)
    for line in axes.lines:
        line.set_ydata([placed(float(y)) for y in line.get_ydata()])
    for whisker in axes.collections:
        whisker.set_segments([[(x, placed(y)) for x, y in part]
                              for part in whisker.get_segments()])


def _set_scale(axes: Axes, bars: Sequence[Bar], marks: Sequence[Mark], tick: Tick) -> bool:
    """Linear from 0, or logarithmic (True) where the values differ much and none is a stack."""
    values = [b.interval.value for b in bars if b.interval.known] + [m.value for m in marks]
    ends = [end for b in bars for end in (b.interval.low, b.interval.high)]
    values = [v for v in values if v > 0] or [1.0]
    ends = values + [end for end in ends if math.isfinite(end) and end > 0]
    stacked = any(bar.parts for bar in bars)
    log = max(values) > LOG_FROM * min(values) and not stacked
    if log:
        log_axis(axes, min(ends) / 1.6, max(ends) * 1.25, tick)
    else:
        axes.set_xlim(0, 1.05 * max(ends))
        axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
        axes.xaxis.set_major_formatter(FuncFormatter(tick))
    return log


def _set_closeup(axes: Axes, bars: Sequence[Bar], marks: Sequence[Mark], tick: Tick) -> bool:
    ends = [end for bar in bars if bar.interval.known
            for end in (bar.interval.value, bar.interval.low, bar.interval.high)]
    ends = [end for end in [*ends, *(mark.value for mark in marks)] if math.isfinite(end)] or [1.0]
    pad = 0.08 * (max(ends) - min(ends)) or 0.01 * abs(max(ends)) or 0.01
    axes.set_xlim(min(ends) - pad, max(ends) + pad)
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(tick))
    return False


def _draw_bar(axes: Axes, bar: Bar, start: float | None) -> None:
    if not bar.interval.known:
        return _draw_empty(axes, bar)
    value, low, high = bar.interval.value, bar.interval.low, bar.interval.high
    if bar.parts:
        return _draw_stack(axes, bar)
    edge = {"color": _fill(bar), "edgecolor": bar.look.colour, "linewidth": 1}
    if start is None:
        axes.plot([value], [bar.y], **{**bar.look.as_line(), "linestyle": "none", "markersize": 8})
    else:
        axes.barh(bar.y, value - start, left=start, height=bar.height, **edge)
    if math.isfinite(low) and high > low:
        axes.errorbar([value], [bar.y], xerr=[[value - low], [high - value]], fmt="none",
                      ecolor="#888888" if bar.look.colour == BLACK else "#222222", elinewidth=1,
                      capsize=2.5)


def _draw_stack(axes: Axes, bar: Bar) -> None:
    start = 0.0
    for length, colour in bar.parts:
        axes.barh(bar.y, length, left=start, height=bar.height, color=colour, edgecolor="white",
                  linewidth=0.6)
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
    return {"linestyle": "none", "marker": "D", "markersize": 6, "markerfacecolor": "none",
            "markeredgecolor": "#333333", "markeredgewidth": 1.1}


def open_handle() -> Line2D:
    return Line2D([], [], label="published, not measured here", **_open())
