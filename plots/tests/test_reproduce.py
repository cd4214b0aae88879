"""./dev reproduce: its arguments, and what specs and recipes of exhibits need. Nothing is built."""

import itertools
import json
import re
import subprocess
from pathlib import Path

import pytest
from synthetic import Made, descent, write

from mfplots.cli import main
from mfplots.published import curve_points, metric_points, value_points
from mfplots.recipes import read_recipes

ROOT = Path(__file__).parents[2]
RECIPES = ROOT / "plots" / "recipes"
SPECS = sorted((ROOT / "experiments").glob("*/*.json"))
EXHIBITS = sorted({f"{path.parent.name}/{path.name.split('.')[0]}" for path in SPECS})


def reproduce(*arguments):
    return subprocess.run([ROOT / "dev", "reproduce", *map(str, arguments)], text=True,
                          capture_output=True, timeout=120)


def test_exhibits_are_listed_with_their_descriptions():
    done = reproduce()
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stdout.splitlines() if not line.startswith(" ")] == EXHIBITS
    words = " ".join(done.stdout.split())
    for exhibit in EXHIBITS:
        spec = json.loads((ROOT / "experiments" / f"{exhibit}.json").read_text())
        assert spec["description"] in words


@pytest.mark.parametrize("arguments, message", [
    (["cu2rec/perf-ml10k"], "no exhibit 'cu2rec/perf-ml10k'; did you mean \"cu2rec/perf-ml100k\"?"),
    (["striding"], "did you mean \"cu2rec/striding\"?"),
    (["perf-ml100k.cpu"], "did you mean \"cu2rec/perf-ml100k\"?"),
    (["nothing like it"], "known: cu2rec/buffering"),
    (["cu2rec/.*"], "there is no exhibit 'cu2rec/.*'"),
    (["--draw-only", "x"], "name the exhibit first"),
    (["cu2rec/striding", "--draw-only"], "--draw-only needs a folder"),
    (["cu2rec/striding", "--draw-only", "absent"], "no folder absent"),
    (["cu2rec/striding", "--draw"], "unknown argument '--draw'; known: --draw-only DIR"),
    (["cu2rec/striding", "--draw-only", "docs", "--", "--quiet"], "--draw-only runs nothing")])
def test_wrong_arguments_say_what_is_wrong(arguments, message):
    done = reproduce(*arguments)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("error: reproduce: ") and message in done.stderr


def test_the_usage_names_it():
    done = subprocess.run([ROOT / "dev", "help"], capture_output=True, text=True, check=True)
    assert "./dev reproduce PAPER/EXHIBIT [--draw-only DIR]" in done.stdout


def test_draw_only_draws_an_exhibit_with_its_parts(tmp_path):
    ours = [Made("ebgtg", {"factors": f}, "ml-100k", False, s, hardware="cuda", baseline=None)
            for f in (50, 300) for s in (1, 2)]
    serial = [Made("sgd_serial", {"factors": f}, "ml-100k", False, s)
              for f in (50, 300) for s in (1, 2)]
    folder = write(tmp_path / "perf-ml100k", ours)
    write(tmp_path / "perf-ml100k.cpu", serial)
    done = reproduce("cu2rec/perf-ml100k", "--draw-only", folder)
    assert done.returncode == 0, done.stderr
    drawn = (folder / "figures" / "perf-ml100k.svg").read_text()
    assert "ebgtg factors=300" in drawn and "sgd_serial factors=50" in drawn
    assert "published: cu2rec f=50, V100" in drawn


