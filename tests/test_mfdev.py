"""./dev: its words, and what it runs."""

import json
import os
import pathlib
import re
import subprocess

import pytest

from mfdev import build, deps, quickstart, shell
from mfdev.__main__ import COMMANDS, USAGE, main

ROOT = pathlib.Path(__file__).resolve().parent.parent


# ---- the command line ----------------------------------------------------------------------------

def dev(*words, **environment):
    return subprocess.run([ROOT / "dev", *words], text=True, capture_output=True, env={**os.environ, **environment})


def test_the_help_names_every_command():
    done = dev("help")
    assert done.returncode == 0 and done.stdout == USAGE
    assert set(re.findall(r"(?:^|, )\./dev ([\w-]+)", USAGE, re.M)) == set(COMMANDS)


@pytest.mark.parametrize("command", ["plot", "report", "mfbench"])
def test_words_name_files_of_the_folder_that_it_is_called_in(tmp_path, command):
    program = tmp_path / "mfbench"
    program.write_text("#!/bin/sh\npwd\n")
    program.chmod(0o755)
    done = subprocess.run([ROOT / "dev", command], cwd=tmp_path, text=True, capture_output=True,
                          env={**os.environ, "MFBENCH": str(program)}, check=False)
    assert done.stdout.strip() == str(tmp_path)


@pytest.mark.parametrize("words, said", [
    (["bogus"], "there is no command 'bogus'; known: quickstart test gpu-test build"),
    (["quickstart", "--fast"], "quickstart: unknown argument '--fast'"),
    (["lint", "x"], "lint: unknown argument 'x'"),
    (["test", "gcc"], "test: there is no preset 'gcc'; known: cpu ci clang asan tsan"),
    (["deps", "bogus"], "there is no group 'bogus'; known: build plot test"),
    (["peers", "bogus"], "peers: there is no library 'bogus'; known: "),
    (["cards", "--gpu"], "cards: unknown argument '--gpu'; known: --out DIR, --cpu"),
    (["docs", "--x"], "docs: unknown argument '--x'; known: --out DIR, --check, --update"),
    (["docs", "--out", "a", "b"], "docs: unknown argument 'b'"),
])
def test_a_word_that_there_is_not_is_named(words, said, capsys):
    assert main(words) == 1
    out, err = capsys.readouterr()
    assert err.startswith(f"error: {said}") and "all there" not in out


@pytest.fixture
def benches(tmp_path, monkeypatch):
    """A tree whose build has two benchmarks; the words with which they ran."""
    for name in ("als_bench", "als_gpubench"):
        program = tmp_path / "build/cpu" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.touch(0o755)
    ran = []
    monkeypatch.chdir(tmp_path)
    for name, stub in [("need", lambda *_: None), ("configure", lambda *_, **__: None), ("default_preset", lambda: "cpu"),
                       ("build_target", lambda *words: ran.append([*words])), ("output_of", lambda *_: "als_bench: phony\n... lint\n"),
                       ("run", lambda program, *words: ran.append([program.name, *words]))]:
        monkeypatch.setattr(build, name, stub)
    return ran


def test_a_benchmark_runs_by_its_name(benches):
    build.bench(["als_bench", "--benchmark_filter=x"])
    assert benches == [["cpu", "als_bench"], ["als_bench", "--benchmark_filter=x"]]


def test_without_a_name_all_benchmarks_run_that_need_no_gpu(benches):
    build.bench(["--benchmark_filter=x"])
    assert benches == [["cpu", "benchmarks"], ["als_bench", "--benchmark_filter=x"]]


@pytest.mark.parametrize("name, why", [("als_gpubench", "als_gpubench needs nvcc and a GPU; known here: als_bench"),
                                       ("alsbench", "alsbench is none of the programs; known here: als_bench")])
def test_a_benchmark_that_there_is_not_is_named(benches, name, why):
    with pytest.raises(shell.Failure, match=f"bench: {why}"):
        build.bench([name])
    assert benches == []


def test_the_page_of_benchmarks_has_all_programs():
    page = (ROOT / "docs/benchmarks.md").read_text()
    files = [path for path in ROOT.glob("*/**/bench/*bench*.c*") if "build" not in path.parts]
    assert len(files) > 20
    for path in files:
        assert f"[{path.name.split('.')[0]}](../{path.relative_to(ROOT)})" in page.replace("\n", " ")


def test_the_races_are_those_that_are_promised_and_have_room(mfbench, tmp_path):
    algorithms = {}
    for race in ("quickstart", "quickstart-gpu"):
        done = mfbench("validate", ROOT / "experiments" / f"{race}.json", "--json", cwd=tmp_path, code=0)
        algorithms[race] = {case["case"]["algorithm"] for case in json.loads(done.stdout)}
        assert json.loads((ROOT / "experiments" / f"{race}.json").read_text())["target_rmse"]
    assert algorithms == {"quickstart": {"sgd_serial", "hogwild", "fpsgd", "als_cpu"},
                          "quickstart-gpu": {"sgd_tiled", "als_fused", "als", "batch_hogwild", "ebgtg", "fpsgd", "als_cpu"}}
    done = mfbench("plan", ROOT / "experiments" / "quickstart-gpu.json", "--no-measure", "--json",
                   "--device-memory", quickstart.DEVICE_MIB / 1024, cwd=tmp_path, code=0)
    for case in json.loads(done.stdout)["cases"]:
        assert case["device_bytes"] < quickstart.DEVICE_MIB * 2**20
        assert case["host_bytes"] < quickstart.HOST_KIB * 2**10, case


# ---- programs beside others ----------------------------------------------------------------------

def test_a_program_beside_speaks_when_it_is_waited_for_and_ends_with_us(capfdbinary):
    with shell.Beside("sh", "-c", "echo said; exit 3") as process:
        print("before", flush=True)
        assert process.wait() == 3
    assert capfdbinary.readouterr().out == b"before\nsaid\n"
    with pytest.raises(ValueError), shell.Beside("sh", "-c", "sleep 60 & wait"):
        raise ValueError
    with pytest.raises(shell.Ended, match="ended with 4"):
        shell.run("sh", "-c", "exit 4")


@pytest.mark.parametrize("sudo, begins", [(True, "on Debian or Ubuntu:\n  sudo apt-get install"),
                                          (False, "on Debian or Ubuntu, as root:\n  apt-get install")])
def test_the_lines_for_apt_are_what_is_needed_and_all(monkeypatch, sudo, begins):
    monkeypatch.setattr(deps, "missing_packages", lambda groups: [f"{group}-dev" for group in groups])
    monkeypatch.setattr(deps, "have_program", lambda name: sudo)
    needed, all_ = deps.apt_line(["build", "plot"], ["mpi"]).removeprefix(begins).split("\n")
    assert needed == " --no-install-recommends build-dev plot-dev  # needed: at most 1 GB"
    assert all_.endswith("apt-get install --no-install-recommends build-dev plot-dev mpi-dev  # all: at most 1.4 GB")
    assert deps.apt_line([], ["mpi"]).count("\n") == deps.apt_line(["build"], []).count("\n") == 1
