"""mfbench data fit: a look-alike of a user's own set, as a profile that specs name by its file."""

import json
import re
import sys

import pytest

from number_sources import ROOT
from support import cases_of

PROFILE = {"name": "mine", "shape": {"n_users": 60, "n_items": 40, "nnz": 900},
           "scale": {"min": 1, "max": 5, "step": 1}, "min_user_degree": 3,
           "activity": {"power": 1, "tail": 0}, "popularity": {"power": 1, "tail": 0},
           "model": {"mean": 3.5, "user_sd": 0.4, "user_activity_correlation": 0, "item_sd": 0.5,
                     "item_popularity_correlation": 0, "signal_sd": 0.6, "noise_sd": 0.7}}


def test_the_objective_falls_and_the_profile_is_one(mfbench, tmp_path, monkeypatch, capsys):
    pytest.importorskip("scipy.optimize")
    monkeypatch.syspath_prepend(ROOT / "datasets" / "synthetic")
    import fit

    of_all = fit.fit
    monkeypatch.setattr(fit, "fit", lambda profile, file, numbers, *rest: of_all(
        profile, file, dict([*numbers.items()][-4:]), *rest))
    for name, few in (("ALGORITHMS", fit.ALGORITHMS[2:4]), ("SPLITS", [1]), ("SEEDS", [1]), ("ROUNDS", 1)):
        monkeypatch.setattr(fit, name, few)
    for key, value in mfbench.environment().items():
        monkeypatch.setenv(key, value)
    out = tmp_path / "mine.json"
    fit.main(mfbench.program, "like:ml-100k:0.05", str(out))
    said = capsys.readouterr().out
    tables = [re.findall(r"^ +\d+ +\d+ +(\d\S+)", part, re.M) for part in said.split("Iteration")[1:]]
    assert len(tables) == 2 and all(float(costs[-1]) < 0.9 * float(costs[0]) for costs in tables), said
    assert "als_cpu none 8" in said
    spec = {"datasets": ["like:mine.json:0.5"], "stop": {"epochs": 1}, "algorithms": ["sgd_serial"]}
    mfbench("run", "s.json", "--out", "out", "--quiet", cwd=tmp_path, code=0, spec=spec)
    (head, *_), = cases_of(tmp_path / "out")
    assert head["dataset"]["name"] == "mine.json look-alike x0.5" and head["dataset"]["scale"]["max"] == 5


def test_a_profile_of_ones_own_is_drawn_and_kept_apart_by_what_it_says(mfbench, tmp_path):
    hashes = []
    for noise in (0.7, 0.9):
        (tmp_path / "p.json").write_text(json.dumps({**PROFILE, "model": {**PROFILE["model"], "noise_sd": noise}}))
        stats = json.loads(mfbench("data", "stats", "like:p.json", "--json", cwd=tmp_path, code=0).stdout)
        assert [stats[key] for key in ("n_users", "n_items", "nnz")] == [60, 40, 900]
        assert stats["ratings_per_user"]["min"] >= 3
        hashes.append(stats["content_hash"])
    assert hashes[0] != hashes[1]


@pytest.mark.parametrize("change, said", [
    ({"shape": {"n_users": 60, "n_items": 40, "nnz": 2401}}, "p.json:$.shape.nnz: found 2401, expected a rating of each"),
    ({"noise": 1}, "p.json:$.noise: "), ({"scale": None}, "p.json:$.scale: "), (None, "p.json: found no such file")])
def test_a_bad_profile_is_named(mfbench, tmp_path, change, said):
    if change is not None:
        (tmp_path / "p.json").write_text(json.dumps({**PROFILE, **change}))
    spec = {"name": "s", "datasets": ["like:p.json"], "algorithms": ["bias"]}
    done = mfbench("validate", "s.json", cwd=tmp_path, spec=spec)
    assert done.returncode in (2, 3) and said in done.stderr, done.stderr


@pytest.mark.parametrize("words, said", [
    (("like:lastfm-2k", "a.json"), "needs ratings with a scale: its values are counts"),
    (("like:ml-100k", "a.txt"), "'a.txt': expected a file .json"),
    (("no-such-set", "a.json"), 'unknown data set "no-such-set"')])
def test_what_cannot_be_fitted_is_said(mfbench, tmp_path, words, said):
    done = mfbench("data", "fit", *words, cwd=tmp_path, code=2, env={**mfbench.environment(), "PYTHON": sys.executable})
    assert said in done.stderr, done.stderr
