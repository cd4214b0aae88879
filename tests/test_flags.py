"""A Release is optimized: -O2, and -O3 for every target whose loops are timed. Results record the latter."""

import json
import pathlib
import re

import pytest


@pytest.fixture(scope="module")
def commands(mfbench):
    path = pathlib.Path(mfbench.program).parent / "compile_commands.json"
    if not path.is_file():
        pytest.skip(f"{path} does not exist: the program was not built here")
    cache = (path.parent / "CMakeCache.txt").read_text(encoding="utf-8")
    if "CMAKE_BUILD_TYPE:STRING=Release" not in cache:
        pytest.skip(f"{path.parent} is not a Release")
    return {re.search(r" -o \S*CMakeFiles/(\w+)\.dir/", one["command"])[1]: re.findall(r" -(O\w*)", one["command"])
            for one in json.loads(path.read_text(encoding="utf-8")) if one["file"].endswith((".cpp", ".cxx"))}


def test_every_target_is_optimized(commands):
    assert {level for levels in commands.values() for level in levels} == {"O2", "O3"}
    timed = {target for target, levels in commands.items() if levels[-1] == "O3"}
    assert {"mf_datasets", "mf_evaluate", "mf_algorithms_core", "mf_algo_als", "mf_algo_sgd_cpu"} <= timed
    assert {target for target in commands if target.startswith("mf_algo_")} <= timed
    assert "mf_harness" not in timed and "mf_base" not in timed


def test_a_result_records_the_flags_of_timed_targets(commands, mfbench, tmp_path):
    flags = json.loads(mfbench("doctor", "--json", cwd=tmp_path).stdout)["environment"]["flags"]
    assert re.findall(r"-(O\w*)", flags) == commands["mf_algo_als"]
