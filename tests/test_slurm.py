"""tools/slurm-array.sh under a Slurm of four nodes on this machine, which begins and ends with this file."""

import collections
import contextlib
import getpass
import json
import os
import pathlib
import re
import secrets
import shutil
import socket
import subprocess
import tempfile
import time

import pytest

from support import lines_of, wait_for

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "tools" / "slurm-array.sh"
DAEMONS = ("munged", "slurmctld", "slurmd")
PATH = os.pathsep.join([os.environ["PATH"], "/usr/sbin", "/sbin"])
SPEC = {"name": "array", "datasets": [{"like": "ml-100k", "scale": 0.05}], "seeds": list(range(1, 7)), "stop": {"epochs": 10},
        "algorithms": [{"name": "ruler", "sleep_ms": 50}]}
NODES = 4
LONG = 60  # cases of a second each
CONF = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthInfo=socket={place}/munge.socket
StateSaveLocation={place}/state
SlurmctldPidFile={place}/slurmctld.pid
SlurmdPidFile={place}/%n.pid
SlurmdSpoolDir={place}/%n
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SchedulerParameters=sched_interval=1,bf_interval=1
{nodes}
PartitionName=all Nodes=ALL Default=YES
"""


def free_ports(count):
    """Of different numbers, because all are held at once."""
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [one.getsockname()[1] for one in held]


class Cluster:
    def __init__(self, place, mfbench):
        self.place, self.work = place, place / "work"
        self.environment = {**mfbench.environment(), "PATH": PATH, "MFBENCH": mfbench.program,
                            "SLURM_CONF": str(place / "slurm.conf")}
        self.daemons = []

    def start(self):
        for folder in ("state", "work", *(f"n{k}" for k in range(NODES))):
            (self.place / folder).mkdir()
        (self.place / "key").write_bytes(secrets.token_bytes(128))
        (self.place / "key").chmod(0o600)
        ports = free_ports(NODES + 1)
        host = socket.gethostname().partition(".")[0]
        nodes = "\n".join(f"NodeName=n{k} NodeHostname={host} NodeAddr=127.0.0.1 Port={port}" for k, port in enumerate(ports[1:]))
        (self.place / "slurm.conf").write_text(
            CONF.format(host=host, ports=ports, user=getpass.getuser(), place=self.place, nodes=nodes))
        self.daemon("munged", "--foreground", "--force", *(f"--{what}={self.place}/{name}" for what, name in [
            ("key-file", "key"), ("socket", "munge.socket"), ("pid-file", "munge.pid"), ("seed-file", "seed"), ("log-file", "log")]))
        wait_for((self.place / "munge.socket").exists, "munged", 20)
        self.daemon("slurmctld", "-D")
        for k in range(NODES):
            self.daemon("slurmd", "-D", "-N", f"n{k}")
        wait_for(lambda: self.call("sinfo", "-h", "-t", "idle", "-o", "%D").strip() == str(NODES), "idle nodes", 30)

    def daemon(self, *words):
        with open(self.place / f"{'-'.join(words[::3])}.log".replace("/", "-"), "wb") as log:
            self.daemons.append(subprocess.Popen(words, env=self.environment, stdout=log, stderr=log))

    def end(self):
        self.call("scancel", "--user", getpass.getuser())
        with contextlib.suppress(pytest.fail.Exception):
            wait_for(lambda: not self.call("squeue", "-h"), "end of jobs", 20)
        for one in reversed(self.daemons):
            one.terminate()
        for one in self.daemons:
            one.wait(30)

    def call(self, *words):
        done = subprocess.run(words, cwd=self.work, env=self.environment, capture_output=True, text=True, timeout=60)
        return done.stdout if done.returncode == 0 else ""  # also of a job or a Slurm that is not there yet

    def submit(self, out, *options, spec="s.json"):
        found = self.call("sbatch", "--parsable", *options, SCRIPT, spec, out)
        assert found.strip().isdigit(), "sbatch refused"
        return found.strip()

    def state(self, job):
        time.sleep(0.1)
        return set(re.findall(r"JobState=(\w+)", self.call("scontrol", "show", "job", job)))

    def starts_at_once(self, job):
        """Slurm would wait for two minutes, and refuses a start in the second in which it ended the task."""
        time.sleep(2)
        self.call("scontrol", "update", f"JobId={job}_1", "StartTime=now")
        return self.state(job) == {"RUNNING"}

    def await_end(self, *jobs):
        """What all of their tasks have said."""
        for job in jobs:
            wait_for(lambda: self.state(job) and not self.state(job) & {"PENDING", "RUNNING", "COMPLETING"}, f"end of job {job}")
        return [path.read_text() for job in jobs for path in sorted(self.work.glob(f"slurm-{job}_*.out"))]

    def results(self, out):
        return [lines_of(path) for path in sorted((self.work / out).glob("*.jsonl"))]


@pytest.fixture(scope="module")
def cluster(mfbench):
    if missing := [name for name in DAEMONS if not shutil.which(name, path=PATH)]:
        pytest.skip(f"no {', '.join(missing)}: ./dev deps slurm")
    with tempfile.TemporaryDirectory(prefix="slurm-", dir="/tmp") as place:  # a socket's path is short
        one = Cluster(pathlib.Path(place), mfbench)
        try:
            one.start()
            (one.work / "s.json").write_text(json.dumps(SPEC))
            (one.work / "long.json").write_text(json.dumps({**SPEC, "seeds": list(range(1, LONG + 1)), "stop": {"epochs": 20}}))
            yield one
        finally:
            one.end()


@pytest.fixture(scope="module")
def begun(cluster):
    """Jobs that take long; they begin together."""
    return {"limited": cluster.submit("limited", "--array=1", "--time=1", "--signal=B:TERM@45", spec="long.json"),
            "requeued": cluster.submit("requeued", "--array=1", spec="long.json")}


def run_now(said):
    """By the last table of each task."""
    return [int(re.findall(r"(\d+) run now", text)[-1]) for text in said]


def status(lines):
    return lines[-1].get("status", "unfinished")


def interrupted_of(found):
    """0 if the signal came between two cases, else 1; all others are completed."""
    by_status = collections.Counter(map(status, found))
    assert by_status.keys() <= {"completed", "interrupted"} and by_status["interrupted"] <= 1
    return by_status["interrupted"]


def test_two_arrays_share_a_folder(cluster, begun):
    said = cluster.await_end(*[cluster.submit("shared", "--array=1-2") for _ in range(2)])
    found = cluster.results("shared")
    assert len(said) == 4 and sum(run_now(said)) == len(found) == 6
    assert {status(lines) for lines in found} == {"completed"}
    assert len({lines[0]["environment"]["process"] for lines in found}) == 6, "--apart"
    assert not list((cluster.work / "shared").glob("*.partial*"))


def test_a_requeued_task_goes_on_with_retry(cluster, begun):
    job = begun["requeued"]
    wait_for(lambda: len(cluster.results("requeued")) > 1, "second case")
    cluster.call("scontrol", "requeue", f"{job}_1")
    wait_for(lambda: cluster.state(job) == {"PENDING"}, "requeued job")
    before = cluster.results("requeued")
    interrupted = interrupted_of(before)
    wait_for(lambda: cluster.starts_at_once(job), "second start")
    wait_for(lambda: len(cluster.results("requeued")) > len(before) + 1, "cases after it")
    cluster.call("scancel", job)
    (said,) = cluster.await_end(job)
    assert "DUE TO JOB REQUEUE" in said and "interrupted; the same command goes on where it stopped" in said
    after = cluster.results("requeued")
    retried = ["--retry" in lines[0]["environment"]["command_line"] for lines in after]
    assert retried.count(False) == len(before) - interrupted, "what had been completed stands"
    assert len(list((cluster.work / "requeued").glob("*.partial*"))) == interrupted


def test_a_task_ends_in_order_before_its_limit(cluster, begun):
    (said,) = cluster.await_end(begun["limited"])
    found = cluster.results("limited")
    assert "CANCELLED" in said and "interrupted; the same command goes on where it stopped" in said
    assert "ExitCode=143:0" in cluster.call("scontrol", "show", "job", begun["limited"])
    interrupted = interrupted_of(found)
    assert 5 < len(found) < LONG
    again = cluster.await_end(cluster.submit("limited", f"--array=1-{NODES}", spec="long.json"))
    assert {status(lines) for lines in cluster.results("limited")} == {"completed"}
    assert sum(run_now(again)) == LONG - len(found) + interrupted
