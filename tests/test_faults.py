"""Faults that a machine brings about: kill -9 at any moment, signals, full and read-only disks, several
runs on one folder. What was measured stays, what is half is never taken for whole, and the same command
goes on. Moments are random; the seed is printed, FAULT_SEED=N repeats it (as far as clocks let it)."""

import collections
import fcntl
import json
import os
import pathlib
import pty
import random
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import termios
import time

import pytest

from support import lines_of, wait_for, zipped

RUN_KILLS, IMPORT_KILLS, CACHE_KILLS, FETCH_KILLS, EXPORT_KILLS = 14, 10, 6, 8, 8
assert RUN_KILLS + IMPORT_KILLS + CACHE_KILLS + FETCH_KILLS + EXPORT_KILLS >= 40

SPEC = {
    "name": "fault",
    "datasets": [{"like": "ml-100k", "scale": 0.05}],
    "seeds": [1, 2],
    "stop": {"epochs": 5},
    "algorithms": [{"name": "ruler", "sleep_ms": 4, "factors": [1, 2]},
                   {"name": "sgd_serial", "factors": 8}],
}
CASES = 6
SLOW = {**SPEC, "seeds": [1], "algorithms": [{"name": "ruler", "sleep_ms": 30}]}


@pytest.fixture
def rng(request):
    seed = int(os.environ.get("FAULT_SEED") or random.SystemRandom().randrange(1_000_000))
    print(f"FAULT_SEED={seed}")
    return random.Random(f"{seed} {request.node.name}")


@pytest.fixture
def victim(mfbench, tmp_path, rng):
    """Kills a command `count` times, each in the middle of it; `check` looks at what each leaves.
    `prepare` comes before every start."""
    def start(arguments, **options):
        return subprocess.Popen([mfbench.program, *map(str, arguments)], cwd=tmp_path,
                                env=mfbench.environment(), stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, **options)

    def kill(arguments, count, duration, check, prepare=lambda: None):
        kills = 0
        for _ in range(10 * count):
            prepare()
            process = start(arguments)
            time.sleep(rng.uniform(0, 0.9) * duration)
            process.kill()
            process.wait()
            alive = process.returncode == -signal.SIGKILL
            kills += alive
            if not alive:  # `duration` was taken while the machine was busier than it is now
                duration *= 0.8
            check()
            if kills == count:
                return
        pytest.fail(f"only {kills} kills met a process that was still alive")

    kill.start = start
    return kill


def timed(call):
    start = time.monotonic()
    done = call()
    assert done.returncode == 0, done.stderr
    return time.monotonic() - start


def write_spec(folder, spec=None):
    (folder / "s.json").write_text(json.dumps(spec or SPEC))


def whole_lines(path):
    """Those that have their end: the last one may have been in the making."""
    return path.read_text().split("\n")[:-1]


def measured(folder):
    """What a run of deterministic algorithms gives: by case, the trace without its times."""
    results = {}
    for path in folder.glob("*.jsonl"):
        lines = [json.loads(line) for line in whole_lines(path)]
        kinds = [line["type"] for line in lines]
        assert kinds == ["header"] + ["trace"] * (len(lines) - 2) + ["footer"], path
        assert lines[-1]["status"] == "completed"
        results[lines[0]["case_hash"]] = [
            {key: line[key] for key in ("epoch", "updates", "test_rmse", "test_mae", "learning_rate")}
            for line in lines[1:-1]]
    return results


# ---- kill -9 ----

