"""Result files made up for the tests, in the format of docs/results.md. Never measured results."""

from __future__ import annotations

import hashlib
import json
import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from mfplots.cli import main
from mfplots.load import load
from mfplots.series import View, make_view
from mfplots.summary import Question, summarise

Json = dict[str, Any]
METHODS = {"als": "als", "als_fused": "als", "ials": "als", "ccd": "ccd"}


@dataclass
class Made:
    """One made-up case; `trace` holds (epoch, train seconds, test RMSE or None)."""

    algorithm: str = "sgd_serial"
    params: Json = field(default_factory=lambda: {"factors": 50})
    dataset: str = "toy"
    look_alike: bool = True
    seed: int = 1
    trace: Sequence[tuple[int, float, float | None]] = ((0, 0.0, 2.0), (1, 1.0, 1.0), (2, 2.0, 0.9))
    status: str | None = "completed"  # None: no footer
    reason: str = "20 epochs done"
    hardware: str = "cpu"
    baseline: str | None = "sgd_serial"
    target: float | None = 0.95
    learning_rate: float = 0.01
    updates_per_epoch: int = 1000
    nnz: int = 1000
    content_hash: str = "00c0ffee00c0ffee"
    host: str = "testhost"
    gpu: str = "Test GPU"
    user_groups: list[Json] | None = None  # of the footer
    train_rmse: bool = False
    implicit: bool = False  # the errors of the trace are NDCG@100 instead
    goal: Json | None = None  # the header's target
    prepare_s: float = 0.2
    method: str | None = None  # of the header; None: that of the algorithm's family
    watts: float | None = None  # of training; None: without NVML
    clock_seen: Json | None = None  # {"min", "median", "max"} of the SM clock
    contended: list[str] | None = None  # why; None: not known
    host_contended: list[str] | None = None
    epochs_s: tuple[float | None, float | None] | None = None  # first, steady; None: those of the trace
    schedule: Json | None = None  # instead of a constant rate
    facts: Json | None = None  # of the header
    tuned: Json | None = None  # of the header
    stop: Json = field(default_factory=lambda: {"epochs": 20, "divergence": 1.0})

    @property
    def hash(self) -> str:
        own = [self.algorithm, self.params, self.dataset, self.seed, self.learning_rate]
        own += [self.schedule] if self.schedule else []
        return hashlib.sha256(json.dumps(own, sort_keys=True).encode()).hexdigest()

    @property
    def case_id(self) -> str:
        return f"{self.algorithm}-{self.dataset}-s{self.seed}-{self.hash[:10]}"


def header(case: Made, **changes: Any) -> Json:
    gpu = case.gpu if case.hardware == "cuda" else None
    return {
        "type": "header", "schema_version": 1, "case_id": case.case_id, "case_hash": case.hash,
        "spec_name": "made-up", "spec_hash": "5bec" * 16,
        "algorithm": {"method": case.method or METHODS.get(case.algorithm, "sgd"), "name": case.algorithm,
                      "family": case.algorithm, "hardware": case.hardware, "paper": "none",
                      "params": case.params},
        "dataset": {"name": case.dataset, "look_alike": case.look_alike, "source": "synthetic",
                    "content_hash": case.content_hash, "n_users": 100, "n_items": 50,
                    "nnz_train": case.nnz, "nnz_test": 250, "nnz_validation": 0,
                    "split": {"holdout": 0.2, "validation": 0.0, "seed": case.seed},
                    "cold_users": 0, "cold_items": 0, "cold_ratings": 0, "duplicate_pairs": 0,
                    "duplicate_policy": "error", "scale": {"min": 1, "max": 5, "step": 1}},
        "seed": case.seed, "baseline": case.baseline, "target_rmse": case.target,
        "schedule": case.schedule or {"kind": "constant", "learning_rate": case.learning_rate},
        "init": {"kind": "normal", "scale": 0.1}, "stop": case.stop,
        "evaluate": {"every": 1, "train": False, "clip": False},
        "work_per_epoch": {"updates": case.updates_per_epoch,
                           "bytes": 800.0 * case.updates_per_epoch,
                           "flops": 600.0 * case.updates_per_epoch},
        "environment": {"mfbench": "0.1.0", "git_sha": "0123456789abcdef", "git_dirty": True,
                        "compiler": "GCC 12.2.0", "flags": "-O3", "build_type": "Release",
                        "host": case.host, "cpu": "Test CPU", "cores": 2, "simd": "avx2",
                        "memory_bytes": 8 << 30, "os": "Linux", "gpu": gpu,
                        "driver": "1.0" if gpu else None, "cuda": "12.0" if gpu else None,
                        "device_memory_bytes": None, "sm_clock_hz": None, "power_limit_w": None,
                        "command_line": "mfbench run made-up.json",
                        "started_at": "2020-01-01T00:00:00Z"},
        **({"target": case.goal} if case.goal else {}),
        **({"facts": case.facts} if case.facts else {}), **({"tuned": case.tuned} if case.tuned else {}), **changes}


