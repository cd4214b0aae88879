"""docs/tutorial.md, followed: every command is run, in a folder that has of the repository what the
page uses, and what it prints has the shape of the block behind it."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from guide import ROOT

PAGE = ROOT / "docs" / "tutorial.md"
FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


def steps():
    """[(commands, what they print)] of the page."""
    found = []
    for language, text in FENCED.findall(PAGE.read_text(encoding="utf-8")):
        if language == "sh":
            found.append((text, None))
        else:
            assert language == "text" and found and found[-1][1] is None, f"a {language} block"
            found[-1] = (found[-1][0], text)
    return found


STEPS = steps()


UNITS = [("s", "ms", "us"), ("B", "KiB", "MiB", "GiB")]


def shape(line):
    """A pattern for a line: numbers are any, units any of their kind, `...` is anything."""
    parts = []
    for word in re.split(r"(\.\.\.)|\s+", line.strip()):
        if word == "...":
            parts.append(".*")
        elif kind := next((units for units in UNITS if word in units), None):
            parts.append(f"(?:{'|'.join(kind)})")
        elif word:
            escaped = re.escape(word)
            escaped = re.sub(r"(,|\\\.|\d)*\d", r"[\\d.,]+", escaped)
            parts.append(re.sub(r"(\\#)+", "#+", escaped))
    return re.compile(r"\s*" + r"\s*".join(parts) + r"\s*$")


def unlike(printed, expected):
    """The first line of `expected` that is not there, in order; a line `...` stands for any."""
    lines, place, free = printed.splitlines(), 0, False
    for wanted in expected.splitlines():
        if wanted.strip() == "...":
            free = True
            continue
        pattern = shape(wanted)
        while place < len(lines) and not pattern.match(lines[place]):
            if not free:
                return f"expected {wanted!r}, printed {lines[place]!r}"
            place += 1
        if place == len(lines):
            return f"expected {wanted!r}, which is not there"
        place, free = place + 1, False
    return "" if free or place == len(lines) else f"printed beyond it: {lines[place]!r}"


@pytest.fixture(scope="module")
def desk(mfbench, tmp_path_factory):
    """A folder with `dev`, `plots` and `build/cpu/mfbench`; the results of the steps so far."""
    folder = tmp_path_factory.mktemp("tutorial")
    for name in ["dev", "tools", "plots", "docs", "results/published", "results/reference"]:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).symlink_to(ROOT / name)
    if (ROOT / ".cache").exists():
        (folder / ".cache").symlink_to(ROOT / ".cache")
    (folder / "build" / "cpu").mkdir(parents=True)
    (folder / "build" / "cpu" / "mfbench").symlink_to(shutil.which(mfbench.program))
    environment = {**os.environ, "MFBENCH_CACHE": str(folder / "cache"), "PYTHON": sys.executable,
                   "PATH": f"{folder / 'build/cpu'}:{os.environ['PATH']}"}
    environment.pop("MFBENCH", None)
    done = {}

    def run(number):
        for step in range(number + 1):
            if step not in done:
                done[step] = subprocess.run(
                    ["bash", "-eu", "-c", STEPS[step][0]], cwd=folder, env=environment, text=True,
                    capture_output=True, timeout=600)
        return done[number]

    run.folder = folder
    return run


def needs(number):
    commands = STEPS[number][0]
    if "mfbench report" in commands and not (ROOT / ".cache" / "report" / "bin").exists():
        pytest.skip("the report's libraries are not here: ./dev deps report")


@pytest.mark.parametrize("number", range(len(STEPS)))
def test_the_commands_of_the_tutorial_do_what_it_says(desk, number):
    needs(number)
    commands, expected = STEPS[number]
    done = desk(number)
    assert done.returncode == 0, f"{commands}\n{done.stdout}{done.stderr}"
    assert expected is not None, f"what this prints is not on the page:\n{commands}"
    assert unlike(done.stdout, expected) == "", f"{commands}\n{done.stdout}{done.stderr}"


def test_the_ratings_of_the_tutorial_are_those_of_the_page(desk):
    """To the digit: they come from a seed."""
    assert desk(0).stdout == STEPS[0][1]


def test_the_tutorial_ends_with_a_figure_and_a_report(desk):
    for number in range(len(STEPS)):
        needs(number)
        assert desk(number).returncode == 0
    figure = desk.folder / "results" / "runs" / "own" / "figures" / "rmse-answer.png"
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert "<html" in (desk.folder / "site" / "index.html").read_text(encoding="utf-8")
