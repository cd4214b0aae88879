"""`mfbench export`: every value of every committed result, exit codes, parquet, and the worked example
of docs/results.md."""

import csv
import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from number_sources import PACKED, lines_of, packed_below, unpacked

from mfdev.pack import pack
from test_docs import blocks

ROOT = pathlib.Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "results" / "reference"
PAGE = ROOT / "docs" / "results.md"
SECTIONS = ("params.", "schedule.", "init.", "stop.", "evaluate.", "split.", "facts.", "metrics.",
            "phases.")


def unpack_quickstart(folder):
    """Into `run` of the folder; the ids of its cases."""
    shutil.copy(REFERENCE / "epyc-2" / f"quickstart{PACKED}", folder / f"run{PACKED}")
    pack(["--unpack", str(folder / f"run{PACKED}")])
    return json.loads((folder / "run" / "spec.json").read_text())["cases"]


def flat(value, prefix):
    """{column: value} of what stands below a key."""
    if not isinstance(value, dict):
        return {prefix: value}
    return {name: leaf for key, inner in value.items()
            for name, leaf in flat(inner, f"{prefix}.{key}" if prefix else key).items()}


def expected_case(header, footer):
    """The columns by docs/results.md."""
    header, footer = dict(header), dict(footer)
    algorithm, dataset = dict(header.pop("algorithm")), dict(header.pop("dataset"))
    row = {"algorithm": algorithm.pop("name"), "dataset": dataset.pop("name")}
    row |= flat({f"work_{key}": value for key, value in header.pop("work_per_epoch").items()}, "")
    row |= flat({f"clock_{key}": value for key, value in footer.pop("clocks").items()}, "")
    for part in (algorithm, dataset, header.pop("environment"), header, footer):
        part.pop("type", None)
        part.pop("schema_version", None)
        row |= flat(part, "")
    return row


def check_cell(cell, value, where):
    if value is None:
        assert cell == "", where
    elif isinstance(value, bool):
        assert cell == str(value).lower(), where
    elif isinstance(value, list):
        assert json.loads(cell) == value, where
    elif isinstance(value, str):
        assert cell == value, where
    else:
        assert type(value)(cell) == value, where  # to the last bit


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def tables(mfbench, tmp_path_factory):
    """The tables of all committed results: (cases, trace)."""
    folder = tmp_path_factory.mktemp("tables")
    done = mfbench("export", REFERENCE, "--out", "cases.csv", "trace.csv", cwd=folder)
    assert done.returncode == 0 and "warning" not in done.stderr
    return read(folder / "cases.csv"), read(folder / "trace.csv")


def test_every_value_of_every_committed_result_is_in_the_tables(tables):
    cases, trace = tables
    files = [path for packed in packed_below(REFERENCE) for path in unpacked(packed)[1]]
    assert {row["file"] for row in cases} == {str(path) for path in files}
    assert len(cases) > 1000
    points = iter(trace)
    for number, row in enumerate(cases):
        lines = lines_of(pathlib.Path(row["file"]))
        header, footer = lines[0], lines[-1]
        expected = expected_case(header, footer)
        for column, value in expected.items():
            if value is not None or column in row:
                check_cell(row[column], value, (row["file"], column))
        own = {"case", "file", "folder"}
        assert {column for column, cell in row.items() if cell} <= expected.keys() | own
        assert (int(row["case"]), row["folder"]) == (number, pathlib.Path(row["file"]).parent.name)
        parameters = {column: cell for column, cell in row.items() if column.startswith(SECTIONS[:6])}
        lent = footer["shared"] or {}
        lead = sum(footer["clocks"].get(f"{clock}_s", 0) + sum(lent.get(clock, {}).values())
                   for clock in ("prepare", "transfer"))
        for line in lines[1:-1]:
            point = next(points)
            for column, value in line.items():
                if column != "type":
                    check_cell(point[column], value, (row["file"], line["epoch"], column))
            assert float(point["answer_s"]) == pytest.approx(lead + line["train_s"], rel=1e-12)
            assert (point["case"], point["case_id"]) == (row["case"], row["case_id"])
            assert {column: point[column] for column in parameters} == parameters
    assert next(points, None) is None


