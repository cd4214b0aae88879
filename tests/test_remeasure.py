"""./dev remeasure: results measured again by the spec of their name, in as many goes as it takes."""

import json
import pathlib
import shutil

import pytest

from mfdev import remeasure
from mfdev.shell import Failure
from number_sources import PACKED, packed_below

ROOT = pathlib.Path(__file__).resolve().parents[1]

SPEC = {"name": "small", "datasets": [{"like": "ml-100k", "scale": 0.05}], "seeds": [1, 2], "stop": {"epochs": 2},
        "algorithms": [{"name": "sgd_serial", "factors": 8}]}


@pytest.fixture
def tree(mfbench, tmp_path):
    """Specs and results of a machine of its own; `args` after what is to be measured."""
    (tmp_path / "specs/part").mkdir(parents=True)
    mfbench("run", "specs/part/small.json", "--out", "results/here/part/small", "--no-share", "--quiet",
            cwd=tmp_path, code=0, spec=SPEC)
    shutil.copytree(tmp_path / "results/here/part/small", tmp_path / "results/here/of-old")
    return tmp_path


def measure(tree, mfbench, *words):
    return remeasure.remeasure([str(tree / "results/here"), "--out", str(tree / "again"), "--specs", str(tree / "specs"),
                           "--results", str(tree / "results"), "--mfbench", str(mfbench.program), *words])


def test_the_spec_of_the_name_runs_with_the_options_of_then(mfbench, tree, capfd):
    assert measure(tree, mfbench, "--show") == 0
    said = capfd.readouterr().out
    assert "part/small: 2 cases, 2 seeds, 0 s --no-share --apart" in said
    assert "left out, no spec of its name: here/of-old" in said
    assert not (tree / "again").exists()
    assert measure(tree, mfbench) == 0
    files = sorted((tree / "again/part/small").glob("*.jsonl"))
    assert [path.name for path in files] == [p.name for p in sorted((tree / "results/here/part/small").glob("*.jsonl"))]
    assert "--no-share" in json.loads(files[0].read_text().splitlines()[0])["environment"]["command_line"]


def test_what_is_there_is_not_run_again(mfbench, tree):
    assert measure(tree, mfbench) == 0
    before = {path: path.read_bytes() for path in (tree / "again").rglob("*.jsonl")}
    assert measure(tree, mfbench) == 0
    assert before and before == {path: path.read_bytes() for path in (tree / "again").rglob("*.jsonl")}


def test_a_limit_of_time_is_kept_and_the_next_call_goes_on(mfbench, tree, capfd):
    long = {**SPEC, "stop": {"epochs": 1000000}, "seeds": [1]}
    (tree / "specs/part/small.json").write_text(json.dumps(long))
    assert measure(tree, mfbench, "--seconds", "1") == 3
    assert "the time is up at part/small; the same command goes on" in capfd.readouterr().out
    (tree / "specs/part/small.json").write_text(json.dumps(SPEC))
    assert measure(tree, mfbench) == 0


def test_what_fails_is_named_and_the_others_run(mfbench, tree, capfd):
    (tree / "specs/part/small.json").write_text(json.dumps({**SPEC, "algorithms": [{"name": "nothing"}]}))
    assert measure(tree, mfbench) == 1
    assert "part/small: mfbench ended with 2" in capfd.readouterr().out
    (tree / "results/there/part").mkdir(parents=True)
    both = [str(tree / "results" / machine) for machine in ("here", "there")]
    for folders, why in [([tree / "none"], "no such folder"), ([tree / "specs"], "not below"),
                         (both, "found folders of here and there")]:
        with pytest.raises(Failure, match=why):
            remeasure.remeasure([*map(str, folders), "--results", str(tree / "results"), "--mfbench", mfbench.program])
    assert measure(tree, mfbench, "--seconds", "0") == 3, "no time at all"


@pytest.mark.parametrize("line, options", [
    ("mfbench run experiments/a.json --out /tmp/r/a --quiet --no-share", ("--no-share",)),
    ("mfbench run a.json", ()),
    ("mfbench run a.json --save-model m --profile 3", ("--profile", "3")),
    ("mfbench run --no-share --profile 3 a.json", ("--no-share", "--profile", "3")),
    ("mfbench run --out 'a folder/x.json' a.json --trace t --json", ()),
    ("mfbench run a.json --shard 2/8 --no-share", ("--no-share",)),
    ("mfbench run a.json --out=r --profile=3 --trace=t", ("--profile=3",))])
def test_what_belongs_to_the_place_is_left(line, options):
    assert remeasure.options_of(line) == options


def test_every_folder_of_reference_results_has_its_spec():
    """But for what was measured before and after one change, or once more on another host."""
    found = packed_below(ROOT / "results/reference")
    assert len(found) > 50
    for packed in found:
        name = pathlib.Path(*packed.relative_to(ROOT / "results/reference").parts[1:])
        if "other-host" not in name.parts:
            assert (ROOT / "experiments" / str(name).replace(PACKED, ".json")).is_file(), packed
