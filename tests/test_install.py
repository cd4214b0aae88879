"""`cmake --install` into a folder that is then moved: the program runs from there and finds its data;
bash completes what its help names."""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def installed(mfbench, tmp_path_factory):
    folder = tmp_path_factory.mktemp("install")
    build = pathlib.Path(mfbench.program).parent
    (folder / "r.csv").write_text("user,item,rating\n1,1,1\n2,2,2\n")
    assert mfbench("data", "import", "mine", "r.csv", cwd=folder).returncode == 0
    done = subprocess.run(["cmake", "--install", build, "--prefix", folder / "first"],
                          capture_output=True, text=True, env=mfbench.environment())
    assert done.returncode == 0, done.stderr
    (folder / "first").rename(folder / "a b")  # it must not know where it was put
    return folder / "a b"


@pytest.fixture
def run(installed, mfbench, tmp_path):
    def call(program, *arguments, **options):
        environment = {**mfbench.environment(), "PATH": f"{installed / 'bin'}:{os.environ['PATH']}"}
        return subprocess.run([program, *map(str, arguments)], cwd=tmp_path, text=True, timeout=60,
                              capture_output=True, **{"env": environment, **options})
    return call


def test_the_tree_is_complete(installed):
    share = installed / "share"
    for name in ["bin/mfbench", "bin/mfplots", "share/bash-completion/completions/mfbench",
                 "share/mfbench/spec.schema.json", "share/mfbench/datasets/fetch/fetch.py",
                 "share/mfbench/datasets/fetch/catalog.json", "share/mfbench/peers/common/supervisor.py",
                 "share/mfbench/plots/recipes/cu2rec/striding.json", "share/doc/mfbench/LICENSE",
                 "share/doc/mfbench/docs/spec.md"]:
        assert (installed / name).is_file(), name
    specs = {path.relative_to(ROOT) for path in (ROOT / "experiments").rglob("*.json")}
    assert specs == {path.relative_to(share / "mfbench") for path in
                     (share / "mfbench" / "experiments").rglob("*.json")}
    assert not [path for path in installed.rglob("*") if "__pycache__" in path.parts
                or path.suffix in (".a", ".o", ".cpp", ".hpp")]


def test_it_runs_what_came_with_it_from_anywhere(run, mfbench, installed, tmp_path):
    done = run("mfbench", "validate", "experiments/quickstart.json")
    assert done.returncode == 0, done.stderr
    alone = {**mfbench.environment(), "MFBENCH_CACHE": str(tmp_path / "cache")}  # no set that another test has read
    done = run(installed / "bin" / "mfbench", "run", "experiments/ml-100k.json", env=alone)
    assert done.returncode == 3 and "ml-100k: u.data" in done.stderr  # the spec was found
    done = run("mfbench", "validate", "experiments/no.json")
    assert done.returncode == 2 and "experiments/no.json" in done.stderr
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments/quickstart.json").write_text("[]")
    assert run("mfbench", "validate", "experiments/quickstart.json").returncode == 2  # one's own first


def test_figures_are_drawn_by_what_was_installed(installed, mfbench, tmp_path):
    for name in ("matplotlib", "pandas"):
        pytest.importorskip(name)
    done = subprocess.run([installed / "bin" / "mfplots", "table",
                           ROOT / "results" / "reference" / "epyc-2" / "quickstart"], cwd=tmp_path,
                          capture_output=True, text=True, timeout=120,
                          env={**os.environ, "PYTHON": sys.executable})
    assert done.returncode == 0, done.stderr
    assert "fpsgd" in done.stdout


def test_peers_are_found_beside_it(run):
    peers = json.loads(run("mfbench", "doctor", "--json").stdout)["peers"]
    assert peers and all("MFBENCH_PEER_SCRIPTS" not in peer["state"] for peer in peers)


def test_the_schema_is_the_program_s(installed, mfbench, tmp_path):
    """Without the data sets that whoever installs it has imported."""
    kept = json.loads((installed / "share/mfbench/spec.schema.json").read_text())
    nothing = {**mfbench.environment(), "MFBENCH_CACHE": str(tmp_path / "empty")}
    assert kept == json.loads(mfbench("schema", cwd=tmp_path, env=nothing).stdout)


# ---- version ------------------------------------------------------------------------------------

def test_the_version_comes_from_one_place(mfbench, tmp_path):
    version = re.search(r"project\(mfbench VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    lines = mfbench("--version", cwd=tmp_path).stdout.splitlines()
    assert lines[0] == f"mfbench {version}"
    assert re.match(r"commit: ([0-9a-f]{40}|unknown)(, with changes)?$", lines[1])
    assert lines[2].startswith("build: ") and lines[3].startswith("with: ")
    assert mfbench("doctor", cwd=tmp_path).stdout.split("\n")[0].split()[1] == version


def test_changelog_and_citation_have_the_same_version():
    version = re.search(r"project\(mfbench VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    released = re.findall(r"^## \[(\d\S+)\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert released[0][0] == version
    assert f"version: {version}\ndate-released: {released[0][1]}\n" in (ROOT / "CITATION.cff").read_text()


# ---- the environment ------------------------------------------------------------------------------

def variables():
    """That the program asks for: those of tests and benchmarks are their own."""
    sources = [path for room in ("base", "datasets", "algorithms", "harness")
               for path in (ROOT / room).rglob("*.[ch]pp")
               if not {"test", "bench"} & set(path.relative_to(ROOT).parts)]
    return {name for path in sources for name in re.findall(r'"(MFBENCH_\w+)"', path.read_text())}


def test_all_variables_of_the_environment_are_documented():
    page = (ROOT / "docs" / "spec.md").read_text()
    rows = re.findall(r"^\| (`MFBENCH_[^|]*) \|", page, re.M)
    assert {name for row in rows for name in re.findall(r"MFBENCH_\w+", row)} == variables() != set()


# ---- completion -----------------------------------------------------------------------------------

def completed(mfbench, line, cwd):
    """What bash would offer for a line."""
    words = line.split(" ")
    words[0] = mfbench.program
    code = (f"source {ROOT}/cmake/mfbench-completion.bash; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); "
            '_mfbench; printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "--norc", "-c", code, "_", *words], cwd=cwd, text=True,
                          capture_output=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return set(done.stdout.split("\n")) - {""}


def test_bash_completes_commands_options_and_files(mfbench, tmp_path):
    (tmp_path / "a.json").write_text("{}")
    assert {"run", "data", "describe", "a.json"} <= completed(mfbench, "mfbench ", tmp_path)
    assert completed(mfbench, "mfbench vali", tmp_path) == {"validate"}
    assert completed(mfbench, "mfbench data f", tmp_path) == {"fetch"}
    assert completed(mfbench, "mfbench run a", tmp_path) == {"a.json"}
    assert {"--out", "--retry", "--profile-warmup"} <= completed(mfbench, "mfbench run a.json --", tmp_path)
    assert completed(mfbench, "mfbench data import --tr", tmp_path) == {"--train"}
