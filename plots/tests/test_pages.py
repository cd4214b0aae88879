"""Legends, widths and small print of a page; differences by seed; the documentation's picture."""

from pathlib import Path

import pandas as pd
import pytest
from matplotlib.image import imread
from synthetic import Made, draw, published, svg_text, write

from mfplots import figures
from mfplots.cli import main
from mfplots.latex import tabular
from mfplots.load import load
from mfplots.recipes import Recipe, read_recipes
from mfplots.series import make_view
from mfplots.sheet import DPI, IN_A_LEGEND
from mfplots.style import styled
from mfplots.widths import WIDTHS

ROOT = Path(__file__).resolve().parents[2]
unlaid = pytest.mark.usefixtures("unlaid")


def crowd(n=13):
    return [Made(name, {"factors": f}) for name in ("sgd_serial", "hogwild", "fpsgd")
            for f in range(1, n + 1)][:n]


def test_no_legend_is_longer_than_eight_and_no_series_is_lost(tmp_path):
    view = make_view(load([write(tmp_path / "run", crowd(27))]))
    with styled():
        sheet = figures.draw(view, Recipe("rmse-time")).sheet
        sheet.save(tmp_path / "x", ["svg"])
    legends = [[text.get_text() for text in legend.get_texts()] for legend in sheet.figure.legends]
    assert max(map(len, legends)) <= IN_A_LEGEND
    assert sorted(label for own in legends for label in own) == sorted(view.labels)
    assert len({axes.get_xlim() for axes in sheet.axes}) == 1  # parts of a panel have its axes
    assert len({axes.get_ylim() for axes in sheet.axes}) == 1


@pytest.mark.parametrize("figure, width, inches", [
    ("rmse-time", "column", 3.3), ("rmse-time", "page", 7.0), ("rmse-time", "slide", 10.0), ("speedup", "column", 3.3),
    ("throughput", "page", 7.0), ("metric-bars", "column", 3.3), ("metric-bars", "slide", 10.0)])
def test_a_page_is_as_wide_as_asked_for_and_text_in_a_column_has_eight_points(tmp_path, figure, width, inches):
    view = make_view(load([write(tmp_path / "run", crowd(8))]))
    with styled(WIDTHS[width]):
        sheet = figures.draw(view, Recipe(figure)).sheet
        sheet.for_page(WIDTHS[width])
        sheet.save(tmp_path / "x", ["png"])
        words = [t for t in sheet.figure.findobj(lambda a: hasattr(a, "get_fontsize")) if t.get_text().strip()]
    assert imread(tmp_path / "x.png").shape[1] / DPI == pytest.approx(inches, abs=0.1)
    assert len(words) > 10 and (width != "column" or {t.get_fontsize() for t in words} == {8})


@unlaid
def test_the_small_print_says_n_and_can_be_left_out(tmp_path):
    folder = write(tmp_path / "run", [Made(seed=s) for s in (1, 2)] + [Made("hogwild")])
    for options, there in ((), True), (("--no-small-print",), False):
        assert main([str(folder), "--figure", "rmse-time", "--out", str(tmp_path), "--format",
                     "svg", *options]) == 0
        text = svg_text(tmp_path / "rmse-time.svg")
        for words in ("n = 1 to 2 seeds", "git 0123456789", "Test CPU"):
            assert (words in text) == there


@unlaid
@pytest.mark.parametrize("recipe", [
    {"figure": "trace", "x": "iterations"}, {"figure": "metric-bars", "y": "best_test_rmse"},
    {"figure": "sweep", "y": "best_test_rmse", "x": "factors"}])
def test_published_errors_stand_beside_no_look_alike(tmp_path, recipe):
    rows = published(tmp_path, "s,e,real,Sys,V100,factors,50,test_rmse,0.4,r,f", dataset={"real": ["real", "toy"]},
                     metric="test_rmse")
    recipe = {**recipe, "published": rows}
    _, text, table = draw(write(tmp_path / "a", [Made()]), tmp_path, recipe)
    assert "published" not in text and not table["series"].str.startswith("published").any()
    assert "of real, not of a look-alike" in text
    real = write(tmp_path / "b", [Made(dataset="real", look_alike=False)])
    assert "published: Sys, V100" in draw(real, tmp_path, recipe)[1]


