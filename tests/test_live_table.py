"""The live line of `mfbench run` on terminals of several widths: the time left from the first
epoch on, never wider than the terminal. Its frames are recorded (tests/golden/live-*.txt); terminals
without control sequences and pipes get the plain lines of a log."""

import json
import re

import pytest

from test_golden import anonymous, check, update  # noqa: F401  (a fixture)
from test_terminal import on_terminal

SPEC = {"name": "live", "datasets": [{"like": "ml-100k", "scale": 0.05, "seed": 3}],
        "stop": {"epochs": 4}, "algorithms": [{"name": "ruler", "sleep_ms": 80}]}
FRAME = "\r\x1b[K"


def frames(text):
    """What stood on the line, one after another, times and rates made anonymous."""
    live = text.split("\r\n\r\n")[0].split(FRAME)[1:-1]  # the last is the line that stays
    return [re.sub(r"left [0-9].*", "left TIME", re.sub(r"left \?.*", "left ?", one)) for one in live]


def run(mfbench, folder, columns, spec=None, **environment):
    (folder / "s.json").write_text(json.dumps(spec or SPEC))
    return on_terminal(mfbench.program, ["run", "s.json", "--out", f"out-{columns}"], folder,
                       {**mfbench.environment(), "TERM": "xterm", **environment}, columns=columns)


@pytest.mark.parametrize("columns", [40, 80, 132])
def test_frames(mfbench, tmp_path, columns, update):  # noqa: F811
    text = run(mfbench, tmp_path, columns)
    shown = frames(text)
    assert all(len(one.rstrip()) < columns for one in text.split(FRAME)[1:-1]), "a line wraps"
    check(f"live-{columns}.txt", anonymous("\n".join(shown)).replace("\r", "") + "\n", update)


def test_time_left_is_there_from_the_first_epoch_also_where_it_is_not_evaluated(mfbench, tmp_path):
    text = run(mfbench, tmp_path, 100, {**SPEC, "evaluate": {"every": 4}})
    shown = [one for one in frames(text) if "epoch" in one]
    told = {re.search(r"epoch (\d)/4", one)[1]: re.search(r"left (\S+)", one)[1] for one in shown}
    assert told == {"0": "?", "1": "TIME", "2": "TIME", "3": "TIME", "4": "TIME"}


def test_a_limit_of_time_counts(mfbench, tmp_path):
    spec = {**SPEC, "stop": {"epochs": 100000, "train_seconds": 0.5}}
    shown = [one for one in frames(run(mfbench, tmp_path, 100, spec)) if " epoch " in one]
    assert all("left TIME" in one for one in shown[1:]), shown


@pytest.mark.parametrize("way", ["dumb", "pipe"])
def test_without_control_sequences_there_are_lines_of_a_log(mfbench, tmp_path, way):
    if way == "dumb":
        text = run(mfbench, tmp_path, 80, TERM="dumb").replace("\r\n", "\n")
    else:
        done = mfbench("run", "s.json", "--out", "out", cwd=tmp_path, code=0, spec=SPEC)
        text = done.stdout
    assert "\r" not in text and "\x1b" not in text
    first = text.splitlines()[0]
    assert first.startswith("[1/1] ruler-") and " completed " in first
