"""Measures results again: ./dev remeasure FOLDER... [--show] [--out DIR] [--seconds N]

For each result folder at or below FOLDER, packed or not, runs the spec of its name (results/reference/h100/ccd/speed:
experiments/ccd/speed.json) with the options that the folder's files say they were made with, into DIR below the same
name. Results already in DIR are not run again, so that a campaign resumes after a time limit, a kill, or on another
machine of the kind: carry DIR along.

`mfbench compare` of the committed folder and the new one says whether the host is slower, before its results are
taken for a change of the program.
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

from mfdev.build import default_preset
from mfdev.shell import ROOT, Failure

sys.path.insert(0, str(ROOT / "plots"))
from mfplots.command_line import options_of  # noqa: E402
from mfplots.errors import PlotError  # noqa: E402
from mfplots.program import lines  # noqa: E402

RESULTS = (ROOT / "results/reference").resolve()
FROM_FEW = 5  # seeds
PACKED = ".jsonl.xz"  # a packed run, in place of its folder


@dataclass(frozen=True)
class Part:
    name: str           # below its machine
    spec: pathlib.Path
    options: tuple[str, ...]
    seconds: float      # of wall time, of all its cases and trials then, by the seeds of now
    cases: int          # then
    seeds: int          # of the spec now


def cases_below(*places):
    """{folder: its cases, from `mfbench summarize`}, without trials below a place."""
    found = {}
    for case in lines("summarize", "--json", "--unlisted", *places):
        if case["type"] == "case" and case["algorithm"]:
            del case["trace"]
            found.setdefault(pathlib.Path(case["file"]).parent, []).append(case)
    return found


def trials_of(folder):
    studies = {str(path).removesuffix(PACKED) for path in (folder / "tune").glob("*")}
    return [trial for trials in (cases_below(*studies).values() if studies else ()) for trial in trials]


def part_of(folder, cases):
    """None: there is no spec of that name."""
    name = pathlib.PurePath(*folder.relative_to(RESULTS).parts[1:])
    spec = ROOT / "experiments" / f"{name}.json"
    if not spec.is_file():
        return None
    wall = sum(case["clock_wall_s"] or 0 for case in [*cases, *trials_of(folder)])
    seeds = len(json.loads(spec.read_text(encoding="utf-8")).get("seeds", [1]))
    wall *= seeds / len({case["seed"] for case in cases})
    options = options_of(cases[0]["command_line"])
    # Reference results run a process for each case, so that its runs are independent.
    options += () if "--apart" in options else ("--apart",)
    return Part(str(name), spec, options, wall, len(cases), seeds)


def words_of(part):
    few = f", {part.seeds} seeds" if part.seeds < FROM_FEW else ""
    return f"{part.name}: {part.cases} cases{few}, {part.seconds:.0f} s{' ' if part.options else ''}" + \
        " ".join(part.options)


def run(part, program, out, seconds):
    """Its exit status; None: the time was up."""
    command = [program, "run", str(part.spec), "--out", str(out / part.name), "--quiet", *part.options]
    process = subprocess.Popen(command, cwd=ROOT)
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)  # the case in hand stays unfinished, the others stand
        process.wait()
        return None
    except KeyboardInterrupt:
        process.wait()
        raise


def arguments(words):
    parser = argparse.ArgumentParser(prog="./dev remeasure", description=__doc__.split("\n\n")[0])
    parser.add_argument("folders", nargs="+", type=pathlib.Path, help="at or below a machine's, results/reference/h200")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "results/runs/again")
    parser.add_argument("--seconds", type=float, help="of all parts; then the run is interrupted")
    # Not the last build: it may have sanitizers, or no CUDA.
    parser.add_argument("--mfbench", help="the program",
                        default=os.environ.get("MFBENCH") or str(ROOT / f"build/{default_preset()}/mfbench"))
    parser.add_argument("--show", action="store_true", help="only say what would run")
    return parser.parse_args(words)


def check(asked):
    for folder in asked.folders:
        if not (folder.exists() or os.path.isfile(f"{folder}{PACKED}")):
            raise Failure(f"no such folder: {folder}")
        if RESULTS not in folder.resolve().parents:
            raise Failure(f"not below {RESULTS}: {folder}")
    machines = {folder.resolve().relative_to(RESULTS).parts[0] for folder in asked.folders}
    if len(machines) > 1:
        raise Failure(f"found folders of {' and '.join(sorted(machines))}, expected folders of one machine, this one")


def remeasure(words):
    asked = arguments(words)
    if not os.access(asked.mfbench, os.X_OK):
        raise Failure(f"remeasure: there is no {asked.mfbench} (./dev build, or set MFBENCH)")
    check(asked)
    os.environ["MFBENCH"] = asked.mfbench  # reads the results, too
    try:
        before = cases_below(*[folder.resolve() for folder in asked.folders])
    except PlotError as error:
        raise Failure(str(error)) from error
    found = {folder: part_of(folder, before[folder]) for folder in sorted(before)}
    for folder in (folder for folder, part in found.items() if part is None):
        print(f"left out, no spec of its name: {folder.relative_to(RESULTS)}")
    parts = {folder: part for folder, part in found.items() if part}
    if asked.show:
        print("\n".join([*map(words_of, parts.values()),
                         f"{len(parts)} folders, {sum(part.seconds for part in parts.values()):.0f} s"]))
        return 0
    out = asked.out.resolve()
    end = time.monotonic() + (float("inf") if asked.seconds is None else asked.seconds)
    failed = []
    for folder, part in parts.items():
        left = end - time.monotonic()
        status = run(part, asked.mfbench, out, left if asked.seconds is not None else None) if left > 0 else None
        if status is None:
            print(f"the time is up at {part.name}; the same command goes on")
            return 3
        said = "done" if status == 0 else f"mfbench ended with {status}"
        print(f"{part.name}: {said}; mfbench compare {folder} {out / part.name}", flush=True)
        failed += [part.name] if status else []
    return 1 if failed else 0
