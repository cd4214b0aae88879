"""Figures of paper exhibits: trace, sweep, metric-bars, user-groups and speedup-trace."""

import itertools
import json
import math

import pandas as pd
import pytest
from synthetic import Made, descent, draw, published, view_of, write

from mfplots import figures
from mfplots.cli import main
from mfplots.load import load
from mfplots.recipes import Recipe
from mfplots.series import make_view
from mfplots.style import styled
from mfplots.summary import find_baseline

pytestmark = pytest.mark.usefixtures("unlaid")


# ---- trace ---------------------------------------------------------------------------------------

def test_iterations_put_passes_and_iterations_on_one_axis(tmp_path):
    # 100 users: an epoch of 1000 updates is 10 iterations, one of 100 updates is one.
    cases = [Made(), Made("ebgtg", updates_per_epoch=100)]
    status, text, table = draw(write(tmp_path / "run", cases), tmp_path,
                               {"figure": "trace", "x": "iterations", "y": "train_s"})
    assert status == 0 and "iterations (rating updates / users)" in text
    last = table.groupby("series").last()
    assert last.loc["sgd_serial", "iterations"] == 20 and last.loc["ebgtg", "iterations"] == 2
    assert last.loc["sgd_serial", "train_s"] == 2


X = ["epochs", "passes", "updates", "iterations", "train_s", "wall_s"]
Y = ["test_rmse", "test_mae", "train_s", "wall_s", "updates_per_s"]


@pytest.fixture(scope="module")
def rich_view(rich):
    return make_view(load([rich]))


@pytest.mark.parametrize("x, y", [*((x, "test_mae") for x in X), *(("passes", y) for y in Y)])
def test_trace_draws_any_pair(rich_view, x, y):
    """Drawn, not laid out and written, which takes the most of the time: that of the next test."""
    drawing = figures.draw(rich_view, Recipe("trace", x=x, y=y))
    column = "epoch" if x == "epochs" else x
    assert {column, y, "band_low", "band_high", "seeds"} <= set(drawing.numbers.columns)
    panel = "toy, updates of sgd" if y == "updates_per_s" else "toy"  # ALS has a panel of its own
    axes = drawing.axes
    assert f"{panel} (look-alike, synthetic)" in [one.get_title(loc="left") for one in axes]
    drawn = {value for one in axes for line in one.lines for value in line.get_xdata()}
    assert len(drawn) > 2 and set(drawing.numbers[column]) <= drawn


def test_a_trace_says_what_it_shows(rich, tmp_path):
    status, text, table = draw(rich, tmp_path, {"figure": "trace", "x": "passes", "y": "updates_per_s"})
    assert status == 0 and "Not drawn (3 skipped: needs CUDA): gpusgd f=50." in text
    assert "(look-alike, synthetic)" in text and "git 0123456789" in text and len(table) > 0


def test_trace_scales_are_those_of_the_recipe(tmp_path):
    folder = write(tmp_path / "run", [Made()])
    for scale, times in (("linear", 0), ("log", 2)):
        text = draw(folder, tmp_path, {"figure": "trace", "x": "passes", "y": "train_s",
                                       "x_scale": scale, "y_scale": scale})[1]
        assert text.count("log scale") == times


def test_rates_are_those_of_the_file(tmp_path):
    table = draw(write(tmp_path / "run", [Made()]), tmp_path,
                 {"figure": "trace", "x": "epochs", "y": "updates_per_s"})[2]
    assert list(table["epoch"]) == [1, 2]  # no rate before any training
    assert list(table["updates_per_s"]) == [1000, 1000]


@pytest.mark.parametrize("keys, message", [
    ({"x": "iteration"}, 'unknown "iteration"; did you mean "iterations"'),
    ({"y": "rmse"}, 'unknown "rmse"; did you mean'),
    ({"x": "train_s", "y": "train_s"}, '"x" and "y" are both train_s'),
    ({"y": "train_rmse"}, "no finished case has a trace with epoch and train_rmse")])
