"""The memory that `mfbench plan` foresees against what was measured, here and in the committed results."""

import json
import pathlib

import pytest
from number_sources import PACKED, stored_in

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "results" / "reference"
RATINGS = {"like": "netflix", "scale": 0.05, "split": {"holdout": 0.1, "seed": 1}}
ALGORITHMS = [
    {"name": "sgd_serial", "factors": 32},
    {"name": "hogwild", "factors": 16, "threads": 2},
    {"name": "fpsgd", "factors": 16, "threads": 2},
    {"name": "als_cpu", "factors": 8, "threads": 2},
    {"name": "ccd++_cpu", "factors": 4, "threads": 2},
    {"name": "als_cpu", "factors": 8, "threads": 1, "ranks": 3},
    {"name": "fpsgd", "factors": 16, "threads": 1, "ranks": 2},
]
FACTOR = 1.25  # kPlanFactor
SMALL = 64e6  # not worth planning


def plan_of(mfbench, folder, spec, *options, launched=False):
    """`launched`: a process for each rank, as mpirun starts them."""
    environment = {**mfbench.environment(), **({"OMPI_COMM_WORLD_SIZE": "2"} if launched else {})}
    done = mfbench("plan", "plan.json", "--no-measure", "--json", *options, cwd=folder, code=0, spec=spec, env=environment)
    return {case["case_id"]: case for case in json.loads(done.stdout)["cases"]}


def near(peak, planned):
    return min(planned) / FACTOR - SMALL <= peak <= max(planned) * FACTOR + SMALL


def footers_of(place):
    return {path.stem: (lines[0], lines[-1]) for path, lines in stored_in(place)[1].items()}


def packed(name):
    return RESULTS / f"{name}{PACKED}"


@pytest.fixture(scope="module")
def cpu_spec():
    return {"name": "peaks", "datasets": [RATINGS], "stop": {"epochs": 1}, "algorithms": ALGORITHMS}


@pytest.fixture(scope="module")
def cached(mfbench, cpu_spec, tmp_path_factory):
    """A folder in which the data have been made and cached."""
    folder = tmp_path_factory.mktemp("peaks")
    (folder / "s.json").write_text(json.dumps(cpu_spec | {"algorithms": ALGORITHMS[:1]}))
    mfbench("run", "s.json", "--out", "first", "--quiet", cwd=folder, code=0)
    return folder


@pytest.mark.parametrize("sharing", [[], ["--no-share"]], ids=["shared", "each alone"])
def test_memory_of_the_host_is_foreseen(mfbench, cached, cpu_spec, sharing):
    planned = plan_of(mfbench, cached, cpu_spec)
    out = "-".join(["out", *sharing])
    mfbench("run", "plan.json", "--out", out, "--quiet", *sharing, cwd=cached, code=0)
    footers = footers_of(cached / out)
    assert len(footers) == len(ALGORITHMS)
    for case, (_, footer) in footers.items():
        peak = footer["peak_host_bytes"]
        assert near(peak, [footer["planned_host_bytes"]]), case
        assert footer["planned_device_bytes"] is None
        # Before it is known that nothing is shared, the plan is that of a spec that shares.
        if not sharing:
            assert near(peak, [planned[case]["host_bytes"]]), case


def test_a_case_that_does_not_fit_says_what_it_needs(mfbench, tmp_path):
    spec = {"name": "large", "datasets": ["like:hugewiki"], "stop": {"epochs": 1},
            "algorithms": [{"name": "sgd_serial", "factors": 4096}]}
    (case,) = plan_of(mfbench, tmp_path, spec).values()
    assert case["host_bytes"] > 12 * 3.1e9 + 4 * 4096 * 50e6
    assert "of memory" in case["note"] and "are available" in case["note"]


# GiB: what is free once the context stands.
MEMORY = {"h100": "78", "h200": "139", "h200-x4": "139"}
# Of generated data, so that a plan knows their size.
COMMITTED = [
    "h100/als-speed", "h100/als-speed-yahoomusic", "h100/als-speed.solvers", "h100/bpmf-speed", "h100/bpr-speed",
    "h100/ccd/speed", "h100/ccd/speed.cpu", "h200/cu2rec/atomics.ml20m", "h200/cumf_als/fig6",
    "h200/cumf_als/fig6.cpu", "h200/cumf_als/fig6.hugewiki", "h200/cumf_als/fig6.hugewiki.cpu",
    "h100/cumf_als/fig6.yahoomusic", "h200/cumf_als/section56", "h200/cumf_sgd/epochs",
    "h100/ials-speed", "h200/newgpusgd/fig12.netflix", "h100/sgd-gpu-speed", "h100/whole-run",
    "h100/whole-run.blocks", "h100/whole-run.families", "h100/whole-run.implicit", "h100/whole-run.ml1m",
    "h200/cpu-speed", "h200/ials-quality-netflix", "h200/whole-run.hugewiki", "h200-x4/cumf_als/fig8-gpus",
    "h200-x4/cumf_als/fig8-gpus.hugewiki", "h200-x4/cumf_als/fig8-gpus.yahoomusic",
    "h200-x4/scaling.sgd", "h200-x4/whole-run.hugewiki",
]


