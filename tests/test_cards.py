"""The pinned set of experiments/cards, and ./dev cards."""

import json
import pathlib
import re

import pytest

from mfdev import cards
from mfdev.__main__ import main
from mfdev.shell import status_of
from support import footers

ROOT = pathlib.Path(__file__).resolve().parent.parent
SPECS = {path.stem: json.loads(path.read_text()) for path in sorted((ROOT / "experiments/cards").glob("*.json"))}
REAL = ("ml-1m", "gowalla", "lastfm-2k")
VERSION = 2
SMALL = {"like:netflix:0.01": "617d2901e766595a", "like:ml-20m:0.01": "6b656cff5808b00f",
         "like:ml-20m-implicit:0.01": "3704579177d70579"}


def stats_of(mfbench, word, tmp_path):
    return json.loads(mfbench("data", "stats", word, "--json", cwd=tmp_path, code=0).stdout)


def test_the_look_alikes_are_those_of_the_pinned_version(mfbench, tmp_path):
    made = (ROOT / "datasets/load.cpp").read_text()
    assert int(re.search(r"kLookAlikeVersion = (\d+);", made)[1]) == VERSION
    assert {word: stats_of(mfbench, word, tmp_path)["content_hash"] for word in SMALL} == SMALL
    assert {word.rpartition(":")[0] for word in SMALL} == {word for word in cards.CONTENT if word.startswith("like:")}


def test_every_algorithm_of_a_gpu_runs_on_a_real_set(mfbench, tmp_path):
    listed = json.loads(mfbench("list", "--json", cwd=tmp_path, code=0).stdout)
    of_a_gpu = {one["name"] for one in listed if one["hardware"] == "cuda" and ":" not in one["name"]} - {"ruler_device"}
    named = set()
    for name, spec in SPECS.items():
        if name.partition(".")[0] in REAL and not name.endswith(".cpu"):
            for entry in spec["algorithms"]:
                named |= {entry["name"]} if isinstance(entry["name"], str) else set(entry["name"])
    assert named == of_a_gpu


def test_both_halves_have_the_same_data_and_target():
    for name, spec in SPECS.items():
        assert spec["name"] == f"cards-{name}"
        other = SPECS[name + ".cpu" if not name.endswith(".cpu") else name.removesuffix(".cpu")]
        for key in ("datasets", "split", "target", "target_rmse"):
            assert spec.get(key) == other.get(key), (name, key)


def small(spec):
    """On a hundredth of a look-alike, for one epoch, with one seed."""
    entry = spec["datasets"][0]
    entry = {"name": entry} if isinstance(entry, str) else entry
    data = {"like": entry.get("name") or entry["like"], "scale": 0.01}
    if "implicit" in entry:
        data["implicit"] = entry["implicit"]
    algorithms = [{**one, "stop": {"epochs": 1}, "evaluate": {"every": 1}} for one in spec["algorithms"]]
    return {**spec, "datasets": [data], "split": {"holdout": 0.2, "validation": 0.1}, "seeds": [1],
            "algorithms": algorithms}


@pytest.fixture
def at_hand(mfbench, tmp_path, monkeypatch):
    """The specs made small, on a machine without a GPU."""
    (tmp_path / "specs").mkdir()
    for name, spec in SPECS.items():
        (tmp_path / "specs" / f"{name}.json").write_text(json.dumps(small(spec)))
    for name, value in mfbench.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("MFBENCH", mfbench.program)
    monkeypatch.setattr(cards, "SPECS", tmp_path / "specs")
    monkeypatch.setattr(cards, "CONTENT", {"like:ml-20m:0.01": SMALL["like:ml-20m:0.01"]})
    monkeypatch.setattr(cards, "have_device", lambda: False)
    return tmp_path


def test_the_cpu_half_runs_into_the_folder_of_the_machine(at_hand, monkeypatch):
    def in_one_process(*words):
        assert "--apart" in words
        return status_of(*[word for word in words if word != "--apart"])
    monkeypatch.setattr(cards, "status_of", in_one_process)
    assert main(["cards", "--cpu", "--out", str(at_hand / "out")]) == 0
    (machine,) = (at_hand / "out").iterdir()
    ran = {folder.name: footers(folder) for folder in machine.iterdir()}
    assert set(ran) == {name for name in SPECS if name.endswith(".cpu")}
    assert {foot["status"] for feet in ran.values() for foot in feet} == {"completed"}


def test_without_a_gpu_it_says_so(at_hand, capsys):
    assert main(["cards"]) == 1
    assert "no GPU here (nvidia-smi -L names none); --cpu runs the CPU half" in capsys.readouterr().err


def test_a_build_without_cuda_is_no_gpu(at_hand, capsys, monkeypatch):
    monkeypatch.setattr(cards, "have_device", lambda: True)
    monkeypatch.setattr(cards, "output_of", lambda *_: '{"environment": {"gpu": null}, "device": "none: no CUDA"}')
    assert main(["cards"]) == 1
    assert "the device is none: no CUDA; --cpu runs" in capsys.readouterr().err


def test_data_of_other_content_are_refused(at_hand, capsys, monkeypatch):
    monkeypatch.setattr(cards, "CONTENT", {"like:ml-20m:0.01": "0" * 16})
    assert main(["cards", "--cpu"]) == 1
    said = capsys.readouterr().err
    assert "the content of like:ml-20m:0.01 is 6b656cff5808b00f, but the pinned set has 000" in said


def test_specs_whose_data_are_missing_do_not_end_the_others(at_hand, capfd, monkeypatch):
    monkeypatch.setattr(cards, "CONTENT", {"gowalla@m1": "0" * 16})
    specs = {"a.cpu": {**small(SPECS["gowalla.cpu"]), "datasets": ["gowalla@m1"], "split": {}},
             "b.cpu": small(SPECS["ml-1m.cpu"])}
    monkeypatch.setattr(cards, "SPECS", at_hand / "two")
    (at_hand / "two").mkdir()
    for name, spec in specs.items():
        (at_hand / "two" / f"{name}.json").write_text(json.dumps({**spec, "algorithms": spec["algorithms"][:1]}))
    assert main(["cards", "--cpu", "--out", str(at_hand / "out")]) == 1
    assert "gowalla@m1 cannot be read, so its specs will not run; mfbench data stats" in capfd.readouterr().out
    (machine,) = (at_hand / "out").iterdir()
    assert {name: [foot["status"] for foot in footers(machine / name)] for name in specs} == \
        {"a.cpu": [], "b.cpu": ["completed"]}
