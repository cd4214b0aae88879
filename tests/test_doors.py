"""The doors beside the front door: paths that are no UTF-8, files without an end, pipes that no one
writes to. Each ends with a message and a documented exit code, in time and in little memory."""

import gzip
import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys

import pytest

from guide import ROOT
from support import as_from_a_terminal, in_little_memory, wait_for

SPEC = {"datasets": [{"like": "ml-100k", "scale": 0.05}], "stop": {"epochs": 2},
        "save_model": True, "algorithms": ["sgd_serial"]}
NO_UTF8 = os.fsdecode(b"\xff\xfe\x1b[31m")


@pytest.fixture
def bounded(mfbench, tmp_path):
    """Runs mfbench in tmp_path with 2 GiB, for a minute at most."""
    (tmp_path / "s.json").write_text(json.dumps(SPEC))

    def run(*arguments, limit=lambda: resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30)), **environment):
        done = subprocess.run(
            [mfbench.program, *arguments], cwd=tmp_path, timeout=300,
            env={**mfbench.environment(), **environment},
            capture_output=True, stdin=subprocess.DEVNULL,
            preexec_fn=limit)
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
    (["predict", NO_UTF8], 3),
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
    (["predict", "/dev"], 3),
], ids=["spec", "ratings", "pipe", "model"])
def test_what_has_no_end_is_refused(bounded, tmp_path, arguments, code):
    os.mkfifo(tmp_path / "pipe.csv")
    assert bounded(*arguments).returncode == code


def test_a_pipe_among_the_results_is_not_waited_for(bounded, tmp_path):
    assert bounded("run", "s.json", "--out", "r", "--quiet").returncode == 0
    (result,) = (tmp_path / "r").glob("*.jsonl")
    shutil.copytree(tmp_path / "r", tmp_path / "other")
    result.unlink()
    os.mkfifo(result)
    os.mkfifo(tmp_path / "r" / "x.jsonl")
    compared = bounded("compare", "r", "other")
    assert compared.returncode == 2 and "found a pipe, expected a file" in compared.text
    again = bounded("run", "s.json", "--out", "r", "--quiet")
    assert again.returncode == 0, again.text
    assert f"{result.name}: found a pipe, expected a file" in again.text
    assert result.is_file()


def test_a_result_that_is_too_long_is_not_read(bounded, tmp_path):
    """Of 2 GiB, in less memory than is read of a file without a size."""
    assert bounded("run", "s.json", "--out", "r", "--quiet").returncode == 0
    shutil.copytree(tmp_path / "r", tmp_path / "other")
    os.truncate(min((tmp_path / "r").glob("*.jsonl")), 2 << 30)
    done = bounded("compare", "r", "other", limit=in_little_memory)
    assert done.returncode == 2 and ".jsonl: found more than 1024 MiB, expected a shorter text" in done.text
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({448 << 20},) * 2)"
    read = "from mfplots.files import *; read_bytes(Path(sys.argv[1]), MOST_OF_RESULT)"
    (path,) = (tmp_path / "r").glob("*.jsonl")
    done = subprocess.run([sys.executable, "-c", f"import sys; {limit}; {read}", path], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT / "plots")})
    assert "PlotError: " in done.stderr and "found more than 1024 MiB, expected a shorter file" in done.stderr


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
    done = bounded("predict", str(model))
    assert done.returncode == 2 and "1e999" in done.text


@pytest.mark.parametrize("name", ["model.json", "P.npy", "seen_items.npy"])
def test_a_pipe_in_a_model_is_refused_not_waited_for(bounded, tmp_path, name):
    assert bounded("run", "s.json", "--out", "r", "--quiet").returncode == 0
    (model,) = (tmp_path / "r/models").iterdir()
    (model / name).unlink()
    os.mkfifo(model / name)
    done = bounded("predict", str(model))
    assert done.returncode == 3 and name in done.text, done.text


