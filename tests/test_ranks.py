"""Several processes compute a case together: the numbers of one, whatever starts them, and one error
where one of them fails. mfbench starts those of one machine itself; with mpirun in the place of that
where MPI is there."""

import contextlib
import functools
import json
import os
import resource
import shutil
import signal
import subprocess
import time

import pytest

from support import Waiting, children_of, is_gone, lines_of, stopped, wait_for

SPEC = {
    "name": "ranks",
    "datasets": [{"like": "ml-100k", "scale": 0.1}],
    "seeds": [1],
    "stop": {"epochs": 3},
    "algorithms": [{"name": "als_cpu", "factors": 9, "threads": 1, "center": "biases"}],
}
# Long enough to be met in the middle of it.
LONG = {**SPEC, "datasets": [{"like": "ml-100k"}], "stop": {"epochs": 100000},
        "algorithms": [{"name": "als_cpu", "factors": 32, "threads": 1, "ranks": 3}]}


def with_ranks(count, base=None):
    base = base or SPEC
    return {**base, "algorithms": [{**base["algorithms"][0], "ranks": count}]}


def write(folder, spec, name="spec.json"):
    path = folder / name
    path.write_text(json.dumps(spec))
    return path


def cases_in(folder):
    """For each case: header, trace and footer."""
    return [lines_of(path) for path in sorted((folder / "results/runs/ranks").glob("*.jsonl"))]


def rmse_of(folder):
    (lines,) = cases_in(folder)
    return [line["test_rmse"] for line in lines if line["type"] == "trace"]


@functools.cache
def find_mpirun(mfbench):
    """Skips without it, or if mfbench was built without MPI."""
    doctor = json.loads(subprocess.run([mfbench.program, "doctor", "--json"], text=True,
                                       capture_output=True, check=True).stdout)
    if not doctor["build"]["mpi"].startswith("yes"):
        pytest.skip("this mfbench was built without MPI (./dev deps mpi, rebuild)")
    return shutil.which("mpirun") or pytest.skip("no mpirun (./dev deps mpi)")


def of_mpi(count, mfbench, *arguments):
    """The command that runs mfbench under mpirun."""
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return [find_mpirun(mfbench), *root, "--oversubscribe", "--bind-to", "none", "-n", str(count), mfbench.program,
            *map(str, arguments)]


@pytest.fixture
def mpirun(mfbench):
    """Runs mfbench under mpirun."""
    def run(count, *arguments, cwd):
        return subprocess.run(of_mpi(count, mfbench, *arguments), cwd=cwd, text=True, capture_output=True, timeout=300,
                              env=mfbench.environment())
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
        assert one["machine"] == 0 and one["peak_host_bytes"] > 0


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
                                   {"leave_last": 2, "validation": 1}, {"users": 0.2, "fold_in": 0.5}])
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


@pytest.fixture
def own_cache(mfbench, tmp_path):
    return {**mfbench.environment(), "MFBENCH_CACHE": str(tmp_path / "cache")}


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


def test_a_rank_holds_its_share_of_the_memory(mfbench, tmp_path, own_cache):
    """Peaks beyond what a case of next to no ratings takes. 6 M ratings, 72 MB as they lie in the cache."""
    large = {"like": "ml-10m", "scale": 0.6}
    errors = {}

    def peaks(name, count, dataset):
        (folder := tmp_path / name).mkdir()
        entry = {"name": "als_cpu", "factors": 2, "threads": 1, "ranks": count}
        write(folder, {**SPEC, "datasets": [dataset], "stop": {"epochs": 1}, "algorithms": [entry]})
        mfbench("run", "spec.json", cwd=folder, env=own_cache, code=0)
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
def test_a_search_is_run_by_one_process(mfbench, tmp_path, command, entry, words):
    data = {**SPEC["datasets"][0], "split": {"holdout": 0.1, "validation": 0.1}}
    done = mfbench(command, write(tmp_path, {**SPEC, "datasets": [data], "algorithms": [entry]}), cwd=tmp_path)
    assert done.returncode == 2
    assert '"tune"' in done.stderr and words in done.stderr
    assert "$.algorithms[0]" in done.stderr and "trials are run by one process" in done.stderr
    assert not (tmp_path / "results").exists()


