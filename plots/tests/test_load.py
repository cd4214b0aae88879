import json
import lzma
import math

import pandas as pd
import pytest
from synthetic import Made, footer, header, lines, trace_line, write, write_lines

from mfplots import stored
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
    with pytest.raises(PlotError, match=rf"{path.name}:3: damaged line: .*; the same `mfbench run`"):
        load([tmp_path])


def test_nan_is_no_number_of_a_result_file(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", lines(Made()))
    path.write_text(path.read_text().replace('"test_rmse": 0.9', '"test_rmse": NaN'))
    with pytest.raises(PlotError, match=r"a\.jsonl:4: damaged line: NaN is no JSON"):
        load([path])


def test_text_in_place_of_a_number_is_named(tmp_path):
    line = {**trace_line(Made(), 1, 1.0, 0.9), "train_s": "1.0"}
    path = write_lines(tmp_path / "a.jsonl", [header(Made()), line])
    with pytest.raises(PlotError, match=r"a\.jsonl:2: train_s: found '1\.0', expected a number"):
        load([path])


@pytest.mark.parametrize("missing", ["epoch", "train_s", "test_rmse"])
def test_missing_keys_of_a_trace_line_are_named(tmp_path, missing):
    line = trace_line(Made(), 1, 1.0, 0.9)
    del line[missing]
    path = write_lines(tmp_path / "a.jsonl", [header(Made()), line])
    with pytest.raises(PlotError, match=rf"a\.jsonl:2: damaged line: no {missing}"):
        load([path])


def test_other_schema_versions_are_refused(tmp_path):
    path = write_lines(tmp_path / "new.jsonl", [header(Made(), schema_version=2)])
    with pytest.raises(PlotError, match=r"new\.jsonl:1: schema_version 2, .* knows 1 only"):
        load([path])


def test_unknown_types_and_statuses_are_refused(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", [header(Made()), {"type": "remark"}])
    with pytest.raises(PlotError, match=r"a\.jsonl:2: unknown type 'remark'"):
        load([path])
    write_lines(path, [header(Made()), {"type": "footer", "status": "fine"}])
    with pytest.raises(PlotError, match=r"a\.jsonl:2: unknown status 'fine'"):
        load([path])


def test_nothing_may_follow_the_footer(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", [*lines(Made()), trace_line(Made(), 3, 3.0, 0.8)])
    with pytest.raises(PlotError, match=r"a\.jsonl:6: a line after the footer"):
        load([path])


def test_a_trace_without_header_is_refused(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", [trace_line(Made(), 0, 0.0, 1.0)])
    with pytest.raises(PlotError, match=r"a\.jsonl:1: expected the header"):
        load([path])


def test_a_file_without_footer_is_unfinished(tmp_path):
    results = load([write(tmp_path, [Made(status=None)])])
    assert list(results.cases["status"]) == ["unfinished"]
    assert len(results.trace) == 3


def test_a_line_still_being_written_is_left_out(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", lines(Made(status=None)))
    path.write_text(path.read_text() + '{"type": "trace", "epo')
    assert len(load([path]).trace) == 3


def test_partial_files_are_never_read(tmp_path):
    write(tmp_path, [Made()])
    remains = tmp_path / f"{Made().case_id}.jsonl.partial-1"
    remains.write_text("damaged")
    assert len(load([tmp_path]).cases) == 1
    with pytest.raises(PlotError, match=r"partial-1: the remains of a killed run"):
        load([remains])


def test_spec_json_decides_which_cases_count(tmp_path):
    wanted, absent, edited_away = Made(seed=1), Made(seed=2), Made(seed=3)
    write(tmp_path, [wanted, edited_away])
    spec = {"cases": [wanted.case_id, absent.case_id]}
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    cases = load([tmp_path]).cases
    assert list(cases["case_id"]) == [wanted.case_id, absent.case_id]
    assert list(cases["status"]) == ["completed", "missing"]


def test_spec_json_without_cases_is_an_error(tmp_path):
    write(tmp_path, [Made()])
    (tmp_path / "spec.json").write_text("{}")
    with pytest.raises(PlotError, match=r'spec\.json: expected an object whose "cases"'):
        load([tmp_path])


def test_the_same_file_counts_once(tmp_path):
    folder = write(tmp_path, [Made()])
    assert len(load([folder, folder / f"{Made().case_id}.jsonl"]).cases) == 1


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


def test_folders_without_results_say_where_results_are(tmp_path):
    write(tmp_path / "runs" / "quickstart", [Made()])
    with pytest.raises(PlotError, match=r"no result files; its folders with results: quickstart"):
        load([tmp_path / "runs"])
    with pytest.raises(PlotError, match="no such file or folder"):
        load([tmp_path / "absent"])


def test_a_case_whose_data_did_not_load_is_still_a_result(tmp_path):
    case = Made(trace=(), status="error", reason="toy: 3 lines are damaged")
    path = write_lines(tmp_path / "a.jsonl", [header(case, dataset={"name": "toy"}), footer(case)])
    row = load([path]).cases.iloc[0]
    assert row["status"] == "error" and row["content_hash"] is None


def packed(folder):
    """The folder's cases and its spec.json as one file in its place."""
    head = json.loads((folder / "spec.json").read_text()) if (folder / "spec.json").exists() else {}
    text = json.dumps({"type": "spec", **head}) + "\n"
    text += "".join(path.read_text() for path in sorted(folder.glob("*.jsonl")))
    path = folder.with_name(folder.name + ".jsonl.xz")
    path.write_bytes(lzma.compress(text.encode()))
    for old in folder.iterdir():
        old.unlink()
    return path


@pytest.mark.parametrize("spec", [True, False])
def test_a_packed_folder_is_read_as_the_folder(tmp_path, spec):
    folder = write(tmp_path / "run", [Made(), Made(seed=2), Made(status=None, seed=3)], spec=spec)
    before = load([folder])
    path = packed(folder)
    for place in (folder, path):
        after = load([place])
        pd.testing.assert_frame_equal(before.cases, after.cases)
        pd.testing.assert_frame_equal(before.trace, after.trace)
    folder.rmdir()
    assert len(load([folder, path]).cases) == 3, "each once"
    write(folder, [Made(seed=4)])
    assert list(load([folder]).cases["seed"]) == [4], "a folder with results stands for itself"


@pytest.mark.parametrize("change, why", [
    (lambda data: data[:-9], "is cut off"), (lambda data: b"PK" + data, "no packed results"),
    (lambda data: data + b"more", "behind its end"), (lambda data: lzma.compress(b"{}\n"), "expected the spec"),
    (lambda data: lzma.compress(bytes(9 << 20)), "over 1 GiB")])
def test_a_damaged_packed_file_is_named(tmp_path, change, why, monkeypatch):
    monkeypatch.setattr(stored, "MOST_TEXT", 8 << 20)
    path = packed(write(tmp_path / "run", [Made()], spec=True))
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(PlotError, match=f"run.jsonl.xz:.* ?{why}"):
        load([path])
