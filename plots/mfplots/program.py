"""mfbench itself defines the meaning of a result: its computed values are read here, and it is asked about intervals
and targets."""

from __future__ import annotations

import atexit
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mfplots.errors import PlotError

ROOT = Path(__file__).resolve().parents[2]
NO_PROGRAM = ("there is no mfbench, which computes the values drawn: ./dev build makes one, MFBENCH names "
              "another")
# Statuses of cases, beside the footers'.
UNFINISHED = "unfinished"  # no footer yet
MISSING = "missing"        # listed in spec.json, no file yet
PENDING = (UNFINISHED, MISSING, "interrupted")  # the next `mfbench run` runs these

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
    """An answer of `mfbench ask` (harness/results/questions.hpp); numbers that are not finite are null."""
    talk = _talk(find())
    try:
        talk.stdin.write(json.dumps({"ask": question, **parts}) + "\n")
        talk.stdin.flush()
        answer = json.loads(talk.stdout.readline())
    except (OSError, ValueError) as error:
        _talk.cache_clear()
        raise PlotError(f"mfbench ask: {error}") from error
    if isinstance(answer, dict) and "error" in answer:
        raise PlotError(f"mfbench ask: {answer['error']}")
    return answer


@functools.cache
def _talk(program: str) -> subprocess.Popen[str]:
    talk = subprocess.Popen([program, "ask"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(talk.communicate)  # closes its input and waits, even if it has ended
    return talk


os.register_at_fork(after_in_child=_talk.cache_clear)  # each process has its own
