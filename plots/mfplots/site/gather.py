"""The result folders below what was named, each with its cases, its series and what was wrong."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mfplots import stored
from mfplots.errors import PlotError
from mfplots.load import Results, load
from mfplots.series import View, make_view
from mfplots.stored import packed_in_place_of


@dataclass(frozen=True)
class Run:
    """A result folder: what `mfbench run` wrote for one spec."""

    name: str  # the shortest tail of its path that no other folder has
    path: Path
    results: Results
    view: View


@dataclass(frozen=True)
class Damaged:
    """A file or folder that could not be read, and why."""

    run: str
    why: str


def gather(paths: Sequence[Path]) -> tuple[list[Run], list[Damaged]]:
    """Raises PlotError where a path is not there, or no case is in any of them."""
    folders = result_folders(paths)
    runs: list[Run] = []
    damaged: list[Damaged] = []
    for name, folder in zip(distinct_names(folders), folders):
        wrong: list[str] = []
        try:
            results = load([folder], wrong)
            runs.append(Run(name, folder, results, make_view(results)))
        except PlotError as error:
            wrong.append(str(error))
        except (ArithmeticError, AttributeError, LookupError, OSError, RecursionError, TypeError,
                ValueError) as error:  # a file of another shape than its format
            wrong.append(f"{folder}: cannot be read as results: {error!r}")
        damaged += [Damaged(name, why.replace(str(folder), name)) for why in wrong]
    if not runs:
        said = f": {damaged[0].why}" if damaged else ""
        raise PlotError(f"no case in {', '.join(map(str, paths))}{said}")
    return runs, damaged


def result_folders(paths: Iterable[Path]) -> list[Path]:
    """Those with results at or below each path, packed ones too, each once."""
    found: dict[Path, Path] = {}
    for path in paths:
        if not path.is_dir() and not packed_in_place_of(path):
            raise PlotError(f"{path}: expected a folder of results, or one with such folders in it")
        for folder in stored.result_folders(path):
            found.setdefault(folder.resolve(), folder)
    return list(found.values())


def distinct_names(folders: Sequence[Path]) -> list[str]:
    """For each the last part of its path, with as many before it as tell it from the others."""
    parts = [folder.resolve().parts for folder in folders]
    deepest = max(map(len, parts), default=0)
    names = []
    for own in parts:
        depth = 1
        while depth < deepest and sum(p[-depth:] == own[-depth:] for p in parts) > 1:
            depth += 1
        names.append("/".join(own[-depth:]))
    return names


def case_key(run: str, case_id: str) -> str:
    """A name for files and links that no text of a result file can bend."""
    return hashlib.sha256(f"{run}\0{case_id}".encode("utf-8", "replace")).hexdigest()[:12]
