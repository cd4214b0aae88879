"""The commands of ./dev: this lists them, the modules beside it have them."""

import importlib
import os
import re
import sys

from mfdev.shell import ROOT, Ended, Failure

USAGE = """\
./dev quickstart [--show]
                        build mfbench, race the algorithms this machine can run, draw the figures, write a report:
                        GPU against CPU on a look-alike of Netflix's ratings, or CPU algorithms on
                        look-alikes of ml-100k and ml-1m (--show: only say which)
./dev test [PRESET]     build and run every test. PRESET: cpu (default), ci, clang, asan or tsan. cpu and
                        ci also compile the CUDA parts if nvcc is installed, and run pytest and lint;
                        ci and clang treat warnings as errors
./dev gpu-test          build with CUDA and run the tests that need a device
./dev build [PRESET]    build mfbench: cpu, cuda, clang, asan or tsan (default: cuda if there are nvcc and
                        a device)
./dev fuzz [SECONDS] [TARGET...]
                        fuzz readers of untrusted files, each target for SECONDS (default 20; all
                        targets), with libFuzzer and sanitizers; the corpus stays in .cache/fuzz
                        (testing/fuzz/README.md)
./dev bench [PROGRAM] [ARGS]
                        build and run a micro-benchmark (docs/benchmarks.md), such as als_bench or
                        als_gpubench, or all that need no GPU; ARGS go to Google Benchmark
./dev mfbench ARGS      run the program that was built last, in the current folder
./dev plot ARGS, ./dev report ARGS
                        run mfbench plot or mfbench report in the current folder
./dev renumber [PAGE...] [--show]
                        write the numbers of the results into the documents and list those that moved
./dev pack DIR... [--unpack]
                        replace each folder of results at or below DIR by one file, DIR.jsonl.xz, which
                        everything reads in its place (docs/results.md); --unpack FILE... restores it
./dev wheel             make a wheel of the CPU parts, dist/*.whl, which needs no compiler where it is
                        installed (docs/python.md)
./dev docs [--out DIR]  make pages for a browser of the documents, with search (site-docs/index.html); a
                        broken link is an error
./dev docs --check      check that the reference is current and that no line of the documents is longer
                        than 100 columns; --update writes the reference anew
./dev pictures [NAME...]
                        draw the pictures of the documents whose results or recipe changed
                        (docs/images/pictures.json), those named, or --all
./dev reproduce         list the exhibits of papers that can be reproduced; it marks those that a CPU can run
./dev reproduce PAPER/EXHIBIT [--draw-only [DIR]] [--versus DIR] [--out DIR] [-- ARGS]
                        run experiments/PAPER/EXHIBIT.json and its parts EXHIBIT.*.json (*.bench.json
                        with Google Benchmark), then draw plots/recipes/PAPER/EXHIBIT.json. ARGS go to
                        mfbench run; --draw-only draws existing results: those in DIR, or yours in
                        results/runs, or those in results/reference; --versus adds the results of a
                        second machine
./dev reproduce --draw-only [--out DIR]
                        draw all exhibits that have results, each into DIR/PAPER/EXHIBIT
./dev cards [--out DIR] [--cpu]
                        run experiments/cards/*.json on the GPU at hand, in ten minutes of an H200 at most
                        (--cpu: their CPU half), into a folder of its name below DIR (results/runs/cards)
./dev peers [NAME...]   install other people's libraries (docs/peers.md) from peers/NAME/requirements.txt,
                        each into its own environment below MFBENCH_PEERS (default build/peers); without
                        a NAME: implicit libmf surprise. PEERS_TIMEOUT: seconds for the index (30);
                        PEERS_CUDA, not empty: also parts for GPUs, without a GPU
./dev deps [GROUP...]   install missing packages. Needed by quickstart and test, which begin with it:
                        build plot test. Optional: report workers mpi bench format lint peers. Only when
                        named: docs clang fuzz browser spark slurm. report and docs also install from PyPI.
                        Other commands only check
./dev lint              check lines against tools/mfdev/budget.json, the format of C++, scripts with
                        shellcheck, C++ with clang-tidy
./dev tidy [FILE...]    run clang-tidy 14 over these sources, or over all (most of an hour of one core;
                        lint takes those that changed). Build first: it needs generated sources
./dev format            format the C++ sources
./dev help              show this text; ./dev COMMAND --help shows one command's part of it

Environment: JOBS (build jobs), MFBENCH_DATA (folders of real ratings), MFBENCH_CACHE (binary cache),
MFBENCH (the program with which figures and the report read results, in place of a built one)
"""

# For each command its function, and how many words it takes at most. A module is imported only for its commands, since
# some need more than a bare Python.
ANY = 1000
COMMANDS = {
    "quickstart": ("quickstart.quickstart", 1), "test": ("test.test", 1), "gpu-test": ("test.gpu_test", 0),
    "build": ("build.build", 1), "mfbench": ("build.mfbench", ANY), "fuzz": ("fuzz.fuzz", ANY),
    "bench": ("build.bench", ANY), "plot": ("build.plot", ANY),
    "report": ("build.report", ANY),
    "pack": ("pack.pack", ANY), "wheel": ("wheel.wheel", 0),
    "renumber": ("renumber.renumber", ANY), "docs": ("docs.docs", 2), "pictures": ("pictures.pictures", ANY),
    "reproduce": ("reproduce.reproduce", ANY), "cards": ("cards.cards", 3),
    "peers": ("peers.install_peers", ANY), "deps": ("deps.deps_command", ANY), "lint": ("lint.lint", 0),
    "tidy": ("lint.tidy", ANY), "format": ("lint.format_sources", 0), "help": ("__main__.usage", 0),
}
OF_ITS_OWN = {"install-beside": ("test.install_beside", ANY)}
PASS_ON = ("mfbench", "bench", "plot", "report")  # their words, --help too, to a program


def usage(_):
    print(USAGE, end="")


def usage_of(command):
    """Its entries of the help."""
    entries = re.findall(r"^\./dev .*\n(?: .*\n)*", USAGE, re.M)
    return "".join(entry for entry in entries if entry.split()[1] == command)


def call(command, words):
    if command not in COMMANDS | OF_ITS_OWN:
        raise Failure(f"there is no command '{command}'; known: {' '.join(COMMANDS)} (./dev help)")
    if words[:1] in (["-h"], ["--help"]) and command in COMMANDS and command not in PASS_ON:
        print(usage_of(command), end="")
        return 0
    place, most = (COMMANDS | OF_ITS_OWN)[command]
    if len(words) > most:
        raise Failure(f"{command}: unknown argument '{words[most]}'")
    module, function = place.split(".")
    return getattr(importlib.import_module(f"mfdev.{module}"), function)(words) or 0


def main(words):
    os.chdir(ROOT)
    command, *rest = words or ["help"]
    command = {"-h": "help", "--help": "help"}.get(command, command)
    try:
        return call(command, rest)
    except Failure as why:
        sys.stdout.flush()
        print(f"error: {why}", file=sys.stderr)
        return 1
    except Ended as end:
        return end.code
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
