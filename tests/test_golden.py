"""The whole command line against recorded output, times and machine made anonymous.

`python3 -m pytest tests/test_golden.py --update` rewrites the files under tests/golden after an
intended change; MFBENCH names the program.
"""

import json
import pathlib
import re

import pytest

GOLDEN = pathlib.Path(__file__).parent / "golden"
ROOT = pathlib.Path(__file__).parents[1]

RULER = {
    "name": "golden",
    "datasets": [{"like": "ml-100k", "scale": 0.05, "seed": 3}],
    "stop": {"epochs": 3},
    "baseline": "ruler",
    "target_rmse": 1.2,
    "algorithms": [{"name": "ruler", "sleep_ms": 0, "offset": [1, 2]}],
}

# Everything that differs from machine to machine or from run to run.
ANONYMOUS = [
    # The tests may share their machine, which is no part of what is recorded here.
    (r'"host_load":\{.*?\}\},"device_load"', '"host_load":"-","device_load"'),
    (r'"contended":(true|false|null),"contended_by":(\[[^]]*\]|null)',
     '"contended":"-","contended_by":"-"'),
    (r'(?m)  contended: .*$|(  |, )\d+ contended$|(,| ) *\d+ of \d+ contended$', ''),
    (r'(?m)^(\[.*  )contended$', r'\1completed'),
    (r'\ncontended, .*\n( .*\n)*', '\n'),
    (r'"(\w+_s|\w+_hz|\w+_bytes|memory_bytes)":-?[0-9.e+-]+', r'"\1":0'),
    (r'"(git_sha|compiler|flags|build_type|host|process|cpu|simd|os|mfbench|started_at|finished_at|gpu|driver|cuda_driver|'
     r'cuda)":("[^"]*"|null)', r'"\1":"-"'),
    (r'"(cpus":\[)"[^]]*', r'"\1"-"'),
    (r'"memory":"[a-z-]*"', '"memory":"-"'),
    (r'"git_dirty":(true|false)', '"git_dirty":false'),
    (r'"cores":\d+', '"cores":0'),
    (r'"command_line":"[^"]*/mfbench ', '"command_line":"mfbench '),
    (r'"(device_memory_bytes|power_limit_w|sm_clock_hz)":(null|[0-9.]+)', r'"\1":null'),
    (r' +[0-9.]+ (us|ms|s)\b', ' TIME'),
    (r' +[0-9.]+ ?[kMG]? updates/s', ' RATE'),
]


def anonymous(text):
    for pattern, replacement in ANONYMOUS:
        text = re.sub(pattern, replacement, text)
    return text


UPDATE = "run MFBENCH=build/cpu/mfbench python3 -m pytest tests/test_golden.py --update"


def check(name, text, update):
    path = GOLDEN / name
    if update:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert path.exists(), f"{path} is missing: {UPDATE}"
    assert text == path.read_text(), f"output differs from {path}; if that is meant: {UPDATE}"


@pytest.fixture
def update(request):
    return request.config.getoption("--update")


def test_result_files(mfbench, tmp_path, update):
    done = mfbench("run", "golden.json", "--out", "out", cwd=tmp_path, code=0, spec=RULER)
    check("run.txt", anonymous(done.stdout), update)
    text = ""
    for path in sorted((tmp_path / "out").glob("*.jsonl")):
        text += f"# {path.name}\n{path.read_text()}"
    check("results.jsonl.txt", anonymous(text), update)


def made_result(algorithm, seed, epoch_s, rmse, **changes):
    """The lines of a result file of four epochs; the first takes twice as long."""
    header = {"type": "header", "schema_version": 1, "seed": seed, "target_rmse": 0.91,
              "algorithm": {"name": algorithm, "hardware": "cpu",
                            "params": {"factors": 8, "reg": changes.get("reg", 0.05)}},
              "dataset": {"name": "made", "content_hash": "c0ffee",
                          "split": {"holdout": 0.2, "seed": seed}},
              "schedule": {"kind": "constant", "learning_rate": 0.01}, "init": {"kind": "uniform"},
              "stop": {"epochs": 4}, "evaluate": {"every": 1}, "profile": None,
              "environment": {"git_sha": "0123456789abcdef", "cpu": "a processor", "cores": 2}}
    times = [0, 2, 3, 4, 5]
    points = [{"type": "trace", "epoch": e, "train_s": epoch_s * t, "test_rmse": rmse + 0.1 * (4 - e)}
              for e, t in enumerate(times)]
    footer = {"type": "footer", "status": changes.get("status", "completed"), "updates": 1,
              "clocks": {"prepare_s": 0.5, "transfer_s": 0.1, "train_s": points[-1]["train_s"]},
              "first_epoch_s": 2 * epoch_s, "steady_epoch_s": epoch_s, "best_test_rmse": rmse}
    if "contended" in changes:
        footer |= {"contended": bool(changes["contended"]), "contended_by": changes["contended"],
                   "host_contended": None, "host_contended_by": None}
    return "".join(json.dumps(line) + "\n" for line in [header, *points, footer])


