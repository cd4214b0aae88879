"""./dev renumber: numbers of the documents written from the files, in the text and in the comment behind it."""

import pathlib
import re

import pytest

from doc_numbers import agrees, blocks, check, numbers_of
from mfdev import renumber
from number_sources import ROOT

PAGES = ["README.md", "docs/peers.md", "docs/reproduction/newgpusgd.md", "docs/reproduction/cumf_als.md"]


def other(number):
    """The same width and decimals, another value."""
    return re.sub(r"\d(?=\D*$)", lambda digit: str((int(digit.group()) + 3) % 10), number)


def falsified(page, text):
    """(the text with other numbers wherever a comment computes one, in how many places)."""
    places = {place: number.printed for block in blocks(page, text) for number in numbers_of(block)[0]
              for place in number.places}
    for place in sorted(places, reverse=True):
        text = text[:place] + other(places[place]) + text[place + len(places[place]):]
    return text, len(places)


@pytest.mark.parametrize("page", PAGES)
def test_false_numbers_become_those_of_the_files(page):
    text = (ROOT / page).read_text()
    false, count = falsified(pathlib.Path(page), text)
    assert count > 10 and false != text
    again, changes, problems = renumber.renumbered(pathlib.Path(page), false)
    assert problems == []
    assert again == text
    assert changes
    assert all(check(block) == [] for block in blocks(pathlib.Path(page), again))


def test_a_page_that_is_right_stays():
    text = (ROOT / "README.md").read_text()
    assert renumber.renumbered(pathlib.Path("README.md"), text) == (text, [], [])


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


def test_a_number_of_two_comments_that_moves_is_marked():
    """Two that read alike are one place to both comments, and may be meant apart."""
    text = ("From 7 to 7.\n\n<!-- numbers: README.md\n7 = 3 + 4\n-->\n<!-- numbers: README.md\n"
            "7 = 3 * 5\n-->\n")
    (change,) = renumber.renumbered(pathlib.Path("page.md"), text)[1]
    assert str(change).endswith("READ AGAIN: two comments compute it")
    (change,) = renumber.renumbered(pathlib.Path("page.md"), text.replace("3 + 4", "3 * 5"))[1][:1]
    assert change.shared is False, "the same line twice"


def test_what_cannot_be_computed_is_said(tmp_path):
    text = "There are 5 of them.\n\n<!-- numbers: results/nowhere\n5 = rate(als)\n-->\n"
    again, changes, problems = renumber.renumbered(pathlib.Path("page.md"), text, tmp_path)
    assert (again, changes) == (text, [])
    assert "results/nowhere: no such file or folder" in problems[0]
    text = "There are 5 of them.\n\n<!-- numbers: README.md\n6 = 6\n-->\n"
    assert "6 is not in the text" in renumber.renumbered(pathlib.Path("page.md"), text)[2][0]


def test_pages_on_disk(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("It takes 5 s.\n\n<!-- numbers: README.md\n5 = 2 * 3.2\n-->\n")
    assert renumber.renumber([str(page), "--show"]) == 0
    assert "5 -> 6 (+20.0 %)  READ AGAIN" in capsys.readouterr().out
    assert "It takes 5 s." in page.read_text()
    assert renumber.renumber([str(page)]) == 0
    assert page.read_text() == "It takes 6 s.\n\n<!-- numbers: README.md\n6 = 2 * 3.2\n-->\n"
    assert renumber.renumber([str(tmp_path / "none.md")]) == 2
    assert "no such file" in capsys.readouterr().err
