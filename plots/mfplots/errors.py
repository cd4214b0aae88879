"""Errors that are messages to the user, and the nearest-name hint they carry."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class PlotError(Exception):
    """Something the user can mend: a damaged file, an unknown key, a missing baseline."""


class NotDrawable(PlotError):
    """The data do not allow this figure: left out of the defaults, an error if asked for."""


def hint(word: str, known: Iterable[str]) -> str:
    """'; did you mean "x"?' or, with nothing near, the list of known words."""
    words = sorted(known)
    near = difflib.get_close_matches(word, words, n=1, cutoff=0.5)
    return f'; did you mean "{near[0]}"?' if near else f"; known: {', '.join(words)}"
