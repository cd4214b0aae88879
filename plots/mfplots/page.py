"""A figure of panels in inches: title, axes and a legend, none over another; its caption is a file beside it.

Width and greatest height are those of the style (style.styled), as matplotlib's figure.figsize."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import matplotlib
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FixedFormatter, FixedLocator
from PIL import Image

from mfplots.errors import NotDrawable
from mfplots.files import replacing

DPI = 200
FORMATS = ("png", "svg", "pdf")
COLOURS = 128       # of a PNG
CLOSE = 0.01        # inches from the height that is wanted
PAD = 0.06          # around the figure and between its parts, inches
FLAT = 0.68         # of a panel of curves: its height over its width,
TALL = 0.42         # and over that of the figure at most
LEAST_AXES = 0.45   # inches: lower axes show nothing
SIDE_BY_SIDE = 2.2  # inches a panel, from which two stand beside each other
HANDLE, BETWEEN = 2.4, 0.9  # of a legend, in sizes of its letters
# Dates and version strings would change the bytes of an unchanged figure.
METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": "mfbench"},
    "pdf": {"CreationDate": None, "Creator": "mfbench", "Producer": None},
}
HOW_TO_FIT = "narrow the results by a filter, or take a wider page (--width page)"


class Page:
    """A finished figure and the numbers on it, which are written beside it as CSV, as its caption is as text."""

    numbers: pd.DataFrame

    def __init__(self, title: str, panels: int = 1, rows: Sequence[float] = ()) -> None:
        """`rows`: inches that all rows of each panel of bars take, one below the other. By default as many panels as
        have room stand side by side, as high as `FLAT` says, or lower if the page is full."""
        self.width, self.highest = map(float, matplotlib.rcParams["figure.figsize"])
        self.columns = 1 if rows else _columns(panels, self.width)
        self._lines = math.ceil(panels / self.columns)  # of panels below each other
        self._rows = sum(rows)
        self.figure = Figure(figsize=(self.width, self.highest), dpi=DPI)
        self.canvas = FigureCanvasAgg(self.figure)
        grid = self.figure.add_gridspec(self._lines, self.columns, height_ratios=list(rows) or None)
        self.axes: list[Axes] = [self.figure.add_subplot(grid[i // self.columns, i % self.columns], label=str(i))
                                 for i in range(panels)]
        self.title = title
        self.handles: list[Any] = []
        self._notes: list[str] = []
        self._left_out: dict[str, list[str]] = {}
        self._arranged = False

    def done(self, numbers: pd.DataFrame, notes: Sequence[str], handles: Sequence[Any] = ()) -> Page:
        """`notes`: the lines of the caption, the first of which the picture has, too; `handles`: of its one legend."""
        self.numbers, self._notes, self.handles = numbers, list(filter(None, notes)), list(handles)
        return self

    def leave_out(self, name: str, why: str) -> None:
        """A series without a value has no mark. The foot of the picture names it, with others of the same reason."""
        self._left_out.setdefault(why, []).append(name)

    @property
    def foot(self) -> str:
        """Words below the axes: n, and what is left out."""
        return " ".join([*(f"{note}." for note in self._notes[:1]), *(f"Not drawn ({why}): {', '.join(dict.fromkeys(names))}." for why, names in self._left_out.items())])

    @property
    def caption(self) -> str:
        """The basis of the figure: n, bands, cases, revision, machine."""
        return "\n".join(filter(None, [self.title, self.foot, *self._notes[1:]])) + "\n"

    def save(self, base: Path, formats: Sequence[str]) -> list[Path]:
        """Raises NotDrawable if its rows have no room."""
        self.arrange()
        paths = [base.with_name(f"{base.name}.{kind}") for kind in formats]
        for path, kind in zip(paths, formats):
            with replacing(path) as file:
                self._write(file, kind)
        return paths

    def _write(self, file: IO[bytes], kind: str) -> None:
        drawn = BytesIO() if kind == "png" else file
        self.figure.savefig(drawn, format=kind, dpi=DPI, metadata=METADATA[kind])
        if kind == "png":
            packed = Image.open(drawn).convert("RGB").quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
            packed.save(file, format="png", optimize=True)  # a third of the bytes: a figure has few colours

    def arrange(self) -> None:
        """Once: gives everything its place."""
        if self._arranged:
            return
        self._arranged = True
        label, size = self._wrap(), float(matplotlib.rcParams["axes.labelsize"])
        small = float(matplotlib.rcParams["legend.fontsize"])
        foot = fit(self.foot, self.width - 2 * PAD, small)
        ground = self._legend() + _high(foot, small)
        below = ground + _high(label, size)
        self._lay_out(below)
        height, boxes = self.figure.get_figheight(), [axes.get_position() for axes in self.axes]
        middle = (min(box.x0 for box in boxes) + max(box.x1 for box in boxes)) / 2
        half = _widest(label, size) / 2 / self.width
        self.figure.text(max(half, min(middle, 1 - half)), (below - PAD / 2) / height, label, va="top", ha="center", fontsize=size)
        self.figure.text(PAD / self.width, (ground - PAD / 2) / height, foot, va="top", fontsize=small, color="#444444")
        if self.figure._supylabel:
            self.figure._supylabel.set_y((min(box.y0 for box in boxes) + max(box.y1 for box in boxes)) / 2)
        for axes in self.axes:
            for axis in (axes.xaxis, axes.yaxis):
                _thin_out(axis, self.canvas.get_renderer())

    def _wrap(self) -> str:
        """Breaks the lines of titles and labels. Labels that all panels share stand once: that of y to the left, that of
        x, which is returned, below all."""
        size, whole = float(matplotlib.rcParams["axes.labelsize"]), self.width / self.columns
        self.figure.suptitle(fit(self.title, self.width - 2 * PAD, float(matplotlib.rcParams["figure.titlesize"]), bold=True),
                             x=PAD / self.width, ha="left", fontweight="bold", linespacing=1.15)
        xs, ys = [axes.get_xlabel() for axes in self.axes], [axes.get_ylabel() for axes in self.axes]
        shared, once = xs[0] if len(set(xs)) == 1 else "", len(ys) > 1 and len(set(ys)) == 1 and ys[0]
        flat = FLAT * (whole - 0.6)
        if once:
            self.figure.supylabel(fit(once, min(0.6 * self.highest, flat * self._lines + 0.3), size), fontsize=size)
        room = 0.64 * whole if self._rows else whole - (0.4 if self.columns == 1 else 0.75)
        for i, axes in enumerate(self.axes):
            axes.set_title(fit(axes.get_title(loc="left"), room, axes._left_title.get_fontsize()), loc="left")
            axes.set_xlabel("" if shared else fit(xs[i], whole - 0.6, size))
            axes.set_ylabel("" if once else fit(ys[i], flat, size))
        return fit(shared, self.width - 2 * PAD, size)

    def _legend(self) -> float:
        """With the number of columns that makes it lowest; long names take two lines. Returns how high it is."""
        if not self.handles:
            return 0.0
        size, names = float(matplotlib.rcParams["legend.fontsize"]), [handle.get_label() for handle in self.handles]
        found = []
        for columns in range(1, min(4, len(names)) + 1):
            room = (self.width - 2 * PAD) / columns - (HANDLE + BETWEEN + 0.6) * size / 72
            lines = [fit(name, room, size) for name in names]
            if columns == 1 or all(line.count("\n") < 2 and _widest(line, size) <= room for line in lines):
                rows = math.ceil(len(lines) / columns)
                found.append((sum(max(line.count("\n") + 1 for line in lines[i::rows]) for i in range(rows)), -columns, lines))
        _, columns, lines = min(found)
        for handle, line in zip(self.handles, lines):
            handle.set_label(line)
        legend = self.figure.legend(
            handles=self.handles, ncol=-columns, loc="lower left", frameon=False, borderaxespad=PAD * 72 / size, borderpad=0,
            handlelength=HANDLE, columnspacing=BETWEEN, labelspacing=0.3, handletextpad=0.5)
        legend.draw(self.canvas.get_renderer())  # lines of one label are known after it
        return float(legend.get_window_extent(self.canvas.get_renderer()).height) / DPI + 2 * PAD

    def _lay_out(self, below: float) -> None:
        """Panels from `below` inches up, with room for their words; as high as wanted, or as there is."""
        height = self.highest
        for last in (False, False, True):  # what stands around panels changes a little with them
            self.figure.set_size_inches(self.width, height)
            if height - below < LEAST_AXES * self._lines:
                self._refuse()
            ConstrainedLayoutEngine(w_pad=PAD / 2, h_pad=PAD / 2, wspace=0.02, hspace=0.02, rect=(
                0, below / height, 1, 1 - below / height)).execute(self.figure)
            boxes = [axes.get_position() for axes in self.axes]
            high = sum(box.height for box in boxes[::self.columns]) * height
            wanted = self._rows or min(FLAT * boxes[0].width, max(TALL, 2.2 / self.width)) * self.width * self._lines
            if high < (0.9 * wanted if self._rows else LEAST_AXES * self._lines) and height >= self.highest:
                self._refuse()
            better = min(self.highest, round(height + wanted - high, 2))
            if last or abs(better - height) < CLOSE:
                break
            height = better
        for axes, box in zip(self.axes, boxes):  # the solver's last digits differ from run to run
            axes.set_position([round(edge, 4) for edge in box.bounds])

    def _refuse(self) -> None:
        raise NotDrawable(f"{self.title or 'the figure'}: no room for its {'rows' if self._rows else 'panels'} "
                          f"on {self.width:g} x {self.highest:g} inches; {HOW_TO_FIT}")


def _columns(panels: int, width: float) -> int:
    most = max(1, int(width / SIDE_BY_SIDE))
    return min(panels, 2 if panels == 4 else 3, most)


def _thin_out(axis: Axis, renderer: RendererAgg) -> None:
    """Removes numbers that would lie over the one before them."""
    if isinstance(axis.get_major_formatter(), FixedFormatter):
        return  # names, which have their room
    low, high = sorted(axis.get_view_interval())
    ticks = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high and tick.label1.get_text()]
    kept: list[Any] = []
    for tick in sorted(ticks, key=lambda tick: tick.get_loc()):
        box = tick.label1.get_window_extent(renderer)
        if not any(box.padded(3).overlaps(other.label1.get_window_extent(renderer)) for other in kept):
            kept.append(tick)
    if len(kept) < len(ticks):
        axis.set_major_locator(FixedLocator([tick.get_loc() for tick in kept]))


@cache
def _ruler() -> RendererAgg:
    return RendererAgg(1, 1, 72)


@cache
def inches_of(text: str, size: float, bold: bool = False) -> float:
    """How wide the text is at that size."""
    font = FontProperties(size=size, weight="bold" if bold else "normal")
    width, _, _ = _ruler().get_text_width_height_descent(text, font, False)
    return float(width) / 72


_WORDS = re.compile(r"[^ \n]+(?: = [^ \n]+)?(?: [†‡][,.]?)*")  # "f = 50" is one, and marks stay where they are


def fit(text: str, width: float, size: float, bold: bool = False) -> str:
    """Wraps `text` between its words to `width` inches at a font size."""
    lines: list[str] = []
    for word in _WORDS.findall(text):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and inches_of(longer, size, bold) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return "\n".join(lines)


def _high(text: str, size: float) -> float:
    return (text.count("\n") + 1) * 1.25 * size / 72 + PAD / 2 if text else 0.0


def _widest(text: str, size: float) -> float:
    return max(inches_of(line, size) for line in text.split("\n"))
