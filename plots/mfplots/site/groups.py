"""A data set's series from all folders: their traces, curves and times to the target."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import pandas as pd

from mfplots import metrics
from mfplots.curves import medians
from mfplots.errors import PlotError
from mfplots.metrics import Target
from mfplots.names import display_name, kind_of
from mfplots.palette import of_algorithm, on_dark
from mfplots.series import (OF_FACETS, SIZE_FACET, Facets, Panel, Series, canonical, cores_text, facet_text, find_places, gpus,
                            hardware, machine, marks, panel_title, short_key, split_text)
from mfplots.site.gather import Run, case_key
from mfplots.summary import ANSWER, Question, headlines, metric_of, target_levels, target_of, times_to_target
from mfplots.traces import Numbers, Trace

CLOCKS = ("train_s", ANSWER, "wall_s")
PRECISIONS = ("precision", "storage", "a_storage")
# How it was run and where it stands tell configurations of one folder apart, not of several.
OF_THE_FOLDER = ("stop.", "evaluate.", "machine", "folder")
OF_SGD = "schedule."

OF_A_ROW = (*OF_FACETS, "algorithm", "family", "paper", "host", "n_users", "n_items", "nnz_train", "nnz_test")

Json = dict[str, Any]


class Bench(NamedTuple):
    """The machine on which cases of the CPU and of its GPUs compete: one host, since two of the same kind may differ by
    a factor of two."""

    gpus: int
    gpu: str
    cpu: str
    cores: str
    host: str

    @property
    def title(self) -> str:
        return f"{self.kind}, {self.host}" if self.host else self.kind

    @property
    def kind(self) -> str:
        cores = f"{self.cores} cores of {self.cpu}" if self.cores else self.cpu
        several = f"{self.gpus} × " if self.gpus > 1 else ""
        return f"{several}{self.gpu}, {cores}" if self.gpu else cores


@dataclass(frozen=True)
class Member:
    """A series in its folder."""

    run: Run
    panel: Panel
    series: Series
    target: Target | None  # that its folder names
    configuration: str = ""  # its difference from others of its algorithm, in all folders of the group

    @property
    def label(self) -> str:
        return f"{self.series.algorithm} {self.configuration}".strip()

    @cached_property
    def name(self) -> str:
        return display_name(self.series.algorithm, hardware(self.row))

    @cached_property
    def kind(self) -> str:
        return kind_of(self.series.algorithm, self.row["paper"])

    @cached_property
    def row(self) -> Json:
        return {name: self.series.rows[name][0] for name in OF_A_ROW}

    @property
    def device(self) -> str:
        """The one processor, as ceilings name it."""
        return machine(self.row)

    @property
    def machine(self) -> str:
        """With the cores of its host, on which prepare and transfer hang, too."""
        if not self.has_gpu or pd.isna(self.row["cores"]):
            return self.device
        several = f"{self.gpus} × " if self.gpus > 1 else ""
        return f"{several}{self.device}, {cores_text(self.row['cores'])} cores"

    @property
    def has_gpu(self) -> bool:
        """A case for one that was skipped on a machine without has the name of none."""
        return hardware(self.row) == "cuda" and isinstance(self.row["gpu"], str)

    @property
    def gpus(self) -> int:
        return gpus(self.row)

    @cached_property
    def bench(self) -> Bench:
        """Of seeds on several hosts, the host of most: the others are beside them in the same row."""
        row = self.row
        cores = cores_text(row["cores"]) if pd.notna(row["cores"]) else ""
        hosts = Counter(host for host in self.series.rows["host"] if isinstance(host, str))
        usual = sorted(host for host, count in hosts.items() if count == max(hosts.values()))
        host = _text(row["host"]) if not usual or row["host"] in usual else _text(usual[0])
        return Bench(self.gpus, _text(row["gpu"]), _text(row["cpu"]), cores, host)

    @property
    def factors(self) -> int | None:
        """None without factors, as for baselines, which stand beside any number of them."""
        factors = (self.row["params"] or {}).get("factors")
        return factors if isinstance(factors, int) and factors > 1 else None

    @cached_property
    def about(self) -> Json:
        """Its entry for leaderboard and curves."""
        colour, marker = of_algorithm(self.series.algorithm)
        params = self.row["params"] or {}
        return {"algorithm": self.series.algorithm, "name": self.name, "kind": self.kind,
                "bench": self.bench.title, "sized": self.factors is not None, "configuration": self.configuration, "run": self.run.name,
                "hardware": hardware(self.row), "machine": self.machine, "family": text_of(self.row["family"]),
                "precision": next((str(params[key]) for key in PRECISIONS if key in params), "–"),
                "factors": plain(params.get("factors")),
                "restarts": self.series.restarts,
                "colour": colour, "dark": on_dark(colour), "marker": marker}


@dataclass
class Group:
    """Series that learned the same ratings: one data set, split and content."""

    key: tuple[str, str, str]
    members: list[Member] = field(default_factory=list)
    detail: str = ""
    whole_run: bool = False  # the report is of one run, and all its series compete

    @property
    def title(self) -> str:
        panel = self.members[0].panel
        return panel_title(replace(panel, detail=self.detail, series=[], method=""))

    @property
    def skipped(self) -> bool:
        return all(status == "skipped" for m in self.members for status in m.series.rows["status"])

    @cached_property
    def metric(self) -> str:
        """The metric of most of its folders' targets, or else the main metric of most of its series."""
        named = Counter(m.target.metric for m in self.members if m.target is not None)
        judged = named or Counter(metric_of(m.series) for m in self.members if len(m.series.finished) or self.skipped)
        return judged.most_common(1)[0][0]

    @cached_property
    def target(self) -> tuple[Target | None, bool]:
        target, named = default_target(self)
        if target is not None:
            find_places((member.series for member in self.members), target)
        return target, named


