"""Where the time of a case goes: its clocks stacked up to the wall time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.patches import Patch

from mfplots import metrics
from mfplots.bar_page import Bar, Rows, bar_sheet
from mfplots.errors import NotDrawable
from mfplots.figures import Drawing, figure
from mfplots.metrics import Interval
from mfplots.palette import BLACK, BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILLION
from mfplots.recipes import Recipe
from mfplots.series import Panel, Series, View, panel_title
from mfplots.smallprint import provenance, sample
from mfplots.style import Look, duration, time_tick
from mfplots.summary import status_text

PARTS = ("start", "load", "prepare", "transfer", "train", "evaluate", "save")
LATER = ("start", "save")  # null where they are in the rest
REST = "rest"  # of the wall time: on no clock
# Training stands out; what a user waits for before it, prepare and transfer, is beside it in blues.
COLOUR_OF = {"start": PURPLE, "load": "#999999", "prepare": SKY, "transfer": BLUE, "train": VERMILLION,
             "evaluate": GREEN, "save": ORANGE, REST: "#dddddd"}


@dataclass(frozen=True)
class Stack:
    """Medians over the finished seeds of a series, seconds; NaN where no seed has them."""

    panel: Panel
    series: Series
    parts: dict[str, float]
    answer: float  # median of prepare + transfer + train, to the end, with what was shared of them
    n: int

    @property
    def total(self) -> float:
        return sum(self.parts.values())


@figure("clocks")
def clocks(view: View, recipe: Recipe) -> Drawing:
    stacks = [stack_of(panel, series) for panel in view.panels for series in panel.series]
    if not any(stack.n for stack in stacks):
        raise NotDrawable("no finished case has its clocks")
    panels = []
    for panel in view.panels:
        own = [stack for stack in stacks if stack.panel is panel]
        panels.append(Rows(panel_title(panel), [stack.series.marked for stack in own],
                           [_bar(y, stack) for y, stack in enumerate(own)], "time of the whole case"))
    sheet = bar_sheet(recipe.title or f"{view.specs}: where the time of a case goes", panels, time_tick)
    sheet.legend([Patch(facecolor=COLOUR_OF[part], label=part) for part in (*PARTS, REST)])
    sheet.small_print([
        f"{sample(view)}. "
        "Median over seeds of each part, stacked. Start: the device and what is made once a run. "
        "Rest: what is on no clock. Answer: prepare + transfer + train to the end, with what an "
        "earlier case had done of them.",
        *provenance(view)])
    return Drawing(sheet, _numbers(stacks))


def stack_of(panel: Panel, series: Series) -> Stack:
    cases = series.finished
    seconds = pd.DataFrame({part: pd.to_numeric(cases[f"clock_{part}_s"]) for part in PARTS})
    for part in LATER:
        seconds[part] = seconds[part].fillna(0.0)
    seconds[REST] = pd.to_numeric(cases["clock_wall_s"]) - seconds.sum(axis=1, skipna=False)
    known = seconds.dropna()
    parts = {part: max(metrics.spread(known[part]).median, 0.0) if len(known) else math.nan
             for part in (*PARTS, REST)}
    answer = (pd.to_numeric(cases["to_training_s"]) + seconds["train"])[known.index]
    ended = [value for value, status in zip(answer, cases["status"][known.index]) if status == "completed"]
    never = [math.nan] * (len(answer) - len(ended))
    return Stack(panel, series, parts, metrics.censored_median([*ended, *never]), len(known))


def _bar(y: int, stack: Stack) -> Bar:
    look = Look(BLACK, "-", "o", 0)
    if not stack.n or stack.total <= 0:
        return Bar(y, metrics.NO_INTERVAL, status_text(stack.series.cases), look, height=0.6)
    parts = [(stack.parts[part], COLOUR_OF[part]) for part in (*PARTS, REST)]
    text = f"train {duration(stack.parts['train'])}, answer {duration(stack.answer)}, " \
           f"all {duration(stack.total)}"
    if (stack.series.cases["status"] != "completed").any():
        text += f", {status_text(stack.series.cases)}"
    return Bar(y, Interval(stack.total, math.nan, math.nan), text, look, height=0.6, parts=parts)


def _numbers(stacks: Sequence[Stack]) -> pd.DataFrame:
    return pd.DataFrame([{
        "dataset": s.panel.title, "look_alike": s.panel.look_alike, "series": s.series.label,
        "seeds": s.n, "statuses": status_text(s.series.cases),
        **{f"{part}_s": s.parts[part] for part in (*PARTS, REST)}, "answer_s": s.answer}
        for s in stacks])
