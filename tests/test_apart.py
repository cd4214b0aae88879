"""`mfbench run --apart`: a process of its own for each case, and otherwise the same run."""

import json
import os
import pathlib
import re
import signal
import subprocess
import time

import pytest

from support import as_from_a_terminal, children_of, in_little_memory, is_gone, lines_of, wait_for

SPEC = {"name": "apart", "datasets": [{"like": "ml-100k", "scale": 0.05}], "seeds": [1, 2], "stop": {"epochs": 2},
        "algorithms": [{"name": "sgd_serial", "factors": 4}, {"name": "als_cpu", "factors": 4}]}
SLOW = {**SPEC, "seeds": [1, 2, 3], "stop": {"epochs": 200}, "algorithms": [{"name": "ruler", "sleep_ms": 30}]}


@pytest.fixture
def place(tmp_path):
    def write(spec=SPEC):
        (tmp_path / "spec.json").write_text(json.dumps(spec))
        return tmp_path

    return write


def results(folder):
    files = {path.name: lines_of(path) for path in sorted(folder.glob("*.jsonl"))}
    assert all(lines[-1]["type"] == "footer" for lines in files.values())
    return files


def run(mfbench, folder, *words):
    return mfbench("run", "spec.json", "--out", "apart", "--apart", *words, cwd=folder, preexec_fn=in_little_memory)


def test_the_same_numbers_and_nothing_of_another_case(mfbench, place):
    folder = place()
    done = run(mfbench, folder, "--explain")
    assert done.returncode == 0, done.stderr
    assert mfbench("run", "spec.json", "--out", "together", cwd=folder).returncode == 0
    apart, together = results(folder / "apart"), results(folder / "together")
    assert apart.keys() == together.keys() and len(apart) == 4
    for name, (header, *trace, footer) in apart.items():
        _, *other, foot = together[name]
        assert [point["test_rmse"] for point in trace] == [point["test_rmse"] for point in other]
        assert footer["shared"] == {} and "--apart" in header["environment"]["command_line"]
    environments = [[lines[0]["environment"] for lines in run.values()] for run in (apart, together)]
    assert [len({one["process"] for one in run}) for run in environments] == [4, 1]
    assert len({one["host"] for run in environments for one in run}) == 1
    assert all(1e7 < one["host_speed"]["clock_hz"] < 1e10 for one in environments[0])
    assert all(one["host_speed"] is None for one in environments[1]), "of reference runs, which are apart"
    assert "processes behind each row: 2; hosts: 1" in done.stdout
    assert sum(lines[-1]["shared"] != {} for lines in together.values()) == 3, "of one process all but the first"
    assert len(re.findall(r"(?m)^\[\d/4\] .* (completed|contended)$", done.stdout)) == 4 and done.stdout.count("test rmse  ") == 1
    assert "4 cases: 4 run now, 0 finished before; results in apart" in done.stdout


def test_the_same_command_goes_on_and_rerun_runs_each_once(mfbench, place):
    folder = place()
    assert run(mfbench, folder).returncode == 0
    next((folder / "apart").glob("als_cpu*.jsonl")).unlink()
    again = run(mfbench, folder, "--quiet")
    assert again.returncode == 0 and "4 cases: 1 run now, 3 finished before" in again.stdout
    assert "[1/4]" not in again.stdout, "quiet"
    anew = run(mfbench, folder, "--rerun", "--json")
    assert anew.returncode == 0
    ended = [json.loads(line) for line in anew.stdout.splitlines()]
    assert sum(line["type"] == "case_ends" for line in ended) == 4
    assert len(results(folder / "apart")) == 4
    assert len(list((folder / "apart").glob("*.partial*"))) == 4, "each old one once"


def test_a_failed_case_is_counted_and_retried(mfbench, place):
    folder = place({**SPEC, "algorithms": [*SPEC["algorithms"], {"name": "ruler", "fail_at": 1}]})
    done = run(mfbench, folder)
    assert done.returncode == 1 and "2 cases failed" in done.stderr
    assert done.stderr.count("2 cases failed") == 1 and "6 cases: 6 run now" in done.stdout
    again = run(mfbench, folder, "--retry")
    assert again.returncode == 1 and "6 cases: 2 run now, 4 finished before" in again.stdout


def test_trials_come_first_in_one_process(mfbench, place):
    tuned = {"name": "sgd_serial", "factors": 4, "tune": {"trials": 3, "over": {"reg": [0.01, 0.2, "log"]}}}
    folder = place({**SPEC, "algorithms": [tuned], "split": {"holdout": 0.2, "validation": 0.1, "seed": 1}})
    done = run(mfbench, folder)
    assert done.returncode == 0, done.stderr
    trials = len(list((folder / "apart" / "tune").rglob("*.jsonl")))
    assert trials >= 3 and f"{trials} trials run now, 0 finished before" in done.stdout
    assert "2 cases: 2 run now" in done.stdout and done.stderr.count("lies at an end") <= 1
    again = run(mfbench, folder)
    assert f"0 trials run now, {trials} finished before" in again.stdout
    assert "2 cases: 0 run now, 2 finished before" in again.stdout


