"""./dev renumber: numbers of the documents written from the files, in the page and in its file of sources."""

import re

import pytest

from doc_numbers import agrees, blocks, numbers_of, sources_of
from mfdev import renumber
from number_sources import ROOT

PAGES = ["README.md", "docs/reproduction/ccd.md"]


def other(number):
    """The same width and decimals, another value."""
    return re.sub(r"\d(?=\D*$)", lambda digit: str((int(digit.group()) + 3) % 10), number)


def texts_of(page):
    return tuple(file.read_text() for file in (ROOT / page, sources_of(ROOT / page)))


def falsified(sources, texts):
    """(the texts with other numbers wherever a line computes one, in how many places)."""
    edits = ({}, {})
    for block in blocks(sources, *texts)[0]:
        for number in numbers_of(block)[0]:
            new = (number.printed, other(number.printed))
            edits[0][number.page_at] = new
            edits[1].update({number.source_at: new} if number.source_at is not None else {})
    return tuple(map(renumber.edited, texts, edits)), len(edits[0])


@pytest.mark.parametrize("page", PAGES)
def test_false_numbers_become_those_of_the_files(page):
    texts = texts_of(page)
    false, count = falsified("page.numbers", texts)
    assert count > 10 and false[0] != texts[0] and false[1] != texts[1]
    again, changes, problems = renumber.renumbered("page.numbers", false)
    assert (again, problems) == (texts, [])
    assert changes


def test_a_page_that_is_right_stays():
    texts = texts_of("README.md")
    assert renumber.renumbered("README.numbers", texts) == (texts, [], [])


@pytest.mark.parametrize("value, like, text", [
    (0.91234, ".91", ".91"), (1.0349, ".95", "1.03"), (0.98, "1.02", ".98"), (0.5, "0.4", "0.5"),
    (1234567.0, "1,234,000", "1,234,567"), (10234.4, "9876", "10,234"), (9876.4, "1024", "9876"),
    (-0.0123, "-.012", "-.012"), (12.0, "7", "12"),
])
def test_a_number_is_printed_as_the_one_before(value, like, text):
    assert renumber.printed_as(value, like) == text
    assert agrees(text, value)


def test_far_moves_are_marked():
    assert "READ AGAIN" in str(renumber.Change("page:1", "1.0", "1.2"))
    assert "READ AGAIN" not in str(renumber.Change("page:1", "1.00", "1.05"))


def test_a_number_of_two_lines_that_moves_is_marked():
    """Two that read alike are one place to both lines, and may be meant apart."""
    texts = ("From 7 to 7.\n", "> From\nfrom README.md\n7 = 3 + 4\nfrom README.md\n7 = 3 * 5\n")
    (change,) = renumber.renumbered("page.numbers", texts)[1]
    assert str(change).endswith("READ AGAIN: two lines compute it")
    changes = renumber.renumbered("page.numbers", (texts[0], texts[1].replace("3 + 4", "3 * 5")))[1]
    assert changes[0].shared is False, "the same line twice"


def test_marks_of_contended_cases_come_and_go():
    rate = "rate({}, data=netflix, model={}{}) / 1e6"
    sources = "> The\nfrom results/reference/h200/cpu-speed\n" \
              f"500 = {rate.format('fpsgd', 'biased', ', threads=16, block_order=random')}\n" \
              f"10 = {rate.format('sgd_serial', 'plain', '')}\n"
    (page, _), _, problems = renumber.renumbered("page.numbers", ("The rates are 500 and 10†.\n", sources))
    assert problems == [] and re.fullmatch(r"The rates are \d+† and \d+\.\n", page), page


def test_what_cannot_be_computed_is_said(tmp_path):
    texts = ("There are 5 of them.\n", "> There\nfrom results/nowhere\n5 = rate(als)\n")
    again, changes, problems = renumber.renumbered("page.numbers", texts, tmp_path)
    assert (again, changes) == (texts, [])
    assert "results/nowhere: no such file or folder" in problems[0]
    texts = (texts[0], "> There\nfrom README.md\n6 = 6\n")
    assert "6 is not in the text" in renumber.renumbered("page.numbers", texts)[2][0]


def test_pages_on_disk(tmp_path, capsys):
    page, sources = tmp_path / "page.md", tmp_path / "page.numbers"
    page.write_text("It takes 5 to 7 s.\n")
    assert renumber.renumber([str(page)]) == 2
    assert "no such file" in capsys.readouterr().err
    sources.write_text("> It takes\nfrom README.md\n5 7 = {2|3.2} * 3.2\n")
    assert renumber.renumber([str(page), "--show"]) == 0
    assert "5 -> 6 (+20.0 %)  READ AGAIN" in capsys.readouterr().out
    assert page.read_text() == "It takes 5 to 7 s.\n"
    assert renumber.renumber([str(page)]) == 0
    assert page.read_text() == "It takes 6 to 10 s.\n"
    assert sources.read_text() == "> It takes\nfrom README.md\n6 10 = {2|3.2} * 3.2\n"
