"""Building with CMake's presets, and running the benchmarks."""

import os
import pathlib
import re
import subprocess

from mfdev.deps import need
from mfdev.shell import ROOT, Failure, have_program, jobs, output_of, run, say


def have_nvcc():
    return have_program("nvcc") or os.access("/usr/local/cuda/bin/nvcc", os.X_OK)


def have_device():
    return "GPU" in output_of("nvidia-smi", "-L")


def default_preset():
    return "cuda" if have_nvcc() and have_device() else "cpu"


def configure(preset, *, tests=False, benchmarks=False, more=()):
    on = {True: "ON", False: "OFF"}
    done = subprocess.run(["cmake", "--preset", preset, f"-DMF_BUILD_TESTS={on[tests]}",
                           f"-DMF_BUILD_BENCHMARKS={on[benchmarks]}", *more], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        raise Failure(f"{done.stdout}\ncmake failed")


def build_target(preset, *targets):
    run("cmake", "--build", f"build/{preset}", "--parallel", jobs(), "--target", *targets)


def build(words):
    preset = words[0] if words else default_preset()
    need(["build"], ["optional"])
    configure(preset)
    build_target(preset, "mfbench")
    say(f"built build/{preset}/mfbench")


def mfbench_at_hand():
    """MFBENCH, or the one built last; None if there is none."""
    built = sorted(ROOT.glob("build/*/mfbench"), key=lambda path: path.stat().st_mtime)
    return os.environ.get("MFBENCH") or (str(built[-1]) if built else None)


def run_mfbench(words, **options):
    """The one at hand."""
    program = mfbench_at_hand()
    if not program:
        raise Failure("mfbench is not built: ./dev build makes one, MFBENCH names another")
    run(os.path.abspath(program), *words, **options)


def mfbench(words):
    """In the folder in which ./dev was called: words name files of its user."""
    run_mfbench(words, cwd=os.environ.get("MFDEV_CALLED_IN") or ROOT)


def plot(words):
    mfbench(["plot", *words])


def report(words):
    mfbench(["report", *words])


def programs(folder, pattern):
    found = (path for path in pathlib.Path(folder).rglob(pattern) if path.is_file() and os.access(path, os.X_OK))
    return sorted(found)


def bench(words):
    """One program, or all that need no GPU."""
    need(["build", "bench"], ["optional"])
    preset, name = default_preset(), words[0] if words and not words[0].startswith("-") else ""
    configure(preset, benchmarks=True)
    known = sorted(set(re.findall(r"\b\w+_(?:gpu)?bench\b", output_of("cmake", "--build", f"build/{preset}", "--target", "help"))))
    if name and name not in known:
        why = " needs nvcc and a GPU" if name.endswith("_gpubench") and preset == "cpu" else " is none of the programs"
        raise Failure(f"bench: {name}{why}; known here: {' '.join(known)}")
    build_target(preset, name or "benchmarks")
    for program in programs(f"build/{preset}", name or "*_bench"):
        say(program.name)
        run(program, *words[bool(name):])
