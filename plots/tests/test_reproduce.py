"""./dev reproduce: its arguments, and what specs and recipes of exhibits need. Nothing is built."""

import itertools
import json
import re
import subprocess
from pathlib import Path

import pytest
from mfdev import reproduce as dev_reproduce
from mfdev.shell import Failure
from synthetic import Made, benchmark_runs, descent, write, write_benchmarks

from mfplots.cli import main
from mfplots.published import points_of, value_points
from mfplots.recipes import read_recipes

ROOT = Path(__file__).parents[2]
RECIPES = ROOT / "plots" / "recipes"
PARTS = sorted(path for path in (ROOT / "experiments").glob("*/*.json") if path.parent.name not in ("cards", "larger-than-the-card", "published", "response"))
BENCHES = [path for path in PARTS if path.name.endswith(".bench.json")]
SPECS = [path for path in PARTS if path not in BENCHES]
EXHIBITS = sorted({f"{path.parent.name}/{path.name.split('.')[0]}" for path in PARTS})


def main_part(exhibit):
    """Its spec, or the benchmark where it has no spec."""
    spec = ROOT / "experiments" / f"{exhibit}.json"
    return spec if spec.exists() else spec.with_suffix(".bench.json")


def reproduce(*arguments):
    return subprocess.run([ROOT / "dev", "reproduce", *map(str, arguments)], text=True,
                          capture_output=True, timeout=300)


def test_exhibits_are_listed_with_their_descriptions():
    done = reproduce()
    assert done.returncode == 0, done.stderr
    listed = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert [line.split()[0] for line in listed] == EXHIBITS
    assert {"cumf_als/cg-steps (a CPU runs all of it)", "cumf_als/table4 (a CPU runs part of it)", "cumf_als/fig4"} <= set(listed)
    words = " ".join(done.stdout.split())
    for exhibit in EXHIBITS:
        assert json.loads(main_part(exhibit).read_text())["description"] in words


@pytest.mark.parametrize("arguments, message", [
    (["cu2rec/perf-ml10k"], "no exhibit 'cu2rec/perf-ml10k'; did you mean \"cu2rec/perf-ml100k\"?"),
    (["striding"], "did you mean \"cu2rec/striding\"?"),
    (["perf-ml100k.cpu"], "did you mean \"cu2rec/perf-ml100k\"?"),
    (["nothing like it"], "known: ccd/speed, cu2rec/atomics"),
    (["cu2rec/.*"], "there is no exhibit 'cu2rec/.*'"),
    (["--draw-only", "x"], "name the exhibit first"),
    (["cu2rec/striding", "--draw-only", "--out"], "--out needs a folder"),
    (["--draw-only", "--versus", "x"], "name the exhibit first"),
    (["cu2rec/striding", "--draw-only", "absent"], "no folder absent"),
    (["cumf_als/fig4", "--", "--quiet"], "only --rerun has a meaning here"),
    (["cumf_als/fig4.bench"], "did you mean \"cumf_als/fig4\"?"),
    (["cu2rec/striding", "--draw"], "unknown argument '--draw'; known: --draw-only [DIR]"),
    (["cu2rec/striding", "--draw-only", "docs", "--", "--quiet"], "--draw-only runs nothing")])
def test_wrong_arguments_say_what_is_wrong(arguments, message):
    done = reproduce(*arguments)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("error: reproduce: ") and message in done.stderr


