"""Peers: other people's libraries in a process of their own. Faults come from tests/fake_peer.py; tests
of real libraries skip, and say so, where ./dev peers has not installed them."""

import contextlib
import fcntl
import json
import os
import pathlib
import random
import re
import resource
import signal
import socket
import subprocess
import tempfile
import time

import pytest

from peer_runs import FAKE, MODES, ROOT, fake, fakes, results, run, spec  # noqa: F401
from support import is_gone, wait_for


def gone(pid):
    return wait_for(lambda: is_gone(pid), "end of it")


# ---- faults --------------------------------------------------------------------------------------

FAULTS = {
    "exits": ("error", "ended with code 1 before it had answered; it printed last: "
              "$MFBENCH_PEER_SCRIPTS/libmf/adapter.py: there is no such module"),
    "hangs": ("timeout", "gave no answer within 1.0 s"),
    "hangs_in_training": ("timeout", "gave no answer within 1.0 s"),
    "nan": ("diverged", "is not finite"),
    "short": ("error", "the file is cut short or damaged"),
    "killed": ("error", "was killed by signal 9"),
    "nonsense": ("error", 'expected a message "hello", found'),
    "not_text": ("error", 'expected a message "hello", found'),
    "other_message": ("error", 'expected a message "converted", found'),
    "other_epoch": ("error", "$.epoch: found the number 2, expected an integer from 1 to 1"),
    "huge_line": ("error", "a line of more than 65536 bytes"),
    "eats_memory": ("oom", "are for it (memory_gb)"),
    "asks_for_all": ("oom", "refused within "),
    "says_no_memory": ("oom", "cannot allocate"),
    "wrong_shape": ("error", "the shape 2 x"),
    "wrong_type": ("error", "<i4"),
    "outside": ("error", "expected the name of a file in its folder"),
    "link": ("error", "p.npy: found a link, expected a file"),
    "pipe": ("error", "p.npy: found a pipe, expected a file"),
    "lies_about_time": ("error", "it says that it has trained 1000"),
    "negative_time": ("error", "$.train_s: found the number -1"),
    "closes": ("error", "it closed its channel and went on running"),
    "prints_much": ("error", "it printed more than 64.0 MiB"),
    "one_message_too_many": ("error", 'expected a message "model", found'),
    "unsupported": ("skipped", "it needs a device"),
    "no_file": ("error", "p.npy: found no such file"),
    "unknown_key": ("error", "$.r: unknown key"),
    "says_why": ("error", "ValueError: $MFBENCH_PEER_SCRIPTS/libmf/adapter.py \\x1b[31mred"),
    "fills_its_folder": ("error", "MiB in its folder (scratch_gb)"),
    "writes_to_data": ("completed", "3 epochs"),
    "drips": ("timeout", "gave no answer within 1.0 s"),
    "nests": ("error", 'expected a message "hello", found'),
    "floods": ("error", 'the key "protocol" is missing'),
    "kills_its_supervisor": ("error", " before it had answered"),  # or its supervisor is gone
    "replaces_what_it_was_given": ("completed", "3 epochs"),
    "fills_a_memfd": ("oom", "are for it (memory_gb)"),
    "hides_its_files": ("oom", "(memory_gb)"),
    "fills_a_file_without_a_name": ("error", "MiB in its folder (scratch_gb)"),
    "maps_what_it_shares": ("completed", "3 epochs"),
    "well": ("completed", "3 epochs"),
}
LIMITS = {
    "fills_its_folder": {"scratch_gb": 0.001},
    "hangs": {"timeout_s": 1},
    "drips": {"timeout_s": 1},
    "hangs_in_training": {"timeout_s": 1},
    "eats_memory": {"memory_gb": 0.1},
    "asks_for_all": {"memory_gb": 0.1, "threads": 1},
    "fills_a_memfd": {"timeout_s": 20, "memory_gb": 0.1},
    "hides_its_files": {"timeout_s": 20, "memory_gb": 0.1},
    "fills_a_file_without_a_name": {"timeout_s": 20, "scratch_gb": 0.05},
    "maps_what_it_shares": {"timeout_s": 20, "memory_gb": 0.11},
}


