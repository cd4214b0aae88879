"""A spec with several mistakes is told of all of them at once, each in a line with its place, and of nothing that only
follows from another."""

import json
import re

import pytest

GOOD = {"name": "s", "datasets": ["like:ml-100k:0.05"], "stop": {"epochs": 1}, "algorithms": ["ruler"]}


def errors_of(mfbench, folder, spec, command="validate"):
    """[(JSON path, rest of the message)], in order."""
    done = mfbench(command, "s.json", cwd=folder, code=2, spec={**GOOD, **spec})
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    if len(lines) == 1:
        return [re.match(r"error: s\.json: (\$[^:]*): (.*)", lines[0]).groups()]
    assert lines[0] == f"error: s.json: {len(lines) - 1} errors"
    return [re.match(r"  (\$[^:]*): (.*)", line).groups() for line in lines[1:]]


def places(mfbench, folder, spec, command="validate"):
    return [place for place, _ in errors_of(mfbench, folder, spec, command)]


WRONG = {
    "sed": 3,
    "target_rmse": "low",
    "evaluate": {"every": 0, "trian": True},
    "schedule": {"kind": "plateau", "patience": 0, "decai": 0.5},
    "datasets": ["like:ml-100k:0.05", {"like": "ml-1m", "scale": -1, "lable": "x"}, "ml-20"],
    "algorithms": [{"name": "sgd_serial", "factors": 0, "reg": -1, "facters": 3}, "hogwlid",
                   {"name": "fpsgd", "factors": [8, 0], "stop": {"epoch": 3}}],
}
PLACES = ["$.target_rmse", "$.evaluate.every", "$.evaluate.trian", "$.sed",
          "$.datasets[1].scale", "$.datasets[1].lable", "$.datasets[2].name",
          "$.algorithms[0].factors", "$.algorithms[0].reg", "$.schedule.patience", "$.schedule.decai",
          "$.algorithms[0].facters", "$.algorithms[1].name",
          "$.algorithms[2].factors", "$.algorithms[2].stop.epoch"]


@pytest.mark.parametrize("command", ["validate", "plan", "run"])
def test_all_mistakes_are_told_each_once(mfbench, tmp_path, command):
    assert sorted(places(mfbench, tmp_path, WRONG, command)) == sorted(PLACES)


@pytest.mark.parametrize("place", PLACES)
def test_each_is_told_as_it_is_alone(mfbench, tmp_path, place):
    """By who has mended all others: no message depends on another mistake."""
    messages = dict(errors_of(mfbench, tmp_path, WRONG))
    fixed = json.loads(json.dumps(WRONG))
    mended = {"$.target_rmse": ("target_rmse", 1), "$.evaluate.every": ("evaluate", "every", 1),
              "$.evaluate.trian": ("evaluate", "trian"), "$.sed": ("sed",),
              "$.datasets[1].scale": ("datasets", 1, "scale", 0.1), "$.datasets[1].lable": ("datasets", 1, "lable"),
              "$.datasets[2].name": ("datasets", 2, "like:ml-100k:0.04"),
              "$.algorithms[0].factors": ("algorithms", 0, "factors", 4), "$.algorithms[0].reg": ("algorithms", 0, "reg", 1),
              "$.schedule.patience": ("schedule", "patience", 3), "$.schedule.decai": ("schedule", "decai"),
              "$.algorithms[0].facters": ("algorithms", 0, "facters"), "$.algorithms[1].name": ("algorithms", 1, "hogwild"),
              "$.algorithms[2].factors": ("algorithms", 2, "factors", 8),
              "$.algorithms[2].stop.epoch": ("algorithms", 2, "stop", "epoch")}
    for other, (*path, last) in mended.items():
        if other == place:
            continue
        removes = last in ("trian", "sed", "lable", "decai", "facters", "epoch")
        at = fixed
        for key in path if removes else path[:-1]:
            at = at[key]
        if removes:
            del at[last]
        else:
            at[path[-1]] = last
    assert errors_of(mfbench, tmp_path, fixed) == [(place, messages[place])]


@pytest.mark.parametrize("spec, expected", [
    # A misspelt key that is missed is one mistake, and so is a kind that decides of the keys beside it.
    ({"algoritms": ["ruler"], "algorithms": None}, ["$.algoritms"]),
    ({"schedule": {"kind": "plataeu", "patience": 3}}, ["$.schedule.kind"]),
    ({"algorithms": [{"nmae": "ruler", "sleep_ms": 0}]}, ["$.algorithms[0].nmae"]),
    # Cases: of each entry, once for all seeds and data sets.
    ({"seeds": [1, 2], "split": {"holdout": 0.2}, "algorithms": [
        {"name": "als_cpu", "factors": 2, "tune": {"over": {"reg": [3, 1], "factrs": [1, 2]}, "trials": 0}},
        {"name": "sgd_serial", "stop": {"target": {"metric": "ndcg_100", "value": 0.1}}}]},
     ["$.algorithms[0].tune.trials", "$.algorithms[0].tune.over.factrs", "$.algorithms[0].tune.over.reg"]),
    ({"seeds": [1, 2], "algorithms": [
        {"name": "sgd_serial", "stop": {"target": {"metric": "ndcg_100", "value": 0.1}}},
        {"name": "ials_cpu", "stop": {"target_rmse": 0.9}}]},
     ["$.algorithms[0].stop.target", "$.algorithms[1].stop.target_rmse"]),
    ({"baseline": "rulr", "target_rmse": -1}, ["$.target_rmse", "$.baseline"]),
])
def test_what_follows_from_a_mistake_is_no_other(mfbench, tmp_path, spec, expected):
    spec = {**GOOD, **spec}
    spec = {key: value for key, value in spec.items() if value is not None}
    done = mfbench("validate", "s.json", cwd=tmp_path, code=2, spec=spec)
    assert sorted(re.findall(r"(?:error: s\.json:|^ ) (\$[^:]*):", done.stderr, re.M)) == sorted(expected)


def test_of_very_many_mistakes_the_first_are_shown(mfbench, tmp_path):
    spec = {**GOOD, "algorithms": [{"name": "sgd_serial", "factors": -k} for k in range(1000)]}
    lines = mfbench("validate", "s.json", cwd=tmp_path, code=2, spec=spec).stderr.splitlines()
    assert lines[0] == "error: s.json: 1000 errors" and lines[-1] == "  and 950 more" and len(lines) == 52
