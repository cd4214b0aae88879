"""How much was searched for each algorithm, from the headers of its cases: points, parameters, and the source of its point."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mfplots.names import own_name

Json = Mapping[str, Any]
NUMBERS = ("no", "one", "two", "three", "four", "five")


def tuning_text(cases: Iterable[tuple[str, Json | None, Json]]) -> str:
    """'8 points each: over one parameter als_fused; over two fpsgd. als has the point of als_fused.' of (algorithm, "tuned"
    of its header or None, its parameters). Empty if none was tuned."""
    searched: dict[tuple[int, int], dict[str, None]] = {}
    points: dict[str, Json] = {}
    left: dict[str, Json] = {}
    for name, tuned, params in cases:
        if tuned:
            searched.setdefault((tuned["trials"], len(tuned["search"]["over"])), {})[own_name(name)] = None
            points.setdefault(name, tuned["values"])
        else:
            left.setdefault(name, params)
    if not searched:
        return ""
    each = len({trials for trials, _ in searched}) == 1
    groups = [f"{'' if each else f'{trials} points '}over {NUMBERS[size]} parameter{'s' if size > 1 else ''} {_and(names)}"
              for (trials, size), names in sorted(searched.items(), key=lambda item: item[0])]
    text = (f"{min(searched)[0]} points each: " if each else "") + "; ".join(groups) + "."
    rest: dict[str, list[str]] = {}
    for name, params in left.items():
        if name not in points:  # which algorithm has the point of these parameters?
            owner = next((one for one, values in points.items() if values.items() <= params.items()), "")
            rest.setdefault(owner, []).append(own_name(name))
    for owner, names in rest.items():
        have = "has" if len(names) == 1 else "have"
        text += f" {_and(names)} {have} the point of {own_name(owner)}." if owner else f" Not tuned: {_and(names)}."
    return text


def _and(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
