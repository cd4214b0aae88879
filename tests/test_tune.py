"""Tuning from the command line: trials on the validation part, then the cases with what was chosen."""

import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

import pytest

from support import cases_of, lines_of, wait_for

# Ranges in which more epochs are better: no trial that was stopped is trained on.
TUNE = {"trials": 9, "over": {"learning_rate": [0.0005, 0.005, "log"], "reg": [0.02, 0.5, "log"]}}
SPEC = {
    "name": "tuned",
    "datasets": [{"like": "ml-100k", "scale": 0.05}],
    "split": {"holdout": 0.2, "validation": 0.1, "seed": 1},
    "seeds": [1, 2],
    "stop": {"epochs": 9},
    "algorithms": [
        {"name": "sgd_serial", "factors": 4, "tune": TUNE},
        {"name": "als_cpu", "factors": 4, "threads": 1, "reg_power": 1, "center": "none",
         "tune": {"trials": 9, "over": {"reg": [0.5, 0.9, "log"]}}},
    ],
}
RUNS = 2 * (9 + 3 + 1)


def write(folder, spec, name="tuned.json"):
    (folder / name).write_text(json.dumps(spec))
    return name


def trials_of(out):
    """The lines of every trial, by its path."""
    return {str(path.relative_to(out)): lines_of(path) for path in sorted(out.glob("tune/*/*.jsonl"))}


def studies_of(mfbench, out):
    done = mfbench("tune", out, "--json", cwd=out, code=0)
    return {study["label"].split()[0]: study for study in json.loads(done.stdout)}


@pytest.fixture(scope="module")
def whole(mfbench, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    done = mfbench("run", write(folder, SPEC), "--out", "out", cwd=folder, code=0)
    return folder / "out", done


def test_the_cases_have_what_the_best_trial_had(mfbench, whole):
    out, done = whole
    assert len(trials_of(out)) == RUNS
    studies = studies_of(mfbench, out)
    cases = cases_of(out)
    assert len(cases) == 4
    for header, *_, footer in cases:
        study = studies[header["algorithm"]["name"]]
        assert study["finished"] and study["runs"] == 13
        best = min((t for t in study["trials"] if t["epochs"] == 9), key=lambda t: t["score"])
        assert study["chosen"] == best["values"] == header["tuned"]["values"]
        assert header["tuned"]["score"] == best["score"]
        assert header["algorithm"]["params"]["reg"] == study["chosen"]["reg"]
        if "learning_rate" in study["chosen"]:
            assert header["schedule"]["learning_rate"] == study["chosen"]["learning_rate"]
        assert footer["status"] == "completed" and footer["best_test_rmse"] > 0
    for study in studies.values():
        assert f"({study['metric']} {study['score']:.4f}, trial" in " ".join(done.stdout.split())


def test_a_trial_says_nothing_of_the_test_part(whole):
    out, _ = whole
    for name, (header, *trace, footer) in trials_of(out).items():
        assert header["trial"]["judged_by"] == "validation" and header["trial"]["metric"] == "validation_rmse", name
        assert all(point["test_rmse"] is None and point["test_mae"] is None for point in trace), name
        assert footer["final_test_rmse"] is None and footer["best_test_rmse"] is None
        assert footer["final_validation_rmse"] == trace[-1]["validation_rmse"] > 0


def parts(folder, seed):
    """Ratings of three parts; only those of the test part depend on the seed."""
    rng = random.Random(7)
    pairs = [(u, i) for u in range(40) for i in range(30) if rng.random() < 0.5]
    rng.shuffle(pairs)
    lines = [f"{u} {i} {1 + (u * i + rng.randrange(2)) % 5}" for u, i in pairs]
    cut = len(lines) // 5
    test = random.Random(seed)
    texts = {"test": [f"{u} {i} {test.randrange(1, 6)}" for u, i in pairs[:cut]],
             "validation": lines[cut:2 * cut], "train": lines[2 * cut:]}
    folder.mkdir()
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text("\n".join(text) + "\n")


def test_other_test_ratings_change_no_trial(mfbench, tmp_path):
    found = []
    for seed in (1, 2):
        folder = tmp_path / str(seed)
        parts(folder, seed)
        spec = {**SPEC, "datasets": [{"train": "train.txt", "test": "test.txt",
                                      "validation": "validation.txt", "format": "triples"}],
                "split": {}}
        mfbench("run", write(folder, spec), "--out", "out", "--quiet", cwd=folder, code=0)
        found.append((studies_of(mfbench, folder / "out"), cases_of(folder / "out")))
    (first, first_cases), (second, second_cases) = found
    for name, study in first.items():
        assert [t["score"] for t in study["trials"]] == [t["score"] for t in second[name]["trials"]]
        assert study["chosen"] == second[name]["chosen"]
    assert [case[-1]["final_test_rmse"] for case in first_cases] != \
        [case[-1]["final_test_rmse"] for case in second_cases], "the cases see them"


def finished(out):
    return {path: (path.stat().st_mtime_ns, path.read_text())
            for path in out.rglob("*.jsonl") if '"type":"footer"' in path.read_text()}


def test_a_killed_run_goes_on_and_chooses_the_same(mfbench, whole, tmp_path):
    name = write(tmp_path, SPEC)
    rng = random.Random(3)
    out = tmp_path / "out"
    command = [mfbench.program, "run", name, "--out", "out", "--quiet"]
    caught = 0
    for _ in range(6):
        process = subprocess.Popen(command, cwd=tmp_path, env=mfbench.environment(),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.01, 0.12))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        caught += process.returncode == -signal.SIGKILL
    assert caught > 0
    stands = finished(out)
    mfbench("run", name, "--out", "out", "--quiet", cwd=tmp_path, code=0)
    now = finished(out)
    assert all(now[path] == stands[path] for path in stands), "a finished one was run again"
    assert len(now) == RUNS + 4
    for algorithm, study in studies_of(mfbench, out).items():
        other = studies_of(mfbench, whole[0])[algorithm]
        assert study["chosen"] == other["chosen"] and study["score"] == other["score"]
    again = mfbench("run", name, "--out", "out", cwd=tmp_path)
    assert "0 trials run now, 26 finished before" in again.stdout
    assert "4 cases: 0 run now, 4 finished before" in again.stdout
    assert finished(out) == now


