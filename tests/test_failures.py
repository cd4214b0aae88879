"""Why cases failed, at the end of a run: also where they were not seen while they ran."""

import json

import pytest

from support import in_little_memory

SPEC = {"datasets": [{"path": "ratings.csv"}], "seeds": [1, 2, 3, 4, 5], "stop": {"epochs": 2},
        "algorithms": [{"name": "sgd_serial", "factors": 2}]}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "ratings.csv").write_text("user,item,rating\n1,2,3\n1,2.5,3\n")
    (tmp_path / "broken.json").write_text(json.dumps(SPEC))
    return tmp_path


def told(done):
    lines = done.stderr.splitlines()
    start = next(i for i, line in enumerate(lines) if "5 cases failed" in line)
    return lines[start + 1:]


@pytest.mark.parametrize("more", [[], ["--quiet"], ["--json"], ["--quiet", "--apart"]])
def test_the_first_failed_cases_are_named_with_their_reasons(mfbench, folder, more):
    first = mfbench("run", "broken.json", *more, cwd=folder, preexec_fn=in_little_memory, code=3)
    shown = told(first)
    assert len(shown) == 4 and shown[-1] == "  and 2 more"
    for seed, line in enumerate(shown[:3], 1):
        assert f"-s{seed}-" in line and ": error: ratings.csv:3:3: found '2.5'" in line
    again = mfbench("run", "broken.json", *more, cwd=folder, preexec_fn=in_little_memory, code=1)
    assert told(again) == shown
