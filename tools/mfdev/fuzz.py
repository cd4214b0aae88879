"""./dev fuzz: mutated inputs for the readers of untrusted files, by libFuzzer (testing/fuzz/README.md)."""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import tempfile

from mfdev.build import build_target, configure
from mfdev.deps import need
from mfdev.shell import ROOT, Ended, Failure, jobs, say

# Memory (MB) and time (s) that one input of at most a few KB may take; packed formats may take 256 MB for any input,
# and xz a dictionary more.
LIMITS = ["-rss_limit_mb=2560", "-malloc_limit_mb=1200", "-timeout=25", "-max_len=16384", "-print_funcs=0",
          "-len_control=100"]
# Words that chance would not find: in JSON, in an array of NumPy, in a text.
JSON = ["1e999", "-1", "1e-320", "2147483648", "9223372036854775807", "null", "true", "[]", "{}", "[1, 2]",
        "\\u0000", "\\ud800"]
ARRAY = ["'descr': ", "'fortran_order': ", "'shape': ", "'<f4'", "'<f8'", "'<i4'", "'<i8'", "'<u8'", "'|u1'", "()",
         "(1,)", "(2, 2)", "(4611686018427387904,)", "True", "\x93NUMPY", "\0\0\xc0\x7f", "\0\0\x80\x7f",
         "\xff\xff\xff\x7f"]
TEXT = ["::", "\t", "\r\n", ":\n", "|", "%%MatrixMarket matrix coordinate real general", "integer", "pattern",
        "symmetric", "2147483647", "2147483648", "18446744073709551615", "-0", "0x1", "1e38", "1e39", "1e-46", "nan",
        "inf", "userId,movieId,rating", "user,item,rating,timestamp", "\xef\xbb\xbf", "20:36:00", "2005-09-06"]
# Targets that read JSON, and pages that name its words.
OF_JSON = {"catalog": ["datasets/fetch/catalog.json"], "spec": ["docs/spec.md", "docs/reference/algorithms.md"],
           "split": ["docs/spec.md"], "model": [], "peer": [], "results": [], "packed": [], "study": [],
           "peer_json": ["docs/peers.md"], "claim": [], "json_lines": []}
ROW = "{:<14} {:>12} {:>9} {:>9} {:>9}"
PLACE = pathlib.Path(".cache/fuzz")


def words(target):
    """For the dictionary of a target: keys and names of its seeds and pages, and the above."""
    if target in ("cache", "compressed", "tar"):
        return []
    if target not in OF_JSON:
        return ARRAY if target in ("npy", "npz") else TEXT
    files = [*(ROOT / "testing/fuzz/corpus" / target).iterdir(), *(ROOT / page for page in OF_JSON[target])]
    text = "\n".join(path.read_text(encoding="latin-1") for path in files)
    named = re.findall(r"[A-Za-z][\w+@-]{,31}", " ".join(re.findall("`([^`\n]+)`", text)))
    return sorted({*re.findall(r'"[A-Za-z][\w+@-]{,31}"(?:: ?)?', text), *(f'"{word}"' for word in named), *JSON,
                   *(ARRAY if target in ("model", "peer") else ())})


def dictionary(target):
    """The words as libFuzzer reads them."""
    escaped = ("".join(c if " " <= c <= "~" and c not in '"\\' else f"\\x{ord(c):02x}" for c in word)
               for word in words(target))
    return "".join(f'"{word}"\n' for word in escaped)


def one(target, seconds, scratch):
    """Its inputs grow in .cache/fuzz/TARGET, findings lie beside it. Earlier findings run first: each is found again,
    or was mended."""
    corpus, found = PLACE / target, PLACE / "findings" / target
    for folder in (corpus, found):
        folder.mkdir(parents=True, exist_ok=True)
    for path in [path for path in found.iterdir() if path.is_file()]:
        path.rename(corpus / path.name)
    known = PLACE / f"{target}.dict"
    known.write_text(dictionary(target), encoding="ascii")
    use = [f"-dict={known}"] if known.stat().st_size else []
    with open(PLACE / f"{target}.log", "wb") as log:
        subprocess.run(
            ["build/fuzz/testing/fuzz/fuzz_targets", f"--target={target}", *LIMITS, f"-max_total_time={seconds}",
             "-print_final_stats=1", "-close_fd_mask=3", *use, f"-artifact_prefix={found}/", corpus,
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
    if executions == "?":  # it ends early, with its own message if the program cannot start
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
            raise Failure(f"fuzz: unknown target '{target}'; known: {' '.join(known)}")
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
