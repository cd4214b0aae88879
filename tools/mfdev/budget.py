"""Lines of code an area, and clauses in the documents, beside budget.json, for ./dev lint; --update sets it, clauses to fewer."""

import collections
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FILE = "tools/mfdev/budget.json"
PROGRAM = ("base", "datasets", "algorithms", "harness", "plots", "peers", "tools", "cmake", "dev", "python")
ENDINGS = {".cpp", ".hpp", ".cu", ".cuh", ".py", ".js"}
TEST = re.compile(r"(^|/)(test|tests|bench|testing)/")
MOST_FILES = 28  # of a folder of the program; more are hard to take in
CLAUSES = "clauses behind ':' or ';' in the documents"  # their key in the budget
NO_PROSE = re.compile(r"^ *```.*?^ *```$|^(?:#|\||    )[^\n]*$|!\[[^\]]*\]|^†:", re.M | re.S)
CLAUSE = re.compile(r"[:;]\**[ \n] *(?=(?:[^\s.:;?!]+\s+){4})")  # four words and more, which a list of names has not


def clauses():
    """How many stand behind ":" or ";" in the documents but docs/reference, which the program writes."""
    return sum(len(CLAUSE.findall(re.sub(r"`[^`]*`", "x", NO_PROSE.sub("", (ROOT / name).read_text(encoding="utf-8")))))
               for name in sources({".md"}) if not name.startswith("docs/reference/"))


def sources(endings=frozenset(ENDINGS)):
    """Names from the root of the sources that git tracks; none without git."""
    done = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, text=True, check=False)
    return [name for name in done.stdout.split("\0") if pathlib.Path(name).suffix in endings and (ROOT / name).is_file()]


def area_of(name):
    """`tests`, the folder of the program, or nothing."""
    top = name.split("/")[0]
    return "tests" if TEST.search(name) else top if top in PROGRAM else None


def lines(names):
    """{area: lines} of these sources."""
    found = collections.Counter()
    for name in names:
        if area := area_of(name):
            found[area] += (ROOT / name).read_bytes().count(b"\n")
    return dict(sorted(found.items()))


def over(found, budget):
    """A message for each area that is over its budget."""
    return [f"{area}: {count}, budget {budget.get(area, 0)}; take some out, or if they are lines raise the budget in {FILE}"
            for area, count in found.items() if count > budget.get(area, 0)]


def wide(names):
    """A message for each folder of the program with more than MOST_FILES sources."""
    counts = collections.Counter(name.rpartition("/")[0] for name in names if area_of(name) in PROGRAM)
    return [f"{folder}: {count} sources, more than {MOST_FILES}; consider subfolders"
            for folder, count in counts.items() if count > MOST_FILES]


if __name__ == "__main__" and sys.argv[1:] == ["--update"]:
    (ROOT / FILE).write_text(json.dumps({**lines(sources()), CLAUSES: min(
        clauses(), json.loads((ROOT / FILE).read_text()).get(CLAUSES, 0))}, indent=2) + "\n")