def make_groups(runs: Iterable[Run]) -> list[Group]:
    """Groups with most algorithms first. Ratings without a run are known only by name: skipped cases stand among the
    failures."""
    found: dict[tuple[str, str, str], Group] = {}
    runs = list(runs)
    for run in runs:
        for panel in run.view.panels:
            target = _target(panel)
            for series in panel.series:
                group = found.setdefault(key := _key(series), Group(key, whole_run=len(runs) == 1))
                group.members.append(Member(run, panel, series, target))
    found = {key: group for key, group in found.items() if not group.skipped} or found
    for key, group in found.items():
        group.detail = _detail(key, [k for k in found if k[0] == key[0]])
        group.members = [replace(member, configuration=words) for member, words
                         in zip(group.members, configurations(group.members))]
    return sorted(found.values(), reverse=True, key=lambda group: (
        len({m.series.algorithm for m in group.members}),
        sum(len(m.series.rows) for m in group.members)))


def configurations(members: Sequence[Member]) -> list[str]:
    """For each, its size and its differences from most of its algorithm, in any folder; then its differences within its
    folder, and from one that would have its name."""
    facets = [_own_facets(member.series) for member in members]
    same: dict[str, list[Facets]] = {}
    for member, own in zip(members, facets):
        same.setdefault(member.series.algorithm, []).append(own)
    usual = {algorithm: {key: Counter(canonical(f.get(key)) for f in all_of).most_common(1)[0][0]
                         for key in dict.fromkeys(key for f in all_of for key in f)} for algorithm, all_of in same.items()}
    found = []
    for member, own in zip(members, facets):
        keys = [key for key in own if key == SIZE_FACET or canonical(own[key]) != usual[member.series.algorithm][key]]
        words = [f"{short_key(key, keys)}={facet_text(own[key])}" for key in keys]
        of_folder = member.series.label[len(member.series.algorithm):].split()
        found.append(" ".join([*words, *(word for word in of_folder if word not in words)]))
    names = [(member.series.algorithm, words) for member, words in zip(members, found)]
    return [" ".join([*words.split(), *_lacks(own, [f for name, f in zip(names, facets) if name == (algorithm, words)])])
            for (algorithm, words), own in zip(names, facets)]


def _lacks(own: Facets, namesakes: Iterable[Facets]) -> list[str]:
    keys = list(dict.fromkeys(key for f in namesakes for key in f if key not in own))
    return [f"no {short_key(key, keys)}" for key in keys]


def _own_facets(series: Series) -> Facets:
    left_out = OF_THE_FOLDER if series.method == "sgd" else (*OF_THE_FOLDER, OF_SGD)
    return {key: value for key, value in series.facets.items() if not key.startswith(left_out)}


def _detail(key: tuple[str, str, str], twins: Sequence[tuple[str, str, str]]) -> str:
    """Its difference from other groups of its data set: differing words of the split, or the content."""
    common = set.intersection(*(set(split.split()) for _, split, _ in twins))
    differing = {split: [word for word in split.split() if word not in common] for _, split, _ in twins}
    short = {split: _shortened(words) for split, words in differing.items()}
    words = list(short[key[1]] if list(short.values()).count(short[key[1]]) == 1 else differing[key[1]])
    if sum(twin[1] == key[1] for twin in twins) > 1:
        words.append(f"content {key[2][:8] or 'unknown'}")
    return " ".join(words)


def _shortened(words: Iterable[str]) -> list[str]:
    """Shares to three digits, and none for an empty part."""
    found = []
    for key, _, value in (word.partition("=") for word in words):
        try:
            share = float(value)
        except ValueError:
            found.append(f"{key}={value}")
        else:
            found += [f"{key}={share:.3g}"] if share or key != "validation" else []
    return found


def _key(series: Series) -> tuple[str, str, str]:
    own = list(zip(*(series.rows[name] for name in ("dataset", "split", "content_hash"))))
    dataset, split, content = next((row for row in own if isinstance(row[2], str)), own[0])
    return str(dataset), split_text(split), content if isinstance(content, str) else ""


def _target(panel: Panel) -> Target | None:
    """None also if a folder names several."""
    try:
        return target_of(panel, Question())
    except PlotError:
        return None


