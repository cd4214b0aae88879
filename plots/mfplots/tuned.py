"""How much was searched for each algorithm, from the headers of its cases: points, parameters, and whose point it has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mfplots.names import own_name

Json = Mapping[str, Any]
NUMBERS = ("no", "one", "two", "three", "four", "five")


def tuning_text(cases: Iterable[tuple[str, Json | None, Json]]) -> str:
    """'8 points each: over one parameter als_fused; over two fpsgd. als has the point of als_fused.' of (algorithm, "tuned"
    of its header or None, its parameters). Empty if none was tuned."""
    cases = list(cases)
    searched: dict[tuple[int, int], dict[str, None]] = {}
    for name, tuned, _ in cases:
        if tuned:
            searched.setdefault((tuned["trials"], len(tuned["search"]["over"])), {})[own_name(name)] = None
    if not searched:
        return ""
    points = {trials for trials, _ in searched}
    each = f"{points.pop()} points each: " if len(points) == 1 else ""
    groups = [("" if each else f"{trials} points ") + f"over {_counted(size)} {_and(names)}"
              for (trials, size), names in sorted(searched.items(), key=lambda item: item[0])]
    text = each + "; ".join(groups) + "."
    tuned_names = {name for name, tuned, _ in cases if tuned}
    rest: dict[str, dict[str, None]] = {}
    for name, tuned, params in cases:
        if not tuned and name not in tuned_names:
            rest.setdefault(_owner(params, cases), {})[own_name(name)] = None
    for owner, names in rest.items():
        have = "has" if len(names) == 1 else "have"
        text += f" {_and(names)} {have} the point of {own_name(owner)}." if owner else f" Not tuned: {_and(names)}."
    return text


def _owner(params: Json, cases: Iterable[tuple[str, Json | None, Json]]) -> str:
    """The algorithm whose point these parameters are, or ''."""
    return next((name for name, tuned, _ in cases
                 if tuned and all(params.get(key) == value for key, value in tuned["values"].items())), "")


def _counted(count: int) -> str:
    return f"{NUMBERS[count] if count < len(NUMBERS) else count} parameter{'' if count == 1 else 's'}"


def _and(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