def test_a_small_file_that_unpacks_to_much_is_refused(bounded, tmp_path):
    if not json.loads(bounded("doctor", "--json").stdout)["build"]["libarchive"].startswith("yes"):
        pytest.skip("this build unpacks nothing")
    member = gzip.compress(b"no row\n" * (3 << 19))
    (tmp_path / "bomb.txt.gz").write_bytes(member * 26)  # 273 MiB
    done = bounded("data", "stats", "./bomb.txt.gz")
    assert done.returncode == 3
    assert "unpack to more than" in done.text and "MFBENCH_UNPACK=any" in done.text
    done = bounded("data", "stats", "./bomb.txt.gz", MFBENCH_UNPACK="any")
    assert done.returncode == 3
    assert "unpack" not in done.text and "no row" in done.text  # it was unpacked, and read


def test_the_cache_of_another_user_is_named_once(bounded, mfbench, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root can give a file to another user")
    cache = tmp_path / "cache"
    (tmp_path / "r.csv").write_text("user,item,rating\n" + "".join(f"{row % 40},{row % 31},{row % 5}\n" for row in range(900)))
    (tmp_path / "s.json").write_text(json.dumps({**SPEC, "datasets": [{"path": "r.csv"}]}))
    assert "wrote it" not in bounded("run", "s.json", "--out", "r", MFBENCH_CACHE=str(cache)).text
    (file,) = cache.glob("*.mfc")
    for owner, times in ((os.geteuid(), 0), (4711, 1)):
        os.chown(file, owner, -1)
        done = bounded("run", "s.json", "--out", "r", "--rerun", MFBENCH_CACHE=str(cache))
        assert done.returncode == 0 and done.text.count(f"{file}: user 4711 wrote it; MFBENCH_CACHE may name") == times


# ---- a folder of results that someone else has made ----------------------------------------------

TUNED = {**SPEC, "datasets": [{"like": "ml-100k", "scale": 0.05, "split": {"holdout": 0.2, "validation": 0.1}}],
         "algorithms": [{"name": "sgd_serial", "tune": {"trials": 2, "eta": 1, "over": {"reg": [0.01, 0.1]}}}]}
# By what a name of the folder may be taken before a command comes.
TAKEN = {
    "pipe": lambda path, outside: os.mkfifo(path),
    "folder": lambda path, outside: path.mkdir(),
    "link": lambda path, outside: path.symlink_to(outside / "mine"),
    "dangling": lambda path, outside: path.symlink_to(outside / "new"),
    "loop": lambda path, outside: path.symlink_to(path.name),
}
COMMANDS = [("run", "s.json", "--out", "r", "--quiet"), ("run", "s.json", "--out", "r", "--quiet", "--rerun"),
            ("run", "s.json", "--out", "r", "--quiet", "--apart"), ("compare", "r", "r"), ("tune", "r"),
            ("summarize", "r", "--out", "cases.csv", "trace.csv"), ("merge", "r2", "r")]


@pytest.fixture(scope="module")
def tuned(mfbench, tmp_path_factory):
    """A folder of results with trials and models, made once."""
    folder = tmp_path_factory.mktemp("tuned")
    (folder / "s.json").write_text(json.dumps(TUNED))
    done = mfbench("run", "s.json", "--out", "r", "--quiet", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("kind", TAKEN)
def test_no_name_in_a_folder_of_results_leads_out_of_it(bounded, tuned, tmp_path, kind):
    """Each name by itself: nothing outside is read into results, changed or made, and nothing waits."""
    (tmp_path / "s.json").write_text(json.dumps(TUNED))
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mine").write_text("what the user keeps\n")
    names = sorted(path.relative_to(tuned / "r") for path in (tuned / "r").rglob("*") if path.suffix != ".npy")
    trials = [name for name in names if name.name.startswith("e")]
    assert len(trials) == 2
    names.remove(trials[1])  # which is as the first
    assert {str(name).split("/")[0] for name in names} > {"models", "tune", "spec.json"}
    for name in names:
        for command in COMMANDS:
            for made in ("r", "r2"):
                shutil.rmtree(tmp_path / made, ignore_errors=True)
            shutil.copytree(tuned / "r", tmp_path / "r")
            path = tmp_path / "r" / name
            shutil.rmtree(path) if path.is_dir() else path.unlink()
            TAKEN[kind](path, outside)
            done = bounded(*command, limit=in_little_memory)
            assert done.returncode in range(8), (name, command, done.text)
            assert "json.exception" not in done.text and "filesystem" not in done.text, (name, command, done.text)
            assert [(one.name, one.read_text()) for one in outside.iterdir()] == [("mine", "what the user keeps\n")], \
                (name, command, done.text)


def test_a_link_that_takes_the_place_of_models_in_training_leads_no_model_out(mfbench, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "s.json").write_text(json.dumps({**SPEC, "stop": {"epochs": 10**6, "train_seconds": 1.5},
                                                 "evaluate": {"every": 1000}}))
    process = subprocess.Popen([mfbench.program, "run", "s.json", "--out", "r", "--quiet"], cwd=tmp_path,
                               env=mfbench.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    result = wait_for(lambda: next((one for one in tmp_path.glob("r/*.jsonl") if '"trace"' in one.read_text()), None))
    (tmp_path / "r/models").rename(tmp_path / "r/aside")
    (tmp_path / "r/models").symlink_to(tmp_path / "outside")
    assert process.wait(300) == 1
    assert list((tmp_path / "outside").iterdir()) == []
    footer = json.loads(result.read_text().splitlines()[-1])
    assert "one of its folders is a file or a link" in footer["stop_reason"]


# ---- a cache that another process writes, and never ends to --------------------------------------

@pytest.fixture
def held(mfbench, tmp_path):
    """A spec whose data another machine is putting into the cache, by its claim."""
    (tmp_path / "r.csv").write_text("".join(f"{u},{i},{(u + i) % 5}\n" for u in range(20) for i in range(20)))
    cache = tmp_path / "cache"
    environment = {**mfbench.environment(), "MFBENCH_CACHE": str(cache)}
    spec = {**SPEC, "datasets": ["./r.csv"]}
    (tmp_path / "s.json").write_text(json.dumps(spec))
    subprocess.run([mfbench.program, "run", "s.json", "--quiet", "--out", "first"], cwd=tmp_path, env=environment, check=True)
    (file,) = cache.glob("*.mfc")
    file.unlink()
    assert not list(cache.iterdir()), "nothing is left to hold"
    claim = cache / f".claim-{hashlib.sha256(file.name.encode()).hexdigest()[:20]}"
    claim.write_text(json.dumps({"host": "elsewhere", "boot": "b", "space": "s", "pid": 7, "begin": "1",
                                 "token": "0123456789abcdef", "about": "file"}))

    def start(**stop):
        (tmp_path / "s.json").write_text(json.dumps({**spec, "stop": {"epochs": 2, **stop}}))
        return subprocess.Popen([mfbench.program, "run", "s.json", "--quiet", "--out", "r"], cwd=tmp_path, env=environment,
                                stdout=subprocess.PIPE, stderr=open(tmp_path / "said", "wb"), preexec_fn=as_from_a_terminal)
    return start


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_the_wait_for_a_cache(held, tmp_path, number):
    process = held()
    said = wait_for(lambda: (tmp_path / "said").read_text(), "its word that it waits")
    assert "waiting for process 7 on elsewhere, which writes " in said
    process.send_signal(number)
    assert process.wait(300) == 128 + number
    (case,) = (tmp_path / "r").glob("*.jsonl")
    assert json.loads(case.read_text().splitlines()[-1])["status"] == "interrupted"


def test_the_limit_of_a_case_ends_the_wait_for_a_cache(held, tmp_path):
    assert held(wall_seconds=1).wait(300) == 1
    (case,) = (tmp_path / "r").glob("*.jsonl")
    footer = json.loads(case.read_text().splitlines()[-1])
    assert footer["status"] == "timeout" and "waiting for process 7 on elsewhere, which writes" in footer["stop_reason"]
