"""Names in the files of strangers: none leads a command out of the folder that it was given, or is made a file there
that no one can type."""

import contextlib
import copy
import itertools
import json
import lzma
import shutil
import subprocess

import pytest
from python_api import mfbench as python

from mfdev.pack import pack
from mfdev.shell import Failure
from mfplots.errors import PlotError

SPEC = {"name": "small", "datasets": [{"like": "ml-100k", "scale": 0.02}], "stop": {"epochs": 1}, "save_model": True,
        "algorithms": [{"name": "sgd_serial", "factors": 2}]}
NAMES = {"absolute": "{outside}/mine", "above": "../outside/mine", "far above": "../../outside/mine", "parent": "..", "none": "",
         "hidden": ".bashrc", "nul": "a\0b", "newline": "a\nb", "long": "n" * 5000, "surrogate": "a\ud800b"}


@pytest.fixture(scope="module")
def lines(mfbench, tmp_path_factory):
    """The lines of a packed run, and its folder before."""
    folder = tmp_path_factory.mktemp("made")
    mfbench("run", "s.json", "--out", "r", "--quiet", cwd=folder, code=0, spec=SPEC)
    shutil.copytree(folder / "r", folder / "packed/r")
    pack([str(folder / "packed")])
    return [json.loads(line) for line in lzma.decompress((folder / "packed/r.jsonl.xz").read_bytes()).splitlines()], folder / "r"


@pytest.fixture
def outside(tmp_path):
    """Has what the user keeps; the end of the test looks at it."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "mine").write_text("kept")
    yield folder
    assert [(one.name, one.read_text()) for one in folder.iterdir()] == [("mine", "kept")]
    assert {one.name for one in tmp_path.iterdir()} <= {"outside", "in"}


def each_changed(value, name):
    """Copies in each of which one string is this name; types stay, since they tell the lines apart."""
    if isinstance(value, str):
        yield name
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        for changed in each_changed(inner, name) if key != "type" else ():
            result = copy.copy(value)
            result[key] = changed
            yield result


def text_of(lines):
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


@pytest.mark.parametrize("kind", NAMES)
def test_a_packed_file_is_unpacked_into_its_folder_only(lines, outside, tmp_path, kind):
    whole, _ = lines
    place, refused = tmp_path / "in/deep", 0
    own = f"{whole[1]['case_id']}.jsonl"
    changed = list(each_changed(whole, NAMES[kind].format(outside=outside)))
    assert len(changed) > 30
    for text in map(text_of, changed):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        (place / "r.jsonl.xz").write_bytes(lzma.compress(text, preset=0))
        with contextlib.suppress(Failure):
            pack(["--unpack", str(place / "r.jsonl.xz")])
            assert sorted(one.name for one in (place / "r").iterdir()) == [own, "spec.json"]
            continue
        refused += 1
        assert [one.name for one in place.iterdir()] == ["r.jsonl.xz"]
    assert refused >= 1


def test_a_link_in_the_place_of_its_folder_leads_no_packed_file_out(lines, outside, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/r").symlink_to(outside)
    (tmp_path / "in/r.jsonl.xz").write_bytes(lzma.compress(text_of(lines[0])))
    with pytest.raises(Failure, match="found a link, expected a folder"):
        pack(["--unpack", str(tmp_path / "in/r.jsonl.xz")])


@pytest.fixture
def run_in(mfbench, tmp_path):
    """A command in a folder two below, and its words."""
    def run(*words, code=range(8)):
        done = subprocess.run([mfbench.program, *words], cwd=tmp_path / "in/deep", env=mfbench.environment(), capture_output=True)
        assert done.returncode in code and b"Traceback" not in done.stderr, (words, done.stderr)
        return done.stderr.decode()
    return run


def test_no_command_follows_a_name(run_in, lines, outside, tmp_path):
    """Each string of a case, through every command that reads results."""
    (head, *case), folder = lines
    place = tmp_path / "in/deep"
    shutil.copytree(folder, place / "plain")
    changed = [one for name in NAMES.values() for one in each_changed(case, name.format(outside=outside))]
    for number, one in enumerate(changed):
        (place / "plain" / f"c{number}.jsonl").write_bytes(text_of(one))
    (place / "packed.jsonl.xz").write_bytes(lzma.compress(text_of([head, *itertools.chain(*changed)]), preset=0))
    for words in (["summarize", "--out", "c.csv", "t.csv"], ["compare"], ["tune"], ["plot", "--out", "figures"],
                  ["report", "--out", "site"]):
        run_in(words[0], "plain", "packed", *words[1:])


@pytest.mark.parametrize("kind", NAMES)
def test_a_name_among_the_cases_of_a_spec_is_one_of_a_file(run_in, lines, outside, tmp_path, kind):
    (head, *_), folder = lines
    place = tmp_path / "in/deep"
    shutil.copytree(folder, place / "spec")
    spec = json.loads((place / "spec/spec.json").read_text())
    (place / "spec/spec.json").write_text(json.dumps(spec | {"cases": [*head["cases"], NAMES[kind].format(outside=outside)]}))
    assert "spec/spec.json" in run_in("merge", "merged", "spec", code=(2, 3))
    assert not (place / "merged").exists()
    for words in (["summarize", "spec", "--out", "c.csv", "t.csv"], ["compare", "spec", "spec"], ["tune", "spec"]):
        run_in(*words)


@pytest.mark.parametrize("way", ["models", "models/CASE", "{}/elsewhere", "../../elsewhere"])
def test_a_model_is_not_looked_for_elsewhere(lines, tmp_path, way):
    """By a link in the folder, or by the id of the case."""
    (_, header, *_), folder = lines
    shutil.copytree(folder, tmp_path / "r")
    model, (result,) = tmp_path / "r/models" / header["case_id"], (tmp_path / "r").glob("*.jsonl")
    if way.startswith("models"):
        place = tmp_path / "r" / way.replace("CASE", header["case_id"])
        place.rename(tmp_path / "elsewhere")
        place.symlink_to(tmp_path / "elsewhere")
    else:
        model.rename(tmp_path / "elsewhere")
        result.write_text(result.read_text().replace(header["case_id"], way.format(tmp_path)))
    with pytest.raises(PlotError, match="found a link, expected a folder" if way.startswith("models") else "no model was saved"):
        python.load(tmp_path / "r").model(0)
