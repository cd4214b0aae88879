"""What is needed: looked for, and installed where it is missing, by apt or from PyPI."""

import filecmp
import functools
import os
import pathlib
import shutil
import subprocess

from mfdev.shell import ROOT, Failure, have_program, output_of, run, say, status_of

# Group: (look, argument, package). A package is named only where its look finds nothing. Modules that one
# program imports are looked for together: of two Pythons each may have but one of them.
PYTEST, PLOT, BROWSER = "pytest jsonschema pooch scipy", "matplotlib pandas", "pytest selenium"
VENV = ("python", "venv ensurepip", "python3-venv")
GROUPS = {
    "build": [
        ("program", "c++", "g++"),
        ("cmake", "3.25", "cmake"),
        ("program", "ninja", "ninja-build"),
        ("header", "nlohmann/json.hpp", "nlohmann-json3-dev"),
        ("header", "CLI/CLI.hpp", "libcli11-dev"),
        ("header", "fmt/core.h", "libfmt-dev"),
        ("header", "openssl/evp.h", "libssl-dev"),
        ("header", "zlib.h", "zlib1g-dev"),
        ("header", "eigen3/Eigen/Core", "libeigen3-dev"),
    ],
    "optional": [("header", "archive.h", "libarchive-dev"),
                 ("python", "pooch", "python3-pooch")],  # for data fetch
    "test": [("header", "gtest/gtest.h", "libgtest-dev"), ("python", PYTEST, "python3-pytest"),
             ("python", PYTEST, "python3-jsonschema"), ("python", PYTEST, "python3-pooch"),
             ("python", PYTEST, "python3-scipy")],
    "workers": [("python", "pytest xdist", "python3-pytest-xdist")],  # else pytest runs in one process
    "mpi": [("program", "mpicxx", "libopenmpi-dev")],
    "format": [("clang_14", "clang-format", "clang-format-14")],
    "bench": [("header", "benchmark/benchmark.h", "libbenchmark-dev")],
    "plot": [("python", PLOT, f"python3-{name}") for name in PLOT.split()],
    "lint": [("clang_14", "clang-tidy", "clang-tidy-14"), ("program", "shellcheck", "shellcheck")],
    "clang": [("program", "clang++", "clang")],
    "fuzz": [("program", "clang++", "clang"), ("libfuzzer", "", "libclang-rt-dev")],
    "peers": [VENV, ("python_header", "Python.h", "python3-dev"), ("program", "c++", "g++")],
    "report": [VENV],
    "docs": [VENV],
    "browser": [("program", "chromium", "chromium"), ("program", "chromedriver", "chromium-driver"),
                ("python", BROWSER, "python3-selenium")],
    "spark": [("program", "java", "default-jre-headless")],
}
LIBRARIES = {"report": "plots/requirements-report.txt", "docs": "docs/requirements.txt"}


# ---- looks ---------------------------------------------------------------------------------------


def program(name):
    return have_program(name)


def cmake(least):
    found = output_of("cmake", "--version").split()
    return len(found) > 2 and numbers(found[2]) >= numbers(least)


def numbers(version):
    return [int(part) for part in version.split("-")[0].split(".") if part.isdigit()]


@functools.cache
def header(name):
    """Whether the compiler finds it."""
    done = subprocess.run(["c++", "-std=c++20", "-x", "c++", "-E", "-"], text=True, capture_output=True,
                          input=f"#if !__has_include(<{name}>)\n#error\n#endif\n", check=False) \
        if have_program("c++") else None
    return done is not None and done.returncode == 0


@functools.cache
def python_with(*modules):
    """The first Python that has all of them, or None. It looks where they are: to import them takes seconds."""
    look = "import sys, importlib.util as u; sys.exit(not all(map(u.find_spec, sys.argv[1:])))"
    for one in (os.environ.get("PYTHON", "python3"), "python3", "/usr/bin/python3"):
        path = shutil.which(one)
        if path and status_of(path, "-c", look, *modules, stderr=subprocess.DEVNULL) == 0:
            return path
    return None


def python(modules):
    return python_with(*modules.split()) is not None


def python_header(name):
    """Of the Python that environments are made from."""
    found = python_with("venv", "ensurepip")
    where = found and output_of(found, "-c", 'import sysconfig; print(sysconfig.get_path("include"))').strip()
    return bool(where) and (pathlib.Path(where) / name).is_file()


