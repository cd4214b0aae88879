"""Splits by time and in folds, from the spec to results, tables and comparisons."""

import json
import re

import pytest

from support import lines_of

SPEC = {"name": "splits", "datasets": [{"path": "r.tsv"}], "seeds": [1],
        "algorithms": [{"name": "sgd_serial", "factors": 2}], "stop": {"epochs": 1}}
RATINGS = {(u, i): (1 + (u + i) % 5, 1000 + (u * 37 + i * 101) % 97)
           for u in range(1, 31) for i in range(1, 21) if (u * 3 + i) % 4}


def write_ratings(folder):
    (folder / "r.tsv").write_text("".join(f"{u}\t{i}\t{r}\t{t}\n" for (u, i), (r, t) in RATINGS.items()))


def headers_in(folder, name="splits"):
    return [lines_of(path)[0] for path in sorted((folder / "results/runs" / name).glob("*.jsonl"))]


def run(mfbench, folder, split, **others):
    write_ratings(folder)
    mfbench("run", "spec.json", cwd=folder, code=0, spec={**SPEC, "split": split, **others})
    return [header["dataset"] for header in headers_in(folder)]


def test_the_header_of_a_cut_says_when_its_parts_begin(mfbench, tmp_path):
    (data,) = run(mfbench, tmp_path, {"by_time": 0.8, "validation": 0.25})
    times = sorted(time for _, time in RATINGS.values())
    cut = round(0.8 * len(times))
    before = cut - round(0.25 * cut)
    assert data["split"] == {"by_time": 0.8, "validation": 0.25}
    assert (data["nnz_train"], data["nnz_validation"], data["nnz_test"]) == (before, cut - before, len(times) - cut)
    assert (data["validation_from"], data["test_from"]) == (times[before], times[cut])


def test_the_last_of_each_user_and_the_one_before(mfbench, tmp_path):
    (data,) = run(mfbench, tmp_path, {"leave_last": 1, "validation": 1})
    assert (data["nnz_test"], data["nnz_validation"]) == (30, 30) and "test_from" not in data
    assert data["split"] == {"leave_last": 1, "validation": 1}


def test_folds_are_cases_and_repeats(mfbench, tmp_path):
    sets = run(mfbench, tmp_path, {"folds": 3}, seeds=[1, 2])
    assert len(sets) == 6 and {one["split"]["fold"] for one in sets} == {1, 2, 3}
    for seed in (1, 2):
        sizes = [one["nnz_test"] for one in sets if one["split"]["seed"] == seed]
        assert sum(sizes) == len(RATINGS) and max(sizes) - min(sizes) <= 1
    ids = [header["case_id"] for header in headers_in(tmp_path)]
    assert sorted(one.split("-fold")[1][0] for one in ids) == list("112233")
    # One row of the table, one configuration of a comparison, a pair for each fold of each seed.
    again = mfbench("run", "spec.json", "--out", "again", cwd=tmp_path, code=0)
    assert "sgd_serial s2 fold3" in again.stdout
    assert len(re.findall(r"(?m)^sgd_serial ", again.stdout)) == 1
    compared = json.loads(mfbench("compare", "results/runs/splits", "again", "--json", cwd=tmp_path, code=0).stdout)
    (row,) = compared["rows"]
    assert row["epoch_time"]["pairs"] == row["quality"]["pairs"] == 6


def test_one_fold_is_a_case_and_too_many_are_an_error(mfbench, tmp_path):
    (data,) = run(mfbench, tmp_path, {"folds": 3, "fold": 2})
    assert data["split"]["fold"] == 2
    many = {**SPEC, "split": {"folds": 1000}, "seeds": list(range(101))}
    done = mfbench("validate", "spec.json", cwd=tmp_path, code=2, spec=many)
    assert "more than 100000 cases: 101 seeds x 1000 data sets" in done.stderr
    done = mfbench("validate", "spec.json", cwd=tmp_path, code=2, spec={**SPEC, "split": {"folds": 3, "fold": 4}})
    assert "$.split.fold: found 4, expected an integer from 1 to 3" in done.stderr


