"""Several processes, of one machine or of many, on one spec and one folder: each case is run by one of them, and what
one leaves that dies is taken by the next."""

import contextlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import time

import pytest

from guide import ROOT
from support import Waiting, in_little_memory, lines_of, wait_for

SPEC = {"name": "many", "datasets": [{"like": "ml-100k", "scale": 0.05}], "seeds": [1, 2, 3], "stop": {"epochs": 12},
        "algorithms": [{"name": "ruler", "sleep_ms": 15, "factors": [1, 2]}]}
LONG = {**SPEC, "seeds": [1], "stop": {"epochs": 4000}, "algorithms": [{"name": "ruler", "sleep_ms": 15}]}


@contextlib.contextmanager
def place_in(folder, mfbench):
    """A folder with a spec, and started runs of it that end with the test."""
    class Place:
        out, started = folder / "out", []

        def write(self, spec):
            (folder / "s.json").write_text(json.dumps(spec))
            return self

        def start(self, *words, command=(mfbench.program, "run", "s.json", "--out", "out"), **more):
            self.started.append(subprocess.Popen([*command, *words], cwd=folder, text=True,
                                                 env={**mfbench.environment(), **more},
                                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                                 preexec_fn=in_little_memory))
            return self.started[-1]

        def results(self):
            """The lines of each case, all of which are finished and whole."""
            files = {path.name: lines_of(path) for path in sorted(self.out.glob("*.jsonl"))}
            for lines in files.values():
                kinds = [line["type"] for line in lines]
                assert kinds == ["header"] + ["trace"] * (len(lines) - 2) + ["footer"]
                assert lines[-1]["status"] == "completed"
            assert not list(self.out.glob(".claim*"))
            return files

    where = Place()
    try:
        yield where.write(SPEC)
    finally:
        for process in where.started:
            process.kill()
            process.communicate()


@pytest.fixture
def place(mfbench, tmp_path):
    with place_in(tmp_path, mfbench) as where:
        yield where


waiting = Waiting()


@pytest.fixture(scope="module", autouse=True)
def begun(request, mfbench, tmp_path_factory):
    with waiting.begun(request, mfbench, tmp_path_factory) as begun:
        yield begun


def end(process, code=0):
    out, err = process.communicate(timeout=300)
    assert process.returncode == code, out + err
    return out, err


def counts(out):
    """Run now, finished before, run by others, with others still."""
    line = re.search(r"cases?(?:, shard \S+)?: (\d+) run now, (\d+) finished before"
                     r"(?:, (\d+) run by others)?(?:, (\d+) with others still)?;", re.sub(r"\n\s+", " ", out))
    return [int(number or 0) for number in line.groups()]


def trains(out):
    return wait_for(lambda: [path for path in out.glob("*.jsonl") if path.read_text().count('"type":"trace"') > 1],
                    "case that trains")


def claim_of(path):
    """The file of the claim on the case of a result file."""
    return path.parent / f".claim-{lines_of(path)[0]['case_hash'][:20]}"


def held_elsewhere(place):
    """A case that has no result, and the claim that a process of another machine has on it."""
    end(place.start("--shard", "1/6"))
    path, *_ = place.out.glob("*.jsonl")
    claim = claim_of(path)
    claim.write_text(json.dumps({"host": "n017", "boot": "another", "space": "s", "pid": 4711, "begin": "1", "token": "t",
                                 "about": json.loads((place.out / "spec.json").read_text())["spec_hash"]}))
    path.unlink()
    return path, claim


@pytest.mark.parametrize("words", [[], ["--apart"]])
def test_three_processes_run_each_case_once(place, words):
    place.write({**SPEC, "stop": {"epochs": 60}})  # all have begun before one could run all cases
    ended = [end(process) for process in [place.start(*words) for _ in range(3)]]
    files = place.results()
    assert len(files) == 6 and not list(place.out.glob("*.partial*"))
    ran = [counts(out) for out, _ in ended]
    assert sum(run for run, *_ in ran) == 6 and all(sum(one[:3]) + one[3] == 6 for one in ran)
    environments = [lines[0]["environment"] for lines in files.values()]
    assert len({one["process"] for one in environments}) >= 2 and all(one["host"] for one in environments)
    warnings = [err.count("ran cases of this spec on this machine, too") for _, err in ended]
    assert max(warnings) == 1 and sum(warnings) >= 1, "once each"
    assert json.loads((place.out / "spec.json").read_text())["cases"] and not list(place.out.glob("*.tmp"))
    assert counts(end(place.start(*words))[0]) == [0, 6, 0, 0]


