"""How a case spends its time: the seconds of each clock of its own work, stacked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.patches import Patch

from mfplots import metrics
from mfplots.bar_page import Bar, bar_page, panel_rows
from mfplots.errors import NotDrawable
from mfplots.figures import figure
from mfplots.metrics import Interval
from mfplots.names import names_of
from mfplots.page import Page
from mfplots.palette import BLACK, BLUE, PURPLE, SKY, VERMILLION
from mfplots.recipes import Recipe
from mfplots.series import Panel, Series, View, restarted
from mfplots.smallprint import small_print
from mfplots.style import Look, duration, time_tick
from mfplots.summary import status_text

PARTS = ("start", "load", "prepare", "transfer", "train", "evaluate", "save")
LATER = ("start", "save")  # null if they are in the rest
# If an algorithm restarts for each evaluated point, training is the run of the last, and these are the others.
EARLIER = "runs for earlier points"
REST = "rest"  # of the wall time: on no clock
ALL = (*PARTS, EARLIER, REST)
# Drawn; the others are the harness's own. Training stands out; the waits before it, prepare and transfer, are in blues.
COLOUR_OF = {"start": PURPLE, "load": "#999999", "prepare": SKY, "transfer": BLUE, "train": VERMILLION}


@dataclass(frozen=True)
class Stack:
    """Medians over the finished seeds of a series, seconds; NaN if no seed has them."""

    panel: Panel
    series: Series
    parts: dict[str, float]
    answer: float  # median of prepare + transfer + train, to the end, with their shared parts
    n: int

    @property
    def total(self) -> float:
        """Of what is drawn."""
        return sum(self.parts[part] for part in COLOUR_OF)


@figure("clocks")
def clocks(view: View, recipe: Recipe) -> Page:
    stacks = [stack_of(panel, series) for panel in view.panels for series in panel.series]
    if not any(stack.n for stack in stacks):
        raise NotDrawable("no finished case has its clocks")
    names = names_of(view, recipe)
    panels = [panel_rows(panel, names, [(stack.series, _words(stack), [_bar(stack)]) for stack in stacks if stack.panel is panel],
                         "time from the file to the model, without what earlier cases did") for panel in view.panels]
    page = bar_page(recipe.title or f"{view.specs}: where the time of a case goes", panels, time_tick)
    drawn = [part for part in COLOUR_OF if any(stack.n and stack.parts[part] > 0 for stack in stacks)]
    return page.done(_numbers(stacks), small_print(
        view, names, "Median over seeds of each part, stacked; all: their sum. Start: the device and all that is made once a run, "
        "less the part made during the load. Answer: prepare + transfer + train to the end, with the parts of them that an "
        "earlier case did. Not drawn, but in the table: the harness's own evaluation, saving and time on no clock, and the runs "
        "for earlier points of a library that starts anew for each.", shown=""), [Patch(facecolor=COLOUR_OF[part], label=part) for part in drawn])


def stack_of(panel: Panel, series: Series) -> Stack:
    cases = series.finished.cases
    seconds = pd.DataFrame({part: pd.to_numeric(cases[f"clock_{part}_s"]) for part in PARTS})
    for part in LATER:
        seconds[part] = seconds[part].fillna(0.0)
    if "overlap_s" in cases:
        seconds["start"] -= pd.to_numeric(cases["overlap_s"]).fillna(0.0)
    seconds[EARLIER] = _earlier(cases)
    seconds[REST] = pd.to_numeric(cases["clock_wall_s"]) - seconds.sum(axis=1, skipna=False)
    known = seconds.dropna()
    parts = {part: max(metrics.spread(known[part]).median, 0.0) if len(known) else math.nan for part in ALL}
    answer = (pd.to_numeric(cases["to_training_s"]) + seconds["train"])[known.index]
    ended = [value for value, status in zip(answer, cases["status"][known.index]) if status == "completed"]
    never = [math.nan] * (len(answer) - len(ended))
    return Stack(panel, series, parts, metrics.censored_median([*ended, *never]), len(known))


def _earlier(cases: pd.DataFrame) -> list[float]:
    """Seconds of all runs of a case but the last; 0 if it does not restart, or has no phases."""
    def of_case(row: pd.Series) -> float:
        epochs = row["phases"].get("epoch") if isinstance(row.get("phases"), Mapping) else None
        return max(float(epochs["seconds_s"]) - float(row["clock_train_s"]), 0.0) if epochs else 0.0

    return [of_case(row) if restarts else 0.0 for (_, row), restarts in zip(cases.iterrows(), restarted(cases))]


def _bar(stack: Stack) -> Bar:
    look = Look(BLACK, "-", "o", 0)
    if not stack.n or stack.total <= 0:
        return Bar(metrics.NO_INTERVAL, look)
    return Bar(Interval(stack.total, math.nan, math.nan), look, parts=[(stack.parts[part], colour) for part, colour in COLOUR_OF.items()])


def _words(stack: Stack) -> list[str]:
    failed = (stack.series.cases["status"] != "completed").any()
    status = status_text(stack.series.cases) if failed or not stack.n else ""
    if not stack.n or stack.total <= 0:
        return [status]
    return [f"all {duration(stack.total)}", status, f"train {duration(stack.parts['train'])}",
            f"answer {duration(stack.answer)}"]


def _numbers(stacks: Sequence[Stack]) -> pd.DataFrame:
    return pd.DataFrame([{
        "dataset": s.panel.title, "look_alike": s.panel.look_alike, "series": s.series.label,
        "seeds": s.n, "statuses": status_text(s.series.cases),
        **{f"{part.replace(' ', '_')}_s": s.parts[part] for part in ALL}, "answer_s": s.answer} for s in stacks])
