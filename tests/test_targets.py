"""A committed spec names a target that what it runs can reach: a training cut too short ends before the exhibit."""

import json
import lzma
import math
import pathlib
import statistics
import subprocess

import pytest

from number_sources import PACKED, packed_below, unpacked

REFERENCE = pathlib.Path(__file__).parent.parent / "results" / "reference"
# No seed of these is there, and why.
KNOWN = {
    ("epyc-2/peers-explicit.ml-100k", "peer:torch:sgd"): "what 24 trials found: docs/comparison.md",
    ("h100/peers-explicit", "bias"): "the baseline that the target is to be above",
    ("h100/peers-explicit.netflix", "ebgtg"): "a paper's algorithm, slow to learn: docs/comparison.md",
    ("h100/peers-explicit.netflix", "batch_hogwild"): "what eight points found: docs/comparison.md",
    ("h200/quickstart-gpu", "ebgtg"): "the same in half a minute",
    **{(f"h200/cumf_als/fig8-rates{part}", one): "a search"
       for part in ("", ".yahoomusic") for one in ("als", "als_fused", "batch_hogwild", "sgd_tiled")},
    ("h200/cumf_als/fig8-rates.peers", "peer:libmf:sgd"): "a search",
    ("h200/cumf_als/als-then-sgd", "als"): "two iterations, whose model SGD starts from",
    **{("h200/cumf_als/als-then-sgd.sgd", one): "from that model: docs/reproduction/cumf_als.md"
       for one in ("batch_hogwild", "sgd_tiled")},
    **{(f"h200/cards/{name}", one): "ends short of it, as its spec says"
       for name in ("ml-1m", "ml-20m", "netflix") for one in ("sgd_atomic", "ebltg", "ebgtg")},
    ("h200/cards/netflix", "gpusgd"): "three epochs, as its spec says",
    ("h200/cards/netflix", "newgpusgd"): "three epochs, as its spec says",
}


def configuration(head):
    return head["algorithm"]["name"], head["dataset"]["name"], json.dumps([head["algorithm"]["params"], head["schedule"]])


def found_of(cases, target):
    """{configuration: whether a seed of it reaches the target}, of all that ran."""
    found = {}
    for lines in cases:
        if lines[-1].get("status") == "skipped":
            continue
        rmse = [line["test_rmse"] for line in lines if isinstance(line.get("test_rmse"), float)]
        found.setdefault(configuration(lines[0]), []).append(any(value <= target for value in rmse))
    return {name: any(there) for name, there in found.items()}


def test_a_seed_of_every_configuration_reaches_the_target_of_its_spec():
    missed = set()
    for packed in packed_below(REFERENCE):
        with lzma.open(packed, "rt", encoding="utf-8") as lines:
            target = json.loads(next(lines)).get("target_rmse")
        if target is None:
            continue
        _, cases = unpacked(packed)
        folder = packed.relative_to(REFERENCE).as_posix().removesuffix(PACKED)
        missed |= {(folder, name) for (name, *_), there in found_of(cases.values(), target).items() if not there}
    assert missed == set(KNOWN)


# ---- the frozen ones --------------------------------------------------------------------------------------

FROZEN = json.loads((pathlib.Path(__file__).parent.parent / "harness" / "experiment" / "targets.json").read_text())
LEVELS = ("named", "stricter", "strictest")
SPECS = pathlib.Path(__file__).parent.parent / "experiments"


def sign(row):
    return 1 if row["metric"] == "test_rmse" else -1


def easier(row, value):
    """To three digits, so that who has reached the value has reached what is written."""
    return sign(row) * math.ceil(round(sign(row) * value * 1000, 6)) / 1000


@pytest.fixture(scope="module")
def measured():
    """{(data set, metric): [(folder, algorithm, split, headlines of the seeds)]}, of the folders that the rows name."""
    found = {}
    for folder in sorted({row["in"] for row in FROZEN["sets"] if "in" in row}):
        seeds = {}
        for head, *trace, foot in unpacked(REFERENCE / (folder + PACKED))[1].values():
            if foot["status"] != "completed" or head["schedule"].get("monitor") == "test" or "plateau" in head["stop"]:
                continue
            split = {key: value for key, value in head["dataset"]["split"].items() if key != "seed"}
            key = head["algorithm"]["name"], head["dataset"]["name"], json.dumps(split, sort_keys=True), \
                json.dumps([head["algorithm"]["params"], head["schedule"], head["stop"]], sort_keys=True)
            seeds.setdefault(key, []).append(headline(trace))
        for (algorithm, dataset, split, _), values in seeds.items():
            found.setdefault(dataset, []).append((folder, algorithm, json.loads(split), values))
    return found


def headline(trace):
    chosen = [point for point in trace if point["epoch"] > 0 and point.get("validation_rmse") is not None]
    point = min(chosen, key=lambda one: one["validation_rmse"]) if chosen else trace[-1]
    return {metric: point.get(metric) for metric in FLOORS}


@pytest.mark.parametrize("row", FROZEN["sets"], ids=lambda row: f"{row['dataset']} {row['split']}")
def test_frozen_targets_follow_their_rule(row, measured):
    named, stricter, strictest = (row[level] for level in LEVELS)
    if row["chosen"] == "named":
        assert row["named_by"] and named == stricter == strictest
        return
    assert row["chosen"] in ("before", "afterwards")
    assert sign(row) * named > sign(row) * stricter > sign(row) * strictest
    assert stricter == easier(row, (named + strictest) / 2)
    medians = [statistics.median(seed[row["metric"]] for seed in values)
               for folder, algorithm, split, values in measured[row["dataset"]]
               if (folder, algorithm) == (row["in"], row["reached_by"]) and len(values) >= 3
               and all(split.get(key) == value for key, value in row["split"].items())]
    assert easier(row, min(medians, key=lambda value: sign(row) * value)) == strictest


