"""A committed spec names a target that what it runs can reach: a training cut too short ends before the exhibit."""

import json
import lzma
import pathlib

from number_sources import PACKED, packed_below, unpacked

REFERENCE = pathlib.Path(__file__).parent.parent / "results" / "reference"
# No seed of these is there, and why.
KNOWN = {
    ("epyc-2/peers-explicit.ml-100k", "peer:torch:sgd"): "what 24 trials found: docs/peers.md",
    ("h200/peers-explicit.ml-20m", "peer:lenskit:biased_mf"): "what its time for trials found: docs/peers.md",
    ("h200/peers-explicit.netflix", "ebgtg"): "a paper's algorithm, slow to learn: docs/peers.md",
    ("h200/quickstart-gpu", "ebgtg"): "the same in half a minute",
    ("h200-x4/cumf_als/fig8-gpus.hugewiki", "batch_hogwild"): "docs/reproduction/cumf_als.md",
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
