"""The picture of a timeline: which ranges it reads, and what it draws of them."""

import json
from pathlib import Path

import pytest

from mfplots.style import styled
from mfplots.timeline import draw_timeline, read_ranges

NAMES = [{"ph": "M", "pid": 1, "tid": tid, "name": "thread_name", "args": {"name": name}}
         for tid, name in ((1, "main"), (2, "stream"))]
EVENTS = [("B", 0, "a-case"), ("B", 100, "case"), ("B", 1000, "epoch"), ("B", 1500, "solve"), ("E", 4500, None), ("E", 5000, None),
          ("B", 6000, "watch"), ("E", 6010, None), ("E", 9900, None), ("E", 10000, None)]
ON_DEVICE = [(2000, 2000, "epoch"), (2000, 500, "gram"), (2500, 1500, "solve"), (6000, 1000, "epoch")]


@pytest.fixture
def trace(tmp_path):
    events = [{"ph": kind, "pid": 1, "tid": 1, "ts": ts, "name": name} for kind, ts, name in EVENTS]
    events += [{"ph": "X", "pid": 1, "tid": 2, "ts": ts, "dur": dur, "name": name} for ts, dur, name in ON_DEVICE]
    (tmp_path / "t.json").write_text(json.dumps(NAMES + events))
    return tmp_path / "t.json"


def test_ranges_have_their_depth(trace):
    found = {one[:3]: one[3:] for one in read_ranges(trace) if one.begin_ms != 6}
    assert found == {("main", 0, "a-case"): (0, 10), ("main", 1, "case"): (0.1, 9.8), ("main", 2, "epoch"): (1, 4),
                     ("main", 3, "solve"): (1.5, 3), ("stream", 0, "epoch"): (2, 2), ("stream", 1, "gram"): (2, 0.5),
                     ("stream", 1, "solve"): (2.5, 1.5)}


def test_each_range_is_a_bar_in_its_row(trace):
    with styled():
        page = draw_timeline(trace)
    (axes,) = page.axes
    bars = [(round(x0, 6), round(x1, 6), round((y0 + y1) / 2)) for bar in axes.collections
            for (x0, y0), (x1, y1) in [bar.get_paths()[0].get_extents().get_points()]]
    assert sorted(bars) == [(1, 5, 0), (1.5, 4.5, 1), (2, 2.5, 3), (2, 4, 2), (2.5, 4, 3), (6, 6.01, 0), (6, 7, 2)]
    assert page.title == "a-case"
    assert [label.get_text() for label in axes.get_yticklabels()] == ["main", "", "stream", ""]
    assert [handle.get_label() for handle in page.handles] == ["epoch", "solve", "gram"], "watch is too short to have a colour"


def test_the_committed_timeline_shows_the_phases_that_the_page_names():
    root = Path(__file__).resolve().parents[2]
    found = {one.name for one in read_ranges(root / "docs/examples/timeline.json")}
    assert {"load", "prepare", "epoch", "update_x", "update_theta", "work"} <= found
