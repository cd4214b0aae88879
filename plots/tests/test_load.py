import math
import os
import subprocess
import sys

import pytest
from synthetic import Made, footer, header, write, write_lines

from mfplots import program
from mfplots.errors import PlotError
from mfplots.load import load


def test_frames_hold_what_the_files_say(tmp_path):
    case = Made(trace=[(0, 0.0, 2.0), (1, 1.5, None)])
    results = load([write(tmp_path / "run", [case])])
    row = results.cases.iloc[0]
    assert (row["algorithm"], row["dataset"], row["seed"]) == ("sgd_serial", "toy", 1)
    assert row["params"] == {"factors": 50} and row["clock_train_s"] == 1.5
    assert row["git_sha"] == "0123456789abcdef" and row["work_bytes"] == 800_000
    assert list(results.trace["epoch"]) == [0, 1]
    assert results.trace["train_s"].iloc[1] == 1.5
    assert math.isnan(results.trace["test_rmse"].iloc[1])


def test_damaged_line_is_named_with_file_and_line(tmp_path):
    path = write(tmp_path, [Made()]) / f"{Made().case_id}.jsonl"
    text = path.read_text().splitlines()
    text[2] = text[2][:40]
    path.write_text("\n".join(text) + "\n")
    with pytest.raises(PlotError, match=rf"{path.name}: line 3: found "):
        load([tmp_path])


def test_partial_files_are_never_read(tmp_path):
    write(tmp_path, [Made()])
    remains = tmp_path / f"{Made().case_id}.jsonl.partial-1"
    remains.write_text("damaged")
    assert len(load([tmp_path]).cases) == 1
    with pytest.raises(PlotError, match=r"partial-1: is neither; expected a folder of results"):
        load([remains])


def test_a_copied_result_is_no_further_seed(tmp_path):
    folder = write(tmp_path / "run", [Made()])
    (path,) = folder.glob("*.jsonl")
    (folder / "copy of it.jsonl").write_bytes(path.read_bytes())
    with pytest.raises(PlotError, match=r"copy of it\.jsonl.* are the same case; keep one of them"):
        load([folder])
    damaged = []
    assert len(load([folder], damaged).cases) == 1 and "the same case" in damaged[0]
    other = write(tmp_path / "again", [Made()])  # measured once more: another folder
    (folder / "copy of it.jsonl").unlink()
    assert len(load([folder, other]).cases) == 2


def test_folders_below_a_folder_count_and_without_any_result_it_is_said(tmp_path):
    write(tmp_path / "runs" / "quickstart", [Made()])
    assert len(load([tmp_path / "runs"]).cases) == 1
    with pytest.raises(PlotError, match="no such file or folder"):
        load([tmp_path / "absent"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(PlotError, match="no case of .*empty has begun yet"):
        load([tmp_path / "empty"])


def test_the_program_is_the_named_one_or_it_is_said_how_to_get_one(tmp_path, monkeypatch):
    monkeypatch.setenv("MFBENCH", str(tmp_path / "absent"))
    with pytest.raises(PlotError, match="MFBENCH: .*absent is no program"):
        program.find()
    monkeypatch.delenv("MFBENCH")
    monkeypatch.setattr(program, "ROOT", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(program.sys, "executable", str(tmp_path / "python3"))
    with pytest.raises(PlotError, match="./dev build"):
        program.find()
    for name in ("bin/mfbench", "build/old/mfbench", "build/new/mfbench"):  # the last of them
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("#!/bin/sh\necho oh no >&2\nexit 3\n")
        (tmp_path / name).chmod(0o755)
        os.utime(tmp_path / name, (1, 1) if "old" in name else None)
        assert program.find().endswith("bin/mfbench" if "bin" in name else name)
    with pytest.raises(PlotError, match="^oh no$"):
        list(program.lines("summarize"))
    with pytest.raises(PlotError, match="mfbench ask"):
        program.ask("ratio", of=[1], over=[1])


def test_a_program_that_ended_early_says_nothing_at_exit():
    asks = "questions, _ = program._talk('false'); program._own.process.wait(); questions.write(b'{}\\n')"
    command = [sys.executable, "-c", f"from mfplots import program; {asks}"]
    where = {**os.environ, "PYTHONPATH": str(program.ROOT / "plots")}
    done = subprocess.run(command, capture_output=True, text=True, env=where)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_case_whose_data_did_not_load_is_still_a_result(tmp_path):
    case = Made(trace=(), status="error", reason="toy: 3 lines are damaged")
    path = write_lines(tmp_path / "a.jsonl", [header(case, dataset={"name": "toy"}), footer(case)])
    row = load([path]).cases.iloc[0]
    assert row["status"] == "error" and row["content_hash"] is None
