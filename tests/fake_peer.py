"""A peer without a library, for tests/test_peers.py: it does what the parameter `bins` says, by its place in
MODES. It speaks the protocol of peers/common/mfpeer.py by itself, and needs nothing but Python."""

import contextlib
import ctypes
import fcntl
import json
import mmap
import os
import pathlib
import resource
import signal
import socket
import struct
import sys
import time

MODES = ["well", "exits", "hangs", "hangs_in_training", "nan", "short", "killed", "nonsense", "not_text",
         "other_message", "leaves_a_child", "other_epoch", "huge_line", "eats_memory", "says_no_memory",
         "wrong_shape", "wrong_type", "outside", "link", "pipe", "lies_about_time", "closes", "prints_much",
         "one_message_too_many", "unsupported", "stays", "fails_at_end", "negative_time", "no_file",
         "unknown_key", "says_why", "escapes", "fills_its_folder", "asks_for_all", "writes_to_data",
         "takes_less_for_more", "drips", "nests", "floods",
         "kills_its_supervisor", "writes_outside", "writes_to_terminal", "truncates", "kills_mfbench",
         "replaces_what_it_was_given", "changes_its_model", "fills_a_memfd", "hides_its_files", "fills_shared_memory",
         "fills_a_file_without_a_name", "maps_what_it_shares",
         # In each state of the protocol: how it goes there (an exit code, or 9: killed).
         *(f"leaves_{how}_{state}" for how in (0, 7, 9)
           for state in ("start", "hello", "converted", "train", "epoch", "asked", "model", "end"))]

folder = pathlib.Path(sys.argv[1])
request = json.loads((folder / "request.json").read_text())
library = request["library"]
mode = MODES[request["params"].get("bins", 0)]
stream = socket.socket(fileno=3)
lines = stream.makefile("rb")


def send(type_, **keys):
    stream.sendall(json.dumps({"type": type_, **keys}).encode() + b"\n")


def npy(name, rows, width, value=1.0, type_="<f4", cut=0):
    header = f"{{'descr': '{type_}', 'fortran_order': False, 'shape': ({rows}, {width}), }}"
    header += " " * ((64 - (10 + len(header) + 1) % 64) % 64) + "\n"
    data = struct.pack(f"<{rows * width}f", *([value] * (rows * width)))
    (folder / name).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
                                + data[:len(data) - cut])
    return name


def reach(state):
    """Where it leaves there, without a word: the state is the message that came last."""
    if mode.startswith("leaves_") and mode.endswith(f"_{state}"):
        how = int(mode.split("_")[1])
        os.kill(os.getpid(), signal.SIGKILL) if how == 9 else os._exit(how)


def stay():
    while True:
        time.sleep(3600)


def fill(file):
    """It is not mapped, and what is closed is no more."""
    with contextlib.suppress(OSError):
        for _ in range(200):
            os.write(file, bytes(1 << 20))
    stay()


def fail_early():
    if mode == "exits":
        print(f"a first line\n{__file__}: there is no such module\n", file=sys.stderr, flush=True)
        sys.exit(1)
    if mode == "hangs":
        stay()
    if mode == "fills_its_folder":
        (folder / "deeper").mkdir()
        (folder / "deeper" / "file").write_bytes(bytes(3_000_000))
        stay()
    if mode in ("fills_a_memfd", "hides_its_files"):
        if mode == "hides_its_files":
            ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE
        fill(os.memfd_create("much"))
    if mode == "fills_a_file_without_a_name":
        fill(os.open(folder, os.O_RDWR | os.O_TMPFILE))
    if mode == "fills_shared_memory":
        key = pathlib.Path(__file__).with_name("key").read_text()
        ctypes.CDLL(None).msgget(int(key), 0o1600)  # IPC_CREAT
        fill(os.open(f"/dev/shm/{key}", os.O_RDWR | os.O_CREAT))
    if mode == "maps_what_it_shares":  # 60 MiB
        kept = os.memfd_create("counts once")
        os.truncate(kept, 60 << 20)
        memory = mmap.mmap(kept, 60 << 20)
        for _ in range(60):
            memory.write(b"1" * (1 << 20))
        time.sleep(1)
    if mode == "nonsense":
        stream.sendall(b"hello, here I am\n")
        stay()
    if mode == "not_text":
        stream.sendall(b"\xff\xfe\x00\x1b[31m\n")
        stay()
    if mode == "huge_line":
        stream.sendall(b'{"type": "' + b"a" * 1_000_000)
        stay()
    if mode == "says_no_memory":
        send("error", kind="memory", message="cannot allocate")
        stay()
    if mode == "unsupported":
        send("error", kind="unsupported", message="it needs a device")
        stay()
    if mode == "says_why":
        send("error", kind="failed", message=f"ValueError: {__file__} \x1b[31mred")
        stay()
    if mode == "closes":
        stream.shutdown(socket.SHUT_RDWR)
        stay()
    if mode == "eats_memory":
        kept = []
        while True:
            kept.append(bytearray(os.urandom(1)) * (16 << 20))
            time.sleep(0.01)
    if mode == "asks_for_all":
        try:
            bytearray(5 << 30)
        except MemoryError:
            send("error", kind="memory", message=f"refused within {resource.getrlimit(resource.RLIMIT_AS)[0]}")
        stay()
    if mode == "writes_to_data":
        data = folder / "item.npy"
        with contextlib.suppress(OSError):  # where it is kept from it
            data.chmod(0o644)
            data.write_bytes(data.read_bytes())
    if mode == "prints_much":
        block = b"x" * (1 << 20)
        while True:
            os.write(2, block)
    if mode == "drips":
        while True:
            stream.sendall(b" ")
            time.sleep(0.05)
    if mode == "nests":
        stream.sendall(b'{"type": "hello", "build": ' + b"[" * 50_000 + b"]" * 10_000 + b"}\n")
        stay()
    if mode == "floods":
        while True:
            send("hello")
    if mode == "kills_its_supervisor":
        os.kill(os.getppid(), signal.SIGKILL)
        stay()
    if mode == "writes_outside":
        (pathlib.Path(__file__).parent / "outside").write_text("mine")
    if mode == "writes_to_terminal":
        os.open("/dev/ptmx", os.O_RDWR)
    if mode == "truncates":
        os.open(pathlib.Path(__file__).parent / "peer.json", os.O_RDONLY | os.O_TRUNC)
    if mode == "kills_mfbench":
        supervisor = pathlib.Path(f"/proc/{os.getppid()}/stat").read_text()
        os.kill(int(supervisor.rpartition(")")[2].split()[1]), signal.SIGKILL)
    if mode == "replaces_what_it_was_given":
        for name in ("request.json", "launch.json", "initial_p.npy"):
            (folder / name).unlink(missing_ok=True)
            os.mkfifo(folder / name)
    if mode in ("leaves_a_child", "escapes"):
        if os.fork() == 0:
            if mode == "escapes":
                os.setsid()
            fcntl.flock(2, fcntl.LOCK_EX)  # as long as it lives: its number is another to those outside
            print("child", file=sys.stderr, flush=True)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            stay()
        while not (os.fstat(2).st_size):
            time.sleep(0.01)


