"""The part of the command in a result's file that belongs to the measurement."""

from __future__ import annotations

import shlex

OF_THE_PLACE = ("--out", "--save-model", "--trace", "--quiet", "--json", "--rerun", "--retry", "--shard")
WITH_A_VALUE = ("--out", "--save-model", "--trace", "--profile", "--profile-warmup", "--shard")


def options_of(command_line: str) -> tuple[str, ...]:
    """Before and after the spec, without options of the place that it ran in."""
    words = shlex.split(command_line)[2:]
    kept: list[str] = []
    while words:
        name, equals, _ = words[0].partition("=")
        count = 2 if name in WITH_A_VALUE and not equals else 1
        if name.startswith("--") and name not in OF_THE_PLACE:
            kept += words[:count]
        words = words[count:]
    return tuple(kept)
