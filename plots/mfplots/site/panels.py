"""The first page: a panel a data set, a row an algorithm, with the time to each of three targets.

A panel is of one host and one number of factors: if libraries were run, the ones with the most rows.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from mfplots import metrics
from mfplots.metrics import FEWEST, Target
from mfplots.series import contended, hardware, is_true
from mfplots.site.groups import Bench, Group, Member, headline, plain
from mfplots.summary import ANSWER, FILE, LEVELS, below_floor, frozen, how_chosen, metric_of, times_to_target
from mfplots.tuned import tuning_text

Json = dict[str, Any]
CLOCKS = {"answer": ANSWER, "file": FILE, "training": "train_s"}
SHORT = 0.05  # of the strictest, for a named target where none is: the rule of harness/experiment/targets.json
DIGITS = 1000
SHOWN = 4  # digits of a value: values that agree in them show no loss


@dataclass(frozen=True)
class Cell:
    """The part of a group in a panel."""

    group: Group
    bench: Bench
    factors: int | None
    members: Sequence[Member]

    @property
    def has_library(self) -> bool:
        return any(member.kind == "library" for member in self.members)

    @property
    def rank(self) -> tuple[bool, int]:
        """The more the better: whether a library is in it, and its rows."""
        return self.has_library, len({member.name for member in self.members})

    @cached_property
    def metric(self) -> str:
        return self.group.metric

    @cached_property
    def levels(self) -> dict[str, Target]:
        return next((levels for m in self.members if (levels := _frozen(m, self.metric))), None) or self._proposed()

    @property
    def are_frozen(self) -> bool:
        return any(_frozen(m, self.metric) for m in self.members)

    def _proposed(self) -> dict[str, Target]:
        """By the rule of the frozen ones, on this panel's matrix factorizations."""
        own = [m for m in self.members if m.factors] or self.members
        own = [m for m in own if len(m.series.finished) >= FEWEST] or own
        best = metrics.best_of([headline(m.series, self.metric) for m in own], self.metric)
        if not math.isfinite(best) or best == 0:
            return {}
        asked, usual = self.group.target
        less = metrics.row(self.metric).less
        named = float(asked) if usual and any(_reach(m, asked, ANSWER) for m in own) else \
            _eased(best * (1 + SHORT if less else 1 - SHORT), less)
        values = [named, _eased((named + best) / 2, less), _eased(best, less)]
        return {level: Target(value, self.metric) for level, value in zip(LEVELS, values)}


def _eased(value: float, less: bool) -> float:
    """To three digits behind the point, to the easier side."""
    scaled = value * DIGITS
    return (math.ceil(scaled - 1e-9) if less else math.floor(scaled + 1e-9)) / DIGITS


def _frozen(member: Member, metric: str) -> dict[str, Target]:
    if metric_of(member.series) != metric:
        return {}
    return {level: Target(value, metric) for level, (value, _) in zip(LEVELS, frozen(member.series))}


def _reach(member: Member, target: Target, clock: str) -> float | None:
    if not all(clock in trace for trace in member.series.finished_traces):
        return None
    return plain(metrics.censored_median(times_to_target(member.series, target, clock)))


def cells(group: Group) -> list[Cell]:
    """A cell a host, with its most common number of factors. Cells with libraries first, then by rows."""
    by_bench: dict[Bench, list[Member]] = {}
    for member in group.members:
        if len(member.series.finished):
            by_bench.setdefault(member.bench, []).append(member)
    found = []
    for bench, members in by_bench.items():
        sizes = sorted({f for m in members if (f := m.factors)}) or [None]
        found.append(max((Cell(group, bench, f, [m for m in members if m.factors in (f, None)]) for f in sizes),
                         key=lambda cell: cell.rank))
    return sorted(found, key=lambda cell: cell.rank, reverse=True)


def usual_cell(group: Group) -> Json:
    """The first curves, as in the page's selects."""
    found = cells(group)
    return {"machine": found[0].bench.title, "factors": str(found[0].factors or "")} if found else {"machine": "", "factors": ""}


