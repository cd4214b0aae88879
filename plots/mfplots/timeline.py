"""The picture of a timeline, as `mfbench run --trace` writes it: a row for each depth of a thread or stream."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.patches import Patch

from mfplots.page import Page
from mfplots.palette import COLOURS

ROW, SEEN, OTHER = 0.2, 0.02, "#BBBBBB"  # inches a row


class Range(NamedTuple):
    track: str
    depth: int  # how many ranges of its track are around it
    name: str
    begin_ms: float
    ms: float


def read_ranges(trace: Path) -> list[Range]:
    tracks: dict[Any, str] = {}
    around: defaultdict[Any, list[dict[str, Any]]] = defaultdict(list)
    found = []
    for event in json.loads(trace.read_text(encoding="utf-8")):
        key, kind = (event["pid"], event["tid"]), event["ph"]
        if kind == "M" and event["name"] == "thread_name":
            tracks[key] = event["args"]["name"]
        elif kind == "X":
            around[key] = [one for one in around[key] if event["ts"] < one["ts"] + one["dur"]]
            found.append(Range(tracks[key], len(around[key]), event["name"], event["ts"] / 1e3, event["dur"] / 1e3))
        elif kind == "E":
            begun = around[key].pop()
            found.append(Range(tracks[key], len(around[key]), begun["name"], begun["ts"] / 1e3, (event["ts"] - begun["ts"]) / 1e3))
        if kind in "BX":
            around[key].append(event)
    return found


def draw_timeline(trace: Path) -> Page:
    """Its title is the longest range, the case. Names of less than `SEEN` of it have no colour of their own."""
    case, *found = sorted(read_ranges(trace), key=lambda one: -one.ms)
    found = [one for one in found if one.name != "case"]
    rows = sorted({(one.track, one.depth) for one in found})
    seen = dict.fromkeys(one.name for one in found if one.ms >= SEEN * case.ms)
    colours = dict(zip(seen, COLOURS))
    page = Page(case.name, rows=[ROW * len(rows)])
    (axes,) = page.axes
    for one in found:
        axes.broken_barh([(one.begin_ms - case.begin_ms, one.ms)], (rows.index((one.track, one.depth)) - 0.45, 0.9),
                         facecolor=colours.get(one.name, OTHER))
    axes.set_yticks(range(len(rows)), ["" if (track, depth - 1) in rows else track for track, depth in rows])
    axes.set(xlabel="ms", xlim=(0, case.ms), ylim=(len(rows) - 0.5, -0.5))
    page.handles = [Patch(color=colour, label=name) for name, colour in colours.items()]
    return page
