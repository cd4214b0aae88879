"""Limits of the system: each is named for what it is, ends as its documented status or exit code, and
the run goes on where it can."""

import json
import os
import resource
import subprocess

import pytest

from support import footers, lines_of

GIB = 1 << 30
LARGE = {"datasets": ["like:netflix"], "stop": {"epochs": 1}, "algorithms": ["sgd_serial"]}


@pytest.fixture
def limited(mfbench, tmp_path):
    """Runs mfbench in tmp_path under limits {resource: value}."""
    def run(limits, *arguments, one_core=False):
        def set_limits():
            if one_core:
                os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
            for name, value in limits.items():
                resource.setrlimit(name, (value, value))
        return subprocess.run([mfbench.program, *arguments], cwd=tmp_path, env=mfbench.environment(),
                              text=True, capture_output=True, timeout=300, preexec_fn=set_limits)
    return run


def write_spec(folder, spec):
    (folder / "s.json").write_text(json.dumps(spec))


def test_memory_is_counted_against_the_limit_of_the_process(limited, tmp_path):
    write_spec(tmp_path, LARGE)
    limits = {resource.RLIMIT_AS: GIB}
    plan = json.loads(limited(limits, "plan", "s.json", "--json").stdout)
    assert plan["available_host_bytes_by"] == "ulimit -v"
    assert 0 < plan["available_host_bytes"] < GIB
    assert "are available (ulimit -v)" in plan["cases"][0]["note"]
    assert "available (ulimit -v); " in limited(limits, "plan", "s.json").stdout
    done = limited(limits, "run", "s.json", "--out", "out", "--quiet")
    assert done.returncode == 1, done.stderr
    (footer,) = footers(tmp_path / "out")
    assert footer["status"] == "oom"
    assert "needs at least 1.1 GiB of memory" in footer["stop_reason"]
    assert "are available (ulimit -v)" in footer["stop_reason"]


def test_doctor_says_where_the_limit_comes_from(limited):
    report = json.loads(limited({resource.RLIMIT_AS: GIB}, "doctor", "--json").stdout)
    assert (report["memory_limit_bytes"], report["memory_limit_by"]) == (GIB, "ulimit -v")
    assert report["available_memory_bytes"] < GIB
    text = limited({resource.RLIMIT_AS: GIB}, "doctor").stdout
    assert "(ulimit -v); at most: 1.0 GiB (ulimit -v)" in text


def test_threads_that_cannot_be_started_are_oom_and_the_run_goes_on(limited, tmp_path):
    write_spec(tmp_path, {"datasets": [{"like": "ml-100k", "scale": 0.05}], "stop": {"epochs": 1},
                          "algorithms": [{"name": "fpsgd", "threads": 4096}, "sgd_serial"]})
    done = limited({resource.RLIMIT_AS: 2 * GIB}, "run", "s.json", "--out", "out", "--quiet")
    assert done.returncode == 1, done.stderr
    fpsgd, serial = footers(tmp_path / "out")
    assert fpsgd["status"] == "oom"
    assert "of 4096 could not be started" in fpsgd["stop_reason"]
    assert "ulimit -v, -u" in fpsgd["stop_reason"]
    assert serial["status"] == "completed"


# The standard streams and one more: the folder of a library and a file in it are one too many, and
# without libraries a folder that is locked.
@pytest.mark.parametrize("libraries", [True, False])
def test_too_many_open_files_is_not_a_full_disk(limited, tmp_path, monkeypatch, libraries):
    if not libraries:
        monkeypatch.setenv("MFBENCH_PEER_SCRIPTS", str(tmp_path))
    write_spec(tmp_path, {"datasets": [{"like": "ml-100k", "scale": 0.05}], "stop": {"epochs": 1},
                          "algorithms": ["sgd_serial"]})
    done = limited({resource.RLIMIT_NOFILE: 4}, "run", "s.json", "--out", "out")
    assert done.returncode == 4
    assert "Too many open files" in done.stderr
    assert "this process may open 4: raise that (ulimit -n)" in done.stderr
    assert "full" not in done.stderr and "--out" not in done.stderr


