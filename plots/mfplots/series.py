"""Groups cases: a panel is a data set and its split, a series one configuration and its seeds."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mfplots.errors import NotDrawable, PlotError, hint
from mfplots.files import read_json
from mfplots.load import NOT_RUN, Results
from mfplots.metrics import Target, first_at
from mfplots.traces import Numbers, Trace, split

LOOK_ALIKE_MARK = "look-alike, synthetic"
EXPANDED_MARK = "enlarged, ratings drawn anew"
CONTENDED_MARK = " †"
RESTART_MARK = " ‡"
SECTIONS = ("schedule", "init", "stop", "evaluate")
RUN_RULES = ("stop.", "evaluate.")  # facets of the length of a run, not of its computation
OF_FACETS = ("params", *SECTIONS, "hardware", "gpu", "cpu", "cores")  # columns
# Shown wherever they differ between any two series: models of different size, or on another number of workers, are not
# one contest. A case without the number of its workers has one.
SIZE_FACET = "factors"
SHARES = ("devices", "ranks")
WITH_RATE = ("sgd", "pairwise")  # methods whose updates have a learning rate
# Parameters that do nothing unless another one, if the algorithm has it, is of these values; those that others need first.
NEEDS = {"solver": ("solve", "hermitian"), "split_rows": ("solve", "hermitian"),
         **dict.fromkeys(("dot", "gram_access", "prefetch", "blocks"), ("solve", "cg")),
         **dict.fromkeys(("cg_steps", "cg_tolerance"), ("solver", "cg")), "rounding": ("storage", "fp16 bf16")}
PEERS = Path(__file__).resolve().parents[2] / "peers"
CASE_FILTERS = ("algorithm", "family", "hardware", "dataset", "seed", "status", "case_id")

Facets = dict[str, Any]


@dataclass(frozen=True)
class Rows:
    """Some cases of a frame, a column a list: pandas is slow to make frames of thousands of series."""

    frame: pd.DataFrame
    places: Sequence[int]
    columns: dict[str, list[Any]]  # whole ones, of all that have this frame

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, name: str) -> list[Any]:
        if name not in self.columns:
            self.columns[name] = self.frame[name].tolist()
        return [self.columns[name][place] for place in self.places]

    @property
    def index(self) -> list[int]:
        return [self.frame.index[place] for place in self.places]

    @property
    def cases(self) -> pd.DataFrame:
        return self.frame.iloc[self.places]


def is_true(cases: pd.DataFrame | Rows, column: str) -> Numbers:
    """False also if it is unknown."""
    return np.array([isinstance(said, (bool, np.bool_)) and bool(said) for said in cases[column]], dtype=bool)


def clocks_moved(cases: pd.DataFrame) -> tuple[float, float, int] | None:
    """Lowest and highest SM clock of those whose clock moved, and how many they are; None if none did."""
    moved = list(cases["sm_clock_seen_hz"][is_true(cases, "clock_moved")])
    return (min(seen["min"] for seen in moved), max(seen["max"] for seen in moved), len(moved)) if moved else None


def contended(cases: pd.DataFrame | Rows) -> Numbers:
    """Cases that other programs may have slowed, by their footers; also those with the host's clocks beside a device."""
    return is_true(cases, "contended") | is_true(cases, "host_contended")


def restarted(cases: pd.DataFrame | Rows) -> Numbers:
    """Cases that run from the start for each evaluated point, whose time is its own run's."""
    return np.array([isinstance(facts, Mapping) and facts.get("restarts") is True for facts in cases["facts"]], dtype=bool)


def marks(cases: pd.DataFrame | Rows) -> str:
    """Behind a label: its times are read with these in mind."""
    return (CONTENDED_MARK if contended(cases).any() else "") + (RESTART_MARK if restarted(cases).any() else "")


