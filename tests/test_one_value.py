"""One fact has one value in all documents: a time to a target by the same algorithm, f and data set is printed with one
value, or what differs between its cases can be read beside each."""

import ast
import collections
import dataclasses
import itertools
import re

import pytest

from doc_numbers import NUMBER, agrees, all_sources, blocks_of, evaluate, numbers_of, plain, sections_of, value_of
from number_sources import ROOT, Files

COUNTS = {"2": "two", "4": "four"}
CLOCKS = ("time_to", "answer", "file_to_model")


@dataclasses.dataclass(frozen=True)
class Place:
    """Where a time is printed."""

    where: str
    printed: str
    value: float  # in the unit that is printed
    scale: float
    facts: dict
    table: tuple  # the table or paragraph in which it stands, and the first two cells of its row
    words: str  # of its row with the head, or of its paragraph
    section: str

    @property
    def seconds(self):
        return self.value / self.scale


def call_of(expression):
    """(the call of a clock, by what it is multiplied) if the expression is its median; else None."""
    node, scale = ast.parse(expression.strip(), mode="eval").body, 1.0
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and isinstance(node.left, ast.Constant):
        node, scale = node.right, node.left.value
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "median":
        node = node.args[0]
    return (node, scale) if isinstance(node, ast.Call) and getattr(node.func, "id", "") in CLOCKS else None


def facts_of(case):
    """What may tell two cases of one algorithm apart: parameters, card, and how much was trained on."""
    card = re.search(r"[A-Z]\d+", case.header["environment"].get("gpu") or "")
    host = re.search(r"/(h\d+)-x(\d)/", str(case.path))
    known = {key: value for key, value in case.known().items() if key not in ("seed", "folder", "split", "every", "stop_epochs")}
    return {**known, "card": card and card[0] if case.header["algorithm"].get("hardware") == "cuda" else None,
            "host": host and f"{COUNTS[host[2]]} {host[1].upper()}",
            "nnz_train": case.header["dataset"]["nnz_train"]}


def section_of(text, block):
    """The words of the section in which a block stands."""
    sections, _ = sections_of(text)
    return next(" ".join(part for part, _ in parts if not part.startswith("|")) + f" {heading}"
                for heading, parts in sections.items() if (block.text, block.text_at) in parts)


def places():
    """{(clock, target, algorithm, f, data): its places}"""
    found = collections.defaultdict(list)
    for sources in all_sources():
        text = sources.with_suffix(".md").read_text(encoding="utf-8")
        for block in blocks_of(sources)[0]:
            if not any(f"{clock}" in line.text for clock in CLOCKS for line in block.lines):
                continue
            files = Files(block.files)
            for number in numbers_of(block)[0]:
                if not (call := call_of(number.expression)):
                    continue
                node, scale = call
                target, *words = (ast.literal_eval(arg) if isinstance(arg, ast.Constant) else ast.unparse(arg) for arg in node.args)
                wanted = {word.arg: evaluate_word(word.value) for word in node.keywords}
                case = files.cases(*words, **wanted)[0]
                known = case.known()
                key = (node.func.id, target, known["algorithm"], known.get("factors"), known["data"])
                table = (str(sources), block.text_at), tuple(number.cells[1:3])
                found[key].append(Place(block.where(number.line), number.printed, number.value, scale, facts_of(case), table,
                                        plain_names(" | ".join(number.cells) or block.text), plain_names(section_of(text, block))))
    return found


def evaluate_word(node):
    return node.id if isinstance(node, ast.Name) and node.id != "None" else ast.literal_eval(node)


def plain_names(text):
    return re.sub(r"\]\([^)]*\)", "]", text)


def is_said(key, value, at):
    """Whether a fact can be read at a place. Small whole numbers count in its row or paragraph only: a section has too many."""
    if isinstance(value, bool) or value is None:
        return False
    words = at.words if key != "nnz_train" and isinstance(value, int) else f"{at.words} {at.section}"
    numbers = NUMBER.findall(words)
    if key == "nnz_train":
        return any(agrees(token, value / unit) for token in numbers for unit in (1, 1e3, 1e6, 1e9))
    if isinstance(value, (int, float)):
        return any(value_of(token) == value for token in numbers)
    return re.search(rf"(?<!\w){re.escape(str(value))}(?!\w)", words, re.I) is not None


def told_apart(one, other):
    """Whether the rows of one table have other names (a paragraph says so itself), or a fact that differs can be read at one place and not at the other."""
    differing = [key for key in {*one.facts, *other.facts} if one.facts.get(key) != other.facts.get(key)]
    return one.table[0] == other.table[0] and (not one.table[1] or one.table[1] != other.table[1]) or any(
        is_said(key, a.facts.get(key), a) and not is_said(key, a.facts.get(key), b)
        for key in differing for a, b in ((one, other), (other, one)))


def print_one_value(one, other):
    return agrees(one.printed, other.seconds * one.scale) or agrees(other.printed, one.seconds * other.scale)


def disagreements(found):
    for key, at in found.items():
        for one, other in itertools.combinations(at, 2):
            if not print_one_value(one, other) and not told_apart(one, other):
                yield f"{key}: {one.printed} at {one.where}, {other.printed} at {other.where}"


def test_a_time_has_one_value_in_all_documents():
    found = places()
    assert sum(map(len, found.values())) > 200
    assert list(disagreements(found)) == []
