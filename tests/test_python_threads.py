"""The Python package among threads and forked processes: each question gets its own answer, and nobody waits for ever."""

import functools
import multiprocessing
import multiprocessing.pool
import os
import signal
import subprocess
import sys
import threading

import pytest

from python_api import frame, headline, place, run  # noqa: F401
from support import is_gone, wait_for

from mfplots import program
from mfplots.errors import PlotError


def ratios(first):
    """Whether the program divides these numbers as Python does."""
    return [program.ask("ratio", of=[number], over=[4])["value"] == number / 4 for number in range(first, first + 200)]


def asked(_=None):
    program.ask("metrics")
    return program._own.process.pid


def in_time(call, seconds=60):
    """In a thread, since a call that hangs would hang the test."""
    found = []
    thread = threading.Thread(target=lambda: found.append(call()), daemon=True)
    thread.start()
    thread.join(seconds)
    assert not thread.is_alive(), f"has not ended after {seconds} s"
    return found[0]


def test_eight_threads_get_their_own_answers(place):
    with multiprocessing.pool.ThreadPool(8) as pool:
        found = in_time(lambda: pool.map(ratios, range(1, 8001, 1000)))
    assert [len(one) for one in found] == [200] * 8 and all(map(all, found))


def test_forked_processes_ask_a_program_of_their_own(place, frame):
    run({"name": "before a fork"}, frame)
    asking = asked()
    with multiprocessing.get_context("fork").Pool(3) as pool:
        found = pool.map_async(ratios, [1, 1001, 2001], chunksize=1).get(timeout=60)
        others = pool.map_async(asked, range(9), chunksize=1).get(timeout=60)
    assert all(map(all, found)) and asking not in others
    assert asked() == asking and all(ratios(5))


def test_a_process_forked_while_threads_ask_ends(place):
    """With its handlers of exit, as a child of os.fork() has them."""
    code = ("import os, sys, threading; from mfplots import program\n"
            "def ask():\n"
            "    for k in range(1, 300): assert program.ask('ratio', of=[k], over=[2])['value'] == k / 2\n"
            "threads = [threading.Thread(target=ask) for _ in range(4)]\n"
            "for one in threads: one.start()\n"
            "children = []\n"
            "for _ in range(6):\n"
            "    child = os.fork()\n"
            "    if not child:\n"
            "        ask(); sys.exit(0)\n"
            "    children.append(child)\n"
            "for one in threads: one.join()\n"
            "sys.exit(sum(os.waitpid(one, 0)[1] for one in children))\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_joblib(place, backend):
    joblib = pytest.importorskip("joblib")
    found = in_time(lambda: joblib.Parallel(n_jobs=3, backend=backend)(
        joblib.delayed(functools.partial(ratios, first))() for first in (1, 1001, 2001)))
    assert all(map(all, found))


def test_six_threads_run_at_once(place, frame):
    expected = headline({"name": "threads"}, frame)
    data = frame.assign(rating=frame.rating)
    with multiprocessing.pool.ThreadPool(6) as pool:
        found = in_time(lambda: pool.map(lambda k: headline({"name": f"thread{k}"}, data), range(6)), 120)
    assert found == [expected] * 6


def test_an_answer_that_does_not_come_is_an_error_and_the_next_one_comes(place, monkeypatch):
    os.kill(asked(), signal.SIGSTOP)
    stopped = program._own.process
    monkeypatch.setattr(program, "ANSWER_S", 0.1)
    with pytest.raises(PlotError, match="no answer within 0.1 s"):
        program.ask("metrics")
    assert stopped.wait(60) == -signal.SIGKILL and program.ask("ratio", of=[3], over=[2])["value"] == 1.5


def test_programs_end_with_their_threads(place):
    threads = [threading.Thread(target=lambda: pids.append(asked())) for _ in range(4)]
    pids = []
    for one in threads:
        one.start()
        one.join()
    assert len(set(pids)) == 4 and asked() not in pids
    wait_for(lambda: all(map(is_gone, pids)), "end of the programs", 20)


def test_an_interrupted_question_leaves_no_answer_behind(place, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(program.json, "loads", interrupt)
        with pytest.raises(KeyboardInterrupt):
            program.ask("ratio", of=[1], over=[2])
    assert program.ask("ratio", of=[3], over=[2])["value"] == 1.5