def default_target(group: Group) -> tuple[Target | None, bool]:
    """The one that most series were run for, and whether it was named or is proposed here."""
    named = Counter((m.target.metric, float(m.target)) for m in group.members
                    if m.target is not None and m.target.metric == group.metric)
    if named:
        (metric, value), _ = named.most_common(1)[0]
        return Target(value, metric), True
    return target_levels([m.series for m in group.members], group.metric).get("named"), False


class Met(NamedTuple):
    """Epochs of the first evaluated point at the target, and of the point before it."""

    epoch: float
    before: float


def met(series: Series, target: Target | None) -> Met | None:
    """Of the median seed among the seeds that got there."""
    if target is None:
        return None
    found = sorted(Met(epoch, max((e for e in trace["epoch"].tolist() if e < epoch), default=0))
                   for trace, epoch in zip(series.finished_traces, series.at_target(target, "epoch"))
                   if math.isfinite(epoch))
    return found[(len(found) - 1) // 2] if found else None


def group_data(group: Group, index: int) -> Json:
    """The data of curves, the fastest series first."""
    target, named = group.target
    asked = [m.target.metric for m in group.members if m.target is not None]
    known = [name for name in dict.fromkeys([*metrics.main(), *asked])
             if any(t.knows(name) for m in group.members for t in m.series.traces.values())]
    members = sorted(group.members, key=lambda m: _rank(m.series, target))
    variants: Counter[str] = Counter()
    series = []
    for member in members:
        series.append(_series_data(member, known, variants[member.series.algorithm]))
        variants[member.series.algorithm] += 1
    row = group.members[0].row
    return {"index": index, "title": group.title, "dataset": group.key[0],
            "sizes": {key: plain(row[key]) for key in
                      ("n_users", "n_items", "nnz_train", "nnz_test")},
            "split": group.key[1], "metrics": known, "metric": group.metric,
            "target": None if target is None else float(target), "target_named": named,
            "targets": sorted({float(m.target) for m in group.members
                               if m.target is not None and m.target.metric == group.metric}
                              - {None if target is None else float(target)}),
            "series": series}


def _rank(series: Series, target: Target | None) -> tuple[float, float]:
    median = metrics.censored_median(times_to_target(series, target, ANSWER)) if target is not None else math.nan
    metric = metric_of(series)
    best = headline(series, metric)
    sign = 1 if metrics.row(metric).less else -1
    return (median if math.isfinite(median) else math.inf, sign * best if math.isfinite(best) else math.inf)


def headline(series: Series, metric: str) -> float:
    return metrics.spread(headlines(series, metric)).median


def _series_data(member: Member, known: Sequence[str], variant: int) -> Json:
    series, done = member.series, member.series.finished
    shown = [i for i in done.index if len(series.traces[i])]
    return {**member.about, "label": member.label + marks(series.rows), "variant": variant,
            "seeds": [_seed_data(member, case, known)
                      for case in zip(done.index, *(done[name] for name in ("case_id", "seed", "status")))],
            "best": {name: plain(headline(series, name)) for name in known},
            "curves": {name: _curve([series.traces[i] for i in shown], name) for name in known}}


def _seed_data(member: Member, case: tuple[int, str, Any, str], known: Sequence[str]) -> Json:
    index, case_id, seed, status = case
    trace = member.series.traces[index]
    return {"case": case_key(member.run.name, case_id), "seed": plain(seed), "status": status,
            **{name: plains(trace[name]) if name in trace else [None] * len(trace) for name in ("epoch", *CLOCKS, *known)}}


def _curve(traces: Sequence[Trace], metric: str) -> Json:
    """Medians over the seeds by epoch, as in the figures of mfplots, on each clock."""
    found: Json = {}
    for clock in CLOCKS:
        points = medians(traces, clock, "minmax", metric)
        found[clock] = [round_to(points[name].tolist()) for name in ("x", "y", "low", "high")]
        if clock == "train_s":  # which is known wherever there is a point
            found["epoch"] = [round_to(points["epoch"].tolist()), *found[clock][1:]]
    return found


def round_to(values: Iterable[float], digits: int = 7) -> list[float | None]:
    """Only for drawing: seven digits are a hundredth of a pixel."""
    return [float(f"{v:.{digits}g}") if math.isfinite(v) else None for v in values]


def plains(values: Numbers) -> list[Any]:
    """plain() of each."""
    if values.dtype.kind != "f":
        return list(map(plain, values.tolist()))
    return [None if v - v != 0 else int(v) if v.is_integer() and abs(v) < 2 ** 53 else v for v in values.tolist()]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def text_of(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "–" if value is None or value != value else canonical(value)


def plain(value: Any) -> Any:
    """A number as Python has it, or nothing."""
    if value is None or isinstance(value, (str, bool)):
        return value
    number = float(value)
    if not math.isfinite(number):
        return None
    return int(number) if number.is_integer() and abs(number) < 2 ** 53 else number
