"""A name with signs in it, `ccd++_cpu`, through all that makes a file name or an id of it."""

import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

SPEC = {
    "name": "signs",
    "datasets": [{"like": "ml-100k", "scale": 0.05, "seed": 3}],
    "stop": {"epochs": 2},
    "baseline": "ccd++_cpu",
    "save_model": True,
    "algorithms": [{"name": "ccd++_cpu", "factors": 2, "inner_iterations": [1, 2]}],
}


def test_a_name_with_signs_runs_resumes_predicts_and_is_drawn(mfbench, tmp_path):
    mfbench("run", "signs.json", "--out", "out", cwd=tmp_path, code=0, spec=SPEC)
    files = sorted((tmp_path / "out").glob("*.jsonl"))
    assert [path.name.split("-")[0] for path in files] == ["ccd++_cpu", "ccd++_cpu"]
    for path in files:
        header = json.loads(path.read_text().splitlines()[0])
        assert header["case_id"] == path.stem
        assert header["algorithm"]["name"] == "ccd++_cpu"
        model = tmp_path / "out" / "models" / path.stem
        assert model.is_dir()
        mfbench("recommend", model, "--user", "1", "-k", "3", cwd=tmp_path, code=0)

    done = mfbench("run", "signs.json", "--out", "out", cwd=tmp_path)
    assert "0 run now, 2 finished before" in done.stdout

    done = mfbench("describe", "ccd++_cpu", cwd=tmp_path)
    assert done.stdout.startswith("ccd++_cpu: ")
    wrong = mfbench("describe", "ccd_cpu", cwd=tmp_path)
    assert 'did you mean "ccd++_cpu"' in wrong.stderr

    done = subprocess.run([sys.executable, "-m", "mfplots", "out", "--figure", "rmse-time", "--format", "svg"],
                          cwd=tmp_path, text=True, capture_output=True, env={
                              "MFBENCH": mfbench.program, "PYTHONPATH": str(ROOT / "plots"),
                                  "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert "ccd++_cpu" in "".join(path.read_text() for path in tmp_path.rglob("*.svg"))


def test_every_experiment_is_valid_and_its_files_are_told_apart_by_what_differs(mfbench, tmp_path):
    for path in sorted((ROOT / "experiments").rglob("*.json")):
        if path.name.endswith(".bench.json"):  # a request for a benchmark program
            continue
        done = mfbench("validate", path, "--json", cwd=tmp_path, code=0)
        names = [item["id"] for item in json.loads(done.stdout)]
        assert all(len(f"{name}.jsonl") <= 120 for name in names), path
        assert all(re.fullmatch(r"[A-Za-z0-9._+-]+-[0-9a-f]{10}", name) for name in names), path
        readable = [name[:-len("-0123456789")] for name in names]
        assert len(set(readable)) == len(names), path


def no_utf8(name):
    return os.fsdecode(name.encode("latin-1"))


def test_names_of_files_that_are_no_utf8_stand_in_json(mfbench, tmp_path):
    name = no_utf8("own\xff.txt")
    (tmp_path / name).write_text("1 1 4\n2 2 3\n1 2 5\n2 1 1\n3 1 2\n3 2 2\n")
    done = mfbench("data", "stats", "./" + name, "--json", cwd=tmp_path, code=0)
    assert json.loads(done.stdout)
    spec = {"datasets": [{"like": "ml-100k", "scale": 0.05}], "stop": {"epochs": 1},
            "save_model": True, "algorithms": [{"name": "sgd_serial", "factors": 2}]}
    (tmp_path / no_utf8("spec\xff.json")).write_text(json.dumps(spec))  # which names the spec
    mfbench("run", no_utf8("spec\xff.json"), "--out", "out", "--json", cwd=tmp_path, code=0)
    assert json.loads((tmp_path / "out" / "spec.json").read_text(encoding="utf-8"))


def test_an_error_that_names_such_a_file_is_a_line_of_json(mfbench, tmp_path):
    (tmp_path / "movies").mkdir()
    (tmp_path / "movies" / no_utf8("mv_\xff.txt")).write_text("1:\nnot a rating\n")
    spec = {"name": "bad", "datasets": [{"path": "movies", "format": "netflix"}], "stop": {"epochs": 1},
            "algorithms": [{"name": "sgd_serial", "factors": 2}]}
    done = mfbench("run", "bad.json", "--out", "out", "--json", cwd=tmp_path, code=3, spec=spec)
    last = json.loads(done.stdout.splitlines()[-2])
    assert last["type"] == "case_ends" and last["status"] == "error"
    assert "mv_\ufffd.txt:2:" in last["reason"]
