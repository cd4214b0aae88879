"""The pictures of the documents: drawn from the results and recipes that are there, small, and with a caption."""

import re
from pathlib import Path

import pytest
from matplotlib.image import imread
from mfdev import pictures
from mfdev.shell import Failure

from mfplots.site.exhibits import read_claims

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
LISTED = pictures.listed()
SHOWN = re.compile(r"!\[([^\]]*)\]\(([^)]*\.png)\)(.*(?:\n.+)*)")


def shown():
    """(document, words for who does not see it, file, what stands below it) of every picture."""
    return [(page, alt, (page.parent / name).resolve(), below) for page in DOCUMENTS
            for alt, name, below in SHOWN.findall(page.read_text(encoding="utf-8"))]


def test_pictures_are_listed_and_shown():
    assert {path.name for path in pictures.IMAGES.glob("*.png")} == set(LISTED)
    assert {path.name for _, _, path, _ in shown()} == set(LISTED)


def test_pictures_are_of_the_results_and_recipes_that_are_there():
    assert pictures.stale(LISTED) == [], "./dev pictures draws them again"


def test_another_input_makes_a_picture_stale():
    name, entry = next(iter(LISTED.items()))
    other = next(one for one in LISTED.values() if one["results"] != entry["results"])
    assert pictures.stale({name: {**entry, "results": other["results"]}}) == [name]
    assert pictures.stale({name: {**entry, "width": "slide"}}) == [name]
    assert pictures.stale({"not-there.png": entry}) == ["not-there.png"]
    with pytest.raises(Failure, match="no figure named nothing"):
        pictures.digest({**entry, "figure": "nothing"})


def test_pictures_are_small_and_as_wide_as_listed():
    sizes = {path.name: path.stat().st_size for path in pictures.IMAGES.glob("*.png")}
    assert sum(sizes.values()) < 2_000_000 and max(sizes.values()) < 200_000
    for name, entry in LISTED.items():
        height, width = imread(pictures.IMAGES / name).shape[:2]
        assert width == {"column": 660, "page": 1400}[entry["width"]]
        assert height <= 1.5 * width


@pytest.mark.parametrize("page", sorted((ROOT / "docs/reproduction").glob("*.md")), ids=lambda page: page.stem)
def test_each_has_a_caption_that_says_the_result(page):
    own = [(alt, below) for document, alt, _, below in shown() if document == page]
    assert own
    for alt, below in own:
        assert alt and re.fullmatch(r"\\\n\*[^*]{40,400}\.\*", below), below


def test_the_report_has_its_own_pictures():
    assert not any("![" in claim.other + claim.published for claim in read_claims(ROOT / "docs/reproduction"))
