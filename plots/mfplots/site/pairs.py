"""`mfbench compare` of two folders that share cases: its own statistics, not a copy of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from pathlib import Path
from typing import Any

from mfplots import program
from mfplots.errors import PlotError
from mfplots.series import one_machine
from mfplots.site.gather import Run

Json = dict[str, Any]


def shared_pairs(runs: Sequence[Run]) -> list[tuple[Run, Run, int]]:
    """With how many cases both have, which are those of one hash, most first; in a pair the run that began first.
    A ratio of two machines says nothing of programs, so they are no pair; nor are two folders
    with copies of the same measurements."""
    measured = [_measured(run) for run in runs]
    found = []
    for (i, a), (j, b) in combinations(enumerate(runs), 2):
        both = measured[i].keys() & measured[j].keys()
        if any(measured[i][key] != measured[j][key] for key in both) and one_machine(a.view, b.view):
            found.append((a, b, len(both)))
    found.sort(key=lambda pair: -pair[2])
    return [(a, b, n) if _begun(a) <= _begun(b) else (b, a, n) for a, b, n in found]


def _measured(run: Run) -> dict[str, tuple[Any, ...]]:
    """By the hash of a case, a mark of each measurement of it."""
    cases = run.results.cases.dropna(subset=["case_hash"])
    return dict(zip(cases["case_hash"], zip(cases["started_at"], cases["clock_wall_s"])))


def _begun(run: Run) -> str:
    return min((t for t in run.results.cases["started_at"] if isinstance(t, str)), default="")


def named_pairs(runs: Sequence[Run], asked: Sequence[Sequence[Path]]) -> list[tuple[Run, Run, int]]:
    """The pairs of --compare. Raises PlotError for a folder that is not among the report's, and for two machines."""
    by_path = {run.path.resolve(): run for run in runs}
    found = []
    for pair in asked:
        for path in pair:
            if path.resolve() not in by_path:
                raise PlotError(f"--compare: {path} is no folder of results of this report")
        first, second = (by_path[path.resolve()] for path in pair)
        if first is second:
            raise PlotError(f"--compare: {pair[1]} is named twice; name two folders")
        if not one_machine(first.view, second.view):
            raise PlotError(f"--compare: {first.name} and {second.name} are of two machines, whose ratio says "
                            "nothing of what ran; mfbench compare shows both with their machines")
        both = set(first.results.cases["case_hash"].dropna()) & set(second.results.cases["case_hash"])
        found.append((first, second, len(both)))
    return found


def compare(first: Run, second: Run) -> Json:
    """The answer of `mfbench compare --json`, or its message under "problem"."""
    try:
        return json.loads(program.text("compare", first.path, second.path, "--json"))
    except PlotError as error:
        return {"problem": str(error)}


def pair_data(runs: Sequence[Run], asked: Sequence[Sequence[Path]]) -> list[Json]:
    """The requested pairs, then pairs that share cases."""
    pairs = {(a.name, b.name): (a, b, n) for a, b, n in [*named_pairs(runs, asked), *shared_pairs(runs)]}
    with ThreadPoolExecutor() as threads:
        return list(threads.map(lambda pair: {"first": pair[0].name, "second": pair[1].name, "shared": pair[2],
                                              "said": compare(*pair[:2])}, pairs.values()))
