"""Where results lie: a folder with a file a case, or one packed file in its place (docs/results.md,
"Packed results"), results/ml-1m.jsonl.xz for results/ml-1m. A packed case goes by the path of the file
that it was packed from.

Public: all that has no underscore.
"""

from __future__ import annotations

import functools
import json
import lzma
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mfplots.errors import PlotError

CASE, PACKED = ".jsonl", ".jsonl.xz"
MOST_MEMORY = 128 << 20  # a small file can ask for any amount
MOST_TEXT = 1 << 30
HEADER = re.compile(r'\{\s*"type"\s*:\s*"header"')

Json = dict[str, Any]


@dataclass
class Packed:
    """What a packed file holds: spec.json, or the study.json of trials, and the text of each case by
    the name of its file, in the order of the file."""

    spec: Json | None = None
    study: Json | None = None
    cases: dict[str, str] = field(default_factory=dict)


def is_packed(path: Path) -> bool:
    return path.name.endswith(PACKED)


def folder_of(packed: Path) -> Path:
    """The folder that a packed file stands in the place of."""
    return packed.with_name(packed.name[:-len(PACKED)])


def packed_in_place_of(path: Path) -> Path | None:
    """The packed file that `path` is, or that stands in its place; a folder with results of its own has
    none."""
    if is_packed(path):
        return path if path.is_file() else None
    if not path.name:
        return None
    packed = path.with_name(path.name + PACKED)
    own = path.is_dir() and ((path / "spec.json").exists() or any(path.glob(f"*{CASE}")))
    return packed if packed.is_file() and not own else None


def result_folders(place: Path) -> list[Path]:
    """Folders with results at or below a place, packed ones too. The trials of a study (docs/tuning.md)
    are no cases; links to folders are not followed."""
    if packed := packed_in_place_of(place):
        return [folder_of(packed)]
    found = set()
    for path, _, files in os.walk(place):
        folder = Path(path)
        if "study.json" not in files and any(name.endswith(CASE) for name in files):
            found.add(folder)
        if folder.name != "tune":
            found |= {folder_of(folder / name) for name in files if name.endswith(PACKED)}
    return sorted(found)


def read_packed(path: Path) -> Packed:
    """Raises PlotError naming the file."""
    found = path.stat()
    return _read(path, found.st_mtime_ns, found.st_size)


@functools.lru_cache(maxsize=2)
def _read(path: Path, _changed: int, _size: int) -> Packed:
    first, *lines = _unpacked(path).split("\n")[:-1] or [""]
    head = _object(first, path)
    kind = head.pop("type", None)
    if kind not in ("spec", "study"):
        raise PlotError(f"{path}:1: expected the spec or the study that was packed")
    found = Packed(**{kind: head or None})
    case: list[str] = []
    for line in [*lines, None]:
        if case and (line is None or HEADER.match(line)):
            name = str(_object(case[0], path).get("case_id", "")).rpartition("/")[2]
            found.cases[name + CASE] = "".join(f"{text}\n" for text in case)
            case = []
        case.append(line)
    return found


def _object(text: str, path: Path) -> Json:
    try:
        line = json.loads(text)
        if isinstance(line, dict):
            return line
    except ValueError:
        pass
    raise PlotError(f"{path}: damaged: found {text[:60]!r}, expected the header of a case")


def _unpacked(path: Path) -> str:
    decoder = lzma.LZMADecompressor(lzma.FORMAT_XZ, MOST_MEMORY)
    data, pieces, size = path.read_bytes(), [], 0
    try:
        while not decoder.eof:
            pieces.append(decoder.decompress(data, 1 << 20))
            data, size = b"", size + len(pieces[-1])
            if size > MOST_TEXT:
                raise PlotError(f"{path}: holds over 1 GiB of text")
            if not pieces[-1] and decoder.needs_input:
                raise PlotError(f"{path}: is cut off")
    except lzma.LZMAError as error:
        raise PlotError(f"{path}: no packed results: {error}") from error
    if decoder.unused_data:
        raise PlotError(f"{path}: has something behind its end")
    return b"".join(pieces).decode("utf-8", "replace")


def case_names(folder: Path) -> list[str]:
    """The files of all cases that are there, by name, packed ones in the order of their spec."""
    if packed := packed_in_place_of(folder):
        return list(read_packed(packed).cases)
    return sorted(path.name for path in folder.glob(f"*{CASE}"))


def case_text(path: Path) -> str | None:
    """Of one case, from its file or from the packed one in the place of its folder; None where it has
    not begun."""
    if path.is_file():
        return path.read_text(encoding="utf-8", errors="replace")
    if path.exists():
        raise PlotError(f"{path}: no regular file; a pipe or a device is not waited for")
    packed = packed_in_place_of(path.parent)
    return read_packed(packed).cases.get(path.name) if packed else None
