"""Looks for the needed packages (packages.txt), and installs missing ones by apt or from PyPI."""

import filecmp
import functools
import os
import pathlib
import shutil
import subprocess

from mfdev.shell import ROOT, Failure, have_program, output_of, run, say, status_of

# ---- packages to look for ------------------------------------------------------------------------


def read_packages():
    """({group: [(look, argument, package)]}, {use: groups}), in the order of the file, which ./dev reads, too."""
    groups, uses = {}, {"needed": [], "optional": [], "other": []}
    for line in (ROOT / "tools/mfdev/packages.txt").read_text(encoding="ascii").splitlines():
        if line.startswith("#"):
            continue
        use, group, package, look, *argument = line.split(maxsplit=4)
        groups.setdefault(group, []).append((look, *(argument or [""]), package))
        if group not in uses[use]:
            uses[use].append(group)
    return groups, uses


GROUPS, USES = read_packages()
BOTH = (USES["needed"], USES["optional"])  # of quickstart and test


def modules_of(group):
    """That must be there in one Python."""
    return next(argument.split() for look, argument, _ in GROUPS[group] if look == "python")


PLOT, PYTEST = modules_of("plot"), modules_of("test")
LIBRARIES = {"report": "plots/requirements-report.txt", "docs": "docs/requirements.txt",
             "wheel": "tools/requirements-wheel.txt"}


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
    """The first Python that has all of them, or None. It only locates them: importing takes seconds."""
    look = "import sys, importlib.util as u; sys.exit(not all(map(u.find_spec, sys.argv[1:])))"
    for one in (os.environ.get("PYTHON", "python3"), "python3", "/usr/bin/python3"):
        path = shutil.which(one)
        if path and status_of(path, "-c", look, *modules, stderr=subprocess.DEVNULL) == 0:
            return path
    return None


def python(modules):
    return python_with(*modules.split()) is not None


def python_header(name):
    """Whether it is there for the Python that environments are made from."""
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


# ---- installation --------------------------------------------------------------------------------


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
    """Only looks: ends if a required package is missing, goes on without optional ones."""
    if missing := missing_packages(required):
        raise Failure(f"missing: {' '.join(missing)}; ./dev deps installs them")
    if missing := missing_packages(optional):
        say(f"going on without {' '.join(missing)} (optional; ./dev deps installs it)")


def deps(required, optional=(), line=None):
    """The same, but installs missing packages, optional ones if possible. Returns the optional ones still missing.
    `line`: (required, optional) groups that must all be in the line for apt, if one is printed."""
    missing = missing_packages([*required, *optional])
    if not missing:
        return []
    apt_install(missing)
    if missing_packages(required):
        raise Failure(f"missing, and not installable from here (no root, or no apt); {apt_line(*(line or (required, optional)))}")
    if left := missing_packages(optional):
        say(f"optional, and not installable from here: {' '.join(left)}")
    return left


def apt_line(required, optional):
    """The commands that install the missing ones: the needed, and all. The sizes are those on a bare system."""
    needed, all_ = missing_packages(required), missing_packages([*required, *optional])
    sudo = "sudo " if have_program("sudo") else ""
    lines = [f"\n  {sudo}apt-get install --no-install-recommends {' '.join(packages)}  # {what}"
             for packages, what in ((needed, "needed: at most 1 GB"), (all_, "all: at most 1.4 GB"))
             if packages and (packages != needed or what[0] == "n")]
    return f"on Debian or Ubuntu{'' if sudo else ', as root'}:{''.join(lines)}"


def libraries_there(what):
    kept = ROOT / ".cache" / what / "installed.txt"
    return kept.is_file() and filecmp.cmp(ROOT / LIBRARIES[what], kept, shallow=False)


def install_libraries(what):
    """Libraries that make pages and wheels, from PyPI into a separate venv: pinned, with hashes."""
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
        shutil.rmtree(ROOT / folder, ignore_errors=True)  # half of it would look like all of it
        raise Failure(f"the libraries of {wanted} could not be installed: they come from PyPI, once, and need a "
                      "network; pip's output stands above")
    shutil.copyfile(ROOT / wanted, ROOT / folder / "installed.txt")


def deps_command(words):
    required, optional = words, []
    if not words:
        required, optional = BOTH
    elif "--" in words:
        cut = words.index("--")
        required, optional = words[:cut], words[cut + 1:]
    left = deps(required, optional)
    for what in [group for group in words if group in LIBRARIES]:
        install_libraries(what)
    say(f"all that is needed is there; {apt_line([], optional)}" if left else "all there")
