"""Results of micro-benchmarks: Google Benchmark's JSON, and the machine in it.

A name carries its parameters as `key:value` pairs, `solver/part:cg/storage:fp16/manual_time`. Words without a colon are
the key `benchmark`; suffixes of the library (manual_time, iterations:5) are not parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from mfplots.errors import PlotError, hint
from mfplots.files import read_json
from mfplots.smallprint import SHOWN, machines, revisions

RESULTS = "benchmark.json"        # of `./dev reproduce`, in the folder of an exhibit
MACHINE = "environment.json"      # `mfbench doctor --json`, beside it
BENCHMARK = "benchmark"           # the key of the words in a name
_CLOCKS = ("manual_time", "real_time", "process_time")
_SETTINGS = ("iterations", "repeats", "min_time", "min_warmup_time")
_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
# Keys of a benchmark in the file that are not its counters.
_OWN = ("name", "family_index", "per_family_instance_index", "run_name", "run_type", "repetitions",
        "repetition_index", "threads", "iterations", "real_time", "cpu_time", "time_unit", "label",
        "error_occurred", "error_message", "skipped", "skip_message")

# Operations that are done: of a symmetric matrix, of which "flops" counts all, half.
COMPUTED = "computed_flops"

Json = dict[str, Any]
Keys = dict[str, str]


@dataclass(frozen=True)
class Benchmark:
    """One benchmark with its repetitions; `times` in seconds an iteration, `counters` as the
    program computed them. `error` says why there are none."""

    keys: Keys
    times: tuple[float, ...]
    counters: Mapping[str, tuple[float, ...]]
    error: str = ""

    def values(self, name: str) -> tuple[float, ...]:
        if name == COMPUTED:
            return self.counters.get("symmetric_flops") or self.counters.get("flops", ())
        return self.times if name == "time" else self.counters.get(name, ())


@dataclass
class Benchmarks:
    """The benchmarks in the order in which they ran, and lines on the machine."""

    items: list[Benchmark]
    provenance: list[str] = field(default_factory=list)


def benchmark_files(paths: Iterable[str | Path]) -> list[Path]:
    """The files of benchmarks among `paths` and in the folders among them."""
    places = [path / RESULTS if path.is_dir() else path for path in map(Path, paths)]
    return [place for place in places if place.suffix == ".json" and place.exists()]


def load_benchmarks(files: Sequence[Path]) -> Benchmarks:
    """Raises PlotError naming the file and the benchmark."""
    found = Benchmarks([])
    for path in files:
        data = _read(path)
        if not isinstance(data.get("benchmarks"), list) or "context" not in data:
            raise PlotError(f'{path}: no output of Google Benchmark ("context" and "benchmarks")')
        found.items += _benchmarks(data["benchmarks"], path)
        found.provenance += _provenance(data["context"], path)
    found.provenance = list(dict.fromkeys(found.provenance))
    return found


def select(benchmarks: Benchmarks, wanted: Mapping[str, Any]) -> list[Benchmark]:
    """The benchmarks whose keys have the wanted values; every key must occur somewhere."""
    known = {key for item in benchmarks.items for key in item.keys}
    for key in wanted:
        if key not in known:
            raise PlotError(f'filter: no benchmark has the key "{key}"{hint(key, known)}')
    allowed = {key: [str(v) for v in (value if isinstance(value, list) else [value])] for key, value in wanted.items()}
    return [item for item in benchmarks.items if all(item.keys.get(key) in values for key, values in allowed.items())]


def _read(path: Path) -> Json:
    data = read_json(path, named=path.name not in (RESULTS, MACHINE))
    if not isinstance(data, dict):
        raise PlotError(f"{path}: found {type(data).__name__}, expected an object")
    return data


def _benchmarks(runs: Sequence[Json], path: Path) -> list[Benchmark]:
    by_name: dict[str, list[Json]] = {}
    for run in runs:
        # Means over repetitions are ours to take.
        if run.get("run_type", "iteration") == "iteration":
            by_name.setdefault(run.get("run_name", run["name"]), []).append(run)
    return [_benchmark(name, group, path) for name, group in by_name.items()]


def _benchmark(name: str, runs: Sequence[Json], path: Path) -> Benchmark:
    errors = [run.get("error_message") or run.get("skip_message") or "failed" for run in runs
              if run.get("error_occurred") or run.get("skipped")]
    if errors:
        return Benchmark(parse_name(name), (), {}, errors[0])
    times = tuple(run["real_time"] * _unit(run, path) for run in runs)
    counters = {key: tuple(float(run[key]) for run in runs) for key in runs[0]
                if key not in _OWN and isinstance(runs[0][key], (int, float))}
    return Benchmark(parse_name(name), times, counters)


def _unit(run: Json, path: Path) -> float:
    unit = run.get("time_unit", "ns")
    if unit not in _SECONDS:
        raise PlotError(f'{path}: {run["name"]}: time_unit "{unit}"{hint(unit, _SECONDS)}')
    return _SECONDS[unit]


def parse_name(name: str) -> Keys:
    """`fig4/side:x/manual_time` as {"benchmark": "fig4", "side": "x"}."""
    keys: Keys = {}
    words = []
    for part in name.split("/"):
        key, colon, value = part.partition(":")
        if not colon and part not in _CLOCKS:
            words.append(part)
        elif colon and key not in _SETTINGS:
            keys[key] = value
    return {BENCHMARK: "/".join(words), **keys}


def _provenance(context: Json, path: Path) -> list[str]:
    program = f"{Path(context.get('executable', 'unknown program')).name}, {context.get('date')}"
    beside = path.with_name(MACHINE)
    if not beside.exists():
        return [f"{program}, host {context.get('host_name')}; revision and device not recorded "
                f"(no {MACHINE} beside {path.name})"]
    environment = _read(beside).get("environment", {})
    row = pd.DataFrame([{key: environment.get(key) for key in SHOWN}])
    return [program, revisions(row), machines(row)]