def test_every_fault_is_a_status_and_the_run_goes_on(mfbench, fakes):
    algorithms = [fake(mode, **LIMITS.get(mode, {"timeout_s": 20})) for mode in FAULTS]
    found = run(mfbench, fakes, spec(algorithms), code=1)
    wrong = []
    for (mode, (status, reason)), (header, trace, footer, path) in zip(FAULTS.items(), found):
        assert header["algorithm"]["params"]["bins"] == MODES.index(mode)
        if footer["status"] != status or reason not in footer["stop_reason"]:
            wrong.append(f"{mode}: {footer['status']}, {footer['stop_reason']}")
        assert str(fakes) not in footer["stop_reason"] and "/dev/shm" not in footer["stop_reason"]
        log = path.with_suffix(".stderr")
        assert log.exists() == (mode in ("exits", "prints_much")) or mode == "kills_its_supervisor", mode
        if mode == "eats_memory":
            assert footer["peer"]["peak_bytes"] > 0.1 * 2**30 and footer["peer"]["calls"] == 0
        if mode == "prints_much":
            assert log.stat().st_size == 1 << 20
        if mode == "exits":
            assert log.read_text().endswith("libmf/adapter.py: there is no such module\n\n")
            assert log.name in footer["stop_reason"]
    assert not wrong, "\n".join(wrong)


ANSWERS = {
    "hello": {"protocol": 1, "library": "libmf", "version": "0.1", "each_epoch": False, "warm_up_s": None, "build": {"a": 1}},
    "converted": {"seconds": 0.25},
    "epoch": {"epoch": 3, "train_s": 1.5, "rmse": 0.9},
    "model": {"p": "p.npy", "q": "q.npy", "mean": 3.5},
    "done": {"peak_device_bytes": 12345},
}


def test_an_answer_is_what_was_asked_for_or_wrong(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "peers" / "common"))
    from answers import Wrong, checked

    order = {"library": "libmf", "each_epoch": False, "request": {"evaluated_by": "program"}}
    words = ["", "null", "true", "-1", "1e999", "NaN", "[]", "{}", '"', '"type"', "[" * 2000, "\0", "../p", "9" * 5000, "\\ud800"]
    chance, wrong = random.Random(1), 0
    for type_, keys in ANSWERS.items():
        line = json.dumps({"type": type_, **keys})
        assert checked(line, type_, order, 3) == json.loads(line)
        for _ in range(150):
            at, to = sorted(chance.choices(range(len(line) + 1), k=2))
            try:
                found = checked(line[:at] + chance.choice(words) + line[to:], type_, order, 3)
            except Wrong as error:
                wrong += 1
                assert len(str(error)) < 500
            else:
                assert found["type"] in (type_, "error") and json.dumps(found, allow_nan=False, ensure_ascii=False).encode()
    assert wrong > 500
    for build in ('{"a": ' + "[" * 150 + "]" * 150 + "}", '{"a": ' + "9" * 400 + "}"):
        line = json.dumps({"type": "hello", **ANSWERS["hello"], "build": 0}).replace('"build": 0', f'"build": {build}')
        with pytest.raises(Wrong):
            checked(line, "hello", order, 3)
    with pytest.raises(Wrong, match="found true, expected an integer from 3 to 3"):
        checked(json.dumps({"type": "epoch", **ANSWERS["epoch"], "epoch": True}), "epoch", order, 3)


def test_a_peer_that_hangs_is_named_before_timeout_s_ends_it(mfbench, fakes):
    what = spec([fake("hangs", timeout_s=1)])
    done = mfbench("run", "spec.json", "--out", "out", "--quiet", cwd=fakes, spec=what, code=1)
    assert re.search(r"info: the peer libmf has not answered for \d+ s; timeout_s ends the wait after 1 s; it printed nothing", done.stderr)


def test_wall_seconds_end_a_peer_that_hangs(mfbench, fakes):
    hangs = [fake(mode, timeout_s=1000) for mode in ("hangs", "hangs_in_training")]
    (_, _, start, _), (_, _, training, _) = run(mfbench, fakes, spec(hangs, stop={"epochs": 3, "wall_seconds": 1}), code=1)
    assert start["status"] == training["status"] == "timeout"
    assert re.match(r"wall_seconds: \d+\.\d s were spent, the last .* of them waiting for the peer", start["stop_reason"])
    # On a slow machine the start alone takes the second, and epoch 1 does not begin.
    assert re.match("wall_seconds: .* waiting for the peer|wall time limit .* after epoch 0", training["stop_reason"])