def write_compared(folder):
    """Two folders that differ in all that a comparison says."""
    def put(side, name, text):
        path = folder / side / f"{name}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    noise = [0.001, -0.002, 0.0, 0.002, -0.001]
    for seed, off in enumerate(noise, start=1):
        put("a", f"faster-{seed}", made_result("fpsgd", seed, 1 + off, 0.9))
        put("b", f"faster-{seed}", made_result("fpsgd", seed, 0.9 - off, 0.904 + off / 10))
        put("a", f"same-{seed}", made_result("sgd_serial", seed, 2 + off, 0.9, reg=0.02))
        put("b", f"same-{seed}", made_result("sgd_serial", seed, 2 - off, 0.9, reg=0.02))
        put("a", f"swept-{seed}", made_result("sgd_serial", seed, 2 + off, 0.9, reg=0.05))
        put("b", f"misses-{seed}", made_result("hogwild", seed, 1 + off, 0.95 if seed > 2 else 0.9))
        put("a", f"misses-{seed}", made_result("hogwild", seed, 1, 0.9))
        busy = ["training: other programs kept 1.0 of 2 CPUs busy"] if seed == 2 else []
        put("a", f"busy-{seed}", made_result("wavefront", seed, 1 + off, 0.9, contended=[]))
        put("b", f"busy-{seed}", made_result("wavefront", seed, 2 + off, 0.9, contended=busy))
    for seed in (1, 2):
        put("a", f"few-{seed}", made_result("als_cpu", seed, 0.0020, 0.9))
        put("b", f"few-{seed}", made_result("als_cpu", seed, 0.0021, 0.9))
    put("b", "few-3", made_result("als_cpu", 3, 0.0021, 0.9, status="diverged"))
    put("b", "unfinished", made_result("als_cpu", 4, 1, 0.9).splitlines()[0] + "\n")


def test_compare(mfbench, tmp_path, update):
    write_compared(tmp_path)
    done = mfbench("compare", "a", "b", cwd=tmp_path, code=0)
    check("compare.txt", done.stdout, update)


def write_run(folder):
    """Two algorithms in one folder, as one spec leaves them: they share factors, and differ in reg."""
    (folder / "run").mkdir()
    for seed, off in enumerate([0.001, -0.002, 0.001], start=1):
        for algorithm, epoch_s, reg in [("fpsgd", 1, 0.05), ("hogwild", 0.5, 0.02)]:
            (folder / "run" / f"{algorithm}-{seed}.jsonl").write_text(
                made_result(algorithm, seed, epoch_s + off, 0.9, reg=reg))


def test_compare_between_algorithms_of_one_run(mfbench, tmp_path):
    write_run(tmp_path)
    report = json.loads(mfbench("compare", "run", "--between", "fpsgd", "hogwild", "--json", cwd=tmp_path, code=0).stdout)
    assert [row["verdict"] for row in report["rows"]] == ["faster"]
    for words, message in [(["run"], "--between FIRST SECOND"),
                           (["run", "--between", "fpsgd", "hogwlid"], 'did you mean "hogwild"?'),
                           (["run", "--between", "fpsgd", "fpsgd"], "is on both sides")]:
        assert message in mfbench("compare", *words, cwd=tmp_path, code=2).stderr


