"""Has a folder, in which it starts, watches and ends one adapter for mfbench: python3 -I -B supervisor.py

mfbench writes lines of JSON to descriptor 3. The first is {"library": "libmf", "bytes": what is to fit into the folder,
"log": a file or "", "environments": the folder of all}. Back comes

    {"folder": "...", "in_memory": true, "confined": [...]}   what this kernel can keep the adapter from

mfbench puts its files there. The second line is the order: the adapter, its `request` (mfpeer.py), a folder of `data` to
link, what it may take. All others are for the peer. Back come

    {"network": "none" or "host", "why": "...", "confined": [...]}    it has started
    {"said": {...}, ...}                               a message of the peer (answers.py): first "hello" and "converted",
                                                       then one for each line of mfbench
    {"note": "..."}                                    for the user: the answer takes long
    {"over": "timeout", "text": "...", "whole": "...", "set_back": [...], ...}
                                                       nothing of it is left: why, its last words, its marks (caller.py)

{"said"} and {"over"} with the CPU seconds and the peak of the memory of all that it has started. {"type": "stop", "why":
"..."} ends it. Without a second line there is the folder until mfbench closes the channel. Limits are looked at by the
clock, whatever comes meanwhile. Nothing of the peer's folder is read, so it may do there what it likes.

Python's standard library is enough for it: it runs in the environment of each library.
"""

import contextlib
import fcntl
import glob
import json
import os
import resource
import runpy
import select
import signal
import socket
import stat
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # for the adapter, too: mfpeer, mfprogram

from answers import EXCERPT, Wrong, checked  # noqa: E402
from caller import set_back, state_of  # noqa: E402
from confinement import (  # noqa: E402
    CLONE_NEWPID, confine, confinements, hide, kept_for, leave_network, libc, unshare)

LOOK_S = 0.1  # and the folder of the peer once a second
END_S = 3  # from "end" to its end, and from a closed channel to its status
LONGEST_LINE = 1 << 16
LONGEST_LOG, KEPT_OF_LOG = 64 << 20, 1 << 20
PATIENCE_S = 60  # of the user, or half of timeout_s
CLOCK_SLACK_S = 0.005  # two clocks of one machine, read one after the other
MEMORY, PREFIX = "/dev/shm", "mfbench-peer-"
# Beyond its memory, what an interpreter, its libraries, and stacks and heaps of threads reserve and do not use.
RESERVED, RESERVED_BY_THREAD = 2 << 30, 160 << 20
MOST_FILES = 100_000  # in its folder: more take too long to look at

ANSWERS = {"train": "epoch", "model": "model", "end": "done"}  # to each question

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36


# ---- its folder and its log ----------------------------------------------------------------------

def lock_of(folder, flags=0):
    """Held by the supervisor of the folder as long as it runs. None if another holds it."""
    try:
        file = os.open(f"{folder}/lock", os.O_RDWR | os.O_NOFOLLOW | flags, 0o600)
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        return None
    return file


def remove_tree(folder):
    import shutil  # late: loading it takes long
    shutil.rmtree(folder, ignore_errors=True)


def remove_left_over(parent):
    """The folders of supervisors that were killed."""
    for folder in glob.glob(f"{glob.escape(parent)}/{PREFIX}*"):
        try:
            info = os.lstat(folder)
        except OSError:
            continue
        if stat.S_ISDIR(info.st_mode) and info.st_uid == os.geteuid() and (file := lock_of(folder)) is not None:
            remove_tree(folder)
            os.close(file)


class Folder:
    """In memory if the bytes fit there twice, else below TMPDIR."""

    def __init__(self, bytes_):
        disk = os.path.realpath(os.environ.get("TMPDIR") or "/tmp")
        for parent in (MEMORY, disk):
            remove_left_over(parent)
        self.in_memory = os.access(MEMORY, os.W_OK) and 2 * bytes_ < free_below(MEMORY)
        parent, name = MEMORY if self.in_memory else disk, os.urandom(6).hex()
        # It gets its name when it is locked, so it is not taken for one that was left over.
        made, self.path = f"{parent}/mfbench-new-{name}", f"{parent}/{PREFIX}{name}"
        os.mkdir(made, 0o700)
        self.lock = lock_of(made, os.O_CREAT)
        os.rename(made, self.path)


def print_to(log):
    """A new file, never one that stood there; of a link, only the link is removed. "": what is printed is dropped."""
    if log and os.path.lexists(log):
        os.unlink(log)
    file = os.open(log or "/dev/null", os.O_RDWR | os.O_APPEND | (os.O_CREAT | os.O_EXCL if log else 0), 0o666)
    for standard in (1, 2):
        os.dup2(file, standard)
    os.close(file)