def libfuzzer(_):
    done = subprocess.run(
        ["clang++", "-x", "c++", "-fsanitize=fuzzer,address", "-", "-o", "/dev/null"], text=True, capture_output=True,
        input='extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }', check=False) \
        if have_program("clang++") else None
    return done is not None and done.returncode == 0


def clang_14(name):
    """The path of clang-format or clang-tidy of that version, or None."""
    found = (shutil.which(one) for one in (f"{name}-14", name))
    return next((path for path in found if path and "version 14." in output_of(path, "--version")), None)


LOOKS = {look.__name__: look for look in (program, cmake, header, python, python_header, libfuzzer, clang_14)}


def missing_packages(groups):
    wanted = []
    for group in groups:
        if group not in GROUPS:
            raise Failure(f"there is no group '{group}'; known: {' '.join(GROUPS)}")
        wanted += [package for look, argument, package in GROUPS[group] if not LOOKS[look](argument)]
    return list(dict.fromkeys(wanted))


# ---- what is done about it -----------------------------------------------------------------------


def apt_install(packages):
    sudo = []
    if os.geteuid() != 0:
        if not output_of("sudo", "-n", "echo", "may"):
            return
        sudo = ["sudo", "-n"]
    if not have_program("apt-get"):
        return
    say(f"installing: {' '.join(packages)}")
    if status_of(*sudo, "apt-get", "update") == 0:
        status_of(*sudo, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y",
                  "--no-install-recommends", *packages)
    for look in (header, python_with):
        look.cache_clear()


def need(required, optional=()):
    """Only looks: without what is missing of the required it ends, without the optional it goes on."""
    if missing := missing_packages(required):
        raise Failure(f"missing: {' '.join(missing)}; ./dev deps installs what is missing")
    if missing := missing_packages(optional):
        say(f"going on without {' '.join(missing)} (optional; ./dev deps installs it)")


def deps(required, optional=()):
    """The same, but installs what is missing, the optional where that is possible."""
    missing = missing_packages([*required, *optional])
    if not missing:
        return
    apt_install(missing)
    if missing := missing_packages(optional):
        say(f"going on without (optional, not installable here): {' '.join(missing)}")
    if missing := missing_packages(required):
        raise Failure("missing, and not installable from here (no root, or no apt); on Debian or Ubuntu:\n"
                      f"  sudo apt-get install --no-install-recommends {' '.join(missing)}")


def libraries_there(what):
    kept = ROOT / ".cache" / what / "installed.txt"
    return kept.is_file() and filecmp.cmp(ROOT / LIBRARIES[what], kept, shallow=False)


def install_libraries(what):
    """What makes pages, from PyPI into a venv of its own: pinned, with hashes."""
    if libraries_there(what):
        return
    wanted, folder = LIBRARIES[what], f".cache/{what}"
    maker = python_with("venv", "ensurepip")
    if not maker:
        raise Failure("no Python here makes a venv (python3-venv)")
    say(f"installing the libraries of ./dev {what} into {folder}")
    if status_of(maker, "-m", "venv", "--clear", folder) != 0 or status_of(
            f"{folder}/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--timeout", "10",
            "--retries", "1", "--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", wanted) != 0:
        raise Failure(f"the libraries of {wanted} could not be installed: they come from PyPI, once, and need a "
                      "network; what pip said stands above")
    shutil.copyfile(ROOT / wanted, ROOT / folder / "installed.txt")


def deps_command(words):
    required, optional = words, []
    if not words:
        required, optional = ["build", "plot", "test"], ["optional", "workers", "mpi", "bench", "format", "lint"]
    elif "--" in words:
        cut = words.index("--")
        required, optional = words[:cut], words[cut + 1:]
    deps(required, optional)
    for what in [group for group in (*required, *optional) if group in LIBRARIES]:
        install_libraries(what)
    say("all there")


def plot_python():
    need(["plot"])
    return python_with(*PLOT.split())


def run_plots(module, *words, **options):
    """A module of mfplots."""
    run(plot_python(), "-m", module, *words, env={"PYTHONPATH": str(ROOT / "plots")}, **options)