def test_trace_says_what_it_cannot_draw(tmp_path, capsys, keys, message):
    assert draw(write(tmp_path / "run", [Made()]), tmp_path, {"figure": "trace", **keys})[0] == 1
    assert message in capsys.readouterr().err


def test_published_rows_of_the_named_metric_are_drawn_and_written(tmp_path):
    source = published(tmp_path, "s,e,toy,Sys f=50,V100,iterations,5,total_time,9.5,s,figure",
                       "s,e,toy,Sys f=50,V100,iterations,5,other,1,s,figure", metric="total_time")
    recipe = {"figure": "trace", "x": "iterations", "y": "wall_s", "published": source}
    _, text, table = draw(write(tmp_path / "run", [Made()]), tmp_path, recipe)
    assert "published: Sys f=50, V100" in text
    point = table[table["series"].str.startswith("published")]
    assert point[["iterations", "wall_s"]].values.tolist() == [[5, 9.5]]


def test_published_numbers_on_a_look_alike_name_their_own_data(tmp_path):
    source = published(tmp_path, "s,e,real,Sys,V100,iterations,5,total_time,9.5,s,figure",
                       metric="total_time", dataset={"real": ["real", "toy"]})
    recipe = {"figure": "trace", "x": "iterations", "y": "wall_s", "published": source}
    text = draw(write(tmp_path / "run", [Made()]), tmp_path, recipe)[1]
    assert "published on real: Sys, V100" in text and "has no panel" not in text
    text = draw(write(tmp_path / "run2", [Made(dataset="real", look_alike=False)]), tmp_path,
                recipe)[1]
    assert "published: Sys, V100" in text


def test_published_numbers_without_a_panel_are_named(tmp_path):
    source = published(tmp_path, "s,e,elsewhere,Sys,V100,i,5,total_time,9.5,s,f",
                       metric="total_time")
    text = draw(write(tmp_path / "run", [Made()]), tmp_path,
                {"figure": "trace", "y": "wall_s", "published": source})[1]
    assert "published numbers are of elsewhere, which has no panel here" in text
    assert "published: Sys" not in text


def test_a_published_error_far_from_ours_is_in_the_window(tmp_path):
    source = published(tmp_path, "s,e,toy,Sys,V100,iterations,5,test_rmse,0.4,r,f", metric="test_rmse")
    recipe = {"figure": "trace", "x": "iterations", "published": source}
    text = draw(write(tmp_path / "run", [Made()]), tmp_path, recipe)[1]
    assert " 0.4 " in text  # a tick below every RMSE of the case


def test_a_published_number_without_x_is_a_line(tmp_path):
    source = published(tmp_path, "s,e,toy,Sys f=50,,,,test_rmse,0.4,,t", "s,e,toy,Sys f=9,,,,test_rmse,0.5,,t",
                       metric="test_rmse")
    _, text, table = draw(write(tmp_path / "run", [Made()]), tmp_path,
                          {"figure": "rmse-time", "published": source})
    assert "published: Sys f=50, 0.4" in text and "published: Sys f=9, 0.5" in text
    lines = table[table["series"].str.startswith("published")]
    assert lines["test_rmse"].tolist() == [0.4, 0.5] and lines["train_s"].isna().all()


# ---- sweep ---------------------------------------------------------------------------------------

def swept(values=(8, 16, 32), seeds=(1, 2, 3), name="ebgtg", **more):
    return [Made(name, {"factors": f, **more}, seed=s,
                 trace=[(0, 0.0, 2.0), (2, 0.1 * f + 0.001 * s, 1 - f / 1000)])
            for f in values for s in seeds]


def test_sweep_by_hand(tmp_path):
    folder = write(tmp_path / "run", [*swept(stride=0), *swept(stride=250)])
    _, text, table = draw(folder, tmp_path, {"figure": "sweep", "x": "factors",
                                             "y": "s_per_epoch"})
    assert "ebgtg stride=250" in text and "factors=8" not in text
    row = table[(table["series"] == "ebgtg stride=0") & (table["factors"] == 16)].iloc[0]
    assert row[["s_per_epoch", "low", "high"]].tolist() == pytest.approx([0.801, 0.8005, 0.8015])
    assert row["seeds"] == 3


