import json
from pathlib import Path

import pytest

from mfplots import figures
from mfplots.errors import PlotError
from mfplots.recipes import parse_recipe, read_recipes

RECIPES = Path(__file__).parents[1] / "recipes"


def write(path, data):
    path.write_text(json.dumps(data))
    return path


def test_unknown_key_names_the_nearest(tmp_path):
    path = write(tmp_path / "r.json", [{"figure": "speedup", "x_scal": "log"}])
    with pytest.raises(PlotError, match=r'r\.json\[0\]: unknown key "x_scal"; did you mean '
                                        r'"x_scale"\?'):
        read_recipes(path)


def test_unknown_choice_names_the_nearest():
    with pytest.raises(PlotError, match=r"band: 'min-max'; did you mean \"minmax\""):
        parse_recipe({"figure": "speedup", "band": "min-max"}, "here")


@pytest.mark.parametrize("data, message", [
    ({}, 'no "figure"'),
    ([], "expected an object"),
    ({"figure": "speedup", "filter": "two"}, "filter: 'two' is not of the expected kind"),
    ({"figure": "rmse-time", "y_range": [1, 0.9]}, r"y_range: found \[1, 0.9\]"),
    ({"figure": "speedup", "name": "../x"}, "name: a file name without folders"),
    ({"figure": "benchmark-bars", "peaks": {"flop_per_s": 1}}, 'peaks: unknown key "flop_per_s"; did you mean'),
    ({"figure": "benchmark-bars", "peaks": {"bytes_per_s": "x"}}, "peaks: found 'x', expected a number"),
    ({"figure": "speedup", "target": {"metric": ["x"], "value": 1}}, "target: found"),
    ({"figure": "rmse-time", "published": {"cvs": "x"}}, 'unknown key "cvs"; did you mean "csv"'),
])
def test_wrong_recipes_say_what_is_wrong(data, message):
    with pytest.raises(PlotError, match=message):
        parse_recipe(data, "here")


def test_a_target_may_be_one_for_each_data_set():
    recipe = parse_recipe({"figure": "metric-bars", "target": {"a": 1.06, "b": 0.92}}, "here")
    assert recipe.target == {"a": 1.06, "b": 0.92} and recipe.target["a"].metric == "test_rmse"
    with pytest.raises(PlotError, match="here.target.a"):
        parse_recipe({"figure": "metric-bars", "target": {"a": "low"}}, "here")


def test_two_figures_need_two_names(tmp_path):
    path = write(tmp_path / "r.json", [{"figure": "speedup"}, {"figure": "speedup"}])
    with pytest.raises(PlotError, match='two figures would be written to speedup'):
        read_recipes(path)


def test_damaged_recipe_names_the_file(tmp_path):
    path = tmp_path / "r.json"
    path.write_text("{")
    with pytest.raises(PlotError, match=r"r\.json: no JSON"):
        read_recipes(path)


@pytest.mark.parametrize("path", sorted(RECIPES.rglob("*.json")), ids=lambda path: path.stem)
def test_recipes_of_the_repository_are_valid(path):
    for recipe in read_recipes(path):
        assert recipe.figure in figures.names() and recipe.title
