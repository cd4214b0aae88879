"""The Python that the README shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

from synthetic import Made, write

from mfplots.load import load

PLOTS = Path(__file__).parents[1]
README = PLOTS / "README.md"


def section():
    return README.read_text().split("## From Python\n")[1].split("\n## ")[0]


def test_the_python_of_the_readme_runs():
    (example,) = re.findall(r"^```python\n(.*?)^```$", section(), re.M | re.S)
    done = subprocess.run([sys.executable, "-c", example], cwd=PLOTS, text=True,
                          capture_output=True, env={**os.environ, "PYTHONPATH": str(PLOTS)})
    assert done.returncode == 0, done.stderr
    assert re.search(r"^fpsgd +0\.8\d+ +5$", done.stdout, re.M), done.stdout


def test_the_readme_names_what_is_nested_and_what_is_added(tmp_path):
    results = load([write(tmp_path, [Made()])])
    row = results.cases.iloc[0]
    named = set(re.findall(r"`([^`\n]+)`", section()))
    nested = {name for name, value in row.items() if isinstance(value, (dict, list))}
    assert nested and nested <= named
    added = {"iterations", "updates_per_s", "answer_s"}
    assert added <= named & set(results.trace)
    for name in ("load(", "load_folders(", "Results.cases", "Results.trace"):
        assert any(word.startswith(name) for word in named), name
