"""The studies of result folders and their trials, as `mfbench tune DIR --json` has them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from mfplots import metrics, program
from mfplots.errors import PlotError
from mfplots.site.gather import Damaged, Run
from mfplots.site.groups import plain, text_of

Json = dict[str, Any]


def studies(runs: Sequence[Run]) -> tuple[list[Json], list[Damaged]]:
    """Studies of the folders; also returns the unreadable ones."""
    found, damaged = [], []
    for run in (run for run in runs if (run.path / "tune").is_dir()):
        try:
            found += [_study(study, run.name) for study in json.loads(program.text("tune", run.path, "--json"))]
        except (AttributeError, LookupError, PlotError, TypeError, ValueError) as error:
            damaged.append(Damaged(run.name, f"tune: {error}"))
    return found, damaged


def _study(study: Json, run: str) -> Json:
    metric = metrics.row(study["metric"])
    return {"study": study["label"], "run": run, "metric": metric.title if metric else study["metric"],
            "less": metric.less if metric else True, "runs": study["runs"], "seconds": plain(study["trials_s"]),
            "chosen": _values(study["chosen"]), "score": plain(study["score"]), "edges": ", ".join(map(str, study["edges"])),
            "finished": "yes" if study["finished"] else "no", "out_of_budget": "yes" if study["out_of_budget"] else "no",
            "trials": [_trial(trial) for trial in study["trials"]]}


def _trial(trial: Json) -> Json:
    return {"trial": trial["trial"], "epochs": plain(trial["epochs"]), "values": _values(trial["values"]),
            "score": plain(trial["score"]), "status": trial["status"], "reason": trial["reason"], "seconds": plain(trial["seconds_s"])}


def _values(values: Mapping[str, Any] | None) -> str:
    return ", ".join(f"{key} = {text_of(value)}" for key, value in (values or {}).items())
