"""Words of the command line that there are not are named, with what was meant; numbers outside their range with it."""

import pytest


@pytest.mark.parametrize("words, said", [
    ("run s.json --outdir x", 'mfbench run has no option "--outdir", did you mean "--out"?; known: --help, -h, --out, '),
    ("run s.json --outdir=x", 'mfbench run has no option "--outdir", did you mean "--out"?'),
    ("validate s.json -q", 'mfbench validate has no option "-q"; known: '),
    ("data stats like:ml-100k --jsn", 'mfbench data stats has no option "--jsn", did you mean "--json"?'),
    ("validate s.json t.json", 'mfbench validate: found the word "t.json", expected no more; mfbench validate --help'),
    ("data stat x", 'there is no command "data stat", did you mean "data stats"?; known: list, stats, import, remove, fetch, fit'),
    ("vaildate s.json", 'there is no command "vaildate", did you mean "validate"?; known: list, '),
    ("run", "spec is required"),
])
def test_a_word_that_there_is_not_is_named(mfbench, tmp_path, words, said):
    done = mfbench(*words.split(), cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith(f"error: {said}")
    assert "--one-case" not in done.stderr


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
