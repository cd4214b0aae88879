"""Writes the numbers of the files into the documents: ./dev renumber [PAGE...] [--show]

After results were measured again. A number that tests/doc_numbers.py finds wrong is replaced by its value, with as
many decimals as are printed, in the text and in the comment behind it. Each is listed with how far it moved: those that
moved by more than a tenth are marked, since the sentence around may not hold any more, and those that a second comment
computes otherwise: the text had one number for both, or two that read alike, of which the first was taken. What sentences say, and numbers
that are `given`, are for the reader of the list.
"""

import argparse
import pathlib
import re
import sys
from dataclasses import dataclass

from mfdev.shell import ROOT

sys.path.insert(0, str(ROOT / "tests"))

from doc_numbers import blocks, numbers_of, value_of  # noqa: E402

FAR = 0.1  # of the number that was printed


@dataclass(frozen=True)
class Change:
    where: str
    printed: str
    new: str
    shared: bool = False  # with a line of another comment

    def __str__(self):
        old, new = value_of(self.printed), value_of(self.new)
        moved = (new - old) / abs(old) if old else float("inf")
        return f"{self.where}: {self.printed} -> {self.new} ({100 * moved:+.1f} %)" + \
            ("  READ AGAIN" if abs(moved) > FAR or self.shared else "") + \
            (": two comments compute it" if self.shared else "")


def printed_as(value, like):
    """With the decimals of `like`, no zero before the point, commas where it had them or five digits need them."""
    decimals = len(like.partition(".")[2])
    text = f"{value:,.{decimals}f}" if "," in like or abs(value) >= 10000 else f"{value:.{decimals}f}"
    return re.sub(r"^(-?)0\.", r"\1.", text) if decimals and not like.lstrip("-").startswith("0.") else text


def renumbered(page, text, root=ROOT):
    """(the text with the numbers of the files, changes, what could not be computed)."""
    edits, changes, problems = {}, [], []  # of a number that two comments compute the place is one
    found = [(block, *numbers_of(block, root)) for block in blocks(page, text)]
    lines = {}  # of a place in the text: what computes it
    for block, numbers, _ in found:
        for number in numbers:
            lines.setdefault(number.places[0], set()).add((block.files, number.from_))
    for block, numbers, unknown in found:
        problems += [f"{block.where}: {why}" for why in unknown]
        for number in (number for number in numbers if not number.is_right):
            new = printed_as(number.value, number.printed)
            changes.append(Change(block.where, number.printed, new, len(lines[number.places[0]]) > 1))
            edits |= {place: (number.printed, new) for place in number.places}
    for place in sorted(edits, reverse=True):
        printed, new = edits[place]
        text = text[:place] + new + text[place + len(printed):]
    return text, changes, problems


def pages_of(named):
    if named:
        return named
    left_out = {"build", "runs", "data", ".cache"}
    return [path for path in sorted(ROOT.rglob("*.md")) if not left_out & set(path.relative_to(ROOT).parts)]


def renumber(words):
    parser = argparse.ArgumentParser(prog="./dev renumber", description=__doc__.split("\n\n")[0])
    parser.add_argument("pages", nargs="*", type=pathlib.Path, help="default: all")
    parser.add_argument("--show", action="store_true", help="write nothing")
    asked = parser.parse_args(words)
    missing = [str(page) for page in asked.pages if not page.is_file()]
    if missing:
        print(f"error: no such file: {', '.join(missing)}", file=sys.stderr)
        return 2
    wrong = 0
    for page in pages_of(asked.pages):
        before = page.read_text(encoding="utf-8")
        after, changes, problems = renumbered(page, before)
        wrong += len(problems)
        print("\n".join([*map(str, changes), *(f"not computed: {problem}" for problem in problems)]),
              end="\n" if changes or problems else "")
        if after != before and not asked.show:
            page.write_text(after, encoding="utf-8")
    return 1 if wrong else 0
