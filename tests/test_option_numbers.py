"""Numbers of options outside their range: the message says what was found and what is expected."""

import pytest


@pytest.mark.parametrize("arguments, message", [
    (["recommend", "model", "--user", "1", "-k", "0"],
     "-k: found 0, expected an integer from 1 to 1000000000"),
    (["recommend", "model", "--user", "1", "-k", "two"],
     "-k: found 'two', expected an integer from 1 to 1000000000"),
    (["plan", "own.json", "--device-memory", "x"],
     "--device-memory: found 'x', expected a number above 0"),
    (["plan", "own.json", "--device-memory", "0"],
     "--device-memory: found 0, expected a number above 0"),
    (["plan", "own.json", "--device-memory", "inf"],
     "--device-memory: found inf, expected a number above 0"),
    (["compare", "a", "b", "--margin", "-1"], "--margin: found -1, expected a number from 0"),
    (["compare", "a", "b", "--quality-margin", "nan"],
     "--quality-margin: found nan, expected a number from 0"),
    (["run", "own.json", "--profile", "0"],
     "--profile: found 0, expected an integer from 1 to 1000000"),
    (["run", "own.json", "--profile", "--profile-warmup", "-1"],
     "--profile-warmup: found -1, expected an integer from 0 to 1000000"),
])
def test_the_message_names_the_range(mfbench, tmp_path, arguments, message):
    done = mfbench(*arguments, cwd=tmp_path, code=2)
    assert done.stderr.splitlines()[0] == f"error: {message}"
