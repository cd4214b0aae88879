"""Keeps a peer to its folder, processes and machine: by Landlock, namespaces, refused system calls, no capabilities."""

import ctypes
import fcntl
import glob
import os
import pathlib
import platform
import socket
import struct
import sys

CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x20000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1

# As linux/landlock.h has them; the numbers of the calls are the same on every architecture.
PR_SET_NO_NEW_PRIVS = 38
LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446
LANDLOCK_BELOW, SCOPES, ASK_VERSION = 1, 1 << 0 | 1 << 1, 1  # abstract sockets and signals
CONFINED_SINCE = {"writes": 2, "truncation": 3, "signals": 6}  # Linux 5.19, 6.2, 6.12
TO_FILES, TRUNCATES = 1 << 1, 1 << 14
IN_FILES = TO_FILES | TRUNCATES
IN_FOLDERS = sum(1 << bit for bit in range(4, 14))  # removing, making and moving what is in them
MAKES_DEVICES = 1 << 6 | 1 << 11
# Libraries write to these, beside files: memory that processes share, GPUs. No terminals, no disks.
DEVICES = ["null", "zero", "full", "random", "urandom", "shm", "dri", "kfd", "nvidia*"]

# As linux/mount.h has them.
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 8, 1 << 12, 1 << 14, 1 << 18
MOUNT_SETATTR, AT_FDCWD, AT_RECURSIVE, ATTR_RDONLY = 442, -100, 0x8000, 1
# Where sockets lie through which programs are started: of the session, of containers, of terminals and keys.
HIDDEN = ["/tmp", "/run", "/var/run", "/dev/shm"]

# Machines as linux/audit.h has them, and calls that no library needs, by their number on each.
MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
REFUSED = {"mount": (165, 40, {}), "add_key": (248, 217, {}), "request_key": (249, 218, {}), "keyctl": (250, 219, {}),
           "kcmp": (312, 272, {}), "bpf": (321, 280, {}), "userfaultfd": (323, 282, {}), "process_madvise": (440, 440, {}),
           "shmget": (29, 194, {})}
# And those that may change another process, with what their arguments are when they change the caller.
OF_CALLER = {"prlimit64": (302, 261, {0: 0}), "setpriority": (141, 140, {0: 0, 1: 0}), "sched_setparam": (142, 118, {0: 0}),
             "sched_setscheduler": (144, 119, {0: 0}), "sched_setattr": (314, 274, {0: 0}), "ioprio_set": (251, 30, {0: 1, 1: 0})}
PR_SET_SECCOMP, PR_CAPBSET_DROP, SECCOMP_FILTER, OTHER_ABI, CAPABILITY_VERSION = 22, 24, 2, 1 << 30, 0x20080522

libc = ctypes.CDLL(None, use_errno=True)


def checked(done):
    """What a call gave; a process that cannot be confined must not go on."""
    if done < 0:
        raise OSError(ctypes.get_errno(), f"the peer is not confined: {os.strerror(ctypes.get_errno())}")
    return done


def unshare(flags):
    """In a user namespace of our own, too, if ordinary processes need one for it: with the same ids."""
    maps = {"setgroups": "deny", "uid_map": f"{os.getuid()} {os.getuid()} 1", "gid_map": f"{os.getgid()} {os.getgid()} 1"}
    if libc.unshare(flags) != 0:
        checked(libc.unshare(CLONE_NEWUSER | flags))
        for name, text in maps.items():
            pathlib.Path(f"/proc/self/{name}").write_text(text)


def ends_well(attempt):
    """Whether a process that makes it does."""
    pid = os.fork()
    if pid == 0:
        try:
            attempt()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitpid(pid, 0)[1] == 0


def loopback_up():
    """Libraries talk to themselves over it (Spark)."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh22x", b"lo", 0)
        name, flags = struct.unpack("16sh22x", fcntl.ioctl(any_socket, SIOCGIFFLAGS, request))
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh22x", name, flags | IFF_UP))


def leave_network():
    """("none", "") without a network but the machine's own loopback, or ("host", why)."""
    try:
        unshare(CLONE_NEWNET)
    except OSError as error:
        return "host", f"the kernel gives no network namespace: {os.strerror(error.errno)}"
    try:
        loopback_up()
    except OSError as error:
        return "none", f"its loopback stays down: {error}"
    return "none", ""


# ---- its view of the files -----------------------------------------------------------------------

def mount(source, target, kind, flags, options=None):
    checked(libc.mount(source.encode(), os.fsencode(target), kind and kind.encode(), ctypes.c_ulong(flags), options))


def attributes(target, depth, *set_clear_spread):
    checked(libc.syscall(MOUNT_SETATTR, AT_FDCWD, os.fsencode(target), depth, struct.pack("QQQQ", *set_clear_spread, 0), 32))


