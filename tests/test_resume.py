"""What is there when the same command comes again: results that stand, are damaged, or are of other ratings. What
kills leave is in test_faults.py."""

import json
import os
import pathlib
import time

import pytest

from support import in_little_memory

SPEC = {"name": "kill", "datasets": [{"like": "ml-100k", "scale": 0.05}], "seeds": 1, "stop": {"epochs": 6}}


def test_specs_of_different_names_have_different_folders(mfbench, tmp_path):
    spec = {**SPEC, "algorithms": [{"name": "ruler", "sleep_ms": 0}]}
    for name in ("a-b", "a b", "a/b", ".hidden"):
        mfbench("run", "s.json", cwd=tmp_path, code=0, spec={**spec, "name": name})
    folders = sorted(one.name for one in (tmp_path / "results/runs").iterdir())
    assert [one[:-8] for one in folders[1:]] == ["a-b-", "a-b-", "spec.hidden-"] and folders[0] == "a-b"
    for folder in folders:
        assert len(list((tmp_path / "results/runs" / folder).glob("*.jsonl"))) == 1


def own_ratings(folder, first=1):
    (folder / "own.csv").write_text(
        "user,item,rating\n" + "".join(f"{k % 9},{k % 7},{(first + k) % 5 + 1}\n" for k in range(63)))
    (folder / "s.json").write_text(json.dumps({
        "datasets": [{"path": "own.csv"}], "seeds": [1, 2], "stop": {"epochs": 1},
        "algorithms": [{"name": "sgd_serial", "factors": 2}]}))
    return folder / "own.csv"


def as_of_tomorrow(path):
    later = time.time() + 86_400
    os.utime(path, (later, later))


def next_second():
    """Results tell no less."""
    time.sleep(1.1 - time.time() % 1)


@pytest.mark.parametrize("words", [[], ["--apart"]])
def test_ratings_written_after_a_result_are_told_of_once(mfbench, tmp_path, words):
    """The hash of a case does not have them, so it stands."""
    ratings = own_ratings(tmp_path)
    assert "warning" not in mfbench("run", "s.json", *words, cwd=tmp_path, preexec_fn=in_little_memory).stderr
    assert "warning" not in mfbench("run", "s.json", *words, cwd=tmp_path, preexec_fn=in_little_memory).stderr
    as_of_tomorrow(ratings)
    next_second()
    again = mfbench("run", "s.json", *words, cwd=tmp_path, preexec_fn=in_little_memory)
    assert "2 cases: 0 run now, 2 finished before" in again.stdout
    assert again.stderr.count("own.csv: written at") == 1 and "--rerun" in again.stderr
    mfbench("run", "s.json", "--rerun", *words, cwd=tmp_path, preexec_fn=in_little_memory)
    assert "warning" not in mfbench("run", "s.json", *words, cwd=tmp_path, preexec_fn=in_little_memory).stderr, "as the cache tells"


def test_a_run_apart_does_not_warn_of_its_own_results(mfbench, tmp_path):
    """Its files are as of tomorrow, and no cache tells what they are."""
    as_of_tomorrow(own_ratings(tmp_path))
    spec = json.loads((tmp_path / "s.json").read_text())
    spec["datasets"] = [{"path": "own.csv", "implicit": {"min_rating": 2}}]
    spec["algorithms"] = [{"name": "ials_cpu", "factors": 2}]
    first = mfbench("run", "s.json", "--apart", preexec_fn=in_little_memory, cwd=tmp_path, spec=spec)
    assert first.returncode == 0 and "written at" not in first.stderr
    next_second()
    assert "written at" in mfbench("run", "s.json", "--apart", preexec_fn=in_little_memory, cwd=tmp_path).stderr