def test_more_trials_use_those_that_are_there(mfbench, tmp_path):
    one = {**SPEC, "algorithms": SPEC["algorithms"][:1]}
    assert mfbench("tune", write(tmp_path, one), "--out", "out", cwd=tmp_path).returncode == 0
    more = {**one, "algorithms": [{**one["algorithms"][0], "tune": {**TUNE, "trials": 18}}]}
    done = mfbench("tune", write(tmp_path, more), "--out", "out", cwd=tmp_path, code=0)
    assert not list((tmp_path / "out").glob("*.jsonl")), "only trials"
    before = int(done.stdout.split(" finished before")[0].split()[-1])
    assert before >= 9
    assert len(trials_of(tmp_path / "out")) < 9 + 3 + 1 + 18 + 6 + 2
    fewer = mfbench("tune", write(tmp_path, one), "--out", "out", cwd=tmp_path)
    assert "0 trials run now, 13 finished before" in fewer.stdout


def test_trials_are_no_cases(mfbench, whole, tmp_path):
    out, _ = whole
    done = mfbench("summarize", out, "--out", "cases.csv", "trace.csv", cwd=tmp_path)
    assert done.returncode == 0 and "4 cases" in done.stdout, done.stderr
    done = mfbench("summarize", out / "tune", "--out", "cases.csv", "trace.csv", cwd=tmp_path)
    assert f"{RUNS} cases" in done.stdout, done.stderr
    study = next((out / "tune").iterdir())
    done = mfbench("compare", study, study, cwd=tmp_path)
    assert done.returncode == 2 and "a trial of a study" in done.stdout + done.stderr


def test_a_budget_ends_the_search_and_says_so(mfbench, tmp_path):
    spec = {**SPEC, "algorithms": [{"name": "ruler", "sleep_ms": 10,
                                    "tune": {"budget_s": 0.3, "over": {"offset": [0.5, 3]}}}]}
    mfbench("run", write(tmp_path, spec), "--out", "out", cwd=tmp_path, code=0)
    study = studies_of(mfbench, tmp_path / "out")["ruler"]
    assert study["out_of_budget"] and study["finished"]
    assert 0 < len(study["trials"]) < 24
    assert {trial["epochs"] for trial in study["trials"]} >= {1, 9}, "there is a last rung"
    header = cases_of(tmp_path / "out")[0][0]
    assert header["tuned"]["out_of_budget"] and header["tuned"]["trials"] == len(study["trials"])