def without_hash(case):
    return case.rpartition("-")[0]


@pytest.mark.parametrize("results", COMMITTED)
def test_peaks_that_are_committed_are_foreseen(mfbench, tmp_path, results):
    """Between a case alone and one beside all that stays for the next."""
    spec, _ = stored_in(packed(results))
    memory = ("--device-memory", MEMORY[results.partition("/")[0]])
    plans = {}
    measured = footers_of(packed(results)).values()
    launched = any(rank["peak_host_bytes"] for _, footer in measured for rank in footer.get("ranks", []))
    for options in (memory, (*memory, "--no-share")):
        for case, plan in plan_of(mfbench, tmp_path, spec["spec"], *options, launched=launched).items():
            plans.setdefault(without_hash(case), []).append(plan)
    checked = 0
    for header, footer in measured:
        ways = plans.get(without_hash(header["case_id"]))  # newer parameters change the names of cases
        if not ways or footer["status"] != "completed":
            continue
        checked += 1
        for name in ("host", "device"):
            peak, planned = footer[f"peak_{name}_bytes"], [way[f"{name}_bytes"] for way in ways]
            # What stands in a process on a machine with a GPU is more than the data of a small case. Older
            # runs, which did not pack ratings, kept more of them.
            if peak and (name == "device" or (peak > 1e9 and "pack_s" in footer["load_parts"])):
                assert near(peak, planned), (header["case_id"], name, peak, planned)
    assert checked


def test_als_is_planned_for_the_device_it_is_told(mfbench, tmp_path):
    """As many rows as fit."""
    spec = {"name": "als", "datasets": [{"like": "netflix", "split": {"holdout": 0.0140166, "seed": 1}}],
            "stop": {"epochs": 1}, "algorithms": [{"name": "als", "factors": 256}]}
    (h100,) = plan_of(mfbench, tmp_path, spec, "--device-memory", "78").values()
    (small,) = plan_of(mfbench, tmp_path, spec, "--device-memory", "8").values()
    assert 60 * 2**30 < h100["device_bytes"] < 78 * 2**30
    assert 6 * 2**30 < small["device_bytes"] < 8 * 2**30
    assert "are free" not in small["note"]


def test_small_files_are_read_for_a_plan(mfbench, tmp_path):
    """A first plan of a file of one's own has numbers, not a question mark in every row."""
    lines = [f"{user},{item},{(user + item) % 5 + 1}" for user in range(40) for item in range(user % 3, 30)]
    (tmp_path / "own.csv").write_text("user,item,rating\n" + "\n".join(lines) + "\n")
    (tmp_path / "bad.csv").write_text("user,item,rating\n1,2,3\n1,x,y\n")
    algorithms = [{"name": "sgd_serial", "factors": [2, 4]}]
    spec = {"name": "plan", "datasets": [{"path": "own.csv"}, {"path": "bad.csv"}],
            "stop": {"epochs": 2}, "algorithms": algorithms}
    done = mfbench("plan", "plan.json", cwd=tmp_path, code=0, spec=spec)
    own = [line for line in done.stdout.splitlines() if " on own.csv " in line]
    bad = [line for line in done.stdout.splitlines() if " on bad.csv " in line]
    assert len(own) == len(bad) == 2
    for line in own:
        assert "?" not in line and "MiB" in line and "~" in line
    for line in bad:
        assert "NOT RUNNABLE HERE" in line and "bad.csv:3" in line


def test_a_folder_with_links_to_itself_is_not_walked(mfbench, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in "ab":
        (folder / name).symlink_to(".")
    spec = {"name": "plan", "datasets": [{"path": "folder"}], "algorithms": ["sgd_serial"]}
    done = mfbench("plan", "plan.json", cwd=tmp_path, code=0, spec=spec)
    assert "NOT RUNNABLE HERE: folder: found a directory without a known set of ratings" in done.stdout


def test_what_solves_for_all_items_at_once_is_not_estimated_by_the_ratings(mfbench, tmp_path):
    data = {"like": "ml-100k", "scale": 0.1, "implicit": {"min_rating": 4}}
    spec = {"name": "s", "datasets": [data], "algorithms": [{"name": "ease_cpu"}, {"name": "popular"}]}
    done = mfbench("plan", "plan.json", "--json", cwd=tmp_path, code=0, spec=spec)
    ease, popular = json.loads(done.stdout)["cases"]
    assert ease["train_s"] is None and popular["train_s"] > 0
