"""Results of implicit feedback: judged by ranking and objective, and timed to any metric."""

import json
import math
import re

import pytest

from mfplots import figures
from mfplots.cli import main
from mfplots.errors import PlotError
from mfplots.metrics import best_of
from mfplots.recipes import parse_recipe
from mfplots.summary import Question, parse_target, summarise
from mfplots.table import table_text

from synthetic import Made, view_of, write

RISING = ((0, 0.0, 0.05), (1, 1.0, 0.2), (2, 2.0, 0.32), (3, 3.0, 0.3))
GOAL = {"metric": "ndcg_100", "value": 0.3}


def implicit(name="ials", **changes):
    made = {"algorithm": name, "trace": RISING, "implicit": True, "baseline": "ials",
            "target": None, "goal": GOAL, **changes}
    return Made(**made)


def test_the_best_is_the_largest_of_a_ranking_metric():
    assert best_of([0.1, math.nan, 0.3, 0.2], "map_10") == 0.3
    assert best_of([5, math.nan, 3], "objective") == 3
    assert math.isnan(best_of([math.nan], "map_10"))


def test_a_series_without_rmse_is_judged_by_ndcg(tmp_path):
    row, = summarise(view_of(tmp_path, [implicit(seed=1), implicit(seed=2)]), Question())
    assert row.metric == "ndcg_100"
    assert row.quality.median == 0.3 and row.best.median == 0.32
    assert row.target == 0.3 and row.target.metric == "ndcg_100"
    assert row.median_time == 2.0
    assert row.not_reached == 0


def test_answer_time_has_what_came_before_training(tmp_path):
    cases = [implicit(), implicit("slow", prepare_s=7.0)]
    rows = summarise(view_of(tmp_path, cases), Question(clock="answer_s"))
    assert [row.median_time for row in rows] == pytest.approx([2.25, 9.05])


def test_the_table_names_metric_and_target(tmp_path):
    text = table_text(view_of(tmp_path, [implicit()]), Question())
    assert "NDCG@100 [min, max]  best on test" in text
    assert re.search(r" 0\.3000 +0\.3200", text), "at the last epoch, and the best on test"
    assert "target: toy: NDCG@100 0.3" in text


def test_a_target_is_asked_for_by_recipe(tmp_path):
    recipe = parse_recipe({"figure": "speedup", "target": {"metric": "map_10", "value": 0.25}}, "r")
    row, = summarise(view_of(tmp_path, [implicit()]), recipe.question)
    assert row.target.metric == "map_10" and row.median_time == 2.0
    with pytest.raises(PlotError, match="ndcg_100"):
        parse_recipe({"figure": "speedup", "target": {"metric": "ndcg", "value": 1}}, "r")
    with pytest.raises(PlotError, match="expected"):
        parse_target({"metric": "ndcg_100"}, "r")


@pytest.mark.parametrize("x", ["train_s", "answer_s", "epochs"])
@pytest.mark.parametrize("y", ["ndcg_100", "objective", "recall_20"])
def test_curves_of_any_metric(tmp_path, x, y):
    view = view_of(tmp_path / "in", [implicit(), implicit("other")])
    recipe = parse_recipe({"figure": "trace", "x": x, "y": y}, "r")
    paths = figures.write(view, recipe, tmp_path / "out", ["svg"])
    table = paths[-1].read_text().splitlines()
    assert y in table[0]
    assert len(table) == 1 + 2 * len(RISING)


def test_bars_of_the_best_and_of_the_time(tmp_path):
    view = view_of(tmp_path / "in", [implicit(), implicit("other")])
    for y in ("best_ndcg_100", "final_objective", "time_to_target"):
        recipe = parse_recipe({"figure": "metric-bars", "name": y, "y": y}, "r")
        assert figures.write(view, recipe, tmp_path / "out", ["svg"])
    speedup = parse_recipe({"figure": "speedup"}, "r")
    *_, table = figures.write(view, speedup, tmp_path / "out", ["svg"])
    assert "target_metric" in table.read_text().splitlines()[0]


