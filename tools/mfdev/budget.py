"""Lines of code an area beside the budget in budget.json, for ./dev lint. `python3 tools/mfdev/budget.py --update` sets
the budget to the lines that there are."""

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


def sources():
    """Names from the root of the sources that git tracks; none without git."""
    done = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, text=True, check=False)
    return [name for name in done.stdout.split("\0") if pathlib.Path(name).suffix in ENDINGS and (ROOT / name).is_file()]


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
    """A message for each area that has more lines than its budget."""
    return [f"{area}: {count} lines, budget {budget.get(area, 0)}; take lines out, or raise the budget in {FILE}"
            for area, count in found.items() if count > budget.get(area, 0)]


def wide(names):
    """A message for each folder of the program with more than MOST_FILES sources."""
    counts = collections.Counter(name.rpartition("/")[0] for name in names if area_of(name) in PROGRAM)
    return [f"{folder}: {count} sources, more than {MOST_FILES}; consider subfolders"
            for folder, count in counts.items() if count > MOST_FILES]


if __name__ == "__main__" and sys.argv[1:] == ["--update"]:
    (ROOT / FILE).write_text(json.dumps(lines(sources()), indent=2) + "\n")
