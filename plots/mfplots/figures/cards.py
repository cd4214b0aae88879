"""How many times as fast as on one card an algorithm is on the others, by `mfbench compare --by card`."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.lines import Line2D

from mfplots import metrics, program
from mfplots.bar_page import Bar, Row, Rows, bar_page
from mfplots.errors import NotDrawable
from mfplots.figures import figure
from mfplots.metrics import Interval
from mfplots.names import explained, short_names
from mfplots.page import Page
from mfplots.palette import COLOURS, MARKERS
from mfplots.recipes import Recipe
from mfplots.series import View
from mfplots.smallprint import n_words, provenance
from mfplots.style import Look, plain_tick, significant, speed_text
from mfplots.summary import ANSWER, CLOCK_NAMES, FILE

Json = dict[str, Any]
CLOCKS = ("train_s", ANSWER, FILE)


def compared_cards(folders: Iterable[Path], over: str | None = None) -> Json:
    named = ["--over", over] if over else []
    return json.loads(program.text("compare", *dict.fromkeys(folders), "--by", "card", "--json", *named))


@figure("cards")
def cards(view: View, recipe: Recipe) -> Page:
    """The baseline is a card."""
    files = list(view.cases["file"])
    compared = compared_cards((Path(file).parent for file in files), recipe.baseline)
    return draw_cards(compared, recipe, provenance(view), files)


def draw_cards(compared: Json, recipe: Recipe, notes: Sequence[str] = (), files: Sequence[str] | None = None) -> Page:
    """`files`: the only ones that count."""
    clock, over = recipe.clock, compared["over"]
    shown = [cell for cell in cells(compared) if cell["on_device"] and cell.get(f"{clock}_x") is not None
             and (files is None or not cell["files"].isdisjoint(files))]
    if not shown:
        raise NotDrawable(f"no configuration that trains on a device has a {CLOCK_NAMES[clock]} on {over} and on another card")
    looks = {card["card"]: Look(COLOURS[i % len(COLOURS)], "-", MARKERS[i % len(MARKERS)], i) for i, card in enumerate(compared["cards"])}
    rows: dict[str, dict[str, list[Json]]] = {}
    for cell in shown:
        rows.setdefault(cell["dataset"], {}).setdefault(cell["label"], []).append(cell)
    names = short_names((cell["label"] for cell in shown), [list(own) for own in rows.values()])
    page = bar_page(recipe.title or f"Times as fast as on {over}", [
        Rows(dataset, [Row(names[label], [speed_text(Interval(cell[f"{clock}_x"], math.nan, math.nan)) for cell in marks], _bars(marks, clock, looks))
                       for label, marks in own.items()], f"{CLOCK_NAMES[clock]}: times as fast as on {over}")
        for dataset, own in rows.items()], plain_tick, origin=1.0, closeup=True, most=True)
    handles = []
    for card, ratio in {cell["card"]: cell["memory_ratio"] for cell in shown}.items():
        handles.append(Line2D([], [], label=card, **{**looks[card].as_line(), "linestyle": "none"}))
        if not ratio:
            page.leave_out(f"memory rate of {card}", "unknown")
            continue
        line = {"color": looks[card].colour, "linewidth": 0.9, "linestyle": (0, (4, 2))}
        for axes in page.axes:
            axes.axvline(ratio, zorder=0.5, **line)
            low, high = axes.get_xlim()
            axes.set_xlim(min(low, 0.98 * ratio), max(high, 1.02 * ratio))
        handles.append(Line2D([], [], label=f"its memory rate, {significant(ratio)} times", **line))
    return page.done(pd.DataFrame(shown).drop(columns="files"), [n_words((cell["runs"] for cell in shown), "run", "95 % interval"),
        f"{CLOCK_NAMES[clock].capitalize()} to the target; without one training of an epoch, and the other clocks to the end. "
        f"Whiskers: {metrics.BRACKETS}. Memory rates by data sheets.", explained(names), *notes], handles)


def cells(compared: Json) -> list[Json]:
    """A flat row of each configuration and card but the first: the medians there (CLOCK) and on the first (CLOCK_over), and
    the times as fast, CLOCK_x from CLOCK_low to CLOCK_high; None without them."""
    found = []
    for card in compared["cards"][1:]:
        for row in card["compared"]["rows"]:
            parts = dict(zip((*CLOCKS, "energy_j"), (row["target_time"] or row["epoch_time"], row["answer_time"], row["file_to_model"], row["energy"])))
            found.append({
                "dataset": row["dataset"], "label": row["label"].removesuffix(f" on {row['dataset']}"), "card": card["card"],
                "on_device": row["on_device"], "files": set(row["files"]), "runs": row["answer_time"]["second"]["runs"],
                **{name: part["second"]["median"] for name, part in parts.items()},
                **{f"{name}_over": part["first"]["median"] for name, part in parts.items()},
                **{f"{clock}_{end}": parts[clock][key] and 1 / parts[clock][key]
                   for clock in CLOCKS for end, key in (("x", "ratio"), ("low", "high"), ("high", "low"))},
                **{f"{kind}_ratio": card[rate]["ratio"] if row["on_device"] else None
                   for kind, rate in (("memory", "memory_bytes_per_s"), ("tensor", "tensor_flops_per_s"))}})
    return found


def _bars(own: Sequence[Json], clock: str, looks: dict[str, Look]) -> list[Bar]:
    ends = [[math.nan if cell[f"{clock}_{end}"] is None else cell[f"{clock}_{end}"] for end in ("x", "low", "high")] for cell in own]
    return [Bar(Interval(*end), looks[cell["card"]], shift=(i + 0.5) / len(own) - 0.5) for i, (cell, end) in enumerate(zip(own, ends))]