def panels(groups: Sequence[Group], published: pd.DataFrame | None = None) -> list[Json]:
    """Panels with libraries, if any has one; real data first, then by their number of ratings. Of a data set on several
    machines the first is the usual one."""
    found = [(group, own) for group in groups if (own := [c for c in cells(group) if c.levels])]
    libraries = [(group, own) for group, own in found if own[0].has_library]
    chosen = libraries or found
    chosen.sort(key=lambda pair: (made_of(pair[0]) != "real", -(plain(pair[0].members[0].row["nnz_train"]) or 0)))
    return [_panel(cell, cell is own[0], groups, published) for _, own in chosen
            for cell in _one_a_kind(own) if cell is own[0] or cell.has_library]


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
    rows = [_row(cell, own) for own in _by_name(cell.members).values()]
    for row, name in zip(rows, below_floor([(row["algorithm"], row["quality"]) for row in rows], cell.metric)):
        row["below"] = name
    counts = [len(m.series.finished) for m in cell.members]
    return {"data": cell.group.title, "title": _title(cell.group), "made": made_of(cell.group), "usual": usual,
            "ratings": plain(cell.members[0].row["nnz_train"]), "machine": cell.bench.kind, "bench": cell.bench.title,
            "gpu": cell.bench.gpu, "cores": cell.bench.cores, "factors": cell.factors,
            "metric": metric.title, "less": metric.less, "seeds": [min(counts), max(counts)],
            "chosen": _chosen(cell), "tuning": tuning_text(_tuned_cases(cell)), "targets": {level: float(t) for level, t in cell.levels.items()},
            "rows": rows, "first": _first(rows), "published": _published(cell, groups, published)}


def _chosen(cell: Cell) -> dict[str, str]:
    """How each target was chosen; those that are proposed here follow the results."""
    said = next((found for m in cell.members if (found := how_chosen(m.series))), {}) if cell.are_frozen else {}
    return said or dict.fromkeys(cell.levels, "" if cell.are_frozen else "afterwards")


def _tuned_cases(cell: Cell) -> list[tuple[str, Any, Json]]:
    return [(m.series.algorithm, tuned if isinstance(tuned, dict) else None, params)
            for m in cell.members for tuned, params in zip(m.series.finished["tuned"], m.series.finished["params"])]


def _title(group: Group) -> str:
    name = re.sub(r" (look-alike|expanded)\b", "", group.key[0]).replace("@", ", split ")
    return re.sub(r" implicit >=(\S+)", r", implicit from \1", name).replace("-implicit", ", implicit")


def _by_name(members: Iterable[Member]) -> dict[str, list[Member]]:
    found: dict[str, list[Member]] = {}
    for member in members:
        found.setdefault(member.name, []).append(member)
    return found


def _row(cell: Cell, members: Sequence[Member]) -> Json:
    first = members[0]
    sound = [m for m in members if len(m.series.finished) >= FEWEST]
    best = metrics.best_of([headline(m.series, cell.metric) for m in sound or members], cell.metric)
    return {"name": first.name, "algorithm": first.series.algorithm, "kind": first.kind,
            "hardware": hardware(first.row), "quality": plain(best), "few": not sound,
            "seeds": max(len(m.series.finished) for m in members),
            "at": {level: {name: _fastest(members, target, clock) for name, clock in CLOCKS.items()}
                   for level, target in cell.levels.items()}}


def _fastest(members: Sequence[Member], target: Target, clock: str) -> Json | None:
    """Of its configurations the first at the target; one with too few seeds only if no other gets there."""
    there = [(len(m.series.finished) < FEWEST, time, m) for m in members
             if (time := _reach(m, target, clock)) is not None]
    if not there:
        return None
    _, time, member = min(there, key=lambda one: one[:2])
    return {"s": time, **_source(member)}


def _source(member: Member) -> Json:
    cases = member.series.rows
    return {"seeds": len(member.series.finished), "run": member.run.name, "configuration": member.configuration,
            "summed": bool(is_true(cases, "file_to_model_summed").any()),
            "contended": bool(contended(cases).any())}


def _first(rows: Sequence[Json]) -> Json:
    """By level and clock, the places of the first of all, of the libraries and of ours. One with too few seeds is first
    only if no other got there; a machine that was shared made nothing faster, so its mark is enough."""
    return {level: {clock: {side: _leader(rows, level, clock, kinds) for side, kinds in SIDES.items()}
                    for clock in CLOCKS} for level in (rows[0]["at"] if rows else ())}


SIDES = {"all": ("new", "paper", "library"), "libraries": ("library",), "ours": ("new", "paper")}


def _leader(rows: Sequence[Json], level: str, clock: str, kinds: Sequence[str]) -> int | None:
    there = [(at["seeds"] < FEWEST, at["s"], place) for place, row in enumerate(rows)
             if row["kind"] in kinds and (at := row["at"][level][clock])]
    return min(there)[2] if there else None


def losses(shown: Sequence[Json]) -> list[Json]:
    """Of the usual panels: the targets that a library reaches first or that no algorithm of ours reaches, and
    the panels whose best value is a library's. One of ours with too few seeds is named too if it is better."""
    found = []
    for panel in (p for p in shown if p["usual"]):
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