def trace_line(case: Made, epoch: int, seconds: float, rmse: float | None) -> Json:
    updates = epoch * case.updates_per_epoch
    return {"type": "trace", "epoch": epoch, "updates": updates, "passes": updates / case.nnz,
            "train_s": seconds, "train_device_s": None,
            "train_energy_j": case.watts and case.watts * seconds, "epoch_s": 1.0, "evaluate_s": 0.1 * epoch,
            "wall_s": seconds + 0.1 * epoch + 0.5, "test_rmse": rmse, "test_mae": rmse,
            "train_rmse": rmse if case.train_rmse else None, "validation_rmse": None,
            "learning_rate": case.learning_rate if epoch else None,
            **({"test_rmse": None, "test_mae": None, "ndcg_100": rmse, "objective": 100 - seconds,
                "recall_20": rmse, "recall_50": rmse, "map_10": rmse} if case.implicit else {})}


def epoch_times(trace: Sequence[tuple[int, float, float | None]]) -> tuple[float | None, float | None]:
    """Of a trace that has every epoch: the first, and the median of the others."""
    times = [after[1] - before[1] for before, after in zip(trace, trace[1:])]
    return times[0] if times else None, statistics.median(times[1:]) if times[1:] else None


def footer(case: Made) -> Json:
    known = [rmse for _, _, rmse in case.trace if rmse is not None]
    last = case.trace[-1] if case.trace else (0, 0.0, None)
    return {"type": "footer", "status": case.status, "stop_reason": case.reason,
            "epochs": last[0], "updates": last[0] * case.updates_per_epoch,
            "clocks": {"load_s": 0.1, "prepare_s": case.prepare_s, "transfer_s": 0.05, "train_s": last[1],
                       "train_device_s": None, "evaluate_s": 0.1, "rest_s": 0.75 - case.prepare_s, "wall_s": last[1] + 1},
            "sm_clock_seen_hz": case.clock_seen,
            **dict(zip(("first_epoch_s", "steady_epoch_s"), case.epochs_s or epoch_times(case.trace))),
            **({} if case.contended is None else
               {"contended": bool(case.contended), "contended_by": case.contended}),
            **({} if case.host_contended is None else
               {"host_contended": bool(case.host_contended),
                "host_contended_by": case.host_contended}),
            "phases": {}, "user_groups": case.user_groups,
            "final_test_rmse": None if case.implicit else last[2],
            "best_test_rmse": None if case.implicit else min(known, default=None),
            "best_epoch": 0, "peak_host_bytes": 1 << 20, "peak_device_bytes": None,
            "finished_at": "2020-01-01T00:01:00Z"}


def lines(case: Made) -> list[Json]:
    found = [header(case), *(trace_line(case, *point) for point in case.trace)]
    return found if case.status is None else [*found, footer(case)]


def write_lines(path: Path, objects: Sequence[Json]) -> Path:
    path.write_text("".join(json.dumps(item) + "\n" for item in objects), encoding="utf-8")
    return path


def write(folder: Path, cases: Sequence[Made], spec: bool = False) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for case in cases:
        write_lines(folder / f"{case.case_id}.jsonl", lines(case))
    if spec:
        listed = {"schema_version": 1, "cases": [case.case_id for case in cases]}
        (folder / "spec.json").write_text(json.dumps(listed), encoding="utf-8")
    return folder


def benchmark_runs(name: str, times: Sequence[float], unit: str = "ms",
                   **counters: float) -> list[Json]:
    """Repetitions of one benchmark and their mean, as Google Benchmark writes them."""
    run = {"name": name, "run_name": name, "run_type": "iteration", "repetitions": len(times),
           "threads": 1, "iterations": 3, "cpu_time": 9e9, "time_unit": unit, **counters}
    runs = [{**run, "repetition_index": i, "real_time": time} for i, time in enumerate(times)]
    mean = {**run, "name": f"{name}_mean", "run_type": "aggregate", "aggregate_name": "mean",
            "real_time": 9e9}
    return [*runs, mean] if len(times) > 1 else runs


