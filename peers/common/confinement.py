"""Keeps a peer to its folder, its processes and its machine: by Landlock, and by a network namespace of its own."""

import ctypes
import fcntl
import glob
import os
import pathlib
import socket
import struct
import sys

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1

# As linux/landlock.h has them; the numbers of the calls are the same on every architecture.
PR_SET_NO_NEW_PRIVS = 38
LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446
LANDLOCK_BELOW, SCOPE_SIGNALS, ASK_VERSION = 1, 1 << 1, 1
CONFINED_SINCE = {"writes": 2, "truncation": 3, "signals": 6}  # Linux 5.19, 6.2, 6.12
TO_FILES, TRUNCATES = 1 << 1, 1 << 14
IN_FILES = TO_FILES | TRUNCATES
IN_FOLDERS = sum(1 << bit for bit in range(4, 14))  # removing, making and moving what is in them
# Libraries write to these, beside files: memory that processes share, GPUs. No terminals, no disks.
DEVICES = ["null", "zero", "full", "random", "urandom", "shm", "dri", "kfd", "nvidia*"]

libc = ctypes.CDLL(None, use_errno=True)


def unshare(flags):
    """None, or why it cannot be."""
    if libc.unshare(flags) == 0:
        return None
    return os.strerror(ctypes.get_errno())


def keep_ids(user, group):
    """Who we are in a user namespace of our own: the same."""
    try:
        pathlib.Path("/proc/self/setgroups").write_text("deny")
        pathlib.Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        pathlib.Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    except OSError as error:
        print(f"supervisor.py: ids are not mapped: {error}", file=sys.stderr)


def loopback_up():
    """Libraries talk to themselves over it (Spark)."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh22x", b"lo", 0)
        name, flags = struct.unpack("16sh22x", fcntl.ioctl(any_socket, SIOCGIFFLAGS, request))
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh22x", name, flags | IFF_UP))


def leave_network():
    """("none", "") without a network but the machine's own loopback, or ("host", why)."""
    user, group = os.getuid(), os.getgid()
    why = unshare(CLONE_NEWNET)
    if why:
        why = unshare(CLONE_NEWUSER | CLONE_NEWNET)
        if why:
            return "host", f"the kernel gives no network namespace: {why}"
        keep_ids(user, group)
    try:
        loopback_up()
    except OSError as error:
        return "none", f"its loopback stays down: {error}"
    return "none", ""


def landlock(call, *arguments):
    """A system call; a process that cannot be confined must not go on."""
    done = libc.syscall(call, *arguments)
    if done < 0:
        raise OSError(ctypes.get_errno(), f"the peer is not confined: {os.strerror(ctypes.get_errno())}")
    return done


def allow(rules, path, writes):
    place = os.open(path, os.O_PATH)
    if not os.path.isdir(path):
        writes &= IN_FILES
    landlock(LANDLOCK_ADD, rules, LANDLOCK_BELOW, struct.pack("=Qi", writes, place), 0)
    os.close(place)


def confinements():
    version = libc.syscall(LANDLOCK_CREATE, None, ctypes.c_size_t(0), ASK_VERSION)
    return [what for what, since in CONFINED_SINCE.items() if version >= since]


def confine(folder, confined):
    """Files are written and made in its folder only, and on devices; only its own processes are signalled. CUDA does
    not start where it cannot write the names of its threads."""
    writes = TO_FILES | IN_FOLDERS | (TRUNCATES if "truncation" in confined else 0)
    signals = "signals" in confined
    # Older kernels know the first of the three numbers.
    attributes = struct.pack("QQQ", writes, 0, SCOPE_SIGNALS) if signals else struct.pack("Q", writes)
    rules = landlock(LANDLOCK_CREATE, attributes, ctypes.c_size_t(len(attributes)), 0)
    for path in [folder, *(path for name in DEVICES for path in glob.glob(f"/dev/{name}"))]:
        allow(rules, path, writes)
    allow(rules, "/proc/self/task", writes & IN_FILES)
    os.open("/proc/self/task", os.O_PATH)  # stays open: /proc forgets what is not in use, and its rule with it
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    landlock(LANDLOCK_RESTRICT, rules, 0)
    os.close(rules)
