"""The first page: a panel a data set, a row an algorithm, with the time to each of three targets.

A panel is of one host and one number of factors: the ones with the most rows among runs that race, if any does.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from mfplots import metrics
from mfplots.metrics import FEWEST, Target
from mfplots.names import TWINS, own_name
from mfplots.series import contended, hardware, is_true
from mfplots.site.groups import Bench, Group, Member, headline, plain
from mfplots.summary import ANSWER, FILE, below_floor, frozen, headlines, how_chosen, metric_of, target_levels, times_to_target
from mfplots.tuned import tuning_text

Json = dict[str, Any]
CLOCKS = {"answer": ANSWER, "file": FILE}
SHOWN = 4  # digits of a value: values that agree in them show no loss


@dataclass(frozen=True)
class Cell:
    """The part of a group in a panel."""

    group: Group
    bench: Bench
    factors: int | None
    members: Sequence[Member]

    @cached_property
    def races(self) -> bool:
        """Whether ours and libraries are in it, and parameters of both were searched."""
        return len({m.kind == "library" for m in self.members if any(isinstance(t, dict) for t in m.series.finished["tuned"])}) == 2

    @property
    def rank(self) -> tuple[bool, int]:
        """The more the better: whether it is a race, and its rows."""
        return self.races, len({member.name for member in self.members})

    @cached_property
    def metric(self) -> str:
        return self.group.metric

    @cached_property
    def levels(self) -> dict[str, Target]:
        named = float(self.group.target[0]) if self.asked else None
        return target_levels([m.series for m in self.members], self.metric, named)

    @cached_property
    def asked(self) -> bool:
        """Whether the target that the results name is the first: beside other runs, only where none is frozen."""
        target, named = self.group.target
        return named and (self.group.whole_run or not self.are_frozen and any(_reach(m, target, ANSWER) for m in self.members))

    @cached_property
    def are_frozen(self) -> bool:
        return any(frozen(m.series) and metric_of(m.series) == self.metric for m in self.members)


def _reach(member: Member, target: Target, clock: str) -> float | None:
    if not all(clock in trace for trace in member.series.finished_traces):
        return None
    return plain(metrics.censored_median(times_to_target(member.series, target, clock)))


def cells(group: Group) -> list[Cell]:
    """A cell a host, with its most common number of factors, or one cell for all of a run. Races first, then by rows."""
    by_bench: dict[Bench | str, list[Member]] = {}
    for member in group.members:
        if len(member.series.finished):
            by_bench.setdefault(member.bench.host if group.whole_run else member.bench, []).append(member)
    found = []
    for members in by_bench.values():
        sizes = sorted({f for m in members if (f := m.factors)}) or [None]
        sizes = [None] if group.whole_run and len(sizes) > 1 else sizes
        found.append(max((_racing(Cell(group, members[0].bench, f, [m for m in members if f is None or m.factors in (f, None)]))
                          for f in sizes), key=lambda cell: cell.rank))
    return sorted(found, key=lambda cell: cell.rank, reverse=True)


def _racing(cell: Cell) -> Cell:
    """Its runs that race, if any does: beside them other runs, of fixed parameters, are in no contest."""
    parts = [replace(cell, members=own) for own in _by(cell.members, lambda m: m.run.name).values()]
    return replace(cell, members=[m for part in parts if part.races for m in part.members] or cell.members)


def usual_cell(group: Group) -> Json:
    """The first curves, as in the page's selects."""
    found = [] if group.whole_run else cells(group)
    return {"machine": found[0].bench.title, "factors": str(found[0].factors or "")} if found else {"machine": "", "factors": ""}


def panels(groups: Sequence[Group], published: pd.DataFrame | None = None) -> list[Json]:
    """Panels of races, if there is one; the largest data first, then real data, then by their number of ratings. Of a data
    set on several machines the first is the usual one."""
    found = [(group, own) for group in groups if (own := [c for c in cells(group) if c.levels])]
    races = [(group, own) for group, own in found if own[0].races]
    chosen = found if groups[:1] and groups[0].whole_run else races or found
    most = max((_ratings(group) for group, _ in chosen), default=0)
    chosen.sort(key=lambda pair: (_ratings(pair[0]) < most, made_of(pair[0]) != "real", -_ratings(pair[0])))
    titles = Counter(_title(group) for group, _ in chosen)
    return [_panel(cell, cell is own[0], groups, published) | _named(group, titles) for group, own in chosen
            for cell in _one_a_kind(own) if cell is own[0] or cell.races]


