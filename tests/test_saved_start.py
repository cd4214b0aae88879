"""ALS first, SGD after: a case that starts from the model that another one saved."""

import json
import pathlib

import pytest

from support import lines_of, two_tastes

ALS = {"name": "als_cpu", "factors": 4}
SGD = {"name": "sgd_serial", "factors": 4}


def spec(algorithm, **keys):
    return {"datasets": [{"path": "r.csv"}], "split": {"holdout": 0.2, "seed": 5}, "stop": {"epochs": 2}, **keys,
            "algorithms": [algorithm]}


@pytest.fixture(scope="module")
def first(mfbench, tmp_path_factory):
    folder = tmp_path_factory.mktemp("start")
    (folder / "r.csv").write_text("user,item,rating\n" + "".join(f"{u},{i},{r}\n" for u, i, r in two_tastes()))
    mfbench("run", "als.json", "--out", "als", cwd=folder, code=0, spec=spec(ALS, save_model=True))
    (model,) = (folder / "als" / "models").iterdir()
    (lines,) = map(lines_of, (folder / "als").glob("als_cpu*.jsonl"))
    return folder, f"als/models/{model.name}", lines


def started(mfbench, folder, algorithm, model, out, code=0, **keys):
    done = mfbench("run", f"{out}.json", "--out", out, cwd=folder, code=code, spec=spec({**algorithm, "init": {"model": model}}, **keys))
    return done, [lines_of(path) for path in sorted((folder / out).glob("*.jsonl"))]


def test_sgd_goes_on_where_als_ended(mfbench, first):
    folder, model, (_, *als, _) = first
    _, cases = started(mfbench, folder, {**SGD, "learning_rate": 0.001}, model, "sgd", seeds=[1, 2])
    for header, *trace, footer in cases:
        assert header["init"]["model"] == model and header["facts"]["start"]["model"] == model
        assert trace[0]["test_rmse"] == pytest.approx(als[-1]["test_rmse"], abs=1e-6)
        assert trace[-1]["test_rmse"] != trace[0]["test_rmse"] and "initial_factors" in footer["phases"]
    assert len({header["facts"]["start"]["hash"] for header, *_ in cases}) == 1


def test_a_model_of_another_split_may_have_seen_the_test_part(mfbench, first):
    folder, model, _ = first
    done, _ = started(mfbench, folder, SGD, model, "other", code=3, split={"holdout": 0.2, "seed": 6})
    assert "expected a model of the same split and seed" in done.stderr + done.stdout


def test_a_plain_algorithm_has_no_place_for_biases(mfbench, first):
    folder, model, _ = first
    done, _ = started(mfbench, folder, {**SGD, "model": "plain"}, model, "plain", code=3)
    assert "found a biased model of 4 factors, expected a plain one of 4" in done.stderr


def test_a_folder_without_a_model_says_what_writes_one(mfbench, first):
    folder, _, _ = first
    done, _ = started(mfbench, folder, SGD, "als", "none", code=3)
    assert "--save-model" in done.stderr + done.stdout
    mfbench("plan", "none.json", cwd=folder, code=0, spec=spec({**SGD, "init": {"model": "als"}}))


def test_the_exhibit_starts_from_the_case_that_saves(mfbench):
    root = pathlib.Path(__file__).parent.parent
    listed = json.loads(mfbench("validate", "experiments/cumf_als/als-then-sgd.json", "--json", cwd=root, code=0).stdout)
    (saved,) = [case["id"] for case in listed]
    entries = json.loads((root / "experiments/cumf_als/als-then-sgd.sgd.json").read_text())["algorithms"]
    models = {entry["init"]["model"] for entry in entries if "init" in entry}
    assert models == {f"results/runs/cumf_als/als-then-sgd/models/{saved}"}
