"""mfbench publish: what is handed in, what is refused, and that all contributions of the repository pass its check."""

import json
import os
import pathlib
import re
import shutil
import sys

import pytest
from number_sources import unpacked

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "plots"))
from mfplots.publish.cli import main  # noqa: E402
from mfplots.publish.known_data import catalog, measured_contents, source_hashes  # noqa: E402

CONTRIBUTED = ROOT / "results/contributed"
SPEC = {"name": "small", "datasets": [{"like": "ml-100k"}], "seeds": [1, 2, 3, 4, 5], "stop": {"epochs": 1},
        "algorithms": [{"name": "sgd_serial", "factors": 4}]}
TUNED = {**SPEC, "seeds": [1], "split": {"holdout": 0.2, "validation": 0.1, "seed": 1},
         "algorithms": [{"name": "als_cpu", "factors": 4, "threads": 1,
                         "tune": {"trials": 2, "over": {"reg": {"choices": [0.01, 0.1]}}}}]}


def edit(path, change):
    """change(line) of each line of a file of JSON lines, or of a file that is one."""
    text = path.read_text()
    whole = path.suffix == ".json"
    found = [json.loads(part) for part in ([text] if whole else text.splitlines())]
    for line in found:
        change(line)
    path.write_text("".join(json.dumps(line) + "\n" for line in found))


def set_in(line, keys, value):
    *parents, last = keys.split(".")
    for key in parents:
        line = line[key]
    line[last] = value


def in_header(keys, value):
    return lambda line: line["type"] == "header" and set_in(line, keys, value)


def in_footer(**values):
    return lambda line: line["type"] == "footer" and line.update(values)


@pytest.fixture(scope="module")
def ran(mfbench, tmp_path_factory):
    folder = tmp_path_factory.mktemp("ran")
    mfbench("run", "small.json", "--out", "runs/small", "--quiet", cwd=folder, code=0, spec=SPEC)
    for path in (folder / "runs/small").glob("*.jsonl"):  # as of a commit, and of a machine of one's own
        edit(path, lambda line: (in_header("environment.git_dirty", False)(line),
                                 in_footer(contended=False, host_contended=False)(line)))
    return folder / "runs"


@pytest.fixture
def runs(ran, tmp_path):
    shutil.copytree(ran, tmp_path / "runs")
    return tmp_path / "runs/small"


def case(folder, place=0):
    return sorted(folder.glob("*.jsonl"))[place]