# ---- faults ---------------------------------------------------------------------------------------


def epochs_in(folder):
    return sum(path.read_text().count('"trace"') for path in folder.glob("**/*.jsonl"))


@pytest.fixture
def long_run(mfbench, tmp_path):
    with long_run_in(tmp_path, mfbench) as process:
        yield process


def gone(pids):
    return all(is_gone(pid) for pid in pids)


@contextlib.contextmanager
def running(mfbench, folder, spec, environment=None, command=None):
    write(folder, spec)
    process = subprocess.Popen(command or [mfbench.program, "run", "spec.json"], cwd=folder, text=True,
                               env=environment or mfbench.environment(), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@contextlib.contextmanager
def long_run_in(folder, mfbench):
    """A case of three ranks in the middle of its epochs, after one that is finished."""
    short = with_ranks(2)["algorithms"][0]
    spec = {**LONG, "algorithms": [{**short, "stop": {"epochs": 1}}, *LONG["algorithms"]]}
    with running(mfbench, folder, spec) as process:
        wait_for(lambda: epochs_in(folder) > 6)
        yield process


def expect_named(process, rank):
    """One of its ranks is killed: all end soon, far from the end of the case, with one error that names it."""
    others = children_of(process.pid)
    os.kill(others[rank - 1], signal.SIGKILL)
    _, stderr = process.communicate(timeout=60)
    wait_for(lambda: gone(others))
    assert process.returncode == 4
    assert stderr.count("error:") == 1, stderr
    assert f"rank {rank}: its process was ended by signal 9" in stderr, stderr


def finished(folder):
    return [lines[-1]["status"] for lines in cases_in(folder) if lines and lines[-1]["type"] == "footer"]


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGSEGV])
def test_a_rank_that_is_gone_ends_all_with_one_error(mfbench, tmp_path, long_run, by):
    others = children_of(long_run.pid)
    assert len(others) == 2
    os.kill(others[1], by)
    _, stderr = long_run.communicate(timeout=60)
    wait_for(lambda: gone(others))
    assert long_run.returncode == 4
    assert stderr.count("error:") == 1, stderr
    assert f"rank 2: its process was ended by signal {int(by)}" in stderr
    assert sorted(finished(tmp_path)) == ["completed", "error"]
    again = mfbench("run", "spec.json", cwd=tmp_path)
    assert "0 run now, 2 finished before" in again.stdout


def test_a_rank_that_is_gone_while_all_evaluate_ends_all(mfbench, tmp_path):
    """Training is next to nothing, so it is met in an evaluation."""
    entry = {"name": "als_cpu", "factors": 2, "threads": 1, "ranks": 3}
    spec = {**LONG, "datasets": [{"like": "ml-1m", "split": {"holdout": 0.98}}], "algorithms": [entry]}
    with running(mfbench, tmp_path, spec) as process:
        wait_for(lambda: epochs_in(tmp_path) > 3)
        expect_named(process, 2)
    assert finished(tmp_path) == ["error"]


def test_a_rank_that_is_gone_while_rank_0_ranks_ends_all(mfbench, tmp_path):
    entry = {"name": "als_cpu", "factors": 8, "threads": 1, "ranks": 3}
    spec = {**LONG, "datasets": [{"like": "ml-1m"}], "algorithms": [entry], "evaluate": {"ranking": True}}
    with running(mfbench, tmp_path, spec) as process:
        wait_for(lambda: epochs_in(tmp_path) > 1)
        expect_named(process, 1)


