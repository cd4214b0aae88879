"""contribution.json: whose results they are, and what was found in them; all but `by`, `date` and `partial` follows
from the results."""

from __future__ import annotations

import datetime
import hashlib
import json
import lzma
import re
import unicodedata
from pathlib import Path
from typing import Any

from mfplots.errors import PlotError
from mfplots.files import folder_in, read_bytes, read_json
from mfplots.publish.checks import distinct, notes, problems
from mfplots.publish.found import Found, find
from mfplots.publish.packed import PACKED, read_packed
from mfplots.publish.personal import personal_in

NAME = "contribution.json"
LONGEST = 60
GIVEN = ("by", "date", "partial")

Json = dict[str, Any]


def folder_of(by: str) -> str:
    """"José M." is jose-m. Raises PlotError."""
    if not by.strip() or by != by.strip() or len(by) > LONGEST or not by.isprintable():
        raise PlotError(f"--by: found {by!r}, expected a name of 1 to {LONGEST} characters on one line")
    plain = unicodedata.normalize("NFKD", by).encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    if not name:
        raise PlotError(f"--by: found {by!r}, expected letters a to z or digits among others, for the name of a folder: "
                        '"Li (李)"')
    return name


def packed_files(folder: Path) -> list[Path]:
    """That of the cases, which stands in the folder's place, and those of the trials."""
    return [folder.with_name(folder.name + PACKED), *sorted(folder_in(folder, "tune").glob(f"*{PACKED}"))]


def contribution(folder: Path, found: Found, given: Json) -> Json:
    """`given`: {"by", "date", "partial"}"""
    done = found.done
    machines = [", ".join(filter(None, [row["cpu"], f"{row['cores']} cores", row["gpu"]])) for row in done]
    return {"schema_version": 1, **given,
            "spec_name": found.head.get("spec_name"), "spec_hash": found.head.get("spec_hash"),
            "mfbench": distinct(row["mfbench"] for row in done), "commits": distinct(row["git_sha"] for row in done),
            "machines": distinct(machines), "hosts": distinct(row["host"] for row in done),
            "cases": len(done), "notes": notes(found),
            "files": {path.relative_to(folder.parent).as_posix(): hashlib.sha256(read_bytes(path)).hexdigest()
                      for path in packed_files(folder)}}


def today() -> str:
    return datetime.datetime.now(datetime.timezone.utc).date().isoformat()


def check_contributed(folder: Path) -> tuple[Json, list[str]]:
    """What the contribution.json of a folder says, and what is wrong with it and the results it is of."""
    page = folder / NAME
    try:
        said = read_json(page)
    except PlotError as error:
        return {}, [str(error)]
    try:
        given = {key: said[key] for key in GIVEN}
        datetime.date.fromisoformat(given["date"])
        who = folder_of(given["by"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        return {}, [f"{page}: found {error!r}, expected what mfbench publish writes; publish the results again"]
    except PlotError as error:
        return {}, [f"{page}: $.by: {error}"]
    if folder.parent.name != who:
        return said, [f"{page}: $.by: found {given['by']!r} below {folder.parent.name}/, expected it below {who}/"]
    packed, *trials = packed_files(folder)
    if not packed.is_file():
        return said, [f"{packed}: no such file, expected the results of {page}; publish them again"]
    found = find(packed)
    wrong = problems(found, given["partial"] is True)
    if not wrong:
        wrong = [line for path in trials for line in _of_trials(path)] + _differences(page, said, contribution(folder, found, given))
    return said, wrong


def _of_trials(path: Path) -> list[str]:
    try:
        head, cases = read_packed(path)
    except (EOFError, KeyError, ValueError, lzma.LZMAError) as error:
        return [f"{path}: is damaged: found {error!r}; publish the results again"]
    lines = [head, *(json.loads(line) for own in cases.values() for line in own)]
    return [f"{path}:{number}: {where}: found '{text}', {what}, expected nothing of a person or a machine"
            for number, line in enumerate(lines, 1) for where, text, what in personal_in(line, {})]


def _differences(page: Path, said: Json, expected: Json) -> list[str]:
    return [f"{page}: $.{key}: found {json.dumps(said.get(key))}, expected {json.dumps(expected.get(key))}, as in the results; "
            "publish them again" for key in dict.fromkeys([*expected, *said]) if said.get(key) != expected.get(key)]


def strays(root: Path) -> list[Path]:
    """Files below a folder of contributions that belong to none of them."""
    own: set[Path] = set()
    for page in root.rglob(NAME):
        own |= {page, *packed_files(page.parent)}
    return sorted(path for path in root.rglob("*") if path.is_file() and path not in own and path.name != "README.md")