@pytest.mark.parametrize("y", ["final_test_rmse", "best_test_rmse", "time", "s_per_iteration",
                               "updates_per_s", "time_to_target"])
def test_sweep_metrics(tmp_path, y):
    folder = write(tmp_path / "run", swept(values=(60, 80)))
    _, text, table = draw(folder, tmp_path, {"figure": "sweep", "x": "factors", "y": y})
    assert table[y].notna().all() and (table["low"] <= table[y]).all()
    assert "toy (look-alike, synthetic)" in text


def test_sweep_of_what_an_algorithm_counted(tmp_path):
    def made(number, seed, **facts):
        return Made("gpusgd", {"factors": 16, "blocks": number}, seed=seed,
                    facts=facts or None)

    cases = [made(64, 1, blocks=64, blank=16, x={"idle": 0.5}), made(64, 2, blocks=64, blank=32, x={"idle": 0.7}),
             made(128, 1, blocks=128, blank=0, x={"idle": 0.1}), made(256, 1), made(512, 1, blocks=0, blank=True)]
    folder = write(tmp_path / "run", cases)
    recipe = {"figure": "sweep", "x": "blocks"}
    _, text, table = draw(folder, tmp_path, {**recipe, "y": "facts.blank/blocks"})
    table = table.set_index("blocks")
    value = table["facts.blank/blocks"]
    assert value[64] == 0.375 and table["low"][64] == 0.25 and value[128] == 0
    assert math.isnan(value[256]) and math.isnan(value[512]) and "blank / blocks" in text
    value = draw(folder, tmp_path, {**recipe, "y": "facts.x.idle"})[2].set_index("blocks")["facts.x.idle"]
    assert value[64] == 0.6 and value[128] == 0.1 and math.isnan(value[512])


@pytest.mark.parametrize("y, missed", [("time_to_target", True), ("best_test_rmse", False)])
def test_a_sweep_draws_nothing_where_it_has_no_value(tmp_path, y, missed):
    cases = [Made("als", {"factors": f}, seed=seed, target=0.9, trace=[(0, 0.0, 2.0), (1, 1.0, end)])
             for f, end in ((8, 0.8), (16, 0.8), (32, 1.0 if missed else None)) for seed in (1, 2, 3)]
    view = view_of(tmp_path, cases)
    page = figures.draw(view, Recipe("sweep", x="factors", y=y))
    assert [list(line.get_xdata()) for line in page.axes[0].lines] == [[8, 16]] and len(page.handles) == 1
    assert f"Not drawn ({'target not reached' if missed else 'no value'}): als at 32." in page.foot


def test_sweep_over_words_and_panels(tmp_path):
    cases = [*swept(values=(8, 16), mapping="thread"), *swept(values=(8, 16), mapping="warp")]
    folder = write(tmp_path / "run", cases)
    _, text, _ = draw(folder, tmp_path, {"figure": "sweep", "x": "mapping", "panel_by": "factors"})
    for word in ("thread", "warp", "factors=8", "factors=16"):
        assert word in text


@pytest.mark.parametrize("name", ["devices", "ranks"])
def test_a_sweep_of_how_many_share_the_work_begins_with_one(tmp_path, name):
    """A case of one has no such parameter; beside its time stands what would be ideal."""
    def made(count, seconds, factors):
        share = {} if count == 1 else {name: count}
        return Made("als_fused", {"factors": factors, **share}, trace=[(0, 0.0, 2.0), (2, seconds, 1.0)])

    cases = [made(1, 8.0, 64), made(2, 5.0, 64), made(4, 2.5, 64), made(2, 9.0, 128)]
    _, text, table = draw(write(tmp_path / "run", cases), tmp_path,
                          {"figure": "sweep", "x": name, "y": "s_per_epoch"})
    assert f"divided by the {name}" in text
    own = table[table["series"].str.contains("64")].set_index(name)
    assert own["s_per_epoch"].to_dict() == {1: 4.0, 2: 2.5, 4: 1.25}
    assert own["efficiency"].to_dict() == {1: 1.0, 2: 0.8, 4: 0.8}
    other = table[table["series"].str.contains("128")]
    assert other["efficiency"].isna().all()  # it was not run on one
    _, text, table = draw(tmp_path / "run", tmp_path, {"figure": "sweep", "x": name})
    assert "divided by" not in text and "efficiency" not in table


