"""Result files (docs/results.md) as two tidy frames: one row a case, one row a trace point.

    from mfplots.load import load
    results = load(["results/runs/quickstart"])
    results.cases, results.trace

Public: `load` and `Results`, `read_case` and `CaseFile`, the constants without an underscore, and
`mfplots.errors.PlotError`, which everything that is wrong with a file is raised as. README.md, "From
Python", has the columns.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from mfplots.errors import PlotError
from mfplots.metrics import epoch_times
from mfplots.stored import (CASE, case_names, case_text, folder_of, packed_in_place_of, result_folders,
                            spec_of)

SCHEMA_VERSION = 1
STATUSES = ("completed", "diverged", "oom", "timeout", "skipped", "error", "interrupted")
UNFINISHED = "unfinished"  # no footer yet
MISSING = "missing"        # listed in spec.json, no file yet
PENDING = (UNFINISHED, MISSING, "interrupted")  # the next `mfbench run` runs these
NOT_RUN = (*PENDING, "skipped")  # no run that times or errors could be those of

TRACE_COLUMNS = ("epoch", "updates", "passes", "train_s", "train_device_s", "train_energy_j",
                 "epoch_s", "evaluate_s", "wall_s", "test_rmse", "test_mae", "train_rmse", "validation_rmse",
                 "learning_rate", "objective", "recall_20", "recall_50", "ndcg_100", "map_10")
TRACE_REQUIRED = ("epoch", "updates", "passes", "train_s", "wall_s", "test_rmse")
# Those that implicit feedback has instead of the test RMSE; ranking also on request.
RANKING = ("recall_20", "recall_50", "ndcg_100", "map_10")
ENVIRONMENT = ("mfbench", "git_sha", "git_dirty", "compiler", "flags", "build_type", "host", "cpu",
               "cores", "simd", "memory_bytes", "os", "gpu", "driver", "cuda_driver", "cuda",
               "device_memory_bytes", "sm_clock_hz", "power_limit_w", "command_line", "started_at")
HEADER_KEYS = ("case_id", "case_hash", "spec_name", "spec_hash", "seed", "baseline", "target_rmse",
               "schedule", "init", "stop", "evaluate", "profile", "target", "loss", "ranking",
               "facts", "placement")
DATASET_KEYS = ("look_alike", "source", "content_hash", "n_users", "n_items", "nnz_train",
                "nnz_test", "nnz_validation", "split", "cold_users", "cold_items", "cold_ratings",
                "duplicate_pairs", "duplicate_policy", "scale")
FOOTER_KEYS = ("status", "stop_reason", "epochs", "updates", "final_test_rmse", "best_test_rmse",
               "best_epoch", "peak_host_bytes", "peak_device_bytes", "sm_clock_seen_hz",
               "finished_at", "user_groups", "metrics", "train_energy_j", "power_seen_w",
               "temperature_seen_c", "host_load", "device_load", "contended", "contended_by",
               "host_contended", "host_contended_by", "shared")
# What an update is, by family, in files from before the header said it (docs/methodology.md).
METHOD_OF_FAMILY = {"als": "als", "ials": "als", "ccd": "ccd"}
CLOCKS = ("start_s", "load_s", "prepare_s", "transfer_s", "train_s", "train_device_s", "evaluate_s",
          "save_s", "rest_s", "wall_s")
_PARTIAL = re.compile(r"\.partial-\d+$")

Json = dict[str, Any]


@dataclass
class Results:
    """`cases`: one row a case, index `case`. `trace`: one row an evaluated epoch, keyed by `case`.

    Nested parts of header and footer (params, schedule, init, stop, evaluate, split, phases, ...)
    stay dicts or lists in object columns; everything else is a scalar with the name the file gives
    it, but for `work_` and `clock_`, which stand before the keys of `work_per_epoch` and `clocks`.
    `mfbench export` writes the same under the same names, with dots in place of dicts.
    """

    cases: pd.DataFrame
    trace: pd.DataFrame


@dataclass
class CaseFile:
    """What one file holds so far; no header where the case has not begun."""

    path: Path
    header: Json = field(default_factory=dict)
    trace: list[Json] = field(default_factory=list)
    footer: Json | None = None
    begun: bool = False  # the file is there


def load(paths: Iterable[str | Path], damaged: list[str] | None = None) -> Results:
    """Reads result folders, packed ones and single .jsonl files, each file once.

    A folder counts the cases that its spec.json lists, also those without a file yet (status
    MISSING) and takes baseline and target from there; without a spec.json it counts all its files.
    A case without its footer has the status UNFINISHED. Raises PlotError naming file and line at the
    first damaged one, where two files of a folder are one case, and where no case has begun; with a
    list for `damaged`, what is wrong with a file goes into it, and the file is left out.
    """
    files: dict[Path, CaseFile] = {}
    of_case: dict[tuple[Path, str], Path] = {}
    for path in map(Path, paths):
        for found in _case_paths(path):
            if found.resolve() not in files:
                try:
                    item = read_case(found)
                    if damaged is not None:
                        _check_shape(item)
                    _check_measured(item)
                    _check_single(item, of_case)
                except PlotError as error:
                    if damaged is None:
                        raise
                    damaged.append(str(error))
                    continue
                if item.header:
                    item.header.update(_question(path))
                    _forget_wrong_energy(item)
                files[found.resolve()] = item
    if not any(item.header for item in files.values()):
        raise PlotError(f"no case of {', '.join(map(str, paths))} has begun yet")
    rows, points = [], []
    for index, item in enumerate(files.values()):
        rows.append(_case_row(item))
        points += [{"case": index, **point} for point in item.trace]
    cases = pd.DataFrame(rows)
    cases.index.name = "case"
    trace = pd.DataFrame(points, columns=["case", *TRACE_COLUMNS])
    return Results(cases, _derive(cases, trace))


def _forget_wrong_energy(item: CaseFile) -> None:
    """Older files of several GPUs have that of one of them for the energy of the case; those of short
    epochs may have that of evaluations in it, which is known where no board could have taken it."""
    params = item.header["algorithm"].get("params") or {}
    shares = max(params.get("devices") or 1, params.get("ranks") or 1)
    of_all = shares == 1 or item.footer is None or "train_energy_of_ranks_j" in item.footer
    limit = (item.header.get("environment") or {}).get("power_limit_w")
    most = 1.05 * limit * shares if limit else math.inf  # W
    for point in item.trace:
        joules = point.get("train_energy_j")
        if joules is not None and (not of_all or joules > most * point["train_s"]):
            point["train_energy_j"] = math.nan
    if item.footer is not None and item.footer.get("train_energy_j") is not None:
        trained = (item.footer.get("clocks") or {}).get("train_s") or 0
        if not of_all or item.footer["train_energy_j"] > most * trained:
            item.footer["train_energy_j"] = None


def _check_measured(item: CaseFile) -> None:
    if item.header and item.header.get("profile") is not None:
        raise PlotError(f"{item.path}: a profiled run, whose times are no results")


def _check_single(item: CaseFile, of_case: dict[tuple[Path, str], Path]) -> None:
    """A copied result would be one more seed, and make the spread smaller than it is."""
    if not item.header:
        return
    key = (item.path.parent.resolve(), str(item.header["case_hash"]))
    first = of_case.setdefault(key, item.path)
    if first != item.path:
        raise PlotError(f"{first} and {item.path} are the same case; keep one of them")


def _derive(cases: pd.DataFrame, trace: pd.DataFrame) -> pd.DataFrame:
    """Adds `iterations`, the updates for each user on average (one iteration of cu2rec updates
    every user once, so the epochs of others fit on the same axis), the mean `updates_per_s`, and
    `answer_s`, the training time with all that had to come before: prepare + transfer + train, with
    what an earlier case of the run had prepared and transferred for this one; it is known once a case
    has its footer."""
    users = trace["case"].map(pd.to_numeric(cases["n_users"])) if len(trace) else float("nan")
    running = trace["train_s"].where(trace["train_s"] > 0)
    before = seconds_to_training(cases)
    return trace.assign(iterations=trace["updates"] / users,
                        updates_per_s=trace["updates"] / running,
                        answer_s=trace["train_s"] + (trace["case"].map(before) if len(trace)
                                                     else float("nan")))


def seconds_to_training(cases: pd.DataFrame) -> pd.Series:
    """Prepare and transfer of each case, with what an earlier case of its run had done of them."""
    own = pd.to_numeric(cases["clock_prepare_s"]) + pd.to_numeric(cases["clock_transfer_s"])
    return own + cases["shared"].map(shared_before_training)


def shared_before_training(shared: Json | None) -> float:
    """Of a footer's `shared`; 0 in files from before there was one."""
    if not isinstance(shared, dict):
        return 0.0
    return sum(seconds for clock in ("prepare", "transfer")
               for seconds in shared.get(clock, {}).values())


