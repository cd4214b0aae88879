"""The first specs that a reader meets name targets that their runs can meet: a column of "-" teaches nothing."""

import json
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIKE = {"like": "ml-100k"}  # ratings such as those of a first file: 1 to 5, 100,000 of them


def first_spec(page):
    return json.loads(re.search(r"^```json\n(\{\n.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.M | re.S)[1])


def with_data(entry):
    """The file of the reader's own is not here."""
    return {**LIKE, **{key: value for key, value in entry.items() if key != "path"}} if "path" in entry else entry


@pytest.mark.parametrize("page", ["README.md", "docs/spec.md"])
def test_the_target_of_the_first_spec_is_met(mfbench, tmp_path, page):
    spec = first_spec(page)
    spec |= {"name": "first", "seeds": [1], "datasets": [with_data(entry) for entry in spec["datasets"]]}
    mfbench("run", "first.json", "--quiet", "--out", "out", cwd=tmp_path, code=0, spec=spec, timeout=300)
    done = mfbench("summarize", "out", "--json", cwd=tmp_path, code=0)
    cases = [json.loads(line) for line in done.stdout.splitlines()]
    assert {case["target_rmse"] for case in cases} == {spec["target_rmse"]}
    missed = {(case["dataset"], case["algorithm"]) for case in cases if case["train_to_target_s"] is None}
    met = {(case["dataset"], case["algorithm"]) for case in cases if case["train_to_target_s"] is not None}
    assert missed <= met, f"no configuration meets {spec['target_rmse']}: {missed - met}"
