"""Starts the program, reads the JSON lines that it prints, and raises its errors as exceptions."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import warnings

from mfplots import program
from mfplots.errors import PlotError

FINE = (0, 1)  # exit codes of mfbench; 1: some cases failed, which are results like others and say so themselves


class ProgramError(PlotError):
    """The program refused. `code` is its exit code (docs/spec.md); the text is its message."""

    def __init__(self, code, said):
        super().__init__(said or f"mfbench ended with {code}")
        self.code = code


def environment(more=()):
    """The program runs figures and your own classes by this Python, unless PYTHON names another."""
    return {**os.environ, "PYTHON": os.environ.get("PYTHON") or sys.executable, **dict(more)}


def lines(*words, text="", env=(), hear=lambda line: None, hide=""):
    """The lines of JSON that `mfbench WORDS` prints. `hear` gets each as it comes; `text` is the program's input."""
    heard = []
    judge(*started(*words, text=text, env=env, hide=hide, hear=lambda line: (heard.append(json.loads(line)), hear(heard[-1]))))
    return heard


def started(*words, text="", env=(), cwd=None, hear, hide=""):
    """Its exit code and messages; `hear` gets what it prints, by lines. An interrupted call interrupts the program and waits
    for it. `hide`, a folder of ours, is cut out of its messages."""
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as given:
        given.write(text.encode())
        given.seek(0)
        # A separate session: Ctrl-C in a terminal reaches it once, from here.
        process = subprocess.Popen([program.find(), *map(str, words)], stdin=given, stdout=subprocess.PIPE, stderr=said,
                                   env=environment(env), cwd=cwd, start_new_session=True)
        try:
            with process.stdout:
                for line in process.stdout:
                    hear(line)
            code = process.wait()
        except BaseException:
            process.send_signal(signal.SIGINT)
            process.wait()
            raise
        said.seek(0)
        text = said.read().decode("utf-8", "replace")
        return code, text.replace(hide, "") if hide else text


def judge(code, said):
    """Raises ProgramError if the program refused; its warnings become Python's."""
    if code not in FINE:
        raise ProgramError(code, said.rpartition("error: ")[2].strip() or said.strip())
    for line in said.splitlines():
        if line.startswith("warning: "):
            warnings.warn(line.removeprefix("warning: "), stacklevel=4)