def test_ratings_that_are_others_are_told_of_whatever_their_times_say(mfbench, tmp_path):
    ratings = own_ratings(tmp_path)
    mfbench("run", "s.json", cwd=tmp_path)
    before = ratings.stat().st_mtime - 1000
    own_ratings(tmp_path, first=2)
    os.utime(ratings, (before, before))
    mfbench("run", "s.json", "--out", "elsewhere", cwd=tmp_path)
    again = mfbench("run", "s.json", cwd=tmp_path)
    assert again.stderr.count("own.csv: its ratings are not those") == 1 and "--rerun" in again.stderr
    mfbench("run", "s.json", "--rerun", cwd=tmp_path)
    assert "warning" not in mfbench("run", "s.json", cwd=tmp_path).stderr


def test_a_rating_that_went_from_one_part_to_the_other_is_told_of(mfbench, tmp_path):
    """The union is the same."""
    lines = [f"{k % 9},{k % 7},{k % 5 + 1}" for k in range(63)]

    def write(cut):
        for name, part in (("tr", lines[:cut]), ("te", lines[cut:])):
            (tmp_path / f"{name}.csv").write_text("\n".join(["user,item,rating", *part]) + "\n")
            if cut != 50:
                as_of_tomorrow(tmp_path / f"{name}.csv")

    write(50)
    (tmp_path / "s.json").write_text(json.dumps({
        "datasets": [{"train": "tr.csv", "test": "te.csv"}], "stop": {"epochs": 1},
        "algorithms": [{"name": "sgd_serial", "factors": 2}]}))
    assert "warning" not in mfbench("run", "s.json", cwd=tmp_path).stderr
    write(40)
    assert mfbench("run", "s.json", "--out", "elsewhere", cwd=tmp_path).returncode == 0
    assert "written at" in mfbench("run", "s.json", cwd=tmp_path).stderr


def test_a_folder_that_holds_its_results_is_not_written_by_them(mfbench, tmp_path):
    own_ratings(tmp_path)
    (tmp_path / "d").mkdir()
    for item in range(1, 8):
        lines = [f"{item}:", *(f"{user},{(item + user) % 5 + 1},2005-09-06" for user in range(1, 10))]
        (tmp_path / "d" / f"mv_{item:07}.txt").write_text("\n".join(lines) + "\n")
    spec = json.loads((tmp_path / "s.json").read_text()) | {"datasets": [{"path": "d", "format": "netflix"}]}
    mfbench("run", "s.json", "--out", "d/results", cwd=tmp_path, code=0, spec=spec)
    next_second()
    (tmp_path / "d" / "another").mkdir()
    for path in pathlib.Path(mfbench.environment()["MFBENCH_CACHE"]).glob("d@*"):
        path.unlink()  # so that times decide
    assert "warning" not in mfbench("run", "s.json", "--out", "d/results", cwd=tmp_path).stderr


@pytest.mark.parametrize("words", [[], ["--apart"]])
def test_a_case_that_failed_by_its_data_runs_again_when_they_have_changed(mfbench, tmp_path, words):
    """Without --retry, whatever the times say: who has mended the file has done what it takes."""
    ratings = own_ratings(tmp_path)
    whole = ratings.read_text()
    as_of_tomorrow(ratings)
    ratings.write_text(whole.replace("8,1,", "8,1.5,", 1))
    run = ("run", "s.json", *words)
    assert "own.csv:" in mfbench(*run, preexec_fn=in_little_memory, cwd=tmp_path, code=3).stderr
    assert "2 cases: 0 run now, 2 finished before" in mfbench(*run, preexec_fn=in_little_memory, cwd=tmp_path, code=1).stdout
    before = ratings.stat().st_mtime - 1000
    ratings.write_text(whole)
    os.utime(ratings, (before, before))
    again = mfbench(*run, preexec_fn=in_little_memory, cwd=tmp_path, code=0)
    assert "2 cases: 2 run now" in again.stdout and "have changed since" in again.stderr
    assert "2 cases: 0 run now, 2 finished before" in mfbench(*run, preexec_fn=in_little_memory, cwd=tmp_path, code=0).stdout