@pytest.mark.parametrize("mode, what", [
    ("writes_outside", "writes"), ("writes_to_terminal", "writes"), ("truncates", "truncation"),
    ("kills_mfbench", "signals")])
def test_a_peer_is_confined_to_its_folder_and_its_processes(mfbench, fakes, mode, what):
    confined = json.loads(mfbench("doctor", "--json", cwd=fakes).stdout)["peers_confined"]
    if what not in confined:
        pytest.skip(f"this kernel does not keep a process from {what}: it has no Landlock that does")
    ours = {"name": "sgd_serial", "factors": 2}
    (_, _, footer, _), (_, _, after, _) = run(mfbench, fakes, spec([fake(mode, timeout_s=20), ours]), code=1)
    assert footer["status"] == "error" and re.search("PermissionError|Read-only|FileNotFound", footer["stop_reason"])
    assert after["status"] == "completed" and not (fakes / "scripts/libmf/outside").exists()
    assert (fakes / "scripts/libmf/peer.json").read_text()
    (header, *_), _ = run(mfbench, fakes, spec([fake("well"), ours]), code=0)
    assert header["facts"]["confined"] == confined


def test_shared_memory_counts_and_goes(mfbench, fakes):
    """Files in /dev/shm that it has not mapped, and what System V keeps when its process has ended."""
    confined = json.loads(mfbench("doctor", "--json", cwd=fakes).stdout)["peers_confined"]
    if "modes" not in confined:
        pytest.skip("this kernel gives no mount namespace, so /dev/shm is that of all")
    key = str((1 << 28) + os.getpid())
    (fakes / "scripts/libmf/key").write_text(key)
    ((_, _, footer, _),) = run(mfbench, fakes, spec([fake("fills_shared_memory", timeout_s=20, memory_gb=0.1)]), code=1)
    assert footer["status"] == "oom" and "are for it (memory_gb)" in footer["stop_reason"]
    assert not os.path.exists(f"/dev/shm/{key}")
    assert key not in pathlib.Path("/proc/sysvipc/msg").read_text().split()


# By what a kernel may lack: the line of confinement.py that finds it.
LACKING = {"nothing": "", "processes": "    def own_processes():\n", "mounts": "def hide(folder, kept, memory_bytes, processes):\n"}
GONE = {"nothing": set(), "processes": {"processes"}, "mounts": {"modes", "sockets", "processes"}}


def lacks(scripts, lacking):
    confinement, line = scripts / "common" / "confinement.py", LACKING[lacking]
    head, found, tail = confinement.read_text().partition(line or "\n")
    assert found
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    confinement.write_text(head + found + (f"{indent}raise OSError\n" if line else "") + tail)


@pytest.mark.parametrize("lacking", ["nothing", "processes"])
def test_what_libraries_do_beside_training_is_not_kept_from_them(mfbench, fakes, lacking):
    """Caches, temporary files, shared memory, sockets, names of threads and processes of their own."""
    lacks(fakes / "scripts", lacking)
    confined = json.loads(mfbench("doctor", "--json", cwd=fakes).stdout)["peers_confined"]
    assert not GONE[lacking] & set(confined)
    adapter = fakes / "scripts" / "libmf" / "adapter.py"
    adapter.write_text(f"CONFINED = {'writes' in confined}\n" + (ROOT / "tests" / "as_libraries_do.py").read_text() +
                       FAKE.read_text())
    ((header, _, footer, path),) = run(mfbench, fakes, spec([fake("well", timeout_s=60)]))
    assert footer["status"] == "completed", path.with_suffix(".stderr").read_text()
    assert "what_it_reads" in path.with_suffix(".stderr").read_text()
    assert header["facts"]["confined"] == confined


@pytest.fixture
def listeners():
    """Where a session, a container or a terminal may have sockets through which anything can be started."""
    with contextlib.ExitStack() as all_:
        places = []
        for parent in ("/tmp", "/dev/shm", *(["/run"] if os.access("/run", os.W_OK) else [])):
            place = all_.enter_context(tempfile.TemporaryDirectory(dir=parent)) + "/socket"
            server = all_.enter_context(socket.socket(socket.AF_UNIX))
            server.bind(place)
            server.listen(20)
            places.append(place)
        yield places


