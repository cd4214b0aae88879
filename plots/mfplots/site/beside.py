"""Work that a forked process does while the report goes on."""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from mfplots.errors import PlotError

_FORK = get_context("fork")  # it has the results already


class Beside:
    """work() in a separate process; its messages appear at once."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._answer, given = _FORK.Pipe(duplex=False)
        self._process = _FORK.Process(target=_do, args=(work, given), daemon=True)
        self._process.start()
        given.close()

    def answer(self) -> Any:
        """Waits for it. Raises its error."""
        try:
            answer, error = self._answer.recv()
        except EOFError:
            self._process.join()
            raise PlotError(f"a process of the report ended with {self._process.exitcode}") from None
        self._process.join()
        if error:
            raise error
        return answer


def _do(work: Callable[[], Any], given: Connection) -> None:
    try:
        given.send((work(), None))
    except (PlotError, OSError) as error:
        given.send((None, error))