def test_compare_as_json_and_as_an_exit_code(mfbench, tmp_path):
    write_compared(tmp_path)
    report = json.loads(mfbench("compare", "a", "b", "--json", cwd=tmp_path).stdout)
    rows = {row["label"].split()[0]: row for row in report["rows"]}
    assert rows["fpsgd"]["verdict"] == "faster at worse rmse"
    assert rows["fpsgd"]["epoch_time"]["pairs"] == 5
    assert rows["hogwild"]["answer_time"]["second"]["never"] == 3
    assert rows["als_cpu"]["epoch_time"]["runs_missing"] == {"first": 1, "second": 1}
    assert rows["als_cpu"]["epoch_time"]["low"] is None
    assert [one["label"] for one in report["first"]["only_here"]] == \
        ["sgd_serial factors=8 reg=0.05 on made"]
    assert rows["wavefront"]["verdict"] == "contended"
    assert rows["wavefront"]["epoch_time"]["contended"] == {"first": 0, "second": 1}
    assert rows["wavefront"]["epoch_time"]["p_adjusted"] is None
    allowed = mfbench("compare", "a", "b", "--json", "--allow-contended", cwd=tmp_path).stdout
    assert {row["label"].split()[0]: row["verdict"] for row in json.loads(allowed)["rows"]}[
        "wavefront"] == "slower"
    for complaints, code in [("slower", 0), ("worse", 1), ("missing", 1), ("failed", 1),
                             ("undecided,slower", 1)]:
        done = mfbench("compare", "a", "b", "--fail-on", complaints, cwd=tmp_path)
        assert done.returncode == code, (complaints, done.stderr)
    assert mfbench("compare", "b", "a", "--fail-on", "slower", cwd=tmp_path).returncode == 1
    assert mfbench("compare", "a", "b", "--fail-on", "sloer", cwd=tmp_path).returncode == 2
    (tmp_path / "empty").mkdir()
    done = mfbench("compare", "a", "empty", cwd=tmp_path)
    assert done.returncode == 2 and "no case in common" in done.stderr
    assert "only in the first" in done.stdout


def test_an_unknown_algorithm_gets_one_guess(mfbench, tmp_path):
    message = mfbench("describe", "hogwlid", cwd=tmp_path, code=2).stderr
    assert message == 'error: there is no algorithm "hogwlid", did you mean "hogwild"?; mfbench list has all\n'


def test_a_program_for_gpus_is_listed_as_one(mfbench, tmp_path):
    listed = {one["name"]: one["hardware"] for one in json.loads(mfbench("list", "--json", cwd=tmp_path).stdout)}
    for form in ROOT.glob("peers/*/peer.json"):
        known = json.loads(form.read_text())
        for name in known["algorithms"]:
            assert listed[f"peer:{form.parent.name}:{name}"] == known.get("hardware", "cpu")


def test_profile_has_a_folder_and_a_header_of_its_own(mfbench, tmp_path):
    (tmp_path / "golden.json").write_text(json.dumps(RULER))
    for arguments, window in [((), {"warmup": 2, "epochs": 3}),
                              (("--profile-warmup", "0"), {"warmup": 0, "epochs": 3})]:
        done = mfbench("run", "golden.json", "--profile", *arguments, cwd=tmp_path, code=0)
        assert "no results" in done.stdout
        paths = sorted((tmp_path / "results/runs/golden-profile").glob("*.jsonl"))
        assert len(paths) == 2
        for path in paths:
            lines = [json.loads(line) for line in path.read_text().splitlines()]
            assert lines[0]["profile"] == window
            assert [line["epoch"] for line in lines[1:-1]] == [0, sum(window.values())]
            assert lines[-1]["stop_reason"].startswith("profiled: ")
    done = mfbench("run", "golden.json", "--out", "results/runs/golden-profile", cwd=tmp_path, code=2)
    assert "choose another folder" in done.stderr


def test_json_output_is_json_alone(mfbench, tmp_path):
    done = mfbench("run", "golden.json", "--out", "out", "--json", cwd=tmp_path, spec=RULER)
    kinds = [json.loads(line)["type"] for line in done.stdout.splitlines()]
    assert kinds.count("case_begins") == kinds.count("case_ends") == 2
    for arguments in (["list"], ["doctor"], ["describe", "ruler"], ["plan", "golden.json"]):
        done = mfbench(*arguments, "--json", cwd=tmp_path, code=0)
        json.loads(done.stdout)
    json.loads(mfbench("schema", cwd=tmp_path).stdout)
