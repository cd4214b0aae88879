"""mfbench report DIR... [--out site]: the result folders at or below each DIR as pages for a browser."""

from __future__ import annotations

import argparse
import gc
import re
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import groupby
from pathlib import Path

import pandas as pd

from mfplots import metrics, program
from mfplots.errors import PlotError
from mfplots.printable import counted, say
from mfplots.site import figures, pages, panels, write
from mfplots.site.assets import find_libraries
from mfplots.site.beside import beside
from mfplots.site.board import board, case_rows, failures, with_ceilings
from mfplots.site.cards import cards_data
from mfplots.site.case_page import OF_A_CASE, case_data
from mfplots.site.ceilings import read_ceilings
from mfplots.site.exhibits import Claim, counts_of, read_claims
from mfplots.site.figures import Picture, exhibit_of
from mfplots.site.gather import Damaged, Run, case_key, gather
from mfplots.site.groups import Group, group_data, make_groups
from mfplots.site.pairs import pair_data
from mfplots.site.tuning import studies
from mfplots.smallprint import SHOWN, machines, revisions
from mfplots.traces import split

ROOT = Path(__file__).resolve().parents[3]
MEASURED = Path("results/published/measured")
CEILINGS = ("ceilings.log", "ceilings_h100.log", "ceilings_pairwise.log")
PARTS = 2  # of the exhibits, drawn side by side: they take the longest
PUBLISHED = Path("results/published/published.csv")


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    try:
        make_site(options)
    except (PlotError, OSError, BrokenProcessPool) as error:  # the second names its file, too
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
    parser.add_argument("--ceilings", type=Path, action="append", metavar="FILE",
                        help=f"what a machine was measured to do; may be repeated (default: ceilings*.log of {MEASURED})")
    return parser


def make_site(options: argparse.Namespace) -> None:
    found = find_libraries()
    runs, damaged = gather(options.results)
    groups = make_groups(runs)
    devices = {member.device for group in groups for member in group.members}
    ceilings = [known for known in read_ceilings(options.ceilings or [ROOT / MEASURED / name for name in CEILINGS]) if known.machine in devices]
    pairs = pair_data(runs, options.compare)
    out: Path = options.out
    write.prepare(out)
    write.libraries(out, found)
    exhibits = figures.sources(options.results, runs)
    claims = claims_of(exhibits, runs)
    shown_of = sorted({name for claim in claims for name in claim.exhibits} & exhibits.keys())
    gc.freeze()  # so draw() collects only its figures
    parts = [{name: exhibits[name] for name in shown_of[part::PARTS]} for part in range(PARTS)]
    *drawings, writing = beside(*(partial(figures.draw, part, out / "figures") for part in parts), partial(_cases, out, runs))
    rows, cases = board(groups), case_rows(runs)
    explored = _groups(out, groups, runs)
    shown = panels.panels(groups, panels.read_published(ROOT / PUBLISHED))
    write.data(out / "data/results.js", "results", {
        "panels": shown, "losses": panels.losses(shown), "machines": panels.machines(shown), "claims": counts_of(claims),
        "own": all(run.path.resolve().is_relative_to(ROOT / "results/reference") for run in runs)})
    write.data(out / "data/board.js", "board", [row for row in rows if row["group"] == 0])
    write.packed(out / "data/board_rest.js", "packed", write.encoded([row for row in rows if row["group"] != 0]))
    write.data(out / "data/speed.js", "speed",
               {"rows": with_ceilings(rows, ceilings), "ceilings": list(map(vars, ceilings))})
    write.data(out / "data/cases.js", "cases", cases)
    write.data(out / "data/pairs.js", "pairs", pairs)
    on_cards = cards_data(runs, out / "figures/cards.svg")
    if on_cards:
        write.data(out / "data/cards.js", "cards", on_cards)
    searched, unread = studies(runs)
    damaged += writing.result()
    write.data(out / "data/explore.js", "explore", {**explored, "damaged": len(damaged)})
    damaged += unread
    write.data(out / "data/tuning.js", "tuning", searched)
    write.data(out / "data/failures.js", "failures", failures(cases, damaged))
    pictures = {exhibit: picture for drawing in drawings for exhibit, picture in drawing.result().items()}
    _pages(out, runs, claims, pictures, bool(searched), bool(on_cards))
    for item in damaged:
        say(f"left out: {item.why}", sys.stderr)
    say(f"{counted(len(cases), 'case')} of {counted(len(runs), 'folder')}: {out / 'index.html'}")