@pytest.fixture
def reproduced(monkeypatch, unlaid):
    """./dev reproduce in this process."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(dev_reproduce, "run_mfbench", lambda words: main([*map(str, words[1:])]))
    return lambda *words: dev_reproduce.reproduce([*map(str, words)])


def test_draw_only_draws_an_exhibit_with_its_parts(tmp_path, reproduced):
    factors = [(f, seed) for f in (50, 300) for seed in (1, 2)]
    folder = write(tmp_path / "perf-ml100k", [
        Made("ebgtg", {"factors": f}, "ml-100k", False, s, hardware="cuda", baseline=None) for f, s in factors])
    write(tmp_path / "perf-ml100k.cpu", [Made("sgd_serial", {"factors": f}, "ml-100k", False, s) for f, s in factors])
    reproduced("cu2rec/perf-ml100k", "--draw-only", folder)
    for f in (50, 300):
        drawn = (folder / "figures" / f"perf-ml100k-f{f}.svg").read_text()
        assert ">ebgtg<" in drawn and ">sgd_serial<" in drawn
        assert f"published: cu2rec f={f}, V100" in drawn


def test_results_are_found_wherever_they_are(tmp_path, reproduced, monkeypatch, capsys):
    def made(folder, name="ebgtg", dataset="ml-100k"):
        return write(folder, [Made(name, {"factors": f}, dataset, False, hardware="cuda") for f in (50, 300)])

    for name, folder in (("RUNS", tmp_path / "runs"), ("REFERENCE", tmp_path / "reference")):
        monkeypatch.setattr(dev_reproduce, name, folder)
    exhibit = "cu2rec/gpu-vs-gpu"
    with pytest.raises(Failure, match=f"no results of {exhibit} in {tmp_path}/runs or {tmp_path}/reference/"):
        reproduced(exhibit, "--draw-only")
    made(tmp_path / "reference/a" / exhibit)
    for part in ("", ".ml20m"):
        made(tmp_path / f"reference/b/{exhibit}{part}", dataset=f"of-b{part}")
    assert dev_reproduce.found_results(exhibit) == f"{tmp_path}/reference/b/{exhibit}"
    reproduced(exhibit, "--draw-only")
    assert "of-b.ml20m" in (tmp_path / "runs" / exhibit / "figures/training-time.svg").read_text()
    made(tmp_path / "runs" / exhibit, dataset="mine")
    monkeypatch.setattr(dev_reproduce, "exhibits", lambda: [exhibit, "cu2rec/striding"])
    reproduced("--draw-only", "--out", tmp_path / "all")
    assert "mine" in (tmp_path / "all" / exhibit / "training-time.svg").read_text()
    assert "no results of cu2rec/striding" in capsys.readouterr().err


def test_a_part_without_results_is_named(tmp_path, reproduced, capsys):
    def made(name, **more):
        return write(tmp_path / name, [Made("ebgtg", {"factors": 50}, "ml-100k", False, hardware="cuda", **more)])

    folder, out = made("gpu-vs-gpu"), tmp_path / "out"
    reproduced("cu2rec/gpu-vs-gpu", "--draw-only", folder, "--out", out)
    said = capsys.readouterr().err
    assert f"no {folder}.ml20m: drawn without" in said
    assert "left out gpu-vs-gpu" in said and (out / "training-time.svg").exists()
    reproduced("cu2rec/gpu-vs-gpu", "--draw-only", folder, "--versus", made("other", gpu="Other GPU"), "--out", out)
    assert "Other GPU" in (out / "gpu-vs-gpu.svg").read_text()


def test_draw_only_draws_cases_and_benchmarks_of_one_exhibit(tmp_path, reproduced, capsys):
    folder = write(tmp_path / "als-fused", [
        Made("als", {"factors": 100, "solver": s, "a_storage": a}, "netflix look-alike", hardware="cuda")
        for s, a in (("lu", "fp32"), ("cg", "fp32"), ("cg", "fp16"))])
    write_benchmarks(folder, made_up_benchmarks("cumf_als/als-fused"))
    reproduced("cumf_als/als-fused", "--draw-only", folder)
    assert capsys.readouterr().err == ""
    assert {"time-per-epoch", "kernels"} <= {path.stem for path in (folder / "figures").glob("*.svg")}


# ---- the run of a benchmark, with programs of our own --------------------------------------------

PROGRAM = """#!/bin/sh
for word in "$@"; do
  case $word in --benchmark_out=*) out=${word#*=} ;; esac
  echo "$word" >>"$0.arguments"
done
echo '{"context": {}, "benchmarks": [{"name": "fig4/side:x"}]}' >"$out"
"""


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A tree where building is done and a GPU is there, as far as dev can see."""
    def build_target(*words):
        with (tmp_path / "built").open("a") as file:
            print("build", *words, file=file)
    monkeypatch.chdir(tmp_path)
    for name, stub in [("configure", lambda *_, **__: None), ("need", lambda *_: None), ("draw", lambda *_: None),
                       ("default_preset", lambda: "cuda"), ("build_target", build_target)]:
        monkeypatch.setattr(dev_reproduce, name, stub)
    for name in ("experiments/cumf_als/fig4.bench.json", "plots/recipes/cumf_als/fig4.json"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text((ROOT / name).read_text())
    build = tmp_path / "build/cuda/algorithms"
    build.mkdir(parents=True)
    (build / "als_gpubench").write_text(PROGRAM)
    (build.parent / "mfbench").write_text("#!/bin/sh\necho '{\"asked\": \"'$*'\"}'\n")
    for program in (build / "als_gpubench", build.parent / "mfbench"):
        program.chmod(0o755)
    return tmp_path


def test_a_benchmark_runs_as_its_file_says(tree):
    asked = json.loads((tree / "experiments/cumf_als/fig4.bench.json").read_text())
    dev_reproduce.reproduce(["cumf_als/fig4"])
    words = (tree / "build/cuda/algorithms/als_gpubench.arguments").read_text().split("\n")
    assert f"--benchmark_filter={asked['filter']}" in words
    assert f"--benchmark_repetitions={asked['repetitions']}" in words
    assert "build cuda mfbench als_gpubench" in (tree / "built").read_text()
    folder = tree / "results/runs/cumf_als/fig4"
    assert {path.name for path in folder.iterdir()} == {"bench.json", "benchmark.json",
                                                        "environment.json"}
    assert json.loads((folder / "environment.json").read_text()) == {"asked": "doctor --json"}
    assert json.loads((folder / "bench.json").read_text()) == asked


def test_a_benchmark_that_ran_is_not_run_again_unless_it_changed(tree, capsys):
    request = tree / "experiments/cumf_als/fig4.bench.json"
    counter = tree / "build/cuda/algorithms/als_gpubench.arguments"
    runs = lambda: counter.read_text().count("--benchmark_filter")  # noqa: E731
    dev_reproduce.reproduce(["cumf_als/fig4"])
    dev_reproduce.reproduce(["cumf_als/fig4"])
    assert "its results are there" in capsys.readouterr().out and runs() == 1
    dev_reproduce.reproduce(["cumf_als/fig4", "--", "--rerun"])
    assert runs() == 2
    request.write_text(request.read_text().replace('"repetitions": ', '"repetitions": 1'))
    dev_reproduce.reproduce(["cumf_als/fig4"])
    assert runs() == 3


def test_a_benchmark_that_fits_no_filter_is_an_error(tree):
    program = tree / "build/cuda/algorithms/als_gpubench"
    program.write_text(PROGRAM.replace('{"name": "fig4/side:x"}', ""))
    with pytest.raises(Failure, match="no benchmark of als_gpubench fits its filter"):
        dev_reproduce.reproduce(["cumf_als/fig4"])
    assert not (tree / "results/runs/cumf_als/fig4/benchmark.json").exists()


# ---- specs and recipes ---------------------------------------------------------------------------

@pytest.mark.parametrize("exhibit", EXHIBITS)
def test_every_exhibit_has_a_spec_and_a_recipe(exhibit):
    assert main_part(exhibit).exists()
    assert (RECIPES / f"{exhibit}.json").exists()
    paper, name = exhibit.split("/")
    assert f"`{name}`" in (ROOT / "docs" / "reproduction.md").read_text()
    pages = [ROOT / "docs" / "reproduction" / f"{paper}.md", ROOT / "docs" / f"{paper}.md"]  # peers
    page = next(page for page in pages if page.exists()).read_text()
    assert f"./dev reproduce {exhibit}" in page


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.name)
def test_the_folder_of_results_has_the_name_of_the_spec(path):
    spec = json.loads(path.read_text())
    assert spec["name"] == path.stem and spec["description"]


@pytest.mark.parametrize("path", BENCHES, ids=lambda path: path.name)
def test_benchmarks_name_a_program_that_there_is(path):
    asked = json.loads(path.read_text())
    assert set(asked) == {"name", "description", "program", "filter", "repetitions"}
    assert asked["name"] == path.name.removesuffix(".bench.json")
    family = asked["program"].removesuffix("_gpubench")
    room = ROOT / ("harness" if family == "harness" else f"algorithms/{family}")
    assert list((room / "bench").glob("*_gpubench.cu*"))


# The benchmarks that a recipe is about, as its program names them.
BENCHMARKS = {
    "cu2rec/loss": [f"loss/like:{like}/factors:{factors}/part:{part}" for like in ("ml-100k", "ml-20m")
                    for factors in (50, 300) for part in ("iteration", "loss", "fused")],
    "cu2rec/registers": [f"kernel/like:{like}/factors:{factors}/variant:{variant}" for like in ("ml-100k", "ml-20m")
                         for factors in (50, 300)
                         for variant in ("as_it_is", "registers_32", "registers_24", "global_step")],
    "cumf_als/fig4": [f"hermitian/factors:100/side:{side}/load:{load}/part:{part}"
                      for load in ("coalesced", "noncoalesced_l1", "noncoalesced_nol1")
                      for side in ("x", "theta") for part in ("load", "compute", "load_compute", "all")],
    "cumf_als/fig5": [
        *(f"hermitian/factors:100/side:{side}/load:noncoalesced_l1/part:all"
          for side in ("x", "theta")),
        "solve/factors:100/solver:lu", "solve/factors:100/solver:cholesky",
        *(f"solve/factors:100/solver:cg/a_storage:{storage}/l1:{l1}"
          for storage in ("fp32", "fp16") for l1 in (0, 1))],
    "cumf_als/fig7a": [name for side in ("x", "theta") for name in (
        f"hermitian/factors:100/side:{side}/load:noncoalesced_l1/part:all",
        f"gemm/factors:100/side:{side}")],
    "cumf_als/fig7b": [*(f"cg/factors:100/side:{side}/a_storage:{storage}"
                         for side in ("x", "theta") for storage in ("fp32", "fp16")), "copy"],
    "cumf_als/als-fused": [
        "iteration/factors:100/solver:lu", "iteration/factors:100/solver:cholesky",
        "iteration/factors:100/solver:cg", "iteration/factors:100/solver:cg/a_storage:fp16",
        *(f"als_fused/side:{side}/factors:100/precision:{precision}/cg_steps:{steps}"
          for side in ("x", "theta") for precision in ("fp16", "fp16x2") for steps in (0, 6))],
}


def made_up_benchmarks(exhibit):
    return [run for i, name in enumerate(BENCHMARKS[exhibit])
            for run in benchmark_runs(f"{name}/iterations:3/manual_time", [1.0 + i, 1.1 + i],
                                      flops=1e12, symmetric_flops=5e11, bytes=1e12)]


@pytest.mark.parametrize("path", BENCHES, ids=lambda path: path.name)
def test_the_filter_takes_the_benchmarks_of_the_exhibit(path):
    asked = json.loads(path.read_text())
    own = BENCHMARKS[f"{path.parent.name}/{asked['name']}"]
    fits = re.compile(asked["filter"])
    assert [name for name in own if not fits.search(f"{name}/iterations:3/manual_time")] == []
    others = {name for names in BENCHMARKS.values() for name in names} - set(own)
    assert [name for name in others if fits.search(name)] == []


# What algorithms count while they prepare, as far as recipes draw it.
BLOCKS = {"blocks": 4096, "blank_blocks": 768, "padding_blocks": 700, "idle_lane_share": 0.8}
FACTS = {"gpusgd": BLOCKS, "newgpusgd": BLOCKS}


def made_up(spec):
    """Results as a run of the spec would leave them, as far as figures look at them."""
    groups = [{"first_user": i, "last_user": i, "test_rmse": 0.9 + 0.01 * i, "test_count": 5,
               "train_rmse": 0.8, "train_count": 5} for i in range(10)]
    for entry, data, seed in itertools.product(spec["algorithms"], spec["datasets"],
                                               spec["seeds"][:2]):
        swept = {key: value if isinstance(value, list) else [value]
                 for key, value in entry.items() if key != "stop"}
        for values in itertools.product(*swept.values()):
            params = dict(zip(swept, values))
            cpu = (name := params.pop("name")) in ("sgd_serial", "hogwild", "fpsgd", "als_cpu",
                                               "ials_cpu", "ials_pp_cpu")
            rule = params.pop("schedule", None)
            pace = params["factors"] * 1e-6 * (100 if cpu else 1)
            real = isinstance(data, str) or "like" not in data
            scale = "" if real or "scale" not in data else f" x{data['scale']:g}"
            label = data if isinstance(data, str) else data.get("label", data["name"]) if real \
                else data.get("label", f"{data['like']} look-alike{scale}")
            yield Made(name, params, label,
                       not real, seed, descent(seed, pace, 0.9, epochs=4),
                       hardware="cpu" if cpu else "cuda", baseline=spec.get("baseline"),
                       target=spec.get("target_rmse") and 0.95, schedule=rule,
                       stop=entry.get("stop", spec["stop"]),
                       updates_per_epoch=1000 if cpu else 100, facts=FACTS.get(name),
                       content_hash=("1" if real else "2") * 16,
                       train_rmse=spec["evaluate"].get("train", False),
                       user_groups=groups if "user_groups" in spec["evaluate"] else None)


@pytest.mark.parametrize("exhibit", EXHIBITS)
def test_the_recipe_fits_the_spec(tmp_path, exhibit, unlaid):
    """All its figures can be drawn, and every baseline that it names is found."""
    folders = []
    for path in SPECS:
        if f"{path.parent.name}/{path.name.split('.')[0]}" == exhibit:
            cases = list(made_up(json.loads(path.read_text())))
            folders.append(str(write(tmp_path / path.stem, cases)))
    if exhibit in BENCHMARKS:
        folders.append(str(write_benchmarks(tmp_path / "bench", made_up_benchmarks(exhibit))))
    recipe = RECIPES / f"{exhibit}.json"
    assert main([*folders, "--recipe", str(recipe), "--out", str(tmp_path / "out"), "--format",
                 "svg", *(["--versus", folders[0]] if "gpu-vs-gpu" in exhibit else [])]) == 0
    names = [item.file_name for item in read_recipes(recipe)]
    assert {path.stem for path in (tmp_path / "out").glob("*.svg")} == set(names)
    for path in (tmp_path / "out").glob("*.csv"):
        assert "no baseline" not in path.read_text(), path.name


@pytest.mark.parametrize("path", sorted(RECIPES.glob("*/*.json")), ids=lambda path: path.stem)
def test_published_numbers_of_recipes_exist(path):
    assert main_part(f"{path.parent.name}/{path.stem}").exists()
    for recipe in read_recipes(path):
        if recipe.published is None:
            continue
        read = value_points if recipe.figure in ("metric-bars", "benchmark-bars") else points_of
        assert len(read(recipe.published)) > 1
