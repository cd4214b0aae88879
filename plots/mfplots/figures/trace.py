"""Any column of the trace against any other, as the recipe's `x` and `y` say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mfplots import metrics
from mfplots.curve_page import draw_curves
from mfplots.errors import PlotError, hint
from mfplots.figures import figure
from mfplots.page import Page
from mfplots.published import points_of
from mfplots.recipes import Recipe
from mfplots.series import View, devices_apart, methods_apart
from mfplots.summary import ANSWER, main_metric, measured_by

CLOCKS = {"train_s": "training time (s)", "train_device_s": "training time by device events (s)",
          "answer_s": "prepare + transfer + training time (s)", "wall_s": "wall time from the start of the case (s)"}
X = {"epochs": "epochs",
     "passes": "passes (updates / training ratings)", "updates": "rating updates",
     "iterations": "iterations (rating updates / users)", **CLOCKS}
Y = {"updates_per_s": "rating updates per second of training", **CLOCKS}  # beside the metrics


@figure("trace")
def trace(view: View, recipe: Recipe) -> Page:
    x, y = quantity("x", recipe.x or "epochs", X), _of_y(recipe.y or main_metric(view))
    if x[0] == y[0]:
        raise PlotError(f'{recipe.file_name}: "x" and "y" are both {x[0]}')
    if "updates_per_s" in (x[0], y[0]):
        view = methods_apart(view)
    if metrics.row(y[0]):
        view = measured_by(view, y[0])
    view = devices_apart(view)
    title = " against ".join(words.split(" (")[0] for _, words in (y, x))
    return draw_curves(view, recipe, x, y, title, points_of(recipe.published, lines=True))


def _against(what: str, x: str) -> None:
    """`quality`: by the recipe's `y`, or the main metric of the cases."""
    figure(f"quality-{what}")(lambda view, recipe: trace(view, replace(recipe, x=x or recipe.clock)))
    figure(f"rmse-{what}")(lambda view, recipe: trace(view, replace(recipe, x=x or recipe.clock, y="test_rmse")))


_against("time", "")
_against("answer", ANSWER)
_against("passes", "passes")


def quantity(key: str, name: str, known: Mapping[str, str]) -> tuple[str, str]:
    if name not in known:
        raise PlotError(f'"{key}": unknown "{name}"{hint(name, known)}')
    return "epoch" if name == "epochs" else name, known[name]


def _of_y(name: str) -> tuple[str, str]:
    if name in Y:
        return name, Y[name]
    row = metrics.known(name, '"y"', Y)
    return row.key, row.axis
