"""./dev fuzz: changed inputs for what reads files of strangers, by libFuzzer (testing/fuzz/README.md)."""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import tempfile

from mfdev.build import build_target, configure
from mfdev.deps import need
from mfdev.shell import ROOT, Ended, Failure, jobs, say

# Memory (MB) and time (s) that one input of at most a few KB may take; what packs has 256 MB that need no reason, and
# xz a dictionary of its own.
LIMITS = ["-rss_limit_mb=2560", "-malloc_limit_mb=1200", "-timeout=25", "-max_len=16384", "-print_funcs=0",
          "-len_control=100"]
DICTIONARIES = {"peer": "model", "spec": "spec", "split": "split", "results": "results", "model": "model",
                "catalog": "catalog", "npy": "npy", "npz": "npy", "cache": None, "compressed": None}
ROW = "{:<14} {:>12} {:>9} {:>9} {:>9}"
PLACE = pathlib.Path(".cache/fuzz")


def one(target, seconds, scratch):
    """Its inputs grow in .cache/fuzz/TARGET, what is found lies beside it. What was found before is run first: it is
    found again, or was mended."""
    corpus, found = PLACE / target, PLACE / "findings" / target
    for folder in (corpus, found):
        folder.mkdir(parents=True, exist_ok=True)
    for path in [path for path in found.iterdir() if path.is_file()]:
        path.rename(corpus / path.name)
    name = DICTIONARIES.get(target, "text")
    dictionary = [f"-dict=testing/fuzz/dict/{name}.dict"] if name else []
    with open(PLACE / f"{target}.log", "wb") as log:
        subprocess.run(
            ["build/fuzz/testing/fuzz/fuzz_targets", f"--target={target}", *LIMITS, f"-max_total_time={seconds}",
             "-print_final_stats=1", "-close_fd_mask=3", *dictionary, f"-artifact_prefix={found}/", corpus,
             f"testing/fuzz/corpus/{target}"], stdout=log, stderr=subprocess.STDOUT, check=False,
            env={**os.environ, "TMPDIR": scratch, "UBSAN_OPTIONS": "print_stacktrace=1",
                 "ASAN_OPTIONS": "quarantine_size_mb=16:malloc_context_size=4"})


def row(target, place=PLACE):
    """(line of the table, how many findings)"""
    log = (place / f"{target}.log").read_text(encoding="utf-8", errors="replace")

    def last(pattern):
        return (re.findall(pattern, log, re.M) or ["?"])[-1]

    executions = last(r"^stat::number_of_executed_units: *(\d+)")
    findings = sum(path.is_file() and not path.name.startswith("slow-unit-")
                   for path in (place / "findings" / target).rglob("*"))
    if executions == "?":  # it ends early, with a message of its own, where the program cannot start
        findings = max(findings, 1)
    return ROW.format(target, executions, last(r"^stat::average_exec_per_sec: *(\d+)"), last(r" cov: (\d+) "),
                      findings), findings


def fuzz(words):
    """[SECONDS] [TARGET...]"""
    seconds, targets = (words[0], words[1:]) if words and words[0].isdigit() else ("20", words)
    known = sorted(path.name for path in (ROOT / "testing/fuzz/corpus").iterdir() if path.is_dir())
    targets = targets or known
    for target in targets:
        if target not in known:
            raise Failure(f"fuzz: there is no target '{target}'; known: {' '.join(known)}")
    need(["build", "fuzz"], ["optional"])
    configure("fuzz")
    build_target("fuzz", "fuzz_targets", "fuzz_replay")
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    say(f"{len(targets)} targets for {seconds} s each, {jobs()} at a time")
    with tempfile.TemporaryDirectory(prefix="mfbench-fuzz-", dir=memory) as scratch, \
            concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        list(pool.map(lambda target: one(target, seconds, scratch), targets))
    rows = [row(target) for target in targets]
    print("\n".join([ROW.format("target", "executions", "per_s", "coverage", "findings"), *(line for line, _ in rows)]))
    if any(findings for _, findings in rows):
        say("findings lie in .cache/fuzz/findings, reports in .cache/fuzz/TARGET.log; testing/fuzz/README.md says "
            "what next")
        raise Ended(1)
