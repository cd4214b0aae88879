"""The page of cards: `mfbench compare --by card` of the folders that share cases on several cards."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from mfplots.errors import PlotError
from mfplots.figures.cards import cells, compared_cards, draw_cards
from mfplots.printable import say
from mfplots.recipes import Recipe
from mfplots.site.gather import Run
from mfplots.style import styled

Json = dict[str, Any]


def of_several_cards(runs: Sequence[Run]) -> list[Path]:
    """Folders with a case that ran on several cards; of equal hash are cases that agree in everything."""
    cases = pd.concat([run.view.cases[["case_hash", "gpu"]].assign(run=run.name) for run in runs])
    found = set(cases.loc[cases.groupby("case_hash")["gpu"].transform("nunique") > 1, "run"])
    return [run.path for run in runs if run.name in found]


def cards_data(runs: Sequence[Run], picture: Path) -> Json | None:
    """None without such folders. Draws the picture, an SVG."""
    folders = of_several_cards(runs)
    if not folders:
        return None
    compared = compared_cards(folders)
    picture.parent.mkdir(exist_ok=True)
    try:
        with styled():
            draw_cards(compared, Recipe("cards")).save(picture.with_suffix(""), ["svg"])
    except PlotError as error:
        say(f"no figure of cards: {error}", sys.stderr)
    return {"over": compared["over"], "cards": [{**card, "compared": None} for card in compared["cards"]], "picture": picture.is_file(),
            "rows": [{**cell, "files": None} for cell in cells(compared)]}
