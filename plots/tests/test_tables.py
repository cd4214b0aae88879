"""mfplots.tables: the types of exported columns, parquet; and the Python that the README shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from synthetic import Made, write

from mfplots import tables
from mfplots.errors import PlotError
from mfplots.load import load

PLOTS = Path(__file__).parents[1]
README = PLOTS / "README.md"


def table(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text(text)
    return tables.read(path)


def test_columns_have_the_types_of_their_values(tmp_path):
    frame = table(tmp_path, "n,x,yes,word,content_hash,empty,mixed\n"
                            "9007199254740993,0.1,true,none,0012,,1\n"
                            ",1e-07,,NA,34,,a\n"
                            "-2,3,false,,,,2.0\n")
    assert frame.dtypes.astype(str).to_dict() == {
        "n": "Int64", "x": "float64", "yes": "boolean", "word": "string", "content_hash": "string",
        "empty": "float64", "mixed": "string"}
    assert frame["n"].tolist() == [9007199254740993, pd.NA, -2]
    assert frame["x"].tolist() == [0.1, 1e-7, 3.0]
    assert frame["yes"].tolist() == [True, pd.NA, False]
    assert frame["word"].tolist() == ["none", "NA", pd.NA]
    assert frame["content_hash"].tolist() == ["0012", "34", pd.NA]
    assert frame["empty"].isna().all()


def test_a_version_or_a_hash_of_digits_alone_stays_text(tmp_path):
    frame = table(tmp_path, "case,cuda,git_sha,content_hash\n0,13.0,1234567,52537575936153e1\n")
    assert frame.loc[0, ["cuda", "git_sha", "content_hash"]].tolist() == [
        "13.0", "1234567", "52537575936153e1"]


def test_floats_are_those_of_the_text_to_the_last_bit(tmp_path):
    numbers = ["0.30000000000000004", "5e-324", "1.7976931348623157e+308", "2.3761828853823275"]
    assert table(tmp_path, "x\n" + "\n".join(numbers) + "\n")["x"].tolist() == list(map(float, numbers))


def test_what_is_no_table_is_said(tmp_path):
    with pytest.raises(PlotError, match="no such file"):
        tables.read(tmp_path / "absent.csv")
    (tmp_path / "a.jsonl").touch()
    with pytest.raises(PlotError, match="expected a .csv or .parquet"):
        tables.read(tmp_path / "a.jsonl")
    assert tables.main([]) == 2
    assert tables.main([str(tmp_path / "absent.csv"), "x.parquet"]) == 1


def test_parquet_gives_the_table_back(tmp_path):
    pytest.importorskip("pyarrow", reason="no pyarrow: parquet is not written")
    frame = table(tmp_path, "n,x,yes,word,empty\n1,0.1,true,a,\n,,,,\n")
    tables.write_parquet(frame, tmp_path / "t.parquet")
    pd.testing.assert_frame_equal(tables.read(tmp_path / "t.parquet"), frame)
    assert tables.main([str(tmp_path / "t.csv"), str(tmp_path / "u.parquet")]) == 0
    pd.testing.assert_frame_equal(tables.read(tmp_path / "u.parquet"), frame)


def test_without_pyarrow_the_message_says_what_to_do(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pyarrow", None)  # as if it were not installed
    (tmp_path / "t.csv").write_text("a\n1\n")
    assert tables.main([str(tmp_path / "t.csv"), str(tmp_path / "t.parquet")]) == 1
    assert "pip install pyarrow" in capsys.readouterr().err
    assert not (tmp_path / "t.parquet").exists()


# ---- the README ----------------------------------------------------------------------------------

def section():
    return README.read_text().split("## From Python\n")[1].split("\n## ")[0]


def test_the_python_of_the_readme_runs():
    (example,) = re.findall(r"^```python\n(.*?)^```$", section(), re.M | re.S)
    done = subprocess.run([sys.executable, "-c", example], cwd=PLOTS, text=True,
                          capture_output=True, env={**os.environ, "PYTHONPATH": str(PLOTS)})
    assert done.returncode == 0, done.stderr
    assert re.search(r"^fpsgd +0\.8\d+ +5$", done.stdout, re.M), done.stdout


def test_the_readme_names_what_is_nested_and_what_is_added(tmp_path):
    results = load([write(tmp_path, [Made()])])
    row = results.cases.iloc[0]
    named = set(re.findall(r"`([^`\n]+)`", section()))
    nested = {name for name, value in row.items() if isinstance(value, (dict, list))}
    assert nested and nested <= named
    added = set(results.trace) - {"case"} - set(load.__globals__["TRACE_COLUMNS"])
    assert added and added <= named
    for name in ("load", "Results", "read_case", "CaseFile"):
        assert load.__globals__[name].__doc__ and any(name in word for word in named)
