"""All mistakes of a spec are reported at once, each in a line with its place, without those that only follow from
another."""

import copy
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
    "datasets": ["like:ml-100k:0.05", {"like": "ml-1m", "scale": -1, "lable": "x"}, {"name": "ml-20"}],
    "algorithms": [{"name": "sgd_serial", "factors": 0, "reg": -1, "facters": 3}, {"name": "hogwlid"},
                   {"name": "fpsgd", "factors": [8, 0], "stop": {"epoch": 3}}],
}
# Each mistake, and the value that mends it; None: the key goes.
MENDED = {
    "$.target_rmse": 1, "$.evaluate.every": 1, "$.evaluate.trian": None, "$.sed": None,
    "$.datasets[1].scale": 0.1, "$.datasets[1].lable": None, "$.datasets[2].name": "ml-100k",
    "$.algorithms[0].factors": 4, "$.algorithms[0].reg": 1, "$.schedule.patience": 3, "$.schedule.decai": None,
    "$.algorithms[0].facters": None, "$.algorithms[1].name": "hogwild",
    "$.algorithms[2].factors": 8, "$.algorithms[2].stop.epoch": None,
}


@pytest.mark.parametrize("command", ["validate", "plan", "run"])
def test_all_mistakes_are_told_each_once(mfbench, tmp_path, command):
    assert sorted(places(mfbench, tmp_path, WRONG, command)) == sorted(MENDED)


def mend(spec, place, value):
    *path, last = [int(key) if key.isdigit() else key for key in re.findall(r"\w+", place)]
    for key in path:
        spec = spec[key]
    if value is None:
        del spec[last]
    else:
        spec[last] = value


@pytest.mark.parametrize("place", MENDED)
def test_a_message_does_not_depend_on_other_mistakes(mfbench, tmp_path, place):
    fixed = copy.deepcopy(WRONG)
    for other, value in MENDED.items():
        if other != place:
            mend(fixed, other, value)
    assert errors_of(mfbench, tmp_path, fixed) == [(place, dict(errors_of(mfbench, tmp_path, WRONG))[place])]


@pytest.mark.parametrize("spec, expected", [
    # A misspelt key that is missed is one mistake, and so is a kind that decides on the keys beside it.
    ({"algoritms": ["ruler"], "algorithms": None}, ["$.algoritms"]),
    ({"schedule": {"kind": "plataeu", "patience": 3}}, ["$.schedule.kind"]),
    ({"algorithms": [{"nmae": "ruler", "sleep_ms": 0}]}, ["$.algorithms[0].nmae"]),
    # Mistakes of cases: once for each entry, not for each seed and data set.
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
