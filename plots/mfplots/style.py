"""Looks that survive black-and-white print and colour blindness.

An algorithm has the colour and marker of palette.py in every figure; a line style and a filling of the marker stand for
one configuration of any algorithm."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, Locator, MaxNLocator, NullFormatter

from mfplots.metrics import Interval
from mfplots.palette import of_algorithm

LINES: tuple[Any, ...] = ("-", (0, (5, 1.6)), (0, (6, 1.6, 1, 1.6)), (0, (1.2, 1.2)),
                          (0, (9, 2.5)), (0, (5, 1.4, 1, 1.4, 1, 1.4)))
FILLS = ("full", "none", "left", "bottom", "right", "top")
_NUMBER = re.compile(r"(\d+(?:\.\d+)?)")

RC = {
    "font.family": ["DejaVu Sans", "sans-serif"],  # the first comes with matplotlib
    "lines.markersize": 4.5, "axes.spines.top": False, "axes.spines.right": False,
    "axes.grid": True, "grid.color": "#dddddd", "grid.linewidth": 0.6, "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "svg.fonttype": "none",     # text stays text: searchable, and readable by screen readers
    "svg.hashsalt": "mfbench",  # the same ids, so the same bytes, in every run
    "pdf.fonttype": 42,
    "text.parse_math": False,   # a $ in a name is one
}

# A shape that has little area in its square, by how much it is drawn larger.
THIN_MARKERS = {"*": 1.9, "d": 1.3, ">": 1.1, "1": 1.5}

SIZES = ("font.size", "axes.titlesize", "axes.labelsize", "legend.fontsize", "xtick.labelsize", "ytick.labelsize")


def _width(inches: float, highest: float, text: float, title: float, legend: float, lines: float) -> dict[str, Any]:
    """Of a figure that is `highest` at most; sizes of its words, titles and legend in points."""
    return {**dict.fromkeys(SIZES, text), "figure.titlesize": title, "legend.fontsize": legend, "lines.linewidth": lines,
            "figure.figsize": (inches, highest)}


WIDTHS = {"column": _width(3.3, 4.95, 8, 8, 7, 1.2),  # one of a page's two; higher by half than wide at most
          "page": _width(7.0, 9.0, 8, 9, 8, 1.3),     # both
          "slide": _width(10.0, 7.0, 12, 16, 12, 2.2)}


@dataclass(frozen=True)
class Look:
    """`order`: of the series on its page; `variant`: of its configuration, from 0."""

    colour: str
    line: Any
    marker: str
    order: int
    fill: str = "full"
    variant: int = 0

    def as_line(self) -> dict[str, Any]:
        edge = ("white", 0.5) if self.fill == "full" else (self.colour, 1.0)
        return {"color": self.colour, "linestyle": self.line, "marker": self.marker,
                "markersize": RC["lines.markersize"] * THIN_MARKERS.get(self.marker, 1.0),
                "fillstyle": self.fill, "markerfacecoloralt": "white",
                "markeredgecolor": edge[0], "markeredgewidth": edge[1]}


@contextmanager
def styled(width: str = "page") -> Iterator[None]:
    """matplotlib's own defaults plus RC, whatever the user's matplotlibrc says."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({**RC, **WIDTHS[width]})
        yield


def words_size() -> float:
    """Points of the words inside of axes."""
    return float(matplotlib.rcParams["font.size"])


def variant_look(algorithm: str, variant: int, order: int = 0) -> Look:
    """The first variant solid with full markers; 36 pairs of line and filling before one comes again."""
    colour, marker = of_algorithm(algorithm)
    turn, place = divmod(variant, len(LINES))
    fill = FILLS[(place + turn) % len(FILLS)]
    return Look(colour, LINES[place], marker, order, fill, variant)


def looks(labels: Sequence[str], baseline: str | None, panels: Sequence[Sequence[str]] = ()) -> Mapping[str, Look]:
    """By label, whose first word is the algorithm. The words behind it choose line and filling, which are the same for every
    algorithm and every order of labels. The baseline has the first; words and numbers order the rest. An algorithm that
    meets another one of its colour has lines of its own. `panels`: the labels of each."""
    ordered = sorted(labels, key=lambda label: label != baseline)
    meeting: dict[str, set[str]] = {}
    for own in panels or [labels]:
        for name in (names := {label.split()[0] for label in own}):
            meeting.setdefault(name, set()).update(n for n in names if of_algorithm(n)[0] == of_algorithm(name)[0])

    def rank(label: str) -> tuple[object, ...]:
        name, _, words = label.partition(" ")
        numbers = [(float(part), "") if place % 2 else (0.0, part) for place, part in enumerate(_NUMBER.split(words))]
        return sorted(meeting[name]).index(name), bool(baseline) and words != baseline.partition(" ")[2], numbers

    ranks = sorted({repr(rank(label)): rank(label) for label in labels}.values())
    return {label: variant_look(label.split()[0], ranks.index(rank(label)), order) for order, label in enumerate(ordered)}


