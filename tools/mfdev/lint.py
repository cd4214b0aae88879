"""./dev lint, tidy, format: the lines and form of sources, by shellcheck, clang-format 14 and clang-tidy 14."""

import concurrent.futures
import json
import pathlib
import subprocess
import sys

from mfdev import budget
from mfdev.deps import clang_14, need
from mfdev.shell import ROOT, Failure, have_program, jobs, output_of, run, say

SCRIPTS = ["dev", ".ci/run", ".github/plain-user", "cmake/mfplots.sh", "cmake/mfbench-completion.bash",
           "tools/slurm-array.sh"]
SOURCES = ("*.cpp", "*.hpp", "*.cu", "*.cuh")
CUDA_HEADERS = pathlib.Path("/usr/local/cuda/include")


def sources():
    listed = output_of("git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *SOURCES).splitlines()
    return sorted(name for name in set(listed) if (ROOT / name).exists()) or \
        [str(path.relative_to(ROOT)) for room in ("base", "datasets", "algorithms", "harness", "testing")
         for ending in SOURCES for path in (ROOT / room).rglob(ending)]


def for_tidy(files):
    """The sources that can be checked here: a source of CUDA counts as the host's if CUDA's headers are installed."""
    if CUDA_HEADERS.is_dir():
        return files
    say(f"no CUDA headers ({CUDA_HEADERS}): *.cuda.cpp are left out", sys.stderr)
    return [name for name in files if not name.endswith(".cuda.cpp")]


def tidy_flags(name):
    """By hand: a build's list of commands has batches instead of most sources. What the build writes
    (mf_generated) is taken from those that there are."""
    folders = [*sorted(ROOT.glob("build/*/")), CUDA_HEADERS, pathlib.Path("/usr/include/eigen3")]
    flags = ["-std=c++20", "-I.", f'-DMF_SOURCE_DIR="{ROOT}"', *(f"-isystem{one}" for one in folders if one.is_dir())]
    if name.endswith(".avx2.cpp"):
        flags += ["-mavx2", "-mfma", "-mf16c"]
    if name.endswith(".avx512.cpp"):
        flags += ["-mavx512f", "-mavx512dq", "-mavx512vl", "-mavx512bw", "-mfma"]
    return flags


def tidy_files(program, files):
    def one(name):
        done = subprocess.run([program, "--quiet", name, "--", *tidy_flags(name)], text=True, capture_output=True,
                              check=False)
        said = "".join(line for line in done.stderr.splitlines(True) if "warning generated" not in line
                       and "warnings generated" not in line)
        print(done.stdout + said, end="", flush=True)
        return done.returncode == 0

    with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        clean = list(pool.map(one, files))
    if not all(clean):
        raise Failure("clang-tidy found the errors above")
    say(f"clang-tidy: clean ({len(files)} sources)")


def tidy(words):
    """FILE...: all sources of the host without any."""
    program = clang_14("clang-tidy")
    if not program:
        raise Failure("tidy: clang-tidy 14 is not here (./dev deps lint)")
    files = for_tidy(words or output_of("git", "ls-files", "--", "*.cpp").splitlines())
    if not files:
        raise Failure("tidy: no source among these can be looked at here")
    tidy_files(program, files)


def check_lines():
    names = budget.sources()
    found, most = {**budget.lines(names), budget.CLAUSES: budget.clauses()}, json.loads((ROOT / budget.FILE).read_text())
    for area, count in found.items():
        say(f"lines: {area} {count}, budget {most.get(area, 0)}")
    for message in budget.wide(names):
        say(f"warning: {message}", sys.stderr)
    if messages := budget.over(found, most):
        raise Failure("lint: " + "\n".join(messages))


def lint(_):
    check_lines()
    run("bash", "-n", *SCRIPTS[:1])
    if have_program("shellcheck"):
        run("shellcheck", *SCRIPTS)
        say("scripts: clean")
    else:
        say("scripts: syntax only; shellcheck SKIPPED, it is not here")
    if program := clang_14("clang-format"):
        run(program, "--dry-run", "--Werror", *sources())
        say("format: clean")
    else:
        say("format: SKIPPED, it is defined by clang-format 14, which is not here")
    if not (program := clang_14("clang-tidy")):
        say("clang-tidy: SKIPPED, version 14 is not here (./dev deps lint)")
        return
    # Only sources changed since the commit before the last: all would take most of an hour.
    changed = for_tidy(output_of("git", "diff", "--name-only", "--diff-filter=d", "HEAD~1", "--", "*.cpp").splitlines())
    if changed:
        tidy_files(program, changed)
    else:
        say("clang-tidy: no C++ source changed since the last commit but one")


def format_sources(_):
    need(["format"])
    run(clang_14("clang-format"), "-i", *sources())