def hide(folder, kept, memory_bytes, processes):
    """Modes and times of files stay, except in its folder; HIDDEN have nothing but what is kept, and its folder, and each
    takes `memory_bytes` (0: any). With `processes`, of a namespace of theirs, /proc shows only those."""
    unshare(CLONE_NEWNS | CLONE_NEWIPC)  # of the second: queues of System V outlive no peer
    attributes("/", AT_RECURSIVE, ATTR_RDONLY, 0, MS_PRIVATE)
    hidden = {os.path.realpath(path) for path in HIDDEN if os.path.isdir(path)}
    kept = {name(path) for path in kept if os.path.exists(path) for name in (os.path.abspath, os.path.realpath)} - hidden
    inside = sorted(path for path in kept if path.startswith(tuple(f"{parent}/" for parent in hidden)))
    places = [(os.open(path, os.O_PATH), path) for path in [*inside, folder]]
    for path in hidden:
        mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, b"mode=1777,size=%d" % memory_bytes)
    for file, path in places:
        is_folder = os.path.isdir(f"/proc/self/fd/{file}")
        os.makedirs(path if is_folder else os.path.dirname(path), exist_ok=True)
        if not is_folder:
            os.close(os.open(path, os.O_CREAT))
        mount(f"/proc/self/fd/{file}", path, None, MS_BIND | MS_REC)
        os.close(file)
    attributes(folder, 0, 0, ATTR_RDONLY, 0)
    if processes:
        mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    else:
        attributes("/proc", 0, 0, ATTR_RDONLY, 0)  # for the names of its own threads; confine() allows no others


def kept_for(adapter, data):
    """What the adapter reads: its folder, what links in it name and what is beside that, its environment, its data."""
    scripts = os.path.dirname(adapter)
    linked = [os.path.realpath(entry) for entry in os.scandir(scripts) if entry.is_symlink()]
    return [scripts, data, *linked, *map(os.path.dirname, [*linked, sys.executable]), sys.prefix, sys.base_prefix, *sys.path,
            *":".join(os.environ.values()).split(":"), "/etc/resolv.conf"]


# ---- its rules -----------------------------------------------------------------------------------

def allow(rules, path, writes):
    place = os.open(path, os.O_PATH)
    if not os.path.isdir(path):
        writes &= IN_FILES
    checked(libc.syscall(LANDLOCK_ADD, rules, LANDLOCK_BELOW, struct.pack("=Qi", writes, place), 0))
    os.close(place)


def confinements(folder):
    """What this kernel gives: Landlock by its version, the others as a process finds that tries them."""
    def own_processes():
        unshare(CLONE_NEWPID)
        checked(0 if ends_well(lambda: hide(folder, [], 0, True)) else -1)

    version = libc.syscall(LANDLOCK_CREATE, None, ctypes.c_size_t(0), ASK_VERSION)
    found = [what for what, since in CONFINED_SINCE.items() if version >= since]
    if found and ends_well(lambda: hide(folder, [], 0, False)):
        found += ["modes", "sockets"] + (["processes"] if ends_well(own_processes) else [])
    return found + (["calls"] if found and ends_well(lambda: refuse_calls(True)) else [])


def refuse_calls(of_others):
    """A filter of system calls: they fail as without permission. `of_others`: also changes of other processes."""
    machine, column = MACHINES[platform.machine()]
    load, equal, at_least, end, allowed, denied = 0x20, 0x15, 0x35, 0x06, 0x7FFF0000, 0x00050001
    rules = [(load, 0, 0, 4), (equal, 1, 0, machine), (end, 0, 0, denied),
             (load, 0, 0, 0), (at_least, 0, 1, OTHER_ABI), (end, 0, 0, denied)]
    for *numbers, own in (REFUSED | OF_CALLER if of_others else REFUSED).values():
        rules.append((equal, 0, 3 * len(own) + 1, numbers[column]))
        for argument, value in own.items():
            rules += [(load, 0, 0, 16 + 8 * argument), (equal, 1, 0, value), (end, 0, 0, denied)]
        rules.append((end, 0, 0, allowed if own else denied))
    rules.append((end, 0, 0, allowed))
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
    program = ctypes.create_string_buffer(struct.pack("HP", len(rules), ctypes.addressof(code)))
    checked(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    checked(libc.prctl(PR_SET_SECCOMP, SECCOMP_FILTER, program, 0, 0))


def confine(folder, confined):
    """Files are written and made in its folder only, and on devices; only its own processes are signalled and changed.
    CUDA does not start where it cannot write the names of its threads."""
    writes = TO_FILES | IN_FOLDERS | (TRUNCATES if "truncation" in confined else 0)
    signals = "signals" in confined
    # Older kernels know the first of the three numbers.
    attributes = struct.pack("QQQ", writes, 0, SCOPES) if signals else struct.pack("Q", writes)
    rules = checked(libc.syscall(LANDLOCK_CREATE, attributes, ctypes.c_size_t(len(attributes)), 0))
    for path in [folder, *(path for name in DEVICES for path in glob.glob(f"/dev/{name}"))]:
        allow(rules, path, writes & ~MAKES_DEVICES)
    allow(rules, "/proc/self/task", writes & IN_FILES)
    os.open("/proc/self/task", os.O_PATH)  # stays open: /proc forgets what is not in use, and its rule with it
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    checked(libc.syscall(LANDLOCK_RESTRICT, rules, 0))
    os.close(rules)
    for capability in range(64):  # the kernel knows fewer; none of a program that it starts, either
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    checked(libc.capset(struct.pack("Ii", CAPABILITY_VERSION, 0), bytes(24)))
    if "calls" in confined:
        refuse_calls("processes" not in confined)