class LogTicks(Locator):  # type: ignore[misc]
    """At most `most`, and two at least: matplotlib's own leaves one if few have room."""

    def __init__(self, most: int) -> None:
        self._most = most

    def __call__(self) -> list[float]:
        return self.tick_values(*self.axis.get_view_interval())

    def tick_values(self, vmin: float, vmax: float) -> list[float]:
        low, high = sorted((vmin, vmax))
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        decades, halves = ([s * 10.0**p for p in powers for s in steps if low <= s * 10.0**p <= high] for steps in ((1,), (1, 2, 5)))
        found = halves if len(decades) < 2 or (high < 100 * low and self._most > 4) else decades
        if len(found) < 2:
            found = [tick for tick in MaxNLocator(min(self._most, 5), steps=[1, 2, 5, 10]).tick_values(low, high) if low <= tick <= high]
        apart = max(1, math.ceil(len(found) / self._most))
        return found[(len(found) - 1) % apart // 2::apart]


MARKER_SHARE = 0.05  # of a logarithmic axis, above and below: a point at its end is not cut


def log_axis(axes: Axes, low: float, high: float, text: Callable[[float, int], str],
             which: str = "x", most: int = 8) -> None:
    """A logarithmic axis from `low` to `high`, with 2 and 5 on it if decades are few, and `most` ticks."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    if which == "x":
        axes.set_xscale("log", nonpositive="mask")
        axes.set_xlim(low, high)
    else:
        room = (high / low) ** MARKER_SHARE
        axes.set_yscale("log", nonpositive="mask")
        axes.set_ylim(low / room, high * room)
    axis.set_major_locator(LogTicks(most))
    axis.set_major_formatter(FuncFormatter(text))
    axis.set_minor_formatter(NullFormatter())


def plain_tick(value: float, _position: int = 0) -> str:
    return f"{value:g}"


def ratio_text(ratio: Interval, digits: int = 3) -> str:
    """'1.23× [1.1, 1.4]', or '–'."""
    ends = "" if math.isnan(ratio.low) else f" [{significant(ratio.low, digits)}, {significant(ratio.high, digits)}]"
    return f"{significant(ratio.value, digits)}×{ends}" if ratio.known else "–"


def speed_text(ratio: Interval) -> str:
    """'1.23 times as fast [1.1, 1.4]', below 1 '4.35 times as slow [4.1, 4.6]'."""
    times, word = (ratio.inverse, "slow") if ratio.value < 1 else (ratio, "fast")
    return ratio_text(times).replace("×", f" times as {word}")


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
LETTERS = {-9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T"}


def _with_unit(value: float, unit: str, powers: tuple[int, int], plain: bool = False) -> str:
    """Three significant digits and a letter of SI; `plain`: as many as it needs."""
    if not math.isfinite(value):
        return "–"
    if value == 0:
        return f"0 {unit}".strip()
    if abs(value) < 1000 * 10.0 ** powers[1]:
        value = float(f"{value:.{5 if plain else 2}e}")  # 999.9 is 1000 before its letter is chosen
    power = min(max(math.floor(math.log10(abs(value))) // 3 * 3, powers[0]), powers[1])
    scaled = value / 10.0**power
    digits = f"{scaled:g}" if plain else f"{scaled:.{max(2 - math.floor(math.log10(abs(scaled))), 0)}f}"
    return f"{digits} {LETTERS[power]}{unit}".strip()


def si(value: float, unit: str) -> str:
    """1.23e7 '/s' as '12.3 M/s'."""
    return _with_unit(value, unit, AMOUNTS)


def duration(seconds: float) -> str:
    """0.0123 as '12.3 ms'."""
    return _with_unit(seconds, "s", TIMES)


def si_tick(value: float, _position: int = 0) -> str:
    """For the ticks of an axis: 12,300,000 as '12.3 M', 0 as '0'."""
    return _with_unit(value, "", AMOUNTS, plain=True)


def time_tick(value: float, _position: int = 0) -> str:
    """For the ticks of an axis of seconds: 0.00002 as '20 µs'."""
    return _with_unit(value, "s", TIMES, plain=True)
