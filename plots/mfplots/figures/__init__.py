"""The figures by name. A module in this folder adds one with the decorator `figure`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pandas.api.types import is_numeric_dtype

from mfplots.benchmarks import Benchmarks
from mfplots.errors import PlotError, hint
from mfplots.files import replacing
from mfplots.page import Page
from mfplots.printable import csv_cell
from mfplots.recipes import Recipe
from mfplots.series import View
from mfplots.style import styled

CURVES = ("quality-answer", "quality-passes")  # by default; training time is part of an answer
DEFAULTS = (*CURVES, "speedup", "throughput", "clocks")
NEED_VERSUS = ("speedup-trace",)  # drawn only with --versus
OF_BENCHMARKS = ("benchmark-bars",)  # drawn from benchmarks; the others from cases

Source = View | Benchmarks
Draw = Callable[[Any, Recipe], Page]
_FIGURES: dict[str, Draw] = {}


def figure(name: str) -> Callable[[Draw], Draw]:
    def register(draw: Draw) -> Draw:
        if name in _FIGURES:
            raise ValueError(f"two figures named {name}")
        _FIGURES[name] = draw
        return draw
    return register


def names() -> list[str]:
    return sorted(_FIGURES)


def draw(source: Source, recipe: Recipe) -> Page:
    if recipe.figure not in _FIGURES:
        raise PlotError(f'no figure "{recipe.figure}"{hint(recipe.figure, _FIGURES)}')
    return _FIGURES[recipe.figure](source, recipe)


def write(source: Source, recipe: Recipe, folder: Path, formats: Sequence[str], width: str = "page") -> list[Path]:
    """Draws one recipe; returns the files written: pictures, caption, numbers. Raises before writing any."""
    with styled(width):
        page = draw(source, recipe)
        try:
            return _save(page, recipe, folder, formats)
        except OSError as error:
            raise PlotError(f"{folder}: figures cannot be written there: {error.strerror or error}; "
                            "name another folder with --out") from error


def _save(page: Page, recipe: Recipe, folder: Path, formats: Sequence[str]) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    paths = page.save(folder / recipe.file_name, formats)
    caption = folder / f"{recipe.file_name}.txt"
    with replacing(caption) as file:
        file.write(page.caption.encode())
    table = folder / f"{recipe.file_name}.csv"
    numbers = page.numbers.apply(lambda column: column if is_numeric_dtype(column) else column.map(csv_cell))
    with replacing(table) as file:
        numbers.to_csv(file, index=False, float_format="%.10g")
    return [*paths, caption, table]


for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