def test_a_slope_is_drawn_from_the_first_value(tmp_path):
    made = view_of(tmp_path, [Made("als", {"factors": f}, trace=[(0, 0.0, 2.0), (1, seconds, 1.0)]) for f, seconds in ((8, 1.0), (32, 2.0))])
    page = figures.draw(made, Recipe("sweep", x="factors", y="s_per_epoch", slope=1))
    dotted, = (line for line in page.axes[0].lines if line.get_linestyle() == ":")
    assert list(dotted.get_xdata()) == [8, 32] and list(dotted.get_ydata()) == [1, 4]
    assert "Dotted: proportional to factors, from the first value of each line." in page.caption


def test_curves_that_overlap_are_named(tmp_path):
    def made(end, **params):
        return Made("als", params, trace=[(0, 0.0, 2.0), *((epoch, 1.0 * epoch, end + 1 / epoch) for epoch in range(1, 9))])

    cases = [made(0.5, steps=2), made(0.4, steps=4), made(0.4001, steps=6), made(0.4002, steps=8)]
    axes, = figures.draw(view_of(tmp_path, cases), Recipe("trace", x="epochs")).axes
    words, = (text.get_text() for text in axes.texts if "steps" in text.get_text())
    assert sorted(words.replace(",", "").split()) == ["steps=4", "steps=6", "steps=8"]


def test_curves_have_their_names_at_their_ends_instead_of_a_legend(tmp_path):
    def made(name, seconds):
        return Made(name, trace=[(0, 0.0, 2.0), *((epoch, seconds * epoch, 0.5 + 1 / epoch) for epoch in range(1, 9))])

    view = view_of(tmp_path, [made("als", 1.0), made("fpsgd", 10.0), made("sgd_serial", 10.2)])
    with styled("page"):
        page = figures.draw(view, Recipe("trace", x="train_s", x_scale="log", direct=True))
        page.arrange()
    assert page.handles == []
    axes, = page.axes
    boxes = {text.get_text(): text.get_window_extent(page.canvas.get_renderer()) for text in axes.texts}
    boxes = {words: box for words, box in boxes.items() if "target" not in words}
    assert boxes.keys() == {"als", "fpsgd", "sgd_serial"}
    for line in (line for line in axes.lines if len(line.get_xdata()) > 2):
        x, y = axes.transData.transform(line.get_xydata()[-1])
        assert any(box.x0 <= x + 9 and x - 9 <= box.x1 and abs(box.y1 - y) < 90 for box in boxes.values())
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes.values(), 2))


def test_a_row_without_a_value_is_not_drawn_and_the_foot_says_why(tmp_path):
    cases = [Made(), Made("gpusgd", trace=(), status="skipped", reason="gpusgd needs CUDA; this build lacks it")]
    view = view_of(tmp_path, cases)
    for recipe in (Recipe("metric-bars", y="s_per_epoch"), Recipe("paired-differences", y="final_test_rmse")):
        if recipe.figure == "paired-differences":
            view = view_of(tmp_path / "more", [*cases, Made("hogwild")])
        page = figures.draw(view, recipe)
        axes, = page.axes
        assert len(axes.patches) == (recipe.figure == "metric-bars") and len(axes.get_yticks()) == 1
        assert "Not drawn (1 skipped: needs CUDA): gpusgd." in page.foot


