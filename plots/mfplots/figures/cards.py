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
from mfplots.smallprint import provenance
from mfplots.style import Look, plain_tick, significant
from mfplots.summary import ANSWER, CLOCK_NAMES, FILE

Json = dict[str, Any]
CLOCKS = ("train_s", ANSWER, FILE)


def compared_cards(folders: Iterable[Path], over: str | None = None) -> Json:
    return json.loads(program.text("compare", *dict.fromkeys(folders), "--by", "card", "--json", *(["--over", over] if over else [])))


@figure("cards")
def cards(view: View, recipe: Recipe) -> Page:
    """The baseline is a card."""
    files = list(view.cases["file"])
    compared = compared_cards((Path(file).parent for file in files), recipe.baseline)
    compared["rows"] = [row for row in compared["rows"] if any(not set(cell["files"]).isdisjoint(files) for cell in row["cards"])]
    return draw_cards(compared, recipe, provenance(view))


def draw_cards(compared: Json, recipe: Recipe, notes: Sequence[str] = ()) -> Page:
    clock, over = recipe.clock, compared["over"]
    shown = [cell for cell in cells(compared) if cell["on_device"] and cell.get(f"{clock}_x") is not None]
    if not shown:
        raise NotDrawable(f"no configuration that trains on a device has a {CLOCK_NAMES[clock]} on {over} and on another card")
    looks = {card["card"]: Look(COLOURS[i % len(COLOURS)], "-", MARKERS[i % len(MARKERS)], i) for i, card in enumerate(compared["cards"])}
    rows: dict[str, dict[str, list[Json]]] = {}
    for cell in shown:
        rows.setdefault(cell["dataset"], {}).setdefault(cell["label"], []).append(cell)
    names = short_names((cell["label"] for cell in shown), [list(own) for own in rows.values()])
    page = bar_page(recipe.title or f"Times as fast as on {over}", [
        Rows(dataset, [Row(names[label], [f"{significant(cell[f'{clock}_x'])}×" for cell in marks], _bars(marks, clock, looks)) for label, marks in own.items()],
             f"{CLOCK_NAMES[clock]}: times as fast as on {over}") for dataset, own in rows.items()], plain_tick, origin=1.0, closeup=True)
    handles = []
    for card, ratio in {cell["card"]: cell["memory_ratio"] for cell in shown}.items():
        handles.append(Line2D([], [], label=card, **{**looks[card].as_line(), "linestyle": "none"}))
        line = {"color": looks[card].colour, "linewidth": 0.9, "linestyle": (0, (4, 2)) if ratio else "none"}
        for axes in page.axes if ratio else ():
            axes.axvline(ratio, zorder=0.5, **line)
            low, high = axes.get_xlim()
            axes.set_xlim(min(low, 0.98 * ratio), max(high, 1.02 * ratio))
        handles.append(Line2D([], [], label=f"its memory rate, {significant(ratio)}×" if ratio else "its memory rate: unknown", **line))
    return page.done(pd.DataFrame(shown), [
        f"{CLOCK_NAMES[clock].capitalize()} to the target, or to the end without one. Whiskers: {metrics.BRACKETS}. "
        "Memory rates by data sheets.", explained(names), *notes], handles)


def cells(compared: Json) -> list[Json]:
    """Of each configuration that ran on several cards a flat row a card: medians, and for each clock CLOCK_x, the times as
    fast, from CLOCK_low to CLOCK_high; None without them."""
    rates = {card["card"]: card for card in compared["cards"]}
    return [{**{name: row[name] for name in ("dataset", "label", "on_device")}, "card": cell["card"], "runs": cell[ANSWER]["runs"],
             **{name: cell[name]["median"] for name in (*CLOCKS, "energy_j")},
             **{f"{clock}_{end}": cell[clock].get("over_card", {}).get(key) for clock in CLOCKS
                for end, key in (("x", "ratio"), ("low", "low"), ("high", "high"))},
             **{f"{kind}_ratio": rates[cell["card"]][rate]["ratio"] if row["on_device"] else None
                for kind, rate in (("memory", "memory_bytes_per_s"), ("tensor", "tensor_flops_per_s"))}}
            for row in compared["rows"] if len(row["cards"]) > 1 for cell in row["cards"]]


def _bars(own: Sequence[Json], clock: str, looks: dict[str, Look]) -> list[Bar]:
    ends = [[math.nan if cell[f"{clock}_{end}"] is None else cell[f"{clock}_{end}"] for end in ("x", "low", "high")] for cell in own]
    return [Bar(Interval(*end), looks[cell["card"]], shift=(i + 0.5) / len(own) - 0.5) for i, (cell, end) in enumerate(zip(own, ends))]
