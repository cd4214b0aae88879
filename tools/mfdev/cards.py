"""./dev cards: the specs of experiments/cards on the GPU at hand, or their CPU half."""

import json
import os
import pathlib
import re

from mfdev.build import build, default_preset, have_device
from mfdev.shell import Ended, Failure, output_of, say, status_of

SPECS, RUNS = pathlib.Path("experiments/cards"), "results/runs/cards"

# Cards are compared on equal data, so these never change. The look-alikes are of version 2 of their generator.
CONTENT = {"ml-1m": "edbe2bebfd6282cb", "gowalla@m1": "f6268897b1c49c2e", "lastfm-2k": "93fb1e8a5ce5a456",
           "like:netflix": "ef38c5edc75334cb", "like:ml-20m": "47b5f903d70a274f",
           "like:ml-20m-implicit": "87109fe8b88ce87c"}


def check_content(mfbench):
    """It also fills the cache, so that no case makes a look-alike."""
    for word, pinned in CONTENT.items():
        stats = output_of(mfbench, "data", "stats", word, "--json")
        if not stats:
            say(f"{word} cannot be read, so its specs will not run; mfbench data stats {word} says why")
        elif (found := json.loads(stats)["content_hash"]) != pinned:
            raise Failure(f"cards: the content of {word} is {found}, but the pinned set has {pinned}")


def cards(words):
    cpu, rest = "--cpu" in words, [word for word in words if word != "--cpu"]
    if rest and (rest[0] != "--out" or len(rest) != 2):
        raise Failure(f"cards: unknown argument '{rest[0]}'; known: --out DIR, --cpu")
    if not cpu and not have_device():
        raise Failure("cards: no GPU here (nvidia-smi -L names none); --cpu runs the CPU half")
    mfbench = os.environ.get("MFBENCH")
    if not mfbench:
        build([default_preset()])
        mfbench = f"build/{default_preset()}/mfbench"
    machine = json.loads(output_of(mfbench, "doctor", "--json"))
    card = machine["environment"]["gpu"]
    if not card and not cpu:
        raise Failure(f"cards: the device is {machine['device']}; --cpu runs the CPU half")
    check_content(mfbench)
    folder = pathlib.Path(rest[1] if rest else RUNS) / re.sub(r"[^a-z0-9]+", "-", (card or "cpu").lower())
    failed = False
    for spec in sorted(SPECS.glob("*.json")):
        if spec.name.endswith(".cpu.json") == cpu:
            say(f"running {spec}")
            # A process for each case, so that the time from the file to the model is measured.
            code = status_of(mfbench, "run", spec, "--out", folder / spec.stem, "--apart", "--quiet")
            if code not in (0, 1, 3):  # 1: a case failed, which is a result; 3: the data are missing
                raise Ended(code)
            failed |= code != 0
    say(f"the results are in {folder}")
    return int(failed)
