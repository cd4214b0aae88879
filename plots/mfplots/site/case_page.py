"""All that is known of one case, for its page."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mfplots import metrics
from mfplots.palette import of_algorithm, on_dark
from mfplots.series import canonical
from mfplots.site.groups import plain, plains
from mfplots.traces import Trace

Json = dict[str, Any]
PROVENANCE = "Provenance"
SECTIONS = (("Parameters", ("algorithm.params",)),
            ("How it was run", ("schedule", "init", "stop", "evaluate", "loss", "ranking",
                                "profile", "target", "target_rmse", "baseline", "seed",
                                "placement")),
            ("Data", ("dataset",)), ("Work an epoch, as declared", ("work_per_epoch",)),
            ("What the algorithm found out", ("facts",)), (PROVENANCE, ("environment",)))
STACK = ("start_s", "load_s", "prepare_s", "transfer_s", "train_s", "evaluate_s", "save_s", "rest_s")
_REVISION = re.compile(r"[0-9a-f]{7,40}")


OF_A_CASE = ("case_id", "file", "lines", "status", "stop_reason")  # columns read beside its file's lines


def case_data(case: Mapping[str, Any], trace: Trace, key: str, run: str) -> Json:
    """`case`: with the lines of its file."""
    raw = case["lines"]()
    header, last = json.loads(raw.partition("\n")[0]), json.loads(raw.rstrip("\n").rpartition("\n")[2])
    footer = last if last["type"] == "footer" else {}
    algorithm = header["algorithm"]
    clocks = footer.get("clocks") or {}
    return {"key": key, "case": header["case_id"], "run": run, "file": Path(case["file"]).name,
            "algorithm": algorithm["name"], "dataset": header["dataset"]["name"],
            "status": case["status"], "reason": case["stop_reason"],
            "restarts": (header.get("facts") or {}).get("restarts") is True,
            "contended": [str(why) for key in ("contended_by", "host_contended_by") for why in footer.get(key) or []],
            "colour": of_algorithm(str(algorithm["name"]))[0],
            "dark": on_dark(of_algorithm(str(algorithm["name"]))[0]),
            "trace": (drawn := _trace(trace)), "metrics": _metrics(drawn),
            "titles": {name: metrics.row(name).axis for name in _metrics(drawn)}, "clocks": stack(clocks),
            "shared": _shared(footer.get("shared")),
            "wall": plain(clocks.get("wall_s")), "phases": _phases(footer.get("phases")),
            "sections": _sections(header, footer),
            "repeat": repeat_lines(header["environment"]),
            "raw": raw}


def stack(clocks: Mapping[str, Any]) -> list[list[Any]]:
    """The clocks one after the other up to the wall clock."""
    return [[name, plain(clocks.get(name))] for name in STACK]


def _trace(trace: Trace) -> Json:
    """By column, without empty ones."""
    known = {name: plains(trace[name]) for name in trace if name != "case" and trace.knows(name)}
    return {name: values for name, values in known.items() if any(v is not None for v in values)}


def _metrics(trace: Json) -> list[str]:
    """The metrics of its figure: the RMSE of each part, or its main metric."""
    errors = [name for name in trace if (row := metrics.row(name)) and row.measure == "rmse"]
    return errors or [name for name in metrics.main() if name in trace][:1]


def _shared(shared: Any) -> list[list[Any]]:
    """The share of the answer's time that an earlier case spent: clock, part, seconds."""
    known = shared if isinstance(shared, Mapping) else {}
    return [[f"{clock}_s", what.removesuffix("_s").replace("_", " "), plain(seconds)]
            for clock in ("prepare", "transfer") for what, seconds in (known.get(clock) or {}).items()]


def _phases(phases: Any) -> list[list[Any]]:
    """Name, seconds, seconds by the device's events, count; the longest first."""
    known = phases if isinstance(phases, Mapping) else {}
    rows = [[name, plain(p.get("seconds_s")), plain(p.get("device_s")), plain(p.get("count"))]
            for name, p in known.items() if isinstance(p, Mapping)]
    return sorted(rows, key=lambda row: -(row[1] or 0))


def _sections(header: Json, footer: Json) -> list[Json]:
    found = [{"title": title, "rows": [row for name in names for row in _rows(header, name)]}
             for title, names in SECTIONS]
    left = {key: value for key, value in footer.items()
            if key not in ("type", "status", "stop_reason", "clocks", "phases", "user_groups")}
    found.append({"title": "How it ended", "rows": flat(left)})
    ids = {key: header.get(key) for key in ("case_hash", "spec_name", "spec_hash")}
    ids["paper"] = header["algorithm"].get("paper")
    next(s for s in found if s["title"] == PROVENANCE)["rows"][:0] = flat(ids)
    return [section for section in found if section["rows"]]


def _rows(header: Json, name: str) -> list[list[str]]:
    value: Any = header
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    prefix = "" if name in ("algorithm.params", "dataset", "environment", "facts") else name
    return flat(value, prefix)


def flat(value: Any, prefix: str = "") -> list[list[str]]:
    """[["stop.epochs", "20"], ...]; nulls are left out."""
    if isinstance(value, dict):
        return [row for key, inner in value.items() for row in flat(inner, f"{prefix}.{key}" if prefix else key)]
    return [] if value is None else [[prefix, value if isinstance(value, str) else canonical(value)]]


def repeat_lines(environment: Json) -> list[str]:
    """The revision, if it is one, and the recorded command; a reader judges that text."""
    revision = str(environment.get("git_sha"))
    changed = "   # the tree had changes that were not committed" if environment.get("git_dirty") else ""
    checkout = [f"git checkout {revision}{changed}"] if _REVISION.fullmatch(revision) else []
    return [*checkout, f"# as its file says: {environment.get('command_line')}"]