def test_rules_that_watch_get_a_validation_part_of_the_kind_of_the_split(mfbench, tmp_path):
    (data,) = run(mfbench, tmp_path, {"leave_last": 2}, stop={"epochs": 1, "plateau": {"patience": 2}})
    assert data["split"] == {"leave_last": 2, "validation": 2} and data["nnz_validation"] == 60


def test_splits_with_and_without_times_share_a_spec(mfbench, tmp_path):
    write_ratings(tmp_path)
    spec = {**SPEC, "datasets": [{"path": "r.tsv", "split": split} for split in
                                 ({"holdout": 0.2}, {"by_time": 0.8}, {"leave_out": 1}, {"leave_last": 1})]}
    mfbench("run", "spec.json", cwd=tmp_path, code=0, spec=spec)
    sets = [header["dataset"] for header in headers_in(tmp_path)]
    assert len(sets) == 4 and len({one["content_hash"] for one in sets}) == 1
    written = {path: path.stat().st_mtime_ns for path in tmp_path.glob("results/runs/splits/*.jsonl")}
    mfbench("run", "spec.json", cwd=tmp_path, code=0)
    assert {path: path.stat().st_mtime_ns for path in written} == written and len(headers_in(tmp_path)) == 4


@pytest.mark.parametrize("data, split, message", [
    ({"like": "ml-100k"}, {"by_time": 0.8}, "$.split.by_time: ratings that are made have no times"),
    ({"path": "r.tsv"}, {"by_time": "2005-02-30"},
     '$.split.by_time: found "2005-02-30", expected a share of the ratings or a date such as "2005-09-06"'),
    ({"path": "r.tsv"}, {"leave_last": 1, "seed": 3}, "$.split.seed: nothing is drawn, the times decide"),
    ({"path": "r.tsv"}, {"leave_last": 1, "validation": 0.1},
     "$.split.validation: found the number 0.1, expected an integer"),
    ({"path": "r.tsv"}, {"by_time": 0.8, "validation": 1},
     "$.split.validation: found the number 1, expected a number from 0 to 0.9"),
])
def test_what_a_split_by_time_cannot_be_is_told_with_its_path(mfbench, tmp_path, data, split, message):
    write_ratings(tmp_path)
    done = mfbench("validate", "spec.json", cwd=tmp_path, code=2, spec={**SPEC, "datasets": [data], "split": split})
    assert message in done.stderr


def test_a_file_without_times_is_named_with_what_to_do(mfbench, tmp_path):
    (tmp_path / "plain.csv").write_text("user,item,rating\n1,2,3\n1,3,4\n2,2,5\n")
    spec = {**SPEC, "datasets": [{"path": "plain.csv"}], "split": {"by_time": 0.5}}
    done = mfbench("run", "spec.json", cwd=tmp_path, spec=spec)
    assert done.returncode != 0
    assert "plain.csv: found the header 'user,item,rating', expected a time of each rating" in done.stdout + done.stderr


def test_an_imported_set_has_times_where_they_were_asked_for(mfbench, tmp_path):
    write_ratings(tmp_path)
    spec = {**SPEC, "datasets": ["timed"], "split": {"leave_last": 1}}
    mfbench("data", "import", "timed", "r.tsv", cwd=tmp_path, code=0)
    done = mfbench("validate", "spec.json", cwd=tmp_path, code=2, spec=spec)
    assert "import it again with --times" in done.stderr
    mfbench("data", "import", "timed", "r.tsv", "--times", "--replace", cwd=tmp_path, code=0)
    mfbench("run", "spec.json", cwd=tmp_path, code=0)
    (header,) = headers_in(tmp_path)
    assert header["dataset"]["nnz_test"] == 30
    mfbench("data", "remove", "timed", cwd=tmp_path, code=0)