def files(folder, *options):
    assert main([str(folder), "--out", str(folder / "out"), "--format", "svg", *options]) == 0
    return {path.stem: path.read_text(encoding="utf-8") for path in (folder / "out").glob("*.csv")}


def test_default_curves_are_of_what_the_cases_are_judged_by(tmp_path):
    drawn = files(write(tmp_path / "a", [implicit(), implicit("other")]))
    assert {"ndcg_100-answer", "ndcg_100-passes", "speedup"} <= set(drawn)
    assert not [name for name in drawn if name.startswith("rmse")]
    assert "ndcg_100" in drawn["ndcg_100-answer"].splitlines()[0]
    assert len(drawn["ndcg_100-answer"].splitlines()) == 1 + 2 * len(RISING)


def test_results_of_both_kinds_have_a_page_each(tmp_path, unlaid):
    drawn = files(write(tmp_path / "a", [implicit(dataset="plays"), Made(dataset="stars")]))
    assert {"ndcg_100-answer", "rmse-answer"} <= set(drawn)
    assert "stars" in drawn["rmse-answer"] and "plays" not in drawn["rmse-answer"]
    assert "plays" in drawn["ndcg_100-answer"] and "stars" not in drawn["ndcg_100-answer"]


def test_a_metric_is_asked_for_without_a_target(tmp_path, unlaid, capsys):
    folder = write(tmp_path / "a", [implicit(), implicit("other")])
    drawn = files(folder, "--metric", "map@10")
    assert "map_10" in drawn["map_10-answer"].splitlines()[0]
    assert "map_10" in files(folder, "--metric", "map_10", "--figure", "quality-time")["quality-time"]
    assert main(["table", str(folder), "--metric", "recall_20"]) == 0
    assert "Recall@20 [min, max]" in capsys.readouterr().out


def test_a_target_without_a_metric_is_of_that_of_the_cases(tmp_path, capsys):
    folder = write(tmp_path / "a", [implicit(goal=None), implicit("other", goal=None)])
    assert main(["table", str(folder), "--target", "0.3"]) == 0
    assert "target: toy: NDCG@100 0.3" in capsys.readouterr().out
    rated = write(tmp_path / "b", [Made()])
    assert main(["table", str(rated), "--target", "0.9"]) == 0
    assert "target test RMSE: toy: 0.9" in capsys.readouterr().out


def test_tables_of_several_metrics_name_each(tmp_path):
    text = table_text(view_of(tmp_path, [implicit(dataset="plays"), Made(dataset="stars")]), Question())
    assert "quality [min, max]" in text
    assert "NDCG@100 0.3000" in text and "test RMSE 0.9000" in text


def test_figures_without_a_metric_of_their_own_take_that_of_the_cases(tmp_path):
    view = view_of(tmp_path / "in", [implicit(seed=1), implicit("other", seed=1)])
    for recipe, column in (({"figure": "sweep", "x": "algorithm"}, "final_ndcg_100"),
                           ({"figure": "paired-differences"}, "headline_ndcg_100_less"),
                           ({"figure": "trace"}, "ndcg_100")):
        *_, table = figures.write(view, parse_recipe(recipe, "r"), tmp_path / "out", ["svg"])
        assert column in table.read_text().splitlines()[0]


def test_the_target_of_an_option_wins_over_that_of_a_recipe(tmp_path, unlaid):
    folder = write(tmp_path / "a", [Made(), Made("fused")])
    recipe = tmp_path / "r.json"
    recipe.write_text(json.dumps([{"figure": "speedup", "target": GOAL}]))
    drawn = files(folder, "--recipe", str(recipe), "--target", "0.95", "--baseline", "sgd_serial")
    assert "target_rmse" in drawn["speedup"].splitlines()[0]
