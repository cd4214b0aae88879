"""A name with signs in it, `ccd++_cpu`, through all that makes a file name or an id of it."""

import json
import pathlib
import re
import subprocess
import sys

import pytest

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
    (tmp_path / "signs.json").write_text(json.dumps(SPEC))
    done = mfbench("run", "signs.json", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    files = sorted((tmp_path / "out").glob("*.jsonl"))
    assert [path.name.split("-")[0] for path in files] == ["ccd++_cpu", "ccd++_cpu"]
    for path in files:
        header = json.loads(path.read_text().splitlines()[0])
        assert header["case_id"] == path.stem
        assert header["algorithm"]["name"] == "ccd++_cpu"
        model = tmp_path / "out" / "models" / path.stem
        assert model.is_dir()
        done = mfbench("recommend", model, "--user", "1", "-k", "3", cwd=tmp_path)
        assert done.returncode == 0, done.stderr

    done = mfbench("run", "signs.json", "--out", "out", cwd=tmp_path)
    assert "0 run now, 2 finished before" in done.stdout

    done = mfbench("describe", "ccd++_cpu", cwd=tmp_path)
    assert done.stdout.startswith("ccd++_cpu: ")
    wrong = mfbench("describe", "ccd_cpu", cwd=tmp_path)
    assert 'did you mean "ccd++_cpu"' in wrong.stderr

    for arguments in (["table", "out"], ["out", "--figure", "rmse-time", "--format", "svg"],
                      ["report", "out"]):
        done = subprocess.run([sys.executable, "-m", "mfplots", *arguments], cwd=tmp_path, text=True,
                              capture_output=True, env={"PYTHONPATH": str(ROOT / "plots"),
                                                        "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)})
        assert done.returncode == 0, done.stderr
        if arguments[0] == "table":
            assert "ccd++_cpu" in done.stdout


SPECS = [path for path in sorted((ROOT / "experiments").rglob("*.json"))
         if not path.name.endswith(".bench.json")]


@pytest.mark.parametrize("path", SPECS, ids=lambda path: str(path.relative_to(ROOT / "experiments")))
def test_the_files_of_every_experiment_are_told_apart_by_what_differs(mfbench, tmp_path, path):
    done = mfbench("validate", path, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    names = [item["id"] for item in json.loads(done.stdout)]
    assert all(len(f"{name}.jsonl") <= 120 for name in names)
    assert all(re.fullmatch(r"[A-Za-z0-9._+-]+-[0-9a-f]{10}", name) for name in names)
    readable = [name[:-len("-0123456789")] for name in names]
    assert len(set(readable)) == len(names)
