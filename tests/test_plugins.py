"""Algorithms of shared objects: the worked example as a plugin of an installed mfbench, and all that is refused."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys

import pytest

from guide import GUIDE, ROOT, commands, files_of, without
from support import cases_of, children_of, cmake_install, lines_of, wait_for

LIST = re.search(r"^```cmake\n(.*?)^```$", GUIDE.read_text(), re.M | re.S)[1]
SPEC = {"name": "plug", "datasets": [{"like": "ml-100k", "scale": 0.1}], "stop": {"epochs": 2},
        "algorithms": ["bias_only", "bias"], "baseline": "bias_only"}


@pytest.fixture(scope="module")
def installed(mfbench, tmp_path_factory):
    build = pathlib.Path(mfbench.program).resolve().parent
    if not (build / "cmake_install.cmake").is_file():
        pytest.skip(f"{build} is no build folder, which could be installed")
    if re.search(r"^MF_SANITIZE:\w+=.", (build / "CMakeCache.txt").read_text(), re.M):
        pytest.skip("a plugin of a sanitized program needs the same sanitizer")
    prefix = tmp_path_factory.mktemp("prefix")
    cmake_install(build, prefix, mfbench.environment())
    return prefix


def cache_value(build, name):
    return re.search(rf"^{name}:\w+=(.*)$", (build / "CMakeCache.txt").read_text(), re.M)[1]


def configured(folder, prefix, build, *more):
    """Not optimized, by the compiler of the program."""
    compiler = cache_value(build, "CMAKE_CXX_COMPILER")
    return subprocess.run(["cmake", "-G", "Ninja", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={prefix}",
                           f"-DCMAKE_CXX_COMPILER={compiler}", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS=-g0", *more],
                          capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def plugin(mfbench, installed, tmp_path_factory):
    """The example of the page, built by the list of the page."""
    folder = tmp_path_factory.mktemp("plugin")
    for name, text in files_of("bias_only").items():
        if "/test/" not in name and name.endswith(".cpp"):
            (folder / pathlib.Path(name).name).write_text(text)
    (folder / "CMakeLists.txt").write_text(LIST)
    assert len(LIST.splitlines()) <= 10
    # As the page has it, on a system whose only tool of builds is ninja.
    (folder / "home").mkdir()
    (folder / "home" / ".local").symlink_to(installed)
    compiler = cache_value(pathlib.Path(mfbench.program).resolve().parent, "CMAKE_CXX_COMPILER")
    environment = {**mfbench.environment(), "HOME": str(folder / "home"), "CXX": compiler, "CXXFLAGS": "-g0",
                   "CMAKE_BUILD_TYPE": "Debug", "PATH": f"{installed}/bin:{without(folder / 'bin', 'make', 'gmake', 'mfbench')}"}
    done = subprocess.run(["bash", "-eu", "-c", commands("docs/adding-an-algorithm.md", "cmake -G Ninja -B build")], cwd=folder,
                          env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "reg_user_bias" in done.stdout, done.stdout + done.stderr
    return folder / "build"


@pytest.fixture
def run(mfbench, installed, tmp_path):
    def call(*words, plugins, code=0, **environment):
        done = subprocess.run([installed / "bin" / "mfbench", *words], cwd=tmp_path, capture_output=True, text=True,
                              env={**mfbench.environment(), "MFBENCH_PLUGINS": str(plugins), **environment}, check=False)
        assert done.returncode == code, done.stdout + done.stderr
        return done
    return call


# ---- one that fits ---------------------------------------------------------------------------------

def test_commands_know_it(run, plugin):
    assert "bias_only" in run("list", plugins=plugin).stdout
    about = json.loads(run("describe", "bias_only", "--json", plugins=plugin).stdout)
    assert re.match(r"bias_only\.so, SHA-256 [0-9a-f]{64}$", about["plugin"])
    assert "plugin: bias_only.so" in run("describe", "bias_only", plugins=plugin).stdout
    assert "reg_user_bias" in run("schema", plugins=plugin).stdout
    assert "bias_only" not in run("list", plugins="").stdout
    assert json.loads(run("describe", "bias", "--json", plugins=plugin).stdout)["plugin"] is None


def test_it_runs_as_one_of_the_tree_does(run, plugin, tmp_path):
    (tmp_path / "plug.json").write_text(json.dumps(SPEC))
    run("run", "plug.json", "--quiet", plugins=plugin)
    own, ours = cases_of(tmp_path / "results/runs/plug")
    assert own[0]["algorithm"]["plugin"].startswith("bias_only.so, SHA-256") and ours[0]["algorithm"]["plugin"] is None
    assert own[-1]["status"] == "completed" and own[-1]["phases"]["users"]["count"] == 2
    assert own[-1]["best_test_rmse"] < own[1]["test_rmse"]
    run("run", "plug.json", "--quiet", "--rerun", "--apart", plugins=plugin)
    assert "bias_only" in run("compare", "results/runs/plug", "--between", "bias_only", "bias", plugins=plugin).stdout


def test_tables_and_figures_know_it(run, plugin, tmp_path):
    for name in ("matplotlib", "pandas"):
        pytest.importorskip(name)
    (tmp_path / "plug.json").write_text(json.dumps(SPEC))
    run("run", "plug.json", "--quiet", plugins=plugin)
    assert "bias_only" in run("plot", "table", "results/runs/plug", plugins="", PYTHON=sys.executable).stdout
    run("plot", "results/runs/plug", "--figure", "quality-time", "--format", "svg", plugins="", PYTHON=sys.executable)
    assert (tmp_path / "results/runs/plug/figures/quality-time.svg").is_file()


def test_without_it_its_spec_is_refused(run, tmp_path):
    (tmp_path / "plug.json").write_text(json.dumps(SPEC))
    assert 'there is no algorithm "bias_only"' in run("validate", "plug.json", plugins="", code=2).stderr


# ---- those that do not -----------------------------------------------------------------------------

LOUD = '#include <cstdio>\nstatic const int ran = std::puts("it has run");\n'


def compiled(folder, installed, text, *flags, mark=True):
    folder.mkdir(exist_ok=True)
    (folder / "own.cpp").write_text(text)
    abi = re.search(r"mfbench_ABI (\w+)", (installed / "lib/cmake/mfbench/plugin_abi.cmake").read_text())[1]
    sources = [folder / "own.cpp", *([installed / "lib/cmake/mfbench/plugin.cpp"] if mark else [])]
    done = subprocess.run(["c++", "-std=c++20", "-shared", "-fPIC", f"-I{installed}/include/mfbench",
                           *(flags or [f"-DMF_PLUGIN_ABI={abi}"]), *sources, "-o", folder / "own.so", "-lfmt"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def registering(name):
    return ('#include "algorithms/core/registry.hpp"\nstatic mf::AlgorithmInfo info() { mf::AlgorithmInfo one; '
            f'one.name = "{name}"; return one; }}\nstatic const mf::RegisterInfo registered(info());\n')


CASES = {
    "other headers": (LOUD, ["-DMF_PLUGIN_ABI=mfbench_abi_0123456789ab"], True,
                      r"it is built for another mfbench: found the headers 0123456789ab, expected [0-9a-f]{12}; build it anew"),
    "a symbol that is not there": ("extern int nowhere(); int f() { return nowhere(); }\n" + LOUD, [], True,
                                   "undefined symbol: .*nowhere"),
    "no mark": ("int f() { return 1; }", ["-DNONE"], False, "does not say for which mfbench it is built"),
    "no algorithm": ("int f() { return 1; }", [], True, "it registers no algorithm"),
    "a name that is taken": (registering("als_cpu"), [], True, "two algorithms are named als_cpu"),
    "no factory": (registering("demi"), [], True, "it describes demi, which it does not make"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_does_not_fit_is_left_out_and_says_why(run, installed, tmp_path, case):
    text, flags, mark, words = CASES[case]
    done = run("list", plugins=compiled(tmp_path / "own", installed, text, *flags, mark=mark))
    assert re.search(f"^warning: plugin .*own.so is left out: .*{words}", done.stderr, re.M), done.stderr
    assert "it has run" not in done.stdout and "als_cpu" in done.stdout and "demi" not in done.stdout
    assert done.stderr.count("warning") == 1


# ---- those that break ------------------------------------------------------------------------------

BREAKS = r"""
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include "algorithms/core/registry.hpp"

