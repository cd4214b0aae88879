"""A metric is a row: what a row is enough for. As a target of a run and of a comparison, as what is tuned on."""

import json
import pathlib
import re

import pytest

from support import cases_of

ROOT = pathlib.Path(__file__).resolve().parent.parent
METRICS = {  # the key, and that of the validation part, by which a search chooses
    "ndcg@10": ("ndcg_10", "ndcg_10"),
    "mrr@5": ("mrr_5", "mrr_5"),
    "test_mae": ("test_mae", "validation_mae"),
}


def spec(metric, value, **more):
    more_is_better = metric != "test_mae"
    return {
        "name": "m",
        "datasets": [{"like": "ml-100k", "scale": 0.05}],
        "split": {"holdout": 0.2, "validation": 0.1, "seed": 1},
        "seeds": [1, 2, 3],
        "target": {"metric": metric, "value": value},
        "stop": {"epochs": 6},
        "algorithms": [{"name": "ials_cpu" if more_is_better else "als_cpu", "factors": 4, "threads": 1}],
        **more,
    }


def run(mfbench, folder, spec, out="out"):
    done = mfbench("run", "m.json", "--out", out, cwd=folder, code=0, spec=spec)
    return cases_of(folder / out), done.stdout


@pytest.fixture(params=METRICS)
def metric(request):
    return request.param


def test_it_is_a_target_that_stops_and_is_compared(mfbench, tmp_path, metric):
    key = METRICS[metric][0]
    first, _ = run(mfbench, tmp_path, spec(metric, 0.5))
    values = [point[key] for point in first[0][1:-1]]
    reached = values[2]  # by epoch 2 at the latest
    asked = spec(metric, reached, stop={"epochs": 6, "target": {"metric": key, "value": reached}})
    cases, table = run(mfbench, tmp_path, asked, "stopped")
    assert f"answer to {reached:g}" in table
    footers = [lines[-1] for lines in cases]
    assert any(f"reached the target {key}" in footer["stop_reason"] for footer in footers)
    for header, *trace, footer in cases:
        best = min if key == "test_mae" else max
        assert header["target"] == {"metric": key, "value": reached}
        assert footer["metrics"][key]["best"] == best(point[key] for point in trace)
    done = mfbench("compare", "out", "stopped", "--target", f"{metric}={reached}", "--ignore", "stop",
                   "--json", cwd=tmp_path)
    row, = json.loads(done.stdout)["rows"]
    assert row["target"] == {"metric": key, "value": reached}
    assert row["answer_time"]["first"]["never"] < 3


def test_it_stops_a_run_that_gets_no_better(mfbench, tmp_path, metric):
    rule = {"patience": 1, "min_delta": 1, "monitor": metric}
    cases, _ = run(mfbench, tmp_path, spec(metric, 0.5, stop={"epochs": 6, "plateau": rule}))
    assert all(lines[-1]["epochs"] == 2 and "no better" in lines[-1]["stop_reason"] for lines in cases)


def test_it_is_tuned_on(mfbench, tmp_path, metric):
    key = METRICS[metric][1]
    search = spec(metric, 0.5, seeds=[1])
    search["algorithms"][0]["tune"] = {"trials": 4, "eta": 1, "metric": key, "over": {"reg": [0.01, 10, "log"]}}
    cases, _ = run(mfbench, tmp_path, search)
    study, = json.loads(mfbench("tune", "out", "--json", cwd=tmp_path).stdout)
    best = (min if metric == "test_mae" else max)(study["trials"], key=lambda trial: trial["score"])
    assert study["metric"] == key and study["chosen"] == best["values"]
    assert len({trial["score"] for trial in study["trials"]}) > 2
    assert cases[0][0]["algorithm"]["params"]["reg"] == study["chosen"]["reg"]


def test_the_table_is_for_whoever_reads_results(mfbench, tmp_path):
    table = json.loads(mfbench("schema", "metrics", cwd=tmp_path).stdout)
    rows = {row["key"]: row for row in table["rows"]}
    assert rows["ndcg_100"]["better"] == "more" and rows["ndcg_100"]["title"] == "NDCG@100"
    assert rows["validation_mae"] == {"key": "validation_mae", "title": "validation MAE", "unit": "rating units",
                                      "better": "less", "part": "validation", "measure": "mae", "k": 0,
                                      "format": ".4f"}
    assert table["main"] == ["test_rmse", "ndcg_100", "objective"]
    assert re.match(table["any_k"], "precision@100") and not re.match(table["any_k"], "precision@101")


def test_it_is_an_axis(mfbench, tmp_path, metric, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "plots"))
    run(mfbench, tmp_path, spec(metric, 0.5))
    recipes = [{"figure": "trace", "name": "curve", "x": "train_s", "y": metric},
               {"figure": "metric-bars", "name": "bars", "y": f"best_{metric}"}]
    (tmp_path / "recipes.json").write_text(json.dumps(recipes))
    from mfplots.cli import main
    monkeypatch.setenv("MFBENCH", mfbench.program)
    monkeypatch.chdir(tmp_path)
    assert main(["out", "--recipe", "recipes.json", "--out", "f", "--format", "svg"]) == 0
    title = {"ndcg@10": "NDCG@10", "mrr@5": "MRR@5", "test_mae": "test MAE (rating units)"}[metric]
    assert METRICS[metric][0] in (tmp_path / "f" / "curve.csv").read_text()
    assert (tmp_path / "f" / "bars.svg").exists() and title in (tmp_path / "f" / "curve.svg").read_text()