def test_sweep_keeps_what_failed_and_what_lacks_the_parameter(tmp_path):
    cases = [*swept(values=(8,)), Made("ebgtg", {"factors": 16}, trace=(), status="oom"),
             Made("other", {}, trace=[(0, 0.0, 2.0), (1, 1.0, 0.9)])]
    _, text, table = draw(write(tmp_path / "run", cases), tmp_path,
                          {"figure": "sweep", "x": "factors"})
    assert "ebgtg (3 completed, 1 oom)" in text and "other" in text
    failed = table[table["factors"] == 16].iloc[0]
    assert failed["statuses"] == "1 oom" and pd.isna(failed["final_test_rmse"])


@pytest.mark.parametrize("keys, message", [
    ({"x": "factor"}, 'unknown "factor"; did you mean "factors"'),
    ({"x": "factors", "y": "time_to_targe"}, 'did you mean "time_to_target"'),
    ({"x": "factors", "panel_by": "strid"}, 'unknown "strid"; did you mean "stride"'),
    ({}, 'unknown ""')])
def test_sweep_says_what_it_cannot_draw(tmp_path, capsys, keys, message):
    folder = write(tmp_path / "run", swept(stride=1))
    assert draw(folder, tmp_path, {"figure": "sweep", **keys})[0] == 1
    assert message in capsys.readouterr().err


# ---- metric-bars and baselines -------------------------------------------------------------------

def rules(name, seconds, **params):
    return [Made(name, {"factors": f, **params}, seed=s, baseline="ebltg",
                 trace=[(0, 0.0, 2.0), (10, seconds * f * (1 + 0.01 * s), 0.9)])
            for f in (50, 300) for s in (1, 2, 3)]


def test_bars_give_the_ratio_to_the_named_baseline_with_its_interval(tmp_path):
    folder = write(tmp_path / "run", [*rules("ebltg", 1.0), *rules("ebgtg", 0.88)])
    _, text, table = draw(folder, tmp_path, {"figure": "metric-bars", "y": "s_per_epoch"})
    row = table.set_index("series").loc["ebgtg factors=300"]
    assert row["s_per_epoch"] == pytest.approx(0.88 * 30 * 1.02)
    assert row["ratio"] == pytest.approx(0.88) and row["baseline"] == "ebltg factors=300"
    assert row["ratio_low"] < 0.88 < row["ratio_high"]
    assert "1.14 times as fast" in text and "Student's t" in text


def test_ratios_of_errors_are_taken_seed_by_seed(tmp_path):
    # The splits differ by 10 %, the algorithms by 1 % on every one of them.
    cases = [Made(name, seed=s, trace=[(0, 0.0, 2.0), (1, 1.0, (1 + 0.05 * s) * worse)])
             for name, worse in (("sgd_serial", 1.0), ("hogwild", 1.01)) for s in (1, 2, 3)]
    table = draw(write(tmp_path / "run", cases), tmp_path,
                 {"figure": "metric-bars", "y": "final_test_rmse"})[2].set_index("series")
    assert table.loc["hogwild", ["ratio", "ratio_low", "ratio_high"]].tolist() == \
        pytest.approx([1.01] * 3)


def test_a_metric_may_be_that_after_an_epoch(tmp_path, capsys):
    folder = write(tmp_path / "run", [Made(name, trace=[(0, 0.0, 2.0), (1, 1.0, first), (2, 2.0, 0.9)])
                                      for name, first in (("sgd_serial", 1.0), ("hogwild", 1.25))])
    recipe = {"figure": "paired-differences", "y": "at_1_test_rmse"}
    _, text, table = draw(folder, tmp_path, recipe)
    assert table["at_1_test_rmse_less"].tolist() == [0.25] and "after epoch 1" in text
    assert draw(folder, tmp_path, {**recipe, "y": "at_9_test_rmse"})[0] == 1
    assert draw(folder, tmp_path, {**recipe, "y": "at_1_rmse"})[0] == 1 and 'unknown "at_1_rmse"' in capsys.readouterr().err


