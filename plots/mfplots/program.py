"""mfbench itself defines the meaning of a result: its computed values are read here, and it is asked about intervals
and targets."""

from __future__ import annotations

import itertools
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from mfplots.errors import PlotError

ROOT = Path(__file__).resolve().parents[2]
NO_PROGRAM = ("there is no mfbench, which computes the values drawn: ./dev build makes one, MFBENCH names another")
# Statuses of cases, beside the footers'.
UNFINISHED = "unfinished"  # no footer yet
MISSING = "missing"        # listed in spec.json, no file yet
PENDING = (UNFINISHED, MISSING, "interrupted")  # the next `mfbench run` runs these

ANSWER_S = 60  # a question takes less than a millisecond

Json = dict[str, Any]


def find() -> str:
    """MFBENCH, or the one that was built last, or was installed with this file, or is on the PATH. Raises PlotError."""
    if named := os.environ.get("MFBENCH"):
        if not shutil.which(named):
            raise PlotError(f"MFBENCH: {named} is no program")
        return named
    built = sorted(ROOT.glob("build/*/mfbench"), key=lambda path: path.stat().st_mtime) or \
        [*ROOT.parents[1].glob("bin/mfbench")]
    found = str(built[-1]) if built else shutil.which("mfbench", path=os.pathsep.join(
        [str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
    if not found:
        raise PlotError(NO_PROGRAM)
    return found


def lines(*arguments: str | Path) -> Iterator[Json]:
    """The output of `mfbench ARGUMENTS`, a line of JSON each. Raises PlotError with its message if it refused."""
    with tempfile.TemporaryFile() as said, subprocess.Popen(
            [find(), *map(str, arguments)], stdout=subprocess.PIPE, stderr=said, pipesize=1 << 20) as run:
        for line in run.stdout:
            yield json.loads(line)
        if run.wait() > 1:
            said.seek(0)
            words = said.read().decode("utf-8", "replace").strip()
            raise PlotError(words.rpartition("error: ")[2] or f"mfbench ended with {run.returncode}")


def text(*arguments: str | Path) -> str:
    """The whole output of `mfbench ARGUMENTS`. Raises PlotError as above."""
    done = subprocess.run([find(), *map(str, arguments)], capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise PlotError(done.stderr.strip().rpartition("error: ")[2] or f"mfbench ended with {done.returncode}")
    return done.stdout


def ask(question: str, **parts: Any) -> Any:
    """An answer of `mfbench ask` (harness/results/questions.hpp); numbers that are not finite are null. A program serves
    one thread of one process, so that no answer is another's: a new one for each question would take 6 ms."""
    questions, answers = _talk(find())
    number = next(_numbers)
    try:
        questions.write(json.dumps({"ask": question, "id": number, **parts}).encode() + b"\n")
        questions.flush()
        waits = select.poll()
        waits.register(answers, select.POLLIN)
        if not waits.poll(1000 * ANSWER_S):
            raise OSError(f"no answer within {ANSWER_S} s")
        said = json.loads(answers.readline())
        if said.get("id") != number:
            raise OSError(f"found the answer to question {said.get('id')}, expected that to {number}")
    except BaseException as error:  # an answer may still be in the pipe, also after Ctrl-C
        _own.process.kill()
        del _own.of
        if isinstance(error, (OSError, ValueError)):
            raise PlotError(f"mfbench ask: {error}") from error
        raise
    if "error" in said:
        raise PlotError(f"mfbench ask: {said['error']}")
    return said["answer"]


_numbers = itertools.count(1)
_own = threading.local()


def _talk(program: str) -> tuple[IO[bytes], IO[bytes]]:
    """Its pipes close with their thread, which ends it. Ctrl-C in a terminal does not reach its session."""
    if getattr(_own, "of", None) != (program, os.getpid()):
        _own.process = subprocess.Popen([program, "ask"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        _own.of, _own.pipes = (program, os.getpid()), (_own.process.stdin, _own.process.stdout)
        _own.process.stdin = _own.process.stdout = None  # it outlives its thread until it is waited for
    return _own.pipes
