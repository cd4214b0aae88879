"""The commands of ./dev: this lists them, the modules beside it have them."""

import importlib
import os
import sys

from mfdev.shell import ROOT, Ended, Failure

USAGE = """\
./dev quickstart [--show]
                        build mfbench, race what this machine can run, draw the figures, make the report:
                        GPU against CPU on a look-alike of Netflix's ratings, or CPU algorithms on
                        look-alikes of ml-100k and ml-1m (--show: only say which)
./dev test [PRESET]     build and run every test (PRESET: cpu, ci, clang, asan or tsan; default cpu; cpu and ci
                        also compile the CUDA parts where nvcc is there, and run pytest and lint; ci and
                        clang take warnings for errors)
./dev gpu-test          build with CUDA and run the tests that need a device
./dev build [PRESET]    build mfbench: cpu, cuda, clang, asan or tsan (default: cuda where nvcc and a device are)
./dev fuzz [SECONDS] [TARGET...]
                        feed changed inputs to what reads files of strangers, each target for so long
                        (default 20 s; all targets), with Clang's libFuzzer and sanitizers; what it
                        learns stays in .cache/fuzz (testing/fuzz/README.md)
./dev bench [ARGS]      build and run the micro-benchmarks (ARGS go to Google Benchmark)
./dev mfbench ARGS      the program that was built last, in the folder in which ./dev is called
./dev plot ARGS, ./dev report ARGS
                        mfbench plot and mfbench report, in the root of the repository
./dev remeasure DIR... [--show] [--seconds N] [--out DIR]
                        the results at or below each DIR measured again, by the spec of each folder's
                        name (--show: only say which, and how long it took then; --seconds: then stop,
                        the same command goes on)
./dev pack DIR... [--unpack]
                        the results at or below each DIR as one file a folder, DIR.jsonl.xz, which
                        everything reads in its place (docs/results.md); --unpack FILE... back again
./dev renumber [PAGE...] [--show]
                        after that: the numbers of the results into the documents, and a list of those
                        that moved
./dev docs [--out DIR]  the documents as pages for a browser, which open from disk, with search
                        (site-docs/index.html); a link that leads nowhere is an error
./dev docs --check      is the reference current, which is written from the program, and is every line
                        of the documents at most 100 columns wide? --update writes the reference anew
./dev reproduce         list the exhibits of papers that can be reproduced
./dev reproduce PAPER/EXHIBIT [--draw-only DIR] [--versus DIR] [--out DIR] [-- ARGS]
                        run experiments/PAPER/EXHIBIT.json and its parts EXHIBIT.*.json, those named
                        *.bench.json with Google Benchmark, then draw
                        plots/recipes/PAPER/EXHIBIT.json (ARGS go to mfbench run; --draw-only: draw
                        from results that are there; --versus: results of a second machine)
./dev peers [NAME...]   install other people's libraries to race against (docs/peers.md), each into an
                        environment of its own below MFBENCH_PEERS (default build/peers), from
                        peers/NAME/requirements.txt; without a NAME: implicit libmf surprise
./dev deps [GROUP...]   look for what is needed, install what is missing (groups: build plot test,
                        which quickstart and test need; optional report workers mpi bench format lint
                        peers, which they go on without; docs clang fuzz browser spark; default all of
                        the first two kinds). Named, report and docs also get their libraries from PyPI.
                        quickstart and test begin with it; the other commands only look
./dev lint              check the format of C++, scripts with shellcheck, C++ with clang-tidy
./dev tidy [FILE...]    clang-tidy 14 over these sources, or over all (most of an hour of one core; lint
                        takes those that changed). What a build generates has to be there
./dev format            format the C++ sources
./dev help              this text

Environment: JOBS (build jobs), MFBENCH_DATA (folders of real ratings), MFBENCH_CACHE (binary cache),
MFBENCH (the program that figures and the report read results with, instead of one that is built)
"""

# Of each: its function, and how many words it takes at most. A module is imported for its commands only: what some of
# them read needs more than a bare Python.
ANY = 1000
COMMANDS = {
    "quickstart": ("quickstart.quickstart", 1), "test": ("test.test", 1), "gpu-test": ("test.gpu_test", 0),
    "build": ("build.build", 1), "mfbench": ("build.mfbench", ANY), "fuzz": ("fuzz.fuzz", ANY), "bench": ("build.bench", ANY), "plot": ("report.plot", ANY),
    "report": ("report.report", ANY), "remeasure": ("remeasure.remeasure", ANY),
    "pack": ("pack.pack", ANY), "renumber": ("renumber.renumber", ANY), "docs": ("docs.docs", 2), "reproduce": ("reproduce.reproduce", ANY),
    "peers": ("peers.install_peers", ANY), "deps": ("deps.deps_command", ANY), "lint": ("lint.lint", 0),
    "tidy": ("lint.tidy", ANY), "format": ("lint.format_sources", 0), "help": ("__main__.usage", 0),
}
OF_ITS_OWN = {"install-beside": ("test.install_beside", ANY)}


def usage(_):
    print(USAGE, end="")


def call(command, words):
    if command not in COMMANDS | OF_ITS_OWN:
        raise Failure(f"there is no command '{command}'; known: {' '.join(COMMANDS)} (./dev help)")
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