@unlaid
@pytest.mark.parametrize("recipe", [{"figure": "metric-bars", "y": "updates_per_s"},
                                    {"figure": "sweep", "y": "updates_per_s", "x": "factors"}])
def test_published_rates_of_sgd_stand_among_sgd_alone(tmp_path, recipe):
    rows = published(tmp_path, "s,e,toy,Sys,V100,factors,50,updates_per_s,700,r,f", metric="updates_per_s")
    als = Made("als", method="als")
    _, text, _ = draw(write(tmp_path / "a", [als]), tmp_path, {**recipe, "published": rows})
    assert "published: Sys" not in text
    _, text, _ = draw(write(tmp_path / "b", [Made(method="sgd"), als]), tmp_path, {**recipe, "published": rows})
    assert text.count("published: Sys") == 1, "in the panel of SGD"


def test_a_curve_that_rises_again_is_shown_to_its_end(tmp_path):
    case = Made(trace=[(0, 0.0, 1.3), (1, 1.0, 0.96), (2, 2.0, 0.95), (3, 3.0, 1.05)])
    view = make_view(load([write(tmp_path / "run", [case])]))
    with styled():
        axes = figures.draw(view, Recipe("trace")).sheet.axes[0]
    assert axes.get_ylim()[1] > 1.05 and axes.get_xlabel() == "epochs"


@unlaid
def test_differences_by_seed_by_hand(tmp_path):
    # Splits differ by a tenth, algorithms by a thousandth on each.
    cases = [Made(name, seed=s, trace=[(0, 0.0, 2.0), (1, 1.0, 1 + s / 10 + more)])
             for name, more in (("sgd_serial", 0.0), ("hogwild", 0.001)) for s in (1, 2, 3)]
    cases.append(Made("hogwild", seed=9))  # without a partner
    _, text, table = draw(write(tmp_path / "run", cases), tmp_path,
                          {"figure": "paired-differences", "y": "final_test_rmse"})
    assert table["seed"].tolist() == [1, 2, 3] and set(table["series"]) == {"hogwild"}
    assert table["final_test_rmse_less"].tolist() == pytest.approx([0.001] * 3)
    assert "+0.0010 against sgd_serial, n = 3" in text


def test_latex_escapes_and_has_a_cell_a_column():
    lines = tabular(["a_b", "c"], [["1 % & 2", "{3}×"]])
    assert lines[2] == r"a\_b & c \\" and lines[4] == r"1 \% \& 2 & \{3\}$\times$ \\"
    assert lines[0] == r"\begin{tabular}{ll}"


def test_the_table_as_latex(tmp_path, capsys):
    folder = write(tmp_path / "run", [Made(), Made("hogwild")])
    assert main(["table", str(folder), "--latex"]) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = [line for line in lines if line.endswith(r"\\")]
    assert len(rows) == 3 and len({row.replace(r"\&", "").count("&") for row in rows}) == 1
    assert any(r"sgd\_serial" in row for row in rows[1:])
    assert any(line.startswith("% mfbench") for line in lines)


PICTURES = sorted((ROOT / "plots/images").glob("*.json"))


def test_every_picture_of_the_documentation_has_a_recipe():
    named = {f"{one.file_name}.png" for recipe in PICTURES for one in read_recipes(recipe)}
    assert named == {path.name for path in (ROOT / "docs/images").glob("*.png")}


@pytest.mark.parametrize("recipe", PICTURES, ids=lambda recipe: recipe.stem)
def test_the_documentations_pictures_are_of_the_committed_results(recipe, tmp_path):
    hosts, images = [ROOT / "results/reference" / name for name in ("h100", "h200")], ROOT / "docs/images"
    results = next(host / recipe.stem for host in hosts if (host / f"{recipe.stem}.jsonl.xz").is_file())
    assert main([str(results), "--recipe", str(recipe), "--out", str(tmp_path), "--format",
                 "png"]) == 0
    for one in read_recipes(recipe):
        kept = pd.read_csv(images / f"{one.file_name}.csv")
        pd.testing.assert_frame_equal(pd.read_csv(tmp_path / f"{one.file_name}.csv"), kept)
        ours, theirs = (imread(d / f"{one.file_name}.png") for d in (tmp_path, images))
        # Letters differ by version of matplotlib, so not every pixel.
        assert ours.shape[1] == pytest.approx(theirs.shape[1], rel=0.03)
        assert ours.shape[0] == pytest.approx(theirs.shape[0], rel=0.03)
