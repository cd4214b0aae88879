"""The memory that `mfbench plan` foresees against what was measured: of algorithms of the CPU here, of
those of a GPU in the committed results."""

import json
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "results" / "reference" / "h200"
RATINGS = {"like": "netflix", "scale": 0.05, "split": {"holdout": 0.1, "seed": 1}}
ALGORITHMS = [
    {"name": "sgd_serial", "factors": 32},
    {"name": "hogwild", "factors": 16, "threads": 2},
    {"name": "fpsgd", "factors": 16, "threads": 2},
    {"name": "als_cpu", "factors": 8, "threads": 2},
    {"name": "ccd++_cpu", "factors": 4, "threads": 2},
]
SHARE = 0.05
# Stacks, the heap's arenas, pages of libraries that are touched late.
SMALL = 12e6
SECONDS = 120  # for the data of the first run


def plan_of(mfbench, folder, spec):
    (folder / "plan.json").write_text(json.dumps(spec))
    done = mfbench("plan", "plan.json", "--no-measure", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    return {case["case_id"]: case for case in json.loads(done.stdout)["cases"]}


def footers_of(folder):
    found = {}
    for path in folder.glob("*.jsonl"):
        lines = path.read_text().splitlines()
        found[path.stem] = (json.loads(lines[0]), json.loads(lines[-1]))
    return found


@pytest.fixture(scope="module")
def cpu_spec():
    return {"name": "peaks", "datasets": [RATINGS], "stop": {"epochs": 1}, "algorithms": ALGORITHMS}


@pytest.fixture(scope="module")
def cached(mfbench, cpu_spec, tmp_path_factory):
    """A folder in which the data have been made and cached."""
    folder = tmp_path_factory.mktemp("peaks")
    (folder / "s.json").write_text(json.dumps(cpu_spec | {"algorithms": ALGORITHMS[:1]}))
    done = mfbench("run", "s.json", "--out", "first", "--quiet", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("sharing", [[], ["--no-share"]], ids=["shared", "each alone"])
def test_memory_of_the_host_is_foreseen(mfbench, cached, cpu_spec, sharing):
    planned = plan_of(mfbench, cached, cpu_spec)
    out = "-".join(["out", *sharing])
    done = mfbench("run", "plan.json", "--out", out, "--quiet", *sharing, cwd=cached)
    assert done.returncode == 0, done.stderr
    footers = footers_of(cached / out)
    assert len(footers) == len(ALGORITHMS)
    for case, (_, footer) in footers.items():
        peak = footer["peak_host_bytes"]
        slack = SHARE * peak + SMALL
        assert abs(footer["planned_host_bytes"] - peak) < slack, case
        assert footer["planned_device_bytes"] is None
        # Before it is known that nothing is shared, the plan is that of a spec that shares.
        if not sharing:
            assert abs(planned[case]["host_bytes"] - peak) < slack, case


def test_a_case_that_does_not_fit_says_what_it_needs(mfbench, tmp_path):
    spec = {"name": "large", "datasets": ["like:hugewiki"], "stop": {"epochs": 1},
            "algorithms": [{"name": "sgd_serial", "factors": 4096}]}
    (case,) = plan_of(mfbench, tmp_path, spec).values()
    assert case["host_bytes"] > 12 * 3.1e9 + 4 * 4096 * 50e6
    assert "of memory" in case["note"] and "are available" in case["note"]


def table_of(page, heading):
    text = page.read_text().split(heading)[1].split("\n## ")[0]
    rows = [line for line in text.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def test_memory_of_the_device_is_foreseen(mfbench, tmp_path):
    """The table of results/README, from the committed results and from the plan of today."""
    rows = table_of(ROOT / "results" / "README.md", "### Memory, planned and measured")
    assert len(rows) >= 4
    for folder, algorithm, factors, shares, measured, planned in rows:
        folder = folder.strip("`")
        spec = json.loads((RESULTS / folder / "spec.json").read_text())["spec"]
        plans = plan_of(mfbench, tmp_path, spec)
        found = 0
        for case, (header, footer) in footers_of(RESULTS / folder).items():
            own = header["algorithm"]
            if own["name"] != algorithm.strip("`") or str(own["params"]["factors"]) != factors:
                continue
            found += 1
            key = "shared_device_bytes" if shares == "yes" else "device_bytes"
            assert f"{footer['peak_device_bytes'] / 1e9:.2f}" == measured, case
            assert f"{plans[case][key] / 1e9:.2f}" == planned, case
            assert abs(plans[case][key] / footer["peak_device_bytes"] - 1) < SHARE, case
        assert found, (folder, algorithm, factors)
