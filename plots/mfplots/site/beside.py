"""Work that forked processes do while the report goes on: they have its results already."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

_works: list[Callable[[], Any]] = []


def beside(*works: Callable[[], Any]) -> list[Future[Any]]:
    """Begins each in a process of its own, whose messages appear at once."""
    pool = ProcessPoolExecutor(len(works), get_context("fork"), _works.extend, (works,))
    return [pool.submit(_do, place) for place in range(len(works))]


def _do(place: int) -> Any:
    return _works[place]()