def test_a_rank_that_is_gone_while_rank_0_loads_ends_all(mfbench, tmp_path, own_cache):
    """Rank 0 makes 20 M ratings, for some seconds, and looks at nothing meanwhile."""
    with running(mfbench, tmp_path, {**LONG, "datasets": [{"like": "ml-20m"}]}, own_cache) as process:
        wait_for(lambda: len(children_of(process.pid)) == 2)
        time.sleep(0.3)
        expect_named(process, 2)
    assert finished(tmp_path) in ([], ["error"])  # of what was not begun, the same command runs it


def test_a_rank_without_memory_is_named_and_the_run_goes_on(mfbench, tmp_path):
    first = {"name": "als_cpu", "factors": 16, "threads": 1, "ranks": 3,
             "stop": {"train_seconds": 1.5, "epochs": 100000}}
    other = {**first, "reg": 0.1, "stop": {"epochs": 1}}
    alone = {**other, "ranks": 1}
    spec = {**SPEC, "datasets": [{"like": "ml-100k"}], "algorithms": [first, other, alone]}
    with running(mfbench, tmp_path, spec) as process:
        wait_for(lambda: epochs_in(tmp_path) > 1)
        resource.prlimit(children_of(process.pid)[0], resource.RLIMIT_AS, (1 << 20, 1 << 20))
        _, stderr = process.communicate(timeout=300)
    assert process.returncode == 1, stderr
    footers = {tuple(lines[0]["algorithm"]["params"].get(key) for key in ("ranks", "reg")): lines[-1]
               for lines in cases_in(tmp_path)}
    assert footers[3, 0.1]["status"] == "oom"
    assert footers[3, 0.1]["stop_reason"].startswith("rank 1: ")
    assert footers[None, 0.1]["status"] == "completed"


def test_the_others_end_with_rank_0(long_run):
    others = children_of(long_run.pid)
    long_run.kill()
    long_run.communicate()
    wait_for(lambda: gone(others))


def test_interrupted_ranks_end_after_the_epoch(mfbench, tmp_path, long_run):
    others = children_of(long_run.pid)
    for pid in [long_run.pid, *others]:  # as a terminal does
        os.kill(pid, signal.SIGINT)
    _, stderr = long_run.communicate(timeout=300)
    assert long_run.returncode == 130
    assert "interrupted" in stderr
    wait_for(lambda: gone(others))
    assert sorted(finished(tmp_path)) == ["completed", "interrupted"]


# ---- what waits ------------------------------------------------------------------------------------

waiting = Waiting()


@pytest.fixture(scope="module", autouse=True)
def begun(request, mfbench, tmp_path_factory):
    with waiting.begun(request, mfbench, tmp_path_factory) as begun:
        yield begun


def expect_waited_for(folder, rank, status):
    """The last word of the running case names the rank."""
    (footer,) = (lines[-1] for lines in cases_in(folder) if lines[-1].get("status") == status)
    assert f"waiting for rank {rank}" in footer["stop_reason"], footer["stop_reason"]


@contextlib.contextmanager
def long_run_of_mpi_in(folder, mfbench):
    with running(mfbench, folder, LONG, command=of_mpi(3, mfbench, "run", "spec.json")) as process:
        wait_for(lambda: epochs_in(folder) > 4)
        yield process


@waiting
def the_wait_for_rank_0_of_mpi_by_the_first_signal(folder, mfbench):
    with long_run_of_mpi_in(folder, mfbench) as process:
        ranks = children_of(process.pid)
        with stopped(ranks[0]):
            os.kill(ranks[1], signal.SIGTERM)
            process.communicate(timeout=300)
        assert process.returncode != 0
        wait_for(lambda: gone(ranks))


@waiting
def the_wait_for_a_rank_by_wall_seconds(folder, mfbench):
    limited = {**LONG, "stop": {"epochs": 100000, "wall_seconds": 15}}
    with running(mfbench, folder, limited) as process:
        wait_for(lambda: epochs_in(folder) > 0)
        others = children_of(process.pid)
        with stopped(others[0]):
            _, stderr = process.communicate(timeout=300)
    assert process.returncode == 4, stderr
    assert "wall_seconds" in stderr and "waiting for rank 1" in stderr
    wait_for(lambda: gone(others))
    expect_waited_for(folder, 1, "timeout")


