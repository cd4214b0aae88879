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

EXPERIMENTS, RUNS, REFERENCE = map(pathlib.Path, ("experiments", "results/runs", "results/reference"))
ON_A_CPU = {True: " (a CPU runs all of it)", False: "", None: " (a CPU runs part of it)"}


def exhibits():
    """PAPER/EXHIBIT of every spec and benchmark; a part, EXHIBIT.PART.json, belongs to its exhibit. The
    specs of cards, of ratings larger than a card, published splits and response surfaces belong to no paper's exhibits."""
    return sorted({f"{path.parent.name}/{path.name.split('.')[0]}" for path in EXPERIMENTS.glob("*/*.json")
                   if path.parent.name not in ("cards", "larger-than-the-card", "published", "response")})


def parts_of(exhibit, benches):
    """The specs, or the benchmarks, of an exhibit: its own, then its parts'."""
    folder, name = EXPERIMENTS / exhibit.split("/")[0], exhibit.split("/")[1]
    found = [folder / f"{name}.json", *sorted(folder.glob(f"{name}.*.json"))]
    return [path for path in found if path.is_file() and path.name.endswith(".bench.json") == benches]


def list_exhibits():
    for name in exhibits():
        first = [*parts_of(name, False), *parts_of(name, True)][0]
        print(name + ON_A_CPU[runs_on_a_cpu(name)])
        print(textwrap.fill(json.loads(first.read_text(encoding="utf-8"))["description"], 96, initial_indent="    ",
                            subsequent_indent="    ", break_on_hyphens=False))


def runs_on_a_cpu(exhibit):
    """Whether its algorithms do; None if some of them do."""
    listed = pathlib.Path("docs/reference/algorithms.md").read_text(encoding="utf-8")
    of_gpu = set(re.findall(r"^- `(\S+)` \(CUDA", listed, re.M))
    found = {False for _ in parts_of(exhibit, True)}
    for spec in parts_of(exhibit, False):
        for entry in json.loads(spec.read_text(encoding="utf-8"))["algorithms"]:
            names = [entry["name"]] if isinstance(entry["name"], str) else entry["name"]
            found |= {peer_runs_on_a_cpu(entry)} if names == ["peer"] else {name not in of_gpu for name in names}
    return found.pop() if len(found) == 1 else None


def peer_runs_on_a_cpu(entry):
    form = json.loads(pathlib.Path(f"peers/{entry['library']}/peer.json").read_text(encoding="utf-8"))
    return "cuda" not in (form.get("hardware"), entry.get("device"))


def hint(word):
    sys.path.insert(0, str(ROOT / "plots"))
    from mfplots.errors import hint as of_words
    return of_words(word, exhibits())


def parsed(words):
    """(exhibit, or "" for all; {option: folder, or "" for one that is to be found}; arguments of mfbench run)"""
    exhibit = "" if words[0] == "--draw-only" else words[0]
    if exhibit.startswith("-"):
        raise Failure("reproduce: name the exhibit first; ./dev reproduce lists them")
    rest, folders = words[bool(exhibit):], {}
    while rest and rest[0] != "--":
        option, *rest = rest
        if option not in ("--draw-only", "--versus", "--out"):
            raise Failure(f"reproduce: unknown argument '{option}'; known: --draw-only [DIR], --versus DIR, --out DIR, "
                          "and -- before arguments of mfbench run")
        given = bool(rest) and not rest[0].startswith("-")
        if not given and option != "--draw-only":
            raise Failure(f"reproduce: {option} needs a folder")
        folders[option] = rest[0].rstrip("/") if given else ""
        rest = rest[given:]
    if not exhibit and (folders["--draw-only"] or "--versus" in folders):
        raise Failure("reproduce: name the exhibit first; --draw-only without a folder draws all")
    return exhibit, folders, rest[1:]


def check(exhibit, folders, arguments):
    if exhibit and exhibit not in exhibits():
        raise Failure(f"reproduce: there is no exhibit '{exhibit}'{hint(exhibit)}")
    if exhibit and not pathlib.Path(f"plots/recipes/{exhibit}.json").is_file():
        raise Failure(f"reproduce: no plots/recipes/{exhibit}.json")
    if "--draw-only" in folders and arguments:
        raise Failure("reproduce: --draw-only runs nothing, so arguments of mfbench run have no use")
    if arguments not in ([], ["--rerun"]) and not parts_of(exhibit, False):
        raise Failure(f"reproduce: {exhibit} is a benchmark, which mfbench run does not run; of its arguments only "
                      "--rerun has a meaning here")
    for option in ("--draw-only", "--versus"):
        if folders.get(option) and not has_results(folders[option]):
            raise Failure(f"reproduce: no folder {folders[option]}")


def reproduce(words):
    if not words:
        list_exhibits()
        return
    exhibit, folders, arguments = parsed(words)
    check(exhibit, folders, arguments)
    if folders.get("--draw-only") == "":
        draw_found([exhibit] if exhibit else exhibits(), folders, each=not exhibit)
        return
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


def draw_found(names, folders, each):
    """Draws exhibits from their results, wherever these are; `each`: every one into its own folder below --out."""
    failed = []
    for name in names:
        if not (results := found_results(name)):
            why = f"no results of {name} in {RUNS} or {REFERENCE}/*; ./dev reproduce {name} runs it"
            if not each:
                raise Failure(f"reproduce: {why}")
            say(why, sys.stderr)
            continue
        say(f"{name}: {results}")
        out = pathlib.Path(folders.get("--out", RUNS), *([name] if each or "--out" not in folders else []))
        try:
            draw(name, results, folders.get("--versus"), str(out if "--out" in folders else out / "figures"))
        except Ended as end:
            failed.append(end)
    if failed:
        raise failed[0]


def found_results(exhibit):
    """Its folder in results/runs, or else in results/reference that of the machine with most of its parts; "" if none."""
    def parts(folder):
        return sum(bool([*path.parent.glob(f"{path.name}.jsonl.xz"), *path.glob("*.jsonl"), *path.glob("benchmark.json")])
                   for path in map(pathlib.Path, part_folders(exhibit, folder)))

    if parts(own := str(RUNS / exhibit)):
        return own
    machines = [str(machine / exhibit) for machine in sorted(REFERENCE.glob("*"))]
    best = max(machines, key=parts, default=own)
    return best if parts(best) else ""


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


def part_folders(exhibit, results):
    """The folders of an exhibit and its parts, and the spec or benchmark of each: {DIR: ..., DIR.PART: ...}"""
    parts = [*parts_of(exhibit, True), *parts_of(exhibit, False)]
    return {results + part.name.removesuffix(".json").removesuffix(".bench")[len(exhibit.split("/")[1]):]: part for part in parts}


def result_folders(exhibit, results):
    """The folders of part_folders that exist."""
    found = part_folders(exhibit, results)
    for folder, part in found.items():
        if not has_results(folder):
            say(f"no {folder}: drawn without {part}", sys.stderr)
    return sorted(filter(has_results, found))


def draw(exhibit, results, versus, out):
    words = [*result_folders(exhibit, results), "--recipe", f"plots/recipes/{exhibit}.json", "--out",
             out or f"{results}/figures"]
    for folder in result_folders(exhibit, versus) if versus else []:
        words += ["--versus", folder]
    run_mfbench(["plot", *words])
