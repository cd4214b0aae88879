"""The files of the worked examples of docs/adding-an-algorithm.md.

    python3 tests/guide.py FAMILY FOLDER    writes those of algorithms/FAMILY below FOLDER
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GUIDE = ROOT / "docs" / "adding-an-algorithm.md"
FILE_BLOCK = re.compile(r"^`(algorithms/\S+)`:\n\n```\w+\n(.*?)^```$", re.M | re.S)


def families():
    """{family: {path from the root: text}}"""
    found = {}
    for path, text in FILE_BLOCK.findall(GUIDE.read_text()):
        found.setdefault(path.split("/")[1], {})[path] = text
    return found


def write(family, folder):
    for path, text in families()[family].items():
        target = pathlib.Path(folder) / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in families():
        sys.exit(f"usage: guide.py FAMILY FOLDER; families: {', '.join(families())}")
    write(sys.argv[1], sys.argv[2])
