"""What several tests ask of result files and of processes."""

import json
import pathlib
import time

import pytest


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def footers(folder):
    return [lines_of(path)[-1] for path in sorted(folder.glob("*.jsonl"))]


def cases_of(folder):
    """The lines of the cases that its spec lists, in the order of the spec."""
    return [lines_of(folder / f"{name}.jsonl") for name in json.loads((folder / "spec.json").read_text())["cases"]]


def children_of(pid):
    """Those that it has started, by their ids."""
    return [int(one) for one in
            pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_gone(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1][0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


def wait_for(condition, what="that", seconds=30):
    end = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > end:
            pytest.fail(f"no {what} within {seconds} s")
        time.sleep(0.005)
    return found
