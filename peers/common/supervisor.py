"""Starts, watches and ends one adapter for mfbench: python3 -I supervisor.py

mfbench writes lines of JSON to descriptor 3: first the order (the adapter, its folder, what it may take), then what is
for the peer. Back come lines of

    {"network": "none" or "host", "why": "..."}        it has started
    {"said": "a line of the peer", ...}                an answer; the peer's next line is not read before it is asked
    {"over": "timeout", "text": "...", ...}            and nothing of it is left

the last two with the CPU seconds and the peak of the memory of all that it has started. Limits are looked at by the
clock, whatever comes meanwhile. What the peer says is not understood here: mfbench does that. Nothing of its folder is
read, so it may do there what it likes.

Python's standard library is enough for it: it runs in the environment of each library.
"""

import ctypes
import fcntl
import glob
import json
import os
import pathlib
import resource
import runpy
import select
import signal
import socket
import stat
import struct
import sys
import time

LOOK_S = 0.1  # and the folder of the peer once a second
END_S = 3  # from "end" to its end, and from a closed channel to its status
LONGEST_LINE = 1 << 16
LONGEST_LOG, KEPT_OF_LOG = 64 << 20, 1 << 20
MOST_FILES = 100_000  # in its folder: more take too long to look at

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1

# As linux/landlock.h has them; the numbers of the calls are the same on every architecture.
PR_SET_NO_NEW_PRIVS = 38
LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446
LANDLOCK_BELOW, SCOPE_SIGNALS = 1, 1 << 1
TO_FILES, TRUNCATES = 1 << 1, 1 << 14
IN_FILES = TO_FILES | TRUNCATES
IN_FOLDERS = sum(1 << bit for bit in range(4, 14))  # removing, making and moving what is in them
# What libraries write beside files: memory that processes share, GPUs. No terminals, no disks.
DEVICES = ["null", "zero", "full", "random", "urandom", "shm", "dri", "kfd", "nvidia*"]

libc = ctypes.CDLL(None, use_errno=True)


# ---- the peer, before its own code runs ----------------------------------------------------------

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


def confine(order):
    """Files are written and made in its folder only, and on devices; only its own processes are signalled. CUDA does
    not start where it cannot write the names of its threads."""
    writes = TO_FILES | IN_FOLDERS | (TRUNCATES if "truncation" in order["confined"] else 0)
    signals = "signals" in order["confined"]
    # Older kernels know the first of the three numbers.
    attributes = struct.pack("QQQ", writes, 0, SCOPE_SIGNALS) if signals else struct.pack("Q", writes)
    rules = landlock(LANDLOCK_CREATE, attributes, ctypes.c_size_t(len(attributes)), 0)
    for path in [order["folder"], *(path for name in DEVICES for path in glob.glob(f"/dev/{name}"))]:
        allow(rules, path, writes)
    allow(rules, "/proc/self/task", writes & IN_FILES)
    os.open("/proc/self/task", os.O_PATH)  # stays open: /proc forgets what is not in use, and its rule with it
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    landlock(LANDLOCK_RESTRICT, rules, 0)
    os.close(rules)


def limit(kind, bytes_):
    most = resource.getrlimit(kind)[1]
    if most == resource.RLIM_INFINITY or bytes_ < most:
        resource.setrlimit(kind, (bytes_, bytes_))


def become_peer(order, channel, facts, parent):
    """In a process of its own: a group of its own, no network, and an end with the supervisor."""
    os.setpgid(0, 0)
    os.dup2(channel.fileno(), 3)
    channel.close()
    os.chdir(order["folder"])
    limit(resource.RLIMIT_CORE, 0)
    network = ("host", "the parameter `cluster` asks for it") if order["network"] else leave_network()
    if order["confined"]:
        confine(order)
    if order["address_bytes"]:
        limit(resource.RLIMIT_AS, order["address_bytes"])
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    os.write(facts, json.dumps(dict(zip(("network", "why"), network))).encode())
    os.close(facts)
    sys.argv = [order["adapter"], order["folder"]]
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # mfpeer, mfprogram
    runpy.run_path(order["adapter"], run_name="__main__")


# ---- what has been started -----------------------------------------------------------------------

