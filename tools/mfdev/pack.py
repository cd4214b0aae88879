"""Packs results: ./dev pack FOLDER... [--unpack]

Of each result folder at or below FOLDER its cases and its spec.json, or study.json, become one file beside
it, FOLDER.jsonl.xz, which all that reads results reads in the folder's place (docs/results.md, "Packed
results"); other files stay where they are. The same results give the same bytes. --unpack, of packed files,
gives the folder back.
"""

import argparse
import json
import lzma
import pathlib
import sys

from mfdev.shell import ROOT, Failure

sys.path.insert(0, str(ROOT / "plots"))
from mfplots.errors import PlotError  # noqa: E402
from mfplots.publish.packed import CASE, HEADS, PACKED, compressed, packed_text, read_packed, write  # noqa: E402


def folders_below(place):
    return sorted({path.parent for path in place.rglob(f"*{CASE}")})


def pack_folder(folder):
    text, names = packed_text(folder)
    packed = folder.with_name(folder.name + PACKED)
    write(packed, compressed(text))
    if list(read_packed(packed)[1]) != names:
        raise Failure(f"{packed}: does not give back what was packed; the folder stays as it is")
    left = [path.name for path in folder.glob(".claim-*")]  # by runs that were killed
    for name in [*names, *HEADS.values(), *left, ".lock"]:
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
    except (OSError, EOFError, PlotError, lzma.LZMAError, ValueError, KeyError) as error:
        raise Failure(str(error)) from error