@dataclass
class Series:
    """One configuration on one data set; `rows` are its repeats."""

    label: str
    algorithm: str
    facets: Facets
    rows: Rows
    traces: dict[int, Trace]  # by index of `cases`; an empty one for cases without a trace
    _places: dict[tuple[str, float], list[int | None]] = field(default_factory=dict)

    @property
    def marked(self) -> str:
        """The label, with the marks of its cases."""
        return self.label + marks(self.rows)

    @cached_property
    def cases(self) -> pd.DataFrame:
        return self.rows.cases

    @cached_property
    def ran_on(self) -> tuple[frozenset[str], frozenset[str]]:
        return _ran_on(self.cases)

    @cached_property
    def restarts(self) -> bool:
        return bool(restarted(self.rows).any())

    @cached_property
    def finished(self) -> Rows:
        """The cases that have run, to any end."""
        run = [place for place, status in zip(self.rows.places, self.rows["status"]) if status not in NOT_RUN]
        return replace(self.rows, places=run)

    @cached_property
    def finished_traces(self) -> list[Trace]:
        return [self.traces[i] for i in self.finished.index]

    @cached_property
    def completed(self) -> list[bool]:
        """Of each finished case."""
        return [status == "completed" for status in self.finished["status"]]

    def at_target(self, target: Target, column: str) -> list[float]:
        """For each finished case, the column at its first evaluated point at the target; NaN if it never got there."""
        find_places([self], target)
        return [math.nan if place is None else float(trace[column][place])
                for trace, place in zip(self.finished_traces, self._places[target.metric, float(target)])]

    @property
    def method(self) -> str:
        """The kind of its updates: rates of different methods never stand on one axis."""
        return str(self.rows["method"][0])


def find_places(found: Iterable[Series], target: Target) -> None:
    """The place at which each meets the target, all in one question to mfbench: the waiting takes time."""
    key = (target.metric, float(target))
    asked = [series for series in found if key not in series._places]
    places = iter(first_at(target, [trace for series in asked for trace in series.finished_traces]) if asked else ())
    for series in asked:
        series._places[key] = [next(places) for _ in series.finished_traces]


@dataclass
class Panel:
    dataset: str
    look_alike: bool
    detail: str  # its difference from another panel of the same data set, or ""
    series: list[Series]
    expanded: bool = False  # a real set enlarged; look_alike holds of it, too
    method: str = ""  # of its series, if rates keep methods apart
    devices: int = 0  # the same of numbers of GPUs

    @property
    def title(self) -> str:
        words = [self.dataset, self.detail, self.method and f"updates of {self.method}",
                 self.devices and f"{self.devices} device{'s' if self.devices > 1 else ''}"]
        return ", ".join(filter(None, words))


def panel_title(panel: Panel) -> str:
    """Its title, with the mark that made data carry wherever they are shown."""
    if not panel.look_alike:
        return panel.title
    if panel.expanded:
        return f"{panel.title.replace(' expanded', '')} ({EXPANDED_MARK})"
    return f"{panel.title.replace(' look-alike', '')} ({LOOK_ALIKE_MARK})"


def methods_apart(view: View) -> View:
    """The view for rates of updates: a panel a method."""
    return _apart(view, "method", lambda series: series.method)


def devices_apart(view: View) -> View:
    """A panel a number of GPUs."""
    return _apart(view, "devices", lambda series: gpus(series.cases.iloc[0]))


def _apart(view: View, name: str, of: Callable[[Series], Any]) -> View:
    """The view with a panel a value wherever any panel holds several."""
    found = [sorted({of(s) for s in panel.series}) for panel in view.panels]
    return view if all(len(own) < 2 for own in found) else replace(view, panels=[
        replace(panel, series=[s for s in panel.series if of(s) == value], **{name: value})
        for panel, own in zip(view.panels, found) for value in own])


@dataclass
class View:
    """The selected cases, grouped. `not_begun` are ids listed in spec.json without a header yet."""

    panels: list[Panel]
    cases: pd.DataFrame
    not_begun: list[str]
    versus: View | None = None  # the same spec run elsewhere, for figures that compare the two

    @cached_property
    def ran_on(self) -> tuple[frozenset[str], frozenset[str]]:
        return _ran_on(self.cases)

    @property
    def specs(self) -> str:
        return ", ".join(dict.fromkeys(self.cases["spec_name"].dropna()))

    @property
    def by_panel(self) -> list[list[str]]:
        """The labels of each panel."""
        return [[series.label for series in panel.series] for panel in self.panels]

    @property
    def labels(self) -> list[str]:
        """Each label once, in order of appearance: the order of colours."""
        return list(dict.fromkeys(s.label for panel in self.panels for s in panel.series))


