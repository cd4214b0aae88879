"""The phases that `mfbench describe` names are those that runs record: of CPU algorithms here, of others by results."""

import json
import lzma
from collections import defaultdict
from pathlib import Path

import pytest

from support import lines_of

ROOT = Path(__file__).resolve().parents[1]
OF_HARNESS = {"case", "start", "connect", "load", "prepare", "initial_factors", "evaluator", "evaluate", "epoch", "watch",
              "factors_to_host", "save", "transfer"}
OF_UPLOADS = {"pack", "cut_rows", "move_rows", "columns"}
OF_RANKS = {"wait_ranks", "exchange"}
OLD = {"hand_over"}  # of peers, now files_for_peer
IMPLICIT = {"ials_cpu", "ials_pp_cpu", "bpr_cpu", "item_knn", "user_knn", "rp3beta", "ease_cpu"}
WITH_ALL = {"ccd++_cpu": {"residual": "separate"}}  # parameters with which an algorithm has all its phases
DATA = {"like": "ml-100k", "scale": 0.05}


@pytest.fixture(scope="module")
def listed(mfbench, tmp_path_factory):
    """{name: what `describe` says} of all algorithms."""
    folder = tmp_path_factory.mktemp("listed")
    names = [one["name"] for one in json.loads(mfbench("list", "--json", cwd=folder, code=0).stdout)]
    return {name: json.loads(mfbench("describe", name, "--json", cwd=folder, code=0).stdout) for name in names}


@pytest.mark.parametrize("data", [DATA, {**DATA, "implicit": {"min_rating": 4}}], ids=["ratings", "implicit"])
def test_cpu_algorithms_record_their_phases(mfbench, tmp_path, listed, data):
    names = [name for name, said in listed.items() if said["hardware"] == "CPU" and ":" not in name
             and (name in IMPLICIT) == ("implicit" in data)]
    spec = {"name": "phases", "datasets": [data], "stop": {"epochs": 2},
            "algorithms": [{"name": name, **WITH_ALL.get(name, {})} for name in names]}
    mfbench("run", "s.json", "--out", "out", cwd=tmp_path, code=0, spec=spec)
    runs = [lines_of(path) for path in (tmp_path / "out").glob("*.jsonl")]
    assert {header["algorithm"]["name"] for header, *_ in runs} == set(names) and len(names) >= 7
    for header, *_, footer in runs:
        name = header["algorithm"]["name"]
        own, said = footer["phases"].keys() - OF_HARNESS, listed[name]["phases"]
        assert own == set(said) - OF_RANKS, name


def test_results_have_the_phases_of_algorithms_on_devices(listed):
    seen = defaultdict(set)
    for path in (ROOT / "results/reference").rglob("*.jsonl.xz"):
        for line in lzma.open(path, "rt"):
            if line.startswith('{"type":"header"'):
                name = json.loads(line)["algorithm"]["name"]
            elif line.startswith('{"type":"footer"'):
                seen[name] |= json.loads(line)["phases"].keys() - OF_HARNESS - OF_UPLOADS - OLD
    on_device = {name for name, said in listed.items() if said["hardware"] != "CPU" and ":" not in name}
    assert len(on_device & seen.keys()) >= 12
    for name in seen.keys() & listed.keys():
        assert seen[name] <= set(listed[name]["phases"]), name
    for name in on_device & seen.keys():
        assert seen[name] == set(listed[name]["phases"]), name


def test_describe_prints_them(mfbench, tmp_path):
    assert "\nphases: gram, update_x, update_y\n" in mfbench("describe", "ials_cpu", cwd=tmp_path, code=0).stdout
    assert "\nphases: none of its own\n" in mfbench("describe", "popular", cwd=tmp_path, code=0).stdout
