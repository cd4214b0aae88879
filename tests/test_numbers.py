"""Numbers of the documents are those of their files."""

import re

import pytest

from doc_numbers import all_sources, blocks_of, check, marks_of, parsed, sources_of, unexplained
from number_sources import ROOT, NumberError

EXHIBITS = sorted((ROOT / "docs" / "reproduction").glob("*.md"))
# Pages of algorithms whose section "Measured" has a source behind every number.
ROOMS = [
    ROOT / "algorithms" / name
    for name in (
        "ccd/NOTES.md",
        "ials/blocks/device.md",
        "ials/cpu/NOTES.md",
        "ials/fused/NOTES.md",
        "ials/post/NOTES.md",
    )
]
# Those for readers, of which the section "Best result" does.
FAMILIES = sorted(notes.with_name("README.md") for notes in ROOT.glob("algorithms/*/NOTES.md"))
FOUND = {sources: blocks_of(sources) for sources in all_sources()}
BLOCKS = [block for found, _ in FOUND.values() for block in found]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.where())
def test_the_numbers_are_those_of_the_files(block):
    assert check(block) == []


@pytest.mark.parametrize("sources", FOUND, ids=lambda sources: str(sources.relative_to(ROOT)))
def test_the_sources_fits_its_page(sources):
    assert FOUND[sources][1] == []


@pytest.mark.parametrize("sources", FOUND, ids=lambda sources: str(sources.relative_to(ROOT)))
def test_numbers_of_contended_cases_are_marked(sources):
    assert marks_of(sources) == []


def test_the_pages_with_results_have_sources():
    """So that a file of another name does not pass by being none any more."""
    pages = ["README.md", "results/README.md", "results/NOTES.md", "results/published/measured/README.md"]
    expected = [*(ROOT / page for page in pages), *EXHIBITS, *ROOMS, *FAMILIES]
    assert {sources_of(page) for page in expected} <= FOUND.keys()
    assert len(FAMILIES) == 8
    assert sum(len(block.lines) for block in BLOCKS) > 500


def stated(text):
    """The paragraphs that say what was published, measured or concluded."""
    parts = (part.strip("\n") for part in text.split("\n\n"))
    return [part for part in parts if re.match(r"\*\*(Published|Measured|Verdict)\b", part.strip())]


def section(text, name):
    """Its paragraphs and tables."""
    found = re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    assert found, f"there is no section ## {name}"
    return [part.strip("\n") for part in found[1].split("\n\n") if part.strip()]


def measured(text):
    return section(text, "Measured")


def best_result(text):
    return section(text, "Best result")


# Sections, with what is below them, of which every number of a paragraph or table has a source.
WHOLE = {
    "README.md": ["## Measured"],
    "docs/which-algorithm.md": ["# Which algorithm should I use?"],
    "docs/what-we-learned.md": ["# What we learned"],
    "docs/comparison.md": ["# Libraries and mfbench, compared"],
    "docs/several-gpus.md": ["### Measured"],
    "docs/profiling.md": ["## Findings"],
    "docs/methodology-notes.md": ["## Evaluation", "## Comparing two runs", "## Contended runs"],
    "results/README.md": ["## Quality on real ratings", "## Speed at f = 128", "## On the device", "## Data",
                          "## The whole run"],
    "results/NOTES.md": ["### The host's memory"],
}


def below_heading(text, heading):
    """Its paragraphs and tables, to the next heading that is as high."""
    level = heading.partition(" ")[0]
    found = re.search(rf"^{re.escape(heading)}\n(.*?)(?=^#{{1,{len(level)}}} |\Z)", text, re.M | re.S)
    assert found, f"there is no {heading}"
    parts = (part.strip("\n") for part in found[1].split("\n\n"))
    return [part for part in parts if part.strip() and not part.startswith(("#", "```", "    "))]


@pytest.mark.parametrize("page, heading", [(page, heading) for page, of in WHOLE.items() for heading in of])
def test_every_number_of_a_section_has_a_source(page, heading):
    page = ROOT / page
    about = FOUND[sources_of(page)][0]
    left = {
        text[:60]: numbers
        for text in below_heading(page.read_text(), heading)
        if (numbers := unexplained(text, [block for block in about if block.text == text.strip()]))
    }
    assert left == {}


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.where())
def test_no_number_is_a_literal_of_its_sources(block):
    """What an expression gives comes from a file: it calls for it."""
    expressions = [one for line in block.lines for one in parsed(line.text)[2]]
    assert [one for one in expressions if not re.search(r"\b(?!(median|mean|low|high|abs|sqrt|len|sum|common)\b)\w+\(",
                                                        one)] == []


@pytest.mark.parametrize(
    "page, of",
    [(page, stated) for page in EXHIBITS]
    + [(page, measured) for page in ROOMS]
    + [(page, best_result) for page in FAMILIES],
    ids=lambda it: str(it.relative_to(ROOT)) if hasattr(it, "name") else it.__name__,
)
def test_every_number_has_a_source(page, of):
    about = FOUND[sources_of(page)][0]
    left = {
        text[:60]: numbers
        for text in of(page.read_text())
        if (numbers := unexplained(text, [block for block in about if block.text == text.strip()]))
    }
    assert left == {}


@pytest.mark.parametrize("line", ["given: 16", "given measured: 16", "given measured, no file: 16"])
def test_a_number_without_a_file_has_a_reason(line):
    assert parsed("given parameter: 16, 1,024") == ("given", ["16", "1,024"], [])
    with pytest.raises(NumberError, match="expected given definition:"):
        parsed(line)
