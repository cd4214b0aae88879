"""Specs and runs of several ranks, for tests/test_ranks.py and tests/test_rank_ends.py."""

import functools
import json
import os
import shutil
import subprocess

import pytest

from support import lines_of

SPEC = {
    "name": "ranks",
    "datasets": [{"like": "ml-100k", "scale": 0.1}],
    "seeds": [1],
    "stop": {"epochs": 3},
    "algorithms": [{"name": "als_cpu", "factors": 9, "threads": 1, "center": "biases"}],
}
# Long enough to be met in the middle of it.
LONG = {**SPEC, "datasets": [{"like": "ml-100k"}], "stop": {"epochs": 100000},
        "algorithms": [{"name": "als_cpu", "factors": 32, "threads": 1, "ranks": 3}]}


def with_ranks(count, base=None):
    base = base or SPEC
    return {**base, "algorithms": [{**base["algorithms"][0], "ranks": count}]}


def write(folder, spec, name="spec.json"):
    path = folder / name
    path.write_text(json.dumps(spec))
    return path


def cases_in(folder):
    """For each case: header, trace and footer."""
    return [lines_of(path) for path in sorted((folder / "results/runs/ranks").glob("*.jsonl"))]


def rmse_of(folder):
    (lines,) = cases_in(folder)
    return [line["test_rmse"] for line in lines if line["type"] == "trace"]


@functools.cache
def find_mpirun(mfbench):
    """Skips without it, or if mfbench was built without MPI."""
    doctor = json.loads(subprocess.run([mfbench.program, "doctor", "--json"], text=True,
                                       capture_output=True, check=True).stdout)
    if not doctor["build"]["mpi"].startswith("yes"):
        pytest.skip("this mfbench was built without MPI (./dev deps mpi, rebuild)")
    return shutil.which("mpirun") or pytest.skip("no mpirun (./dev deps mpi)")


def of_mpi(count, mfbench, *arguments):
    """The command that runs mfbench under mpirun."""
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return [find_mpirun(mfbench), *root, "--oversubscribe", "--bind-to", "none", "-n", str(count), mfbench.program,
            *map(str, arguments)]


@pytest.fixture
def own_cache(mfbench, tmp_path):
    return {**mfbench.environment(), "MFBENCH_CACHE": str(tmp_path / "cache")}