# ---- the peer, before its own code runs ----------------------------------------------------------

def limit(kind, bytes_):
    most = resource.getrlimit(kind)[1]
    if most == resource.RLIM_INFINITY or bytes_ < most:
        resource.setrlimit(kind, (bytes_, bytes_))


def first_process():
    """Those that the peer starts are its children when their parents have ended, and end with it."""
    unshare(CLONE_NEWPID)
    pid = os.fork()
    if pid == 0:
        os.closerange(0, 256)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps them
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        while True:
            signal.pause()
    return pid


def become_peer(order, folder, channel, mfbench, parent):
    """In a process of its own: a group of its own, no network, and an end with the supervisor."""
    threads, memory_bytes = order["request"]["threads"], order["request"]["memory_bytes"]
    os.setpgid(0, 0)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.close(folder.lock)
    # Threads of BLAS within threads of a library slow both.
    os.environ.update(HOME=folder.path, TMPDIR=folder.path, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS="1",
                      MKL_NUM_THREADS="1")
    limit(resource.RLIMIT_CORE, 0)
    clustered = order["request"]["params"].get("cluster", False)
    network = ("host", "the parameter `cluster` asks for it") if clustered else leave_network()
    confined = order["confined"]
    if "modes" in confined:
        hide(folder.path, kept_for(order["adapter"], order["data"]), memory_bytes, "processes" in confined)
    os.chdir(folder.path)
    if confined:
        confine(folder.path, confined)
    if order["limits_addresses"] and memory_bytes:
        limit(resource.RLIMIT_AS, memory_bytes + RESERVED + RESERVED_BY_THREAD * threads)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)  # a namespace has ended it, and the supervisor is to see what is open
    own_memory = os.open(MEMORY if "modes" in confined and os.path.isdir(MEMORY) else "/proc", os.O_RDONLY)
    socket.send_fds(channel, [b"\n"], [own_memory])
    if os.getppid() != (0 if "processes" in confined else parent):
        os._exit(1)
    send(mfbench, network=network[0], why=network[1], confined=confined)
    mfbench.close()
    os.dup2(channel.fileno(), 3)
    channel.close()
    sys.argv = [order["adapter"], folder.path]
    runpy.run_path(order["adapter"], run_name="__main__")


# ---- what has been started -----------------------------------------------------------------------

def read(path):
    """A file of the system; b"" if the process has ended."""
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read(1 << 16)
    except OSError:
        return b""


def children_of(pid):
    """Those of every thread: a child belongs to the thread that made it."""
    return [int(child) for path in glob.glob(f"/proc/{pid}/task/*/children") for child in read(path).split()]


def descendants():
    """Those whose parent has ended are children of ours."""
    found, unasked = [], [os.getpid()]
    while unasked:
        children = children_of(unasked.pop())
        found += children
        unasked += children
    return found


def use_of(pid):
    """CPU seconds (its own, and of children that it has waited for), resident bytes, and how many of them are shared."""
    fields = read(f"/proc/{pid}/stat").rpartition(b")")[2].split()  # from the third on: a name may have blanks
    if len(fields) < 22:
        return 0, 0, 0
    ticks, pages = sum(map(int, fields[11:15])), int(fields[21])
    shared = read(f"/proc/{pid}/status").partition(b"RssShmem:")[2].split()[:1] or [0]
    return ticks / os.sysconf("SC_CLK_TCK"), pages * resource.getpagesize(), 1024 * int(shared[0])


def bytes_below(folder):
    """The bytes of the files below a folder on its disk; links are not followed."""
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
    """why: what mfbench makes of it; text: follows "the peer NAME" and `joint`."""

    def __init__(self, why, text, joint=""):
        super().__init__(text)
        self.why, self.text, self.joint = why, text, joint or (" cannot be used: " if why == "broken" else " ")

    def whole(self, library):
        return f"the peer {library}{self.joint}{self.text}" + (" before it had answered" if self.why == "ended" else "")


