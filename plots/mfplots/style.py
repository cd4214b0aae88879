"""Looks that survive black-and-white print and colour blindness.

Colours are the palette of Okabe and Ito (https://jfly.uni-koeln.de/color/) without its yellow,
which is too faint on white; black is kept for the baseline. A series is told apart by colour, line
style and marker together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, FuncFormatter, LogLocator, NullFormatter

BLACK = "#000000"
COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
LINES: tuple[Any, ...] = ("-", (0, (5, 1.6)), (0, (6, 1.6, 1, 1.6)), (0, (1.2, 1.2)),
                          (0, (9, 2.5)), (0, (5, 1.4, 1, 1.4, 1, 1.4)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")
PUBLISHED_MARKERS = ("*", "p", "h", "d", ">", "8")

RC = {
    "font.family": ["DejaVu Sans", "sans-serif"],  # the first comes with matplotlib
    "font.size": 9, "axes.titlesize": 10, "axes.labelsize": 9, "legend.fontsize": 8.5,
    "xtick.labelsize": 8.5, "ytick.labelsize": 8.5, "lines.linewidth": 1.6,
    "lines.markersize": 4.5, "axes.spines.top": False, "axes.spines.right": False,
    "axes.grid": True, "grid.color": "#dddddd", "grid.linewidth": 0.6, "axes.axisbelow": True,
    "axes.formatter.useoffset": False, "hatch.linewidth": 0.7,
    "svg.fonttype": "none",     # text stays text: searchable, and readable by screen readers
    "svg.hashsalt": "mfbench",  # the same ids, so the same bytes, in every run
    "pdf.fonttype": 42,
}


@dataclass(frozen=True)
class Look:
    colour: str
    line: Any
    marker: str
    order: int

    def as_line(self) -> dict[str, Any]:
        return {"color": self.colour, "linestyle": self.line, "marker": self.marker,
                "markeredgecolor": "white", "markeredgewidth": 0.5}


@contextmanager
def styled() -> Iterator[None]:
    """matplotlib's own defaults plus RC, whatever the user's matplotlibrc says."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(RC)
        yield


def look(order: int) -> Look:
    """The first is black; after it 36 pairs of colour and line style before one comes again."""
    line, marker = LINES[order % len(LINES)], MARKERS[order % len(MARKERS)]
    if order == 0:
        return Look(BLACK, line, marker, order)
    turn, place = divmod(order - 1, len(COLOURS))
    return Look(COLOURS[place], LINES[(order + turn) % len(LINES)], marker, order)


def looks(labels: Sequence[str], baseline: str | None) -> Mapping[str, Look]:
    """The baseline first (black, solid), the others in their order."""
    first = [label for label in labels if label == baseline]
    ordered = first + [label for label in labels if label != baseline]
    return {label: look(i) for i, label in enumerate(ordered)}


def log_axis(axes: Axes, low: float, high: float, text: Callable[[float, int], str],
             which: str = "x") -> None:
    """A logarithmic axis from `low` to `high`, with 2 and 5 on it where decades are few."""
    few = high < 100 * low
    axis = axes.xaxis if which == "x" else axes.yaxis
    if which == "x":
        axes.set_xscale("log", nonpositive="mask")
        axes.set_xlim(low, high)
    else:
        axes.set_yscale("log", nonpositive="mask")
        axes.set_ylim(low, high)
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if few else (1.0,), numticks=8))
    axis.set_major_formatter(FuncFormatter(text))
    axis.set_minor_formatter(NullFormatter())


def plain_tick(value: float, _position: int = 0) -> str:
    return f"{value:g}"


def significant(value: float, digits: int = 3) -> str:
    """`digits` significant digits without an exponent for everyday sizes."""
    if not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    if not 1e-4 <= abs(value) < 1e6:
        return f"{value:.{digits - 1}e}"
    decimals = max(digits - 1 - math.floor(math.log10(abs(value))), 0)
    return f"{value:.{decimals}f}"


# Powers of ten with a letter: times go down from seconds (5000 s are no 5 ks), amounts and rates up.
TIMES = (-9, 0)
AMOUNTS = (0, 12)


def _engineering(unit: str, powers: tuple[int, int], places: int | None = None) -> EngFormatter:
    formatter = EngFormatter(unit, places)
    formatter.ENG_PREFIXES = {power: letter for power, letter in EngFormatter.ENG_PREFIXES.items()
                              if powers[0] <= power <= powers[1]}
    return formatter


def _with_unit(value: float, unit: str, powers: tuple[int, int]) -> str:
    """Three significant digits and a letter of SI."""
    if not math.isfinite(value):
        return "–"
    if value == 0:
        return f"0 {unit}"
    if abs(value) < 1000 * 10.0 ** powers[1]:
        value = float(f"{value:.2e}")  # 999.9 is 1000 before its letter is chosen
    power = math.floor(math.log10(abs(value)))
    before = power - min(max(power // 3 * 3, powers[0]), powers[1])
    return _engineering(unit, powers, max(2 - before, 0))(value)


def si(value: float, unit: str) -> str:
    """1.23e7 '/s' as '12.3 M/s'."""
    return _with_unit(value, unit, AMOUNTS)


def duration(seconds: float) -> str:
    """0.0123 as '12.3 ms'."""
    return _with_unit(seconds, "s", TIMES)


def si_tick(value: float, _position: int = 0) -> str:
    """For the ticks of an axis: 12,300,000 as '12.3 M', 0 as '0'."""
    return _engineering("", AMOUNTS)(value)


def time_tick(value: float, _position: int = 0) -> str:
    """For the ticks of an axis of seconds: 0.00002 as '20 µs'."""
    return _engineering("s", TIMES)(value)