def _ratings(group: Group) -> int:
    return plain(group.members[0].row["nnz_train"]) or 0


def _one_a_kind(found: Sequence[Cell]) -> list[Cell]:
    """Of several hosts with the same processors the first."""
    first: dict[str, Cell] = {}
    for cell in found:
        first.setdefault(cell.bench.kind, cell)
    return list(first.values())


def made_of(group: Group) -> str:
    panel = group.members[0].panel
    return "enlarged" if panel.expanded else "look-alike" if panel.look_alike else "real"


def _panel(cell: Cell, usual: bool, groups: Sequence[Group], published: pd.DataFrame | None) -> Json:
    metric = metrics.row(cell.metric)
    first = {level: {clock: _firsts(cell, target, column) for clock, column in CLOCKS.items()}
             for level, target in cell.levels.items()}
    rows = [_row(cell, own, first) for own in _by(cell.members, lambda m: m.name).values()]
    places = {row["name"]: place for place, row in enumerate(rows)}
    for row, name in zip(rows, below_floor([(row["algorithm"], row["quality"]) for row in rows], cell.metric)):
        row["below"] = name
    counts = [len(m.series.finished) for m in cell.members]
    return {"data": cell.group.title, "made": made_of(cell.group), "usual": usual, "races": cell.races,
            "ratings": plain(cell.members[0].row["nnz_train"]), "machine": cell.bench.kind, "bench": cell.bench.title,
            "gpu": cell.bench.gpu, "cores": cell.bench.cores, "factors": cell.factors,
            "metric": metric.title, "less": metric.less, "seeds": [min(counts), max(counts)],
            "chosen": _chosen(cell), "tuning": tuning_text(_tuned_cases(cell)), "targets": {level: float(t) for level, t in cell.levels.items()},
            "order": {level: {clock: [places[name] for name in found] for clock, found in of.items()} for level, of in first.items()},
            "best": _best([m for m in cell.group.members if cell.factors is None or m.factors in (cell.factors, None)], cell.metric),
            "rows": rows, "published": _published(cell, groups, published)}


def _chosen(cell: Cell) -> dict[str, str]:
    """How each target was chosen; those that are proposed here follow the results."""
    said = next((found for m in cell.members if (found := how_chosen(m.series))), {}) if cell.are_frozen else {}
    said = said or dict.fromkeys(cell.levels, "" if cell.are_frozen else "afterwards")
    return said | {"named": "named"} if cell.asked else said


def _tuned_cases(cell: Cell) -> list[tuple[str, Any, Json]]:
    return [(m.series.algorithm, tuned if isinstance(tuned, dict) else None, params)
            for m in cell.members for tuned, params in zip(m.series.finished["tuned"], m.series.finished["params"])]


def _title(group: Group) -> str:
    name = re.sub(r" (look-alike|expanded)\b", "", group.key[0]).replace("@", ", split ")
    return re.sub(r" implicit >=(\S+)", r", implicit from \1", name).replace("-implicit", ", implicit")


def _named(group: Group, titles: Mapping[str, int]) -> Json:
    """Data sets of one name are told apart by their splits, or by how they were made."""
    title = _title(group)
    return {"title": title if titles[title] == 1 else f"{title}, {group.detail or made_of(group)}"}


def _by(members: Iterable[Member], key: Callable[[Member], str]) -> dict[str, list[Member]]:
    found: dict[str, list[Member]] = {}
    for member in members:
        found.setdefault(key(member), []).append(member)
    return found


def _row(cell: Cell, members: Sequence[Member], first: Mapping[str, Mapping[str, Json]]) -> Json:
    """`first`: by level and clock."""
    usual = members[0]
    algorithm = usual.series.algorithm
    return {"name": usual.name, "algorithm": algorithm, "own": own_name(algorithm), "line": own_name(TWINS.get(algorithm, algorithm)), "kind": usual.kind,
            "hardware": hardware(usual.row), **_best(members, cell.metric),
            "seeds": max(len(m.series.finished) for m in members),
            "at": {level: {clock: found.get(members[0].name) for clock, found in of.items()} for level, of in first.items()}}


def _best(members: Sequence[Member], metric: str) -> Json:
    """The best value with its range over seeds, and who has it; of those with seeds enough, if there are any."""
    known = [(spread, m) for m in members if math.isfinite((spread := metrics.spread(headlines(m.series, metric))).median)]
    found = [pair for pair in known if pair[0].n >= FEWEST] or known
    if not found:
        return {"quality": None}
    spread, member = (min if metrics.row(metric).less else max)(found, key=lambda pair: pair[0].median)
    return {"quality": plain(spread.median), "low": plain(spread.low), "high": plain(spread.high), "n": spread.n,
            "of": member.name, "run": member.run.name}


