"""The result folders below the named paths, each with its cases, its series and its faults."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mfplots.errors import PlotError
from mfplots.load import Results, load_folders
from mfplots.series import View, distinct_names, make_view


@dataclass(frozen=True)
class Run:
    """A result folder: the output of `mfbench run` for one spec."""

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
    """Runs of the folders with results at or below each path; the trials of a study (docs/tuning.md) are not cases.
    Raises PlotError if a path is missing, or without any case."""
    folders, left_out = load_folders(paths, lines=True)
    told_apart = distinct_names(map(Path, dict.fromkeys([*folders, *(item.folder for item in left_out)])))
    names = {str(folder): name for folder, name in told_apart.items()}
    damaged = [Damaged(names[item.folder], item.why.replace(item.folder, names[item.folder])) for item in left_out]
    runs: list[Run] = []
    for folder, results in folders.items():
        try:
            runs.append(Run(names[folder], Path(folder), results, make_view(results)))
        except PlotError as error:
            damaged.append(Damaged(names[folder], str(error)))
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError,
                ValueError) as error:  # parts of another shape than their format
            damaged.append(Damaged(names[folder], f"cannot be read as results: {error!r}"))
    if not runs:
        said = f": {damaged[0].why}" if damaged else ""
        raise PlotError(f"no case in {', '.join(map(str, paths))}{said}")
    return runs, damaged


def case_key(run: str, case_id: str) -> str:
    """A name for links that no text of a result file can bend. It begins with the name of its file, which has two digits of the
    run and one of four parts. The cases of a run are spread over the parts."""
    of_run, of_case = (hashlib.sha256(text.encode("utf-8", "replace")).hexdigest() for text in (run, f"{run}\0{case_id}"))
    return of_run[:2] + str(int(of_case[0], 16) // 4) + of_case[:9]
