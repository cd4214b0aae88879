"""The worked examples of docs/adding-an-algorithm.md, which stand in docs/examples."""

import os
import pathlib
import re
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
GUIDE = ROOT / "docs" / "adding-an-algorithm.md"
EXAMPLES = ROOT / "docs" / "examples"


def files_of(family):
    """{path below algorithms: text}"""
    return {str(path.relative_to(EXAMPLES)): path.read_text()
            for path in sorted((EXAMPLES / family).rglob("*")) if path.is_file()}


def write(family, folder):
    """As a copy of the example to FOLDER/algorithms has them."""
    for path, text in files_of(family).items():
        target = pathlib.Path(folder) / "algorithms" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


def commands(page, first):
    """The indented block of a page that begins with these words, as it is written."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = [textwrap.dedent(block) for block in re.findall(r"(?:^    .*\n)+", text, re.M) if block.strip().startswith(first)]
    assert len(found) == 1, f"{page}: {len(found)} blocks begin with {first!r}"
    return found[0]


def without(folder, *names):
    """A PATH like ours without these programs."""
    folder.mkdir()
    for room in reversed(os.environ["PATH"].split(os.pathsep)):
        for program in pathlib.Path(room).glob("*") if os.path.isabs(room) else ():
            if program.name not in names and os.access(program, os.X_OK):
                (folder / program.name).unlink(missing_ok=True)
                (folder / program.name).symlink_to(program)
    return str(folder)
