"""./dev reproduce: the exhibits of papers, from their specs and benchmarks to their figures."""

import json
import pathlib
import re
import shutil
import sys
import textwrap

from mfdev.build import build, build_target, configure, default_preset, have_device, have_nvcc, programs, run_mfbench
from mfdev.deps import need
from mfdev.shell import ROOT, Ended, Failure, output_of, say, status_of

EXPERIMENTS, RUNS = pathlib.Path("experiments"), pathlib.Path("results/runs")


def exhibits():
    """PAPER/EXHIBIT of every spec and benchmark; a part, EXHIBIT.PART.json, belongs to its exhibit. Those
    of cards are of no paper."""
    return sorted({f"{path.parent.name}/{path.name.split('.')[0]}" for path in EXPERIMENTS.glob("*/*.json")
                   if path.parent.name != "cards"})


def parts_of(exhibit, benches):
    """The specs, or the benchmarks, of an exhibit: its own, then its parts'."""
    folder, name = EXPERIMENTS / exhibit.split("/")[0], exhibit.split("/")[1]
    found = [folder / f"{name}.json", *sorted(folder.glob(f"{name}.*.json"))]
    return [path for path in found if path.is_file() and path.name.endswith(".bench.json") == benches]


def list_exhibits():
    for name in exhibits():
        first = [*parts_of(name, False), *parts_of(name, True)][0]
        print(name)
        print(textwrap.fill(json.loads(first.read_text(encoding="utf-8"))["description"], 96, initial_indent="    ",
                            subsequent_indent="    ", break_on_hyphens=False))


def hint(word):
    sys.path.insert(0, str(ROOT / "plots"))
    from mfplots.errors import hint as of_words
    return of_words(word, exhibits())


def parsed(words):
    """(exhibit, {option: folder}, arguments of mfbench run)"""
    if words[0].startswith("-"):
        raise Failure("reproduce: name the exhibit first; ./dev reproduce lists them")
    exhibit, rest, folders = words[0], words[1:], {}
    while rest and rest[0] != "--":
        if rest[0] not in ("--draw-only", "--versus", "--out"):
            raise Failure(f"reproduce: unknown argument '{rest[0]}'; known: --draw-only DIR, --versus DIR, --out DIR, "
                          "and -- before arguments of mfbench run")
        if len(rest) < 2:
            raise Failure(f"reproduce: {rest[0]} needs a folder")
        folders[rest[0]] = rest[1].rstrip("/")
        rest = rest[2:]
    return exhibit, folders, rest[1:]


def check(exhibit, folders, arguments):
    if exhibit not in exhibits():
        raise Failure(f"reproduce: there is no exhibit '{exhibit}'{hint(exhibit)}")
    if not pathlib.Path(f"plots/recipes/{exhibit}.json").is_file():
        raise Failure(f"reproduce: no plots/recipes/{exhibit}.json")
    if "--draw-only" in folders and arguments:
        raise Failure("reproduce: --draw-only runs nothing, so arguments of mfbench run have no use")
    if not parts_of(exhibit, False) and arguments not in ([], ["--rerun"]):
        raise Failure(f"reproduce: {exhibit} is a benchmark, which mfbench run does not run; of its arguments only "
                      "--rerun has a meaning here")
    for option in ("--draw-only", "--versus"):
        if option in folders and not has_results(folders[option]):
            raise Failure(f"reproduce: no folder {folders[option]}")


def reproduce(words):
    if not words:
        list_exhibits()
        return
    exhibit, folders, arguments = parsed(words)
    check(exhibit, folders, arguments)
    failed, results = False, folders.get("--draw-only")
    if results is None:
        preset, results = default_preset(), str(RUNS / exhibit)
        if specs := parts_of(exhibit, False):
            failed = run_specs(preset, specs, arguments)
        if benches := parts_of(exhibit, True):
            run_benches(preset, exhibit, benches, "--rerun" in arguments)
    draw(exhibit, results, folders.get("--versus"), folders.get("--out"))
    if failed:
        raise Ended(1)


