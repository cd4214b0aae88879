"""`mfbench merge`: the shards of a spec become one folder, byte by byte."""

import json
import shutil
import subprocess

import pytest

from support import wait_for

SPEC = {"name": "parts", "datasets": [{"like": "ml-100k", "scale": 0.05}], "seeds": [1, 2, 3], "stop": {"epochs": 2},
        "algorithms": [{"name": "sgd_serial", "factors": [2, 3]}]}


@pytest.fixture
def parts(mfbench, tmp_path):
    """p1, p2 and p3, the shards of a spec of six cases."""
    for part in (1, 2, 3):
        mfbench("run", "s.json", "--out", f"p{part}", "--shard", f"{part}/3", cwd=tmp_path, spec=SPEC, code=0)
    return tmp_path


def files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_shards_become_the_whole(mfbench, parts):
    done = mfbench("merge", "all", "p1", "p2", "p3", cwd=parts, code=0)
    assert done.stdout == "all: 6 of 6 cases have a result, 6 files were copied\n" and not done.stderr
    assert files(parts / "all") == {**files(parts / "p1"), **files(parts / "p2"), **files(parts / "p3")}
    assert "6 cases: 0 run now, 6 finished before" in mfbench("run", "s.json", "--out", "all", cwd=parts, code=0).stdout
    again = mfbench("merge", "all", "p3", cwd=parts, code=0)
    assert again.stdout == "all: 6 of 6 cases have a result, 0 files were copied\n"


def test_a_folder_is_completed_bit_by_bit(mfbench, parts):
    done = mfbench("merge", "all", "p1", cwd=parts, code=0)
    assert "2 of 6 cases have a result" in done.stdout
    assert "without a result: 4 cases; mfbench run with the spec and --out all runs what is missing" in done.stderr
    assert "and 1 more" in done.stderr
    mfbench("merge", "all", "p2", "p3", cwd=parts, code=0)
    assert len(list((parts / "all").glob("*.jsonl"))) == 6


def test_two_results_of_a_case_are_refused_and_nothing_is_written(mfbench, parts):
    mfbench("run", "s.json", "--out", "other", "--shard", "3/3", cwd=parts, code=0)
    names = sorted(path.name for path in (parts / "other").glob("*.jsonl"))
    done = mfbench("merge", "all", "p1", "p3", "other", cwd=parts, code=3)
    assert any(f"other/{name}: found another result than p3/{name}, expected one result of a case" in done.stderr
               for name in names)
    assert "move one away" in done.stderr and not (parts / "all").exists()
    shutil.rmtree(parts / "other")
    shutil.copytree(parts / "p3", parts / "other")
    assert "4 of 6 cases have a result, 4 files were copied" in mfbench("merge", "all", "p1", "p3", "other", cwd=parts, code=0).stdout


def test_a_result_goes_before_what_has_no_end(mfbench, parts):
    (path,) = [path for path in (parts / "p1").glob("*.jsonl") if "-s1-" in path.name]
    cut = parts / "p2" / path.name
    cut.write_text("".join(path.read_text().splitlines(True)[:-1]))
    mfbench("merge", "all", "p2", cwd=parts, code=0)
    assert (parts / "all" / path.name).read_bytes() == cut.read_bytes(), "better than nothing"
    assert "4 of 6 cases have" in mfbench("merge", "all", "p2", "p1", cwd=parts, code=0).stdout
    assert (parts / "all" / path.name).read_bytes() == path.read_bytes()
    assert (parts / "all" / f"{path.name}.partial-1").read_bytes() == cut.read_bytes()


def test_models_go_with_their_cases(mfbench, tmp_path):
    spec = {**SPEC, "seeds": [1], "save_model": True}
    for part in (1, 2):
        mfbench("run", "s.json", "--out", f"p{part}", "--shard", f"{part}/2", cwd=tmp_path, spec=spec, code=0)
    mfbench("merge", "all", "p1", "p2", cwd=tmp_path, code=0)
    models = {**files(tmp_path / "p1/models"), **files(tmp_path / "p2/models")}
    assert len({name.split("/")[0] for name in models}) == 2 and files(tmp_path / "all/models") == models


@pytest.mark.parametrize("linked", ["models", "models/*", "models/*/P.npy", "tune"])
def test_a_link_is_refused_and_nothing_is_written(mfbench, tmp_path, linked):
    mfbench("run", "s.json", "--out", "p1", cwd=tmp_path, spec={**SPEC, "seeds": [1], "save_model": True}, code=0)
    (tmp_path / "p1/tune").mkdir()
    path = sorted((tmp_path / "p1").glob(linked))[-1]
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    done = mfbench("merge", "all", "p1", cwd=tmp_path, code=3)
    assert f"{path.relative_to(tmp_path)}: found a link, expected a f" in done.stderr and not (tmp_path / "all").exists()