@pytest.fixture
def publish(mfbench, tmp_path, monkeypatch, capsys):
    """The command in this process, which reads results/reference once for all tests."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MFBENCH", mfbench.program)

    def run(*words, code=0):
        found = main(list(map(str, words)))
        said = capsys.readouterr()
        assert found == code, said
        return said
    return run


def contribution(tmp_path, who="ada"):
    return json.loads((tmp_path / f"results/contributed/{who}/small/contribution.json").read_text())


# ---- what is handed in ----------------------------------------------------------------------------

def test_a_folder_is_packed_below_its_contributor_and_stays(runs, publish, mfbench, tmp_path):
    before = {path.name: path.read_text() for path in runs.iterdir()}
    done = publish("runs/small", "--by", "Ada Lovelace")
    root = tmp_path / "results/contributed"
    assert {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()} == \
        {"ada-lovelace/small.jsonl.xz", "ada-lovelace/small/contribution.json"}
    assert before == {path.name: path.read_text() for path in runs.iterdir()} and "note:" not in done.out
    said = contribution(tmp_path, "ada-lovelace")
    head, cases = unpacked(root / "ada-lovelace/small.jsonl.xz")
    header = json.loads(case(runs).read_text().splitlines()[0])
    assert said["by"] == "Ada Lovelace" and said["cases"] == 5 == len(cases) and said["notes"] == []
    assert said["spec_hash"] == head["spec_hash"] == header["spec_hash"] and said["hosts"] == [header["environment"]["host"]]
    assert said["commits"] == [header["environment"]["git_sha"]]
    rows = [json.loads(line) for line in mfbench("summarize", root, "--json", cwd=tmp_path, code=0).stdout.splitlines()]
    assert [row["contributor"] for row in rows] == ["Ada Lovelace"] * 5
    done = mfbench("publish", "--check", "results/contributed", cwd=tmp_path, code=0)
    assert "cases of Ada Lovelace" in done.stdout


def test_trials_go_along(publish, mfbench, tmp_path):
    mfbench("run", "tuned.json", "--out", "runs/small", "--quiet", cwd=tmp_path, code=0, spec=TUNED)
    publish("runs/small", "--by", "ada")
    assert [name.startswith("small/tune/als_cpu") for name in contribution(tmp_path)["files"]] == [False, True]
    trials = next((tmp_path / "runs/small/tune").iterdir())
    assert "found the trials of a study" in publish(trials, "--by", "eve", code=1).err


def test_folders_of_users_become_a_tilde(runs, publish, tmp_path):
    edit(case(runs), in_header("environment.command_line", "mfbench run /home/ada/my.json --out /Users/ada/r"))
    publish("runs/small", "--by", "ada")
    _, cases = unpacked(tmp_path / "results/contributed/ada/small.jsonl.xz")
    assert "mfbench run ~/my.json --out ~/r" in {own[0]["environment"]["command_line"] for own in cases.values()}


@pytest.mark.parametrize("change, note", [
    (in_footer(contended=True), "contended: 1 of 5 cases: other programs took part of the machine"),
    (in_footer(status="diverged"), "diverged: 1 of 5 cases"),
    (in_header("environment.git_dirty", True), "uncommitted changes, or an unknown commit: 1 of 5 cases"),
    (in_header("algorithm.plugin", "mine.so 0a1b"), "of a plugin, whose code is not here: mine.so 0a1b")])
def test_what_a_reader_should_know_is_said(runs, publish, tmp_path, change, note):
    edit(case(runs), change)
    done = publish("runs/small", "--by", "ada")
    assert contribution(tmp_path)["notes"] == [note] and f"note: {note}" in done.out


def test_few_seeds_and_data_that_no_result_knows_are_said(publish, mfbench, tmp_path):
    spec = {**SPEC, "seeds": [1, 2], "datasets": [{"like": "ml-100k", "label": "mine"}]}
    mfbench("run", "small.json", "--out", "runs/small", "--quiet", cwd=tmp_path, code=0, spec=spec)
    done = publish("runs/small", "--by", "ada")
    assert "fewer than 5 seeds: 1 of 1 configurations, the fewest 2" in contribution(tmp_path)["notes"]
    assert "note: no other result knows these data: mine" in done.out


# ---- what is refused ------------------------------------------------------------------------------

def listed_less(line):
    line["cases"].pop()


@pytest.mark.parametrize("change, why", [
    (in_header("schema_version", 99), r"line 1: found schema_version 99"),
    (in_header("seed", "one"), r'line 1: a header without "seed"'),
    (in_header("spec_hash", "0" * 64), r"\$\.spec_hash: found 0000000000, expected \w{10} of the spec\.json beside it.*--rerun"),
    (in_header("dataset.content_hash", "00c0ffee00c0ffee"),
     r'\$\.dataset\.content_hash: found 00c0ffee00c0ffee, expected .* results/reference has for "ml-100k look-alike"'),
    (lambda line: line["type"] == "header" and line["dataset"].update(name="ml-100k", source="catalog", source_sha256="0" * 64),
     r"\$\.dataset\.source_sha256: found 0000000000, expected .*06416e597f.* of the catalog.*mfbench data fetch"),
    (in_footer(status="interrupted"), r"is interrupted, expected a finished case; .*--partial"),
    (in_footer(stop_reason="ask ada@example.org"), r"\$\.stop_reason: found 'ada@example\.org', an address"),
    (in_footer(stop_reason="disk of grace full"), r"\$\.stop_reason: found 'grace', the name of this user"),
    (in_header("environment.host", "grace-laptop"), r"\$\.environment\.host: found 'grace-laptop', the name of a host")])
def test_a_case_is_refused(runs, publish, tmp_path, monkeypatch, change, why):
    monkeypatch.setenv("LOGNAME", "grace")
    edit(case(runs, 2), change)
    said = publish("runs/small", "--by", "ada", code=1).err
    assert re.search(rf"error: .*{re.escape(case(runs, 2).name)}.*{why}", said), said
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize("change, why", [
    (lambda line: line["spec"].update(seeds=[1, 2, 3, 4, 5, 6]), r"\$\.spec_hash: found \w{10}, expected \w{10}, the hash of \$\.spec"),
    (lambda line: line.update(spec_hash=None), r"\$\.spec_hash: found none, expected"),
    (listed_less, r"\$\.cases: found 4, expected all 5 of the spec"),
    (lambda line: line.update(schema_version=2), r"\$\.schema_version: found 2, expected 1"),
    (lambda line: line["spec"].update(description="see /home/ada/notes"), r"\$\.spec\.description: found '/home/ada', the folder of a user"),
    (lambda line: line["spec"]["algorithms"][0].update(name="sgd_seral"), r"\$\.spec: \$\.algorithms\[0\].*did you mean \"sgd_serial\".*"),
    (lambda line: line.pop("cases"), "found no spec with its cases"),
    (lambda line: line.pop("spec"), "found no spec with its cases, expected the spec.json that mfbench run writes")])
def test_a_spec_is_refused(runs, publish, change, why):
    edit(runs / "spec.json", change)
    said = publish("runs/small", "--by", "ada", code=1).err
    assert re.search(rf"error: .*small/spec\.json: {why}", said), said


def test_damaged_text_is_refused(runs, publish, mfbench, tmp_path):
    (runs / "spec.json").write_text('{"cases": [')
    assert "small/spec.json: is damaged: found" in publish("runs/small", "--by", "ada", code=1).err
    shutil.rmtree(runs)
    mfbench("run", "tuned.json", "--out", "runs/small", "--quiet", cwd=tmp_path, code=0, spec=TUNED)
    trial = next((runs / "tune").glob("*/*.jsonl"))
    trial.write_text(trial.read_text() + "{\n")
    assert f"{trial.name}: is damaged: found" in publish("runs/small", "--by", "ada", code=1).err
    assert not list((tmp_path / "results").rglob("*.*"))


def test_missing_and_cut_cases_are_refused_or_left_out_and_said(runs, publish, tmp_path):
    gone, cut = case(runs, 0), case(runs, 1)
    gone.unlink()
    cut.write_text("".join(cut.read_text().splitlines(keepends=True)[:-1]))
    said = publish("runs/small", "--by", "ada", code=1).err
    assert f"{gone.name}: is missing" in said and f"{cut.name}: is unfinished" in said
    publish("runs/small", "--by", "ada", "--partial")
    said = contribution(tmp_path)
    assert said["cases"] == 3 and said["notes"][0] == "missing: 2 of 5 cases of the spec" and said["partial"] is True
    publish("--check", "results/contributed")


def test_a_file_that_the_spec_does_not_list_is_left_out_and_named(runs, publish, tmp_path):
    shutil.copy(case(runs), runs / "other.jsonl")
    done = publish("runs/small", "--by", "ada")
    assert "spec.json does not list it: other.jsonl" in done.err and contribution(tmp_path)["cases"] == 5


@pytest.mark.parametrize("words, why", [
    (["runs/small"], "--by is missing; expected --by NAME"), (["runs/small", "--by", "two\nlines"], r"--by: found 'two\\nlines'"),
    (["runs/small", "--by", "李"], "expected letters a to z or digits"), (["runs/small/none", "--by", "ada"], "expected a folder of results"),
    (["none", "--by", "ada"], "none: expected a folder of results")])
def test_words_are_refused(runs, publish, words, why):
    assert re.search(why, publish(*words, code=1).err)


def test_what_is_there_is_kept(runs, publish, tmp_path):
    publish("runs/small", "--by", "ada")
    before = contribution(tmp_path)
    assert "is there already; rename small" in publish("runs/small", "--by", "ada", "--partial", code=1).err
    assert contribution(tmp_path) == before


@pytest.mark.parametrize("kind", ["link", "pipe"])
@pytest.mark.parametrize("name", ["spec.json", "case", "tune", "tune/trials"])
def test_what_leads_out_of_the_folder_is_refused_and_not_waited_for(runs, publish, tmp_path, name, kind):
    place = case(runs) if name == "case" else runs / name
    aside = tmp_path / "aside"
    place.parent.mkdir(exist_ok=True)
    if name.startswith("tune"):
        shutil.copytree(runs, aside)  # whose cases would pass for trials
    else:
        place.rename(aside)
    os.mkfifo(place) if kind == "pipe" else place.symlink_to(aside)
    if kind == "pipe" and name.startswith("tune"):
        publish("runs/small", "--by", "ada")
        assert len(contribution(tmp_path)["files"]) == 1
        return
    said = publish("runs/small", "--by", "ada", code=1).err
    assert "Traceback" not in said and place.name in said
    assert not (tmp_path / "results/contributed/ada/small").exists()


def test_many_problems_of_a_kind_are_counted(runs, publish):
    for path in runs.glob("*.jsonl"):
        path.unlink()
    said = publish("runs/small", "--by", "ada", code=1).err
    assert said.count("is missing") == 3 and "... and 2 more of this kind" in said


# ---- the check of what was handed in --------------------------------------------------------------

@pytest.mark.parametrize("file, change, why", [
    ("ada/small/contribution.json", lambda said: said.update(notes=["sound"]), r"\$\.notes: found \[\"sound\"\], expected \[\]"),
    ("ada/small/contribution.json", lambda said: said.update(spec_hash="0"), r"\$\.spec_hash: found"),
    ("ada/small/contribution.json", lambda said: said["files"].update({"small.jsonl.xz": "0"}), r"\$\.files: found"),
    ("ada/small/contribution.json", lambda said: said.update(by="Eve"), r"\$\.by: found 'Eve' below ada/, expected it below eve/"),
    ("ada/small/contribution.json", lambda said: said.update(extra=1), r"\$\.extra: found 1, expected null"),
    ("ada/small/contribution.json", lambda said: said.pop("date"), r"KeyError\('date'\).*publish the results again"),
    ("ada/notes.json", None, "ada/notes.json: belongs to no contribution")])
def test_a_changed_contribution_is_refused(runs, publish, tmp_path, file, change, why):
    publish("runs/small", "--by", "ada")
    path = tmp_path / "results/contributed" / file
    if change:
        edit(path, change)
    else:
        path.write_text("{}")
    assert re.search(why, publish("--check", "results/contributed", code=1).err)


@pytest.mark.parametrize("damage", [lambda data: data[:-30], lambda data: b"", lambda data: b"no xz"])
def test_a_damaged_packed_file_is_refused(runs, publish, tmp_path, damage):
    publish("runs/small", "--by", "ada")
    packed = tmp_path / "results/contributed/ada/small.jsonl.xz"
    packed.write_bytes(damage(packed.read_bytes()))
    assert re.search(r"error: .*small\.jsonl\.xz", publish("--check", "results/contributed", code=1).err)
    packed.unlink()
    assert re.search(r"error: .*small\.jsonl\.xz: no such file", publish("--check", "results/contributed", code=1).err)


def test_damaged_trials_are_refused(publish, mfbench, tmp_path):
    mfbench("run", "tuned.json", "--out", "runs/small", "--quiet", cwd=tmp_path, code=0, spec=TUNED)
    publish("runs/small", "--by", "ada")
    trials = next((tmp_path / "results/contributed/ada/small/tune").iterdir())
    trials.write_bytes(trials.read_bytes()[:-30])
    assert f"{trials.name}: is damaged: found" in publish("--check", "results/contributed", code=1).err


def test_every_contribution_of_the_repository_passes(publish):
    done = publish("--check", CONTRIBUTED)
    assert f"contributions checked: {len(list(CONTRIBUTED.glob('*/*/contribution.json')))}" in done.out


def test_hashes_of_the_catalog_are_those_that_results_have():
    headers = [own[0]["dataset"] for name in ("h100/gowalla", "h200/ml-100k")
               for own in unpacked(ROOT / f"results/reference/{name}.jsonl.xz")[1].values()]
    for data in headers:
        assert data["source_sha256"] in source_hashes(catalog()[data["name"].partition("@")[0]])
        assert data["content_hash"] in measured_contents()[data["name"]]
    assert source_hashes(catalog()["ml-1m"]) == set()  # one of its two forms has no checksum
