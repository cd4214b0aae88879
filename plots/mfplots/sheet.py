"""A page of panels in inches: title, axes, one legend and the small print, none over another."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

DPI = 200
SMALL = 6.5
FORMATS = ("png", "svg", "pdf")
# Dates and version strings would change the bytes of an unchanged figure.
METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": "mfbench"},
    "pdf": {"CreationDate": None, "Creator": "mfbench", "Producer": None},
}


class Sheet:
    def __init__(self, title: str, heights: Sequence[float], columns: int, panel_width: float,
                 gap: tuple[float, float] = (0.85, 1.0)) -> None:
        """`heights`: of the panels in inches, row by row; `gap`: between columns and rows."""
        columns = max(1, min(columns, len(heights)))
        rows = [heights[i:i + columns] for i in range(0, len(heights), columns)]
        self.width = columns * panel_width + (columns - 1) * gap[0]
        self.height = sum(max(row) for row in rows) + (len(rows) - 1) * gap[1]
        self.figure = Figure(figsize=(self.width, self.height))
        self.canvas = FigureCanvasAgg(self.figure)
        self.axes: list[Axes] = []
        top = self.height
        for row in rows:
            for column, height in enumerate(row):
                left = column * (panel_width + gap[0])
                self.axes.append(self._add_axes(left, top - height, panel_width, height))
            top -= max(row) + gap[1]
        self._title = title
        self._legend: list[Any] = []
        self._small_print: list[str] = []

    def _add_axes(self, left: float, bottom: float, width: float, height: float) -> Axes:
        return self.figure.add_axes((left / self.width, bottom / self.height,
                                     width / self.width, height / self.height))

    def legend(self, handles: Sequence[Any]) -> None:
        self._legend = list(handles)

    def small_print(self, lines: Sequence[str]) -> None:
        self._small_print = [line for line in lines if line]

    def save(self, base: Path, formats: Sequence[str]) -> list[Path]:
        self._arrange()
        paths = []
        for kind in formats:
            path = base.with_name(f"{base.name}.{kind}")
            self.figure.savefig(path, format=kind, dpi=DPI, bbox_inches="tight", pad_inches=0.12,
                                metadata=METADATA[kind])
            paths.append(path)
        return paths

    def _arrange(self) -> None:
        """Stacks what lies around the panels by its measured size; save() crops to what is."""
        self.figure.draw_without_rendering()
        boxes = [axes.get_tightbbox(self.canvas.get_renderer()) for axes in self.axes]
        inch = self.figure.dpi
        left = min(box.x0 for box in boxes) / inch
        right = max(box.x1 for box in boxes) / inch
        top = max(box.y1 for box in boxes) / inch
        bottom = min(box.y0 for box in boxes) / inch
        if self._title:
            self._text(left, top + 0.12, fit(self._title, right - left, 11.5, bold=True), "bottom",
                       fontsize=11.5, fontweight="bold")
        if self._legend:
            bottom = self._place_legend(left, right, bottom - 0.08)
        self._text(left, bottom - 0.1,
                   "\n".join(fit(line, right - left, SMALL) for line in self._small_print), "top",
                   fontsize=SMALL, color="#444444", linespacing=1.35)

    def _text(self, x: float, y: float, text: str, va: str, **style: Any) -> None:
        self.figure.text(x / self.width, y / self.height, text, va=va, ha="left", **style)

    def _place_legend(self, left: float, right: float, top: float) -> float:
        """As many columns as fit; returns the lower edge in inches."""
        for columns in range(min(4, len(self._legend)), 0, -1):
            legend = self.figure.legend(
                handles=self._legend, ncol=columns, loc="upper left", frameon=False,
                bbox_to_anchor=(left / self.width, top / self.height), borderaxespad=0,
                borderpad=0, handlelength=3.4, columnspacing=1.6)
            box = legend.get_window_extent(self.canvas.get_renderer())
            if box.width / self.figure.dpi <= right - left or columns == 1:
                break
            legend.remove()
        return box.y0 / self.figure.dpi


def fit(text: str, width: float, size: float, bold: bool = False) -> str:
    """Wraps `text` to `width` inches at a font size, by the mean width of a letter."""
    letter = size * (0.66 if bold else 0.56) / 72
    return "\n".join(textwrap.wrap(text, max(int(width / letter), 20)))