@pytest.mark.parametrize("lacking", LACKING)
def test_a_peer_does_not_end_the_run_or_change_the_next_case(mfbench, fakes, listeners, lacking):
    """It knows the number of mfbench and where the results are; all that it tries fails, and the next cases are as before."""
    scripts = fakes / "scripts"
    lacks(scripts, lacking)
    (scripts / "libmf" / "results").write_text(str(fakes / "out"))
    (scripts / "libmf" / "succeeds").write_text("modes" if lacking == "mounts" else "")
    (scripts / "libmf" / "listeners").write_text("\n".join(listeners))
    (scripts / "libmf" / "adapter.py").write_text((ROOT / "tests/as_strangers_do.py").read_text() + FAKE.read_text())
    state = "[os.getpriority(0, 0), os.sched_getscheduler(0), sorted(os.sched_getaffinity(0)), resource.getrlimit(7)]"
    (scripts / "implicit" / "adapter.py").write_text(FAKE.read_text().replace("build={", f"build={{'state': {state}, "))
    other = {"name": "peer", "library": "implicit", "factors": 2, "algorithm": "als"}
    (fakes / "spec.json").write_text(json.dumps(spec([fake("well"), other, {"name": "sgd_serial", "factors": 2}])))
    done = subprocess.run(["sh", "-c", 'echo $$ > scripts/libmf/pid; exec "$0" run spec.json --out out --quiet', mfbench.program],
                          cwd=fakes, env=mfbench.environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (header, _, footer, path), (after, *_), (_, _, ours, _) = results(fakes / "out")
    assert footer["status"] == ours["status"] == "completed"
    confined, own = header["facts"]["confined"], after["facts"]["build"]["state"]
    assert not GONE[lacking] & set(confined)
    assert ("sockets stay open to it" in mfbench("doctor", cwd=fakes).stdout) == bool(confined and "sockets" not in confined)
    tried = [line.split() for line in path.with_suffix(".stderr").read_text().splitlines()]
    assert len(tried) > 15
    assert footer["peer"]["set_back"] == (["affinity"] if ["processes", "affinity", "done"] in tried else [])
    wrong = [" ".join(one) for one in tried if one[0] in confined and one[2] == "done"]
    assert not wrong, wrong
    assert own == [os.getpriority(0, 0), os.sched_getscheduler(0), sorted(os.sched_getaffinity(0)), list(resource.getrlimit(7))]
    if not confined:
        pytest.skip("this kernel confines no peer")


def test_what_has_changed_of_a_process_is_set_back(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "peers" / "common"))
    from caller import set_back, state_of

    with subprocess.Popen(["sleep", "600"]) as other:
        before = state_of(other.pid)
        assert set_back(other.pid, before) == []
        for kind in (resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE):
            resource.prlimit(other.pid, kind, (3, resource.prlimit(other.pid, kind)[1]))
        os.sched_setscheduler(other.pid, os.SCHED_BATCH, os.sched_param(0))
        os.sched_setaffinity(other.pid, {min(os.sched_getaffinity(0))})
        assert set(set_back(other.pid, before)) >= {"limits", "policy"}
        assert state_of(other.pid) == before
        os.setpriority(os.PRIO_PROCESS, other.pid, os.getpriority(os.PRIO_PROCESS, 0) + 1)
        assert set_back(other.pid, before) == ["priority"]
        assert (state_of(other.pid) == before) == (os.geteuid() == 0)
        other.kill()


def test_a_peer_may_go_in_each_state_of_the_protocol(mfbench, fakes):
    """A case that lacks an answer says how the peer went; one that lacks only its farewell stands."""
    going = [mode for mode in MODES if mode.startswith("leaves_") and mode[7].isdigit()]
    ours = {"name": "sgd_serial", "factors": 2}
    assert len(going) == 24
    *found, (_, _, last, _) = run(mfbench, fakes, spec([*(fake(mode, timeout_s=20) for mode in going), ours]), code=1)
    wrong = []
    for mode, (_, trace, footer, _) in zip(going, found):
        _, how, state = mode.split("_")
        went = "was killed by signal 9 (Killed)" if how == "9" else f"ended with code {how}"
        told = footer["peer"]["ended"] if state == "end" else footer["stop_reason"]
        if footer["status"] != ("completed" if state == "end" else "error") or f"{went} before it had answered" not in told:
            wrong.append(f"{mode}: {footer['status']}, {told}")
        if len(trace) != {"epoch": 1, "asked": 1, "model": 2, "end": 4}.get(state, 1 if state in ("converted", "train") else 0):
            wrong.append(f"{mode}: {len(trace)} points")
    assert last["status"] == "completed" and not wrong, "\n".join(wrong)


