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


def _draw(view: View, recipe: Recipe, x: Quantity, title: str) -> Drawing:
    return draw_curves(view, recipe, x, Quantity("test_rmse", "test RMSE (rating units)"), title,
                       curve_points(recipe.published))


def _add(name: str, column: str, label: str, words: str) -> None:
    figure(name)(lambda view, recipe: _draw(view, recipe, Quantity(column, label),
                                            f"test RMSE against {words}"))


_add("rmse-answer", ANSWER, f"{CLOCK_NAMES[ANSWER]} (s)", "the time to an answer")
_add("rmse-wall", "wall_s", "wall time from the start of the case (s)", "wall time")
_add("rmse-passes", "passes", "passes (updates / training ratings)", "passes")
_add("rmse-epochs", "epoch", "epochs", "epochs")
