"""mfbench report DIR... [--out site]: the result folders at or below each DIR as pages for a browser."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from mfplots import metrics
from mfplots.errors import PlotError
from mfplots.metrics import FEWEST
from mfplots.printable import say
from mfplots.site import pages, write
from mfplots.site.assets import find_libraries
from mfplots.site.board import board, case_rows, failures, with_ceilings
from mfplots.site.case_page import case_data, experiment_files
from mfplots.site.ceilings import read_ceilings
from mfplots.site.exhibits import read_claims
from mfplots.site.gather import Damaged, Run, case_key, gather
from mfplots.site.groups import Group, group_data, make_groups
from mfplots.site.pairs import pair_data
from mfplots.smallprint import machines, revisions

ROOT = Path(__file__).resolve().parents[3]
CEILINGS = Path("results/published/measured/ceilings.log")


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    try:
        make_site(options)
    except (PlotError, OSError) as error:  # the second names its file, too
        say(f"error: {error}", sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mfbench report", description=__doc__)
    parser.add_argument("results", nargs="+", type=Path, metavar="DIR",
                        help="folder of results, or one with such folders in it")
    parser.add_argument("--out", type=Path, default=Path("site"), metavar="DIR",
                        help="where the pages go; a report that is there is replaced (default: site)")
    parser.add_argument("--compare", nargs=2, action="append", default=[], type=Path,
                        metavar=("FIRST", "SECOND"),
                        help="two of the folders to be compared, beside those that share cases; may "
                        "be repeated")
    parser.add_argument("--ceilings", type=Path, default=ROOT / CEILINGS, metavar="FILE",
                        help=f"what a machine was measured to do (default: {CEILINGS})")
    return parser


def make_site(options: argparse.Namespace) -> None:
    found = find_libraries()
    runs, damaged = gather(options.results)
    ceilings = read_ceilings(options.ceilings)
    groups = make_groups(runs)
    pairs = pair_data(runs, options.compare)
    out: Path = options.out
    write.prepare(out)
    write.libraries(out, found)
    rows, cases = board(groups), case_rows(runs)
    damaged += _cases(out, runs)
    _groups(out, groups, rows, runs, damaged)
    write.data(out / "data/board.js", "board", rows)
    write.data(out / "data/speed.js", "speed",
               {"rows": with_ceilings(rows, ceilings),
                "ceilings": [{**vars(known), "source": CEILINGS.as_posix()
                              if options.ceilings == ROOT / CEILINGS else options.ceilings.name}
                             for known in ceilings]})
    write.data(out / "data/cases.js", "cases", cases)
    write.data(out / "data/pairs.js", "pairs", pairs)
    write.data(out / "data/failures.js", "failures", failures(cases, damaged))
    _pages(out, runs)
    for item in damaged:
        say(f"left out: {item.why}", sys.stderr)
    say(f"{len(cases)} cases of {len(runs)} folders: {out / 'index.html'}")


def _cases(out: Path, runs: Sequence[Run]) -> list[Damaged]:
    """A file for each case that has begun; what cannot be shown is returned."""
    experiments, damaged = experiment_files(ROOT), []
    for run in runs:
        traces = dict(list(run.results.trace.groupby("case")))
        for index, case in run.view.cases.iterrows():
            key = case_key(run.name, case["case_id"])
            trace = traces.get(index, run.results.trace.iloc[:0])
            try:
                shown = case_data(case, trace, key, run.name, experiments)
            except (AttributeError, LookupError, OSError, PlotError, TypeError, ValueError) as error:
                damaged.append(Damaged(run.name, f"{case['case_id']}: {error!r}"))
                continue
            write.data(out / f"data/cases/{key}.js", "case", shown)
    return damaged


def _groups(out: Path, groups: Sequence[Group], rows: Sequence[dict], runs: Sequence[Run],
            damaged: Sequence[Damaged]) -> None:
    listed, drawn = [], {}
    for index, group in enumerate(groups):
        shown = group_data(group, index)
        write.data(out / f"data/groups/{index}.js", "group", shown)
        drawn.update((name, metrics.row(name)) for name in shown["metrics"])
        listed.append({key: shown[key] for key in ("index", "title", "metric", "target", "target_named")}
                      | {"cases": sum(len(m.series.cases) for m in group.members),
                         "fastest": _fastest([row for row in rows if row["group"] == index])})
    cases = sum(len(run.results.cases) for run in runs)
    write.data(out / "data/overview.js", "overview",
               {"groups": listed, "metrics": {name: row.title for name, row in drawn.items()},
                "less": [name for name, row in drawn.items() if row.less], "cases": cases,
                "runs": len(runs), "damaged": len(damaged)})


def is_sound(row: dict) -> bool:
    """Whether its time to the target can be set against others': seeds enough, alone on its machine. One
    that was looked at seldom was there no later, so it may be first."""
    return row["finished"] >= FEWEST and not row["contended"]


def _fastest(rows: Sequence[dict]) -> list[dict]:
    """For each machine of a data set the first by answer and by training time; of those that are sound,
    where there is one."""
    found = []
    for machine in dict.fromkeys((row["hardware"], row["machine"]) for row in rows):
        own = [row for row in rows if (row["hardware"], row["machine"]) == machine]
        first = {}
        for time in ("answer_to_target", "train_to_target"):
            there = [row for row in own if row[time] is not None]
            best = min(filter(is_sound, there), key=lambda row: row[time], default=None) or \
                min(there, key=lambda row: row[time], default=None)
            first[time] = best and {key: best[key] for key in
                                    ("algorithm", "configuration", "run", "finished", "contended", "coarse", "met_epoch",
                                     "looked_before", time)}
        found.append({"hardware": machine[0], "machine": machine[1], "series": len(own), **first})
    return found


def _pages(out: Path, runs: Sequence[Run]) -> None:
    cases = pd.concat([run.view.cases for run in runs])
    made = (f"{len(cases)} cases begun of {len(runs)} folders. {_short(revisions(cases))} "
            f"{_short(machines(cases))}")
    claims = read_claims(ROOT / "docs/reproduction")
    files = {
        "index.html": ("Overview", pages.OVERVIEW, ("data/overview.js", "assets/overview.js")),
        "leaderboard.html": ("Leaderboard", pages.LEADERBOARD, ("data/board.js", "assets/board.js")),
        "speed.html": ("Speed", pages.SPEED, ("data/speed.js", "assets/speed.js")),
        "cases.html": ("Cases", pages.CASES, ("data/cases.js", "assets/cases.js")),
        "case.html": ("Case", pages.CASE, ("assets/case.js",)),
        "compare.html": ("Compare two runs", pages.COMPARE, ("data/pairs.js", "assets/compare.js")),
        "exhibits.html": ("Exhibits of papers", pages.exhibits(claims, exhibit_runs(runs)),
                          ("assets/exhibits.js",)),
        "failures.html": ("Failures", pages.FAILURES, ("data/failures.js", "assets/failures.js"))}
    for file, (title, body, scripts) in files.items():
        (out / file).write_text(pages.page(file, title, body, scripts, made), encoding="utf-8")


def _short(text: str, most: int = 400) -> str:
    return text if len(text) <= most else text[:most] + " ..."


def exhibit_runs(runs: Sequence[Run]) -> dict[str, list[str]]:
    """The folders of an exhibit and its parts: .../cumf_als/fig6.cpu is of cumf_als/fig6."""
    found: dict[str, list[str]] = {}
    for run in runs:
        paper, name = run.path.resolve().parts[-2:]
        found.setdefault(f"{paper}/{name.split('.')[0]}", []).append(run.name)
    return found
