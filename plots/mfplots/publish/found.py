"""A folder of results, or the packed file in its place, as it is checked."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from mfplots import program
from mfplots.errors import PlotError
from mfplots.files import MOST_OF_RESULT, read_text
from mfplots.publish.packed import CASE, PACKED, head_of, read_packed

Json = dict[str, Any]


@dataclass(frozen=True)
class Found:
    """`rows`: a case each, of those that spec.json lists, as `mfbench summarize` has them; `left_out`: what it
    says of files that are no results."""

    place: Path
    head: Json  # spec.json
    rows: list[Json]
    left_out: list[str]

    @property
    def packed(self) -> bool:
        return self.place.name.endswith(PACKED)

    @property
    def spec_file(self) -> str:
        return f"{self.place}:1" if self.packed else f"{self.place}/spec.json"

    @cached_property
    def done(self) -> list[Json]:
        return [row for row in self.rows if row["status"] not in program.PENDING]

    @cached_property
    def names(self) -> set[str]:
        """Of the files of cases that are done."""
        return {Path(row["file"]).name for row in self.done}

    @cached_property
    def planned(self) -> dict[str, Json]:
        """The cases of the spec by their ids, as the program resolves them now. Raises PlotError."""
        with tempfile.TemporaryDirectory() as folder:
            spec = Path(folder) / f"{self.head.get('spec_name') or 'spec'}.json"
            spec.write_text(json.dumps(self.head["spec"]), encoding="utf-8")
            try:
                cases = json.loads(program.text("validate", "--json", spec))
            except PlotError as error:
                raise PlotError(f"{self.spec_file}: $.spec: {str(error).replace(f'{spec}: ', '')}") from error
        return {case["id"]: case["case"] for case in cases}

    def lines(self) -> Iterator[tuple[str, Json]]:
        """(where it stands, a line), of spec.json and of all cases that are done."""
        yield self.spec_file, self.head
        if self.packed:
            number = 1
            for own in read_packed(self.place)[1].values():
                for line in own:
                    number += 1
                    yield f"{self.place}:{number}", json.loads(line)
            return
        for name in sorted(self.names):
            for number, line in enumerate(read_text(self.place / name, MOST_OF_RESULT).splitlines(), 1):
                yield f"{self.place / name}:{number}", json.loads(line)


def find(place: Path) -> Found:
    """Raises PlotError where there is no spec, or no case."""
    rows, left_out = [], []
    for line in program.lines("summarize", "--json", place):
        (rows if line["type"] == "case" else left_out).append(line)
    try:
        head = {} if left_out else read_packed(place)[0] if place.name.endswith(PACKED) else head_of(place)
    except (ValueError, RecursionError) as error:
        raise PlotError(f"{place}/spec.json: is damaged: found {error}; run the spec again into this folder") from error
    if head.get("type") == "study":
        raise PlotError(f"{place}: found the trials of a study, expected the folder of its spec, which has them in tune/")
    found = Found(place, head, rows, [line["why"] for line in left_out])
    if not left_out and not (isinstance(head.get("spec"), dict) and isinstance(head.get("cases"), list)):
        raise PlotError(f"{found.spec_file}: found no spec with its cases, expected the spec.json that mfbench run writes beside its "
                        "results; run the spec again into this folder")
    if not rows and not left_out:
        raise PlotError(f"{place}: found no case")
    return found


def unlisted(folder: Path, found: Found) -> list[str]:
    """Files of cases that spec.json does not list, which are not handed in."""
    listed = {f"{name}{CASE}" for name in found.head["cases"]}
    return sorted(path.name for path in folder.glob(f"*{CASE}") if path.name not in listed)
