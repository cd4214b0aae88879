"""What a hostile library may try, for tests/test_peers.py, which puts the fake peer behind it. Prints for each attempt the
word of `confined` that is to keep it from it, the attempt, and the name of the error or "done"."""

import ctypes
import errno
import os
import pathlib
import resource
import socket
import stat
import sys

FOLDER, SCRIPTS = pathlib.Path(sys.argv[1]), pathlib.Path(__file__).parent
PID = int((SCRIPTS / "pid").read_text())
RESULTS = pathlib.Path((SCRIPTS / "results").read_text())
LISTENERS = (SCRIPTS / "listeners").read_text().split("\n")
libc = ctypes.CDLL(None, use_errno=True)


def call(number, *arguments):
    if libc.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), "")


def connect(place):
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(place)


def write_what_is_not_to_be_written():
    (FOLDER / "mine").write_text("")
    (FOLDER / "mine").chmod(0o444)
    (FOLDER / "mine").write_text("")


def hold_capabilities():
    held = [line for line in pathlib.Path("/proc/self/status").read_text().splitlines() if line.startswith("Cap")]
    if not any(int(line.split()[1], 16) for line in held if not line.startswith("CapBnd") or os.geteuid() == 0):
        raise OSError(errno.EPERM, "")


ATTEMPTS = [
    *(("calls", f"limit {kind}", lambda kind=kind, most=most: resource.prlimit(PID, kind, (most, most)))
      for kind, most in ((resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_NOFILE, 3), (resource.RLIMIT_AS, 1 << 20))),
    ("calls", "priority", lambda: os.setpriority(os.PRIO_PROCESS, PID, 19)),
    ("calls", "scheduler", lambda: os.sched_setscheduler(PID, os.SCHED_IDLE, os.sched_param(0))),
    ("processes", "affinity", lambda: os.sched_setaffinity(PID, {min(os.sched_getaffinity(0))})),
    ("modes", "chmod of what it sees", lambda: SCRIPTS.chmod(0o755)),
    ("modes", "chmod", lambda: RESULTS.chmod(0)),
    ("modes", "chmod of a file", lambda: (RESULTS / "spec.json").chmod(0)),
    ("modes", "chown", lambda: os.chown(RESULTS, os.getuid(), os.getgid())),
    ("modes", "times", lambda: os.utime(RESULTS, (1, 1))),
    ("writes", "a character device", lambda: os.mknod(FOLDER / "c", 0o600 | stat.S_IFCHR, os.makedev(1, 3))),
    ("writes", "a block device", lambda: os.mknod(FOLDER / "b", 0o600 | stat.S_IFBLK, os.makedev(7, 0))),
    ("writes", "a file of mode 0444", write_what_is_not_to_be_written),
    ("writes", "capabilities", hold_capabilities),
    ("writes", "environment", lambda: pathlib.Path(f"/proc/{PID}/environ").read_bytes()),
    *(("sockets", f"socket {number}", lambda place=place: connect(place)) for number, place in enumerate(LISTENERS)),
    ("sockets", "socket by a process", lambda: connect(f"/proc/{PID}/root{LISTENERS[0]}")),
]
if os.uname().machine == "x86_64":
    ATTEMPTS += [("calls", f"call {number}", lambda number=number, rest=rest: call(number, *rest)) for number, rest in (
        (29, (0, 4096, 0o1600)), (440, (0, 0, 0, 0, 0)), (312, (os.getpid(), os.getpid(), 1, 0, 0)), (250, (0, -3, 0)), (323, (1,)),
        (251, (1, PID, 3 << 13)), (165, (b"none", str(FOLDER).encode(), b"tmpfs", 0, None)), (321, (0, None, 0)))]

for word, name, attempt in ATTEMPTS:
    if word == (SCRIPTS / "succeeds").read_text():
        continue
    try:
        attempt()
        said = "done"
    except OSError as error:
        said = errno.errorcode[error.errno]
    print(word, name.replace(" ", "_"), said, file=sys.stderr, flush=True)
