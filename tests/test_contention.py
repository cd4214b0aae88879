"""A run beside busy loops on its one CPU is marked in its results and its output."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

from support import footers

SPEC = {"name": "shared", "datasets": [{"like": "ml-100k", "scale": 0.1}], "stop": {"epochs": 400},
        "evaluate": {"every": 400}, "seeds": [1, 2, 3],
        "algorithms": [{"name": "sgd_serial", "factors": 32}]}


@pytest.fixture(scope="module")
def shared(mfbench, tmp_path_factory):
    """The folder and the standard output of a run that had a third of a CPU."""
    if not pathlib.Path("/proc/self/schedstat").exists():
        pytest.skip("this kernel does not tell how long threads wait (CONFIG_SCHED_INFO)")
    folder = tmp_path_factory.mktemp("shared")
    (folder / "shared.json").write_text(json.dumps(SPEC))
    cpu = max(os.sched_getaffinity(0))

    def bind():
        os.sched_setaffinity(0, {cpu})

    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"], preexec_fn=bind)
             for _ in range(2)]
    try:
        done = mfbench("run", "shared.json", "--out", "out", cwd=folder, preexec_fn=bind)
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


def test_the_results_say_who_took_the_cpu(shared):
    for footer in footers(shared[0] / "out"):
        train = footer["host_load"]["train"]
        assert footer["contended"] is True
        assert any(why.startswith("training: a thread waited") for why in footer["contended_by"])
        assert train["longest_wait_s"] > 0.2 * train["span_s"]
        assert 0 < train["cpu_share"] < 1.05
        assert footer["host_load"]["usable_cpus"] == 1


def test_the_results_say_what_was_bound(shared):
    for path in (shared[0] / "out").glob("*.jsonl"):
        header = json.loads(path.read_text().splitlines()[0])
        assert header["placement"]["cpus"] == [str(max(os.sched_getaffinity(0)))]
        assert header["environment"]["cores"] == 1


def test_the_run_warns(shared):
    lines = shared[1].splitlines()
    assert sum(line.endswith("  contended") for line in lines if line.startswith("[")) == 3
    assert any(line.endswith("  3 contended") for line in lines)
    told = [line for line in lines if " waited " in line]
    assert len(told) == 1 and len(told[0]) < 140, told
    assert told[0].startswith("contended, 3 of 3 cases; of the first: ")