def benchmark_failure(name: str, message: str) -> Json:
    return {"name": name, "run_name": name, "run_type": "iteration", "repetitions": 1,
            "error_occurred": True, "error_message": message, "real_time": 0.0, "cpu_time": 0.0,
            "time_unit": "ns"}


def write_benchmarks(folder: Path, runs: Sequence[Json], machine: bool = True) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    context = {"date": "2020-01-01T00:00:00+00:00", "host_name": "testhost",
               "executable": "some/where/toy_gpubench", "num_cpus": 2}
    (folder / "benchmark.json").write_text(json.dumps({"context": context, "benchmarks": runs}))
    if machine:
        environment = header(Made(hardware="cuda"))["environment"]
        (folder / "environment.json").write_text(json.dumps({"environment": environment}))
    return folder


def descent(seed: int, seconds: float, floor: float, rate: float = 0.4, epochs: int = 20,
            start: float = 2.7) -> list[tuple[int, float, float | None]]:
    """A smooth RMSE curve with a little of the seed in time and floor; `seconds` an epoch."""
    pace = seconds * (1 + 0.03 * ((seed * 7) % 5 - 2))
    floor = floor + 0.002 * ((seed * 3) % 5 - 2)
    curve = [(e, pace * e, floor + 0.2 * (1 - rate) ** e) for e in range(1, epochs + 1)]
    return [(0, 0.0, start), *curve]


def rich_cases(seeds: Sequence[int] = (1, 2, 3)) -> list[Made]:
    """Two data sets and every kind of ending."""
    cases = []
    for seed in seeds:
        for f in (50, 300):
            slow = 1 + f / 100
            cases += [
                Made("sgd_serial", {"factors": f}, seed=seed, trace=descent(seed, slow, 0.92)),
                Made("hogwild", {"factors": f, "threads": 8}, seed=seed,
                     trace=descent(seed, slow / 6, 0.925, 0.35)),
                Made("ebgtg", {"factors": f, "stride": 250}, seed=seed, hardware="cuda",
                     trace=descent(seed, slow / 60, 0.93, 0.2, epochs=30),
                     updates_per_epoch=800)]
        cases.append(Made("als", {"factors": 100}, seed=seed, hardware="cuda",
                          trace=descent(seed, 0.05, 0.96, 0.7, epochs=8)))
        cases.append(Made("gpusgd", {"factors": 50}, seed=seed, hardware="cuda", trace=(),
                          status="skipped", reason="gpusgd needs CUDA; this build lacks it"))
        cases.append(Made("sgd_serial", {"factors": 50}, "ml-tiny", False, seed,
                          descent(seed, 0.3, 0.91), content_hash="1" * 16))
        diverging = [*descent(seed, 0.1, 0.95)[:4], (4, 0.4, 5.0), (5, 0.5, None)]
        cases.append(Made("hogwild", {"factors": 50, "threads": 8}, "ml-tiny", False, seed,
                          diverging if seed == 2 else descent(seed, 0.1, 0.93),
                          status="diverged" if seed == 2 else "completed",
                          reason="the test RMSE of epoch 5 is not finite", content_hash="1" * 16))
    return cases


def view_of(folder: Path, cases: Sequence[Made]) -> View:
    """Of these cases, in the order of their names."""
    return make_view(load([write(folder, cases)]))


def rows_of(folder: Path, cases: Sequence[Made], question: Question = Question()) -> dict[str, Any]:
    return {row.series.label: row for row in summarise(view_of(folder, cases), question)}


def svg_text(path: Path) -> str:
    """The words of an SVG, in order."""
    return " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text(encoding="utf-8")))


def draw(folder: Path, tmp_path: Path, recipe: Json, *options: str) -> tuple[int, str, Any]:
    """(exit code, words of the SVG and the caption, table) of one recipe drawn from `folder`."""
    path, out = tmp_path / "recipe.json", tmp_path / "out"
    path.write_text(json.dumps({"name": "it", **recipe}))
    status = main([str(folder), "--recipe", str(path), "--out", str(out), "--format", "svg", *options])
    if status:
        return status, "", None
    return status, f"{svg_text(out / 'it.svg')} {(out / 'it.txt').read_text(encoding='utf-8')}", pd.read_csv(out / "it.csv")


def published(tmp_path: Path, *rows: str, **keys: Any) -> Json:
    """A recipe's request for these rows."""
    head = "source,exhibit,dataset,system,hardware,x_name,x,metric,value,unit,how\n"
    (tmp_path / "numbers.csv").write_text(head + "\n".join(rows) + "\n")
    return {"csv": "numbers.csv", **keys}