class Supervisor:
    def __init__(self, mfbench, peer, child, order, folder):
        self.mfbench, self.peer, self.child, self.order = mfbench, peer, child, order
        self.library, self.log, self.folder = order["library"], order["log"], folder.path
        params = order["request"]["params"]
        self.questions, self.answers = b"", b""  # that are not whole, or not asked for
        self.owed, self.until, self.timeout_s = ["hello", "converted"], 0, params["timeout_s"]
        self.asked = self.next_look = self.next_weighing = time.monotonic()
        self.status = self.closed_at = self.end_by = None
        self.noted = self.hides = False
        self.trained_s = self.cpu_s = 0.0
        self.peak_bytes = self.nameless_bytes = 0
        _, self.own_memory, *_ = socket.recv_fds(peer, 1, 1)  # its /dev/shm, if that is its own; it is confined now
        self.memory_device, self.disk = os.fstat(os.memfd_create("")).st_dev, os.stat(self.folder).st_dev
        more = params.get("scratch_gb", 0) * 2**30 or 0.9 * free_below(self.folder)
        self.scratch_bytes = bytes_below(self.folder) + more

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
            words = "" if over.why == "skipped" else self.last_words()
            self.tell(over=over.why, text=over.text, whole=self.without_places(over.whole(self.library)) + words,
                      set_back=set_back(os.getppid(), self.order["before"]))
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
            self.asked = time.monotonic()
            asked = json.loads(line)
            if asked["type"] == "stop":
                raise Over("broken", asked["why"])
            if asked["type"] == "end":
                self.timeout_s, self.end_by = END_S, float("inf")
            self.until = asked.get("until", self.until)
            self.owed.append(ANSWERS[asked["type"]])
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
                start = ascii(line[:EXCERPT].decode("utf-8", "replace"))
                raise Over("broken", f"it sent a line of more than {LONGEST_LINE} bytes that begins with {start}")
            if not end:
                return
            self.answers = rest
            self.tell(said=self.understood(self.without_places(line.decode("utf-8", "replace"))))
            self.asked = time.monotonic()
            if self.end_by is not None:
                self.end_by = self.asked + END_S

    def understood(self, line):
        """The message in the next answer. A library that begins again reports the whole new run."""
        try:
            message = checked(line, self.owed.pop(0), self.order, self.until)
        except Wrong as wrong:
            raise Over("broken", str(wrong)) from None
        if message["type"] == "error":
            why = {"unsupported": "skipped", "memory": "memory"}.get(message.get("kind"), "failed")
            raise Over(why, message.get("message", "")[:500], joint=": ")
        if message["type"] == "epoch":
            before, total = self.trained_s if self.order["each_epoch"] else 0, message["train_s"]
            wall_s = time.monotonic() - self.asked
            if total < before:
                raise Over("broken", f"it had trained {before:g} s, and {total:g} s after another epoch")
            if total - before > wall_s + CLOCK_SLACK_S:
                raise Over("broken", f"it says that it has trained {total - before:g} s in {wall_s:g} s")
            self.trained_s = total
        return message

    def without_places(self, text):
        """For a result file: variables in place of this machine's folders of environments and of adapters."""
        scripts = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        for folder, name in ((self.order["environments"], "$MFBENCH_PEERS"), (scripts, "$MFBENCH_PEER_SCRIPTS"),
                             (os.path.dirname(os.path.dirname(self.order["adapter"])), "$MFBENCH_PEERS_PATH")):
            if folder:
                text = text.replace(folder + "/", name + "/")
        return text.replace(self.folder + "/", "")

    def last_words(self):
        """The last line of the log that is not blank, for a message."""
        if not self.log:
            return ""
        end = os.pread(1, 4096, max(0, os.fstat(1).st_size - 4096))
        lines = [line for line in end.split(b"\n") if line.strip(b" \t\r")]
        if not lines:
            return "; it printed nothing"
        last = self.without_places(lines[-1].decode("utf-8", "backslashreplace"))[:300]
        return f"; it printed last: {last} ({os.path.basename(self.log)})"

    def note(self, now):
        """Once: a library that hangs cannot be told from one that takes long."""
        waited = now - self.asked
        if self.owed and not self.noted and waited >= min(PATIENCE_S, 0.5 * self.timeout_s):
            self.noted = True
            self.tell(note=f"the peer {self.library} has not answered for {waited:.0f} s; timeout_s ends the wait after "
                           f"{self.timeout_s:g} s{self.last_words()}")

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
        self.note(now)
        if self.owed and now > self.asked + self.timeout_s:
            raise Over("timeout", f"gave no answer within {self.timeout_s:.1f} s (timeout_s)")
        most = self.order["request"]["memory_bytes"]
        if most and resident > most:
            raise Over("memory", f"took {mib(resident)} of memory, {mib(most)} are for it (memory_gb)")
        if self.hides and self.order["confined"]:
            raise Over("memory", "hides its open files, and so the memory in them (memory_gb)")
        if os.fstat(1).st_size > LONGEST_LOG:
            raise Over("broken", f"it printed more than {mib(LONGEST_LOG)}")
        if now >= self.next_weighing:
            if bytes_below(self.folder) + self.nameless_bytes > self.scratch_bytes:
                raise Over("broken", f"it has more than {mib(self.scratch_bytes)} in its folder (scratch_gb)")
            self.next_weighing = now + max(1, 20 * (time.monotonic() - now))

    def measure(self):
        """The bytes of all, resident or in files that are memory; the peak is also the largest of those that have ended."""
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        own = resource.getrusage(resource.RUSAGE_SELF)
        pids = [pid for pid in descendants() if pid != self.order["first"]]
        uses = [use_of(pid) for pid in pids]
        files = max(0, self.bytes_of_files(pids) - sum(use[2] for use in uses))  # what is mapped is resident, too
        resident = use_of(os.getpid())[1] + sum(use[1] for use in uses) + files
        cpu_s = sum(used.ru_utime + used.ru_stime for used in (own, ended)) + sum(use[0] for use in uses)
        self.cpu_s = max(self.cpu_s, cpu_s)
        self.peak_bytes = max(self.peak_bytes, resident, 1024 * ended.ru_maxrss)
        return resident

    def bytes_of_files(self, pids):
        """Of the open files that are memory. Sets the bytes of nameless files on its disk."""
        nameless = {}
        for pid in pids:
            try:
                files = os.listdir(f"/proc/{pid}/fd")
            except OSError:
                files, self.hides = [], self.hides or use_of(pid)[1] > 0  # else it has ended
            for file in files:
                with contextlib.suppress(OSError):  # closed meanwhile
                    info = os.stat(f"/proc/{pid}/fd/{file}")
                    if stat.S_ISREG(info.st_mode) and info.st_nlink == 0:
                        nameless[info.st_dev, info.st_ino] = 512 * info.st_blocks
        self.nameless_bytes = sum(size for (device, _), size in nameless.items() if device == self.disk)
        used = [info.f_frsize * (info.f_blocks - info.f_bfree) for info in map(os.fstatvfs, self.own_memory)]
        return sum(used + [size for (device, _), size in nameless.items() if device == self.memory_device])

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
        with contextlib.suppress(BlockingIOError):
            while self.owed and self.closed_at is None and self.take_answers():
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


