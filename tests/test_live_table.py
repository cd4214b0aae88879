"""What `mfbench run` shows: a line a case, cut to the terminal and never wrapped, and below it one
of the run, with its time left from the first epoch on. The frames of that are recorded
(tests/golden/live-80.txt). Terminals without control sequences and pipes get whole lines and no
other."""

import json
import re

import pytest

from test_golden import anonymous, check, update  # noqa: F401  (a fixture)
from test_terminal import PLAIN, RED, YELLOW, on_terminal

SPEC = {"name": "live", "datasets": [{"like": "ml-100k", "scale": 0.05, "seed": 3}],
        "stop": {"epochs": 4}, "algorithms": [{"name": "ruler", "sleep_ms": 80}]}
RACE = {**SPEC, "seeds": [1, 2], "target_rmse": 1.23, "algorithms": [
    {"name": "ruler", "sleep_ms": 0, "offset": [1, 2.5], "decay": [0.75, 0.5]}]}
FRAME = "\r\x1b[K"


def frames(text):
    """What stood on the line of the run, one after another, times made anonymous."""
    live = text.split("\r\n\r\n")[0].split(FRAME)[1:-1]  # the last is the line that stays
    return [re.sub(r"([#-]) \S.*?, left (\?|.*?)(?=  |…|$)",
                   lambda found: f"{found[1]} TIME, left {'?' if found[2] == '?' else 'TIME'}", one)
            for one in live]


def lines_of_cases(text):
    """Those that stay, without colour."""
    return [re.sub(r"\x1b\[\d*m", "", line.split(FRAME)[-1])
            for line in text.split("\r\n") if re.search(r"\[ *\d+/\d+\]", line)]


def run(mfbench, folder, columns, spec=None, *options, **environment):
    (folder / "s.json").write_text(json.dumps(spec or SPEC))
    return on_terminal(mfbench.program, ["run", "s.json", "--out", f"out-{columns}", *options], folder,
                       {**mfbench.environment(), "TERM": "xterm", **environment}, columns=columns)


def test_frames(mfbench, tmp_path, update):  # noqa: F811
    text = run(mfbench, tmp_path, 80)
    shown = frames(text)
    assert all(len(one.rstrip()) < 80 for one in text.split(FRAME)[1:-1]), "a line wraps"
    # Where the cut is depends on how long the times before it are.
    shown = [re.sub(r"(left (TIME|\?)).*…$", r"\1…", one) for one in shown]
    check("live-80.txt", anonymous("\n".join(shown)).replace("\r", "") + "\n", update)


@pytest.mark.parametrize("more, label, at_end", [
    ({"algorithms": [{"name": "sgd_serial", "factors": 4}]}, "validation_rmse", "rmse"),
    ({"datasets": [{"like": "ml-100k", "scale": 0.05, "implicit": {"min_rating": 1}}], "algorithms": [{"name": "popular"}]},
     "validation_ndcg_100", "ndcg_100"),
])
def test_the_test_part_is_shown_at_the_end_only_where_there_is_a_validation_part(mfbench, tmp_path, more, label, at_end):
    text = run(mfbench, tmp_path, 200, {**SPEC, "split": {"holdout": 0.1, "validation": 0.1}, **more})
    training = [one for one in frames(text) if "epoch " in one]
    assert training and all(re.search(rf"  {label} ", one) for one in training), training
    assert all(re.search(rf"  {at_end} +\d", line) for line in lines_of_cases(text)[-1:]), text


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_lines_of_cases_fit_and_say_what_differs(mfbench, tmp_path, columns):
    text = run(mfbench, tmp_path, columns, RACE)
    shown = lines_of_cases(text)
    assert len(shown) == 8 and all(len(line) < columns for line in shown), shown
    assert all(re.match(rf"\[{k}/8\] ruler s[12]", line) for k, line in enumerate(shown, 1)), shown
    assert all(line.endswith(("  completed", "  contended")) for line in shown), shown
    assert not re.search(r"-[0-9a-f]{10}\b", text), "a hash"
    rest = text[text.rindex(FRAME):].split("\r\n")[1:]  # tables and what they mean
    assert len(rest) > 9 and all(len(line) < columns for line in rest), rest
    if columns >= 80:
        assert any(re.match(r"algorithm .* answer to 1.23  file to 1.23  status$", line) for line in rest), rest
        assert all(re.search(r"  rmse +\d\.\d{4}  to 1\.23 +(in +[\d.]+ .?s|never)  ", line)
                   for line in shown), shown
        assert len({line.rindex("  ") for line in shown}) == 1, "columns stand below each other"
    if columns == 120:
        assert "ruler s2 offset=2.5 decay=0.5 " in shown[-1] or "ruler s2 decay=0.5 offset=2.5 " in shown[-1]
    else:
        assert any("…" in line for line in shown)


def seconds(text):
    number, unit = text.split()
    return float(number) * {"us": 1e-6, "ms": 1e-3, "s": 1}[unit]


@pytest.mark.parametrize("option", [[], ["--apart"], ["--apart", "--rerun"]])
def test_the_time_left_is_that_of_the_run(mfbench, tmp_path, option):
    """Three cases of at least 0.4 s: in the second's first epochs there is more left than at the end."""
    text = run(mfbench, tmp_path, 100, {**SPEC, "seeds": [1, 2, 3]}, *option)
    left = {(int(case), int(epoch)): seconds(left) for case, left, epoch in
            re.findall(r"\[(\d)/3\] [#-]{10} [^,]*, left ([\d.]+ \w+)  epoch (\d)/4", text)}
    bars = re.findall(r"\[(\d)/3\] (#*)-* ", text)
    assert left[2, 4] > 0.25 and left[2, 1] > left[3, 4], left
    assert ("2", "###") in bars and ("3", "######") in bars and ("3", "##########") in bars


def test_a_case_that_failed_says_why_in_red(mfbench, tmp_path):
    data = tmp_path / "bad.csv"
    data.write_text("user,item,rating\n1,1,3\n1,2,three\n")
    spec = {"name": "bad", "datasets": [{"path": str(data)}], "algorithms": ["sgd_serial"]}
    (tmp_path / "s.json").write_text(json.dumps(spec))
    for columns in (80, 120):
        text = on_terminal(mfbench.program, ["run", "s.json", "--rerun", "--out", "out"], tmp_path,
                           {**mfbench.environment(), "TERM": "xterm"}, columns=columns, code=3)
        line, = lines_of_cases(text)
        assert len(line) < columns and re.match(r"\[1/1\] sgd_serial +error: ", line), line
        assert f"{RED}error: " in text
    text = on_terminal(mfbench.program, ["run", "s.json", "--rerun", "--out", "out"], tmp_path,
                       {**mfbench.environment(), "TERM": "xterm", "NO_COLOR": "1"}, code=3)
    assert not {RED, YELLOW, PLAIN} & set(re.findall(r"\x1b\[\d*m", text))


@pytest.mark.parametrize("way", ["dumb", "pipe"])
def test_without_control_sequences_there_are_whole_lines(mfbench, tmp_path, way):
    if way == "dumb":
        text = run(mfbench, tmp_path, 80, RACE, TERM="dumb").replace("\r\n", "\n")
    else:
        done = mfbench("run", "s.json", "--out", "out", cwd=tmp_path, code=0, spec=RACE)
        text = done.stdout
    assert "\r" not in text and "\x1b" not in text and "left" not in text and "#" not in text
    shown = text.splitlines()[:8]
    assert [line.split("]")[0] for line in shown] == [f"[{k}/8" for k in range(1, 9)]
    assert all("ruler s" in line and "decay=" in line and "…" not in line for line in shown)