static const std::string at_load = std::getenv("AT_LOAD") ? std::getenv("AT_LOAD") : "";
[[maybe_unused]] static const int loaded = [] {
  if (at_load == "exception") throw std::runtime_error("nothing to load");
  if (at_load == "number") throw 42;
  if (at_load == "crash") std::raise(SIGSEGV);
  if (at_load == "exit") std::exit(3);
  return 0;
}();

struct Breaks : mf::Algorithm {
  explicit Breaks(const mf::Params& params) : how(params.choice("how")) {}
  void prepare(const mf::Ratings& train, const mf::Model& initial, mf::Context&) override {
    if (how == "prepare") std::abort();
    nnz = train.nnz();
    model = initial;
  }
  std::int64_t run_epoch(const mf::EpochArgs& args, mf::Context&) override {
    if (args.epoch < 2) return nnz;
    if (how == "null") *static_cast<volatile int*>(nullptr) = 1;
    if (how == "division") std::raise(SIGFPE);
    if (how == "abort") std::abort();
    if (how == "thread") std::thread([] { throw std::runtime_error("in a thread"); }).join();
    if (how == "exception") throw std::runtime_error("no such row");
    if (how == "number") throw 42;
    while (how == "hang") std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (how == "slow") std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return nnz;
  }
  mf::FactorView factors() override { return model.view(); }
  mf::Work work_per_epoch() const override { return {}; }
  std::string how;
  std::int64_t nnz = 0;
  mf::Model model;
};

