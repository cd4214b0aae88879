"""./dev test: everything is built and tested, tests that wait for a network or a core beside those that need one."""

import os

from mfdev.build import build_target, configure, have_device, have_nvcc
from mfdev.deps import BOTH, PLOT, PYTEST, USES, deps, need, python_with
from mfdev.lint import lint
from mfdev.shell import ROOT, SELF, Beside, Ended, Failure, jobs, run, say

SUITE = ("plots/tests", "tests")  # in this order no file of many seconds comes last
PRESETS = ("cpu", "ci", "clang", "asan", "tsan")


def pytest_command(preset, words, most=4):
    """(command, environment). One process more than there are cores, since many tests wait for a program that they have
    started; that has its own threads, so four at a time are enough."""
    found = python_with(*PYTEST, *PLOT) or python_with(*PYTEST)
    if not found:
        raise Failure("no Python imports both pytest and jsonschema")
    count = pytest_processes(min(jobs() + 1, most), python_with(*PYTEST, "xdist"))
    workers = ["-n", count, "--dist", "loadfile"] if count > 1 else []
    say(f"pytest (processes: {count})")
    return ([found, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", *workers, *words],
            {"MFBENCH": f"{ROOT}/build/{preset}/mfbench"})


def pytest_processes(count, has_xdist):
    """Each takes whole files, whose tests share their preparation."""
    if count > 1 and not has_xdist:
        say("pytest-xdist is not here: the suite runs in one process (./dev deps workers)")
        return 1
    return count


def run_pytest(preset, *words, most=4):
    command, environment = pytest_command(preset, words, most)
    run(*command, env=environment)


def run_ctest(preset, *words):
    say(f"ctest ({preset})")
    run("ctest", "--test-dir", f"build/{preset}", "--output-on-failure", "-j", jobs(), *words,
        env={"ASAN_OPTIONS": "detect_leaks=1",
             "TSAN_OPTIONS": f"suppressions={ROOT}/tests/tsan.supp halt_on_error=1"})


def test(words):
    preset = words[0] if words else "cpu"
    if preset not in PRESETS:
        raise Failure(f"test: there is no preset '{preset}'; known: {' '.join(PRESETS)}")
    if preset in ("cpu", "ci"):
        test_all(preset)
        return
    deps(["build", "test", *(["clang"] if preset == "clang" else [])], ["optional"], line=BOTH)
    configure(preset, tests=True)
    build_target(preset, "tests")
    run_ctest(preset)


def test_all(preset):
    """Everything that needs no device. Libraries are installed beside the build: their tests are skipped, which pytest
    says, if there is no network or no such package."""
    deps(USES["needed"], ["optional", "mpi", "bench"], line=BOTH)
    groups = ["workers", "format", "peers", *(["lint", "report", "docs", "browser"] if preset == "ci" else [])]
    with Beside(*SELF, "install-beside", *groups, env={"PEERS_TIMEOUT": os.environ.get("PEERS_TIMEOUT", "10")}) as libraries:
        configure(preset, tests=True, benchmarks=True)
        say(f"building ({preset})")
        build_target(preset, "tests", "benchmarks")
        if libraries.wait() != 0:
            say("not all libraries could be installed: tests of those missing are skipped")
    if have_nvcc():
        command, environment = pytest_command(preset, ["-k", "not cuda_example", *SUITE])
        with Beside(*command, env=environment) as tests:
            compile_cuda(preset)
            if code := tests.wait():
                raise Ended(code)
        run_pytest(preset, "-k", "cuda_example", "tests/test_docs.py", most=1)  # it links the build's objects
    else:
        say("no nvcc: the CUDA build is skipped")
        run_pytest(preset, *SUITE)
    lint([])
    run_ctest(preset)


def install_beside(groups):
    """Work that the build does not wait for: packages first, since apt and pip cannot run twice at once."""
    from mfdev.deps import LIBRARIES, install_libraries
    from mfdev.peers import install_peers

    deps([], groups)
    for what in [group for group in groups if group in LIBRARIES]:
        try:
            install_libraries(what)
        except Failure as why:
            say(f"going on without: {why}")
    install_peers()


def compile_cuda(preset):
    """Without a device none of it runs: then it only checks that the code compiles for old and new devices, which is
    faster than code for each, and links the host objects of the other build."""
    if preset == "ci" or not have_device():
        cuda, more = "cuda-check", [f"-DMF_HOST_BUILD={ROOT}/build/{preset}"]
    else:
        cuda, more = "cuda", []
    if preset == "ci":
        more.append("-DMF_WERROR=ON")
    say(f"building ({cuda})")
    configure(cuda, tests=True, more=more)
    build_target(cuda, "mfbench", "gpu_tests")


def gpu_test(_):
    need(["build", "test"], ["optional"])
    if not have_nvcc():
        raise Failure("gpu-test needs nvcc, which is not on PATH and not in /usr/local/cuda/bin")
    configure("cuda", tests=True)
    build_target("cuda", "mfbench", "gpu_tests")
    run_ctest("cuda", "-L", "gpu")
    run_pytest("cuda", "tests/test_devices.py", "tests/test_nvtx.py", "tests/test_timeline.py")