def test_a_baseline_may_be_named_by_parameters(tmp_path):
    cases = [*rules("ebltg", 1.0, stride=0), *rules("ebltg", 1.0, stride=250),
             *rules("ebgtg", 1.0, stride=0), *rules("ebgtg", 1.0, stride=250)]
    (panel,) = make_view(load([write(tmp_path, cases)])).panels
    series = next(s for s in panel.series if s.label == "ebltg factors=300 stride=0")
    assert find_baseline(panel, series, "stride=250").label == "ebltg factors=300 stride=250"
    assert find_baseline(panel, series, "ebgtg stride=250").label == \
        "ebgtg factors=300 stride=250"
    assert "is not among the cases" in find_baseline(panel, series, "ebgtg stride=9")


def test_a_rule_of_stopping_keeps_no_baseline_away(tmp_path):
    cases = [Made(params={"factors": 50}), Made(params={"factors": 300}, stop={"epochs": 2}),
             Made("ebgtg", {"factors": 300}, stop={"epochs": 99})]
    (panel,) = make_view(load([write(tmp_path, cases)])).panels
    assert find_baseline(panel, panel.series[2], "sgd_serial").facets["factors"] == 300


def test_what_differs_between_panels_alone_is_not_in_the_labels(tmp_path):
    cases = [Made(stop={"epochs": 2}), Made(dataset="big", stop={"epochs": 9})]
    assert make_view(load([write(tmp_path, cases)])).labels == ["sgd_serial"]


def test_a_recipe_names_series_in_the_words_of_a_paper(tmp_path, capsys):
    folder = write(tmp_path / "run", [Made("als", {"load": load, "solver": s})
                                      for s, load in (("lu", "rows"), ("cg", "rows"), ("cg", "words"))])
    recipe = {"figure": "metric-bars", "y": "s_per_epoch", "baseline": "solver=lu", "names": {"solver=lu": "GPU-ALS"}}
    _, text, table = draw(folder, tmp_path, recipe)
    assert "GPU-ALS: als load=rows solver=lu" in text and "als words cg: als load=words" in text
    assert "als load=rows solver=lu" in set(table["series"])
    assert draw(folder, tmp_path, {**recipe, "names": {"solver=cg": "cuMF_ALS"}})[0] == 1
    assert '"names": cuMF_ALS are als load=' in capsys.readouterr().err


def test_a_caption_says_how_algorithms_differ(tmp_path):
    cases = [Made("gpusgd", {"rounding": "nearest", "storage": "fp16", "reg": 1}),
             Made("newgpusgd", {"rounding": "stochastic", "storage": "fp16", "reg": 1})]
    text = draw(write(tmp_path / "run", cases), tmp_path, {"figure": "rmse-time"})[1]
    assert "toy (look-alike, synthetic): algorithms also differ in rounding " in text and "stochastic (newgpusgd)" in text
    assert "reg 1" not in text and "storage fp16" not in text


# ---- user-groups ---------------------------------------------------------------------------------

def groups(*rmse, train=None):
    return [{"first_user": 50 * i, "last_user": 50 * i + 49, "test_rmse": value, "test_count": 10,
             "train_rmse": train, "train_count": 0 if train is None else 40}
            for i, value in enumerate(rmse)]


def test_user_groups_by_hand(tmp_path):
    cases = [Made("ebltg", {"stride": 0}, seed=s, user_groups=groups(3.0 + s, 1.0)) for s in (0, 2)]
    cases += [Made("ebltg", {"stride": 250}, seed=s, user_groups=groups(1.0, 1.0)) for s in (0, 2)]
    folder = write(tmp_path / "run", cases)
    _, text, table = draw(folder, tmp_path, {"figure": "user-groups"})
    assert table[table["series"] == "ebltg stride=0"]["first_user"].tolist() == [0, 50]
    assert "ebltg stride=250" in text and "toy (look-alike, synthetic)" in text
    # seeds 0 and 2: RMSE of all sqrt(5) and sqrt(13)
    share = [100 * (3 / 5 ** 0.5 - 1), 100 * (5 / 13 ** 0.5 - 1)]
    value = table.set_index("series")["test_rmse_over_all_percent"]
    assert value["ebltg stride=0"].iloc[0] == pytest.approx(sum(share) / 2)
    assert value["ebltg stride=250"].tolist() == [0, 0]
    assert "RMSE of all users" in text