def _question(path: Path) -> Json:
    """Baseline and target as the spec has them now: an edit does not touch finished cases."""
    stated = spec_of(path)
    if stated is None:
        return {}
    if "target_rmse" not in stated:  # older than what it says of targets
        return {key: stated[key] for key in ("baseline",) if key in stated}
    source = stated.get("spec") if isinstance(stated.get("spec"), dict) else {}
    return {"baseline": stated.get("baseline"), "target_rmse": stated["target_rmse"], "target": source.get("target")}


def _case_paths(path: Path) -> list[Path]:
    if _PARTIAL.search(path.name):
        raise PlotError(f"{path}: the remains of a killed run, never read as a result")
    if packed := packed_in_place_of(path):
        return _folder_paths(folder_of(packed))
    if path.is_dir():
        return _folder_paths(path)
    if not path.exists():
        raise PlotError(f"{path}: no such file or folder")
    if path.suffix != CASE:
        raise PlotError(f"{path}: expected a result folder, a packed one (.jsonl.xz), a .jsonl file or the "
                        ".json of a benchmark")
    return [path]


def _folder_paths(folder: Path) -> list[Path]:
    stated = spec_of(folder)
    if stated is not None:
        return [folder / f"{name}{CASE}" for name in _listed_cases(stated, folder / "spec.json")]
    found = case_names(folder)
    if not found:
        inner = [str(path.relative_to(folder)) for path in result_folders(folder)]
        extra = f"; its folders with results: {', '.join(inner)}" if inner else ""
        raise PlotError(f"{folder}: no result files{extra}")
    return [folder / name for name in found]


