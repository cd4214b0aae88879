"""mfbench.run() by an executor: a job for each case, and otherwise the same run."""

import concurrent.futures
import os
import pathlib
import sys

import pytest

from python_api import frame, mfbench, place, run  # noqa: F401
from support import lines_of

SPEC = {"name": "jobs", "seeds": [1, 2], "stop": {"epochs": 2}, "save_model": True,
        "algorithms": [{"name": "sgd_serial", "factors": 4}, {"name": "als_cpu", "factors": 4}]}
FAILING = {"algorithms": ["bias", {"name": "ruler", "fail_at": 1}]}


def quality(results):
    return results.cases.set_index("case_id")["headline"].to_dict()


def headers(folder):
    return [lines_of(path)[0]["environment"] for path in sorted(pathlib.Path(folder).glob("*.jsonl"))]


@pytest.fixture(scope="module")
def alone(place, frame):
    return quality(run(SPEC, frame, out="alone"))


@pytest.fixture
def threads():
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        yield executor


@pytest.fixture
def on_the_path(monkeypatch):
    """Workers of other programs import the package that is tested."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))


def assert_is_the_run(executor, alone, frame, out):
    """Twice, since the second call finds all results."""
    results = run(SPEC, frame, out=out, executor=executor)
    assert quality(results) == alone and set(results.cases["status"]) == {"completed"}
    made = headers(out)
    assert len({one["process"] for one in made}) == len(made) == 4, "a process each"
    assert results.model(0).P.shape[1] == 4 and list(results.model(0).users) == sorted(frame.userId.unique())
    assert quality(run(SPEC, frame, out=out, executor=executor)) == alone
    assert headers(out) == made and not list(pathlib.Path(out).glob("*.partial*"))


def test_processes(place, frame, alone):
    with concurrent.futures.ProcessPoolExecutor(2) as executor:
        assert_is_the_run(executor, alone, frame, "processes")


def test_a_local_cluster_of_dask(place, frame, alone, on_the_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, \
            distributed.Client(cluster) as client:
        assert_is_the_run(client.get_executor(), alone, frame, "dask")
        assert quality(run(SPEC, frame, out="of-client", executor=client)) == alone


def test_local_jobs_of_submitit(place, frame, alone, on_the_path):
    submitit = pytest.importorskip("submitit")
    executor = submitit.AutoExecutor(folder="logs", cluster="local")
    executor.update_parameters(timeout_min=2)
    assert_is_the_run(executor, alone, frame, "submitit")


def test_progress_and_failures_are_as_without(place, frame, threads, capsys):
    results = mfbench.run({**SPEC, **FAILING}, frame, out="failing", executor=threads)
    shown = capsys.readouterr().err.splitlines()
    assert sorted(line[:5] for line in shown) == [f"[{k}/4]" for k in range(1, 5)]
    assert sum(line.endswith("error: the ruler fails in epoch 1") for line in shown) == 2, shown
    assert sorted(results.cases["status"]) == ["completed", "completed", "error", "error"]
    again = run({**SPEC, **FAILING}, frame, out="failing", executor=threads, retry=True)
    assert sorted(path.name.split("-")[0] for path in pathlib.Path("failing").glob("*.partial*")) == ["ruler", "ruler"]
    assert list(again.cases["status"]) == list(results.cases["status"])


def test_what_stood_before_the_call_runs_once_more(place, frame, threads):
    """Also the trials of a study, of which each job would run its own."""
    tuned = {**SPEC, "save_model": False, "split": {"holdout": 0.2, "validation": 0.1, "seed": 1},
             "algorithms": [{"name": "sgd_serial", "factors": 4, "tune": {"trials": 2, "over": {"reg": [0.01, 0.2, "log"]}}}]}
    with pytest.warns(UserWarning, match="widen the ranges") as told:
        first = run(tuned, frame, out="tuned", executor=threads)
    assert sum("widen the ranges" in str(one.message) for one in told) == 1, "by one of the jobs"
    assert list(first.cases["status"]) == ["completed"] * 2
    trials = list(pathlib.Path("tuned/tune").rglob("*.jsonl"))
    with pytest.warns(UserWarning, match="widen the ranges"):
        run(tuned, frame, out="tuned", executor=threads, rerun=True)
    aside = list(pathlib.Path("tuned").rglob("*.partial*"))
    assert len(aside) == len(trials) + 2 and all(path.name.endswith(".partial-1") for path in aside)


def test_a_class_of_ones_own(place, frame, threads):
    pathlib.Path("mine.py").write_text(
        "import numpy as np\n\nclass Mean:\n    model = 'biased'\n    def __init__(self, train):\n        self.train = train\n"
        "    def fit_epoch(self): pass\n    def factors(self):\n        m, n = self.train.n_users, self.train.n_items\n"
        "        return np.zeros((m, 1)), np.zeros((n, 1)), np.zeros(m), np.zeros(n), self.train.mean\n")
    found = run({"name": "mine", "algorithms": []}, frame, algorithms=["mine.py"], executor=threads)
    assert list(found.cases["status"]) == ["completed"], found.cases["stop_reason"]


class Losing:
    """An executor that loses the worker of its second job."""

    def __init__(self):
        self.jobs = []

    def submit(self, call, *arguments):
        self.jobs.append(concurrent.futures.Future())
        if len(self.jobs) == 2:
            self.jobs[-1].set_exception(concurrent.futures.BrokenExecutor("the worker\nis gone"))
        else:
            self.jobs[-1].set_result(call(*arguments))
        return self.jobs[-1]


def test_a_lost_worker_is_told_and_the_same_call_goes_on(place, frame, alone):
    losing = Losing()
    with pytest.raises(mfbench.Error, match=r"run: 1 of 4 jobs ended without an answer; the same call goes on\. "
                                            r"The first: als_cpu-f4-table-s1-\w{10}: BrokenExecutor: the worker is gone"):
        run(SPEC, frame, out="losing", executor=losing)
    before = headers("losing")
    assert len(losing.jobs) == 4 and len(before) == 3
    assert quality(run(SPEC, frame, out="losing")) == alone
    assert [one for one in headers("losing") if one in before] == before


class Waiting(Losing):
    """Its jobs do not begin; the user gives up."""

    def submit(self, call, *arguments):
        self.jobs.append(concurrent.futures.Future())
        self.jobs[-1].done = self.give_up
        return self.jobs[-1]

    def give_up(self):
        raise KeyboardInterrupt


def test_ctrl_c_cancels_what_has_not_begun(place, frame):
    waiting = Waiting()
    with pytest.raises(KeyboardInterrupt):
        run(SPEC, frame, out="given-up", executor=waiting)
    assert len(waiting.jobs) == 4 and all(job.cancelled() for job in waiting.jobs)


@pytest.mark.parametrize("spec, data", [({"algorithms": ["sgd_seriall"]}, "frame"), ({}, "none.csv"), ({"stop": {"epoch": 2}}, "frame")])
def test_refusals_are_as_without(place, frame, threads, spec, data):
    refused = []
    for how in ({}, {"executor": threads}):
        with pytest.raises(mfbench.ProgramError) as error:
            run({"name": "refused", **spec}, frame if data == "frame" else data, **how)
        refused.append((error.value.code, str(error.value)))
    assert refused[0] == refused[1] and "mfbench-" not in refused[0][1]


def test_what_has_no_sense_beside_an_executor_is_refused(place, frame, threads):
    with pytest.raises(mfbench.Error, match="run: found 'shard' beside an executor, whose jobs are a case each"):
        run(SPEC, frame, executor=threads, shard="1/2")
    with pytest.raises(mfbench.Error, match=r"run: executor: found int, expected one of concurrent.futures or its like"):
        run(SPEC, frame, executor=0)
