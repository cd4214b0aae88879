"""Test RMSE against time, wall time or passes."""

from __future__ import annotations

from mfplots.curve_page import Quantity, draw_curves
from mfplots.figures import Drawing, figure
from mfplots.published import curve_points
from mfplots.recipes import Recipe
from mfplots.series import View
from mfplots.summary import ANSWER, CLOCK_NAMES


@figure("rmse-time")
def rmse_time(view: View, recipe: Recipe) -> Drawing:
    name = CLOCK_NAMES[recipe.clock]
    return _draw(view, recipe, Quantity(recipe.clock, f"{name} (s)"),
                 f"test RMSE against {name}")


@figure("rmse-answer")
def rmse_answer(view: View, recipe: Recipe) -> Drawing:
    return _draw(view, recipe, Quantity(ANSWER, f"{CLOCK_NAMES[ANSWER]} (s)"),
                 "test RMSE against the time to an answer")


@figure("rmse-wall")
def rmse_wall(view: View, recipe: Recipe) -> Drawing:
    return _draw(view, recipe, Quantity("wall_s", "wall time from the start of the case (s)"),
                 "test RMSE against wall time")


@figure("rmse-passes")
def rmse_passes(view: View, recipe: Recipe) -> Drawing:
    return _draw(view, recipe, Quantity("passes", "passes (updates / training ratings)"),
                 "test RMSE against passes")


@figure("rmse-epochs")
def rmse_epochs(view: View, recipe: Recipe) -> Drawing:
    return _draw(view, recipe, Quantity("epoch", "epochs"),
                 "test RMSE against epochs")


def _draw(view: View, recipe: Recipe, x: Quantity, title: str) -> Drawing:
    return draw_curves(view, recipe, x, Quantity("test_rmse", "test RMSE (rating units)"), title,
                       curve_points(recipe.published))
