"""Each number of a verdict in docs/reproduction stands in a CSV of the figures of its exhibits."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from mfdev import reproduce

from mfplots import cli, figures
from mfplots.errors import NotDrawable
from mfplots.recipes import read_recipes
from mfplots.site.exhibits import read_claims
from mfplots.style import styled

ROOT = Path(__file__).parents[2]
CLAIMS = [claim for claim in read_claims(ROOT / "docs/reproduction") if claim.exhibits]
AMOUNT = re.compile(r"(?<![\w.,-])((?:\d[\d,]*)?\.?\d+)(?:(?: to | and |, )((?:\d[\d,]*)?\.?\d+))?(?![\w.,]*\w|-\w)( %)?")
# By claim, numbers of data sets, machines and papers, and ratios that no figure has: the .numbers say where they are from.
ELSEWHERE = {
    "Ten times faster than one of the fastest sequential libraries": {"943"},
    "The same on ml-20m": {"138,493"},
    "Why is the RMSE of the post on ml-100k not reached?": {".072", ".106"},
    "Additions or dropped writes, one copy of the items or two?": {"36"},
    "The L1 cache does not help CG": {"40", "256"},
    "cuMF_ALS is 5.6 to 7 times faster than LIBMF": {"44", "5.6"},
    "The CG solver reaches a higher bandwidth than cudaMemcpy": {"3.35"},
    "On one GPU ALS converges slightly faster than SGD on Netflix, slightly slower on Yahoo! Music and Hugewiki": {".05", ".1", "19"},
    "With implicit feedback an iteration takes less time than two CPU libraries": {"16", "41"},
    "What does each step gain, from LU over CG and fp16 to one kernel that keeps A on the chip?": {"15"},
    "GPU against CPU": {"16"},
    "NewGPUSGD avoids many operations in the pre-processing of data": {"7"},
    "The time of GPUSGD, too, grows about linearly with f": {"1.6", "3.2"},
    "Memory optimization and approximate solver together give 2 to 4 times": {"1.20"},
    "What does a warp a user gain over a thread a user?": {"8.7"},
    "The time grows about linearly with f": {"1.5", "2.1", "2.3", "3.1", "3.7"},
}


@pytest.fixture(scope="module")
def drawn():
    """By exhibit, the numbers of its figures of the committed results: made once."""
    return {}


def shown(exhibit):
    """All numbers, also those in words: "blocks=64"."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        patch.setattr(reproduce, "RUNS", Path("no runs"))
        place = reproduce.found_results(exhibit)
        if not place:
            return np.array([])
        sources = cli._sources([folder if Path(folder).is_dir() else f"{folder}.jsonl.xz"
                                for folder in reproduce.part_folders(exhibit, place) if reproduce.has_results(folder)])
        found = []
        for recipe in read_recipes(ROOT / f"plots/recipes/{exhibit}.json"):
            try:
                with styled():
                    found.append(figures.draw(cli._source(sources, recipe, None), recipe).numbers)
            except NotDrawable:
                continue
    words = " ".join(" ".join(map(str, column.unique())) for table in found for _, column in table.items())
    return np.array([float(number) for number in re.findall(r"\d+\.?\d*(?:e-?\d+)?", words)])


def amounts(words):
    """(text, whether it is a percentage); what is code, a part of a name, or said of another page is none."""
    for first, second, percent in AMOUNT.findall(re.sub(r"`[^`]*`|\[[^]]*\]\([^)]*\)|\([^)]*\.md[^)]*\)", " ", words)):
        yield from ((number, bool(percent)) for number in (first, second) if number)


def stands(number, percent, values):
    digits = len(number.partition(".")[2])
    with np.errstate(all="ignore"):
        ways = [100 * values, 100 * (values - 1), 100 * (1 / values - 1)] if percent else [values, 1 / values]
    return any((np.abs(np.abs(way) - float(number.replace(",", ""))) <= 0.501 * 10.0**-digits).any() for way in ways)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: f"{claim.exhibits[0]}: {claim.claim[:40]}, {claim.verdict[:12]}")
def test_each_number_of_a_verdict_is_in_a_figure(claim, drawn):
    asked = [*amounts(f"{claim.verdict} {claim.why}")]
    for exhibit in claim.exhibits if asked else ():
        if exhibit not in drawn:
            drawn[exhibit] = shown(exhibit)
    values = np.concatenate([np.array([]), *(drawn[exhibit] for exhibit in claim.exhibits if asked)])
    absent = {number for number, percent in asked if not stands(number, percent, values)}
    assert absent <= ELSEWHERE.get(claim.claim, set())
