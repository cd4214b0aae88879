"""A page of panels in inches: title, axes, legends and the small print, none over another."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from mfplots.files import replacing
from mfplots.widths import OWN, Width

DPI = 200
FORMATS = ("png", "svg", "pdf")
PAD = 0.12         # around the page, inches
IN_A_LEGEND = 8    # from more on each panel has its own
LEAST_PANEL = 2.6  # inches with its labels: narrower panels stand below each other
# Dates and version strings would change the bytes of an unchanged figure.
METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": "mfbench"},
    "pdf": {"CreationDate": None, "Creator": "mfbench", "Producer": None},
}


class Page(Figure):
    """`narrow`: what panels do where the page is too narrow for words beside them; called with the
    inches there are, and returns the height that the panel then needs."""

    def __init__(self, **keys: Any) -> None:
        super().__init__(**keys)
        self.narrow: dict[Axes, Callable[[float], float]] = {}


class Sheet:
    def __init__(self, title: str, heights: Sequence[float], columns: int, panel_width: float,
                 gap: tuple[float, float] = (0.85, 1.0)) -> None:
        """`heights`: of the panels in inches, row by row; `gap`: between columns and rows."""
        self._heights = list(heights)
        self._panel_width, self._gap = panel_width, gap
        self.columns = max(1, min(columns, len(heights)))
        rows = [heights[i:i + self.columns] for i in range(0, len(heights), self.columns)]
        self.width = self.columns * panel_width + (self.columns - 1) * gap[0]
        self.height = sum(max(row) for row in rows) + (len(rows) - 1) * gap[1]
        self.figure = Page(figsize=(self.width, self.height), dpi=DPI)
        self.canvas = FigureCanvasAgg(self.figure)
        self.axes: list[Axes] = [self.figure.add_axes((0, 0, 1, 1), label=str(i))
                                 for i in range(len(heights))]
        self._place()
        self._title = title
        self._legend: list[Any] = []
        self._panel_legends: list[list[Any]] = []
        self._small_print: list[str] = []
        self._page = OWN

    def legend(self, handles: Sequence[Any]) -> None:
        """One for the page."""
        self._legend = list(handles)

    def panel_legends(self, handles: Sequence[Sequence[Any]]) -> None:
        """One below each panel."""
        self._panel_legends = [list(own) for own in handles]

    def small_print(self, lines: Sequence[str]) -> None:
        self._small_print = [line for line in lines if line]

    def for_page(self, width: Width, small_print: bool = True) -> None:
        """Before save(): how wide the page is, and whether it says what it rests on."""
        self._page = width
        if not small_print:
            self._small_print = []

    def save(self, base: Path, formats: Sequence[str]) -> list[Path]:
        page = self._arrange().padded(PAD)  # "tight" would draw it twice in every format
        paths = []
        for kind in formats:
            path = base.with_name(f"{base.name}.{kind}")
            with replacing(path) as file:
                self.figure.savefig(file, format=kind, dpi=DPI, bbox_inches=page,
                                    metadata=METADATA[kind])
            paths.append(path)
        return paths

    def _place(self, below: Sequence[float] = ()) -> None:
        """`below`: inches that each row keeps free below itself, besides the gap."""
        top = self.height
        for row in range(0, len(self.axes), self.columns):
            panels = range(row, min(row + self.columns, len(self.axes)))
            for column, i in enumerate(panels):
                left = column * (self._panel_width + self._gap[0])
                self.axes[i].set_position((
                    left / self.width, (top - self._heights[i]) / self.height,
                    self._panel_width / self.width, self._heights[i] / self.height))
            free = below[row // self.columns] if below else 0.0
            top -= max(self._heights[i] for i in panels) + self._gap[1] + free

    def _arrange(self) -> Bbox:
        """Stacks what lies around the panels by its measured size; returns what is covered, in inches."""
        if self._page.inches:
            self._fit(self._page.inches - 2 * PAD)
        self._place_panel_legends()
        panels = self._inches([*(axes.get_tightbbox(self.canvas.get_renderer()) for axes in self.axes),
                               *map(self._extent, self.figure.legends)])
        left, bottom, right, top = panels.extents
        if self._page.inches:
            right = left + self._page.inches - 2 * PAD
            self._rule(left, right, top)
        if self._title:
            size = self._page.title
            self._text(left, top + 0.12, fit(self._title, right - left, size, bold=True), "bottom",
                       fontsize=size, fontweight="bold")
        if self._legend:
            bottom = self._place_legend(left, right, bottom - 0.08)
        self._text(left, bottom - 0.1,
                   "\n".join(fit(line, right - left, self._page.small)
                             for line in self._small_print), "top",
                   fontsize=self._page.small, color="#444444", linespacing=1.35)
        around = map(self._extent, [*self.figure.texts, *self.figure.legends])
        return Bbox.union([panels, self._inches([*around])])

    def _extent(self, item: Legend | Text) -> Bbox:
        return item.get_window_extent(self.canvas.get_renderer())

    def _inches(self, boxes: Sequence[Bbox]) -> Bbox:
        return Bbox(Bbox.union(boxes).get_points() / self.figure.dpi)

    def _fit(self, inches: float) -> None:
        """As many panels side by side as have room; what words take is left for them."""
        narrow = self.figure.narrow
        self.columns = max(1, min(self.columns, int(inches / LEAST_PANEL)))
        if narrow:
            self.columns = 1
        whole = (inches - (self.columns - 1) * 0.15) / self.columns
        if narrow and inches < 6.5:
            for i, axes in enumerate(self.axes):
                self._heights[i] = narrow[axes](whole)
        for axes in self.axes:
            axes.set_title(fit(axes.get_title(loc="left"), whole - 0.3,
                               axes._left_title.get_fontsize()), loc="left")
        scale = min(1.0, whole / (self._panel_width + 0.7))
        if not narrow:
            self._heights = [max(1.5, h * scale) for h in self._heights]
        self._panel_width = whole - 0.8
        for _ in range(3):  # labels of ticks change with the width
            self._place()
            left, right = self._margins()
            self._panel_width = max(0.8, whole - left - right)
            self._gap = (left + right + 0.15, self._gap[1])
        self._place()

    def _margins(self) -> tuple[float, float]:
        self.figure.draw_without_rendering()
        inch, lefts, rights = self.figure.dpi, [], []
        for axes in self.axes:
            box, inner = axes.get_tightbbox(self.canvas.get_renderer()), axes.get_window_extent()
            lefts.append((inner.x0 - box.x0) / inch)
            rights.append((box.x1 - inner.x1) / inch)
        return max(lefts), max(rights)

    def _rule(self, left: float, right: float, y: float) -> None:
        """Nothing to see: it keeps the width that was asked for when the page is cropped."""
        for x in (left, right):
            self.figure.text(x / self.width, y / self.height, " ", fontsize=1,
                             ha="left" if x == left else "right")

    def _text(self, x: float, y: float, text: str, va: str, **style: Any) -> None:
        self.figure.text(x / self.width, y / self.height, text, va=va, ha="left", **style)

    def _place_panel_legends(self) -> None:
        """Below the labels of each panel; rows make room for the tallest legend above them."""
        if not any(self._panel_legends):
            return
        legends = [self._legend_at(handles, 0, 0, 1) if handles else None
                   for handles in self._panel_legends]
        self.figure.draw_without_rendering()
        inch, renderer = self.figure.dpi, self.canvas.get_renderer()
        high = [legend.get_window_extent(renderer).height / inch if legend else 0.0
                for legend in legends]
        rows = range(0, len(high), self.columns)
        self._place([max(high[row:row + self.columns]) for row in rows])
        self.figure.draw_without_rendering()
        for axes, legend in zip(self.axes, legends):
            if legend:
                box = axes.get_tightbbox(renderer)
                place = (box.x0 / inch / self.width, (box.y0 / inch - 0.06) / self.height)
                legend.set_bbox_to_anchor(place, transform=self.figure.transFigure)

    def _legend_at(self, handles: Sequence[Any], x: float, y: float, columns: int) -> Legend:
        if self._page.inches:
            room = (self._page.inches - 2 * PAD - 0.15) / (self.columns if columns == 1 else 1)
            for handle in handles:
                handle.set_label(fit(handle.get_label(), room - 0.75, self._page.text))
        return self.figure.legend(
            handles=handles, ncol=columns, loc="upper left", frameon=False,
            bbox_to_anchor=(x / self.width, y / self.height), borderaxespad=0, borderpad=0,
            handlelength=3.4, columnspacing=1.6)

    def _place_legend(self, left: float, right: float, top: float) -> float:
        """As many columns as fit; returns the lower edge in inches."""
        for columns in range(min(4, len(self._legend)), 0, -1):
            legend = self._legend_at(self._legend, left, top, columns)
            legend.draw(self.canvas.get_renderer())  # lines of one label are known after it
            box = self._extent(legend)
            if box.width / self.figure.dpi <= right - left or columns == 1:
                break
            legend.remove()
        return box.y0 / self.figure.dpi


def fit(text: str, width: float, size: float, bold: bool = False) -> str:
    """Wraps `text` to `width` inches at a font size, by the mean width of a letter."""
    letter = size * (0.66 if bold else 0.56) / 72
    return "\n".join(textwrap.wrap(text, max(int(width / letter), 20)))
