"""Writes the numbers of the files into the documents: ./dev renumber [PAGE...] [--show]

After results were measured again. A number that tests/doc_numbers.py finds wrong is replaced by its value, with as many
decimals as are printed, in the page and in its file of sources, and a number of contended cases gets its mark. Each is
listed with how far it moved: numbers that moved by more than a tenth are marked, since the sentence around may not hold
any more, and so are numbers that a second line computes otherwise: the text had one number for both, or two that read
alike, of which the first was taken. Sentences, and numbers that are `given`, are left to the reader of the list.
"""

import argparse
import pathlib
import re
import sys
from dataclasses import dataclass

from mfdev.shell import ROOT

sys.path.insert(0, str(ROOT / "tests"))

from doc_numbers import MARK, all_sources, blocks, numbers_of, sources_of, value_of  # noqa: E402

FAR = 0.1  # of the number that was printed


@dataclass(frozen=True)
class Change:
    where: str
    printed: str
    new: str
    shared: bool = False  # with a line that says otherwise

    def __str__(self):
        old, new = value_of(self.printed), value_of(self.new)
        moved = (new - old) / abs(old) if old else float("inf")
        return f"{self.where}: {self.printed} -> {self.new} ({100 * moved:+.1f} %)" + \
            ("  READ AGAIN" if abs(moved) > FAR or self.shared else "") + \
            (": two lines compute it" if self.shared else "")


def printed_as(value, like):
    """With the decimals of `like`, no zero before the point, commas if it had them or five digits need them."""
    decimals = len(like.partition(".")[2])
    text = f"{value:,.{decimals}f}" if "," in like or abs(value) >= 10000 else f"{value:.{decimals}f}"
    return re.sub(r"^(-?)0\.", r"\1.", text) if decimals and not like.lstrip("-").startswith("0.") else text


def renumbered(sources, texts):
    """((page, its sources) with the numbers of the files, changes, what could not be computed)."""
    found, problems = blocks(sources, *texts)
    numbers, changes, edits, lines = [], [], ({}, {}), {}  # lines: for a place in the page, the source that computes it
    for block in found:
        computed, unknown = numbers_of(block)
        problems += unknown
        for number in computed:
            numbers.append(number)
            lines.setdefault(number.page_at, set()).add((block.files, number.from_))
    for number in (number for number in numbers if not number.is_right):
        new = printed_as(number.value, number.printed)
        changes.append(Change(f"{sources}:{number.line.number}", number.printed, new, len(lines[number.page_at]) > 1))
        for places, at in zip(edits, (number.page_at, number.source_at)):
            if at is not None:
                places[at] = (number.printed, new)
    mark(numbers, texts[0], edits[0])
    return tuple(map(edited, texts, edits)), changes, problems


def mark(numbers, page, edits):
    """Adds to the edits of a page the marks that numbers of contended cases lack, and removes marks from others."""
    contended = {number.page_at for number in numbers if number.contended}
    for at, printed in {number.page_at: number.printed for number in numbers}.items():
        old, new = edits.get(at, (printed, printed))
        marked = page.startswith(MARK, at + len(printed))
        if marked and at not in contended:
            edits[at] = (old + MARK, new)
        elif not marked and at in contended:
            edits[at] = (old, new + MARK)


def edited(text, edits):
    for at in sorted(edits, reverse=True):
        printed, new = edits[at]
        text = text[:at] + new + text[at + len(printed):]
    return text


def renumber(words):
    parser = argparse.ArgumentParser(prog="./dev renumber", description=__doc__.split("\n\n")[0])
    parser.add_argument("pages", nargs="*", type=pathlib.Path, help="default: all")
    parser.add_argument("--show", action="store_true", help="write nothing")
    asked = parser.parse_args(words)
    missing = [str(file) for page in asked.pages for file in (page, sources_of(page)) if not file.is_file()]
    if missing:
        print(f"error: no such file: {', '.join(missing)}", file=sys.stderr)
        return 2
    wrong = 0
    for sources in map(sources_of, asked.pages) if asked.pages else all_sources():
        files = (sources.with_suffix(".md"), sources)
        before = tuple(file.read_text(encoding="utf-8") for file in files)
        after, changes, problems = renumbered(sources, before)
        wrong += len(problems)
        print("\n".join([*map(str, changes), *(f"not computed: {problem}" for problem in problems)]),
              end="\n" if changes or problems else "")
        for file, text in zip(files, after) if after != before and not asked.show else ():
            file.write_text(text, encoding="utf-8")
    return 1 if wrong else 0
