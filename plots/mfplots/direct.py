"""Names at curves: each near its own curve, over no other curve and no other word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import Bbox

STEP = 5.0         # pixels between the points of a curve that are tried
GAP = 5.0          # pixels between a curve and its name
APART = 1.6        # how many times further away the next curve is
DARKER = 0.72      # of the colour of a curve, for letters
SIDES = [(h, v) for h in (0.0, 0.5, 1.0) for v in (0.0, 1.0)] + [(0.0, 0.5), (1.0, 0.5)]

Points = np.ndarray[Any, Any]


def place_labels(axes: Axes, lines: Sequence[Line2D], names: Sequence[str], size: float,
                 renderer: RendererBase) -> bool:
    """Writes all names, or does nothing and returns False if one of them finds no place."""
    frame = axes.get_window_extent(renderer)
    curves = [_dense(axes, line, frame) for line in lines]
    if any(len(curve) == 0 for curve in curves):
        return False
    taken = [text.get_window_extent(renderer) for text in axes.texts]
    texts = [axes.text(0, 0, name, transform=None, fontsize=size, color=_letters(line)) for name, line
             in zip(names, lines)]
    places = [_places(text, i, curves, frame, renderer) for i, text in enumerate(texts)]
    for i in sorted(range(len(texts)), key=lambda i: len(places[i])):
        box = next((box for box in places[i] if not any(box.padded(2).overlaps(other) for other in taken)), None)
        if box is None:
            for text in texts:
                text.remove()
            return False
        taken.append(box)
        _put(axes, texts[i], box)
    return True


LEVEL = "level"  # label of the words that stand at a line across the axes


def place_levels(axes: Axes, renderer: RendererBase) -> None:
    """Moves the words of each line to the end and side where they hide the fewest points of curves."""
    frame = axes.get_window_extent(renderer)
    curves = [_dense(axes, line, frame) for line in axes.lines if len(line.get_xdata()) > 2]
    points = np.concatenate([curve for curve in curves if len(curve)] or [np.empty((0, 2))])
    levels = [text for text in axes.texts if text.get_label() == LEVEL]
    others = [text.get_window_extent(renderer) for text in axes.texts if text not in levels]
    for text in levels:
        covered = {}
        for x, ha in ((0, "left"), (1, "right"), (0.5, "center")):
            for va in (text.get_va(), *({"top", "bottom"} - {text.get_va()})):
                _stand(text, x, ha, va)
                box = text.get_window_extent(renderer)
                inside = frame.y0 <= box.y0 and box.y1 <= frame.y1
                hidden = ((points > box.min) & (points < box.max)).all(axis=1).sum()
                covered[(x, ha, va)] = hidden + 1000 * (not inside or any(box.overlaps(other) for other in others))
        _stand(text, *min(covered, key=covered.__getitem__))
        others.append(text.get_window_extent(renderer))


def _stand(text: Any, x: float, ha: str, va: str) -> None:
    text.xy = (x, text.xy[1])
    text.set_ha(ha)
    text.set_va(va)
    text.set_position((3 * ((ha == "left") - (ha == "right")), 2 if va == "bottom" else -2))


def _dense(axes: Axes, line: Line2D, frame: Bbox) -> Points:
    """Closely spaced points of the curve inside the axes, in pixels."""
    points = axes.transData.transform(np.column_stack([np.asarray(d, float) for d in line.get_data()]))
    points = points[np.isfinite(points).all(axis=1)]
    parts = [np.linspace(a, b, max(2, int(np.hypot(*(b - a)) / STEP))) for a, b in zip(points, points[1:])]
    dense = np.concatenate([points, *parts]) if parts else points
    dense = dense[np.lexsort((dense[:, 1], dense[:, 0]))]
    inside = (dense >= frame.min - 1).all(axis=1) & (dense <= frame.max + 1).all(axis=1)
    return dense[inside]


def _places(text: Text, own: int, curves: Sequence[Points], frame: Bbox, renderer: RendererBase) -> list[Bbox]:
    """From the end of its curve backwards."""
    extent = text.get_window_extent(renderer)
    width, height = extent.width, extent.height
    others = [curve for i, curve in enumerate(curves) if i != own]
    found = []
    for x, y in curves[own][::-2]:
        for right, up in SIDES:
            box = Bbox.from_bounds(x - right * width + (0.5 - right) * 2 * GAP,
                                   y - (1 - up) * height + (up - 0.5) * 2 * GAP, width, height)
            if not (frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1):
                continue
            near = _distance(box, curves[own])
            if near >= 2 and all(_distance(box, curve) > max(APART * near, near + GAP) for curve in others):
                found.append(box)
    return found


def _distance(box: Bbox, points: Points) -> float:
    """From a box to the nearest of the points; 0 inside."""
    away = np.maximum(np.maximum(box.min - points, points - box.max), 0)
    return float(np.hypot(away[:, 0], away[:, 1]).min())


def _put(axes: Axes, text: Text, box: Bbox) -> None:
    """In fractions of the axes, so that it stays where it is in every format."""
    x, y = axes.transAxes.inverted().transform((box.x0, box.y0))
    text.set_transform(axes.transAxes)
    text.set_position((x, y))
    text.set_va("bottom")


def _letters(line: Line2D) -> tuple[float, ...]:
    return tuple(DARKER * channel for channel in to_rgb(line.get_color()))