def make_view(results: Results, wanted: Mapping[str, Any] | None = None) -> View:
    begun = results.cases[results.cases["algorithm"].notna()]
    idle = results.cases[results.cases["algorithm"].isna()]
    cases = _filter(begun, wanted or {})
    if cases.empty:
        raise NotDrawable(f"the filter {dict(wanted or {})} leaves no case")
    facets = dict(zip(cases.index, map(_facets, cases[list(OF_FACETS)].to_dict("records"))))
    _tell_folders_apart(cases, facets)
    keys = _panel_keys(cases)
    _drop_idle(cases, keys, facets)
    labels = make_labels([(cases.at[i, "algorithm"], facets[i]) for i in cases.index], keys)
    traces, columns = split(results.trace, cases.index), {}
    panels = [
        Panel(first["dataset"], pd.notna(first["look_alike"]) and bool(first["look_alike"]), detail,
              _series_of(Rows(cases, places, columns), facets, labels, traces),
              expanded=first.get("source") == "expanded")
        for first, detail, places in _panel_groups(cases, keys)
    ]
    return View(panels, cases, list(idle["case_id"]))


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def canonical(value: Any) -> str:
    is_number = type(value) is int or (type(value) is float and math.isfinite(value))  # as most are
    return repr(value) if is_number else _ENCODER.encode(value)


def flatten(value: Mapping[str, Any] | None, prefix: str = "") -> Facets:
    """Nested keys joined by dots; `seed` and the `fold` of a split left out, since repeats differ in nothing else."""
    flat: Facets = {}
    for key, inner in (value or {}).items():
        if isinstance(inner, Mapping):
            flat.update(flatten(inner, f"{prefix}{key}."))
        elif key not in ("seed", "fold"):
            flat[prefix + key] = inner
    return flat


@cache
def _gpu_libraries() -> frozenset[str]:
    """Libraries that run only on the GPU, by their peer.json."""
    folders = [PEERS, *filter(None, os.environ.get("MFBENCH_PEERS_PATH", "").split(":"))]
    forms = [path for folder in folders for path in Path(folder).glob("*/peer.json")]
    return frozenset(path.parent.name for path in forms if read_json(path).get("hardware") == "cuda")


def hardware(row: Mapping[str, Any]) -> str:
    """"cuda" or "cpu". For a peer, results name the device of mfbench itself; the library's device is in its parameter,
    or in the form of the library."""
    params = row["params"] if isinstance(row["params"], Mapping) else {}
    library = str(row["algorithm"]).partition(":")[2].partition(":")[0]
    gpu = params.get("device") == "cuda" or library in _gpu_libraries()
    return "cuda" if gpu else str(row["hardware"])


def machine(row: Mapping[str, Any]) -> str:
    """The processor a case trained on: its GPU if it used one, else its CPU."""
    return _processor(row, hardware(row))


def _processor(row: Mapping[str, Any], kind: str) -> str:
    if kind == "cuda" and isinstance(row["gpu"], str):
        return row["gpu"]
    cores = f", {cores_text(row['cores'])} cores" if pd.notna(row["cores"]) else ""
    return f"{row['cpu']}{cores}"


def one_machine(first: Series | View, second: Series | View) -> bool:
    """Whether a ratio of their times says something of what ran: a host has cases of both, and all that used a GPU used
    one, by its name."""
    (hosts, used), (other_hosts, also_used) = first.ran_on, second.ran_on
    return bool(hosts & other_hosts or not (hosts and other_hosts)) and len(used | also_used) < 2


def _ran_on(cases: pd.DataFrame) -> tuple[frozenset[str], frozenset[str]]:
    """The hosts and the GPUs that were used. Files without a process have no hash of a host: its processor stands for it."""
    hosts, used = set(), set()
    asked = cases.loc[cases["status"] != "skipped", ["algorithm", "params", "hardware", "gpu", "cpu", "cores", "host", "process"]]
    for row in asked.to_dict("records"):
        hosts.add(row["host"] if isinstance(row["process"], str) else canonical([row["cpu"], cores_text(row["cores"])]))
        if hardware(row) == "cuda" and isinstance(row["gpu"], str):
            used.add(row["gpu"])
    return frozenset(hosts), frozenset(used)


