"""`mfbench run --trace FILE`: events that Perfetto opens, ranges that nest and balance, also of a run
that was killed."""

import json
import os
import signal
import subprocess
import time

import pytest

SPEC = {"name": "traced", "datasets": [{"like": "ml-100k", "scale": 0.05}], "stop": {"epochs": 3},
        "algorithms": [{"name": "als_cpu", "factors": 8, "threads": 2},
                       {"name": "sgd_serial", "factors": 8}]}
# What may lie right in what; phases of algorithms in "epoch".
INSIDE = {"start": {"case", "prepare"}, "load": {"case"}, "prepare": {"case", "prepare"},
          "epoch": {"case"}, "evaluator": {"case"}, "evaluate": {"case"}, "save": {"case"},
          "watch": {"case", "start", "prepare", "epoch"}}


def read_events(path):
    """Those of a whole file, or of one whose end is missing."""
    text = path.read_text()
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        lines = text.splitlines()
        assert lines[0] == "["
        events = [line.rstrip(",") for line in lines[1:]]
        try:
            json.loads(events[-1])
        except json.JSONDecodeError:
            events.pop()
        return [json.loads(line) for line in events]


def slices(events):
    """{(pid, tid): [(name, depth, parent, begin, end)]}; fails where ranges do not nest."""
    tracks = {}
    for event in events:
        if event["ph"] in "BEX":
            tracks.setdefault((event["pid"], event["tid"]), []).append(event)
    found = {}
    for key, own in tracks.items():
        assert [e["ts"] for e in own] == sorted(e["ts"] for e in own), "not in the order of time"
        out, stack = found.setdefault(key, []), []
        for event in own:
            if event["ph"] == "E":
                begin = stack.pop()
                parent = stack[-1]["name"] if stack else None
                out.append((begin["name"], len(stack), parent, begin["ts"], event["ts"]))
            elif event["ph"] == "B":
                stack.append(event)
            else:
                while stack and event["ts"] >= stack[-1]["ts"] + stack[-1]["dur"] - 1e-3:
                    stack.pop()
                parent = stack[-1] if stack else None
                end = event["ts"] + event["dur"]
                assert not parent or end <= parent["ts"] + parent["dur"] + 2e-3, "overlaps its parent"
                out.append((event["name"], len(stack), parent and parent["name"], event["ts"], end))
                stack.append(event)
        if own[0]["ph"] != "X":
            assert not stack, f"ranges that did not end: {[e['name'] for e in stack]}"
    return found


def names(events, what="thread_name"):
    return {(e["pid"], e["tid"] if what == "thread_name" else 0): e["args"]["name"]
            for e in events if e["ph"] == "M" and e["name"] == what}


@pytest.fixture(scope="module")
def traced(mfbench, tmp_path_factory):
    folder = tmp_path_factory.mktemp("traced")
    done = mfbench("run", "s.json", "--out", "out", "--trace", "t.json", cwd=folder, code=0, spec=SPEC)
    assert "timeline in t.json" in done.stdout
    return folder


@pytest.fixture(scope="module")
def events(traced):
    return json.loads((traced / "t.json").read_text())  # the array is closed


def test_every_event_is_one_of_the_format(events):
    keys = {"M": {"name", "args"}, "B": {"name", "ts"}, "E": {"ts"}, "X": {"name", "ts", "dur"}}
    for event in events:
        assert keys[event["ph"]] | {"ph", "pid", "tid"} <= event.keys()
        assert event.keys() <= keys[event["ph"]] | {"ph", "pid", "tid", "args"}
        assert event.get("ts", 0) >= 0 and event.get("dur", 0) >= 0


def test_threads_and_process_have_names(events):
    assert names(events, "process_name")[1, 0] == "mfbench"
    threads = names(events)
    assert {"main", "worker 1"} <= set(threads.values())
    used = {(e["pid"], e["tid"]) for e in events if e["ph"] != "M"}
    assert used <= threads.keys()


def test_ranges_nest_as_documented(events):
    threads = names(events)
    for track, found in slices(events).items():
        if threads[track] != "main":
            assert {name for name, *_ in found} == {"work"}, threads[track]
            continue
        for name, _, parent, *_ in found:
            if name in INSIDE:
                assert parent in INSIDE[name], f"{name} in {parent}"
        ours = {name for name, *_ in found}
        assert {"case", "load", "prepare", "epoch", "evaluate", "work"} <= ours
        assert {"solve_users", "solve_items"} & ours or {"update_x", "update_theta"} & ours, ours