@pytest.mark.parametrize("code, ended, again", [(signal.SIGSEGV, 0, 0), (signal.SIGKILL, 128 + signal.SIGKILL, 1)])
def test_the_search_goes_on_after_a_crash_of_a_trial_but_not_after_a_kill(mfbench, place, code, ended, again):
    tuned = {"name": "ruler", "tune": {"trials": 2, "eta": 1, "over": {"sleep_ms": {"choices": [20, 21]}}}}
    folder = place({**SPEC, "algorithms": [tuned], "seeds": [1], "stop": {"epochs": 40},
                    "split": {"holdout": 0.2, "validation": 0.1, "seed": 1}})
    process = subprocess.Popen([mfbench.program, "run", "spec.json", "--out", "apart", "--apart"], cwd=folder,
                               env=mfbench.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: any(path.read_text() for path in (folder / "apart/tune").glob("*/*.jsonl")), "trial")
    os.kill(started(process.pid), code)
    out, err = process.communicate(timeout=300)
    assert process.returncode == ended, (out, err)
    trials = [lines_of(path)[-1] for path in (folder / "apart/tune").glob("*/*.jsonl")]
    if code == signal.SIGKILL:
        assert "the trials: its process was ended by signal 9" in err and len(trials) == 1
    else:
        assert sorted(one["status"] for one in trials) == ["completed", "error"] and "2 trials run now, 0 finished" in out
        assert any(one["stop_reason"] == "its process was ended by signal 11 (Segmentation fault)" for one in trials)
    assert f"{2 * again} trials run now, {2 - 2 * again} finished before" in run(mfbench, folder).stdout


def test_a_case_by_its_hash_or_the_beginning_of_its_id(mfbench, place):
    folder = place()
    cases = [one["id"] for one in json.loads(mfbench("validate", "spec.json", "--json", cwd=folder, code=0).stdout)]
    for words, names in [(["--case", cases[2][-10:]], cases[2:3]), (["--case", "als_cpu"], cases[1::2]),
                         (["--case", "als_cpu", "--shard", "2/4", "--apart"], cases[1:2])]:
        out = "-".join(words).replace("/", "-")
        done = mfbench("run", "spec.json", "--out", out, *words, cwd=folder, code=0)
        assert sorted(path.stem for path in (folder / out).glob("*.jsonl")) == sorted(names)
        assert f"{len(cases[1::2]) if 'als_cpu' in words else 1} named: {len(names)} run now" in done.stdout
    done = mfbench("run", "spec.json", "--case", "als_gpu", cwd=folder)
    assert done.returncode == 2
    assert f"--case: found 'als_gpu', expected the beginning of a case's id or hash, such as {cases[0]}" in done.stderr


def small_from_a_terminal():
    as_from_a_terminal()
    in_little_memory()


def on_one_core():
    as_from_a_terminal()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def started(pid):
    """The process that it has started, as soon as there is one."""
    return wait_for(lambda: children_of(pid), "process that it starts")[0]


def has_signal(pid, mask, number):
    """Whether the line `mask` of the process's status holds that signal: ShdPnd if it waits, SigCgt if it is handled."""
    (text,) = re.findall(rf"(?m)^{mask}:\s+(\w+)$", pathlib.Path(f"/proc/{pid}/status").read_text())
    return bool(int(text, 16) >> (number - 1) & 1)


def assert_ends(pid, within_s):
    try:
        wait_for(lambda: is_gone(pid), "end of what goes on alone", within_s)
    finally:
        if not is_gone(pid):
            os.kill(pid, signal.SIGKILL)


class Running:
    """A run that goes on, and the process of its case."""

    def __init__(self, mfbench, folder, before=small_from_a_terminal):
        self.folder = folder
        self.process = subprocess.Popen([mfbench.program, "run", "spec.json", "--out", "apart", "--apart"], cwd=folder,
                                        env=mfbench.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, preexec_fn=before)

    def child(self, case=None):
        """Once it has written a point of that case."""
        wait_for(lambda: any(path.read_text().count("\n") > 3
                             for path in (self.folder / "apart").glob(f"*-s{case}-*.jsonl")), "point of a case")
        return started(self.process.pid)

    def end(self):
        out, err = self.process.communicate(timeout=300)
        return self.process.returncode, out, err