def gpus(row: Mapping[str, Any]) -> int:
    """How many GPUs a case shared its work over; 1 on the CPU."""
    params = row["params"] if isinstance(row["params"], Mapping) else {}
    shares = [params.get(key) for key in ("devices", "ranks")] if hardware(row) == "cuda" else []
    return math.prod(share for share in shares if isinstance(share, int) and share > 0)


def cores_text(cores: Any) -> str:
    """16.0, as in a column with gaps, is 16."""
    return str(int(cores)) if isinstance(cores, float) and cores.is_integer() else str(cores)


def _facets(row: Mapping[str, Any]) -> Facets:
    facets = flatten(row["params"])
    for section in SECTIONS:
        if isinstance(row[section], Mapping):
            facets.update(flatten(row[section], f"{section}."))
    facets["machine"] = _processor(row, row["hardware"])  # of two peers, `device` says the other
    return facets


def _tell_folders_apart(cases: pd.DataFrame, facets: dict[int, Facets]) -> None:
    """The same case in two folders (before and after a change, say) makes two series, not one."""
    if cases["case_hash"].duplicated().any():
        folders = {index: Path(file).parent for index, file in cases["file"].items()}
        names = distinct_names(dict.fromkeys(folders.values()))
        for index, folder in folders.items():
            facets[index]["folder"] = names[folder]


def _drop_idle(cases: pd.DataFrame, panels: Sequence[PanelKey], facets: dict[int, Facets]) -> None:
    """Drops facets that do nothing, unless two series of the algorithm would become one. `panels`: of each case."""
    once = dict(zip(cases.index, zip(panels, repeats(cases))))
    useful: dict[str, dict[int, Facets]] = {}
    for index, name, method in zip(cases.index, cases["algorithm"], cases["method"]):
        own = {key: value for key, value in facets[index].items() if method in WITH_RATE or not key.startswith("schedule.")}
        for key, (other, values) in NEEDS.items():
            if key in own and str(own.get(other, values)) not in values:
                del own[key]
        useful.setdefault(name, {})[index] = own
    for own in useful.values():
        changed = [index for index in own if len(own[index]) < len(facets[index])]
        if len({(once[index], canonical(own[index])) for index in changed}) == len(changed):
            facets.update(own)


def distinct_names(folders: Iterable[Path]) -> dict[Path, str]:
    """For each the last part of its path, with as many before it as tell it from the others."""
    parts = {folder: folder.resolve().parts for folder in folders}
    deepest = max(map(len, parts.values()), default=0)
    names = {}
    for folder, own in parts.items():
        depth = 1
        while depth < deepest and sum(p[-depth:] == own[-depth:] for p in parts.values()) > 1:
            depth += 1
        names[folder] = "/".join(own[-depth:])
    return names


def make_labels(configurations: Sequence[tuple[str, Facets]], panels: Sequence[Any] | None = None) -> list[str]:
    """Algorithm name plus those facets that differ among the configurations of its name, its size and number of workers
    also if they differ among all.

    `panels`: the panel of each configuration. A facet that differs only between panels (a stop rule by data set, say)
    tells no two curves apart, so it is not shown."""
    where = panels or [None] * len(configurations)
    groups: dict[tuple[Any, str], list[Facets]] = {}
    for panel, (name, facets) in zip(where, configurations):
        groups.setdefault((panel, name), []).append(facets)
    shown: dict[str, set[str]] = {}
    for (_, name), group in groups.items():
        shown.setdefault(name, set()).update(_differing(group))
    everywhere = {SIZE_FACET} if len({canonical(f[SIZE_FACET]) for _, f in configurations if SIZE_FACET in f}) > 1 else set()
    everywhere.update(key for key in SHARES if len({f.get(key, 1) for _, f in configurations}) > 1)
    shown = {name: keys | everywhere for name, keys in shown.items()}
    labels = []
    for name, facets in configurations:
        keys = [key for key in facets if key in shown[name]
                or (key, facets[key]) == ("device", "cuda")]  # a peer is of the CPU otherwise
        words = [f"{short_key(key, keys)}={facet_text(facets[key])}" for key in keys]
        labels.append(" ".join([name, *words]))
    return labels


