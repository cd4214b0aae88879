"""What `mfbench compare` says of committed results that were measured twice: nothing, but rarely."""

import collections
import itertools
import json
import pathlib

import pytest
from number_sources import lines_of, packed_below, unpacked

REFERENCE = pathlib.Path(__file__).parent.parent / "results" / "reference"
QUIET = {"same", "ambiguous", "too few runs"}
JUDGED = ("epoch_time", "answer_time", "quality")
# Its time is that of its process, 5 % apart: docs/methodology-notes.md, "What no test sees".
OF_THE_PROCESS = "batch_hogwild factors=100"


def machine(found):
    """For a case, and the commit it ran: what has to agree for a measurement made twice."""
    environment = found["environment"]
    unit = "gpu" if found["algorithm"]["hardware"] == "cuda" else "cpu"
    return environment["git_sha"], environment[unit], environment["cores"]


def configuration(found):
    split = {k: v for k, v in found["dataset"].get("split", {}).items() if k != "seed"}
    return json.dumps([found["algorithm"]["name"], found["algorithm"]["params"], split,
                       found["dataset"]["name"], found["dataset"].get("content_hash"),
                       *(found[k] for k in ("schedule", "init", "stop", "evaluate"))],
                      sort_keys=True)


@pytest.fixture(scope="module")
def measured():
    """For every configuration, commit and machine, of which one BLAS has one folder: its files by folder."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for packed in packed_below(REFERENCE):
        of = packed.relative_to(REFERENCE).parts[0]
        for path, (head, *_) in sorted(unpacked(packed)[1].items()):
            found[configuration(head), machine(head), of][path.parent].append((head["seed"], path))
    return found


def copy(path, into):
    (into / path.name).write_text("".join(json.dumps(line) + "\n" for line in lines_of(path)))


def verdicts(mfbench, first, second, folder):
    """Those of each row, with its label."""
    done = mfbench("compare", first, second, "--json", cwd=folder, code=0)
    return [(row[name]["verdict"], row["label"]) for row in json.loads(done.stdout)["rows"]
            for name in JUDGED]


def fewer_than_two_in_a_hundred(found):
    """Nor eight that were disturbed: their files say by what, so no difference is claimed."""
    loud = [one for one in found if one[0] not in QUIET | {"contended"}]
    assert len(loud) <= 0.02 * len(found), loud
    contended = [one for one in found if one[0] == "contended"]
    assert len(contended) <= 0.08 * len(found), contended


def test_the_same_measured_twice(mfbench, measured, tmp_path):
    """Folders that share configurations of one commit and machine: whatever differs is chance, or
    the state of the machine."""
    pairs = collections.defaultdict(list)
    for folders in measured.values():
        for pair in itertools.combinations(sorted(folders), 2):
            pairs[pair].append(folders)
    found = []
    for number, (pair, shared) in enumerate(sorted(pairs.items())):
        for side, folder in zip("ab", pair):
            into = tmp_path / f"{number}{side}"
            into.mkdir()
            for folders in shared:
                for _, path in folders[folder]:
                    copy(path, into)
        found += verdicts(mfbench, tmp_path / f"{number}a", tmp_path / f"{number}b", tmp_path)
    print(collections.Counter(verdict for verdict, _ in found))
    judged = [one for one in found
              if one[0] != "too few runs" and not one[1].startswith(OF_THE_PROCESS)]
    assert len(found) > 100 and len(judged) > 60
    fewer_than_two_in_a_hundred(judged)
