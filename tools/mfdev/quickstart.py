"""./dev quickstart: build, and race the algorithms that this machine can run."""

import re
import sys

from mfdev.build import build_target, configure, have_device, have_nvcc
from mfdev.deps import BOTH, deps, install_libraries
from mfdev.shell import Failure, output_of, run, say

# The race on a GPU holds a hundred million ratings there and a copy of them in the host's memory; tests/test_mfdev.py
# checks these against mfbench plan.
DEVICE_MIB = 4000
HOST_KIB = 6000000


def free_kib(meminfo="/proc/meminfo"):
    found = re.search(r"^MemAvailable: *(\d+)", open(meminfo, encoding="ascii").read(), re.M)
    return int(found[1]) if found else 0


def choice():
    """(preset, race, why): the race for this machine."""
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
        raise Failure(f"quickstart: unknown argument '{words[0]}'; known: --show, which only lists the commands")
    preset, race, why = choice()
    say(f"{why}: experiments/{race}.json, build/{preset}")
    if words:
        return
    deps(["build", "plot"], ["optional", "report"], line=BOTH)
    try_report()
    configure(preset)
    say(f"building mfbench ({preset})")
    build_target(preset, "mfbench")
    run(f"build/{preset}/mfbench", "race", f"experiments/{race}.json")


def try_report():
    """Its libraries come from PyPI: without a network there are the figures only."""
    try:
        install_libraries("report")
    except Failure as why:
        print(why, file=sys.stderr)
        say("no report, for the reason above; figures are drawn all the same")
