"""Several ranks compute a case together: one error if one of them fails, and an end for each that waits."""

import contextlib
import os
import re
import resource
import signal
import subprocess

import pytest

from rank_runs import LONG, SPEC, cases_in, of_mpi, with_ranks, write
from support import Waiting, children_of, is_gone, stopped, wait_for


def epochs_in(folder):
    return sum(path.read_text().count('"trace"') for path in folder.glob("**/*.jsonl"))


@pytest.fixture
def long_run(mfbench, tmp_path):
    with long_run_in(tmp_path, mfbench) as process:
        yield process


def gone(pids):
    return all(is_gone(pid) for pid in pids)


@contextlib.contextmanager
def running(mfbench, folder, spec, command=None):
    write(folder, spec)
    process = subprocess.Popen(command or [mfbench.program, "run", "spec.json"], cwd=folder, text=True,
                               env=mfbench.environment(), stdout=subprocess.PIPE,
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


def finished(folder):
    return [lines[-1]["status"] for lines in cases_in(folder) if lines and lines[-1]["type"] == "footer"]


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGSEGV])
def test_a_crash_of_a_rank_ends_the_process_and_the_case_has_no_footer(tmp_path, long_run, by):
    assert children_of(long_run.pid) == []
    long_run.send_signal(by)
    long_run.communicate(timeout=60)
    assert long_run.returncode == -by
    assert finished(tmp_path) == ["completed"]


def test_a_rank_without_memory_is_named_and_the_run_goes_on(mfbench, tmp_path):
    first = {"name": "als_cpu", "factors": 16, "threads": 1, "ranks": 3,
             "stop": {"train_seconds": 1.5, "epochs": 100000}}
    other = {**first, "reg": 0.1, "stop": {"epochs": 1}}
    alone = {**other, "ranks": 1}
    spec = {**SPEC, "datasets": [{"like": "ml-100k"}], "algorithms": [first, other, alone]}
    with running(mfbench, tmp_path, spec, command=of_mpi(3, mfbench, "run", "spec.json")) as process:
        wait_for(lambda: epochs_in(tmp_path) > 1)
        resource.prlimit(children_of(process.pid)[1], resource.RLIMIT_AS, (1 << 20, 1 << 20))
        _, stderr = process.communicate(timeout=300)
    assert process.returncode == 1, stderr
    footers = {tuple(lines[0]["algorithm"]["params"].get(key) for key in ("ranks", "reg")): lines[-1]
               for lines in cases_in(tmp_path)}
    assert footers[3, 0.1]["status"] == "oom"
    assert footers[3, 0.1]["stop_reason"].startswith("rank 1: ")
    assert footers[None, 0.1]["status"] == "completed"


def test_interrupted_ranks_end_after_the_epoch(tmp_path, long_run):
    long_run.send_signal(signal.SIGINT)
    _, stderr = long_run.communicate(timeout=300)
    assert long_run.returncode == 130
    assert "interrupted" in stderr
    assert sorted(finished(tmp_path)) == ["completed", "interrupted"]


# ---- what waits ------------------------------------------------------------------------------------

waiting = Waiting()


@pytest.fixture(scope="module", autouse=True)
def begun(request, mfbench, tmp_path_factory):
    with waiting.begun(request, mfbench, tmp_path_factory) as begun:
        yield begun


def expect_waited_for(folder, rank, status):
    """The last word of the running case names the rank, maybe among others that are late on a busy machine."""
    (footer,) = (lines[-1] for lines in cases_in(folder) if lines[-1].get("status") == status)
    assert re.search(rf"waiting for ranks? (\d, )*{rank}\b", footer["stop_reason"]), footer["stop_reason"]


@contextlib.contextmanager
def long_run_of_mpi_in(folder, mfbench, spec=LONG):
    with running(mfbench, folder, spec, command=of_mpi(3, mfbench, "run", "spec.json")) as process:
        wait_for(lambda: epochs_in(folder) > 4)
        yield process


def ended_without(process, place, act=lambda _: None):
    """Its last words, after one of its children was stopped and `act` done to them; all are gone then."""
    children = children_of(process.pid)
    with stopped(children[place]):
        act(children)
        _, stderr = process.communicate(timeout=300)
    wait_for(lambda: gone(children))
    return stderr


@waiting
def the_wait_for_rank_0_of_mpi_by_the_first_signal(folder, mfbench):
    with long_run_of_mpi_in(folder, mfbench) as process:
        ended_without(process, 0, lambda ranks: os.kill(ranks[1], signal.SIGTERM))
    assert process.returncode != 0


@waiting
def the_wait_for_a_rank_of_mpi_by_wall_seconds(folder, mfbench):
    limited = {**LONG, "stop": {"epochs": 100000, "wall_seconds": 15}}
    with long_run_of_mpi_in(folder, mfbench, limited) as process:
        stderr = ended_without(process, 1)
    assert process.returncode != 0
    assert "wall_seconds" in stderr and "waiting for rank" in stderr
    expect_waited_for(folder, 1, "timeout")


@waiting
def the_wait_for_a_rank_of_mpi_by_the_first_signal(folder, mfbench):
    with long_run_of_mpi_in(folder, mfbench) as process:
        ended_without(process, 2, lambda ranks: os.kill(ranks[0], signal.SIGTERM))
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


def killed_of_mpi(rank, folder, mfbench):
    with long_run_of_mpi_in(folder, mfbench) as process:
        ranks = children_of(process.pid)
        assert len(ranks) == 3
        os.kill(ranks[rank], signal.SIGKILL)
        _, stderr = process.communicate(timeout=300)
        wait_for(lambda: gone(ranks))
        assert process.returncode != 0
        assert f"rank {rank}" in stderr  # mpirun says so


@waiting
def all_ranks_of_mpi_with_one_that_is_killed(folder, mfbench):
    killed_of_mpi(1, folder, mfbench)


@waiting
def all_ranks_of_mpi_with_rank_0_that_is_killed(folder, mfbench):
    killed_of_mpi(0, folder, mfbench)


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