@pytest.mark.parametrize("kind", ["link", "dangling", "pipe"])
def test_what_stands_where_a_peer_is_to_print_is_replaced(mfbench, fakes, kind):
    what, mine, new = spec([fake("exits")]), fakes / "mine", fakes / "new"
    mine.write_text("what the user keeps")
    ((_, _, _, path),) = run(mfbench, fakes, what, code=1)
    log = path.with_suffix(".stderr")
    log.unlink()
    os.mkfifo(log) if kind == "pipe" else log.symlink_to(mine if kind == "link" else new)
    ((_, _, footer, _),) = run(mfbench, fakes, what, "--retry", code=1)
    assert "there is no such module" in footer["stop_reason"]
    assert log.is_file() and not log.is_symlink() and "no such module" in log.read_text()
    assert mine.read_text() == "what the user keeps" and not new.exists()


def test_files_that_change_while_they_are_read_are_no_crash(mfbench, fakes):
    ((_, _, footer, _),) = run(mfbench, fakes, spec([fake("changes_its_model", timeout_s=20)]))
    assert footer["status"] == "completed" or "p.npy" in footer["stop_reason"], footer["stop_reason"]


def test_a_peer_that_cannot_fit_is_not_started(mfbench, fakes):
    """By what its library takes as measured, in `plan` and in `run` alike."""
    what = spec([fake("exits", memory_gb=0.02), fake("well")])
    done = mfbench("plan", "spec.json", "--no-measure", "--json", cwd=fakes, spec=what)
    small, large = json.loads(done.stdout)["cases"]
    assert "memory, 20.5 MiB are for it (memory_gb)" in small["note"] and large["note"] == ""
    assert small["process_bytes"] > 40e6 and small["process_unknown"] == ""
    assert small["all_host_bytes"] >= small["host_bytes"]
    text = mfbench("plan", "spec.json", "--no-measure", cwd=fakes).stdout
    assert "its process: 4" in text and "NOT RUNNABLE HERE: its process needs" in text
    (_, _, refused, _), (_, _, done, _) = run(mfbench, fakes, what, code=1)
    assert refused["status"] == "oom" and small["note"] == refused["stop_reason"]
    assert "files_for_peer" not in refused["phases"] and refused.get("peer") is None
    assert done["peer"]["planned_bytes"] == large["process_bytes"]


def test_the_plan_says_what_a_library_finds_out_when_it_starts(mfbench, fakes):
    """As a run would, and goes on with the others."""
    what = spec([fake("unsupported"), fake("well"), fake("drips", timeout_s=1)])
    done = mfbench("plan", "spec.json", "--json", cwd=fakes, spec=what)
    assert done.returncode == 0, done.stderr
    skipped, well, slow = json.loads(done.stdout)["cases"]
    assert "it needs a device" in skipped["note"] and skipped["train_s"] is None
    assert well["note"] == "" and well["train_s"] > 0
    assert slow["note"] == "" and slow["train_s"] is None
    ((_, _, footer, _),) = run(mfbench, fakes, spec([fake("unsupported")]))
    assert footer["stop_reason"] == skipped["note"]


def test_a_program_is_planned_without_its_process(mfbench, tmp_path):
    what = spec([{"name": "peer", "library": "cumf_sgd", "program": "sgd"}])
    done = mfbench("plan", "spec.json", "--no-measure", "--json", cwd=tmp_path, spec=what)
    (case,) = json.loads(done.stdout)["cases"]
    assert case["process_bytes"] is None and "a program of one's own" in case["process_unknown"]
    assert "its process: unknown" in mfbench("plan", "spec.json", "--no-measure", cwd=tmp_path).stdout


# ---- what is shared ------------------------------------------------------------------------------

def data_of(case):
    return case[0]["facts"]["build"]["data"]