@pytest.mark.parametrize("key", ["case_id", "case_hash"])
def test_a_result_of_another_case_is_refused_and_nothing_is_written(mfbench, parts, key):
    path = max((parts / "p2").glob("*.jsonl"))
    header, rest = path.read_text().split("\n", 1)
    found = json.loads(header)[key][::-1]
    path.write_text(json.dumps({**json.loads(header), key: found}) + "\n" + rest)
    done = mfbench("merge", "all", "p1", "p2", cwd=parts, code=3)
    told = {**json.loads(header), key: found}
    assert f'p2/{path.name}: line 1: found case_id "{told["case_id"]}", case_hash "{told["case_hash"]}", expected case_id ' \
           f'"{path.stem}", and the case_hash that it ends with; move the file away, and run' in done.stderr
    assert not (parts / "all").exists()


def test_trials_are_taken_once_and_other_choices_are_refused(mfbench, tmp_path):
    spec = {**SPEC, "split": {"holdout": 0.2, "validation": 0.1, "seed": 1}, "algorithms": [
        {"name": "sgd_serial", "factors": 2, "tune": {"trials": 3, "over": {"reg": [0.01, 0.2, "log"]}}}]}
    for part in (1, 2):
        mfbench("run", "s.json", "--out", f"p{part}", "--shard", f"{part}/2", cwd=tmp_path, spec=spec, code=0)
    mfbench("merge", "all", "p1", "p2", cwd=tmp_path, code=0)
    assert files(tmp_path / "all/tune") == files(tmp_path / "p1/tune")
    assert "chose" in mfbench("tune", "all", cwd=tmp_path, code=0).stdout
    stated = tmp_path / "p2/spec.json"
    told = json.loads(stated.read_text())
    stated.write_text(json.dumps({**told, "cases": [*told["cases"][:-1], "another"]}))
    done = mfbench("merge", "more", "p1", "p2", cwd=tmp_path, code=2)
    assert "p2/spec.json: has other cases than p1" in done.stderr
    (tmp_path / "p1/tune/other.jsonl.xz").touch()
    done = mfbench("merge", "more", "p1", cwd=tmp_path, code=2)
    assert "p1/tune/other.jsonl.xz: found packed results, expected a folder: ./dev pack --unpack p1/tune/other" in done.stderr
    assert not (tmp_path / "more").exists()


def test_another_spec_is_refused(mfbench, parts):
    mfbench("run", "t.json", "--out", "t", cwd=parts, spec={**SPEC, "seeds": [4]}, code=0)
    done = mfbench("merge", "all", "p1", "t", cwd=parts, code=2)
    assert "t/spec.json: is of another spec than p1" in done.stderr
    assert not (parts / "all").exists()


@pytest.mark.parametrize("words, code, said", [
    (["all", "none"], 2, "none: is not a folder of results: it has no spec.json"),
    (["all", "empty"], 2, "empty: is not a folder of results: it has no spec.json"),
    (["all"], 2, "results"),
    (["all", "packed"], 2, "packed: found packed results, expected a folder: ./dev pack --unpack packed.jsonl.xz"),
    (["all", "outside"], 3, "found \"../p1/x\" among \"cases\", expected names of files"),
    (["all", "linked"], 3, "found a link, expected a file"),
    (["all", "later"], 2, "found schema_version 9"),
])
def test_what_cannot_be_merged_is_named(mfbench, parts, words, code, said):
    (parts / "empty").mkdir()
    (parts / "packed.jsonl.xz").write_bytes(b"")
    told = json.loads((parts / "p1/spec.json").read_text())
    for name, more in (("outside", {"cases": ["../p1/x"]}), ("later", {"schema_version": 9}), ("linked", {})):
        (parts / name).mkdir()
        (parts / name / "spec.json").write_text(json.dumps({**told, **more}))
    case = next((parts / "p1").glob("*.jsonl"))
    (parts / "linked" / case.name).symlink_to(case)
    done = mfbench("merge", *words, cwd=parts, code=code)
    assert said in done.stderr and not (parts / "all").exists()


def test_a_folder_that_is_being_written_is_refused(mfbench, tmp_path):
    spec = {**SPEC, "stop": {"epochs": 4000}, "algorithms": [{"name": "ruler", "sleep_ms": 15}]}
    (tmp_path / "s.json").write_text(json.dumps(spec))
    process = subprocess.Popen([mfbench.program, "run", "s.json", "--out", "p1", "--quiet"], cwd=tmp_path,
                               env=mfbench.environment(), stdout=subprocess.DEVNULL)
    try:
        wait_for(lambda: list((tmp_path / "p1").glob("*.jsonl")), "case")
        done = mfbench("merge", "all", "p1", cwd=tmp_path, code=4)
        assert f"p1: process {process.pid} on " in done.stderr and "is running cases in this folder" in done.stderr
    finally:
        process.kill()
        process.wait()
    mfbench("merge", "all", "p1", cwd=tmp_path, code=0)
