"""Blocks of the README, run as they are written, in a folder that has ratings only."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from guide import ROOT, commands
from test_tutorial import STEPS

README = (ROOT / "README.md").read_text(encoding="utf-8")


def block(language):
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", README, re.M | re.S)
    return found


@pytest.fixture(scope="module")
def desk(mfbench, tmp_path_factory):
    """With the ratings of the tutorial."""
    folder = tmp_path_factory.mktemp("pages")
    subprocess.run(["bash", "-eu", "-c", STEPS[0][0]], cwd=folder, check=True, capture_output=True)
    (folder / "bin").mkdir()
    (folder / "bin" / "mfbench").symlink_to(pathlib.Path(shutil.which(mfbench.program)).resolve())
    python = folder / "bin" / "python3"  # a page's python3 is the one that runs the tests
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    (folder / "mine.json").write_text(block("json"))
    environment = {**mfbench.environment(), "MFBENCH_CACHE": str(folder / "cache"), "PYTHON": sys.executable,
                   "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": f"{ROOT / 'python'}"}

    def run(*command):
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, f"{command[-1]}\n{done.stdout}{done.stderr}"
        return done.stdout

    run.folder = folder
    return run


def test_a_spec_of_your_own(desk):
    lines = commands("README.md", "mfbench validate mine.json")
    if not (ROOT / ".cache" / "report" / "bin").exists():
        lines = re.sub(r"^mfbench report .*\n", "", lines, flags=re.M)
    said = desk("bash", "-eu", "-c", lines)
    assert "12 cases: 12 run now" in said and "fpsgd" in said.rpartition("12 run now")[2]
    assert list((desk.folder / "results/runs/mine/figures").glob("*.png"))


def test_the_start_in_python(desk):
    pytest.importorskip("pandas")
    code = block("python").replace('"alice"', 'frame["user"][0]')  # who is in the ratings
    said = desk(sys.executable, "-c", f"import pandas\nframe = pandas.read_csv('ratings.csv')\n{code}\nprint(len(results))")
    assert said == "2\n"


def test_a_class_on_the_command_line(desk):
    pytest.importorskip("pandas")
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    (written,) = re.findall(r'^pathlib.Path\("my_means.py"\).write_text\(\'\'\'$(.*?)^\'\'\'\)$', page, re.M | re.S)
    (desk.folder / "my_means.py").write_text(written)
    assert "damping" in desk("bash", "-eu", "-c", commands("docs/python.md", "python3 -m mfbench.own"))
