"""Packs results: ./dev pack FOLDER... [--unpack]

The cases and the spec.json, or study.json, of each result folder at or below FOLDER become one file beside it,
FOLDER.jsonl.xz, which all readers of results take for the folder (docs/results.md, "Packed results"); other files stay
in place. The same results give the same bytes. --unpack, of packed files, gives the folder back.
"""

import argparse
import json
import lzma
import pathlib
import re
import sys

from mfdev.shell import ROOT, Failure

sys.path.insert(0, str(ROOT / "plots"))
from mfplots.errors import PlotError  # noqa: E402
from mfplots.files import MOST_OF_RESULT, folder_in, packed_lines, plain_name, read_text, replacing  # noqa: E402

CASE, PACKED = ".jsonl", ".jsonl.xz"
HEADER = re.compile(r'\{\s*"type"\s*:\s*"header"')
HEADS = {"spec": "spec.json", "study": "study.json"}  # the first line, by its type


def head_of(folder):
    for kind, name in HEADS.items():
        if (folder / name).is_file():
            return {"type": kind, **json.loads(read_text(folder / name))}
    return {"type": "spec"}


def file_name(header, where):
    return [plain_name(name, where) for name in str(json.loads(header)["case_id"]).rsplit("/", 1)][-1] + CASE


def case_lines(path):
    """The text of a finished case, which a packed file gives back under the same name."""
    text = read_text(path, MOST_OF_RESULT)
    *lines, rest = text.split("\n")
    try:
        finished = not rest and bool(lines) and json.loads(lines[-1]).get("type") == "footer"
        name = file_name(lines[0], path) if finished else ""
    except (AttributeError, KeyError, ValueError) as error:
        raise PlotError(f"{path}: is damaged: found {error!r}; run its spec again, or move it away") from error
    if not finished:
        raise PlotError(f"{path}: is unfinished; run its spec to the end first, or move it away")
    if [bool(HEADER.match(line)) for line in lines] != [True] + [False] * (len(lines) - 1):
        raise PlotError(f"{path}: expected one header, on line 1")
    if name != path.name:
        raise PlotError(f"{path}: is not named after its case_id")
    return text


def packed_text(folder):
    """With the names of its cases."""
    head = head_of(folder)
    listed = [f"{name}{CASE}" for name in head.get("cases", [])]
    there = sorted(path.name for path in folder.glob(f"*{CASE}"))
    names = [name for name in listed if name in there] + [name for name in there if name not in listed]
    line = json.dumps(head, ensure_ascii=False, separators=(",", ":")) + "\n"
    return line + "".join(case_lines(folder / name) for name in names), names


def compressed(text):
    return lzma.compress(text.encode(), lzma.FORMAT_XZ, lzma.CHECK_CRC64, 6 | lzma.PRESET_EXTREME)


def write(path, data):
    with replacing(path) as file:
        file.write(data)


def read_packed(path):
    """The head, and the lines of each case by the name of its file."""
    lines, cases = packed_lines(path), {}
    head = json.loads(next(lines, "null"))
    if not isinstance(head, dict) or head.get("type") not in list(HEADS):
        raise PlotError(f"{path}:1: expected the spec or the study that was packed")
    for number, line in enumerate(lines, 2):
        if HEADER.match(line):
            if (name := file_name(line, f"{path}:{number}")) in cases:
                raise PlotError(f"{path}:{number}: found a second case {name}, expected one; remove the lines of one of them")
            cases[name] = []
        elif not cases:
            raise PlotError(f"{path}:{number}: expected the header of a case")
        next(reversed(cases.values())).append(line)
    return head, cases


def folders_below(place):
    return sorted({path.parent for path in place.rglob(f"*{CASE}")})


def pack_folder(folder):
    text, names = packed_text(folder)
    packed = folder.with_name(folder.name + PACKED)
    write(packed, compressed(text))
    if list(read_packed(packed)[1]) != names:
        raise Failure(f"{packed}: does not unpack to the same files; the folder stays as it is")
    left = [path.name for path in folder.glob(".claim-*")]  # by runs that were killed
    for name in [*names, *HEADS.values(), *left, ".lock"]:
        (folder / name).unlink(missing_ok=True)
    if not any(folder.iterdir()):
        folder.rmdir()
    return packed


def unpack_file(packed):
    head, cases = read_packed(packed)
    files = {name: "".join(lines).encode() for name, lines in cases.items()}
    if stated := {key: value for key, value in head.items() if key != "type"}:
        files[HEADS[head["type"]]] = (json.dumps(stated, ensure_ascii=False, indent=2) + "\n").encode()
    folder = folder_in(packed.parent, packed.name.removesuffix(PACKED))
    folder.mkdir(exist_ok=True)
    for name, data in files.items():
        write(folder / name, data)
    packed.unlink()
    return folder


def pack(words):
    parser = argparse.ArgumentParser(prog="./dev pack", description=__doc__.split("\n\n")[0])
    parser.add_argument("places", nargs="+", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--unpack", action="store_true", help="packed files into folders")
    asked = parser.parse_args(words)
    try:
        for place in asked.places:
            if asked.unpack and not (place.name.endswith(PACKED) and place.is_file()):
                raise Failure(f"{place}: expected a packed file, *{PACKED}")
            found = [place] if asked.unpack else folders_below(place)
            if not found:
                raise Failure(f"{place}: no folder with results")
            for path in found:
                print((unpack_file if asked.unpack else pack_folder)(path))
    except (OSError, EOFError, PlotError, lzma.LZMAError, ValueError, KeyError, TypeError) as error:
        raise Failure(str(error)) from error
