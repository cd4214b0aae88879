"""run() by an executor: a job for each case, which runs `mfbench run --case HASH` on the executor's workers."""

import contextlib
import json
import os
import re
import time

from mfbench import call, tables
from mfplots.errors import PlotError


def place(executor, options):
    """A folder that the workers see, for the files of the call."""
    if not hasattr(executor, "submit"):
        raise PlotError(f"run: executor: found {type(executor).__name__}, expected one of concurrent.futures or its like")
    for name in filter(options.get, ("case", "profile", "shard", "trace")):
        raise PlotError(f"run: found {name!r} beside an executor, whose jobs are a case each; leave one of them out")
    tables.PLACE.mkdir(parents=True, exist_ok=True)
    return tables.PLACE.absolute()


def lines(executor, command, spec, *words, env, hear, hide):
    """As call.lines, of all jobs. Their results stand if a job fails or the call is interrupted."""
    printed, heard, ends, broken = [], [], [], []
    call.judge(*call.started("validate", spec, "--json", env=env, hear=printed.append, hide=hide))
    # By the clock of the common folder: --retry and --rerun mean the results that were there before all jobs.
    words = [command, str(spec), *words, f"--began-ns={spec.stat().st_mtime_ns}"]
    with getattr(executor, "batch", contextlib.nullcontext)():  # submitit makes one job array of it
        jobs = {one["id"]: executor.submit(there, [*words, "--case", one["id"].rpartition("-")[2]], env, os.getcwd(), hide)
                for one in json.loads(b"".join(printed))}
    try:
        while jobs:
            for case in [case for case, job in jobs.items() if job.done()]:
                try:
                    said, *end = jobs.pop(case).result()
                except Exception as error:  # the worker's or the executor's
                    broken.append(f"{case}: {type(error).__name__}: {' '.join(str(error).split())}")
                else:
                    heard += [hear(line) or line for line in said]
                    ends.append(end)
            time.sleep(0.1)  # some executors' jobs have only done() and result()
    finally:
        for job in jobs.values():
            job.cancel()
    call.judge(0, "\n".join({re.sub(r"process \d+", "", line): line for _, text in ends for line in text.splitlines()}.values()))
    for end in (end for end in ends if end[0] not in call.FINE):
        call.judge(*end)
    if broken:
        raise PlotError(f"run: {len(broken)} of {len(ends) + len(broken)} jobs ended without an answer; the same call goes on. The first: {broken[0]}")
    return heard


def there(words, env, cwd, hide):
    """The job: its lines without long curves, exit code and messages, all plain values, which travel."""
    heard = []
    code, said = call.started(*words, env=env, cwd=cwd, hear=lambda line: heard.append(json.loads(line)), hide=hide)
    return [line for line in heard if line["type"] != "trace"], code, said