def test_a_part_without_results_is_named(tmp_path):
    case = Made("ebgtg", {"factors": 50}, "ml-100k", False, hardware="cuda")
    folder = write(tmp_path / "gpu-vs-gpu", [case])
    done = reproduce("cu2rec/gpu-vs-gpu", "--draw-only", folder, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert f"no {folder}.ml20m: drawn without" in done.stderr
    assert "left out gpu-vs-gpu" in done.stderr and (tmp_path / "out/training-time.svg").exists()
    other = write(tmp_path / "other", [Made("ebgtg", {"factors": 50}, "ml-100k", False,
                                            hardware="cuda", gpu="Other GPU")])
    done = reproduce("cu2rec/gpu-vs-gpu", "--draw-only", folder, "--versus", other, "--out",
                     tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "Other GPU" in (tmp_path / "out/gpu-vs-gpu.svg").read_text()


# ---- specs and recipes ---------------------------------------------------------------------------

@pytest.mark.parametrize("exhibit", EXHIBITS)
def test_every_exhibit_has_a_spec_and_a_recipe(exhibit):
    assert (ROOT / "experiments" / f"{exhibit}.json").exists()
    assert (RECIPES / f"{exhibit}.json").exists()
    page = (ROOT / "docs" / "reproduction.md").read_text()
    assert f"`{exhibit.split('/')[1]}`" in page


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.name)
def test_the_folder_of_results_has_the_name_of_the_spec(path):
    spec = json.loads(path.read_text())
    assert spec["name"] == path.stem and spec["description"]
    # ./dev reproduce reads it by line, without a JSON parser
    assert re.search(r'^ *"description": "(.*)",$', path.read_text(), re.M)


def made_up(spec):
    """Results as a run of the spec would leave them, as far as figures look at them."""
    groups = [{"first_user": i, "last_user": i, "test_rmse": 0.9 + 0.01 * i, "test_count": 5,
               "train_rmse": 0.8, "train_count": 5} for i in range(10)]
    for entry, data, seed in itertools.product(spec["algorithms"], spec["datasets"],
                                               spec["seeds"]):
        swept = {key: value if isinstance(value, list) else [value]
                 for key, value in entry.items() if key != "stop"}
        for values in itertools.product(*swept.values()):
            params = dict(zip(swept, values))
            cpu = (name := params.pop("name")) in ("sgd_serial", "hogwild")
            pace = params["factors"] * 1e-6 * (100 if cpu else 1)
            real = isinstance(data, str)
            yield Made(name, params, data if real else f"{data['like']} look-alike", not real, seed,
                       descent(seed, pace, 0.9, epochs=4),
                       hardware="cpu" if cpu else "cuda", baseline=spec.get("baseline"),
                       target=None, stop=entry.get("stop", spec["stop"]),
                       updates_per_epoch=1000 if cpu else 100,
                       content_hash=("1" if real else "2") * 16,
                       train_rmse=spec["evaluate"].get("train", False),
                       user_groups=groups if "user_groups" in spec["evaluate"] else None)


@pytest.mark.parametrize("exhibit", EXHIBITS)
def test_the_recipe_fits_the_spec(tmp_path, exhibit, capsys):
    """All its figures can be drawn, and every baseline that it names is found."""
    folders = []
    for path in SPECS:
        if f"{path.parent.name}/{path.name.split('.')[0]}" == exhibit:
            cases = list(made_up(json.loads(path.read_text())))
            folders.append(str(write(tmp_path / path.stem, cases)))
    recipe = RECIPES / f"{exhibit}.json"
    assert main([*folders, "--recipe", str(recipe), "--out", str(tmp_path / "out"), "--format",
                 "svg", *(["--versus", folders[0]] if "gpu-vs-gpu" in exhibit else [])]) == 0
    names = [item.file_name for item in read_recipes(recipe)]
    assert {path.stem for path in (tmp_path / "out").glob("*.svg")} == set(names)
    for path in (tmp_path / "out").glob("*.csv"):
        assert "no baseline" not in path.read_text(), path.name


@pytest.mark.parametrize("path", sorted(RECIPES.glob("*/*.json")), ids=lambda path: path.stem)
def test_published_numbers_of_recipes_exist(path):
    assert (ROOT / "experiments" / path.parent.name / path.name).exists()
    for recipe in read_recipes(path):
        if recipe.published is None:
            continue
        read = value_points if recipe.figure == "metric-bars" else \
            metric_points if recipe.published.metric else curve_points
        assert len(read(recipe.published)) > 1