@pytest.mark.parametrize("words", [[], ["--apart"]])
def test_a_claim_of_another_machine_is_freed_by_retry_only(place, words):
    path, claim = held_elsewhere(place)
    out, err = end(place.start(*words))
    last = json.loads(end(place.start("--json"))[0].splitlines()[-1])
    assert counts(out) == [5, 0, 0, 1]
    assert f"{path.stem}: process 4711 on n017" in err and "with other processes: 1 case" in err
    assert (last["run"], last["finished_before"], last["held_by_others"]) == (0, 5, 1)
    ahead = time.time() + 60  # as of one that began after this run
    os.utime(claim, (ahead, ahead))
    assert counts(end(place.start("--retry", *words))[0]) == [0, 5, 0, 1]
    os.utime(claim)
    assert counts(end(place.start("--retry", *words))[0]) == [1, 5, 0, 0] and len(place.results()) == 6
    _, claim = held_elsewhere(place)
    tomorrow = time.time() + 86400  # by a clock that was wrong
    os.utime(claim, (tomorrow, tomorrow))
    assert counts(end(place.start("--retry", *words))[0]) == [1, 5, 0, 0] and len(place.results()) == 6


@waiting
def a_claim_of_another_machine_by_the_limit_of_its_case(folder, mfbench):
    for words in [], ["--apart"]:
        with place_in(folder, mfbench) as place:
            place.write({**SPEC, "stop": {"epochs": 12, "wall_seconds": 5}})
            path, _ = held_elsewhere(place)
            begin = time.monotonic()
            out, err = end(place.start(*words))
            assert counts(out) == [6, 0, 0, 0] and "waiting for process 4711 on n017" in err
            assert time.monotonic() - begin > 5 and path.name in place.results()
            shutil.rmtree(place.out)


@waiting
def the_wait_for_another_machine_by_a_signal_and_says_for_whom(folder, mfbench):
    with place_in(folder, mfbench) as place:
        place.write({**SPEC, "stop": {"epochs": 12, "wall_seconds": 600}})
        held_elsewhere(place)
        process = place.start()
        said = next(line for line in process.stderr if "waiting for" in line)
        assert "process 4711 on n017" in said
        process.send_signal(signal.SIGTERM)
        end(process, 143)


def test_a_case_that_another_has_taken_over_is_left_to_it(place):
    process = place.write({**LONG, "stop": {"epochs": 200}}).start()
    (path,) = trains(place.out)
    claim = claim_of(path)
    aside = path.with_name(f"{path.name}.partial-1")
    path.rename(aside)
    other = claim.with_name("other")
    other.write_text(json.dumps({**json.loads(claim.read_text()), "host": "n017", "token": "t"}))
    other.rename(claim)
    out, err = end(process)
    assert "another process has taken this case over" in err
    assert counts(out) == [0, 0, 0, 1] and claim.exists() and not path.exists() and aside.exists()


def test_sixty_kills_of_six_processes_lose_double_and_change_nothing(place):
    chance = random.Random(60)
    place.write({**SPEC, "seeds": list(range(1, 49))})
    words = [[], [], [], [], ["--apart"], ["--apart"]]
    kills, finished = 0, {}

    def look():
        for path in place.out.glob("*.jsonl*"):
            with contextlib.suppress(FileNotFoundError):  # it was set aside
                text = path.read_bytes()
                last = text.splitlines()[-1] if text.endswith(b"\n") else b""
                if b'"type":"footer","status":"completed"' in last:  # a killed --apart interrupts its process
                    assert path.suffix == ".jsonl", f"{path.name}: a result was run again"
                    assert finished.setdefault(path.name, text) == text, f"{path.name}: has changed"

    while kills < 60:  # a busy machine ends its cases before that, and begins anew
        running = [place.start(*one) for one in words]
        while kills < 60 and all(process.poll() is None for process in running):
            time.sleep(chance.uniform(0.02, 0.1))
            at = chance.randrange(6)
            running[at].kill()
            running[at].communicate()
            kills += 1
            look()
            running[at] = place.start(*words[at])
        for process in running:
            end(process)
        look()
        assert len(place.results()) == len(finished) == 96
        place.out.rename(place.out.with_name(f"after-{kills}"))
        finished.clear()


