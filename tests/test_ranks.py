"""Several ranks compute a case together: the numbers of one, as threads of one process or as processes of mpirun."""

import json
import subprocess

import pytest

from rank_runs import SPEC, cases_in, of_mpi, own_cache, rmse_of, with_ranks, write  # noqa: F401


@pytest.fixture
def mpirun(mfbench):
    """Runs mfbench under mpirun."""
    def run(count, *arguments, cwd, env=None):
        return subprocess.run(of_mpi(count, mfbench, *arguments), cwd=cwd, text=True, capture_output=True, timeout=300,
                              env=env or mfbench.environment())
    return run


@pytest.fixture(scope="module")
def alone(mfbench, tmp_path_factory):
    folder = tmp_path_factory.mktemp("alone")
    mfbench("run", write(folder, SPEC), cwd=folder, code=0)
    return rmse_of(folder)


@pytest.mark.parametrize("count", [2, 3, 4])
def test_any_number_of_ranks_has_the_numbers_of_one(mfbench, tmp_path, alone, count):
    done = mfbench("run", write(tmp_path, with_ranks(count)), cwd=tmp_path, code=0)
    assert done.stderr == ""
    assert rmse_of(tmp_path) == alone
    (lines,) = cases_in(tmp_path)
    header, footer = lines[0], lines[-1]
    assert header["algorithm"]["params"]["ranks"] == count
    assert footer["status"] == "completed"
    assert [one["rank"] for one in footer["ranks"]] == list(range(1, count))
    own = [header["facts"], *(one["facts"] for one in footer["ranks"])]
    for key in ("own_ratings_by_user", "own_ratings_by_item"):
        assert sum(one[key] for one in own) == header["dataset"]["nnz_train"]
    assert sum(one["own_users"] for one in own) == header["dataset"]["n_users"]
    assert footer["phases"]["exchange"]["count"] == 6
    for one in footer["ranks"]:
        assert one["phases"]["exchange"]["count"] == 6
        assert all(one["clocks"][f"{clock}_s"] > 0 for clock in ("start", "load", "prepare", "train", "evaluate"))
        assert one["machine"] == 0 and one["peak_host_bytes"] is None  # the footer's is that of all


def test_blocks_of_items_go_round(mfbench, tmp_path):
    """fpsgd: not the bits of one process, which takes blocks in another order, but as good."""
    spec = {**SPEC, "datasets": [{"like": "ml-100k"}], "evaluate": {"every": 4}, "stop": {"epochs": 10},
            "algorithms": [{"name": "fpsgd", "factors": 16, "threads": 1, "ranks": [1, 3]}]}
    mfbench("run", write(tmp_path, spec), cwd=tmp_path, code=0)
    alone, three = cases_in(tmp_path)
    assert [line["epoch"] for line in three if line["type"] == "trace"] == [0, 4, 8, 10]
    assert abs(alone[-1]["final_test_rmse"] - three[-1]["final_test_rmse"]) < 0.003
    assert alone[-1]["final_test_rmse"] < alone[1]["test_rmse"] - 0.1
    header, footer = three[0], three[-1]
    assert footer["updates"] == 10 * header["dataset"]["nnz_train"]
    own = [header["facts"], *(one["facts"] for one in footer["ranks"])]
    assert sum(one["own_ratings"] for one in own) == header["dataset"]["nnz_train"]
    assert sum(one["own_users"] for one in own) == header["dataset"]["n_users"]
    assert footer["phases"]["exchange"]["count"] == 30


def test_ranks_may_have_nothing_to_do(mfbench, tmp_path):
    """Two items for four ranks."""
    pairs = [(user, item) for user in range(20) for item in range(2)]
    (tmp_path / "few.csv").write_text("user,item,rating\n" + "".join(f"{u},{i},{1 + (u + i) % 5}\n" for u, i in pairs))
    spec = {**with_ranks([1, 4]), "datasets": [{"path": "few.csv"}]}
    mfbench("run", write(tmp_path, spec), cwd=tmp_path, code=0)
    one, four = ([line["test_rmse"] for line in lines if line["type"] == "trace"]
                 for lines in cases_in(tmp_path))
    assert one == four
    footer = cases_in(tmp_path)[1][-1]
    assert 0 in [rank["facts"]["own_items"] for rank in footer["ranks"]]


def test_a_sweep_uses_as_many_as_each_case_asks_for(mfbench, tmp_path, alone):
    spec = with_ranks([1, 2, 3])
    mfbench("run", write(tmp_path, spec), cwd=tmp_path, code=0)
    cases = cases_in(tmp_path)
    assert [len(lines[-1].get("ranks", [])) for lines in cases] == [0, 1, 2]
    for lines in cases:
        assert [line["test_rmse"] for line in lines if line["type"] == "trace"] == alone
    # A case of one rank is the one of before there were any.
    single = mfbench("validate", "--json", write(tmp_path, SPEC, "single.json"), cwd=tmp_path)
    assert json.loads(single.stdout)[0]["id"].endswith(cases[0][0]["case_hash"][:10])
    again = mfbench("run", "spec.json", cwd=tmp_path)
    assert "0 run now, 3 finished before" in again.stdout


