"""The terminal, the figures and the first page have one winner, at one target."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from mfplots import program
from mfplots.load import load
from mfplots.series import make_view
from mfplots.site import panels
from mfplots.site.gather import gather
from mfplots.site.groups import make_groups
from mfplots.summary import Question, winner_text

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "results/reference"
# Of each kind: with and without a target, frozen ones, libraries, several sizes, ranked items, a GPU, one seed.
COMMITTED = ("epyc-2/quickstart", "epyc-2/peers-explicit.ml-100k", "epyc-2/ials-grid", "h100/whole-run", "h100/ease-speed",
             "h100/gowalla", "h200/quickstart-gpu", "h200/cpu-speed", "h100/peers-explicit.netflix")
UNITS = {"s": 1, "ms": 1e-3, "µs": 1e-6, "us": 1e-6, "min": 60, "h": 3600}


def heads(folder: Path) -> dict[str, tuple[str, float, float | None]]:
    """Of each data set of a report of one run: the first row's algorithm, the target, and the time to it."""
    found = {}
    for panel in panels.panels(make_groups(gather([folder])[0])):
        order = panel["order"]["named"]["answer"]
        first = panel["rows"][order[0]] if order else None
        times = [row["at"]["named"]["answer"]["s"] for row in map(panel["rows"].__getitem__, order)
                 if row["at"]["named"]["answer"]["seeds"] >= panels.FEWEST]
        assert times == sorted(times)
        found[panel["data"]] = (first and first["algorithm"], panel["targets"]["named"],
                                first and first["at"]["named"]["answer"]["s"])
    return found


def agrees(said: str, head: tuple[str, float, float | None]) -> bool:
    """Whether the winner in words is the first row of the page."""
    algorithm, target, seconds = head
    if algorithm is None:
        return said.startswith("no algorithm") and f" {target:g} on " in said
    found = re.search(r"(?:^only )?([^\s,]+).*? ([\d.eE+-]+) on .*? in ([\d.,]+) (\w+|µs)", said)
    time = float(found[3].replace(",", "")) * UNITS[found[4]]
    return found[1] == algorithm and f"{target:g}" == found[2] and time == pytest.approx(seconds, rel=0.06)


def run(*words: object, cwd: Path) -> list[str]:
    done = subprocess.run([program.find(), *map(str, words)], cwd=cwd, text=True, capture_output=True, timeout=300,
                          env={**os.environ, "PYTHON": sys.executable})
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("name, scale, target", [
    ("quickstart", 0.01, None), ("quickstart", 0.01, 0.5), ("quickstart", 0.01, 2.0), ("cpu-speed", 0.001, None),
    ("ease-speed", 0.01, None)])
def test_run_plot_and_page_agree(name, scale, target, tmp_path):
    """On little data; with the spec's target, one that none reaches, one that all do, and with none."""
    spec = json.loads((ROOT / f"experiments/{name}.json").read_text())
    spec["datasets"] = [{**data, "scale": scale} for data in spec["datasets"]]
    spec["stop"] = {**spec.get("stop", {}), "epochs": 4}
    if target:
        spec["target_rmse"] = target
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    said = run("run", "spec.json", "--out", "r", "--quiet", cwd=tmp_path)
    *_, folder, following = said
    fastest = re.search(r"(?m)^fastest .*(?:\n {9}.*)*", "\n".join(said))[0]
    fastest = "fastest  " + " ".join(fastest.split()[1:])
    assert folder == "open     r, a file a case" and following == "next     mfbench plot r"
    *_, drawn, file, following = run("plot", "r", "--format", "png", "--figure", "throughput", cwd=tmp_path)
    assert drawn == fastest and following == "next     mfbench report r"
    assert (tmp_path / file.removeprefix("open     ")).is_file()
    said = re.split(r"; (?=[^;]* on )", fastest.removeprefix("fastest  "))
    found = heads(tmp_path / "r")
    assert len(said) == len(found)
    for head in found.values():
        assert any(agrees(words, head) for words in said), (head, said)


@pytest.mark.parametrize("name", COMMITTED)
def test_words_and_page_agree_on_committed_results(name):
    found = heads(REFERENCE / name)
    said = [winner_text(panel, Question()) for panel in make_view(load([REFERENCE / name])).panels]
    assert found and len(said) == len(found)
    for head in found.values():
        assert any(agrees(words, head) for words in said), (head, said)
