"""./dev quickstart: build, race what this machine can run, draw the figures, make the report."""

import os
import re
import shutil
import sys
import time

from mfdev.build import build_target, configure, have_device, have_nvcc
from mfdev.deps import BOTH, deps, install_libraries, run_plots
from mfdev.report import report
from mfdev.shell import Ended, Failure, output_of, run, say, status_of

# The race on a GPU holds a hundred million ratings there and a copy of them in the host's memory;
# tests/test_mfdev.py holds these to what mfbench plan says.
DEVICE_MIB = 4000
HOST_KIB = 6000000


def free_kib(meminfo="/proc/meminfo"):
    found = re.search(r"^MemAvailable: *(\d+)", open(meminfo, encoding="ascii").read(), re.M)
    return int(found[1]) if found else 0


def choice():
    """(preset, race, why): what this machine can show."""
    if not have_device():
        return "cpu", "quickstart", "no GPU here (nvidia-smi -L names none)"
    if not have_nvcc():
        return "cpu", "quickstart", "a GPU, but no nvcc: install CUDA's toolkit to race on it"
    memory = [int(line) for line in output_of("nvidia-smi", "--query-gpu=memory.total", "--format=csv,noheader,nounits"
                                              ).split() if line.isdigit()]
    if memory and min(memory) < DEVICE_MIB:
        return "cuda", "quickstart", f"the GPU has {min(memory)} MiB, the race on it takes {DEVICE_MIB}"
    if (free := free_kib()) < HOST_KIB:
        return "cuda", "quickstart", (f"{free // 1024} MiB of memory are free, the race on the GPU takes "
                                      f"{HOST_KIB // 1000}")
    return "cuda", "quickstart-gpu", output_of("nvidia-smi", "-L").splitlines()[0].split(" (UUID")[0]


def quickstart(words):
    if words not in ([], ["--show"]):
        raise Failure(f"quickstart: unknown argument '{words[0]}'; known: --show, which only says what would run")
    preset, race, why = choice()
    folder = f"results/runs/{race}"
    say(f"{why}: experiments/{race}.json, build/{preset}")
    if words:
        return
    deps(["build", "plot"], ["optional", "report"], line=BOTH)
    configure(preset)
    say(f"building mfbench ({preset})")
    build_target(preset, "mfbench")
    start = time.monotonic()
    say(f"running experiments/{race}.json")
    run(f"build/{preset}/mfbench", "run", f"experiments/{race}.json")
    run_plots("mfplots", folder, "--recipe", f"plots/recipes/{race}.json")
    say(f"done in {time.monotonic() - start:.0f} s after the build; figures in {folder}/figures")
    show_report(folder, f"build/{preset}/mfbench")


def show_report(folder, program):
    """Opened where somebody sits in front of a desktop. Its libraries come from PyPI: without a network there are
    the figures only."""
    os.environ["MFBENCH"] = program
    try:
        install_libraries("report")
        report([folder, "--out", f"{folder}/report"])
    except (Failure, Ended) as why:
        print(why, file=sys.stderr)
        say(f"no report, for the reason above; ./dev report {folder} makes it later")
        return
    page = f"{folder}/report/index.html"
    say(f"report: {page}")
    if sys.stdout.isatty() and (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")) \
            and shutil.which("xdg-open"):
        status_of("xdg-open", page)
