"""Published numbers on a page; differences by seed."""

import re

import pytest
from synthetic import Made, draw, published, write

from mfplots import figures
from mfplots.load import load
from mfplots.recipes import Recipe
from mfplots.series import make_view
from mfplots.style import styled

unlaid = pytest.mark.usefixtures("unlaid")


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
    assert re.search("(published: )?Sys, V100", draw(real, tmp_path, recipe)[1])


@unlaid
@pytest.mark.parametrize("recipe", [{"figure": "metric-bars", "y": "updates_per_s"},
                                    {"figure": "sweep", "y": "updates_per_s", "x": "factors"}])
def test_published_rates_of_sgd_stand_only_beside_sgd(tmp_path, recipe):
    rows = published(tmp_path, "s,e,toy,Sys,V100,factors,50,updates_per_s,700,r,f", metric="updates_per_s")
    als = Made("als", method="als")
    _, text, _ = draw(write(tmp_path / "a", [als]), tmp_path, {**recipe, "published": rows})
    assert "Sys, V100" not in text
    _, text, _ = draw(write(tmp_path / "b", [Made(method="sgd"), als]), tmp_path, {**recipe, "published": rows})
    assert text.count("Sys, V100") == 1, "in the panel of SGD"


def test_a_curve_that_rises_again_is_shown_to_its_end(tmp_path):
    case = Made(trace=[(0, 0.0, 1.3), (1, 1.0, 0.96), (2, 2.0, 0.95), (3, 3.0, 1.05)])
    view = make_view(load([write(tmp_path / "run", [case])]))
    with styled():
        axes = figures.draw(view, Recipe("trace")).axes[0]
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
    assert "+0.0010, n = 3, against sgd_serial" in text