def write_ratings(path, users=120, items=40):
    """A file of one's own, which the cache keeps."""
    lines = [f"{u},{i},{1 + (7 * u + 3 * i * i + u * i) % 9 / 2},{(u * 13 + i * 29) % 50}" for u in range(users)
             for i in range(items) if (u * 31 + i * 17) % 5 < 3]
    path.write_text("user,item,rating,time\n" + "\n".join(lines) + "\n")


def traces_of(lines):
    return [(line["test_rmse"], line["test_mae"], line["validation_rmse"])
            for line in lines if line["type"] == "trace"]


@pytest.mark.parametrize("split", [{"holdout": 0.2, "validation": 0.1}, {"leave_out": 2},
                                   {"folds": 4, "fold": 2}, {"by_time": 0.8, "validation": 0.1},
                                   {"by_time": "1970-01-01T00:00:30"}, {"leave_last": 2, "validation": 1},
                                   {"users": 0.2, "fold_in": 0.5}])
def test_each_rank_reads_its_share_and_the_split_is_that_of_one(mfbench, tmp_path, split):
    write_ratings(tmp_path / "own.csv")
    spec = {**with_ranks([1, 2, 3, 4]), "datasets": [{"path": "own.csv", "split": split}]}
    write(tmp_path, spec)
    mfbench("run", "spec.json", cwd=tmp_path, code=0)
    one, *several = cases_in(tmp_path)
    assert "rank_data" not in one[0]
    for lines in several:
        assert lines[0]["rank_data"] == {"held": "share", "why": None, "read": "share", "evaluated_by": "all"}
        assert lines[0]["dataset"] == one[0]["dataset"]
        assert traces_of(lines) == traces_of(one)
        assert lines[-1]["trivial_error"] == one[-1]["trivial_error"]
        assert all(rank["clocks"]["evaluate_s"] > 0 for rank in lines[-1]["ranks"])


def test_a_rule_of_implicit_feedback_is_applied_on_ranks_too(mfbench, tmp_path):
    """To ratings that are to be learned as they are: the cache, of which ranks could read shares, has all."""
    write_ratings(tmp_path / "own.csv")
    dataset = {"path": "own.csv", "implicit": {"min_rating": 3, "value": "rating"}}
    write(tmp_path, {**with_ranks([1, 2]), "datasets": [dataset]})
    mfbench("run", "spec.json", cwd=tmp_path, code=0)
    one, several = cases_in(tmp_path)
    assert several[0]["dataset"] == one[0]["dataset"] and one[0]["dataset"]["implicit"]["ratings_dropped"] > 0
    assert traces_of(several) == traces_of(one)
    assert several[0]["rank_data"]["held"] == "whole" and "rule of implicit" in several[0]["rank_data"]["why"]


def test_who_evaluates_and_what_is_whole_is_in_the_result(mfbench, tmp_path):
    write_ratings(tmp_path / "own.csv")
    als = with_ranks(2)["algorithms"][0]
    own, made = {"path": "own.csv"}, {"like": "ml-100k", "scale": 0.1}

    def rank_data(name, dataset, entry, **spec):
        (folder := tmp_path / name).mkdir()
        (folder / "own.csv").symlink_to(tmp_path / "own.csv")
        mfbench("run", write(folder, {**SPEC, "datasets": [dataset], "algorithms": [entry], **spec}),
                cwd=folder, code=0)
        return cases_in(folder)[0][0]["rank_data"]

    fpsgd = {"name": "fpsgd", "factors": 8, "threads": 1, "ranks": 2}
    assert rank_data("fpsgd", own, fpsgd)["evaluated_by"] == "rank 0"
    # Made in an instant, by each: there is no file of which to read a share.
    assert rank_data("made", made, als) == {"held": "share", "why": None, "read": "whole",
                                            "evaluated_by": "all"}
    ranked = rank_data("ranked", own, als, evaluate={"ranking": True})
    assert (ranked["held"], ranked["evaluated_by"]) == ("whole", "rank 0")
    assert "ranking metrics" in ranked["why"]
    assert "saved model" in rank_data("saved", own, als, save_model=True)["why"]
    assert "groups" in rank_data("groups", own, als, evaluate={"user_groups": 3})["why"]