def test_another_spec_is_refused(place):
    place.write(LONG)
    place.start()
    trains(place.out)
    _, err = end(place.write(SPEC).start(), 4)
    assert "another mfbench run is writing into this folder, of another spec: process" in err


@pytest.mark.parametrize("words", [[], ["--apart"]])
def test_shards_are_parts_that_make_the_whole(place, words):
    for part in (1, 2, 3, 4):
        before = set(place.out.glob("*.jsonl"))
        out, _ = end(place.start("--shard", f"{part}/4", *words))
        run = counts(out)
        assert run == [2 if part < 3 else 1, 0, 0, 0] and f"6 cases, shard {part}/4: " in out
        assert len(set(place.out.glob("*.jsonl")) - before) == run[0]
    assert len(place.results()) == 6 and not list(place.out.glob("*.partial*"))


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "1/0", "a/b", "1/2/3", "-1/3", "1.5/3"])
def test_what_is_no_shard_is_refused(place, text):
    _, err = end(place.start(f"--shard={text}"), 2)
    assert f'--shard: found "{text}", expected I/N' in err


def test_one_process_runs_the_trials_and_the_others_wait(place):
    tune = {"trials": 4, "over": {"offset": [0.5, 2.0]}}
    place.write({**SPEC, "split": {"holdout": 0.2, "validation": 0.1, "seed": 1},
                 "algorithms": [{"name": "ruler", "sleep_ms": 15, "tune": tune}]})
    ended = [end(process) for process in [place.start() for _ in range(3)]]
    assert len(place.results()) == 3
    trials = list((place.out / "tune").rglob("*.jsonl"))
    told = [re.search(r"(\d+) trials? run now, (\d+) finished before", out).groups() for out, _ in ended]
    assert sum(int(run) for run, _ in told) == len(trials) >= 4
    assert not list(place.out.rglob("*.partial*"))


def test_rerun_of_two_processes_runs_each_case_once(place):
    """As they do where both begin at the same moment."""
    place.write({**SPEC, "seeds": [1]})

    for words in ([], ["--rerun"]):
        (place.out.parent / "now").write_text("")
        began = ["--began-ns", str((place.out.parent / "now").stat().st_mtime_ns)]
        ended = [end(process) for process in [place.start(*words, *began) for _ in range(2)]]
        assert sum(counts(out)[0] for out, _ in ended) == 2
    assert len(list(place.out.glob("*.partial-1"))) == 2 == len(list(place.out.glob("*.partial*")))
    assert len(place.results()) == 2


def test_the_job_array_shares_a_spec(place, mfbench):
    script = ROOT / "tools" / "slurm-array.sh"
    tasks = [place.start(command=(str(script), "s.json", "out"), SLURM_ARRAY_TASK_ID=str(task),
                         MFBENCH=mfbench.program) for task in (1, 2, 3)]
    assert sum(counts(end(task)[0])[0] for task in tasks) == 6 == len(place.results())
    held_elsewhere(place)
    again = place.start(command=(str(script), "s.json", "out"), SLURM_RESTART_COUNT="1", MFBENCH=mfbench.program)
    assert counts(end(again)[0]) == [1, 5, 0, 0]


def test_the_indexed_job_of_kubernetes_shares_a_spec(place, mfbench):
    yaml = pytest.importorskip("yaml")
    spec = yaml.safe_load((ROOT / "tools" / "kubernetes-job.yaml").read_text())["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    assert spec["completionMode"] == "Indexed" and spec["completions"] == spec["parallelism"] == 8
    assert [one["name"] for one in spec["template"]["spec"]["volumes"]] == [one["name"] for one in container["volumeMounts"]]
    assert container["workingDir"] == container["volumeMounts"][0]["mountPath"]
    place.write(SPEC)
    (place.out.parent / "s.json").rename(place.out.parent / "spec.json")
    (place.out.parent / "mfbench").symlink_to(mfbench.program)
    said = [end(place.start(command=(*container["command"], *container["args"]), JOB_COMPLETION_INDEX=str(index),
                            PATH=f"{place.out.parent}:{os.environ['PATH']}"))[0] for index in range(8)]
    assert [counts(out)[0] for out in said] == [1] * 6 + [0] * 2 and "shard 8/8" in said[7]
    assert len(list((place.out.parent / "runs" / "als").glob("*.jsonl"))) == 6


@pytest.mark.parametrize("name", waiting)
def test_ends_well(begun, name):
    begun[name].result()