def test_the_training_part_is_written_once(mfbench, fakes):
    ours = {"name": "sgd_serial", "factors": 2}
    other = {"name": "peer", "library": "implicit", "factors": 2}
    what = spec([fake("well"), ours, fake("well", reg=0.1), fake("exits"), other, ours | {"factors": 3}])
    first, _, second, _, third, _ = run(mfbench, fakes, what, code=1)
    assert data_of(first) == data_of(second) == data_of(third)
    assert first[0]["facts"]["data_bytes"] > 12 * first[0]["dataset"]["nnz_train"]
    for case in (first, second):
        assert case[2]["phases"]["files_for_peer"]["count"] == 1
        assert "prepare" not in case[2]["shared"], "it is mfbench's own work, which no one is charged for"
    alone, _, other, *_ = run(mfbench, fakes, what, "--no-share", "--rerun", code=1)
    assert data_of(alone) != data_of(other)
    cuts = [{"like": "ml-100k", "scale": 0.01, "split": {"holdout": share, "seed": 1}} for share in (0.1, 0.2)]
    other_split = spec([fake("well")], datasets=cuts)
    one, two = run(mfbench, fakes, other_split, code=0)
    assert data_of(one) != data_of(two)


def test_trials_share_it_with_the_cases(mfbench, fakes):
    peer = {"name": "peer", "library": "libmf", "factors": 2, "tune": {"trials": 3, "over": {"reg": [0.01, 0.2, "log"]}}}
    ours = {"name": "sgd_serial", "factors": 2}
    cases = run(mfbench, fakes, spec([ours, peer], split={"validation": 0.2, "seed": 1}), code=0)
    trials = [path.read_text().splitlines() for path in (fakes / "out" / "tune").rglob("*.jsonl")]
    assert len(trials) == 4  # the best goes on
    for lines in trials:
        assert data_of([json.loads(lines[0])]) == data_of(cases[1])


def test_who_writes_to_it_spoils_it_for_no_other(mfbench, fakes):
    first, spoiled, after = run(mfbench, fakes, spec([fake("well"), fake("writes_to_data"), fake("well", reg=0.1)]),
                                code=0)
    assert data_of(first)[0] == data_of(spoiled)[0]
    assert (data_of(spoiled) == data_of(after)) == ("modes" in first[0]["facts"]["confined"]), "it is kept from it, or written anew"
    assert first[1][-1]["test_rmse"] == after[1][-1]["test_rmse"]


def test_what_a_peer_may_see(mfbench, fakes):
    ((header, trace, footer, _),) = run(mfbench, fakes, spec([fake("well")]), code=0)
    seen = header["facts"]["build"]
    assert "http_proxy" not in seen["names"] and "MFBENCH_DATA" not in seen["names"]
    assert "mfbench-peer-" in seen["home"] and not os.path.exists(seen["home"])
    assert header["facts"]["restarts"] is True
    work = header["work_per_epoch"]
    assert work == {"updates": header["dataset"]["nnz_train"], "bytes": None, "flops": None}
    assert [point["epoch"] for point in trace] == [0, 1, 2, 3]
    # By its clock, which says 1e-4 s an epoch; ours goes on meanwhile.
    assert [round(point["train_s"], 9) for point in trace] == [0, 1e-4, 2e-4, 3e-4]
    peer = footer["peer"]
    assert peer["ended"] == "ended with code 0" and peer["peak_device_bytes"] == 12345
    assert peer["calls"] == 3 and abs(peer["worked_s"] - 6e-4) < 1e-9
    assert peer["peak_bytes"] > 4 << 20 and peer["cpu_s"] > 0
    clocks = footer["clocks"]
    assert clocks["start_s"] > 0.01 and clocks["train_s"] == trace[-1]["train_s"]
    total = sum(value for name, value in clocks.items() if name not in ("wall_s", "train_device_s"))
    assert abs(total - clocks["wall_s"]) < 1e-6
    assert footer["phases"]["files_for_peer"]["count"] == 1
    assert clocks["prepare_s"] + footer["phases"]["files_for_peer"]["seconds_s"] < clocks["wall_s"] - clocks["start_s"]


def test_a_library_without_epochs_runs_for_each_point_alone(mfbench, fakes):
    what = spec([fake("well")], stop={"epochs": 7}, evaluate={"every": 3})
    ((_, trace, footer, _),) = run(mfbench, fakes, what, code=0)
    assert [point["epoch"] for point in trace] == [0, 3, 6, 7]
    assert footer["peer"]["calls"] == 3
    each = [{"name": "peer", "library": "implicit", "factors": 2}]
    ((header, trace, footer, _),) = run(mfbench, fakes, {**what, "algorithms": each}, "--rerun", code=0)
    assert [point["epoch"] for point in trace] == [0, 3, 6, 7]
    assert footer["peer"]["calls"] == 7 and header["facts"]["restarts"] is False