def _differing(group: Sequence[Facets]) -> set[str]:
    """Keys of which two configurations have different values; also those that some lack, if nothing else tells these apart."""
    values: dict[str, set[str]] = {}
    for key, value in {(key, canonical(value)) for facets in group for key, value in facets.items()}:
        values.setdefault(key, set()).add(value)
    keys = {key for key, found in values.items() if len(found) > 1}
    partial = {key for key in values if any(key not in facets for facets in group)}

    def distinct(shown: set[str]) -> int:
        return len({tuple(canonical(facets.get(key, "")) for key in shown) for facets in group})

    return keys if distinct(keys) == distinct(keys | partial) else keys | partial


def short_key(key: str, shown: Sequence[str]) -> str:
    """Without its section (schedule.learning_rate) if that stays clear and it is no rule of the length of a run."""
    leaf = key.rsplit(".", 1)[-1]
    clash = sum(other.rsplit(".", 1)[-1] == leaf for other in shown) > 1
    return key if clash or leaf == "kind" or key.startswith(RUN_RULES) else leaf


def facet_text(value: Any) -> str:
    return value if isinstance(value, str) else canonical(value)


PanelKey = tuple[str, str, str]  # data set, split, content hash


def _panel_groups(cases: pd.DataFrame, keys: Sequence[PanelKey]) -> list[tuple[pd.Series, str, list[int]]]:
    distinct = list(dict.fromkeys(keys))
    groups = []
    for key in distinct:
        places = [place for place, k in enumerate(keys) if k == key]
        loaded = next((place for place in places if isinstance(cases["content_hash"].iat[place], str)), places[0])
        groups.append((cases.iloc[loaded], _panel_detail(key, [k for k in distinct if k[0] == key[0]]), places))
    return groups


def _panel_keys(cases: pd.DataFrame) -> list[PanelKey]:
    """A case whose data did not load knows neither split nor hash: it joins the first that does."""
    keys = [(dataset, split_text(split), _plain(content))
            for dataset, split, content in zip(cases["dataset"], cases["split"], cases["content_hash"])]

    @cache
    def complete(key: PanelKey) -> PanelKey:
        return next((k for k in keys if all(b in ("", a) for a, b in zip(k, key)) and all(k)), key)

    return [complete(key) for key in keys]


def _panel_detail(key: PanelKey, twins: Sequence[PanelKey]) -> str:
    words = []
    if len({twin[1] for twin in twins}) > 1:
        words.append(f"split {key[1]}")
    if len({twin[2] for twin in twins if twin[1] == key[1]}) > 1:
        words.append(f"content {key[2][:8]}")
    return ", ".join(words)


def repeats(cases: pd.DataFrame) -> list[int | str]:
    """The key that pairs the cases of two series: the seed, and the fold of a split in folds."""
    folds = [split.get("fold") if isinstance(split, Mapping) else None for split in cases["split"]]
    return [int(seed) if fold is None else f"{int(seed)} fold {fold}" for seed, fold in zip(cases["seed"], folds)]


def split_text(split: Any) -> str:
    known = flatten(split) if isinstance(split, Mapping) else {}
    return " ".join(f"{key}={facet_text(value)}" for key, value in known.items())


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _series_of(rows: Rows, facets: Mapping[int, Facets], labels: Sequence[str],
               traces: Mapping[int, Trace]) -> list[Series]:
    by_label: dict[str, list[int]] = {}
    for place in rows.places:
        by_label.setdefault(labels[place], []).append(place)
    found = []
    for label, members in by_label.items():
        own = replace(rows, places=members)
        found.append(Series(label, own["algorithm"][0], facets[own.index[0]], own, {i: traces[i] for i in own.index}))
    return found


def _filter(cases: pd.DataFrame, wanted: Mapping[str, Any]) -> pd.DataFrame:
    """Rows that match every key: a case column or a parameter, a value or a list of values; None: without it."""
    params = {key for row in cases["params"] for key in flatten(row)}
    keep = pd.Series(True, index=cases.index)
    for key, value in wanted.items():
        values = value if isinstance(value, list) else [value]
        if key in CASE_FILTERS:
            column = cases[key]
        elif key in params:
            column = cases["params"].map(lambda row: flatten(row).get(key)).astype(object)
            column = column.where(column.notna(), None)
        else:
            raise PlotError(f'filter: unknown key "{key}"{hint(key, params.union(CASE_FILTERS))}')
        keep &= column.map(lambda found: any(found == v for v in values)).astype(bool)
    return cases[keep]
