"""The rows of leaderboard and speed, the list of cases, and the failures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mfplots import metrics
from mfplots.series import contended, hardware
from mfplots.site.ceilings import Ceilings, rows_key
from mfplots.site.gather import Damaged, Run, case_key
from mfplots.site.groups import Group, Member, met, plain, text_of
from mfplots.summary import (ANSWER, LEVELS, below_floor, bests, declared_rates, end_times, frozen, headlines, metric_of, on_test, status_text,
                             throughputs, times_to_target)

Json = dict[str, Any]
STORED = {"fp16": 2, "fp32": 4}  # bytes of a factor
# Algorithms that keep a user's row in registers while they go through its ratings (algorithms/sgd_tiled).
ITEMS_ALONE = ("sgd_tiled",)
# Algorithms whose products are on tensor cores (algorithms/als, ials, bpmf): fp16 products there are their ceiling.
TENSOR = ("als_fused", "bpmf", "ials_fused")
OF_ROWS = ("case_id", "algorithm", "dataset", "params", "hardware", "status", "seed", "epochs", "headline", "clock_train_s",
           "clock_wall_s", "stop_reason", "contended", "contended_by", "host_contended", "host_contended_by", "warnings")
MILD = ("missing", "unfinished", "interrupted", "skipped", "contended")  # shown beside failures


def board(groups: Sequence[Group]) -> list[Json]:
    rows = []
    for index, group in enumerate(groups):
        own = [_row(index, group, member) for member in group.members]
        for metric in {row["metric_key"] for row in own}:
            alike = [row for row in own if row["metric_key"] == metric]
            below = below_floor([(row["algorithm"], row["quality"]) for row in alike], metric)
            for row, name in zip(alike, below):
                row["status"] += f", loses to {name}" if name else ""
        rows += own
    return rows


def _row(index: int, group: Group, member: Member) -> Json:
    series, row = member.series, member.row
    target, _ = group.target
    metric = metric_of(series)
    train, answer = (times_to_target(series, target, clock) for clock in ("train_s", ANSWER))
    quality, at = metrics.spread(headlines(series, metric)), met(series, target)
    levels = frozen(series) or [(None, None)] * len(LEVELS)
    return {**member.about, "group": index, "dataset": group.title,
            "device": member.device, "gpus": member.gpus, "seeds": len(series.rows),
            "status": status_text(series.rows), "contended": int(contended(series.rows).sum()),
            "metric": metrics.row(metric).title, "metric_key": metric, "less": metrics.row(metric).less, "quality": plain(quality.median),
            "low": plain(quality.low), "high": plain(quality.high),
            "best": plain(metrics.spread(bests(series, metric)).median), "on_test": on_test(series.rows),
            **{f"at_{level}": plain(answer) for level, (_, answer) in zip(LEVELS, levels)},
            **{f"value_{level}": plain(value) for level, (value, _) in zip(LEVELS, levels)},
            "target": None if target is None else float(target),
            "met_epoch": at and at.epoch, "looked_before": at and at.before,
            "reached": sum(math.isfinite(t) for t in train), "finished": len(series.finished),
            "train_to_target": plain(metrics.censored_median(train)),
            "answer_to_target": plain(metrics.censored_median(answer)),
            "train": plain(metrics.spread(end_times(series, "train_s")).median),
            "answer": plain(metrics.censored_median(end_times(series, ANSWER))),
            "method": series.method, "users": plain(row["n_users"]), "items": plain(row["n_items"]),
            **_rates(series)}


def _rates(series: Any) -> Json:
    rates = {"updates_per_s": throughputs(series, "train_s"),
             "bytes_per_s": declared_rates(series, "work_bytes", "train_s"),
             "flops_per_s": declared_rates(series, "work_flops", "train_s")}
    return {name: plain(metrics.spread(values).median) for name, values in rates.items()}


def with_ceilings(rows: Sequence[Json], ceilings: Sequence[Ceilings]) -> list[Json]:
    """The rows that have a rate, with its share of the measured limit of their device; of several, the rate is divided
    by their number first."""
    by_machine = {known.machine: known for known in ceilings}
    found = []
    for row in rows:
        if row["bytes_per_s"] is None and row["flops_per_s"] is None:
            continue
        known = by_machine.get(row["device"])
        per_gpu = {key: _over(row[key], row["gpus"]) for key in ("bytes_per_s", "flops_per_s", "updates_per_s")}
        found.append({**row, "intensity": _over(row["flops_per_s"], row["bytes_per_s"]),
                      "flops_per_gpu": per_gpu["flops_per_s"],
                      "bytes_share": _over(per_gpu["bytes_per_s"], known and known.bytes_per_s),
                      "tensor": row["algorithm"] in TENSOR,
                      "flops_share": _over(per_gpu["flops_per_s"], known and _flops_ceiling(row, known)),
                      "rows_share": _over(per_gpu["updates_per_s"], known and _rows_ceiling(row, known))})
    return found


def _flops_ceiling(row: Json, known: Ceilings) -> float | None:
    """None for tensor cores of a device on which they were not measured."""
    return known.tensor_flops_per_s if row["algorithm"] in TENSOR else known.flops_per_s


def _rows_ceiling(row: Json, known: Ceilings) -> float | None:
    """Of SGD on the device, if random rows of this number and size were measured."""
    size = STORED.get(row["precision"])
    if row["method"] != "sgd" or row["hardware"] != "cuda" or not (size and row["factors"]):
        return None
    users = None if row["algorithm"] in ITEMS_ALONE else row["users"]
    return known.rows.get(rows_key(users, row["items"], size * row["factors"]))


def _over(a: float | None, b: float | None) -> float | None:
    return a / b if a and b else None


def case_rows(runs: Sequence[Run]) -> list[Json]:
    """A row a case, begun or not."""
    found = []
    for run in runs:
        for case in run.results.cases[list(OF_ROWS)].to_dict("records"):
            found.append({"key": case_key(run.name, case["case_id"]), "case": case["case_id"],
                          "run": run.name, "algorithm": text_of(case["algorithm"]),
                          "dataset": text_of(case["dataset"]),
                          "hardware": hardware(case) if isinstance(case["algorithm"], str) else text_of(None),
                          "status": case["status"],
                          "seed": plain(case["seed"]), "epochs": plain(case["epochs"]),
                          "quality": plain(case["headline"]),
                          "train": plain(case["clock_train_s"]),
                          "wall": plain(case["clock_wall_s"]),
                          "begun": isinstance(case["algorithm"], str),
                          "contended": _said(case, "contended"), "why": _why(case)})
    return found


def _why(case: Json) -> str:
    """Why a case ended, and why its numbers are doubtful."""
    reason = case["stop_reason"] if isinstance(case["stop_reason"], str) else ""
    if not reason and case["status"] == "missing":
        return "listed in spec.json, not begun"
    shared = [why for key in ("contended_by", "host_contended_by", "warnings")
              for why in (case[key] if isinstance(case[key], list) else [])]
    return "; ".join(map(str, filter(None, [reason, *shared])))


def _said(case: Json, key: str) -> bool:
    return any(bool(case[k]) for k in (key, f"host_{key}") if isinstance(case[k], bool))


def failures(cases: Sequence[Json], damaged: Sequence[Damaged]) -> list[Json]:
    """Files that cannot be read, and cases that did not complete or shared their machine; the least serious last."""
    failed = [{**case, "kind": case["status"] if case["status"] != "completed" else "contended"}
              for case in cases if case["status"] != "completed" or case["contended"]]
    failed.sort(key=lambda case: MILD.index(case["kind"]) if case["kind"] in MILD else -1)
    return [{"key": None, "case": "–", "run": item.run, "algorithm": "–", "dataset": "–",
             "hardware": "–", "kind": "damaged", "begun": False, "why": item.why,
             "epochs": None} for item in damaged] + failed
