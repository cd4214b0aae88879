"""The packed form of a folder of results: its spec and its cases in one file (docs/results.md, "Packed results")."""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from mfplots.errors import PlotError
from mfplots.files import MOST_OF_RESULT, packed_lines, read_text, replacing

Json = dict[str, Any]
CASE, PACKED = ".jsonl", ".jsonl.xz"
HEADER = re.compile(r'\{\s*"type"\s*:\s*"header"')
HEADS = {"spec": "spec.json", "study": "study.json"}  # the first line, by its type


def head_of(folder: Path) -> Json:
    for kind, name in HEADS.items():
        if (folder / name).is_file():
            return {"type": kind, **json.loads(read_text(folder / name))}
    return {"type": "spec"}


def file_name(header: str) -> str:
    return json.loads(header)["case_id"].rpartition("/")[2] + CASE


def case_lines(path: Path) -> str:
    """The text of a finished case, which a packed file gives back under the same name."""
    text = read_text(path, MOST_OF_RESULT)
    *lines, rest = text.split("\n")
    try:
        finished = not rest and bool(lines) and json.loads(lines[-1]).get("type") == "footer"
        name = file_name(lines[0]) if finished else ""
    except (AttributeError, KeyError, ValueError) as error:
        raise PlotError(f"{path}: is damaged: found {error!r}; run its spec again, or move it away") from error
    if not finished:
        raise PlotError(f"{path}: is unfinished; run its spec to the end first, or move it away")
    if [bool(HEADER.match(line)) for line in lines] != [True] + [False] * (len(lines) - 1):
        raise PlotError(f"{path}: expected one header, on line 1")
    if name != path.name:
        raise PlotError(f"{path}: is not named after its case_id")
    return text


def packed_text(folder: Path, wanted: Collection[str] | None = None) -> tuple[str, list[str]]:
    """With the names of its cases; `wanted`: only those of these names."""
    head = head_of(folder)
    listed = [f"{name}{CASE}" for name in head.get("cases", [])]
    there = sorted(path.name for path in folder.glob(f"*{CASE}") if wanted is None or path.name in wanted)
    names = [name for name in listed if name in there] + [name for name in there if name not in listed]
    line = json.dumps(head, ensure_ascii=False, separators=(",", ":")) + "\n"
    return line + "".join(case_lines(folder / name) for name in names), names


def compressed(text: str) -> bytes:
    return lzma.compress(text.encode(), lzma.FORMAT_XZ, lzma.CHECK_CRC64, 6 | lzma.PRESET_EXTREME)


def write(path: Path, data: bytes) -> None:
    with replacing(path) as file:
        file.write(data)


def read_packed(path: Path) -> tuple[Json, dict[str, list[str]]]:
    """The head, and the lines of each case by the name of its file."""
    lines, cases = packed_lines(path), {}
    head = json.loads(next(lines, "null"))
    if not isinstance(head, dict) or head.get("type") not in HEADS:
        raise PlotError(f"{path}:1: expected the spec or the study that was packed")
    for number, line in enumerate(lines, 2):
        if HEADER.match(line):
            cases[file_name(line)] = []
        elif not cases:
            raise PlotError(f"{path}:{number}: expected the header of a case")
        next(reversed(cases.values())).append(line)
    return head, cases