def test_a_limit_on_the_size_of_files_is_named(limited, tmp_path):
    write_spec(tmp_path, {"datasets": [{"like": "ml-100k", "scale": 0.05}], "stop": {"epochs": 99},
                          "algorithms": ["sgd_serial"]})
    done = limited({resource.RLIMIT_FSIZE: 6000}, "run", "s.json", "--out", "out")
    assert done.returncode == 4
    assert "File too large; a limit on the size of files: raise it (ulimit -f)" in done.stderr
    (path,) = (tmp_path / "out").glob("*.jsonl")
    kinds = [line["type"] for line in lines_of(path)]
    assert kinds[0] == "header" and set(kinds[1:]) == {"trace"}, "whole lines, all that fit"


def large_file(path):
    path.write_text("user,item,rating\n" + "".join(f"{k % 9991},{k % 4999},{k % 5 + 1}\n" for k in range(400_000)))


def test_reading_ones_own_file_beyond_the_memory_names_it(limited, tmp_path):
    large_file(tmp_path / "own.csv")

    def with_room(mib, *words):
        return limited({resource.RLIMIT_AS: mib << 20}, *words, one_core=True)  # a stack for each thread counts

    # With room for all but the ratings, and a little more: what is mapped where differs from run to run.
    (tmp_path / "few.csv").write_text("user,item,rating\n1,2,3\n2,1,4\n")
    least = next(mib for mib in range(40, 4000, 2) if with_room(mib, "data", "stats", "few.csv").returncode == 0)
    seen = []
    for mib in range(least + 2, least + 200, 2):
        done = with_room(mib, "data", "stats", "own.csv")
        assert "error: out of memory" not in done.stderr, (mib, least)
        if "takes more memory than this process may have" in done.stderr:
            assert "own.csv: reading its" in done.stderr and "by ulimit -v" in done.stderr
            assert done.returncode == 6
            return
        seen.append((mib, done.returncode, done.stderr))
    raise AssertionError(f"no limit was met while it was read: {seen}")


def test_a_cache_that_may_not_be_as_large_is_a_warning_for_every_command(limited, tmp_path):
    large_file(tmp_path / "own.csv")
    done = limited({resource.RLIMIT_FSIZE: 1 << 20}, "data", "stats", "own.csv")
    assert done.returncode == 0, done.stderr
    assert "not cached" in done.stderr and "raise it (ulimit -f)" in done.stderr
    done = limited({resource.RLIMIT_FSIZE: 1 << 20}, "data", "import", "own", "own.csv")
    assert done.returncode == 4 and "ulimit -f" in done.stderr


def peak_of(mfbench, *arguments, cwd):
    """Its most memory, in bytes."""
    process = subprocess.Popen([mfbench.program, *map(str, arguments)], cwd=cwd, env=mfbench.environment(),
                               stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return used.ru_maxrss << 10


def write_long_result(path, seed, points):
    head = {"type": "header", "schema_version": 1, "case_id": path.stem, "case_hash": path.stem, "seed": seed,
            "algorithm": {"name": "als_cpu", "params": {"factors": 4}}, "dataset": {"name": "r.csv"}}
    trace = [{"type": "trace", "epoch": k, "train_s": k / 100, "test_rmse": 1 + 1 / (1 + k), "learning_rate": 0.01}
             for k in range(points)]
    foot = {"type": "footer", "status": "completed", "epochs": points - 1, "updates": points,
            "clocks": {"prepare_s": 1, "transfer_s": 0, "train_s": points / 100}}
    path.write_text("".join(json.dumps(line) + "\n" for line in [head, *trace, foot]))


@pytest.mark.parametrize("words", [("compare", "a", "b"), ("summarize", "a", "b", "--json")], ids=lambda words: words[0])
def test_one_curve_is_held_at_a_time(mfbench, tmp_path, words):
    peaks = []
    for count in (2, 20):
        for side in ("a", "b"):
            folder = tmp_path / f"{count}" / side
            folder.mkdir(parents=True)
            for seed in range(count):
                write_long_result(folder / f"c{seed}.jsonl", seed, 2000)
        peaks.append(peak_of(mfbench, *words, cwd=tmp_path / f"{count}"))
    # A curve of 2,000 points takes about 1.5 MiB, so those 36 more would take some 50.
    assert peaks[1] - peaks[0] < 8 << 20, peaks
