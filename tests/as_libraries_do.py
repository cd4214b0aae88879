"""What libraries do beside training, for tests/test_peers.py, which puts the fake peer behind it: each of these has
to go on for a confined process. The reason of a case that fails has the last line that was printed."""

import concurrent.futures
import contextlib
import mmap
import multiprocessing
import multiprocessing.shared_memory
import os
import pathlib
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading

FOLDER = pathlib.Path(sys.argv[1])


def caches_below_home():
    """Compilers at run time, fonts, kernels of a device: made beside, and moved to their place."""
    (pathlib.Path.home() / ".cache" / "kernels").mkdir(parents=True)
    with tempfile.NamedTemporaryFile(dir=pathlib.Path.home(), delete=False) as made:
        made.write(b"code")
    os.replace(made.name, pathlib.Path.home() / ".cache" / "kernels" / "a.so")
    shutil.rmtree(pathlib.Path.home() / ".cache")


def temporary_files():
    assert tempfile.gettempdir() == str(FOLDER)
    with tempfile.TemporaryFile() as file, tempfile.TemporaryDirectory() as inner:
        file.truncate(1 << 20)
        with mmap.mmap(file.fileno(), 1 << 20) as mapped:
            mapped[0] = 1
        os.link(FOLDER / "request.json", pathlib.Path(inner) / "link")
        os.mkfifo(pathlib.Path(inner) / "pipe")


def a_database():
    with contextlib.closing(sqlite3.connect(FOLDER / "a.db")) as base:
        base.execute("pragma journal_mode=wal")
        base.execute("create table t (x)")
        base.commit()


def memory_that_processes_share():
    """Pools of workers have locks and arrays there."""
    block = multiprocessing.shared_memory.SharedMemory(create=True, size=1 << 16)
    block.buf[0] = 7
    lock = multiprocessing.get_context("spawn").Lock()
    with lock:
        block.close()
    block.unlink()


def sockets_of_its_own():
    """The loopback (Spark), and one with a place in a folder (managers of processes)."""
    for kind, place in ((socket.AF_INET, ("127.0.0.1", 0)), (socket.AF_UNIX, str(FOLDER / "socket"))):
        with socket.socket(kind) as server, socket.socket(kind) as client:
            server.bind(place)
            server.listen()
            client.connect(server.getsockname())


def processes_of_its_own():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    os.kill(child.pid, 0)
    child.terminate()
    assert child.wait() == -signal.SIGTERM
    assert subprocess.run(["sh", "-c", "echo x > /dev/null"], check=False).returncode == 0


def names_of_its_threads():
    """Without them CUDA does not start. Only its own: what stands beside them is kept from it."""
    def name_it():
        own = pathlib.Path(f"/proc/self/task/{threading.get_native_id()}/comm")
        own.write_text("worker")
        assert own.read_text() == "worker\n"
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(name_it).result()
    if CONFINED:
        for path in ("/proc/self/oom_score_adj", f"/proc/{os.getppid()}/oom_score_adj"):
            with contextlib.suppress(PermissionError, FileNotFoundError):  # of another process where it sees none
                os.close(os.open(path, os.O_WRONLY))
                raise AssertionError(path)


def what_it_reads():
    """As BLAS, OpenMP and Java do to learn about the machine, and random numbers."""
    assert pathlib.Path("/proc/self/status").read_text() and pathlib.Path("/proc/cpuinfo").read_text()
    os.listdir("/sys/devices/system/cpu")
    pathlib.Path("/dev/urandom").open("rb").read(1)


for what in (caches_below_home, temporary_files, a_database, memory_that_processes_share, sockets_of_its_own,
             processes_of_its_own, names_of_its_threads, what_it_reads):
    print(what.__name__, file=sys.stderr, flush=True)
    what()
