"""The hashes that data are known by: of the catalog, and of the results of this repository."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

from mfplots.files import packed_lines
from mfplots.publish.packed import HEADER, PACKED

ROOT = Path(__file__).resolve().parents[3]
CATALOG = ROOT / "datasets/fetch/catalog.json"
REFERENCE = ROOT / "results/reference"

Json = dict[str, Any]


@cache
def catalog() -> dict[str, Json]:
    return {entry["name"]: entry for entry in json.loads(CATALOG.read_text(encoding="utf-8"))["datasets"]}


def source_hashes(entry: Json) -> set[str]:
    """What `dataset.source_sha256` may be; empty where the catalog lacks a checksum of files that it may be of."""
    known = {file["name"]: file.get("sha256") for file in entry["files"]}
    groups = [[one] if isinstance(one, str) else one for one in entry.get("whole", [])]
    groups += [[split["train"], split["test"]] for split in entry.get("splits", []) if "train" in split]
    if not all(known[name] for group in groups for name in group):
        return set()
    return {combined([(name, known[name]) for name in group]) for group in groups}


def combined(hashes: list[tuple[str, str]]) -> str:
    """Of several files: of the lines that sha256sum prints (datasets/source_hash.hpp)."""
    if len(hashes) == 1:
        return hashes[0][1]
    return hashlib.sha256("".join(f"{digest}  {name}\n" for name, digest in hashes).encode()).hexdigest()


@cache
def measured_contents(folder: Path = REFERENCE) -> dict[str, set[str]]:
    """{data set's label: the hashes of its content} of the packed results at or below a folder."""
    found: dict[str, set[str]] = {}
    for packed in sorted(folder.rglob(f"*{PACKED}")):
        for line in filter(HEADER.match, packed_lines(packed)):
            data = json.loads(line)["dataset"]
            if data.get("content_hash"):
                found.setdefault(data["name"], set()).add(data["content_hash"])
    return found