def _listed_cases(stated: Json, spec: Path) -> list[str]:
    try:
        names = [case if isinstance(case, str) else str(case["case_id"]) for case in stated["cases"]]
        if any("/" in name or "\0" in name for name in names):
            raise ValueError("a case id names a file of this folder, so it has no slash")
        return names
    except (ValueError, KeyError, TypeError) as error:
        raise PlotError(f"{spec}: expected an object whose \"cases\" lists case ids ({error!r})"
                        ) from error


def read_case(path: Path) -> CaseFile:
    """One result file, checked line by line, also of a packed folder; empty where it is not there, and
    without the line that is still being written. Raises PlotError naming file and line."""
    item = CaseFile(path)
    text = case_text(path)
    if text is None:
        return item
    item.begun = True
    lines = text.split("\n")
    complete = lines[:-1]  # text after the last newline is a line still being written
    for number, text in enumerate(complete, start=1):
        where = f"{path}:{number}"
        line = _parse_line(text, where)
        if number == 1:
            item.header = _check_header(line, where)
        else:
            _add_line(item, line, where)
    if lines[-1] and item.footer is not None:
        raise PlotError(f"{path}:{len(lines)}: a line after the footer")
    return item


def _parse_line(text: str, where: str) -> Json:
    def refuse(token: str) -> None:
        raise ValueError(f"{token} is no JSON; numbers that are not finite are null")

    try:
        line = json.loads(text, parse_constant=refuse)
    except ValueError as error:
        raise _damaged(where, str(error)) from error
    if not isinstance(line, dict):
        raise _damaged(where, "expected a JSON object")
    return line


def _damaged(where: str, why: str) -> PlotError:
    return PlotError(f"{where}: damaged line: {why}; the same `mfbench run` sets the file aside and measures its "
                     "case anew")


def _check_header(line: Json, where: str) -> Json:
    if line.get("type") != "header":
        raise PlotError(f"{where}: expected the header, found type {line.get('type')!r}")
    version = line.get("schema_version")
    if version != SCHEMA_VERSION:
        raise PlotError(f"{where}: schema_version {version!r}, and this reader knows "
                        f"{SCHEMA_VERSION} only")
    _require(line, ("case_id", "case_hash", "algorithm", "dataset", "seed", "environment"), where)
    _require(line["algorithm"], ("name", "params"), f"{where}: algorithm")
    _require(line["dataset"], ("name",), f"{where}: dataset")
    return line