def test_a_killed_run_loses_no_line_and_ends_as_an_undisturbed_one(mfbench, victim, tmp_path):
    write_spec(tmp_path)
    command = ["run", "s.json", "--quiet", "--out"]
    duration = timed(lambda: mfbench(*command, "whole", cwd=tmp_path))
    expected = measured(tmp_path / "whole")
    assert len(expected) == CASES
    out = tmp_path / "out"
    lines, finished = collections.Counter(), {}

    def check():
        files = [*out.glob("*.jsonl"), *out.glob("*.partial-*")]
        now = collections.Counter(line for path in files for line in whole_lines(path))
        assert not lines - now, "a line that was whole is gone"
        lines.update(now - lines)
        for path in out.glob("*.jsonl"):
            text = path.read_text()
            if '"type":"footer"' in text:
                assert finished.setdefault(path.name, text) == text, "a case was run again"

    def begin_anew():
        if out.exists():
            shutil.rmtree(out)
        lines.clear()
        finished.clear()

    for _ in range(RUN_KILLS // 2):
        victim([*command, "out"], 2, duration, check,
               prepare=lambda: len(finished) == CASES and begin_anew())
        mfbench(*command, "out", cwd=tmp_path, code=0)
        check()
        assert measured(out) == expected
        assert not list(out.glob("*.tmp"))
        begin_anew()


def write_ratings(path, value):
    path.write_text("user,item,rating\n" + "".join(
        f"{u},{i},{(u * i + value) % 5 + 1}\n" for u in range(1, 401) for i in range(1, 301)))


def content(mfbench, tmp_path, word):
    """The content hash of a set, or nothing if no set has that name."""
    done = mfbench("data", "stats", word, "--json", cwd=tmp_path)
    if done.returncode == 0:
        assert "corrupt" not in done.stderr and "cut" not in done.stderr, done.stderr
        return json.loads(done.stdout)["content_hash"]
    assert "unknown data set" in done.stderr, done.stderr
    return None


def test_a_killed_import_leaves_the_old_set_or_the_new_one(mfbench, victim, tmp_path, rng):
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    known = []
    for number, path in enumerate(files):
        write_ratings(path, number)
        known.append(content(mfbench, tmp_path, path))
    assert known[0] != known[1]
    command = ["data", "import", "killed", files[0]]
    duration = timed(lambda: mfbench("data", "import", "other", files[0], cwd=tmp_path))
    seen = {None}

    def check():
        now = content(mfbench, tmp_path, "killed")
        assert now in seen, "neither what was there nor what was to come"

    seen.add(known[0])
    victim(command, 2, duration, check)
    assert mfbench(*command, "--replace", cwd=tmp_path).returncode == 0
    seen.clear()
    seen.update(known)
    for number in range(IMPORT_KILLS - 2):
        victim(["data", "import", "killed", files[number % 2], "--replace"], 1, duration, check)
    assert mfbench(*command, "--replace", cwd=tmp_path).returncode == 0
    assert content(mfbench, tmp_path, "killed") == known[0]


def test_a_killed_build_of_the_cache_is_built_again(mfbench, victim, tmp_path):
    path = tmp_path / "c.csv"
    write_ratings(path, 2)
    command = ["data", "stats", path]
    duration = timed(lambda: mfbench(*command, cwd=tmp_path))
    expected = content(mfbench, tmp_path, path)
    victim(command, CACHE_KILLS, duration,
           lambda: content(mfbench, tmp_path, path) == expected or pytest.fail("other ratings"),
           prepare=lambda: os.utime(path))


@pytest.fixture
def mirror(file_server):
    """A slow one."""
    text = b"userId,movieId,rating,timestamp\n" + b"".join(
        b"%d,%d,%d,1\n" % (u, i, (u * i) % 5 + 1) for u in range(1, 301) for i in range(1, 301))
    archive = zipped([("ml-latest-small/ratings.csv", text)])  # stored: its size is that of the text
    file_server.answers = [{"content": archive, "seconds": 0.4}]
    return file_server.url, text


def test_a_killed_fetch_is_never_taken_for_whole(mfbench, victim, mirror, tmp_path, monkeypatch):
    pytest.importorskip("pooch", reason="data fetch needs python3-pooch")
    monkeypatch.setenv("PYTHON", sys.executable)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    url, text = mirror
    command = ["data", "fetch", "ml-latest-small", "--mirror", url, "--quiet", "--into"]
    duration = timed(lambda: mfbench(*command, "whole", cwd=tmp_path))
    assert (tmp_path / "whole/ml-latest-small/ratings.csv").read_bytes() == text
    folder = tmp_path / "out/ml-latest-small"
    ratings = folder / "ratings.csv"

    def check():
        assert not ratings.exists() or ratings.read_bytes() == text
        if (folder / "fetched.json").exists():
            assert json.loads((folder / "fetched.json").read_text())

    for _ in range(FETCH_KILLS // 2):
        victim([*command, "out"], 2, duration, check,
               prepare=lambda: ratings.exists() and shutil.rmtree(folder))
        mfbench(*command, "out", cwd=tmp_path, code=0)
        check()
        assert {path.name for path in folder.iterdir()} - {".fetch.lock"} == {
            "ratings.csv", "fetched.json"}
        shutil.rmtree(folder)


def test_a_killed_export_leaves_old_tables_or_new_ones(mfbench, victim, tmp_path):
    write_spec(tmp_path)
    assert mfbench("run", "s.json", "--out", "r/0", "--quiet", cwd=tmp_path).returncode == 0
    for number in range(1, 60):  # many cases, so that it takes its time
        shutil.copytree(tmp_path / "r/0", tmp_path / f"r/{number}")
    tables = [tmp_path / "cases.csv", tmp_path / "trace.csv"]
    command = ["summarize", *sorted((tmp_path / "r").iterdir()), "--out", *tables]
    duration = timed(lambda: mfbench(*command, cwd=tmp_path))
    new = [path.read_bytes() for path in tables]
    old = [b"old\n", b"older\n"]

    def prepare():
        for path, text in zip(tables, old):
            path.write_bytes(text)

    def check():
        for path, one, other in zip(tables, old, new):
            assert path.read_bytes() in (one, other)

    victim(command, EXPORT_KILLS, duration, check, prepare)
    assert mfbench(*command, cwd=tmp_path).returncode == 0
    assert [path.read_bytes() for path in tables] == new
    assert not list(tmp_path.glob("*.tmp"))


# ---- signals ----

def has_begun(folder):
    """A case is being trained."""
    return any('"type":"trace"' in path.read_text() for path in folder.glob("*.jsonl"))


def check_interrupted_then_resume(mfbench, tmp_path, signal_name=""):
    (path,) = (tmp_path / "out").glob("*.jsonl")
    lines = [json.loads(line) for line in whole_lines(path)]
    assert lines[-1]["status"] == "interrupted", signal_name
    assert lines[-2]["epoch"] == lines[-1]["epochs"], "the last epoch was evaluated"
    again = mfbench("run", "s.json", "--out", "out", cwd=tmp_path, code=0)
    assert "was interrupted after" in again.stderr and f"what was measured is in out/{path.name}.partial-1" in again.stderr
    assert json.loads(whole_lines(path)[-1])["status"] == "completed"
    assert len(list((tmp_path / "out").glob("*.partial-1"))) == 1, "what was measured is kept"


@pytest.mark.parametrize("name, code", [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_ends_the_epoch_and_has_its_exit_code(mfbench, victim, tmp_path, name, code):
    write_spec(tmp_path, SLOW)
    number = getattr(signal, name)
    process = victim.start(["run", "s.json", "--out", "out"],
                           preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
    wait_for(lambda: has_begun(tmp_path / "out"), "trace point")
    process.send_signal(number)
    assert process.wait(timeout=300) == code
    check_interrupted_then_resume(mfbench, tmp_path, name)


def test_nohup_keeps_a_run_alive(mfbench, victim, tmp_path):
    write_spec(tmp_path, SLOW)
    process = victim.start(["run", "s.json", "--out", "out"],
                           preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    wait_for(lambda: has_begun(tmp_path / "out"), "trace point")
    process.send_signal(signal.SIGHUP)
    assert process.wait(timeout=300) == 0


def test_a_terminal_that_goes_away_loses_nothing(mfbench, tmp_path):
    write_spec(tmp_path, SLOW)
    master, slave = pty.openpty()

    def take_terminal():
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    process = subprocess.Popen([mfbench.program, "run", "s.json", "--out", "out"], cwd=tmp_path,
                               env=mfbench.environment(), stdin=slave, stdout=slave, stderr=slave,
                               start_new_session=True, preexec_fn=take_terminal)
    os.close(slave)
    wait_for(lambda: has_begun(tmp_path / "out"), "trace point")
    os.close(master)
    assert process.wait(timeout=300) == 129
    check_interrupted_then_resume(mfbench, tmp_path)


# ---- several runs ----

def test_runs_on_one_folder_do_not_disturb_each_other(mfbench, victim, tmp_path):
    write_spec(tmp_path)
    assert mfbench("run", "s.json", "--out", "whole", cwd=tmp_path).returncode == 0
    runs = [victim.start(["run", "s.json", "--out", "out"]) for _ in range(4)]
    assert [process.wait(timeout=300) for process in runs] == [0, 0, 0, 0]
    assert measured(tmp_path / "out") == measured(tmp_path / "whole")
    assert not list((tmp_path / "out").glob("*.partial-*"))


# ---- disks ----

@pytest.fixture
def on_small_disk(mfbench, tmp_path):
    """Runs a shell script with $MFBENCH in a folder "disk" of 256 KiB that only it sees."""
    def run(script, options="size=256k"):
        mount = f"mount -t tmpfs -o {options} small disk"
        (tmp_path / "disk").mkdir(exist_ok=True)
        probe = subprocess.run(["unshare", "-rm", "sh", "-c", mount], cwd=tmp_path, text=True,
                               capture_output=True)
        if probe.returncode != 0:
            pytest.skip(f"no file system of its own can be mounted here: {probe.stderr.strip()}")
        environment = {**mfbench.environment(), "MFBENCH": mfbench.program}
        return subprocess.run(["unshare", "-rm", "sh", "-c", mount + "\n" + script], cwd=tmp_path,
                              env=environment, text=True, capture_output=True, timeout=300)

    if not shutil.which("unshare"):
        pytest.skip("unshare is not installed: no small disk can be mounted")
    return run


def codes_of(done):
    return [int(code) for code in re.findall(r"^rc=(\d+)$", done.stdout, re.MULTILINE)]


def test_a_full_disk_keeps_what_was_measured_and_the_run_resumes(mfbench, on_small_disk, tmp_path):
    write_spec(tmp_path)
    done = on_small_disk("""
        head -c 240k /dev/zero > disk/filler
        $MFBENCH run s.json --out disk/out --quiet >/dev/null; echo rc=$?
        cp -r disk/out full
        rm disk/filler
        $MFBENCH run s.json --out disk/out --quiet >/dev/null; echo rc=$?
        cp -r disk/out after
    """)
    assert codes_of(done) == [4, 0], done.stderr
    assert "No space left on device; the disk is full: free some space" in done.stderr
    assert mfbench("run", "s.json", "--out", "whole", cwd=tmp_path).returncode == 0
    assert measured(tmp_path / "after") == measured(tmp_path / "whole")
    for path in (tmp_path / "full").glob("*.jsonl"):
        for line in path.read_text().splitlines():
            json.loads(line)
        text = path.read_text()
        if '"type":"footer"' in text:
            assert (tmp_path / "after" / path.name).read_text() == text


def test_a_case_whose_model_found_no_room_runs_again(mfbench, on_small_disk, tmp_path):
    """By the same command, as the message says; what has been measured is kept."""
    spec = {**SPEC, "seeds": [1], "save_model": True, "algorithms": [{"name": "sgd_serial", "factors": 256}]}
    (tmp_path / "s.json").write_text(json.dumps(spec))
    done = on_small_disk("""
        head -c 1960k /dev/zero > disk/filler
        $MFBENCH run s.json --out disk/out --quiet >/dev/null; echo rc=$?
        $MFBENCH run s.json --out disk/out --quiet >/dev/null; echo rc=$?
        cp -r disk/out full
        rm disk/filler
        $MFBENCH run s.json --out disk/out --quiet >/dev/null; echo rc=$?
        $MFBENCH run s.json --out disk/out >again; echo rc=$?
        cp -r disk/out after
    """, "size=2m")
    assert codes_of(done) == [1, 1, 0, 0], done.stderr
    assert "the disk is full: free some space; then run the same command again" in done.stderr
    (unsaved,) = [path.name for path in (tmp_path / "full").glob("*.jsonl") if lines_of(path)[-1]["status"] == "error"]
    assert lines_of(tmp_path / "full" / unsaved)[-1]["unsaved_model"] is True
    assert len(list((tmp_path / "after/models").iterdir())) == 1 and len(list((tmp_path / "after").glob("*.partial-*"))) == 2
    assert "0 run now, 1 finished before" in (tmp_path / "again").read_text()


def test_output_that_cannot_be_written_is_an_error(mfbench, tmp_path):
    write_spec(tmp_path)
    for words in ("list", "validate s.json", "describe als"):
        with open("/dev/full", "w") as full:
            done = subprocess.run([mfbench.program, *words.split()], cwd=tmp_path, stdout=full,
                                  stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 4, words
        assert "what was printed could not be written: No space left on device" in done.stderr


def test_a_full_disk_leaves_no_half_cache_export_or_spec(mfbench, on_small_disk, tmp_path):
    write_ratings(tmp_path / "a.csv", 1)
    write_spec(tmp_path)
    assert mfbench("run", "s.json", "--out", "r", "--quiet", cwd=tmp_path).returncode == 0
    done = on_small_disk("""
        export MFBENCH_CACHE=disk/cache
        $MFBENCH data import x a.csv >/dev/null; echo rc=$?
        ls disk/cache | grep -v lock >&2
        $MFBENCH data stats a.csv >/dev/null; echo rc=$?
        echo old > disk/cases.csv; echo old > disk/trace.csv
        head -c 400k /dev/zero > disk/filler 2>/dev/null
        $MFBENCH summarize r --out disk/cases.csv disk/trace.csv >/dev/null; echo rc=$?
        cat disk/cases.csv disk/trace.csv; ls disk
        $MFBENCH run s.json --out disk/out >/dev/null; echo rc=$?
    """)
    assert codes_of(done) == [4, 0, 4, 4], done.stdout + done.stderr
    assert done.stdout.count("old\n") == 2
    assert ".mfc" not in re.sub(r".*(error|warning).*", "", done.stderr), "half a cache file"
    assert ".tmp" not in done.stdout
    assert "not cached, will be built again next time" in done.stderr
    assert done.stderr.count("the disk is full") == 4


def test_a_read_only_disk_is_named(mfbench, on_small_disk, tmp_path):
    write_spec(tmp_path)
    done = on_small_disk("""
        $MFBENCH run s.json --out disk/out; echo rc=$?
        MFBENCH_CACHE=disk/cache $MFBENCH run s.json --out out --quiet > /dev/null; echo rc=$?
    """, options="ro")
    assert codes_of(done) == [4, 0], done.stderr
    assert "disk/out: the folder cannot be created: Read-only file system" in done.stderr
    assert len(measured(tmp_path / "out")) == CASES


def nobody():
    """Options of a process that may not write where it should not: root may write anywhere."""
    return {"user": 65534, "group": 65534, "extra_groups": []} if os.getuid() == 0 else {}


def test_folders_without_permission_are_named_and_results_in_them_are_read(mfbench):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        write_spec(folder)
        assert mfbench("run", "s.json", "--out", "out", "--quiet", cwd=folder).returncode == 0
        ratings = "".join(f"{u} {i} {(u + i) % 5 + 1}\n" for u in range(1, 9) for i in range(1, 9))
        (folder / "d.txt").write_text(ratings)
        (folder / "d.json").write_text(json.dumps({**SPEC, "datasets": ["d.txt"]}))
        (folder / "mine").mkdir()
        (folder / "mine").chmod(0o777)
        for path in (folder, folder / "out"):
            path.chmod(stat.S_IRUSR | stat.S_IXUSR | stat.S_IRGRP | stat.S_IXGRP | 0o005)
        try:
            def run(*arguments):
                return subprocess.run([mfbench.program, *arguments], cwd=folder, text=True,
                                      capture_output=True, timeout=300, **nobody(),
                                      env={**mfbench.environment(), "MFBENCH_CACHE": name + "/c"})
            if run("--version").returncode != 0:
                pytest.skip("another user may not run the program here")
            new = run("run", "s.json", "--out", "new")
            assert new.returncode == 4
            assert "new: the folder cannot be created: Permission denied; look at the owner" in new.stderr
            old = run("run", "s.json", "--out", "out")
            assert old.returncode == 4 and "Permission denied" in old.stderr
            assert run("summarize", "out", "--out", "mine/a.csv", "mine/b.csv").returncode == 0
            uncached = run("run", "d.json", "--out", "mine/out", "--quiet")
            assert uncached.returncode == 0, uncached.stderr
            assert "not cached, will be built again next time" in uncached.stderr
        finally:
            for path in (folder, folder / "out"):
                path.chmod(0o755)


def test_an_epoch_without_a_number_keeps_the_best_of_before(mfbench, tmp_path):
    spec = {"name": "nan", "datasets": [{"like": "ml-100k", "scale": 0.05}], "stop": {"epochs": 5},
            "evaluate": {"ranking": True}, "seeds": 1,
            "algorithms": [{"name": "sgd_serial", "factors": 8, "learning_rate": 0.3, "reg": 0.02}]}
    mfbench("run", "s.json", "--out", "out", cwd=tmp_path, spec=spec)
    (path,) = (tmp_path / "out").glob("*.jsonl")
    lines = lines_of(path)
    seen = [line["test_rmse"] for line in lines if line["type"] == "trace"]
    assert lines[-1]["status"] == "diverged" and seen[-1] is None
    assert lines[-1]["best_test_rmse"] == seen[1] == min(seen[1:-1]) > seen[0], "epoch 0 is no best"