def run_specs(preset, specs, arguments):
    """Whether a case failed: a result, which is drawn. Other errors end the command."""
    if not (have_nvcc() and have_device()):
        say(f"no {'GPU' if have_nvcc() else 'nvcc'}: the cases that need {'one' if have_nvcc() else 'a GPU'} will be "
            "skipped, with the reason in their files")
    build([preset])
    failed = False
    for spec in specs:
        say(f"running {spec}")
        code = status_of(f"build/{preset}/mfbench", "run", spec, "--out", RUNS / spec.parent.name / spec.stem, *arguments)
        if code not in (0, 1):
            raise Failure(f"mfbench run {spec} ended with code {code}")
        failed |= code == 1
    return failed


def run_benches(preset, exhibit, benches, rerun):
    """Into the folders of the specs beside them. One that is there is kept, unless its request was edited or it is to
    run again."""
    if preset != "cuda":
        if not parts_of(exhibit, False):
            raise Failure(f"reproduce: {exhibit} times kernels of a GPU, but nvcc or a GPU is missing here")
        say(f"no nvcc or no GPU: the kernels of {exhibit} are not timed")
        return
    need(["build", "bench"], ["optional"])
    configure(preset, benchmarks=True)
    for bench in benches:
        folder = RUNS / bench.parent.name / bench.name.removesuffix(".bench.json")
        kept = folder / "bench.json"
        if not rerun and (folder / "benchmark.json").is_file() and kept.is_file() and \
                kept.read_bytes() == bench.read_bytes():
            say(f"{bench}: its results are there (-- --rerun measures again)")
            continue
        run_bench(preset, bench, folder)


def run_bench(preset, bench, folder):
    asked = json.loads(bench.read_text(encoding="utf-8"))
    build_target(preset, "mfbench", asked["program"])
    say(f"running {bench}")
    folder.mkdir(parents=True, exist_ok=True)
    found = programs(f"build/{preset}", asked["program"])
    if not found:
        raise Failure(f"{bench}: the build has no program {asked['program']}")
    # Folders by their last name: results are for others' eyes.
    machine = re.sub(r'"/[^"]*/([^"/]*)"', r'"\1"', output_of(f"build/{preset}/mfbench", "doctor", "--json"))
    new = folder / "benchmark.json.new"
    if status_of(found[0], f"--benchmark_filter={asked['filter']}", f"--benchmark_repetitions={asked['repetitions']}",
                 "--benchmark_out_format=json", f"--benchmark_out={new}") != 0:
        raise Failure(f"{found[0]} failed")
    if '"name"' not in new.read_text(encoding="utf-8"):
        raise Failure(f"{bench}: no benchmark of {asked['program']} fits its filter")
    (folder / "environment.json").write_text(machine, encoding="utf-8")
    new.rename(folder / "benchmark.json")
    shutil.copyfile(bench, folder / "bench.json")


def has_results(folder):
    """A folder, or the packed file of it."""
    return pathlib.Path(folder).is_dir() or pathlib.Path(f"{folder}.jsonl.xz").is_file()


def result_folders(exhibit, results):
    """The folders of an exhibit and its parts: DIR, DIR.PART, ..."""
    found = []
    for part in [*parts_of(exhibit, False), *parts_of(exhibit, True)]:
        folder = results + part.name.removesuffix(".json").removesuffix(".bench")[len(exhibit.split("/")[1]):]
        if has_results(folder):
            found.append(folder)
        else:
            say(f"no {folder}: drawn without {part}", sys.stderr)
    return sorted(set(found))


def draw(exhibit, results, versus, out):
    words = [*result_folders(exhibit, results), "--recipe", f"plots/recipes/{exhibit}.json", "--out",
             out or f"{results}/figures"]
    for folder in result_folders(exhibit, versus) if versus else []:
        words += ["--versus", folder]
    run_mfbench(["plot", *words])
