"""A spec that names only an algorithm gets a model that is worth its factors."""

import json
import os
import pathlib

import pytest

DATA = pathlib.Path(os.environ.get("MFBENCH_DATA", "no-data"))
# Papers name `als` and `ccd++`, so these have the papers' defaults.
ALGORITHMS = ["als_cpu", "als_fused", "ccd++_cpu", "sgd_serial", "hogwild", "fpsgd", "bpmf_cpu"]


@pytest.mark.parametrize("name", ["filmtrust", "ml-100k", "ml-1m"])
def test_no_default_is_behind_the_biases_alone(mfbench, tmp_path, name):
    if not (DATA / name).is_dir():
        pytest.skip(f"{name} is not in MFBENCH_DATA")
    spec = {"name": "defaults", "datasets": [name], "stop": {"epochs": 20}, "evaluate": {"every": 20, "train": False},
            "algorithms": ["bias", *ALGORITHMS]}
    mfbench("run", "defaults.json", "--out", "out", "--quiet", cwd=tmp_path, data=DATA, spec=spec, timeout=600)
    lines = mfbench("summarize", "out", "--json", cwd=tmp_path, code=0).stdout.splitlines()
    cases = {case["algorithm"]: case for case in map(json.loads, lines) if case["type"] == "case"}
    rmse = {name: case["final_test_rmse"] for name, case in cases.items() if case["status"] == "completed"}
    assert set(ALGORITHMS) - set(rmse) <= {"als_fused"}  # needs a device
    assert {name: found for name, found in rmse.items() if found > rmse["bias"]} == {}