@waiting
def the_wait_for_a_rank_by_the_first_signal(folder, mfbench):
    with long_run_in(folder, mfbench) as process:
        others = children_of(process.pid)
        with stopped(others[1]):
            process.terminate()
            _, stderr = process.communicate(timeout=300)
    assert process.returncode == 128 + signal.SIGTERM, stderr
    assert "interrupted" in stderr and "error:" not in stderr
    wait_for(lambda: gone(others))
    expect_waited_for(folder, 2, "interrupted")


@waiting
def the_wait_for_a_rank_of_mpi_by_the_first_signal(folder, mfbench):
    with long_run_of_mpi_in(folder, mfbench) as process:
        ranks = children_of(process.pid)
        with stopped(ranks[2]):
            os.kill(ranks[0], signal.SIGTERM)
            process.communicate(timeout=300)
        wait_for(lambda: gone(ranks))
    expect_waited_for(folder, 2, "interrupted")


@waiting
def all_ranks_of_mpi_by_a_signal_after_the_epoch(folder, mfbench):
    """As srun sends it."""
    with long_run_of_mpi_in(folder, mfbench) as process:
        for pid in children_of(process.pid):
            os.kill(pid, signal.SIGTERM)
        _, stderr = process.communicate(timeout=300)
    (lines,) = cases_in(folder)
    assert lines[-1]["status"] == "interrupted" and "stopped by the user after epoch" in lines[-1]["stop_reason"]
    assert "interrupted; the same command goes on" in stderr
    assert len(lines[-1]["ranks"]) == 2  # they have told what they did


@waiting
def all_ranks_of_mpi_with_one_that_is_killed(folder, mfbench):
    with long_run_of_mpi_in(folder, mfbench) as process:
        ranks = children_of(process.pid)
        assert len(ranks) == 3
        os.kill(ranks[1], signal.SIGKILL)
        _, stderr = process.communicate(timeout=300)
        wait_for(lambda: gone(ranks))
        assert process.returncode != 0
        assert "rank 1" in stderr  # mpirun says so


# Each ends with one error that has these words. A second spec is that of rank 1.
BAD_USE = {
    "too few": (2, [with_ranks(3)], ["asks for 3 ranks", "2 processes were started", "mpirun -n 3"]),
    "too many": (3, [with_ranks(2)], ["3 processes were started", "no case of ranks asks for more than 2"]),
    "none asked for": (2, [{**SPEC, "algorithms": ["sgd_serial"]}], ["have no parameter `ranks`"]),
    "two specs": (1, [with_ranks(2), {**with_ranks(2), "seeds": [2]}], ["rank 1 has another spec"]),
    "one spec": (1, [with_ranks(2), None], ["error: rank 1: ", "b.json"]),
}


@waiting
def bad_use_before_anything_is_loaded(folder, mfbench):
    def start(name):
        count, specs, _ = BAD_USE[name]
        (own := folder / name).mkdir()
        words = ["run", write(own, specs[0], "a.json")]
        if len(specs) > 1:
            words += [":", "-n", "1", mfbench.program, "run", "b.json"]
            if specs[1]:
                write(own, specs[1], "b.json")
        return subprocess.Popen(of_mpi(count, mfbench, *words), cwd=own, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, env=mfbench.environment())

    running = {name: start(name) for name in BAD_USE}
    for name, process in running.items():
        stderr = process.communicate(timeout=300)[1]
        if name == "one spec":
            assert process.returncode != 0
        else:
            assert process.returncode == 2, stderr
        errors = [line for line in stderr.splitlines() if line.startswith("error:")]
        assert len(errors) == 1, stderr
        for word in BAD_USE[name][2]:
            assert word in errors[0]
        assert not (folder / name / "results").exists()


@pytest.mark.parametrize("name", waiting)
def test_ends_well(begun, name):
    begun[name].result()
