"""./dev soak: thousands of small cases in one run, the same run killed again and again, and two runs on one folder.

These must hold: memory and descriptors of a run do not grow with its cases beyond the record of each; a killed run goes
on without a case lost, doubled or changed; two runs share a folder; and all three have the same numbers.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import time

from mfdev.build import build_target, configure
from mfdev.shell import ROOT, Failure, say

ALGORITHMS = [{"name": "sgd_serial", "factors": [2, 3]}, {"name": "als_cpu", "factors": 2, "threads": 1}, {"name": "bias"}]
OF_A_SEED = 4  # cases
COMPARED = ("epoch", "updates", "test_rmse", "test_mae", "learning_rate")
LOOKS = 10
FEWEST_CASES = 4 * LOOKS  # so that each look has new cases
# For each case its row of the table and its name stay in memory until the end.
MOST_BYTES_OF_CASE, MOST_DESCRIPTORS, MOST_SLOWER = 16 << 10, 2, 3.0
LEAST_SECONDS = 1.0  # of a half that tells of a trend: in a few milliseconds one pause of the machine is most of it


def spec(cases):
    return {"name": "soak", "datasets": [{"like": "ml-100k", "scale": 0.01}], "stop": {"epochs": 2},
            "seeds": list(range(1, cases // OF_A_SEED + 1)), "algorithms": ALGORITHMS}


class Soak:
    def __init__(self, program, cases, place):
        self.cases, self.place = cases, place
        self.command = [program, "run", "soak.json", "--json", "--out"]
        self.environment = {**os.environ, "MFBENCH_CACHE": str(place / "cache")}
        (place / "soak.json").write_text(json.dumps(spec(cases)), encoding="ascii")

    def start(self, out, stderr=subprocess.PIPE):
        return subprocess.Popen([*self.command, out], cwd=self.place, env=self.environment, stdout=subprocess.PIPE,
                                stderr=stderr, text=True)

    def watched(self, out):
        """Seconds, resident bytes and descriptors of a whole run, at its start and after each tenth of its cases."""
        looks, ended = [], 0
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:  # a pipe would fill up while the other is read
            process = self.start(out, said)
            for line in process.stdout:
                ended += json.loads(line)["type"] == "case_ends"
                if ended >= (1 + (self.cases - 1) * len(looks) // LOOKS) and len(looks) <= LOOKS:
                    looks.append((ended, time.monotonic(), *use_of(process.pid)))
            if process.wait() != 0 or ended != self.cases:
                said.seek(0)
                raise Failure(f"{ended} of {self.cases} cases ended, and the run with code {process.returncode}: "
                              f"{said.read()}")
        return looks

    def measured(self, out):
        """By case, the numbers of its trace. Raises Failure if a file is incomplete."""
        found = {}
        for path in sorted((self.place / out).glob("*.jsonl")):
            header, *trace, footer = lines_of(path)
            if footer.get("status") != "completed" or header["case_hash"] in found:
                raise Failure(f"{path}: {footer.get('status')}, or a second file of its case")
            found[header["case_hash"]] = [[line[key] for key in COMPARED] for line in trace]
        return found

    def killed(self, out, kills, duration, rng):
        """How many met a running process."""
        finished, met, pause = {}, 0, duration / kills
        for _ in range(10 * kills):
            process = self.start(out)
            process.stdout.readline()  # it has read the spec, and its first case begins
            try:
                process.communicate(timeout=rng.uniform(0, 2 * pause))
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                met += 1
            self.check_finished(out, finished)
            if met == kills:
                break
            if len(finished) == self.cases:
                shutil.rmtree(self.place / out)
                finished.clear()
        return met

    def check_finished(self, out, finished):
        """A case that has ended keeps its file, byte for byte."""
        for path in (self.place / out).glob("*.jsonl"):
            data = path.read_bytes()
            if b'"type":"footer"' in data and finished.setdefault(path.name, data) != data:
                raise Failure(f"{path}: was finished, and has changed")
        for name in finished:
            if not (self.place / out / name).is_file():
                raise Failure(f"{name}: was finished, and is gone")

    def ends(self, process):
        """The counts of its last line."""
        out, said = process.communicate()
        if process.returncode != 0:
            raise Failure(f"the run ended with code {process.returncode}: {said}")
        return json.loads(out.splitlines()[-1])


def use_of(pid):
    """(resident bytes, descriptors)"""
    pages = int(pathlib.Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE"), len(os.listdir(f"/proc/{pid}/fd"))


def lines_of(path):
    text = path.read_text(encoding="utf-8")
    if not text.endswith("\n"):
        raise Failure(f"{path}: its last line has no end")
    lines = [json.loads(line) for line in text.splitlines()]
    if [line["type"] for line in lines] != ["header", *["trace"] * (len(lines) - 2), "footer"]:
        raise Failure(f"{path}: expected a header, trace points and a footer")
    return lines


def check_growth(looks):
    (first, began, early, few), (last, end, late, many) = looks[1], looks[-1]
    halves = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in ((looks[1], looks[LOOKS // 2]), (looks[LOOKS // 2], looks[-1]))]
    of_case = (late - early) / (last - first)
    say(f"{last} cases: {1e3 * (end - looks[0][1]) / (last - looks[0][0]):.1f} ms each ({1e3 * halves[0]:.1f} in the first half, "
        f"{1e3 * halves[1]:.1f} in the second); memory {early / 2**20:.1f} MiB after {first}, {late / 2**20:.1f} at the end: "
        f"{of_case / 1024:.1f} KiB a case; descriptors {few}, {many}")
    slower = halves[1] > MOST_SLOWER * halves[0] and end - looks[LOOKS // 2][1] > LEAST_SECONDS
    if of_case > MOST_BYTES_OF_CASE or many > few + MOST_DESCRIPTORS or slower:
        raise Failure("a run takes more the more cases it has")
    return end - looks[0][1]


def soak_in(place, program, cases, kills):
    seed = int(os.environ.get("FAULT_SEED") or random.SystemRandom().randrange(1_000_000))
    say(f"FAULT_SEED={seed}")
    soaked = Soak(program, cases, place)
    duration = check_growth(soaked.watched("whole"))
    expected = soaked.measured("whole")
    if len(expected) != cases:
        raise Failure(f"{len(expected)} of {cases} cases have a file")

    met = soaked.killed("killed", kills, duration, random.Random(seed))
    last = soaked.ends(soaked.start("killed"))
    left = collections.Counter(path.name.split("-")[0] for path in (place / "killed").glob(".*"))
    say(f"killed {met} times, then {last['finished_before']} cases were there and {last['run']} were run; set aside "
        f"{len(list((place / 'killed').glob('*.partial-*')))} unfinished ones, left behind {dict(left) or 'nothing'}")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:  # each says more than a pipe holds
        counts = [last["run"] for last in pool.map(lambda _: soaked.ends(soaked.start("both")), range(2))]
    say(f"two runs on one folder ran {counts[0]} and {counts[1]} cases")
    if met < kills or last["failed"] or sum(counts) != cases:
        raise Failure(f"expected {kills} kills and {cases} cases")
    for out in ("killed", "both"):
        if soaked.measured(out) != expected:
            raise Failure(f"{out}: other numbers than an undisturbed run")


def soak(words):
    """[CASES] [KILLS]"""
    cases, kills = [*(int(word) if word.isdecimal() else 0 for word in words), *(2000, 40)[len(words):]]
    if cases < FEWEST_CASES or kills < 1:
        raise Failure(f"soak: found {' '.join(words)}, expected {FEWEST_CASES} or more cases and 1 or more kills")
    program = os.environ.get("MFBENCH")
    if not program:
        configure("cpu")
        build_target("cpu", "mfbench")
    with tempfile.TemporaryDirectory(prefix="mfbench-soak-") as place:
        soak_in(pathlib.Path(place), program or str(ROOT / "build/cpu/mfbench"), cases - cases % OF_A_SEED, kills)
    say("sound")
