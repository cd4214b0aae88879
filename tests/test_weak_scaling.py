"""The table of weak scaling in docs/several-gpus.md is that of the model, and the model that of what was
measured."""

import importlib.util
import pathlib
import subprocess
import sys

import pytest

TOOL = pathlib.Path(__file__).resolve().parent.parent / "docs/tools/weak_scaling.py"


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("weak_scaling", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def loaded(tool):
    return tool.load()


def test_the_page_has_the_table_of_the_model():
    assert subprocess.run([sys.executable, TOOL, "--check"], check=False).returncode == 0


def test_another_table_is_found(tool, loaded):
    page = tool.PAGE.read_text()
    text = tool.table(loaded[0])
    assert tool.replaced(page, text) == page
    assert tool.replaced(page, text.replace("| 1 |", "| 2 |")) != page


def test_the_link_is_that_of_the_measured_exchanges(tool):
    points = tool.measured_links(tool.LINKS.read_text())
    assert len(points) == 5
    latency, bandwidth = tool.fit_link(points)
    for size, seconds in points:
        assert latency + 0.75 * size / bandwidth == pytest.approx(seconds, rel=0.12)
    exact = [(size, 20e-6 + 0.75 * size / 300e9) for size, _ in points]
    assert tool.fit_link(exact) == (pytest.approx(20e-6), pytest.approx(300e9))


def test_the_model_has_the_measured_times_of_one_two_and_four(loaded):
    model, runs = loaded
    assert model.weak_s(1) == pytest.approx(runs[1][2])
    for count in (2, 4):  # the same problem: strong scaling, which was measured
        assert model.iteration_s(count, weak=False) == pytest.approx(runs[count][2], rel=0.05)


def test_what_the_network_costs(tool, loaded):
    model, _ = loaded
    times = [model.weak_s(count) for count in tool.COUNTS]
    assert times == sorted(times)
    # Nothing is faster than what has to arrive.
    users, _ = model.sizes
    received = users * 64 * tool.ROW_BYTES * 63 / 64
    assert model.weak_s(64) > received / tool.NETWORK
    assert model.weak_s(64, of_a_machine=64) < model.weak_s(64)
    assert tool.half_step_s(1, 0.5, 1e9, model.link) == 0.5