def test_a_damaged_cache_is_built_again_by_all(mfbench, tmp_path, own_cache):
    write_ratings(tmp_path / "own.csv")
    write(tmp_path, {**with_ranks([1, 3]), "datasets": [{"path": "own.csv"}]})
    assert mfbench("run", "spec.json", cwd=tmp_path, env=own_cache).returncode == 0
    before = [traces_of(lines) for lines in cases_in(tmp_path)]
    (cache,) = (tmp_path / "cache").glob("*.mfc")
    data = bytearray(cache.read_bytes())
    data[len(data) // 2] ^= 1  # an item; users follow from the offsets, and are not read
    cache.write_bytes(data)
    write(tmp_path, {**with_ranks(3), "datasets": [{"path": "own.csv"}]})
    done = mfbench("run", "spec.json", "--rerun", cwd=tmp_path, env=own_cache, code=0)
    assert "the cache is corrupt" in done.stderr and "rebuilding" in done.stderr
    assert [traces_of(lines) for lines in cases_in(tmp_path)] == before


def test_a_rank_holds_its_share_of_the_memory(mfbench, mpirun, tmp_path, own_cache):
    """Peaks beyond what a case of next to no ratings takes. 6 M ratings, 72 MB as they lie in the cache."""
    large = {"like": "ml-10m", "scale": 0.6}
    errors = {}

    def peaks(name, count, dataset):
        (folder := tmp_path / name).mkdir()
        entry = {"name": "als_cpu", "factors": 2, "threads": 1, "ranks": count}
        write(folder, {**SPEC, "datasets": [dataset], "stop": {"epochs": 1}, "algorithms": [entry]})
        if count == 1:
            mfbench("run", "spec.json", cwd=folder, env=own_cache, code=0)
        else:
            assert mpirun(count, "run", "spec.json", cwd=folder, env=own_cache).returncode == 0
        (lines,) = cases_in(folder)
        footer, errors[name] = lines[-1], traces_of(lines)
        return [footer["peak_host_bytes"], *(one["peak_host_bytes"] for one in footer.get("ranks", []))]

    peaks("first", 1, large)  # makes the file
    base = {count: peaks(f"base{count}", count, {"like": "ml-100k", "scale": 0.1}) for count in (1, 4)}
    (whole,) = (a - b for a, b in zip(peaks("whole", 1, large), base[1]))
    shares = [a - b for a, b in zip(peaks("share", 4, large), base[4])]
    assert whole > 50e6
    # A quarter of the ratings, the sort of its columns, and the offsets and factors of all rows.
    assert max(shares) < 0.55 * whole, (whole, shares)
    # For 1.2 M test ratings, in blocks that lie across the cuts.
    assert errors["share"] == errors["whole"]


@pytest.mark.parametrize("count", [2, 3, 4])
def test_mpi_has_the_same_numbers(mpirun, tmp_path, alone, count):
    done = mpirun(count, "run", write(tmp_path, with_ranks([1, count])), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for lines in cases_in(tmp_path):
        assert [line["test_rmse"] for line in lines if line["type"] == "trace"] == alone
    assert done.stdout.count("results in") == 1  # only rank 0 tells


def test_ranks_of_mpi_read_their_shares(mpirun, tmp_path):
    write_ratings(tmp_path / "own.csv")
    spec = {**with_ranks([1, 4]), "datasets": [{"path": "own.csv", "split": {"holdout": 0.2}}]}
    spec["algorithms"].append({"name": "fpsgd", "factors": 8, "threads": 1, "ranks": [1, 4]})
    done = mpirun(4, "run", write(tmp_path, spec), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    one, four, one_sgd, four_sgd = cases_in(tmp_path)
    assert four[0]["rank_data"]["read"] == "share"
    assert traces_of(four) == traces_of(one)
    # Evaluated by rank 0, which the test ratings of all are sent to. It learns in another order.
    assert four_sgd[0]["rank_data"]["evaluated_by"] == "rank 0"
    assert traces_of(four_sgd)[0] == traces_of(one_sgd)[0]


def test_an_algorithm_without_ranks_says_so(mfbench, tmp_path):
    spec = {**SPEC, "algorithms": [{"name": "sgd_serial", "ranks": 2}]}
    done = mfbench("run", write(tmp_path, spec), cwd=tmp_path, code=2)
    assert "$.algorithms[0].ranks" in done.stderr


TUNE = {"over": {"reg": [0.01, 0.1, "log"]}, "trials": 2}


@pytest.mark.parametrize("command", ["run", "tune"])
@pytest.mark.parametrize("entry, words", [
    ({"name": "als_cpu", "ranks": 2, "tune": TUNE}, "asks for 2 ranks"),
    ({"name": "als_fused", "devices": 2, "tune": TUNE}, "asks for 2 devices"),
    ({"name": "als_cpu", "tune": {"over": {"ranks": {"choices": [1, 2]}}, "trials": 2}}, "searches over `ranks`"),
])
def test_a_search_is_run_by_one_rank(mfbench, tmp_path, command, entry, words):
    data = {**SPEC["datasets"][0], "split": {"holdout": 0.1, "validation": 0.1}}
    done = mfbench(command, write(tmp_path, {**SPEC, "datasets": [data], "algorithms": [entry]}), cwd=tmp_path)
    assert done.returncode == 2
    assert '"tune"' in done.stderr and words in done.stderr
    assert "$.algorithms[0]" in done.stderr and "trials are run by one rank" in done.stderr
    assert not (tmp_path / "results").exists()