static mf::AlgorithmInfo info() {
  mf::AlgorithmInfo one;
  one.name = "breaks";
  one.family = "test";
  one.params = {mf::ParamSpec::integer("factors", 2, 1, 1024, ""),
                mf::ParamSpec::choice("how", "not", {"not", "prepare", "null", "division", "abort", "thread", "exception",
                                                     "number", "hang", "slow", "plan"}, "")};
  one.memory = [](const mf::Params& params) {
    if (params.choice("how") == "plan") throw 42;
    return mf::MemoryUse{};
  };
  return one;
}
static const mf::RegisterInfo registered(info());
static const mf::RegisterFactory factory("breaks", [](const mf::Params& params) { return std::make_unique<Breaks>(params); });
"""

# Status and reason of a case, by the way in which it ends.
ENDS = {
    "not": ("completed", ""),
    "prepare": ("error", "its process was ended by signal 6 (Aborted)"),
    "null": ("error", "its process was ended by signal 11 (Segmentation fault)"),
    "division": ("error", "its process was ended by signal 8 (Floating point exception)"),
    "abort": ("error", "its process was ended by signal 6 (Aborted)"),
    "thread": ("error", "its process was ended by signal 6 (Aborted)"),
    "exception": ("error", "no such row"),
    "number": ("error", "an unknown exception was thrown"),
    "hang": ("timeout", "its process was ended by signal 14 (Alarm clock); its time was over"),
}


@pytest.fixture(scope="module")
def breaks(installed, tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("breaks"), installed, BREAKS)


def test_each_ends_its_own_case(run, breaks, tmp_path):
    hang = {"name": "breaks", "how": "hang", "stop": {"epochs": 3, "wall_seconds": 0.2}}
    ways = [how for how in ENDS if how != "hang"]
    (tmp_path / "plug.json").write_text(json.dumps(
        {**SPEC, "stop": {"epochs": 3}, "algorithms": [hang, {"name": "breaks", "how": ways}, "bias"], "baseline": "bias"}))
    done = run("run", "plug.json", plugins=breaks, code=1)
    ended = {lines[0]["algorithm"]["params"].get("how"): lines for lines in cases_of(tmp_path / "results/runs/plug")}
    assert ended.pop(None)[-1]["status"] == "completed" and ended.keys() == ENDS.keys()
    for how, (status, reason) in ENDS.items():
        header, *_, footer = ended[how]
        assert (footer["status"], header["algorithm"]["plugin"].split(",")[0]) == (status, "own.so")
        if how != "not":
            assert footer["stop_reason"] == f"{reason}; the algorithm is of the plugin own.so"
    failed = len(ENDS) - 1
    assert f"{failed} cases failed" in done.stderr and f"{failed + 2} cases: {failed + 2} run now" in done.stdout
    kept = {path.name: path.read_text().count('"trace"') for path in (tmp_path / "results/runs/plug").glob("*.partial-*")}
    assert len(kept) == 6
    assert sorted(n for name, n in kept.items() if "hang" not in name) == [0, 2, 2, 2, 2], "what was measured before a crash stays"
    again = run("run", "plug.json", "--quiet", plugins=breaks, code=1)
    assert f"{failed + 2} cases: 0 run now, {failed + 2} finished before" in again.stdout
    assert f"{failed + 2} cases: {failed} run now" in run("run", "plug.json", "--quiet", "--retry", plugins=breaks, code=1).stdout


def tuned(hows, **more):
    return {"name": "breaks", "tune": {"trials": len(hows), "eta": 1, "over": {"how": {"choices": hows}}}, **more}


def tuned_spec(folder, *algorithms, epochs=3):
    split = {"holdout": 0.2, "validation": 0.1, "seed": 1}
    (folder / "plug.json").write_text(json.dumps(
        {**SPEC, "split": split, "stop": {"epochs": epochs}, "algorithms": [*algorithms, "bias"], "baseline": "bias"}))


def test_each_ends_its_own_trial(run, breaks, tmp_path):
    hang = tuned(["hang"], factors=3, stop={"epochs": 3, "wall_seconds": 0.2})
    tuned_spec(tmp_path, tuned([how for how in ENDS if how != "hang"]), hang)
    done = run("tune", "plug.json", "--json", plugins=breaks, code=1)
    studies = json.loads(done.stdout)
    ended = {trial["values"]["how"]: (trial["status"], trial["reason"]) for study in studies for trial in study["trials"]}
    assert ended == {how: (status, reason and f"{reason}; the algorithm is of the plugin own.so")
                     for how, (status, reason) in ENDS.items()} | {"not": ended["not"]}
    assert ended["not"][0] == "completed" and [study["chosen"] for study in studies] == [{"how": "not"}, None]
    done = run("run", "plug.json", plugins=breaks, code=1)
    assert f"0 trials run now, {len(ENDS)} finished before" in done.stdout and "1 case failed" in done.stderr
    reasons = {lines[0]["algorithm"]["params"].get("factors"): lines[-1]["stop_reason"] for lines in cases_of(tmp_path / "results/runs/plug")}
    assert reasons[3].startswith("its search has chosen nothing: no trial has completed (1 timeout); the first: its process was ended")


def test_a_run_goes_on_after_a_trial_that_crashes(run, breaks, tmp_path):
    tuned_spec(tmp_path, tuned(["null", "abort", "not"]))
    assert "3 trials run now, 0 finished before" in run("run", "plug.json", "--quiet", plugins=breaks).stdout
    assert "0 trials run now, 3 finished before" in run("run", "plug.json", "--quiet", plugins=breaks).stdout
    assert "2 trials run now, 1 finished before" in run("tune", "plug.json", "--retry", plugins=breaks).stdout
    assert "3 trials run now, 0 finished before" in run("tune", "plug.json", "--rerun", plugins=breaks).stdout


@pytest.mark.parametrize("command, told", [("tune", "command"), ("tune", "trial"), ("run", "trial")])
def test_a_signal_ends_a_trial_and_the_same_command_goes_on(mfbench, run, breaks, tmp_path, command, told):
    tuned_spec(tmp_path, tuned(["slow", "not"]), epochs=100)
    words = [command, "plug.json", "--out", "out"]
    process = subprocess.Popen([mfbench.program, *words], cwd=tmp_path, stderr=subprocess.PIPE, text=True,
                               stdout=subprocess.DEVNULL, env={**mfbench.environment(), "MFBENCH_PLUGINS": str(breaks)})
    slow = wait_for(lambda: [path for path in (tmp_path / "out/tune").glob("*/*.jsonl") if '"how":"slow"' in path.read_text()], "trial")
    last = process.pid
    while told == "trial" and (children := children_of(last)):
        last = children[0]
    os.kill(last, signal.SIGTERM)
    assert process.communicate(timeout=60)[1].endswith("interrupted; the same command goes on where it stopped\n")
    assert process.returncode == 128 + signal.SIGTERM and lines_of(slow[0])[-1]["status"] == "interrupted"
    assert re.search(r"(\d) trials? run now, (\d) finished", run("tune", *words[1:], plugins=breaks).stdout).groups() in [("1", "1"), ("2", "0")]


def test_a_number_thrown_at_a_plan_is_one_line(run, breaks, tmp_path):
    (tmp_path / "plug.json").write_text(json.dumps({**SPEC, "algorithms": [{"name": "breaks", "how": "plan"}], "baseline": "breaks"}))
    assert re.fullmatch("error: an unknown exception was thrown.*\n", run("plan", "plug.json", plugins=breaks, code=70).stderr)


@pytest.mark.parametrize("at_load, words", [
    ("exception", r"signal 6 \(Aborted\)"), ("number", r"signal 6 \(Aborted\)"), ("crash", r"signal 11 \(Segmentation fault\)"),
    ("exit", "its process ended with code 3")])
def test_one_that_breaks_as_it_is_loaded_is_left_out(run, breaks, at_load, words):
    done = run("list", plugins=breaks, AT_LOAD=at_load)
    assert re.search(f"(?m)^warning: plugin .*own.so is left out: found a static constructor that fails: .*{words}$", done.stderr)
    assert "als_cpu" in done.stdout and "breaks" not in done.stdout and done.stderr.count("warning") == 1


def test_a_file_that_is_no_shared_object_is_named_once(run, breaks, tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "text.so").write_text("no")
    (tmp_path / "own" / "own.so").symlink_to(breaks / "own.so")
    (tmp_path / "plug.json").write_text(json.dumps({**SPEC, "algorithms": ["breaks", "bias"], "baseline": "bias"}))
    for words in (["list"], ["run", "plug.json", "--quiet"]):
        assert re.findall(r"text.so is left out: (.*)", run(*words, plugins=tmp_path / "own").stderr) in (
            ["file too short"], ["invalid ELF header"])


def test_a_pipe_is_not_waited_for(run, tmp_path):
    (tmp_path / "own").mkdir()
    os.mkfifo(tmp_path / "own" / "pipe.so")
    assert "pipe.so is left out: found no file" in run("list", plugins=tmp_path / "own").stderr


def test_a_folder_that_is_not_there_is_an_error(run):
    assert "MFBENCH_PLUGINS: nowhere: no folder of plugins" in run("list", plugins="nowhere", code=2).stderr


def test_another_compiler_is_refused_before_it_compiles(installed, tmp_path, mfbench):
    (tmp_path / "CMakeLists.txt").write_text(LIST)
    (tmp_path / "info.cpp").touch()
    (tmp_path / "bias_only.cpp").touch()
    prefix = tmp_path / "prefix"
    (prefix / "lib/cmake").mkdir(parents=True)
    copied = prefix / "lib/cmake/mfbench"
    copied.mkdir()
    for path in (installed / "lib/cmake/mfbench").iterdir():
        copied.joinpath(path.name).write_text(re.sub(r'COMPILER "\w+ \d+"', 'COMPILER "GNU 7"', path.read_text()))
    done = configured(tmp_path, prefix, pathlib.Path(mfbench.program).resolve().parent)
    assert done.returncode != 0 and "mfbench was compiled by GNU 7" in done.stderr


def test_every_header_and_the_compiler_name_the_contract(tmp_path):
    """By the script that the build runs."""
    def name(compiler="GNU 12.2.0", text="1"):
        (tmp_path / "b.hpp").write_text(text)
        (tmp_path / "a.hpp").write_text("a")
        subprocess.run(["cmake", f"-DROOT={tmp_path}", "-DHEADERS=a.hpp;b.hpp", f"-DOUTPUT={tmp_path}/abi", "-DVERSION=1",
                        f"-DCOMPILER={compiler}", "-P", ROOT / "cmake/plugin/WriteAbi.cmake"], check=True)
        return (tmp_path / "abi.hpp").read_text()

    assert name() == name(compiler="GNU 12.4.0") != name(compiler="GNU 13.1.0")
    assert name() != name(text="2") and "mfbench_abi_" in name()