def _cases(out: Path, runs: Sequence[Run]) -> list[Damaged]:
    """A few files for the cases of runs that have begun; returns the cases that cannot be shown."""
    damaged = []
    for _, own in groupby(sorted(runs, key=_digits), _digits):
        files: dict[str, dict[str, str]] = {}
        for run in own:
            traces = split(run.results.trace, run.view.cases.index)
            asked = run.view.cases[list(OF_A_CASE)]
            for index, case in zip(asked.index, asked.to_dict("records")):
                key = case_key(run.name, case["case_id"])
                try:
                    files.setdefault(key[:3], {})[key] = write.encoded(case_data(case, traces[index], key, run.name))
                except (AttributeError, LookupError, OSError, PlotError, TypeError, ValueError) as error:
                    damaged.append(Damaged(run.name, f"{case['case_id']}: {error!r}"))
        for name, parts in files.items():
            text = ",".join(f'"{key}":{part}' for key, part in parts.items())
            write.packed(out / f"data/cases/{name}.js", "packed", f"{{{text}}}")
    return damaged


def _digits(run: Run) -> str:
    return case_key(run.name, "")[:2]


def _groups(out: Path, groups: Sequence[Group], runs: Sequence[Run]) -> dict[str, object]:
    """A file for each; returns the list of them."""
    listed, drawn = [], {}
    for index, group in enumerate(groups):
        shown = {**group_data(group, index), "usual": panels.usual_cell(group)}
        write.packed(out / f"data/groups/{index}.js", "packed", write.encoded(shown))
        drawn.update((name, metrics.row(name)) for name in shown["metrics"])
        listed.append({key: shown[key] for key in ("index", "title", "metric", "target", "target_named")}
                      | {"cases": sum(len(m.series.rows) for m in group.members)})
    cases = sum(len(run.results.cases) for run in runs)
    return {"groups": listed, "metrics": {name: row.title for name, row in drawn.items()},
            "less": [name for name, row in drawn.items() if row.less], "cases": cases, "runs": len(runs)}


def claims_of(exhibits: Mapping[str, Sequence[Path]], runs: Sequence[Run]) -> list[Claim]:
    """Of papers' exhibits that are among these results: a report of other runs shows none."""
    specs = {run.path.name.split(".")[0] for run in runs}
    return [claim for claim in read_claims(ROOT / "docs/reproduction") if any(name in exhibits for name in claim.exhibits)
            or (not claim.exhibits and any(f"experiments/{name}" in claim.other for name in specs))]


def _pages(out: Path, runs: Sequence[Run], claims: Sequence[Claim], pictures: Mapping[str, Picture],
           searched: bool, on_cards: bool) -> None:
    made = _made(pd.concat([run.view.cases[[*SHOWN, "process"]] for run in runs]), len(runs))
    about = pages.about(program.text("--version").partition("\n")[0], days_of(runs), project())
    files = {
        "index.html": (pages.RESULTS, ("data/results.js", "assets/results.js")),
        "explore.html": (pages.EXPLORE, ("data/explore.js", "assets/explore.js")),
        "machines.html": (pages.MACHINES, ("data/speed.js", "assets/machines.js")),
        "runs.html": (pages.RUNS, ("data/board.js", "assets/runs.js")),
        "cases.html": (pages.CASES, ("data/cases.js", "assets/cases.js")),
        "case.html": (pages.CASE, ("assets/case.js",)),
        "compare.html": (pages.COMPARE, ("data/pairs.js", "assets/compare.js")),
        "failures.html": (pages.FAILURES, ("data/failures.js", "assets/failures.js"))}
    if searched:
        files["tuning.html"] = (pages.TUNING, ("data/tuning.js", "assets/tuning.js"))
    if on_cards:
        files["cards.html"] = (pages.CARDS, ("data/cards.js", "assets/cards.js"))
    if claims:
        files["papers.html"] = (pages.papers(claims, exhibit_runs(runs), pictures), ("assets/papers.js",))
    for file, (body, scripts) in files.items():
        (out / file).write_text(pages.page(file, body, scripts, about, made, files), encoding="utf-8")


def days_of(runs: Sequence[Run]) -> list[str]:
    return [str(t)[:10] for run in runs for t in run.results.cases["started_at"].dropna()]


def project() -> str:
    """The address of the project, as its citation has it; or ''."""
    file = ROOT / "CITATION.cff"
    found = re.search(r"^repository-code: *(https://\S+)$", file.read_text(encoding="utf-8"), re.M) if file.is_file() else None
    return found[1] if found else ""


def _made(cases: pd.DataFrame, folders: int, most: int = 200) -> str:
    """The basis of the report: revisions and machines by name, or how many they are."""
    said = [f"{len(cases):,} cases begun of {folders:,} folder{'s' if folders > 1 else ''}."]
    for words, column, what in ((revisions(cases), "git_sha", "revisions of mfbench"), (machines(cases), "host", "hosts")):
        said.append(f"{words}." if len(words) <= most else f"{cases[column].nunique()} {what}.")
    return " ".join(said)


def exhibit_runs(runs: Sequence[Run]) -> dict[str, list[str]]:
    """The folders of an exhibit and its parts."""
    found: dict[str, list[str]] = {}
    for run in runs:
        found.setdefault(exhibit_of(run.path), []).append(run.name)
    return found