def test_a_process_that_is_killed_takes_its_case_alone_along(mfbench, place):
    folder = place({**SLOW, "stop": {"epochs": 20}})
    running = Running(mfbench, folder)
    os.kill(running.child(case=2), signal.SIGKILL)
    code, out, err = running.end()
    assert code == 1, (out, err)
    assert "case 2 of 3: its process was ended by signal 9" in err and "1 case failed" in err
    assert len(re.findall(r"(?m)^\[\d/3\] .* (completed|contended)$", out)) == 2
    again = run(mfbench, folder)
    assert again.returncode == 0 and "3 cases: 1 run now, 2 finished before" in again.stdout
    assert len(results(folder / "apart")) == 3


def to_first(first, second, code):
    os.kill(first, code)


def to_both(first, second, code):
    os.kill(first, code)
    os.kill(second, code)


def to_both_in_turn(first, second, code):
    os.kill(first, code)
    time.sleep(0.005)  # what the first is told to say has come
    os.kill(second, code)


def to_both_from_the_end(first, second, code):
    to_both_in_turn(second, first, code)


@pytest.mark.parametrize("sent", [to_first, to_both, to_both_in_turn, to_both_from_the_end])
@pytest.mark.parametrize("code", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_running_epoch_and_starts_no_other_case(mfbench, place, code, sent):
    """A terminal sends Ctrl-C to both, `kill` to one, a batch system to one after the other: no way gives the
    epoch up."""
    folder = place(SLOW)
    running = Running(mfbench, folder)
    child = running.child(case=1)
    sent(running.process.pid, child, code)
    status, out, err = running.end()
    assert status == 128 + code, (out, err)
    assert ("interrupted; the same command goes on" in err) == (code != signal.SIGHUP)
    (lines,) = results(folder / "apart").values()
    assert lines[-1]["status"] == "interrupted" and 1 < len(lines) - 2 < 200
    assert lines[-1]["stop_reason"] == f"stopped by the user after epoch {lines[-1]['epochs']}"
    assert lines[-2]["type"] == "trace" and lines[-2]["epoch"] == lines[-1]["epochs"]


def test_no_process_goes_on_alone(mfbench, place):
    """The case of a run that was killed ends after its epoch and lets go of the folder."""
    folder = place(SLOW)
    running = Running(mfbench, folder)
    child = running.child(case=1)
    running.process.kill()
    running.process.communicate(timeout=300)
    wait_for(lambda: is_gone(child), "end of its process")
    (lines,) = results(folder / "apart").values()
    assert lines[-1]["status"] == "interrupted"
    short = json.loads((folder / "spec.json").read_text()) | {"stop": {"epochs": 1}}
    (folder / "spec.json").write_text(json.dumps(short))
    assert run(mfbench, folder).returncode == 0, "the folder is free"


@pytest.mark.parametrize("after_s", [0, 0.002, 0.01, 0.03])
def test_a_process_whose_starter_ends_while_it_starts_ends_too(mfbench, place, after_s):
    folder = place({**SLOW, "stop": {"epochs": 2000}})
    running = Running(mfbench, folder)
    child = started(running.process.pid)
    time.sleep(after_s)
    running.process.kill()
    running.process.wait()
    assert_ends(child, within_s=30)


def test_the_third_signal_ends_what_loads_too(mfbench, place):
    """Loading does not ask for signals; the folder is free at once all the same."""
    folder = place({**SLOW, "datasets": [{"like": "netflix"}]})
    running = Running(mfbench, folder, before=on_one_core)
    child = started(running.process.pid)
    wait_for(lambda: any((folder / "apart").glob(f".claim-{'?' * 20}")), "claim on the case, which it loads next")
    running.process.send_signal(signal.SIGINT)
    wait_for(lambda: not has_signal(running.process.pid, "ShdPnd", signal.SIGINT), "first signal at its handler")
    running.process.send_signal(signal.SIGINT)
    wait_for(lambda: not has_signal(child, "SigCgt", signal.SIGTERM), "word of the second signal at the case")
    running.process.send_signal(signal.SIGINT)
    assert running.process.wait(300) == -signal.SIGINT
    assert_ends(child, within_s=10)


def test_what_cannot_be_apart_is_refused(mfbench, place):
    folder = place()
    done = run(mfbench, folder, "--trace", "t.json")
    assert done.returncode == 2 and "--apart: each case is another process" in done.stderr
    done = run(mfbench, folder, "--one-case", "first")
    assert done.returncode == 2 and "Could not convert" in done.stderr
    assert "--one-case" not in mfbench("run", "--help", cwd=folder).stdout
    assert mfbench("run", "none.json", "--apart", cwd=folder).returncode == 2
    (folder / "spec.json").write_text(json.dumps({**SPEC, "algorithms": ["nothing"]}))
    done = run(mfbench, folder)
    assert done.returncode == 2 and done.stderr.count("there is no algorithm") == 1