def test_frozen_targets_are_those_of_the_specs():
    rows = {(row["dataset"], row["metric"]) for row in FROZEN["sets"]}
    asked = set()
    for packed in packed_below(REFERENCE):
        spec, cases = unpacked(packed)
        target = spec["spec"].get("target") or {"metric": "test_rmse", "value": spec.get("target_rmse")}
        if target["value"] is not None:
            asked |= {(lines[0]["dataset"]["name"], target["metric"], target["value"]) for lines in cases.values()}
    assert {(dataset, metric) for dataset, metric, _ in asked} <= rows
    assert {(row["dataset"], row["metric"], row["named"]) for row in FROZEN["sets"] if row["named_by"]} <= asked
    for row in FROZEN["sets"]:
        if row["named_by"]:
            spec = json.loads((SPECS / (row["named_by"] + ".json")).read_text())
            target = spec.get("target") or {"metric": "test_rmse", "value": spec["target_rmse"]}
            assert target == {"metric": row["metric"], "value": row["named"]}


# ---- what they are beyond, and what they precede ----------------------------------------------------------

FLOORS = {"test_rmse": ("bias",), "ndcg_100": ("popular", "item_knn"), "recall_of_all_20": ("popular", "item_knn")}
# No committed result has one of these.
WITHOUT_FLOOR = {"ml-100k expanded 4x2", "ml-20m look-alike", "netflix look-alike", "yahoomusic look-alike", "hugewiki look-alike",
                 "hugewiki look-alike x0.1", "ml-20m-implicit look-alike", "ml-100k look-alike", "ml-1m look-alike"}


def is_of(row, head):
    data = head["dataset"]
    return data["name"] == row["dataset"] and all(data.get("split", {}).get(key) == value for key, value in row["split"].items())


@pytest.fixture(scope="module")
def judged():
    """For each row: {folder: {baseline: its headlines}}, of all committed results of its data set and split."""
    found = [{} for _ in FROZEN["sets"]]
    for packed in packed_below(REFERENCE):
        folder = packed.relative_to(REFERENCE).as_posix().removesuffix(PACKED)
        for head, *trace, _ in unpacked(packed)[1].values():
            for row, folders in zip(FROZEN["sets"], found):
                if trace and "trial" not in head and is_of(row, head):
                    floors = folders.setdefault(folder, {})
                    name, value = head["algorithm"]["name"], headline(trace)[row["metric"]]
                    if name in FLOORS[row["metric"]] and value is not None:
                        floors.setdefault(name, []).append(value)
    return {id(row): folders for row, folders in zip(FROZEN["sets"], found)}


def is_beyond(row, floors):
    """By the range of a baseline's seeds from its median."""
    return all(sign(row) * row["named"] < sign(row) * statistics.median(values) - (max(values) - min(values)) for values in floors)


def test_named_targets_are_beyond_the_baselines(judged):
    without = set()
    for row in FROZEN["sets"]:
        floors = [values for folder in judged[id(row)].values() for values in folder.values()]
        if floors:
            assert is_beyond(row, floors) == row.get("beyond", True), row["dataset"]
            assert row.get("beyond", True) or row["named_by"], f"{row['dataset']}: this number is ours to change"
        else:
            without.add(row["dataset"])
    assert without == WITHOUT_FLOOR


def git(*words):
    done = subprocess.run(["git", "-C", str(SPECS), *words], capture_output=True, text=True)
    return done.stdout.split() if done.returncode == 0 else None


def first_commit(path, *words):
    """When it was made, in seconds; the file had another place once."""
    return min(map(int, git("log", "--format=%ct", *words, "--", *path)), default=math.inf)


def precedes(row, folders):
    values = f'"stricter": {row["stricter"]}, "strictest": {row["strictest"]}'
    frozen = first_commit([":/harness/experiment/targets.json", ":/harness/spec/targets.json"], f"-S{values}")
    return all(frozen < first_commit([f":/results/reference/{folder}{PACKED}"]) for folder in folders if folder != row["in"])


def test_targets_chosen_before_precede_what_they_judge(judged):
    if git("rev-parse", "--is-shallow-repository") != ["false"]:
        pytest.skip("the order of commits needs the history of git, whole")
    early = {id(row): precedes(row, judged[id(row)]) for row in FROZEN["sets"] if "in" in row}
    assert all(early[id(row)] for row in FROZEN["sets"] if row["chosen"] == "before")
    netflix = next(row for row in FROZEN["sets"] if (row["dataset"], row["split"]) == ("netflix look-alike", {"holdout": 0.2}))
    assert not early[id(netflix)], "it came with the results that it judges"


def test_summaries_have_the_three_targets(mfbench, tmp_path):
    spec = {"name": "s", "seeds": [1], "datasets": [{"like": "ml-100k"}], "split": {"holdout": 0.2}, "stop": {"epochs": 8},
            "algorithms": [{"name": "sgd_serial", "learning_rate": 0.02, "reg": 0.1, "factors": [2, 4]}]}
    mfbench("run", "s.json", "--out", "out", "--quiet", cwd=tmp_path, code=0, spec=spec)
    row = next(row for row in FROZEN["sets"] if row["dataset"] == "ml-100k look-alike")
    summarized = mfbench("summarize", "out", "--json", cwd=tmp_path, code=0).stdout.splitlines()
    for case in (json.loads(line)["at_frozen_targets"] for line in summarized):
        assert [case[level]["value"] for level in LEVELS] == [row[level] for level in LEVELS]
        assert case["named"]["answer_s"] is None or case["named"]["answer_s"] > case["named"]["train_s"] > 0
