"""The doors beside the front door: paths that are no UTF-8, files without an end, pipes that no one
writes to. Each ends with a message and a documented exit code, in time and in little memory."""

import gzip
import json
import os
import resource
import shutil
import subprocess

import pytest

SPEC = {"datasets": [{"like": "ml-100k", "scale": 0.05}], "stop": {"epochs": 2},
        "save_model": True, "algorithms": ["sgd_serial"]}
NO_UTF8 = os.fsdecode(b"\xff\xfe\x1b[31m")


@pytest.fixture
def bounded(mfbench, tmp_path):
    """Runs mfbench in tmp_path with 2 GiB, for a minute at most."""
    (tmp_path / "s.json").write_text(json.dumps(SPEC))

    def run(*arguments, **environment):
        done = subprocess.run(
            [mfbench.program, *arguments], cwd=tmp_path, timeout=60,
            env={**mfbench.environment(), **environment},
            capture_output=True, stdin=subprocess.DEVNULL,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30)))
        assert b"\x1b" not in done.stderr
        done.text = done.stderr.decode()  # UTF-8 whatever was asked for
        return done
    return run


@pytest.mark.parametrize("arguments, code", [
    (["validate", NO_UTF8], 2),
    (["run", NO_UTF8], 2),
    ([NO_UTF8], 2),
    (["describe", NO_UTF8], 2),
    (["run", "s.json", "--" + NO_UTF8], 2),
    (["data", "stats", NO_UTF8], 2),
    (["data", "stats", "./" + NO_UTF8], 3),
    (["predict", NO_UTF8, "--user", "1", "--item", "1"], 3),
    (["summarize", NO_UTF8, "--out", "a.csv", "b.csv"], 2),
], ids=lambda value: value[0] if isinstance(value, list) else None)
def test_an_argument_that_is_no_utf8_is_named_in_a_message(bounded, arguments, code):
    done = bounded(*arguments)
    assert done.returncode == code, done.text
    assert "error" in done.text or "--help" in done.text


def test_folders_and_specs_may_have_names_that_are_no_utf8(bounded, tmp_path):
    name = os.fsdecode(b"a\xffb")
    shutil.copy(tmp_path / "s.json", tmp_path / f"{name}.json")
    assert bounded("run", f"{name}.json", "--out", name, "--quiet").returncode == 0
    assert bounded("run", f"{name}.json", "--out", name, "--quiet").returncode == 0
    assert bounded("compare", name, name).returncode == 0
    (model,) = (tmp_path / name / "models").iterdir()
    assert bounded("recommend", str(model), "--user", "1").returncode in (0, 3)


@pytest.mark.parametrize("arguments, code", [
    (["validate", "/dev/zero"], 2),
    (["data", "stats", "/dev/zero"], 3),
    (["data", "stats", "./pipe.csv"], 3),
    (["predict", "/dev", "--user", "1", "--item", "1"], 3),
], ids=["spec", "ratings", "pipe", "model"])
def test_what_has_no_end_is_refused(bounded, tmp_path, arguments, code):
    os.mkfifo(tmp_path / "pipe.csv")
    assert bounded(*arguments).returncode == code


def test_a_pipe_among_the_results_holds_nobody_up(bounded, tmp_path):
    assert bounded("run", "s.json", "--out", "r", "--quiet").returncode == 0
    (result,) = (tmp_path / "r").glob("*.jsonl")
    shutil.copytree(tmp_path / "r", tmp_path / "other")
    result.unlink()
    os.mkfifo(result)
    os.mkfifo(tmp_path / "r" / "x.jsonl")
    compared = bounded("compare", "r", "other")
    assert compared.returncode == 2 and "a pipe or a device" in compared.text
    again = bounded("run", "s.json", "--out", "r", "--quiet")
    assert again.returncode == 0, again.text
    assert f"{result.name}: found a folder, a pipe or a device, expected a file" in again.text
    assert result.is_file()


def test_a_number_beyond_double_in_a_spec_is_an_error(bounded, tmp_path):
    (tmp_path / "s.json").write_text(json.dumps({**SPEC, "schedule": {"learning_rate": 7}}).replace("7", "1e999"))
    for command in ("validate", "run"):
        done = bounded(command, "s.json")
        assert done.returncode == 2 and "s.json:1:" in done.text and "1e999" in done.text


def test_a_number_beyond_double_in_a_model_is_an_error(bounded, tmp_path):
    assert bounded("run", "s.json", "--out", "r", "--quiet").returncode == 0
    (model,) = (tmp_path / "r/models").iterdir()
    text = (model / "model.json").read_text()
    assert '"learning_rate": 0.005' in text
    (model / "model.json").write_text(text.replace("0.005", "1e999"))
    done = bounded("predict", str(model), "--user", "1", "--item", "1")
    assert done.returncode == 2 and "1e999" in done.text


@pytest.mark.parametrize("name", ["model.json", "P.npy", "seen_items.npy"])
def test_a_pipe_in_a_model_is_refused_not_waited_for(bounded, tmp_path, name):
    assert bounded("run", "s.json", "--out", "r", "--quiet").returncode == 0
    (model,) = (tmp_path / "r/models").iterdir()
    (model / name).unlink()
    os.mkfifo(model / name)
    done = bounded("predict", str(model), "--user", "1", "--item", "1")
    assert done.returncode == 3 and name in done.text, done.text


def test_a_small_file_that_unpacks_to_much_is_refused(bounded, tmp_path):
    if "libarchive         yes" not in bounded("doctor").stdout.decode():
        pytest.skip("this build unpacks nothing")
    member = gzip.compress(b"no row\n" * (3 << 19))
    (tmp_path / "bomb.txt.gz").write_bytes(member * 26)  # 273 MiB
    done = bounded("data", "stats", "./bomb.txt.gz")
    assert done.returncode == 3
    assert "unpack to more than" in done.text and "MFBENCH_UNPACK=any" in done.text
    done = bounded("data", "stats", "./bomb.txt.gz", MFBENCH_UNPACK="any")
    assert done.returncode == 3
    assert "unpack" not in done.text and "no row" in done.text  # it was unpacked, and read
