"""A picture of each exhibit: the one that the documents have of it; else the first of its recipe, or the first with
published numbers beside ours."""

from __future__ import annotations

import gc
import json
import re
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mfplots import cli, figures
from mfplots.errors import PlotError
from mfplots.printable import say
from mfplots.recipes import Recipe, read_recipes
from mfplots.site.gather import Run

ROOT = Path(__file__).resolve().parents[2]
RECIPES = ROOT / "recipes"
DOCUMENTED = ROOT.parent / "docs/images/pictures.json"


@dataclass(frozen=True)
class Picture:
    file: str
    title: str
    size: str = ""  # attributes of its image, so that nothing moves when it comes


def sources(paths: Sequence[Path], runs: Sequence[Run]) -> dict[str, list[Path]]:
    """Of each exhibit that has a recipe the folders of its parts, .../cumf_als/fig6 and fig6.cpu: of one machine, the
    one that the documents draw, or else with most of them."""
    folders = [*(run.path for run in runs), *(file.parent for path in paths for file in sorted(path.rglob("benchmark.json")))]
    found: dict[str, dict[Path, list[Path]]] = defaultdict(lambda: defaultdict(list))
    for folder in dict.fromkeys(folder.resolve() for folder in folders):
        exhibit = exhibit_of(folder)
        if (RECIPES / f"{exhibit}.json").is_file():
            found[exhibit][folder.parents[1]].append(folder)
    return {exhibit: max(places.items(), key=lambda place: (place[0] == _documented(exhibit)[1], len(place[1])))[1]
            for exhibit, places in found.items()}


def _documented(exhibit: str) -> tuple[str, Path | None]:
    """The figure that the documents have of an exhibit, and the folder of the machine whose results it shows."""
    return _all_documented(DOCUMENTED).get(exhibit, ("", None))


@cache
def _all_documented(pictures: Path) -> dict[str, tuple[str, Path | None]]:
    """By exhibit, the first of each; none if the documents are missing."""
    found: dict[str, tuple[str, Path | None]] = {}
    entries = json.loads(pictures.read_text(encoding="utf-8")).values() if pictures.is_file() else ()
    for entry in entries:
        if "recipe" not in entry:  # a timeline
            continue
        results = ROOT.parent / entry["results"][0]
        found.setdefault("/".join(Path(entry["recipe"]).with_suffix("").parts[-2:]), (entry["figure"], results.parents[1]))
    return found


def exhibit_of(folder: Path) -> str:
    """.../cumf_als/fig6.cpu is of cumf_als/fig6."""
    paper, name = folder.resolve().parts[-2:]
    return f"{paper}/{name.split('.')[0]}"


def draw(folders: Mapping[str, Sequence[Path]], out: Path) -> dict[str, Picture]:
    """Of each exhibit an SVG in `out`; exhibits that cannot be drawn are named and left out."""
    found = {}
    for exhibit, own in folders.items():
        recipe = _chosen(read_recipes(RECIPES / f"{exhibit}.json"), _documented(exhibit)[0])
        try:
            file = _drawn(recipe, own, out, exhibit.replace("/", "-"))
            size = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', (out.parent / file).read_text(encoding="utf-8"))
            found[exhibit] = Picture(file, recipe.title or exhibit, size and f'width="{float(size[1]):.0f}" height="{float(size[2]):.0f}" ' or "")
        except (PlotError, OSError) as error:
            say(f"no figure of {exhibit}: {error}", sys.stderr)
        gc.collect()  # figures are cycles
    return found


def _chosen(recipes: Sequence[Recipe], documented: str) -> Recipe:
    for recipe in recipes:
        if recipe.file_name == documented:
            return recipe
    drawable = [recipe for recipe in recipes if recipe.figure not in figures.NEED_VERSUS] or recipes
    return next((recipe for recipe in drawable if recipe.published), drawable[0])


def _drawn(recipe: Recipe, folders: Sequence[Path], out: Path, name: str) -> str:
    with tempfile.TemporaryDirectory() as made:
        picture, *_ = figures.write(cli.source_of([str(folder) for folder in folders], recipe), recipe, Path(made), ["svg"])
        out.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(picture, out / f"{name}.svg")
    return f"{out.name}/{name}.svg"