def test_the_page_names_every_column(tables):
    section = PAGE.read_text().split("## Taking results away")[1]
    named = set(re.findall(r"`([^`\n]+)`", section))
    trace_keys = set(re.findall(r"`(\w+)`", PAGE.read_text().split('"type": "trace"')[1]
                                .split('"type": "footer"')[0]))
    prefixes = tuple(name[:-1] for name in named if name.endswith(".*"))
    assert set(SECTIONS) <= set(prefixes)
    for table, known in ((tables[0], named), (tables[1], named | trace_keys)):
        assert {column for column in table[0] if not column.startswith(prefixes)} - known == set()


def test_columns_and_their_order_do_not_depend_on_the_order_of_the_folders(mfbench, tmp_path):
    folders = [REFERENCE / "h200" / name for name in ("ml-1m", "cumf_als/fig8", "ccd/speed")]
    heads = []
    for number, order in enumerate((folders, folders[::-1])):
        done = mfbench("export", *order, "--out", f"c{number}.csv", f"t{number}.csv", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        heads.append([(tmp_path / f"{table}{number}.csv").open().readline() for table in "ct"])
    assert heads[0] == heads[1]


def test_what_is_damaged_or_foreign_is_named_left_out_and_in_the_exit_code(mfbench, tmp_path):
    ids = unpack_quickstart(tmp_path)
    damaged = tmp_path / "run" / f"{ids[3]}.jsonl"
    damaged.write_text(damaged.read_text()[:-400] + "\n")
    (tmp_path / "run" / "foreign.jsonl").write_text('{"prompt": "a", "text": "b"}\n')
    (tmp_path / "run" / f"{ids[5]}.jsonl").unlink()
    done = mfbench("export", "run", "--out", "c.csv", "t.csv", cwd=tmp_path)
    assert done.returncode == 1
    left_out = [line for line in done.stderr.splitlines() if line.startswith("warning: ")]
    assert len(left_out) == 2
    assert f"run/{damaged.name}: line " in done.stderr and "run/foreign.jsonl: line 1" in done.stderr
    assert "run: 1 of 24 cases have not begun" in done.stderr
    rows = read(tmp_path / "c.csv")
    assert {row["case_id"] for row in rows} == set(ids) - {ids[3], ids[5]}
    assert {row["case"] for row in read(tmp_path / "t.csv")} == {row["case"] for row in rows}


def test_cases_that_the_spec_no_longer_lists_are_counted_and_asked_for(mfbench, tmp_path):
    spec = {"name": "s", "datasets": ["like:ml-100k:0.05"], "stop": {"epochs": 2},
            "algorithms": [{"name": "ruler", "sleep_ms": 0, "offset": [1, 2]}]}
    for offsets in ([1, 2], [2, 3]):
        spec["algorithms"][0]["offset"] = offsets
        (tmp_path / "s.json").write_text(json.dumps(spec))
        assert mfbench("run", "s.json", "--out", "r", cwd=tmp_path).returncode == 0
    done = mfbench("export", "r", "--out", "c.csv", "t.csv", cwd=tmp_path)
    assert done.returncode == 0
    assert "1 cases that their spec.json does not list" in done.stderr
    assert [row["params.offset"] for row in read(tmp_path / "c.csv")] == ["2.0", "3.0"]
    done = mfbench("export", "r", "--unlisted", "--out", "c.csv", "t.csv", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert [row["params.offset"] for row in read(tmp_path / "c.csv")] == ["1.0", "2.0", "3.0"]


def test_wrong_calls_say_what_is_expected(mfbench, tmp_path):
    source = REFERENCE / "epyc-2" / "quickstart"
    for arguments, said in [((source, "--out", "c.parquet", "t.csv"), "./dev export writes parquet"),
                            ((source, "--out", "c.csv", "c.csv"), "both tables"),
                            ((source, "--out", "c.csv", "./c.csv"), "both tables"),
                            ((source, "--out", "c.jsonl", "t.csv"), "results are such files"),
                            ((source, "--out", "c.csv"), "--out"),
                            ((source,), "--out"),
                            (("nowhere", "--out", "c.csv", "t.csv"), "nowhere: no such file"),
                            ((ROOT / "docs", "--out", "c.csv", "t.csv"), "no result")]:
        done = mfbench("export", *arguments, cwd=tmp_path)
        assert done.returncode == 2, arguments
        assert said in done.stderr
    done = mfbench("export", source, "--out", "nowhere/c.csv", "t.csv", cwd=tmp_path)
    assert done.returncode == 4 and "nowhere/c.csv" in done.stderr
    assert list(tmp_path.iterdir()) == []


# ---- pandas and parquet --------------------------------------------------------------------------

def has(*modules):
    return all(importlib.util.find_spec(module) for module in modules)


def dev_export(mfbench, *arguments):
    return subprocess.run([ROOT / "dev", "export", *map(str, arguments)], text=True, timeout=120,
                          capture_output=True, env={**mfbench.environment(), "PYTHON": sys.executable,
                                                    "MFBENCH": mfbench.program})


@pytest.mark.skipif(not has("pandas"), reason="no pandas")
def test_the_worked_example_runs_and_prints_what_the_page_shows(mfbench, tmp_path):
    section = PAGE.read_text().split("## Taking results away")[1]
    (command,) = re.findall(r"^    mfbench (export results/reference.*)$", section, re.M)
    (tmp_path / "results").symlink_to(ROOT / "results")
    done = mfbench(*command.split(), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = dict(block for block in blocks(PAGE) if block[0] in ("python", "text"))
    done = subprocess.run([sys.executable, "-W", "error", "-c", text["python"]], cwd=tmp_path,
                          text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == text["text"]


@pytest.mark.skipif(not has("pandas"), reason="no pandas")
def test_pandas_reads_a_table_in_one_line_to_the_last_bit(mfbench, tmp_path):
    import pandas as pd

    folder = REFERENCE / "h200" / "cumf_als" / "fig8"
    done = mfbench("export", folder, "--out", "cases.csv", "trace.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    older = tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1)
    exact = {"float_precision": "round_trip"} if older else {}
    trace = pd.read_csv(tmp_path / "trace.csv", **exact)
    found = []
    for _, lines in sorted(unpacked(folder.with_name(folder.name + PACKED))[1].items()):
        found += [(line["epoch"], line["train_s"], line["test_rmse"]) for line in lines[1:-1]]
    assert list(zip(trace["epoch"], trace["train_s"], trace["test_rmse"])) == found
    cases = pd.read_csv(tmp_path / "cases.csv")
    assert cases["git_dirty"].dtype == bool
    filled = [[cell != "" for cell in row.values()] for row in read(tmp_path / "cases.csv")]
    assert cases.notna().values.tolist() == filled  # no text is taken for a missing value
    assert cases["params.factors"].eq(100).all()


@pytest.mark.skipif(not has("pandas", "pyarrow"), reason="no pandas or no pyarrow")
def test_dev_export_writes_parquet_and_csv(mfbench, tmp_path):
    import pandas as pd

    source = REFERENCE / "epyc-2" / "quickstart"
    done = dev_export(mfbench, source, "--out", tmp_path / "c.parquet", tmp_path / "t.csv")
    assert done.returncode == 0, done.stderr
    assert f"{tmp_path / 'c.parquet'}: 24 cases" in done.stdout
    cases = pd.read_parquet(tmp_path / "c.parquet")
    assert len(cases) == 24 and str(cases["updates"].dtype) == "Int64"
    assert len(read(tmp_path / "t.csv")) == 432
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.parquet", "t.csv"]


@pytest.mark.skipif(has("pandas", "pyarrow"), reason="pyarrow is here")
def test_without_pyarrow_dev_export_says_what_to_do(mfbench, tmp_path):
    done = dev_export(mfbench, REFERENCE, "--out", tmp_path / "c.parquet", tmp_path / "t.csv")
    assert done.returncode == 1
    assert "pip install pyarrow, or choose .csv" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_dev_export_writes_csv_without_python_and_passes_the_exit_code_on(mfbench, tmp_path):
    unpack_quickstart(tmp_path)
    (tmp_path / "run" / "foreign.jsonl").write_text("{}\n")
    done = dev_export(mfbench, tmp_path / "run", "--out", tmp_path / "c.csv", tmp_path / "t.csv")
    assert done.returncode == 1
    assert "foreign.jsonl: line 1" in done.stderr
    assert len(read(tmp_path / "c.csv")) == 24
    for arguments in ([], ["run"], ["run", "--out", "c.csv"], ["--out", "c.csv", "t.csv"]):
        done = dev_export(mfbench, *arguments)
        assert done.returncode == 1 and "export: " in done.stderr