def next_line(channel):
    """None if mfbench is gone. Nothing beyond the line is read."""
    line = channel.makefile("rb", buffering=0).readline()
    return json.loads(line) if line.endswith(b"\n") else None


def send(channel, **keys):
    channel.sendall(json.dumps(keys).encode() + b"\n")


def supervise(mfbench, order, folder):
    for name in os.listdir(order["data"]):
        if name.endswith(".npy"):
            os.symlink(f"{order['data']}/{name}", f"{folder.path}/{name}")
    with open(f"{folder.path}/request.json", "w", encoding="utf-8") as file:
        json.dump(order["request"], file, indent=1)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    own, theirs = socket.socketpair()
    order["before"] = state_of(os.getppid())
    order["first"] = first_process() if "processes" in order["confined"] else None
    here, child = os.getpid(), os.fork()
    if child == 0:
        own.close()
        become_peer(order, folder, theirs, mfbench, here)
        return
    theirs.close()
    Supervisor(mfbench, own, child, order, folder).run()


def main():
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # by way of `finally`
    mfbench, here, folder, log, first = socket.socket(fileno=3), os.getpid(), None, "", {"library": ""}
    try:
        first = next_line(mfbench)
        if first is None:
            return
        folder = Folder(first["bytes"])
        print_to(first["log"])
        log = first["log"]
        confined = confinements(folder.path)
        send(mfbench, folder=folder.path, in_memory=folder.in_memory, confined=confined)
        order = next_line(mfbench)
        if order is not None:
            # A program that the user has named may write wherever the user can.
            order["confined"] = [] if "program" in order["request"] else confined
            supervise(mfbench, {**first, **order}, folder)
    except OSError as error:
        if os.getpid() != here:
            raise
        with contextlib.suppress(OSError):  # mfbench may be gone
            over = Over("broken", f"{error.filename}: {error.strerror}")
            send(mfbench, over=over.why, text=over.text, whole=over.whole(first["library"]))
    finally:
        if os.getpid() == here:
            if folder:
                remove_tree(folder.path)
            if log and os.fstat(1).st_size == 0:
                os.unlink(log)


if __name__ == "__main__":
    main()