def test_a_search_without_a_result_is_an_error_of_its_cases(mfbench, tmp_path):
    wild = {"trials": 3, "over": {"learning_rate": [900, 1000]}}
    spec = {**SPEC, "algorithms": [{"name": "sgd_serial", "factors": 4, "tune": wild},
                                   {"name": "als_cpu", "factors": 4}]}
    done = mfbench("run", write(tmp_path, spec), "--out", "out", cwd=tmp_path, code=1)
    assert "3 diverged" in done.stdout
    by_name = {case[0]["algorithm"]["name"]: case[-1] for case in cases_of(tmp_path / "out")}
    assert by_name["als_cpu"]["status"] == "completed", "the others run"
    assert by_name["sgd_serial"]["status"] == "error"
    assert "no trial has completed (3 diverged)" in by_name["sgd_serial"]["stop_reason"]
    assert mfbench("tune", "out", cwd=tmp_path).returncode == 0


def test_what_is_odd_is_warned_of(mfbench, tmp_path):
    spec = json.loads(json.dumps(SPEC))
    spec["algorithms"][1]["tune"]["budget_s"] = 5
    for command in (["validate"], ["plan", "--no-measure"]):
        done = mfbench(*command, write(tmp_path, spec), cwd=tmp_path, code=0)
        assert "they are not tuned alike" in done.stderr
        assert "26 runs" in done.stdout or "13 runs" in done.stdout
    edge = {**SPEC, "seeds": 1, "algorithms": [
        {"name": "ruler", "sleep_ms": 0, "tune": {"trials": 40, "over": {"offset": [50, 100]}}}]}
    done = mfbench("run", write(tmp_path, edge), "--out", "edge", cwd=tmp_path)
    assert "the best offset" in done.stderr and "lies at an end of [50, 100]" in done.stderr
    assert cases_of(tmp_path / "edge")[0][0]["tuned"]["edges"] == ["offset"]
    together = subprocess.run([mfbench.program, "tune", "edge"], cwd=tmp_path, text=True, timeout=300,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True,
                              env=mfbench.environment()).stdout.splitlines()
    assert together[-1].startswith("warning: ") and "lies at an end" in together[-1]


def test_what_cannot_be_tuned_is_told(mfbench, tmp_path):
    plain = {**SPEC, "algorithms": ["sgd_serial"]}
    done = mfbench("tune", write(tmp_path, plain), cwd=tmp_path)
    assert done.returncode == 2 and 'has "tune"' in done.stderr
    (tmp_path / "empty").mkdir()
    done = mfbench("tune", "empty", cwd=tmp_path)
    assert done.returncode == 2 and "found no study" in done.stderr
    done = mfbench("run", write(tmp_path, SPEC), "--profile", cwd=tmp_path)
    assert done.returncode == 2 and "--profile takes no" in done.stderr
    (tmp_path / "out/tune/x").mkdir(parents=True)
    (tmp_path / "out/tune/x/study.json").write_text('{"study": "x"}')
    done = mfbench("tune", "out", cwd=tmp_path)
    assert done.returncode == 3 and "study.json" in done.stderr


@pytest.mark.parametrize("split", [{"users": 0.2, "fold_in": 0.5}, {"leave_out": 2}])
def test_implicit_feedback_is_tuned_by_ranking(mfbench, tmp_path, split):
    spec = {**SPEC, "split": {**split, "validation": 0.2, "seed": 1}, "seeds": 1,
            "datasets": [{"like": "ml-100k", "scale": 0.1, "implicit": {"min_rating": 3}}],
            "stop": {"epochs": 3}, "algorithms": [
                {"name": "ials_cpu", "factors": 4, "threads": 1,
                 "tune": {"trials": 3, "over": {"reg": [0.01, 10, "log"], "alpha": [1, 20]}}}]}
    mfbench("run", write(tmp_path, spec), "--out", "out", cwd=tmp_path, code=0)
    study = studies_of(mfbench, tmp_path / "out")["ials_cpu"]
    assert study["metric"] == "ndcg_100"
    scores = {}
    for header, *trace, footer in trials_of(tmp_path / "out").values():
        assert trace[-1]["ndcg_100"] == footer["metrics"]["ndcg_100"]["final"] > 0
        assert list(footer["metrics"]) == ["ndcg_100"] and trace[0].get("ndcg_100") is None
        assert [point["epoch"] for point in trace] == [0, header["trial"]["epochs"]]
        scores[header["trial"]["number"], header["trial"]["epochs"]] = trace[-1]["ndcg_100"]
    assert study["score"] == max(score for (_, epochs), score in scores.items() if epochs == 3)
    (header, *_, footer), = cases_of(tmp_path / "out")
    assert header["tuned"]["score"] == study["score"]
    assert footer["metrics"]["ndcg_100"]["final"] not in scores.values(), "that is the test part"
    # A trial that begins a run looks for the users to rank itself, and not through another trial.
    last = min((tmp_path / "out").glob("tune/*/e3-*.jsonl"))
    shared = lines_of(last)[-2]["ndcg_100"]
    last.unlink()
    mfbench("tune", "tuned.json", "--out", "out", cwd=tmp_path, code=0)
    assert lines_of(last)[-2]["ndcg_100"] == shared


