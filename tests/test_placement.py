"""Where threads and memory lie: what a run is told, what its threads see, and what the results say."""

import json
import os

import pytest

SPEC = {"name": "placed", "datasets": [{"like": "ml-100k", "scale": 0.05}], "stop": {"epochs": 1},
        "algorithms": [{"name": "hogwild", "threads": 2}]}


@pytest.fixture
def run(mfbench, tmp_path):
    def run(out, *arguments):
        done = mfbench("run", "placed.json", "--out", out, "--quiet", *arguments, cwd=tmp_path, spec=SPEC)
        path = next((tmp_path / out).glob("*.jsonl"), None) if done.returncode == 0 else None
        return done, path and json.loads(path.read_text().splitlines()[0])["placement"]
    return run


def listed(text):
    ends = [part.split("-") for part in text.split(",")]
    return {cpu for end in ends for cpu in range(int(end[0]), int(end[-1]) + 1)}


def test_nothing_is_bound_unless_asked(run):
    _, placement = run("plain")
    assert placement["pin"] == "none" and placement["topology"] is None
    assert [listed(cpus) for cpus in placement["cpus"]] == [os.sched_getaffinity(0)]


def test_each_thread_sees_a_cpu_of_its_own(run):
    usable = os.sched_getaffinity(0)
    if len(usable) < 2:
        pytest.skip("one CPU: both threads are bound to it")
    _, placement = run("pinned", "--pin", "threads")
    assert placement["pin"] == "threads" and placement["topology"]
    seen = [listed(cpus) for cpus in placement["cpus"]]
    assert [len(cpus) for cpus in seen] == [1, 1] and not seen[0] & seen[1]
    assert seen[0] | seen[1] <= usable


def test_the_mask_of_the_caller_is_kept(mfbench, tmp_path):
    """taskset and batch systems: no thread is bound to a CPU that is not ours."""
    cpu = max(os.sched_getaffinity(0))
    mfbench("run", "placed.json", "--out", "out", "--pin", "cores", cwd=tmp_path,
            preexec_fn=lambda: os.sched_setaffinity(0, {cpu}), code=0, spec=SPEC)
    header = json.loads(next((tmp_path / "out").glob("*.jsonl")).read_text().splitlines()[0])
    assert header["placement"]["cpus"] == [str(cpu)]
    assert header["environment"]["cores"] == 1


def test_memory_goes_where_it_is_asked_to(run):
    done, placement = run("first", "--numa", "interleave")
    if done.returncode == 5:
        pytest.skip(f"the system refuses: {done.stderr}")
    assert placement["memory"] == "interleave" and placement["pin"] == "none"


@pytest.mark.parametrize("arguments", [("--pin", "core"), ("--numa", "node"), ("--numa", "node:-1"),
                                       ("--numa", "node:1000"), ("--numa", "local")])
def test_what_is_no_place_is_refused(run, arguments):
    done, _ = run("wrong", *arguments)
    assert done.returncode == 2 and arguments[0] in done.stderr + done.stdout


def test_compare_says_that_the_sides_were_placed_differently(run, mfbench, tmp_path):
    run("plain")
    run("pinned", "--pin", "cores")
    lines = mfbench("compare", "plain", "pinned", cwd=tmp_path).stdout.splitlines()
    assert "pinned" not in lines[0].split("cores", 1)[1]
    assert lines[1].endswith(", pinned to cores")
