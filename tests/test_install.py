"""`cmake --install` into a folder that is then moved: the program runs from there and finds its data;
bash completes what its help names. And the package of Python, which pip makes of the same: of the program that is built
already (MF_BUILT_IN), in seconds, wherever pip finds scikit-build-core; with MFBENCH_WHEEL=full, as in the hosted
workflow, also of a clean clone in a clean environment, as a new user does."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import pytest

from support import cmake_install, installing

ROOT = pathlib.Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def installed(mfbench, tmp_path_factory):
    folder = tmp_path_factory.mktemp("install")
    build = pathlib.Path(mfbench.program).parent
    (folder / "r.csv").write_text("user,item,rating\n1,1,1\n2,2,2\n")
    assert mfbench("data", "import", "mine", "r.csv", cwd=folder).returncode == 0
    cmake_install(build, folder / "first", mfbench.environment())
    (folder / "first").rename(folder / "a b")  # it must not know where it was put
    return folder / "a b"


@pytest.fixture
def run(installed, mfbench, tmp_path):
    def call(program, *arguments, **options):
        environment = {**mfbench.environment(), "PATH": f"{installed / 'bin'}:{os.environ['PATH']}"}
        return subprocess.run([program, *map(str, arguments)], cwd=tmp_path, text=True, timeout=300,
                              capture_output=True, **{"env": environment, **options})
    return call


def test_the_tree_is_complete(installed):
    share = installed / "share"
    for name in ["bin/mfbench", "bin/mfplots", "share/bash-completion/completions/mfbench",
                 "share/mfbench/spec.schema.json", "share/mfbench/datasets/fetch/fetch.py",
                 "share/mfbench/datasets/synthetic/fit.py",
                 "share/mfbench/datasets/fetch/catalog.json", "share/mfbench/peers/common/supervisor.py",
                 "share/mfbench/plots/recipes/cu2rec/striding.json", "share/doc/mfbench/LICENSE",
                 "share/doc/mfbench/docs/spec.md"]:
        assert (installed / name).is_file(), name
    specs = {path.relative_to(ROOT) for path in (ROOT / "experiments").rglob("*.json")}
    assert specs == {path.relative_to(share / "mfbench") for path in
                     (share / "mfbench" / "experiments").rglob("*.json")}
    # The examples of the documents show how an algorithm is tested.
    assert not [path for path in installed.rglob("*") if "__pycache__" in path.parts or path.suffix in (".a", ".o")
                or ("test" in path.parts and "examples" not in path.parts)]
    assert (installed / "include/mfbench/algorithms/core/registry.hpp").is_file()  # for plugins
    assert (installed / "lib/cmake/mfbench/mfbenchConfig.cmake").is_file()


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
                          capture_output=True, text=True, timeout=300,
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


# ---- the package of Python ------------------------------------------------------------------------

# What pip says where there is no index, or none with the package.
NO_INDEX = re.compile(r"No matching distribution found|Could not find a version|Connection|Temporary failure|timed out")

SESSION = '''
import pathlib, sys
import pandas as pd
import mfbench

assert pathlib.Path(mfbench.__file__).is_relative_to(sys.prefix), mfbench.__file__
frame = pd.DataFrame([(f"u{u}", f"i{i}", 1 + (u * i) % 5) for u in range(30) for i in range(u % 3, 40, 3)],
                     columns=["user", "item", "rating"])
if "parquet" in sys.argv:
    frame.to_parquet("ratings.parquet")
    frame = "ratings.parquet"
results = mfbench.run({"name": "wheel", "stop": {"epochs": 2}, "algorithms": ["sgd_serial", "als_cpu"]}, frame,
                      save_model=True)
print(results.figure().save("curves.png"))
print(list(results.model(0).recommend("u1", k=2)["item"]))
print(set(results.cases["status"]))
'''


def call(*command, cwd, **more):
    """Without what points to the source."""
    clean = {name: value for name, value in os.environ.items() if name not in ("MFBENCH", "PYTHONPATH", "PYTHON")}
    return subprocess.run([*map(str, command)], cwd=cwd, env={**clean, **more}, capture_output=True, text=True, check=False)


def make_environment(folder, *options):
    done = call(sys.executable, "-m", "venv", *options, folder, cwd=folder.parent)
    if done.returncode != 0:
        pytest.skip(f"no environment can be made: {done.stdout}{done.stderr}")
    return folder / "bin" / "python"


def pip(python, *words, cwd):
    done = call(python, "-m", "pip", "--disable-pip-version-check", "--retries", "1", *words, cwd=cwd)
    said = done.stdout + done.stderr
    if done.returncode != 0 and NO_INDEX.search(said):
        pytest.skip("pip finds no package index, or not what a wheel is built with")
    assert done.returncode == 0, said


@pytest.fixture(scope="module")
def wheel(mfbench, tmp_path_factory):
    for name in ("pandas", "matplotlib"):
        pytest.importorskip(name)
    build = pathlib.Path(shutil.which(mfbench.program)).resolve().parent
    if not (build / "cmake_install.cmake").is_file():
        pytest.skip(f"{build} is no build folder, from which a wheel could be made")
    folder = tmp_path_factory.mktemp("wheel")
    python = make_environment(folder / "venv", "--system-site-packages")
    with installing(build):
        pip(python, "wheel", "--no-deps", "--wheel-dir", folder, f"--config-settings=cmake.define.MF_BUILT_IN={build}",
            ROOT, cwd=folder)
    (made,) = folder.glob("*.whl")
    pip(python, "install", "--no-deps", "--no-index", made, cwd=folder)
    return python, made


def test_the_wheel_has_the_program_and_what_it_reads(wheel):
    names = zipfile.ZipFile(wheel[1]).namelist()
    version = re.search(r"project\(mfbench VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    assert re.match(rf"mfbench-{version}-py3-none-linux_\w+\.whl$", wheel[1].name)
    share = "mfbench/share/mfbench"
    assert {"mfbench/bin/mfbench", "mfbench/__init__.py", f"{share}/peers/common/mfown.py",
            f"{share}/peers/implicit/adapter.py", f"{share}/datasets/fetch/fetch.py",
            f"{share}/experiments/quickstart.json"} <= set(names)
    assert [name for name in names if name.endswith("mfplots/load.py")] == [f"{share}/plots/mfplots/load.py"]
    assert {"mfbench/lib/cmake/mfbench/plugin_abi.cmake", "mfbench/include/mfbench/algorithms/core/registry.hpp"} <= set(names)
    assert not [name for name in names if "__pycache__" in name or name.endswith((".md", ".a")) or "/test" in name]
    assert wheel[1].stat().st_size < 20e6


def test_an_installed_package_runs_a_frame(wheel, mfbench, tmp_path):
    done = call(wheel[0], "-c", SESSION, cwd=tmp_path, MFBENCH_CACHE=tmp_path / "cache")
    assert done.returncode == 0, done.stderr
    picture, items, statuses = done.stdout.splitlines()
    assert (tmp_path / picture).read_bytes().startswith(b"\x89PNG") and items.count("'i") == 2
    assert statuses == "{'completed'}"


def test_its_command_finds_what_came_with_it(wheel, tmp_path):
    command = wheel[0].parent / "mfbench"
    said = call(command, "validate", "experiments/quickstart.json", cwd=tmp_path)
    assert said.returncode == 0, said.stderr
    peers = json.loads(call(command, "doctor", "--json", cwd=tmp_path).stdout)["peers"]
    assert {"implicit", "libmf"} <= {one["name"] for one in peers}
    done = call(command, "plot", "table", ROOT / "results" / "reference" / "epyc-2" / "quickstart", cwd=tmp_path)
    assert done.returncode == 0 and "fpsgd" in done.stdout, done.stderr


def test_a_portable_wheel_needs_no_compiler_and_no_library(mfbench, tmp_path, monkeypatch):
    """./dev wheel of the program that is built already, in a clean environment whose PATH has nothing else."""
    from mfdev import deps, shell
    from mfdev import wheel as portable
    build = pathlib.Path(shutil.which(mfbench.program)).resolve().parent
    if not (build / "cmake_install.cmake").is_file():
        pytest.skip(f"{build} is no build folder, from which a wheel could be made")
    monkeypatch.chdir(ROOT)
    try:
        deps.install_libraries("wheel")
        with installing(build):
            made = portable.make(build, tmp_path)
    except (shell.Failure, shell.Ended) as why:
        pytest.skip(f"auditwheel or scikit-build-core cannot be had: {why}")
    assert re.match(r"mfbench-[\d.]+-py3-none-manylinux_2_\d+_\w+\.whl$", made.name) and made.stat().st_size < 30e6
    python = make_environment(tmp_path / "venv")
    pip(python, "install", made, cwd=tmp_path)
    bare = {"PATH": str(python.parent), "MFBENCH_CACHE": tmp_path / "cache"}
    done = call(python, "-c", SESSION, cwd=tmp_path, **bare)
    assert done.returncode == 0 and "{'completed'}" in done.stdout, done.stderr
    loaded = call("/usr/bin/ldd", next(tmp_path.glob("venv/lib/*/site-packages/mfbench/bin/mfbench")), cwd=tmp_path).stdout
    assert "not found" not in loaded
    system = {name for name, path in re.findall(r"^\t(\S+) => (\S+)", loaded, re.M) if "site-packages" not in path}
    assert {name.partition(".")[0] for name in system} <= {"libc", "libm", "libstdc++", "libgcc_s", "libz", "libexpat"}


def test_a_clean_clone_is_compiled_and_installed(tmp_path):
    if os.environ.get("MFBENCH_WHEEL") != "full":
        pytest.skip("compiles for minutes: MFBENCH_WHEEL=full asks for it, as the hosted workflow does")
    done = call("git", "clone", "--quiet", ROOT, tmp_path / "clone", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    python = make_environment(tmp_path / "venv")
    pip(python, "install", ".[arrow]", cwd=tmp_path / "clone")
    done = call(python, "-c", SESSION, "parquet", cwd=tmp_path, MFBENCH_CACHE=tmp_path / "cache")
    assert done.returncode == 0 and "{'completed'}" in done.stdout, done.stderr


# ---- configuring --------------------------------------------------------------------------------

def configured(tmp_path, *more, path=os.environ["PATH"]):
    done = call("cmake", "-G", "Ninja", "-S", ROOT, "-B", tmp_path / "build", *more, cwd=tmp_path, PATH=path)
    return done.returncode, done.stdout + done.stderr


def test_all_missing_packages_are_in_one_line_for_apt(tmp_path):
    code, said = configured(tmp_path, *(f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("fmt", "Eigen3", "GTest")))
    assert code == 1 and "  apt-get install --no-install-recommends libfmt-dev libeigen3-dev libgtest-dev\n" in said


@pytest.mark.parametrize("answer, cuda", [("echo 7.5", True), ("exit 9", False), ("echo No devices were found", False)])
def test_without_a_wish_cuda_is_built_where_a_device_answers(tmp_path, answer, cuda):
    if not (shutil.which("nvcc") or os.access("/usr/local/cuda/bin/nvcc", os.X_OK)):
        pytest.skip("no nvcc")
    (tmp_path / "nvidia-smi").write_text(f"#!/bin/sh\n{answer}\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    code, said = configured(tmp_path, "-DMF_BUILD_TESTS=OFF", "-DMF_BUILD_BENCHMARKS=OFF", path=f"{tmp_path}:{os.environ['PATH']}")
    assert code == 0 and ("for architectures 75" in said) is cuda
    assert ("-DMF_WITH_CUDA=ON builds for GPUs elsewhere" in said) is not cuda


# ---- version ------------------------------------------------------------------------------------

def test_the_version_comes_from_one_place(mfbench, tmp_path):
    version = re.search(r"project\(mfbench VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    lines = mfbench("--version", cwd=tmp_path).stdout.splitlines()
    assert lines[0] == f"mfbench {version}"
    assert re.match(r"commit: ([0-9a-f]{40}|unknown)(, with changes)?$", lines[1])
    assert lines[2].startswith("build: ") and lines[3].startswith("with ")
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
    assert completed(mfbench, "mfbench data fe", tmp_path) == {"fetch"}
    assert completed(mfbench, "mfbench run a", tmp_path) == {"a.json"}
    assert {"--out", "--retry", "--profile-warmup"} <= completed(mfbench, "mfbench run a.json --", tmp_path)
    assert completed(mfbench, "mfbench data import --tr", tmp_path) == {"--train"}