def _firsts(cell: Cell, target: Target, clock: str) -> dict[str, Json]:
    """By name the first of its configurations at the target, in the order in which they get there."""
    times = [times_to_target(m.series, target, clock) if all(clock in t for t in m.series.finished_traces) else []
             for m in cell.members]
    found: dict[str, Json] = {}
    for place in metrics.finish_order(times):
        member = cell.members[place]
        found.setdefault(member.name, {"s": plain(metrics.censored_median(times[place])), **_source(member)})
    return found


def _source(member: Member) -> Json:
    cases = member.series.rows
    return {"seeds": len(member.series.finished), "run": member.run.name, "configuration": member.configuration,
            "summed": bool(is_true(cases, "file_to_model_summed").any()),
            "contended": bool(contended(cases).any())}


def losses(shown: Sequence[Json]) -> list[Json]:
    """Of the usual panels that are races: the targets that a library reaches first or that no algorithm of ours reaches, and
    the panels whose best value is a library's. One of ours with too few seeds is named too if it is better."""
    found = []
    for panel in (p for p in shown if p["usual"] and p["races"]):
        about = {"data": panel["title"], "made": panel["made"], "metric": panel["metric"], "less": panel["less"],
                 "factors": panel["factors"]}
        for level, target in panel["targets"].items():
            rows = [{"name": row["name"], "kind": row["kind"], **at} for row in panel["rows"] if (at := row["at"][level]["answer"])]
            if lost := _lost(rows, lambda row: row["s"]):
                found.append({**about, "what": "time", "level": level, "target": target, **lost})
        sign = 1 if panel["less"] else -1
        rows = [row for row in panel["rows"] if row["quality"] is not None]
        if lost := _lost(rows, lambda row: sign * round(row["quality"], SHOWN)):
            found += [{**about, "what": "quality", **lost}] if lost["ours"] else []
    return found


def _lost(rows: Sequence[Json], rank: Callable[[Json], float]) -> Json | None:
    """The library that ranks before ours; a smaller rank is better."""
    ours = sorted((row for row in rows if row["kind"] != "library"), key=rank)
    sound = [row for row in ours if row["seeds"] >= FEWEST]
    by = min((row for row in rows if row["kind"] == "library"), key=rank, default=None)
    best = next(iter(sound), None)
    if by is None or (best and rank(best) <= rank(by)):
        return None
    few = ours[0] if ours and ours[0] is not best else None
    return {"by": _who(by), "ours": best and _who(best), "few": few and _who(few)}


def _who(row: Json) -> Json:
    return {key: row[key] for key in ("name", "seeds", "s", "quality") if key in row}


def read_published(path: Path) -> pd.DataFrame | None:
    return pd.read_csv(path, dtype=str, keep_default_na=False) if path.is_file() else None


def _published(cell: Cell, groups: Sequence[Group], table: pd.DataFrame | None) -> Json | None:
    """The best value published for this data set, in this metric and as a separate number, and the first here, of any
    size, that reaches it on a machine of this kind."""
    if table is None:
        return None
    own = table[(table["dataset"] == cell.group.key[0]) & (table["metric"] == cell.metric) & (table["x"] == "")]
    values = [(float(row["value"]), row["system"]) for _, row in own.iterrows()]
    if not values:
        return None
    less = metrics.row(cell.metric).less
    value, system = min(values) if less else max(values)
    target = Target(value, cell.metric)
    tried = [m for g in groups if g.key[0] == cell.group.key[0] and g.key[2] == cell.group.key[2]
             for m in g.members if m.bench.kind == cell.bench.kind]
    there = [(time, i) for i, m in enumerate(tried) if (time := _reach(m, target, ANSWER)) is not None]
    return {"system": system, "value": value, "by": _reached(cell, tried[min(there)[1]], target) if there else None}


def _reached(cell: Cell, member: Member, target: Target) -> Json:
    return {"name": member.name, "kind": member.kind, "factors": member.factors,
            "quality": plain(headline(member.series, cell.metric)),
            **{name: _reach(member, target, clock) for name, clock in CLOCKS.items()}, **_source(member)}


def machines(shown: Sequence[Json]) -> list[str]:
    """Machines with most panels first."""
    return [name for name, _ in Counter(p["machine"] for p in shown).most_common()]