def read(path):
    """A file of the system; b"" where the process has ended. By descriptors: it is read often."""
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(file, 1 << 16)
    except OSError:
        return b""
    finally:
        os.close(file)


def children_of(pid):
    """Those of every thread: a child belongs to the thread that made it."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    return [int(child) for thread in threads for child in read(f"/proc/{pid}/task/{thread}/children").split()]


def descendants():
    """Those whose parent has ended are children of ours."""
    found, unasked = [], [os.getpid()]
    while unasked:
        children = children_of(unasked.pop())
        found += children
        unasked += children
    return found


def use_of(pid):
    """CPU seconds, with those of children that it has waited for, and resident bytes."""
    fields = read(f"/proc/{pid}/stat").rpartition(b")")[2].split()  # from the third on: a name may have blanks
    if len(fields) < 22:
        return 0, 0
    ticks, pages = sum(map(int, fields[11:15])), int(fields[21])
    return ticks / os.sysconf("SC_CLK_TCK"), pages * resource.getpagesize()


def bytes_below(folder):
    """What its files take where they lie; links are not followed."""
    total, count, folders = 0, 0, [folder]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    info = entry.stat(follow_symlinks=False)
                    total += 512 * info.st_blocks
                    count += 1
                    if count > MOST_FILES:
                        raise Over("broken", f"it has more than {MOST_FILES} files in its folder")
                    if stat.S_ISDIR(info.st_mode):
                        folders.append(entry.path)
        except OSError:
            pass  # it went meanwhile
    return total


def free_below(folder):
    info = os.statvfs(folder)
    return info.f_bavail * info.f_frsize


def mib(bytes_):
    return f"{bytes_ / 2**20:.1f} MiB"


def ending(status):
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return f"was killed by signal {number} ({signal.strsignal(number)})"
    return f"ended with code {os.waitstatus_to_exitcode(status)}"


class Over(Exception):
    """why: what mfbench makes of it; text: follows "the peer NAME"."""

    def __init__(self, why, text):
        super().__init__(text)
        self.why, self.text = why, text


class Supervisor:
    def __init__(self, mfbench, peer, child, order):
        self.mfbench, self.peer, self.child, self.order = mfbench, peer, child, order
        self.questions, self.answers = b"", b""  # that are not whole, or not asked for
        self.owed, self.timeout_s = order["answers"], order["timeout_s"]
        self.asked = self.next_look = self.next_weighing = time.monotonic()
        self.status = self.closed_at = self.end_by = None
        self.cpu_s, self.peak_bytes = 0.0, 0
        self.scratch_bytes = None
        if order["scratch_gb"] is not None:
            more = order["scratch_gb"] * 2**30 or 0.9 * free_below(order["folder"])
            self.scratch_bytes = bytes_below(order["folder"]) + more

    def run(self):
        try:
            while True:
                now = time.monotonic()
                if now >= self.next_look:
                    self.look(now)
                reading = [self.mfbench]
                if self.owed and self.closed_at is None:
                    reading.append(self.peer)
                ready, _, _ = select.select(reading, [], [], max(0, self.next_look - time.monotonic()))
                if self.mfbench in ready and not self.take_questions():
                    return
                if self.peer in ready:
                    self.take_answers()
        except Over as over:
            self.kill()
            if os.fstat(1).st_size > LONGEST_LOG:
                os.ftruncate(1, KEPT_OF_LOG)
            self.tell(over=over.why, text=over.text)
        except (BrokenPipeError, ConnectionResetError):
            pass  # mfbench is gone
        finally:
            self.kill()

    # ---- messages ----

    def tell(self, **keys):
        self.measure()
        message = {**keys, "cpu_s": self.cpu_s, "peak_bytes": self.peak_bytes}
        self.mfbench.sendall(json.dumps(message).encode() + b"\n")

    def take_questions(self):
        """False where mfbench is gone."""
        data = self.mfbench.recv(1 << 16)
        *lines, self.questions = (self.questions + data).split(b"\n")
        for line in lines:
            self.owed += 1
            self.asked = time.monotonic()
            if json.loads(line).get("type") == "end":
                self.timeout_s, self.end_by = END_S, float("inf")
            try:
                self.peer.send(line + b"\n", socket.MSG_DONTWAIT)
            except OSError:
                pass  # it does not read any more: what follows tells
            self.hand_on()
        return bool(data)

    def take_answers(self):
        try:
            data = self.peer.recv(1 << 16, socket.MSG_DONTWAIT)
        except ConnectionResetError:
            data = b""
        if data:
            self.answers += data
            self.hand_on()
        else:
            self.closed_at = self.next_look = time.monotonic()
        return bool(data)

    def hand_on(self):
        """One line for each question."""
        while self.owed:
            line, end, rest = self.answers.partition(b"\n")
            if len(line) > LONGEST_LINE:
                start = ascii(line[:60].decode("utf-8", "replace"))
                raise Over("broken", f"it sent a line of more than {LONGEST_LINE} bytes that begins with {start}")
            if not end:
                return
            self.answers = rest
            self.owed -= 1
            self.asked = time.monotonic()
            if self.end_by is not None:
                self.end_by = self.asked + END_S
            self.tell(said=line.decode("utf-8", "replace"))

    # ---- limits ----

    def look(self, now):
        resident = self.measure()
        self.reap()
        # A look costs at most a fiftieth of the time: it walks over all threads.
        self.next_look = now + min(1, max(LOOK_S, 50 * (time.monotonic() - now)))
        if self.status is not None:
            self.take_last_answers()
            raise Over("ended", ending(self.status))
        if self.closed_at is not None and now > self.closed_at + END_S:
            raise Over("broken", "it closed its channel and went on running")
        if self.end_by is not None and now > self.end_by:
            raise Over("ended", "was still running, and was killed")
        if self.owed and now > self.asked + self.timeout_s:
            raise Over("timeout", f"gave no answer within {self.timeout_s:.1f} s (timeout_s)")
        most = self.order["memory_bytes"]
        if most and resident > most:
            raise Over("memory", f"took {mib(resident)} of memory, {mib(most)} are for it (memory_gb)")
        if os.fstat(1).st_size > LONGEST_LOG:
            raise Over("broken", f"it printed more than {mib(LONGEST_LOG)}")
        if self.scratch_bytes is not None and now >= self.next_weighing:
            if bytes_below(self.order["folder"]) > self.scratch_bytes:
                raise Over("broken", f"it has more than {mib(self.scratch_bytes)} in its folder (scratch_gb)")
            self.next_weighing = now + max(1, 20 * (time.monotonic() - now))

    def measure(self):
        """The resident bytes of all; the peak is also the largest of those that have ended."""
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        own = resource.getrusage(resource.RUSAGE_SELF)
        uses = [use_of(pid) for pid in descendants()]
        resident = use_of(os.getpid())[1] + sum(use[1] for use in uses)
        cpu_s = sum(used.ru_utime + used.ru_stime for used in (own, ended)) + sum(use[0] for use in uses)
        self.cpu_s = max(self.cpu_s, cpu_s)
        self.peak_bytes = max(self.peak_bytes, resident, 1024 * ended.ru_maxrss)
        return resident

    # ---- its end ----

    def reap(self):
        """Whoever has ended: the adapter, and those whose parents had before."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self.child:
                self.status = status

    def take_last_answers(self):
        try:
            while self.owed and self.closed_at is None and self.take_answers():
                pass
        except BlockingIOError:
            pass

    def kill(self):
        """All of it, also what has left its group or has been left by its parent."""
        self.measure()
        give_up = time.monotonic() + 10
        while left := descendants():
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
            self.reap()
            if time.monotonic() > give_up:
                return
            time.sleep(0.001)


def main():
    mfbench = socket.socket(fileno=3)
    line = b""
    while not line.endswith(b"\n"):
        byte = mfbench.recv(1)
        if not byte:
            return
        line += byte
    order = json.loads(line)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    own, theirs = socket.socketpair()
    facts, to_facts = os.pipe()
    here, child = os.getpid(), os.fork()
    if child == 0:
        mfbench.close()
        own.close()
        os.close(facts)
        become_peer(order, theirs, to_facts, here)
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # by way of `finally`
    theirs.close()
    os.close(to_facts)
    with open(facts, "rb") as pipe:
        network = json.loads(pipe.read() or b"{}")
    mfbench.sendall(json.dumps({"network": "", "why": "", **network}).encode() + b"\n")
    Supervisor(mfbench, own, child, order).run()


if __name__ == "__main__":
    main()