def _require(line: Json, keys: Sequence[str], where: str) -> None:
    missing = [key for key in keys if key not in line]
    if missing:
        raise _damaged(where, f"no {', '.join(missing)}")


def _add_line(item: CaseFile, line: Json, where: str) -> None:
    kind = line.get("type")
    if item.footer is not None:
        raise PlotError(f"{where}: a line after the footer")
    if kind == "trace":
        _require(line, TRACE_REQUIRED, where)
        item.trace.append({key: _number(line.get(key), key, where) for key in TRACE_COLUMNS})
    elif kind == "footer":
        _require(line, ("status",), where)
        if line["status"] not in STATUSES:
            raise PlotError(f"{where}: unknown status {line['status']!r}")
        item.footer = line
    else:
        raise PlotError(f"{where}: unknown type {kind!r}; expected trace or footer")


def _check_shape(item: CaseFile) -> None:
    """Raises PlotError where header or footer have values of other kinds than docs/results.md says:
    what reads them would stumble, and take the whole folder with it."""
    if not item.header:
        return
    try:
        row = _case_row(item)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise PlotError(f"{item.path}: damaged header or footer: {error!r}") from error
    kinds = {str: ("case_id", "case_hash", "algorithm", "dataset"),
             (dict, type(None)): ("params", "schedule", "init", "stop", "evaluate", "split")}
    for kind, keys in kinds.items():
        for key in keys:
            if not isinstance(row.get(key), kind):
                raise PlotError(f"{item.path}:1: {key}: found {row.get(key)!r}, expected "
                                f"{'text' if kind is str else 'an object'}")


def _number(value: Any, key: str, where: str) -> float:
    if value is None:
        return float("nan")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise PlotError(f"{where}: {key}: found {value!r}, expected a number or null")
    return float(value)


def _case_row(item: CaseFile) -> Json:
    row: Json = {"file": str(item.path), "folder": item.path.parent.name}
    if not item.header:
        status = UNFINISHED if item.begun else MISSING
        return {**row, "case_id": item.path.stem, "status": status, "n_trace": 0}
    return {**row, **_header_row(item.header, row["file"]), **_footer_row(item.footer),
            **_epoch_times(item), "n_trace": len(item.trace)}


def restarts(facts: Any) -> bool:
    """Whether each point is a run of its own, so that no single epoch was timed."""
    return isinstance(facts, dict) and facts.get("restarts") is True


def _epoch_times(item: CaseFile) -> Json:
    """By the footer; of files from before it had them, and of unfinished ones, by the trace."""
    keys = ("first_epoch_s", "steady_epoch_s")
    if restarts(item.header.get("facts")):
        return dict.fromkeys(keys, float("nan"))
    if item.footer is not None and keys[1] in item.footer:
        where = f"{item.path}:footer"
        return {key: _number(item.footer.get(key), key, where) for key in keys}
    points = [(point["epoch"], point["train_s"]) for point in item.trace]
    return dict(zip(keys, epoch_times([e for e, _ in points], [s for _, s in points])))


def _header_row(header: Json, file: str) -> Json:
    algorithm, dataset = header["algorithm"], dict(header["dataset"])
    work = header.get("work_per_epoch") or {}
    row = {key: header.get(key) for key in HEADER_KEYS}
    row["algorithm"] = algorithm["name"]
    row.update({key: algorithm.get(key) for key in ("family", "hardware", "paper", "params")})
    row["method"] = algorithm.get("method") or METHOD_OF_FAMILY.get(row["family"], "sgd")
    row["dataset"] = dataset.pop("name")
    row.update({key: dataset.get(key) for key in DATASET_KEYS})  # all null where it did not load
    row.update({f"work_{key}": _number(work.get(key), f"work_per_epoch.{key}", f"{file}:1")
                for key in ("updates", "bytes", "flops")})
    row.update({key: header["environment"].get(key) for key in ENVIRONMENT})
    return row


def _footer_row(footer: Json | None) -> Json:
    line = footer or {"status": UNFINISHED, "stop_reason": "no footer: still running, or killed"}
    clocks = line.get("clocks") or {}
    return {**{key: line.get(key) for key in FOOTER_KEYS},
            **{f"clock_{key}": clocks.get(key) for key in CLOCKS},
            "phases": line.get("phases") or {}}
