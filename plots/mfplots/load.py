"""Results as two tidy frames: one row a case, one row a trace point.

    from mfplots.load import load
    results = load(["results/runs/quickstart"])
    results.cases, results.trace

mfbench reads the files and computes derived values (`mfbench summarize`). Public: `load`, `load_folders` and `Results`,
the constants, and `mfplots.errors.PlotError`, raised for every fault of a file. docs/reference/results.md has the
columns.
"""

from __future__ import annotations

import math
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from mfplots import program
from mfplots.errors import PlotError
from mfplots.traces import Numbers

UNFINISHED, MISSING, PENDING = program.UNFINISHED, program.MISSING, program.PENDING
NOT_RUN = (*PENDING, "skipped")  # without a run that could have times or errors

LARGE = ("phases", "host_load", "device_load", "metrics", "load_parts", "placement", "ranks", "shared")
SHARED = ("params", "schedule", "split", "init", "stop", "evaluate", "scale", "facts", "ranking")

Json = dict[str, Any]


@dataclass
class Results:
    """`cases`: one row a case, index `case`. `trace`: one row an evaluated epoch, keyed by `case`.

    Nested parts of header and footer (params, schedule, init, stop, evaluate, split, phases, ...) stay dicts or lists in
    object columns."""

    cases: pd.DataFrame
    trace: pd.DataFrame


@dataclass(frozen=True)
class LeftOut:
    """A file or folder that is not a result, and why."""

    folder: str
    why: str


def load(paths: Iterable[str | Path], damaged: list[str] | None = None) -> Results:
    """Reads result folders, folders that contain such folders, and single .jsonl files, each file once.

    A folder counts the cases that its spec.json lists, also those without a file yet (status MISSING) and takes baseline
    and target from there; without a spec.json it counts all its files. A case without its footer has the status
    UNFINISHED. Raises PlotError naming file and line of the first damaged one, if two files of a folder are one case, and
    if no case has begun; with a list for `damaged`, faults of a file go into it, and the file is left out."""
    paths, left_out = list(paths), []
    cases = list(_summaries(paths, left_out))
    if left_out and damaged is None:
        raise PlotError(left_out[0].why)
    if damaged is not None:
        damaged += [item.why for item in left_out]
    if not any(case["algorithm"] for case in cases):
        raise PlotError(f"no case of {', '.join(map(str, paths))} has begun yet")
    return _frames(cases)


def load_folders(paths: Iterable[str | Path], lines: bool = False) -> tuple[dict[str, Results], list[LeftOut]]:
    """The same for each folder separately, and the files left out. With `lines`, a call of their column of that name
    reads the text of a case's file, and LARGE columns are empty."""
    left_out: list[LeftOut] = []
    alike = sorted(paths, key=lambda path: str(Path(path).parent) if Path(path).is_file() else "")  # files of a folder in a row
    cases = _summaries(alike, left_out, *(["--lines"] if lines else []))
    return {folder: _frames(list(own)) for folder, own in groupby(cases, lambda case: str(Path(case["file"]).parent))}, left_out


def _summaries(paths: Iterable[str | Path], left_out: list[LeftOut], *options: str) -> Iterator[Json]:
    """Packed, since there are thousands of cases: they share names of columns, texts and the values of SHARED. The
    other lines go into `left_out`, and the text of their files into one, since it would fill the memory."""
    known, kept = {}, tempfile.TemporaryFile()
    for line in program.lines("summarize", "--json", *options, *paths):
        if line.pop("type") != "case":
            left_out.append(LeftOut(**line))
            continue
        if line.get("lines"):
            text = line["lines"].encode("utf-8", "surrogatepass")
            line |= dict.fromkeys(LARGE) | {"lines": partial(_read, kept, kept.tell(), len(text))}
            kept.write(text)
        line["trace"] = {sys.intern(name): _packed(column) for name, column in line["trace"].items()}
        line |= {name: known.setdefault(repr(line[name]), line[name]) for name in SHARED if name in line}
        yield {sys.intern(name): sys.intern(value) if type(value) is str else value for name, value in line.items()}
    kept.flush()


def _read(file: BinaryIO, start: int, size: int) -> str:
    return os.pread(file.fileno(), size, start).decode("utf-8", "surrogatepass")


def _packed(column: list[Any]) -> Numbers:
    """None as NaN, so that a column without any value has a type as the others."""
    kind = object if str in map(type, column) else None
    return np.array([math.nan if value is None else value for value in column], kind)


def _frames(rows: list[Json]) -> Results:
    traces = [row.pop("trace") for row in rows]
    cases = pd.DataFrame(rows)
    cases.index.name = "case"
    lengths = [len(trace["epoch"]) for trace in traces]
    values = {name: np.concatenate([trace.get(name, np.full(n, math.nan)) for trace, n in zip(traces, lengths) if n] or [[]])
              for name in dict.fromkeys(name for trace in traces for name in trace)}
    return Results(cases, pd.DataFrame({"case": np.repeat(np.arange(len(rows)), lengths), **values}))