def train(asked):
    if mode == "hangs_in_training":
        stay()
    if mode == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    epoch = asked["until"] + (1 if mode == "other_epoch" else 0)
    seconds = {"lies_about_time": 1000.0, "negative_time": -1.0,
               "takes_less_for_more": 3e-4 / epoch}.get(mode, 1e-4 * epoch)
    send("epoch", epoch=epoch, train_s=seconds)
    if mode == "one_message_too_many":
        send("epoch", epoch=epoch, train_s=seconds)


def parts():
    users, items, f = request["n_users"], request["n_items"], request["factors"]
    value = (request["mean"] or 3.0) ** 0.5 / f ** 0.5
    q = npy("q.npy", items, f, value)
    if mode == "nan":
        return {"p": npy("p.npy", users, f, float("nan")), "q": q}
    if mode == "short":
        return {"p": npy("p.npy", users, f, value, cut=8), "q": q}
    if mode == "wrong_shape":
        return {"p": npy("p.npy", f, users, value), "q": q}
    if mode == "wrong_type":
        return {"p": npy("p.npy", users, f, value, type_="<i4"), "q": q}
    if mode == "outside":
        return {"p": "../p.npy", "q": q}
    if mode == "link":
        (folder / "p.npy").symlink_to(folder / "q.npy")
        return {"p": "p.npy", "q": q}
    if mode == "pipe":
        os.mkfifo(folder / "p.npy")
        return {"p": "p.npy", "q": q}
    if mode == "no_file":
        return {"p": "p.npy", "q": q}
    if mode == "unknown_key":
        return {"p": npy("p.npy", users, f, value), "q": q, "r": q}
    return {"p": npy("p.npy", users, f, value), "q": q}


def keep_changing(path):
    """Cut, whole again, a pipe, another file: while mfbench may read it."""
    whole = path.read_bytes()
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        os.truncate(path, len(whole) - 8)
        path.write_bytes(whole)
        path.unlink()
        os.mkfifo(path)
        path.unlink()
        path.write_bytes(whole)


def file_of(path):
    """Tells it from every other file: the number by itself is given to another once its file is gone."""
    found = os.stat(path)
    return [found.st_ino, found.st_mtime_ns]


def main():
    reach("start")
    fail_early()
    send("hello", protocol=1, library=library, version="0.1", each_epoch=library == "implicit",
         starts_from="library", build={"home": os.environ.get("HOME"), "names": sorted(os.environ),
                                         "data": file_of(folder / "item.npy")})
    reach("hello")
    if mode == "other_message":
        send("done")
        stay()
    send("converted", seconds=0.0)
    reach("converted")
    for line in lines:
        asked = json.loads(line)
        if asked["type"] == "train":
            reach("train")
            train(asked)
            reach("epoch")
        elif asked["type"] == "model":
            reach("asked")
            send("model", **parts())
            reach("model")
            if mode == "changes_its_model":
                keep_changing(folder / "p.npy")
        else:
            reach("end")
            send("done", peak_device_bytes=12345)
            if mode == "stays":
                stay()
            sys.exit(3 if mode == "fails_at_end" else 0)


main()