def test_no_epoch_is_timed_where_each_point_is_a_run_of_its_own(mfbench, fakes):
    """A run of 2 epochs that took less than that of 1, as two runs may: each has its own time."""
    ((header, trace, footer, _),) = run(mfbench, fakes, spec([fake("takes_less_for_more")]), code=0)
    assert header["facts"]["restarts"] is True
    assert [round(point["train_s"], 9) for point in trace] == [0, 3e-4, 1.5e-4, 1e-4]
    assert [round(point["epoch_s"], 9) for point in trace[1:]] == [3e-4, 7.5e-5, round(1e-4 / 3, 9)]
    assert footer["first_epoch_s"] is None and footer["steady_epoch_s"] is None
    assert footer["clocks"]["train_s"] == trace[-1]["train_s"]
    assert abs(footer["peer"]["worked_s"] - 5.5e-4) < 1e-9
    assert footer["clocks"]["rest_s"] >= 0


def test_one_rate_for_libraries_that_take_one(mfbench, fakes):
    what = spec([fake("well")], schedule={"kind": "exponential", "learning_rate": 0.1, "decay": 0.5})
    ((_, _, footer, _),) = run(mfbench, fakes, what, code=1)
    assert footer["status"] == "error" and "one learning rate" in footer["stop_reason"]


@pytest.mark.parametrize("mode, ended", [("stays", "was still running, and was killed"),
                                         ("fails_at_end", "ended with code 3")])
def test_how_it_ends_does_not_change_what_it_trained(mfbench, fakes, mode, ended):
    ((_, _, footer, _),) = run(mfbench, fakes, spec([fake(mode)]), code=0)
    assert footer["status"] == "completed" and footer["peer"]["ended"] == ended


@pytest.mark.parametrize("mode", ["leaves_a_child", "escapes"])
def test_nothing_of_it_stays(mfbench, fakes, mode):
    ((_, _, footer, path),) = run(mfbench, fakes, spec([fake(mode)]), code=0)
    with path.with_suffix(".stderr").open() as printed:
        assert printed.read() == "child\n"
        fcntl.flock(printed, fcntl.LOCK_EX | fcntl.LOCK_NB)