def test_groups_without_ratings_are_left_out(tmp_path):
    case = Made(user_groups=groups(1.0, None, 2.0))
    table = draw(write(tmp_path / "run", [case]), tmp_path, {"figure": "user-groups"})[2]
    assert table["group"].tolist() == [1, 3]


def test_user_groups_of_the_train_part(tmp_path, capsys):
    recipe = {"figure": "user-groups", "part": "train"}
    folder = write(tmp_path / "a", [Made(user_groups=groups(1.0, 2.0))])
    assert draw(folder, tmp_path, recipe)[0] == 1
    assert 'no finished case has train errors by user group' in capsys.readouterr().err
    folder = write(tmp_path / "b", [Made(user_groups=groups(1.0, 2.0, train=0.5))])
    assert draw(folder, tmp_path, recipe)[2]["train_rmse_over_all_percent"].tolist() == [0, 0]


def test_a_damaged_group_names_file_and_key(tmp_path, capsys):
    case = Made(user_groups=[{"first_user": 0, "last_user": 1, "test_rmse": 1.0}])
    assert draw(write(tmp_path / "run", [case]), tmp_path, {"figure": "user-groups"})[0] == 1
    assert f"{case.case_id}.jsonl: user_groups: no test_count" in capsys.readouterr().err


# ---- speedup-trace -------------------------------------------------------------------------------

def machine(slow, gpu, dataset="toy", seeds=(1, 2, 3), **more):
    return [Made("ebgtg", {"factors": f}, dataset, seed=s, hardware="cuda", gpu=gpu,
                 host=f"{gpu}-host", baseline=None,
                 trace=descent(s, slow * f, 0.9, epochs=4), **more)
            for f in (50, 300) for s in seeds]


def versus(tmp_path, ours, theirs, **keys):
    a, b = write(tmp_path / "a", ours), write(tmp_path / "b", theirs)
    return draw(a, tmp_path, {"figure": "speedup-trace", **keys}, "--versus", str(b))


def test_speedup_is_the_time_of_the_second_folder_over_that_of_the_first(tmp_path):
    _, text, table = versus(tmp_path, machine(1.0, "V100"), machine(3.0, "TITAN"))
    assert table["speedup"].tolist() == pytest.approx([3.0] * 8)
    assert set(table["series"]) == {"ebgtg factors=50", "ebgtg factors=300"}
    assert set(table["of"]) == {"V100 (V100-host)"} and set(table["over"]) == {"TITAN (TITAN-host)"}
    assert table["iterations"].tolist()[:4] == [10, 20, 30, 40]
    assert "V100 (V100-host) over TITAN (TITAN-host)" in text
    assert "6 of 6 and 6 cases have a partner" in text and "toy (look-alike, synthetic)" in text


def test_cases_without_a_partner_are_counted(tmp_path):
    _, text, table = versus(tmp_path, machine(1.0, "V100"), machine(3.0, "TITAN", seeds=(1, 2)))
    assert "4 of 6 and 4 cases have a partner" in text
    assert set(table["seeds"]) == {2}


def test_nothing_to_match_is_an_error_that_says_what_must_be_equal(tmp_path, capsys):
    assert versus(tmp_path, machine(1.0, "V100"), machine(1.0, "T", content_hash="2" * 16))[0] == 1
    assert "has a partner on T (T-host): equal algorithm, params" in capsys.readouterr().err


def test_without_a_second_folder_a_recipe_goes_on_and_says_so(tmp_path, capsys):
    folder = write(tmp_path / "run", [Made()])
    recipe = tmp_path / "r.json"
    recipe.write_text(json.dumps([{"figure": "speedup-trace"}, {"figure": "rmse-time"}]))
    assert main([str(folder), "--recipe", str(recipe), "--format", "svg"]) == 0
    assert "left out speedup-trace" in capsys.readouterr().err
    assert (folder / "figures" / "rmse-time.svg").exists()
    assert main([str(folder), "--figure", "speedup-trace"]) == 1
    assert "--versus DIR" in capsys.readouterr().err
