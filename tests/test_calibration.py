"""What datasets/look-alikes.md says of the structure of look-alikes is what they have."""

import json
import os
import pathlib
import re

import pytest

from doc_numbers import rows_of, value_of
from number_sources import ROOT

PAGE = (ROOT / "datasets" / "look-alikes.md").read_text().split("### Calibration")[1]
TABLES = [part for part in PAGE.split("\n\n") if part.startswith("| | median user")]
ROWS = {row[0][0]: [cell for cell, _ in row[1:]] for table in TABLES for row in rows_of(table)}
# Those that are made within a second; the larger ones were counted by the same command.
SMALL = ["ml-100k", "ml-1m", "ml-20m-implicit"]


def first(cell):
    return value_of(re.search(r"[\d.,]*\d", cell)[0])


@pytest.mark.parametrize("name", SMALL)
def test_the_table_is_that_of_the_look_alike(mfbench, tmp_path, name):
    stats = json.loads(mfbench("data", "stats", f"like:{name}", "--json", cwd=tmp_path, code=0).stdout)
    found = [stats[f"ratings_per_{side}"][key] for side in ("user", "item") for key in ("median", "max")]
    assert list(map(first, ROWS[name][:4])) == found


@pytest.mark.parametrize("name", ["ml-100k", "ml-1m"])
def test_in_parentheses_is_the_real_set(mfbench, tmp_path, name):
    data = pathlib.Path(os.environ.get("MFBENCH_DATA", "no-data"))
    if not (data / name).is_dir():
        pytest.skip(f"{name} is not in MFBENCH_DATA")
    stats = json.loads(mfbench("data", "stats", name, "--json", cwd=tmp_path, data=data, code=0).stdout)
    found = [stats[f"ratings_per_{side}"][key] for side in ("user", "item") for key in ("median", "max")]
    inside = [first(re.search(r"\((.+)\)", cell)[1]) for cell in ROWS[name][:4]]
    assert inside == [round(value) for value in found]
