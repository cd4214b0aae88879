"""Packs results: ./dev pack FOLDER... [--unpack]

Of each result folder at or below FOLDER its cases and its spec.json, or study.json, become one file beside
it, FOLDER.jsonl.xz, which all that reads results reads in the folder's place (docs/results.md, "Packed
results"); other files stay where they are. The same results give the same bytes. --unpack, of packed files,
gives the folder back.
"""

import argparse
import json
import lzma
import os
import pathlib
import re

from mfdev.shell import Failure

CASE, PACKED = ".jsonl", ".jsonl.xz"
HEADER = re.compile(r'\{\s*"type"\s*:\s*"header"')
HEADS = {"spec": "spec.json", "study": "study.json"}  # the first line, by its type


def folders_below(place):
    return sorted({path.parent for path in place.rglob(f"*{CASE}")})


def head_of(folder):
    for kind, name in HEADS.items():
        if (folder / name).is_file():
            return {"type": kind, **json.loads((folder / name).read_text(encoding="utf-8"))}
    return {"type": "spec"}


def file_name(header):
    return json.loads(header)["case_id"].rpartition("/")[2] + CASE


def case_lines(path):
    """The text of a finished case, which a packed file gives back under the same name."""
    text = path.read_text(encoding="utf-8")
    *lines, rest = text.split("\n")
    if rest or not lines or json.loads(lines[-1]).get("type") != "footer":
        raise Failure(f"{path}: is unfinished; run its spec to the end first, or move it away")
    if [bool(HEADER.match(line)) for line in lines] != [True] + [False] * (len(lines) - 1):
        raise Failure(f"{path}: expected one header, on line 1")
    if file_name(lines[0]) != path.name:
        raise Failure(f"{path}: is not named after its case_id")
    return text


def packed_text(folder):
    head = head_of(folder)
    listed = [f"{name}{CASE}" for name in head.get("cases", [])]
    there = sorted(path.name for path in folder.glob(f"*{CASE}"))
    names = [name for name in listed if name in there] + [name for name in there if name not in listed]
    line = json.dumps(head, ensure_ascii=False, separators=(",", ":")) + "\n"
    return line + "".join(case_lines(folder / name) for name in names), names


def write(path, data):
    part = path.with_name(path.name + ".tmp")
    part.write_bytes(data)
    os.replace(part, path)


def read_packed(path):
    """The head, and the lines of each case by the name of its file."""
    with lzma.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        head, cases = json.loads(next(lines, "null")), {}
        if not isinstance(head, dict) or head.get("type") not in HEADS:
            raise Failure(f"{path}:1: expected the spec or the study that was packed")
        for number, line in enumerate(lines, 2):
            if HEADER.match(line):
                cases[file_name(line)] = []
            elif not cases:
                raise Failure(f"{path}:{number}: expected the header of a case")
            next(reversed(cases.values())).append(line)
    return head, cases


def pack_folder(folder):
    text, names = packed_text(folder)
    packed = folder.with_name(folder.name + PACKED)
    write(packed, lzma.compress(text.encode(), lzma.FORMAT_XZ, lzma.CHECK_CRC64, 6 | lzma.PRESET_EXTREME))
    if list(read_packed(packed)[1]) != names:
        raise Failure(f"{packed}: does not give back what was packed; the folder stays as it is")
    for name in [*names, *HEADS.values(), ".lock"]:
        (folder / name).unlink(missing_ok=True)
    if not any(folder.iterdir()):
        folder.rmdir()
    return packed


def unpack_file(packed):
    head, cases = read_packed(packed)
    folder = packed.with_name(packed.name.removesuffix(PACKED))
    folder.mkdir(exist_ok=True)
    for name, lines in cases.items():
        write(folder / name, "".join(lines).encode())
    if stated := {key: value for key, value in head.items() if key != "type"}:
        write(folder / HEADS[head["type"]], (json.dumps(stated, ensure_ascii=False, indent=2) + "\n").encode())
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
    except (OSError, EOFError, lzma.LZMAError, ValueError, KeyError) as error:
        raise Failure(str(error)) from error
