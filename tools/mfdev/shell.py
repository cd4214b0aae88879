"""Shared by the commands: the path of the repository, messages, calls of programs."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).absolute().parents[2]  # not resolved: tests make trees of links
SELF = [sys.executable, "-B", "-m", "mfdev"]


class Failure(Exception):
    """Ends the command with its message."""


class Ended(Exception):
    """A program ended with this code, after it has said why."""

    def __init__(self, code):
        super().__init__(f"ended with {code}")
        self.code = code


def say(text, file=None):
    print(f"== {text}", file=file or sys.stdout, flush=True)


def jobs():
    return int(os.environ.get("JOBS") or len(os.sched_getaffinity(0)))


def have_program(name):
    return shutil.which(name) is not None


def output_of(*command):
    """Standard output; empty if it fails or is missing."""
    try:
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout if done.returncode == 0 else ""


def status_of(*command, **options):
    sys.stdout.flush()
    environment = {**os.environ, **options.pop("env", {})}
    return subprocess.run([*map(str, command)], env=environment, check=False, **options).returncode


def run(*command, **options):
    code = status_of(*command, **options)
    if code != 0:
        raise Ended(code if code > 0 else 128 - code)


class Beside:
    """A program in the background; its output comes when it is waited for, and it ends with this one."""

    def __init__(self, *command, **options):
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [*map(str, command)], stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT,
            env={**os.environ, **options.pop("env", {})}, start_new_session=True, **options)

    def __enter__(self):
        return self

    def wait(self):
        """Its exit code."""
        code = self.process.wait()
        self.log.seek(0)
        sys.stdout.flush()
        sys.stdout.buffer.write(self.log.read())
        sys.stdout.flush()
        return code

    def __exit__(self, *_):
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGTERM)
        self.log.close()

