from itertools import combinations

import pandas as pd
import pytest
from synthetic import Made, descent, draw, published, rich_cases, svg_text, write

from mfplots import figures
from mfplots.cli import main
from mfplots.curves import aggregate, window_of, panel_curves
from mfplots.load import load
from mfplots.metrics import Target
from mfplots.recipes import Published, Recipe
from mfplots.series import make_view
from mfplots.page import FORMATS
from mfplots.style import WIDTHS, styled

ALL = (*figures.CURVES, "quality-time", "rmse-time", "rmse-answer", "rmse-passes", "speedup", "throughput", "trace", "metric-bars",
       "clocks")
# Need more than a result: test_exhibits.py, test_benchmarks.py and test_card_figures.py.
WITH_MORE = ("cards", "paired-differences", "sweep", "user-groups", "speedup-trace", "benchmark-bars")
MAGIC = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


unlaid = pytest.mark.usefixtures("unlaid")


def draw_svg(folder, cases, out, *options):
    assert main([str(write(folder, cases)), "--out", str(out), "--format", "svg", *options]) == 0


def test_all_figures_are_registered():
    assert set(figures.names()) == {*ALL, *WITH_MORE}


@unlaid
def test_default_figures_come_with_their_numbers(tmp_path, capsys):
    folder = write(tmp_path / "run", rich_cases((2,)))
    assert main([str(folder), "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out.split()
    for name in (name.replace("quality", "rmse") for name in figures.DEFAULTS):
        assert {str(tmp_path / f"{name}.{kind}") for kind in FORMATS} <= set(printed)
        assert len(pd.read_csv(tmp_path / f"{name}.csv")) > 0


def test_three_formats_whose_bytes_are_the_same_in_two_runs(tmp_path):
    folder = write(tmp_path / "run", [Made(seed=s) for s in (1, 2)])
    for run in ("one", "two"):
        assert main([str(folder), "--out", str(tmp_path / run), "--figure", "speedup"]) == 0
    for kind, start in {**MAGIC, "csv": b"dataset,", "txt": b"made-up: "}.items():
        one, two = (tmp_path / run / f"speedup.{kind}" for run in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()
        assert one.read_bytes().startswith(start)


@unlaid
@pytest.mark.parametrize("name", ALL)
def test_figures_say_what_they_show(tmp_path, name):
    cases = [Made(seed=s) for s in (1, 2)]
    draw_svg(tmp_path / "run", cases, tmp_path, "--figure", name)
    text = svg_text(tmp_path / f"{name}.svg")
    assert "toy (look-alike, synthetic)" in text
    for case in cases:
        assert case.hash[:10] in text
    assert "git 0123456789 + uncommitted changes" in text and "Test CPU (2 cores)" in text


@unlaid
def test_many_cases_are_named_by_count_and_spec(rich, tmp_path):
    assert main([str(rich), "--out", str(tmp_path), "--figure", "speedup", "--format", "svg"]) == 0
    assert "30 cases of made-up 5bec5bec5b" in svg_text(tmp_path / "speedup.svg")


@unlaid
def test_failures_stay_visible(rich, tmp_path):
    options = ["--figure", "rmse-time", "--figure", "speedup", "--format", "svg"]
    assert main([str(rich), "--out", str(tmp_path), *options]) == 0
    curves = svg_text(tmp_path / "rmse-time.svg")
    assert "Not drawn (3 skipped: needs CUDA): gpusgd f=50." in curves
    assert "hogwild f=50 (5 completed, 1 diverged)" in curves
    bars = svg_text(tmp_path / "speedup.svg")
    assert "did not reach 0.95 (3 of 3 seeds)" in bars and "Not drawn (3 skipped: needs CUDA): gpusgd f=50 on toy" in bars
    assert "1 of 3 seeds did not reach" in bars


@unlaid
def test_unfinished_cases_are_not_drawn(tmp_path):
    cases = [Made(), Made("hogwild", status=None)]
    draw_svg(tmp_path / "run", cases, tmp_path / "a", "--figure", "rmse-time")
    assert set(pd.read_csv(tmp_path / "a" / "rmse-time.csv")["series"]) == {"sgd_serial"}
    assert "Not drawn (1 unfinished): hogwild." in svg_text(tmp_path / "a" / "rmse-time.svg")


@unlaid
def test_numbers_beside_the_speed_up_figure(tmp_path):
    cases = [Made(), Made("hogwild", trace=[(0, 0.0, 1.2), (1, 0.5, 0.8)])]
    draw_svg(tmp_path / "run", cases, tmp_path, "--figure", "speedup")
    table = pd.read_csv(tmp_path / "speedup.csv").set_index("series")
    assert table.loc["hogwild", "speedup_at_target"] == pytest.approx(4.0)
    assert table.loc["hogwild", "answer_speedup"] == pytest.approx(3.0)
    assert table.loc["hogwild", "speedup_per_update"] == pytest.approx(2.0)


def test_median_and_band_by_hand():
    def trace(rmse, seconds):
        return pd.DataFrame({"epoch": range(len(rmse)), "train_s": seconds, "test_rmse": rmse})

    traces = [trace([2.0, 1.0, 0.9], [0, 1, 2]), trace([2.0, 1.2], [0, 3]),
              trace([2.0, 1.1], [0, 2])]
    points = aggregate(traces, "train_s", "minmax")
    assert list(points["epoch"]) == [0, 1]  # one seed of three makes no median
    assert points.iloc[1][["x", "y", "low", "high"]].tolist() == [2, 1.1, 1.0, 1.2]
    quartiles = aggregate(traces, "train_s", "iqr").iloc[1]
    assert quartiles[["low", "high"]].tolist() == pytest.approx([1.05, 1.15])


@pytest.mark.parametrize("seeds", [2, 3])
def test_a_band_is_of_three_seeds_or_more(tmp_path, seeds):
    cases = [Made(seed=s, trace=[(0, 0.0, 1.2), (1, 1.0, 0.9 + 0.01 * s), (2, 2.0, 0.8 + 0.01 * s)])
             for s in range(seeds)]
    view = make_view(load([write(tmp_path, cases)]))
    page = figures.draw(view, Recipe("rmse-time"))
    assert len(page.axes[0].collections) == (seeds >= 3)


def test_the_first_model_does_not_flatten_the_curves(tmp_path):
    case = Made(trace=descent(1, 1.0, 0.92, start=100.0))
    view = make_view(load([write(tmp_path, [case])]))
    curves = panel_curves(view.panels[0], Recipe("rmse-time"), "train_s")
    low, high = window_of(curves, 0.85)
    assert low < 0.85 and 0.95 < high < 1.2


@pytest.mark.parametrize("recipe", ({}, {"y": "recall_20"}))
def test_the_first_model_does_not_flatten_the_curves_of_a_ranking(tmp_path, recipe):
    rising = [Made("ials", implicit=True, seed=s, trace=[(e, float(e), v) for e, v in enumerate((0.01, 0.35, 0.39, 0.39 + s / 1e3))])
              for s in (1, 2, 3)]
    page = figures.draw(make_view(load([write(tmp_path, rising)])), Recipe("quality-time", target=Target(0.34, "ndcg_100"), **recipe))
    low, high = page.axes[0].get_ylim()
    assert 0.3 < low < 0.35 and 0.393 < high < 0.4
    assert "toy: values under" in page.caption and "(down to 0.0100) are not shown" in page.caption


@pytest.mark.parametrize("figure", ("quality-time", *figures.CURVES))
def test_a_closed_form_is_a_point(tmp_path, figure):
    cases = [Made("ease", implicit=True, method="closed_form", seed=s, trace=[(0, 0.0, 0.01), (1, 1.0, 0.38)]) for s in (1, 2)]
    cases += [Made("ials", implicit=True, trace=[(0, 0.0, 0.01), (1, 1.0, 0.35), (2, 2.0, 0.39)])]
    page = figures.draw(make_view(load([write(tmp_path, cases)])), Recipe(figure))
    drawn = page.numbers.set_index("series")["ndcg_100"]
    assert list(drawn.loc[["ease"]]) == [0.38] and list(drawn.loc[["ials"]]) == [0.01, 0.35, 0.39]
    assert {handle.get_label(): handle.get_linestyle() for handle in page.handles} == {"ease": "None", "ials": "-"}
    assert [(list(line.get_ydata()), line.get_linestyle()) for line in page.axes[0].lines][:1] == [([0.38], "None")]


@unlaid
def test_defaults_leave_out_what_the_data_do_not_allow(tmp_path, capsys):
    folder = write(tmp_path / "run", [Made(baseline=None, target=None)])
    assert main([str(folder), "--format", "svg"]) == 0
    captured = capsys.readouterr()
    assert "left out speedup: no baseline named; name one with --baseline" in captured.err
    assert not (folder / "figures" / "speedup.csv").exists()
    assert (folder / "figures" / "rmse-answer.svg").exists()
    assert not (folder / "figures" / "rmse-time.svg").exists(), "training time is part of the answer"
    assert main([str(folder), "--figure", "speedup"]) == 1


@unlaid
def test_a_panel_may_lack_the_baseline_of_another(tmp_path):
    cases = [Made(), Made("hogwild"), Made("hogwild", dataset="other")]
    view = make_view(load([write(tmp_path / "run", cases)]))
    page = figures.draw(view, Recipe("speedup"))
    assert [axes.get_xlabel() for axes in page.axes] == ["times as fast as sgd_serial"]
    assert "Not drawn (no baseline: sgd_serial is not among the cases): hogwild on other" in page.foot


@unlaid
def test_recipe_options_reach_the_figure(rich, tmp_path):
    recipe = {"figure": "rmse-time", "title": "My title", "filter": {"factors": 50}, "x_scale": "log", "band": "iqr",
              "y_range": [0.9, 1.1]}
    text = draw(rich, tmp_path, recipe)[1]
    assert "My title" in text and "log scale" in text and "quartiles" in text
    assert "factors=300" not in text


@unlaid
@pytest.mark.parametrize("figure, row, metric", [
    ({"figure": "rmse-time"}, "s,e,toy,Sys f=50,V100,,,time_to_rmse_0.95,1.5,s,table", ""),
    ({"figure": "trace"}, "s,e,toy,Sys f=50,V100,iterations,2,test_rmse,0.93,rating,table", "test_rmse")])
def test_published_points_are_labelled_as_such(tmp_path, figure, row, metric):
    rows = published(tmp_path, row, "s,other,toy,Not this,V100,,,test_rmse,9,x,t", filter={"exhibit": "e"}, metric=metric)
    status, text, _ = draw(write(tmp_path / "run", [Made()]), tmp_path, {**figure, "published": rows})
    assert status == 0 and "published: Sys f=50, V100" in text and "Not this" not in text


def test_published_metrics_without_a_place_are_errors(tmp_path, capsys):
    rows = published(tmp_path, "s,e,toy,Sys,V100,,,total_time,4.5,s,t")
    assert draw(write(tmp_path / "run", [Made()]), tmp_path, {"figure": "rmse-time", "published": rows})[0] == 1
    assert "the metric total_time has no place in this figure" in capsys.readouterr().err


@pytest.mark.parametrize("width", WIDTHS)
def test_the_words_of_targets_cross_no_curve(tmp_path, width):
    source = published(tmp_path, *(f"s,e,toy,{system},V100,,,test_rmse,{value},r,f" for system, value in (("Long Name", 0.951), ("Two", 0.949))),
                       metric="test_rmse")
    recipe = Recipe("trace", published=Published(**{**source, "csv": str(tmp_path / "numbers.csv")}))
    cases = [Made(name, trace=descent(1, seconds, floor)) for name, seconds, floor in (("sgd_serial", 1.0, 0.9), ("hogwild", 3.0, 0.94), ("fpsgd", 9.0, 0.8))]
    with styled(width):
        page = figures.draw(make_view(load([write(tmp_path / "run", cases)])), recipe)
        page.arrange()
    (axes,), renderer = page.axes, page.canvas.get_renderer()
    boxes = {" ".join(text.get_text().split()): text.get_window_extent(renderer) for text in axes.texts}
    assert set(boxes) == {"target 0.95", "published: Long Name, V100, 0.951", "published: Two, V100, 0.949"}
    for words, box in boxes.items():
        assert axes.get_window_extent(renderer).x1 <= box.x0 and box.x1 <= page.figure.bbox.x1, words
    assert not any(a.overlaps(b) for a, b in combinations(boxes.values(), 2))


@pytest.mark.parametrize("recipe", [Recipe("quality-answer"), Recipe("quality-passes"), Recipe("trace", x="epochs", y="train_s")],
                         ids=lambda recipe: recipe.figure)
def test_numbers_of_devices_are_panels_with_the_same_axes(tmp_path, recipe):
    cases = [Made(name, {"factors": 50, "devices": devices}, hardware="cuda", trace=descent(1, seconds / devices, 0.9 + devices / 100))
             for devices in (1, 2, 4) for name, seconds in (("als_fused", 1.0), ("sgd_tiled", 2.0))]
    page = figures.draw(make_view(load([write(tmp_path, [*cases, Made("fpsgd", trace=descent(1, 9.0, 0.91))])])), recipe)
    assert [axes.get_title(loc="left") for axes in page.axes] == [f"toy, {count} (look-alike, synthetic)" for count in ("1 device", "2 devices", "4 devices")]
    assert [{*own["series"].map(lambda label: label.split()[0])} for _, own in page.numbers.groupby("dataset")] == [
        {"als_fused", "sgd_tiled", "fpsgd"}, {"als_fused", "sgd_tiled"}, {"als_fused", "sgd_tiled"}]
    assert len({axes.get_xlim() for axes in page.axes}) == len({axes.get_ylim() for axes in page.axes}) == 1