def test_ctrl_c_ends_the_search_and_the_same_command_goes_on(mfbench, tmp_path):
    spec = {**SPEC, "algorithms": [{"name": "ruler", "sleep_ms": 30,
                                    "tune": {"trials": 4, "over": {"offset": [1, 2]}}}]}
    command = [mfbench.program, "run", write(tmp_path, spec), "--out", "out"]
    process = subprocess.Popen(command, cwd=tmp_path, env=mfbench.environment(), text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for(lambda: list(tmp_path.glob("out/tune/*/*.jsonl")), "trial")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    assert "goes on where it stopped" in err and "not finished" not in err
    assert not list(tmp_path.glob("out/*.jsonl")), "no case without its parameters"
    mfbench("run", "tuned.json", "--out", "out", cwd=tmp_path, code=0)
    assert studies_of(mfbench, tmp_path / "out")["ruler"]["finished"]


def test_what_this_machine_cannot_run_is_skipped(mfbench, tmp_path):
    spec = {**SPEC, "seeds": 1, "algorithms": [
        {"name": "als", "factors": 16, "tune": {"trials": 2, "over": {"reg": [0.01, 0.2]}}}]}
    done = mfbench("run", write(tmp_path, spec), "--out", "out", cwd=tmp_path, code=0)
    (header, *_, footer), = cases_of(tmp_path / "out")
    if footer["status"] == "completed":  # with a device
        assert header["environment"]["gpu"] and header["tuned"]["trials"] == 2
        return
    assert footer["status"] == "skipped" and "CUDA" in footer["stop_reason"]
    assert "CUDA" in done.stderr and "its trials were not run" in done.stderr
    assert trials_of(tmp_path / "out") == {}


def test_the_search_of_another_sampler_runs_as_the_page_has_it(mfbench, tmp_path):
    page = pathlib.Path(__file__).resolve().parent.parent / "docs" / "tuning.md"
    code = re.search(r"```python\n(.*?)```", page.read_text(), re.S)[1].replace("n_trials=24", "n_trials=2")
    (tmp_path / "optuna.py").write_text(IN_OPTUNAS_PLACE)
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, text=True, capture_output=True, env={
        **mfbench.environment(), "PATH": f"{pathlib.Path(mfbench.program).parent}:{os.environ['PATH']}"})
    assert done.returncode == 0, done.stderr
    assert 0 < float(done.stdout) < 3
    assert len(list(tmp_path.glob("trials/*/*.jsonl"))) == 2


IN_OPTUNAS_PLACE = """
import types
class Study:
    best_params = ""
    def optimize(self, score, n_trials):
        self.best_value = min(score(types.SimpleNamespace(
            number=number, suggest_float=lambda name, low, high, log: low + number * (high - low) / 2))
            for number in range(n_trials))
create_study = lambda sampler: Study()
samplers = types.SimpleNamespace(TPESampler=lambda seed: None)
"""


def test_lines_show_the_metric_that_is_tuned_by_or_aimed_at(mfbench, tmp_path):
    pairs = {(user, user * item % 40) for user in range(1, 60) for item in range(1, 9)}
    (tmp_path / "pairs.csv").write_text("user,item\n" + "".join(f"{user},{item}\n" for user, item in sorted(pairs)))
    algorithm = {"name": "ials_cpu", "factors": 4, "threads": 1,
                 "tune": {"trials": 2, "eta": 1, "metric": "ndcg_20", "over": {"reg": [0.5, 5, "log"]}}}
    spec = {"name": "s", "seeds": [1], "datasets": [{"path": "pairs.csv"}], "split": {"holdout": 0.3, "validation": 0.1},
            "stop": {"epochs": 2}, "algorithms": [algorithm]}
    ndcg, recall = "ndcg_20", "recall_10"
    for folder, more, shown in (("a", {}, ndcg), ("b", {"target": {"metric": "recall_10", "value": 0.9}}, recall)):
        done = mfbench("run", write(tmp_path, spec | more), "--out", folder, cwd=tmp_path, code=0)
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("[")]
        trials, cases = ([line for line in lines if (" trial " in line) == is_trial] for is_trial in (True, False))
        assert len(trials) == 2 and all(f"{ndcg} " in line for line in trials), lines
        [header, *trace, _], = cases_of(tmp_path / folder)
        value = trace[-1][shown]
        assert len(cases) == 1 and f"{shown} " in cases[0] and f"{value:.4f}" in cases[0], lines
