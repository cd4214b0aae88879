"""Words of the command line that there are not: named, with what was meant."""

import pytest


@pytest.mark.parametrize("words, said", [
    ("run s.json --outdir x", 'mfbench run has no option "--outdir", did you mean "--out"?; known: --help, -h, --out, '),
    ("run s.json --outdir=x", 'mfbench run has no option "--outdir", did you mean "--out"?'),
    ("validate s.json -q", 'mfbench validate has no option "-q"; known: '),
    ("data stats like:ml-100k --jsn", 'mfbench data stats has no option "--jsn", did you mean "--json"?'),
    ("validate s.json t.json", 'mfbench validate: found the word "t.json", expected no more; mfbench validate --help'),
    ("data stat x", 'there is no command "data stat", did you mean "data stats"?; known: list, stats, import, fetch'),
    ("vaildate s.json", 'there is no command "vaildate", did you mean "validate"?; known: list, '),
    ("run", "spec is required"),
])
def test_a_word_that_there_is_not_is_named(mfbench, tmp_path, words, said):
    done = mfbench(*words.split(), cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith(f"error: {said}")
    assert "--one-case" not in done.stderr
