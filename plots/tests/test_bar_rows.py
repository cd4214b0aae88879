"""The rows of figures of bars: their order, their words, and rows that have no value."""

import math

import pytest
from synthetic import Made, view_of

from mfplots import figures
from mfplots.metrics import NO_INTERVAL, Interval
from mfplots.page import fit
from mfplots.recipes import Recipe
from mfplots.style import speed_text, styled

SECONDS = {"hogwild": 4.0, "sgd_serial": 8.0, "fpsgd": 1.0, "ebgtg": 16.0}


def run(name, seconds, **changes):
    return Made(name, trace=[(0, 0.0, 2.0), (1, seconds / 2, 1.0), (2, seconds, 0.9)], **changes)


def test_rows_without_a_value_share_a_line_of_the_foot_by_reason(tmp_path):
    cases = [Made(), *(Made(name, trace=(), status="skipped", contended=["why"]) for name in ("hogwild", "fpsgd"))]
    with styled():
        page = figures.draw(view_of(tmp_path, cases), Recipe("throughput"))
        page.arrange()
    assert row_names(page) == [["sgd_serial"]] and page.foot == "n = 1 seed. Not drawn (1 skipped): fpsgd †, hogwild †."
    assert fit(page.foot, 9, 8) == page.foot and page.foot in page.caption
    assert page.foot in [text.get_text().replace("\n", " ") for text in page.figure.texts]


def row_names(page):
    """Of each panel, from top to bottom."""
    return [[label.get_text() for label in axes.get_yticklabels()] for axes in page.axes]


@pytest.mark.parametrize("recipe", [
    Recipe("speedup"), Recipe("throughput"), Recipe("clocks"), Recipe("metric-bars", y="time"), Recipe("metric-bars", y="updates_per_s"),
    Recipe("metric-bars", y="time_to_target")], ids=lambda recipe: f"{recipe.figure}-{recipe.y}")
def test_the_best_row_is_the_first(tmp_path, recipe):
    page = figures.draw(view_of(tmp_path, [run(name, seconds) for name, seconds in SECONDS.items()]), recipe)
    assert row_names(page) == [sorted(SECONDS, key=SECONDS.get)]


def test_the_best_ranking_is_the_first_row(tmp_path):
    cases = [Made(name, implicit=True, goal={"metric": "ndcg_100", "value": 0.1}, target=None, trace=[(0, 0.0, 0.01), (1, 1.0, value)])
             for name, value in (("ials", 0.3), ("bpr", 0.2), ("ease", 0.4))]
    page = figures.draw(view_of(tmp_path, cases), Recipe("metric-bars", y="final_ndcg_100"))
    assert row_names(page) == [["ease", "ials", "bpr"]]


def test_rows_of_one_baseline_stay_together(tmp_path):
    cases = [run(name, seconds * f, params={"factors": f}) for name, seconds in (("sgd_serial", 4.0), ("fpsgd", 1.0)) for f in (3, 1)]
    page = figures.draw(view_of(tmp_path, cases), Recipe("metric-bars", y="time"))
    assert row_names(page) == [["fpsgd f=1", "sgd_serial f=1", "fpsgd f=3", "sgd_serial f=3"]]


@pytest.mark.parametrize("ratio, words", [
    (Interval(2.0, 1.6, 2.5), "2.00 times as fast [1.60, 2.50]"), (Interval(0.0229, 0.02, 0.025), "43.7 times as slow [40.0, 50.0]"),
    (Interval(0.25, math.nan, math.nan), "4.00 times as slow"), (NO_INTERVAL, "–")])
def test_a_speed_is_times_as_fast_or_as_slow(ratio, words):
    assert speed_text(ratio) == words


@pytest.mark.parametrize("recipe", [
    Recipe("speedup"), Recipe("metric-bars", y="time"), Recipe("metric-bars", y="updates_per_s"), Recipe("metric-bars", y="time", relative=True)],
    ids=lambda recipe: f"{recipe.figure}-{recipe.y}-{recipe.relative}")
def test_rows_say_how_many_times_as_fast(tmp_path, recipe):
    page = figures.draw(view_of(tmp_path, [run(name, seconds) for name, seconds in SECONDS.items()]), recipe)
    said = " ".join(text.get_text().replace("\n", " ") for text in page.axes[0].texts)
    assert "8.00 times as fast" in said and "2.00 times as slow" in said and "×" not in said


def test_the_answer_stands_behind_the_training_time(tmp_path):
    with styled():
        page = figures.draw(view_of(tmp_path, [run(name, seconds) for name, seconds in SECONDS.items()]), Recipe("speedup"))
    assert [text.get_text().replace("\n", " ") for text in page.axes[0].texts] == [
        "8.00 times as fast, answer 6.60, update 8.00", "2.00 times as fast, answer 1.94, update 2.00", "baseline",
        "2.00 times as slow, answer 1.97, update 2.00"]
