"""Writes the numbers of the files into the documents: python3 docs/tools/renumber.py [PAGE...] [--show]

After results were measured again. A number that tests/doc_numbers.py finds wrong is replaced by its value, with as
many decimals as are printed, in the text and in the comment behind it. Each is listed with how far it moved: those that
moved by more than a tenth are marked, since the sentence around may not hold any more. What sentences say, and numbers
that are `given`, are for the reader of the list.
"""

import argparse
import pathlib
import re
import sys
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from doc_numbers import (BLOCK, NUMBER, agrees, as_arguments, blocks, evaluate, value_of)  # noqa: E402
from number_sources import Files, NumberError  # noqa: E402

FAR = 0.1  # of the number that was printed


@dataclass(frozen=True)
class Change:
    where: str
    printed: str
    new: str

    def __str__(self):
        old, new = value_of(self.printed), value_of(self.new)
        moved = (new - old) / abs(old) if old else float("inf")
        return f"{self.where}: {self.printed} -> {self.new} ({100 * moved:+.1f} %)" + \
            ("  READ AGAIN" if abs(moved) > FAR else "")


@dataclass(frozen=True)
class Edit:
    start: int
    end: int
    text: str


def printed_as(value, like):
    """With the decimals of `like`, no zero before the point, commas where it had them or five digits need them."""
    decimals = len(like.partition(".")[2])
    text = f"{value:,.{decimals}f}" if "," in like or abs(value) >= 10000 else f"{value:.{decimals}f}"
    return re.sub(r"^(-?)0\.", r"\1.", text) if decimals and not like.lstrip("-").startswith("0.") else text


def masked(text):
    """doc_numbers.plain without a change of length: what has no numbers is filled up."""
    text = re.sub(r"`[^`\n]*`", lambda found: "`" * len(found.group()), text)
    text = re.sub(r"\]\([^)]*\)", lambda found: "]" * len(found.group()), text)
    return re.sub(r"\b[GR]TX \w+", lambda found: "x" * len(found.group()), text)


def cells_of(text):
    """(the cells, where each begins) of the rows of a table, without head and rule."""
    rows, at = [], 0
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith("|"):
            ends = [at + found.start() for found in re.finditer(r"\|", line)]
            rows.append([(text[a + 1:b], a + 1) for a, b in zip(ends, ends[1:])])
        at += len(line)
    return rows[2:]


def edits_of_column(line, text, base, files):
    """(edit, printed) of the cells of a column that are wrong."""
    number, _, expression = line.removeprefix("column ").partition(":")
    for row in cells_of(text):
        if int(number) >= len(row):
            continue
        cell, start = row[int(number)]
        token = NUMBER.search(masked(cell))
        if token is None:
            continue
        filled = re.sub(r"\{(\d+)\}", lambda found: as_arguments(row[int(found[1])][0].strip()), expression.strip())
        value = evaluate(filled, files)
        if not agrees(token.group(), value):
            at = base + start + token.start()
            yield Edit(at, at + len(token.group()), printed_as(value, token.group())), token.group()


def edits_of(found, block, page_text, root):
    """(edits of the page, changes) of one comment."""
    base = page_text.rfind(block.text, 0, found.start())
    if base < 0:
        raise NumberError("its text is not one piece of the page")
    tokens = [(token.group(), base + token.start()) for token in NUMBER.finditer(masked(block.text))]
    files = Files(block.files, root)
    edits, changes, place = [], [], 0

    def note(edit, printed):
        edits.append(edit)
        changes.append(Change(block.where, printed, edit.text))

    raw = found["lines"]
    starts = [0] + [at.end() for at in re.finditer(r"\n(?!  )", raw)]
    lines = [re.sub(r"\n  +", " ", raw[a:b]).strip() for a, b in zip(starts, [*starts[1:], len(raw)])]
    for start, line in zip(starts, lines):
        if not line or line.startswith("given:"):
            continue
        if line.startswith("column "):
            for edit, printed in edits_of_column(line, block.text, base, files):
                note(edit, printed)
            continue
        printed, sign, expression = (part.strip() for part in line.partition(" = "))
        at = next((k for k in range(place, len(tokens)) if tokens[k][0] == printed), None)
        if not sign or at is None:
            raise NumberError(f"{printed} is not in the text, or not in its order: {line}")
        place = at + 1
        value = evaluate(expression, files)
        if not agrees(printed, value):
            new = printed_as(value, printed)
            note(Edit(tokens[at][1], tokens[at][1] + len(printed), new), printed)
            left = found.start("lines") + start
            edits.append(Edit(left, left + len(printed), new))
    return edits, changes


def applied(text, edits):
    """A number that two comments of a paragraph compute is replaced once."""
    for edit in sorted(set(edits), key=lambda edit: edit.start, reverse=True):
        text = text[:edit.start] + edit.text + text[edit.end:]
    return text


def renumbered(page, text, root=ROOT):
    """(the text with the numbers of the files, changes, what could not be computed)."""
    edits, changes, problems = [], [], []
    for found, block in zip(BLOCK.finditer(text), blocks(page, text), strict=True):
        try:
            more, moved = edits_of(found, block, text, root)
            edits += more
            changes += moved
        except NumberError as error:
            problems.append(f"{block.where}: {error}")
    return applied(text, edits), changes, problems


def pages_of(named):
    if named:
        return named
    left_out = {"build", "runs", "data", ".cache"}
    return [path for path in sorted(ROOT.rglob("*.md")) if not left_out & set(path.relative_to(ROOT).parts)]


def main(words):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("pages", nargs="*", type=pathlib.Path, help="default: all")
    parser.add_argument("--show", action="store_true", help="write nothing")
    asked = parser.parse_args(words)
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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
