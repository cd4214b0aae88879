"""The memory that `mfbench plan` foresees against what was measured: of algorithms of the CPU here, of
those of a GPU in the committed results."""

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
]
SHARE = 0.05
# Stacks, the heap's arenas, pages of libraries that are touched late.
SMALL = 12e6
SECONDS = 120  # for the data of the first run


def plan_of(mfbench, folder, spec, *options):
    done = mfbench("plan", "plan.json", "--no-measure", "--json", *options, cwd=folder, code=0, spec=spec)
    return {case["case_id"]: case for case in json.loads(done.stdout)["cases"]}


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


# GiB: what is free once the context stands.
MEMORY = {"h100": ("--device-memory", "78"), "h200": ("--device-memory", "139")}


def planned_as_today(mfbench, folder, results):
    """Cases by algorithm and factors: newer parameters change the names of cases. Alone and shared."""
    spec = stored_in(packed(results))[0]["spec"]
    device = MEMORY[results.partition("/")[0]]
    plans = {}
    for case, plan in plan_of(mfbench, folder, spec, *device).items():
        algorithm, factors = case.split("-")[:2]
        plans[algorithm, factors] = {"yes": plan["shared_device_bytes"]}
    for case, plan in plan_of(mfbench, folder, spec, *device, "--no-share").items():
        algorithm, factors = case.split("-")[:2]
        plans[algorithm, factors]["no"] = plan["device_bytes"]
    return plans


# R stayed on the device for the next case; all others ran with --no-share, or do not fit beside it.
SHARED = {("h200/whole-run.hugewiki", 32), ("h100/whole-run.ml1m", 64)}
WHOLE_RUNS = sorted(
    f"{card}/{path.name.removesuffix(PACKED)}"
    for card in MEMORY
    for path in (RESULTS / card).glob(f"whole-run*{PACKED}")
)


@pytest.mark.parametrize("results", WHOLE_RUNS)
def test_memory_of_the_device_is_foreseen(mfbench, tmp_path, results):
    """Every peak in the committed results, by the plan of today."""
    measured = [pair for pair in footers_of(packed(results)).values() if pair[1]["peak_device_bytes"] is not None]
    assert measured
    plans = planned_as_today(mfbench, tmp_path, results)
    for header, footer in measured:
        algorithm, factors = header["algorithm"]["name"], header["algorithm"]["params"]["factors"]
        plan = plans[algorithm, f"f{factors}"]["yes" if (results, factors) in SHARED else "no"]
        assert abs(plan / footer["peak_device_bytes"] - 1) < SHARE, header["case_id"]


def test_there_are_whole_runs():
    assert len(WHOLE_RUNS) >= 6


def test_als_is_planned_for_the_device_it_is_told(mfbench, tmp_path):
    """As many rows as fit: the committed peaks are those of an H100."""
    spec = {"name": "als", "datasets": [{"like": "netflix", "split": {"holdout": 0.0140166, "seed": 1}}],
            "stop": {"epochs": 1}, "algorithms": [{"name": "als", "factors": 256}]}
    (h100,) = plan_of(mfbench, tmp_path, spec, *MEMORY["h100"]).values()
    (small,) = plan_of(mfbench, tmp_path, spec, "--device-memory", "8").values()
    peak = max(footer["peak_device_bytes"] for header, footer in footers_of(packed("h100/als-speed.solvers")).values()
               if header["algorithm"]["name"] == "als" and header["algorithm"]["params"]["factors"] == 256)
    assert abs(h100["device_bytes"] / peak - 1) < SHARE
    assert 6 * 2**30 < small["device_bytes"] < 8 * 2**30
    assert small["least_device_bytes"] == h100["least_device_bytes"] < small["device_bytes"]
    assert "are free" not in small["note"]
    (refused,) = plan_of(mfbench, tmp_path, spec, "--device-memory", "2").values()
    assert refused["least_device_bytes"] > 2 * 2**30


def test_hugewiki_is_admitted_to_one_h200(mfbench, tmp_path):
    spec = stored_in(packed("h200/whole-run.hugewiki"))[0]["spec"]
    for options in (MEMORY["h200"], (*MEMORY["h200"], "--no-share")):
        for case in plan_of(mfbench, tmp_path, spec, *options).values():
            assert case["least_device_bytes"] < 139 * 2**30, case
            assert case["device_bytes"] < 139 * 2**30, case
            # One copy of the ratings.
            assert case["host_bytes"] < 80e9, case


def test_small_files_are_read_for_a_plan(mfbench, tmp_path):
    """A first plan of a file of one's own has numbers, not a question mark in every row."""
    lines = [f"{user},{item},{(user + item) % 5 + 1}" for user in range(40) for item in range(user % 3, 30)]
    (tmp_path / "own.csv").write_text("user,item,rating\n" + "\n".join(lines) + "\n")
    (tmp_path / "bad.csv").write_text("user,item,rating\n1,2,3\n1,x,y\n")
    algorithms = [{"name": "sgd_serial", "factors": [2, 4]}]
    spec = {"name": "plan", "datasets": [{"path": "own.csv"}, {"path": "bad.csv"}],
            "stop": {"epochs": 2}, "algorithms": algorithms}
    done = mfbench("plan", "plan.json", cwd=tmp_path, code=0, spec=spec)
    own = [line for line in done.stdout.splitlines() if "-own.csv-" in line]
    bad = [line for line in done.stdout.splitlines() if "-bad.csv-" in line]
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
