"""A figure of panels in inches: title, axes and legends, none over another; its caption is a file beside it.

Width and greatest height are those of the style (style.styled), as matplotlib's figure.figsize.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedFormatter, FixedLocator
from PIL import Image

from mfplots.direct import place_labels, place_levels
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
DIRECT = 6          # curves up to which names may stand at them
# Dates and version strings would change the bytes of an unchanged figure.
METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": "mfbench"},
    "pdf": {"CreationDate": None, "Creator": "mfbench", "Producer": None},
}
HOW_TO_FIT = "narrow the results by a filter, or take a wider page (--width page)"


@dataclass(frozen=True)
class Named:
    """A curve with the name that may stand at it."""

    line: Line2D
    name: str


class Sheet:
    def __init__(self, title: str, panels: int = 1, rows: Sequence[float] = ()) -> None:
        """`rows`: inches that all rows of each panel of bars take, one below the other. By default as many panels as
        have room stand side by side, as high as `FLAT` says, or lower where the page is full."""
        self.width, self.highest = map(float, matplotlib.rcParams["figure.figsize"])
        self.columns = 1 if rows else _columns(panels, self.width)
        self._lines = math.ceil(panels / self.columns)  # of panels below each other
        self._rows = list(rows)
        self.figure = Figure(figsize=(self.width, self.highest), dpi=DPI)
        self.canvas = FigureCanvasAgg(self.figure)
        grid = self.figure.add_gridspec(self._lines, self.columns, height_ratios=self._rows or None)
        self.axes: list[Axes] = [self.figure.add_subplot(grid[i // self.columns, i % self.columns], label=str(i))
                                 for i in range(panels)]
        self._title = title
        self._groups: list[list[Any]] = []
        self._named: list[Named] = []
        self._small_print: list[str] = []
        self._arranged = False

    def legend(self, *groups: Sequence[Any], named: Sequence[Named] = ()) -> None:
        """One for the figure, each group below the one before. If there is room, the names of `named` stand at their
        curves instead."""
        self._groups = [list(group) for group in groups if group]
        self._named = list(named)

    def small_print(self, lines: Sequence[str]) -> None:
        self._small_print = [line for line in lines if line]

    @property
    def caption(self) -> str:
        """What the figure rests on: n, bands, cases, revision, machine."""
        return "\n".join(line for line in [self._title, *self._small_print] if line) + "\n"

    def save(self, base: Path, formats: Sequence[str]) -> list[Path]:
        """Raises NotDrawable where its rows have no room."""
        self.arrange()
        paths = []
        for kind in formats:
            path = base.with_name(f"{base.name}.{kind}")
            with replacing(path) as file:
                self._write(file, kind)
            paths.append(path)
        return paths

    def _write(self, file: IO[bytes], kind: str) -> None:
        if kind != "png":
            self.figure.savefig(file, format=kind, dpi=DPI, metadata=METADATA[kind])
            return
        drawn = BytesIO()
        self.figure.savefig(drawn, format=kind, dpi=DPI, metadata=METADATA[kind])
        packed = Image.open(drawn).convert("RGB").quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
        packed.save(file, format="png", optimize=True)  # a third of the bytes: a figure has few colours

    def arrange(self) -> None:
        """Once: gives everything its place."""
        if self._arranged:
            return
        self._arranged = True
        size = float(matplotlib.rcParams["figure.titlesize"])
        title = fit(self._title, self.width - 2 * PAD, size, bold=True)
        over = _lines_high(title, size) + PAD if title else 0.0
        x_label, y_label = self._share_labels()
        if not self._direct(over, x_label, y_label):
            legends = [self._legend(group) for group in self._groups]
            highs = [legend.get_window_extent(self.canvas.get_renderer()).height / DPI + PAD for legend in legends]
            self._lay_out(over, sum(highs), x_label, y_label)
            top = sum(highs)
            for legend, high in zip(legends, highs):
                legend.set_bbox_to_anchor((PAD / self.width, top / self._height), transform=self.figure.transFigure)
                top -= high
        for axes in self.axes:
            for axis in (axes.xaxis, axes.yaxis):
                _thin_out(axis, self.canvas.get_renderer())
            place_levels(axes, self.canvas.get_renderer())
        self.figure.text(PAD / self.width, 1 - PAD / self._height, title, va="top", ha="left", fontsize=size,
                         fontweight="bold", linespacing=1.15)

    @property
    def _height(self) -> float:
        return float(self.figure.get_figheight())

    def _direct(self, over: float, x_label: str, y_label: str) -> bool:
        """Whether every curve has its name at it."""
        if not self._named or len(self.axes) > 1 or len(self._named) > DIRECT:
            return False
        before = list(self.figure.texts)
        self._lay_out(over, 0.0, x_label, y_label)
        size = float(matplotlib.rcParams["legend.fontsize"])
        if place_labels(self.axes[0], [one.line for one in self._named], [one.name for one in self._named], size,
                        self.canvas.get_renderer()):
            return True
        for text in [text for text in self.figure.texts if text not in before]:
            text.remove()
        return False

    def _lay_out(self, over: float, below: float, x_label: str, y_label: str) -> None:
        """Panels between `over` and `below` inches, with room for their words; as high as wanted, or as there is.
        The labels are those of all panels."""
        size = float(matplotlib.rcParams["axes.labelsize"])
        left, foot = (_lines_high(label, size) + PAD / 2 if label else 0.0 for label in (y_label, x_label))
        height = self.highest
        for last in (False, False, True):  # what stands around panels changes a little with them
            self.figure.set_size_inches(self.width, height)
            body = height - over - below - foot - PAD
            if body < LEAST_AXES * self._lines:
                self._refuse()
            engine = ConstrainedLayoutEngine(w_pad=PAD / 2, h_pad=PAD / 2, wspace=0.02, hspace=0.02, rect=(
                left / self.width, (below + foot) / height, 1 - left / self.width, body / height))
            self.figure.set_layout_engine(engine)
            engine.execute(self.figure)
            boxes = [axes.get_position() for axes in self.axes]
            high = sum(box.height for box in boxes[::self.columns]) * height
            wanted = sum(self._rows) or min(FLAT * boxes[0].width, max(TALL, 2.2 / self.width)) * self.width * self._lines
            if high < (0.9 * wanted if self._rows else LEAST_AXES * self._lines) and height >= self.highest:
                self._refuse()
            better = min(self.highest, round(height + wanted - high, 2))
            if last or abs(better - height) < CLOSE:
                break
            height = better
        self.figure.set_layout_engine("none")
        for axes, box in zip(self.axes, boxes):  # the solver's last digits differ from run to run
            axes.set_position([round(edge, 4) for edge in box.bounds])
            axes.set_in_layout(True)  # again, which a position of its own takes away
        boxes = [axes.get_position() for axes in self.axes]
        middle = (min(box.x0 for box in boxes) + max(box.x1 for box in boxes)) / 2
        half = inches_of(max(x_label.split("\n"), key=len), size) / 2 / self.width
        self.figure.text(max(half, min(middle, 1 - half)), (below + foot - PAD / 2) / height, x_label, va="top", ha="center",
                         fontsize=size)
        self.figure.text(PAD / 2 / self.width, (below + foot + body / 2) / height, y_label, va="center", ha="left",
                         fontsize=size, rotation=90)

    def _refuse(self) -> None:
        raise NotDrawable(f"{self._title or 'the figure'}: no room for its {'rows' if self._rows else 'panels'} "
                          f"on {self.width:g} x {self.highest:g} inches; {HOW_TO_FIT}")

    def _share_labels(self) -> tuple[str, str]:
        """The labels of x and y that all panels share, to stand once; '' if they differ. Wraps words longer than their axis."""
        size = float(matplotlib.rcParams["axes.labelsize"])
        whole = self.width / self.columns
        shared = []
        flat = FLAT * (whole - 0.6)
        for which, own, room in (("x", whole - 0.6, self.width - 2 * PAD), ("y", flat, min(0.6 * self.highest, flat * self._lines + 0.3))):
            said = [getattr(axes, f"get_{which}label")() for axes in self.axes]
            once = len(set(said)) == 1 and (len(said) > 1 or bool(self._rows))
            shared.append(fit(said[0], room, size) if once else "")
            for axes, words in zip(self.axes, said):
                getattr(axes, f"set_{which}label")("" if once else fit(words, own, size))
        room = 0.64 * whole if self._rows else whole - (0.4 if self.columns == 1 else 0.75)
        for axes in self.axes:
            axes.set_title(fit(axes.get_title(loc="left"), room, axes._left_title.get_fontsize()), loc="left")
        return shared[0], shared[1]

    def _legend(self, handles: Sequence[Any]) -> Legend:
        """With the number of columns that makes it lowest; long names take two lines."""
        size = float(matplotlib.rcParams["legend.fontsize"])
        names = [handle.get_label() for handle in handles]
        found: list[tuple[int, int]] = []  # lines and columns
        for columns in range(1, min(4, len(handles)) + 1):
            lines = [fit(name, self._name_room(columns, size), size) for name in names]
            if columns == 1 or all(line.count("\n") < 2 and _widest(line, size) <= self._name_room(columns, size) for line in lines):
                rows = math.ceil(len(lines) / columns)
                found.append((sum(max(line.count("\n") + 1 for line in lines[i::rows]) for i in range(rows)), -columns))
        columns = -min(found)[1]
        for handle, name in zip(handles, names):
            handle.set_label(fit(name, self._name_room(columns, size), size))
        legend = self.figure.legend(
            handles=handles, ncol=columns, loc="upper left", frameon=False, bbox_to_anchor=(0, 1), borderaxespad=0,
            borderpad=0, handlelength=HANDLE, columnspacing=BETWEEN, labelspacing=0.3, handletextpad=0.5)
        legend.draw(self.canvas.get_renderer())  # lines of one label are known after it
        return legend

    def _name_room(self, columns: int, size: float) -> float:
        return (self.width - 2 * PAD) / columns - (HANDLE + BETWEEN + 0.6) * size / 72


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


_WORDS = re.compile(r"[^ \n]+(?: = [^ \n]+)?(?: [†‡])*")  # "f = 50" is one, and marks stay where they are


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


def _widest(text: str, size: float) -> float:
    return max(inches_of(line, size) for line in text.split("\n"))


def _lines_high(text: str, size: float) -> float:
    return (text.count("\n") + 1) * 1.25 * size / 72