def start(mfbench, folder, mode):
    """mfbench in the background, with a peer that has left a child."""
    (folder / "spec.json").write_text(json.dumps(spec([fake(mode, timeout_s=60)])))
    process = subprocess.Popen([mfbench.program, "run", "spec.json", "--out", "out", "--quiet"], cwd=folder,
                               env=mfbench.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def has_started():
        found = [child for child in peers_of(process.pid) if "supervisor.py" in command_of(child)]
        return any(map(works_in, found)) and found
    try:
        return process, wait_for(has_started, "peer")
    except BaseException:
        process.kill()
        raise


def command_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def peers_of(pid):
    """All that descends from it."""
    try:
        texts = [path.read_text() for path in pathlib.Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:
        return []
    children = [int(word) for text in texts for word in text.split()]
    return [one for child in children for one in [child, *peers_of(child)]]


def works_in(pid):
    """The folder of a peer, or nothing."""
    folder = os.readlink(f"/proc/{pid}/cwd")
    return folder if "mfbench-peer-" in folder else ""


def folders_of(peers):
    """Of a peer, and of what it was handed."""
    (folder,) = filter(None, map(works_in, peers))
    data = os.path.dirname(os.path.realpath(os.path.join(folder, "item.npy")))
    assert os.path.isdir(folder) and os.path.isdir(data) and data != folder
    return folder, data


def test_a_peer_and_its_folders_end_with_a_killed_mfbench(mfbench, fakes):
    process, peers = start(mfbench, fakes, "hangs")
    folders = folders_of(peers)
    process.kill()
    process.wait()
    assert all(gone(peer) for peer in peers)
    assert not any(map(os.path.exists, folders))


def test_what_killed_supervisors_leave_goes_with_the_next(mfbench, fakes):
    process, peers = start(mfbench, fakes, "hangs")
    folders = folders_of(peers)
    process.send_signal(signal.SIGSTOP)
    for peer in peers:
        os.kill(peer, signal.SIGKILL)
    process.kill()
    process.wait()
    assert all(map(os.path.exists, folders))
    run(mfbench, fakes, spec([fake("well")]), "--rerun", code=0)
    assert not any(map(os.path.exists, folders))


@pytest.mark.parametrize("number, mode", [(signal.SIGINT, "hangs"), (signal.SIGTERM, "hangs_in_training")])
def test_a_signal_ends_the_peer(mfbench, fakes, number, mode):
    process, peers = start(mfbench, fakes, mode)
    time.sleep(0.3)
    process.send_signal(number)
    time.sleep(0.1)
    process.send_signal(number)  # the first asks to end after the epoch
    _, said = process.communicate(timeout=300)
    assert process.returncode == 128 + number, said
    assert all(gone(peer) for peer in peers)
    ((_, _, footer, _),) = results(fakes / "out")
    assert footer["status"] == "interrupted"


def test_what_is_not_installed_is_skipped_with_the_way_to_it(mfbench, fakes, monkeypatch):
    monkeypatch.setenv("MFBENCH_PEERS", str(fakes / "nowhere"))
    ((_, _, footer, _),) = run(mfbench, fakes, spec([fake("well")]), code=0)
    assert footer["status"] == "skipped"
    assert "libmf is not installed: ./dev peers libmf" in footer["stop_reason"]
    assert str(fakes) not in footer["stop_reason"]
    assert str(fakes / "nowhere") in mfbench("doctor", "--verbose", cwd=fakes).stdout
    monkeypatch.setenv("MFBENCH_PEERS", str(fakes / "places"))
    ((_, _, footer, _),) = run(mfbench, fakes, spec([fake("well")]), code=0)
    assert footer["status"] == "completed", "and runs when it is there"
    assert not list((fakes / "out").glob("*.partial-*")), "nothing had been measured"


def test_what_was_not_observed_is_not_handed_over(mfbench, fakes):
    """A library takes each pair that it is given for one that was observed."""
    script = fakes / "scripts" / "implicit" / "adapter.py"
    given = "VALUES = [f.read() for f in [(folder / 'value.npy').open('rb')]][0][-4 * request['nnz']:]\n"
    script.write_text(script.read_text().replace(
        "def send(", given + "\ndef send(", 1).replace(
        "build={", "build={'nnz': request['nnz'], 'zeros': struct.unpack("
        "f\"<{request['nnz']}f\", VALUES).count(0), ", 1))
    rows = [f"{u},{i},{(u + i) % 3}" for u in range(30) for i in range(20)]
    (fakes / "r.csv").write_text("user,item,value\n" + "\n".join(rows) + "\n")
    what = {"name": "zeros", "datasets": [{"path": "r.csv"}], "split": {"holdout": 0.2},
            "stop": {"epochs": 1},
            "algorithms": [{"name": "peer", "library": "implicit", "factors": 2}]}
    ((header, trace, footer, _),) = run(mfbench, fakes, what, code=0)
    build = header["facts"]["build"]
    assert build["zeros"] == 0 and 0 < build["nnz"] == header["dataset"]["nnz_train"] < 0.8 * len(rows)
    assert footer["epochs"] == 1 and trace[-1]["updates"] == 2 * build["nnz"]


def test_a_trial_that_hangs_costs_its_time(mfbench, fakes):
    hangs = {**fake("hangs_in_training"), "timeout_s": 1,
             "tune": {"trials": 6, "eta": 1, "budget_s": 1, "over": {"reg": [0.1, 1]}}}
    what = {**spec([hangs]), "split": {"holdout": 0.2, "validation": 0.1}}
    run(mfbench, fakes, what, code=1)
    (study,) = json.loads(mfbench("tune", "out", "--json", cwd=fakes).stdout)
    assert len(list((fakes / "out").glob("tune/*/*.jsonl"))) < 3, study


def test_no_network(mfbench, fakes):
    """Where the kernel gives a namespace; where not, the result says so."""
    script = fakes / "scripts" / "libmf" / "adapter.py"
    check = ("import socket, pathlib\n"
             "names = pathlib.Path('/proc/net/dev').read_text()\n"
             "NETWORK = [line.split(':')[0].strip() for line in names.splitlines()[2:]]\n")
    script.write_text(check + script.read_text().replace("build={", "build={'devices': NETWORK, "))
    ((header, _, _, _),) = run(mfbench, fakes, spec([fake("well")]), code=0)
    facts = header["facts"]
    if facts["network"] == "host":
        assert "network namespace" in facts["network_why"]
        pytest.skip(facts["network_why"])
    assert facts["build"]["devices"] == ["lo"]
