"""Widths of a page: that of its content, or a column's, a page's or a slide's with their text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Width:
    """`inches`: of the whole figure; 0: what its content takes. `text`: sizes of all words in
    points; 0: each its own."""

    inches: float = 0.0
    text: float = 0.0
    title: float = 11.5
    small: float = 6.5
    lines: float = 1.6


WIDTHS = {"own": Width(),
          "column": Width(3.3, 8, 8, 8, 1.2),   # one of a page's two
          "page": Width(7.0, 8, 9, 8, 1.3),     # both
          "slide": Width(10.0, 12, 16, 9, 2.2)}
OWN = WIDTHS["own"]