def test_each_case_has_its_name_around_it(events, traced):
    files = {path.stem for path in (traced / "out").glob("*.jsonl")}
    found = [item for track in slices(events).values() for item in track]
    assert {parent for name, _, parent, *_ in found if name == "case"} == files and len(files) == 2
    assert [name for name, *_ in found].count("epoch") == 6


def test_the_times_are_those_of_the_results(events, traced):
    footers = [json.loads(path.read_text().splitlines()[-1])
               for path in (traced / "out").glob("*.jsonl")]
    found = [item for track in slices(events).values() for item in track]
    for name in ("epoch", "evaluate", "prepare", "load"):
        drawn = sum(end - begin for n, _, parent, begin, end in found
                    if (n, parent) == (name, "case")) * 1e-6
        told = sum(footer["phases"][name]["seconds_s"] for footer in footers)
        assert drawn == pytest.approx(told, rel=0.02, abs=2e-3), name


def test_a_device_has_a_track_of_its_stream(mfbench, tmp_path):
    report = json.loads(mfbench("doctor", "--json", cwd=tmp_path).stdout)
    if report["device"].startswith("none"):
        pytest.skip(f"no device: {report['device']}")
    spec = {**SPEC, "algorithms": [{"name": "als", "factors": 20},
                                   {"name": "sgd_tiled", "factors": 16}]}
    mfbench("run", "s.json", "--out", "out", "--trace", "t.json", cwd=tmp_path, code=0, spec=spec)
    events = json.loads((tmp_path / "t.json").read_text())
    threads = names(events)
    stream, = (track for track, name in threads.items() if name == "stream of the case")
    main, = (track for track, name in threads.items() if name == "main")
    tracks = slices(events)
    drawn = [item for item in tracks[stream] if item[0] == "epoch"]
    host = [item for item in tracks[main] if item[0] == "epoch"]
    assert len(drawn) == len(host) >= 2
    for (_, _, _, begin, end), (_, _, _, host_begin, host_end) in zip(drawn, host):
        assert host_begin <= begin and end <= host_end + 100  # microseconds
    assert any(parent == "epoch" for _, _, parent, *_ in tracks[stream])
    footers = [json.loads(path.read_text().splitlines()[-1])
               for path in (tmp_path / "out").glob("*.jsonl")]
    told = sum(footer["phases"]["epoch"]["device_s"] for footer in footers)
    assert sum(end - begin for *_, begin, end in drawn) * 1e-6 == pytest.approx(told, rel=1e-3)


def test_a_killed_run_leaves_a_file_that_can_be_read(mfbench, tmp_path):
    spec = {**SPEC, "stop": {"epochs": 1000},
            "algorithms": [{"name": "ruler", "sleep_ms": 20}]}
    (tmp_path / "s.json").write_text(json.dumps(spec))
    run = subprocess.Popen([mfbench.program, "run", "s.json", "--out", "out", "--trace", "t.json"],
                           cwd=tmp_path, env=mfbench.environment(), stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 30
        while (tmp_path / "t.json").exists() is False or \
                (tmp_path / "t.json").read_text().count('"epoch"') < 10:
            assert run.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
    finally:
        run.send_signal(signal.SIGKILL)
        run.wait()
    text = (tmp_path / "t.json").read_text()
    with pytest.raises(json.JSONDecodeError):
        json.loads(text)  # else it shows nothing: the run had ended
    events = read_events(tmp_path / "t.json")
    begun = [e["name"] for e in events if e["ph"] == "B"]
    assert begun.count("case") == 1 and begun.count("epoch") >= 5
    ended = sum(e["ph"] == "E" for e in events)
    assert ended < len(begun) <= ended + 4  # the case and its name, what ran in it, a worker


def test_a_file_that_cannot_be_written_ends_the_run_before_its_cases(mfbench, tmp_path):
    done = mfbench("run", "s.json", "--out", "out", "--trace", "no/t.json", cwd=tmp_path, code=4, spec=SPEC)
    assert "no/t.json: cannot be written" in done.stderr
    assert not list(tmp_path.glob("out/*.jsonl"))


def test_a_pipe_is_refused_and_not_waited_for(mfbench, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    done = mfbench("run", "s.json", "--out", "out", "--trace", "pipe", cwd=tmp_path, code=2, spec=SPEC, timeout=60)
    assert "--trace: pipe: a pipe, expected a file" in done.stderr


def test_a_full_disk_ends_the_timeline_and_not_the_run(mfbench, tmp_path):
    done = mfbench("run", "s.json", "--out", "out", "--trace", "/dev/full", cwd=tmp_path, code=0, spec=SPEC)
    assert "warning: /dev/full: No space left on device" in done.stderr
    assert "timeline in" not in done.stdout
    assert len(list((tmp_path / "out").glob("*.jsonl"))) == 2
