"""Shared by all adapters: the conversation with mfbench (docs/peers.md says what a peer is).

An adapter is a class with some of

    each_epoch = True        # or False: train(k) runs k epochs from the start
    starts_from = "mfbench"  # or "library": whose initial factors
    def describe(self)       # -> (version, {facts about the build})
    def warm_up(self)        # may be left out: what the first call of a process pays (a device's context,
                             # libraries and kernels that load late), on data of its own; it is its start
    def convert(self, task)  # makes the library's own format
    def train(self, epoch, learning_rate)
                             # trains epoch number `epoch` (each_epoch), or all up to it; its time is
                             # the training time, unless it returns the seconds itself
    def model(self)          # -> {"p": array, "q": array, "user_bias": array, "item_bias": array,
                             #     "mean": number}, each where there is one

and ends with  mfpeer.run("library", Adapter).

The protocol, for an adapter that is not written with this module. supervisor.py starts it, watches its limits and ends
its processes. Its argument is a folder with

    request.json          {"protocol": 1, "library", "algorithm", "params": {...}, "seed", "threads", "n_users",
                          "n_items", "nnz", "factors", "model": "plain" or "biased", "mean", "memory_bytes", what it
                          may take, "evaluated_by": "mfbench" or, where it evaluates itself, "program"}, and of a
                          program "program", its path
    user.npy  item.npy    int32, nnz: the training part by user, then item, of implicit feedback its pairs
                          above 0. These four are links
    value.npy             float32, nnz
    user_offsets.npy      int64, n_users + 1: where each user's ratings begin, so that the three are a CSR matrix
    initial_p.npy  initial_q.npy   float32, rows x factors
    test_user.npy  test_item.npy  test_value.npy    only of what evaluates itself

Messages are JSON objects, one a line of at most 64 KiB, both ways over a socket, descriptor 3 of the process. It must
do nothing between its answers:

    the peer    {"type": "hello", "protocol": 1, "library": "implicit", "version": "0.7.3", "each_epoch": true,
                 "starts_from": "mfbench", "warm_up_s": 0.2, "build": {...}}; warm_up_s is optional
    the peer    {"type": "converted", "seconds": 0.01}
    mfbench     {"type": "train", "until": 3, "learning_rate": 0.005}
    the peer    {"type": "epoch", "epoch": 3, "train_s": 0.4}: seconds from the initial model to the end of that
                epoch; of a program that evaluates itself also "rmse": 0.84 or null
    mfbench     {"type": "model"}
    the peer    {"type": "model", "p": "p.npy", "q": "q.npy", "user_bias": "b.npy", "item_bias": "c.npy", "mean": 3.5}:
                float32 in its folder, C order; a part that is left out is zero. Biases and a mean only in a biased
                model
    mfbench     {"type": "end"}
    the peer    {"type": "done", "peak_device_bytes": 0}, then its end

At any time it may send {"type": "error", "kind": "failed", "message": "..."}; kind is also "memory" or "unsupported".
"""

import json
import math
import os
import pathlib
import re
import socket
import sys
import time
import types

import numpy

PROTOCOL = 1


class Unsupported(Exception):
    """This machine or this build of the library cannot run it: the case is skipped, with the reason."""


class Task:
    """The request, and the training part as NumPy arrays: users' rows in order, items ascending in each."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        for key, value in json.loads((self.folder / "request.json").read_text(encoding="utf-8")).items():
            setattr(self, key, value)

    def array(self, name):
        """Mapped, not read: a library that copies it reads it once."""
        return numpy.load(self.folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)

    user = property(lambda self: self.array("user"))
    item = property(lambda self: self.array("item"))
    value = property(lambda self: self.array("value"))
    user_offsets = property(lambda self: self.array("user_offsets"))
    initial_p = property(lambda self: self.array("initial_p"))
    initial_q = property(lambda self: self.array("initial_q"))

    @property
    def test(self):
        """For a program that evaluates itself: the part that it is to do that on."""
        parts = {name: self.array(f"test_{name}") for name in ("user", "item", "value")}
        return types.SimpleNamespace(nnz=len(parts["user"]), **parts)

    def csr(self, values=None):
        """Users by items, without a sort or a copy of the indices."""
        import scipy.sparse
        index = numpy.int32 if self.nnz < 2**31 else numpy.int64
        matrix = scipy.sparse.csr_matrix((self.n_users, self.n_items), dtype=numpy.float32)
        matrix.data = numpy.array(self.value if values is None else values, dtype=numpy.float32)
        matrix.indices = numpy.array(self.item, dtype=index)
        matrix.indptr = numpy.array(self.user_offsets, dtype=index)
        matrix.has_sorted_indices = matrix.has_canonical_format = True
        return matrix


def spread(rows, values, count):
    """Back to mfbench's rows, of which a library knows some; the others are zero."""
    values = numpy.asarray(values)
    out = numpy.zeros((count, *values.shape[1:]), numpy.float32)
    out[rows] = values
    return out


def seconds_of(call, *arguments):
    start = time.perf_counter()
    call(*arguments)
    return time.perf_counter() - start


class Channel:
    """Lines of JSON on descriptor 3."""

    def __init__(self):
        self.file = socket.socket(fileno=3).makefile("rwb")
        os.set_inheritable(3, False)

    def send(self, message_type, **keys):
        self.file.write(json.dumps({"type": message_type, **keys}).encode() + b"\n")
        self.file.flush()

    def receive(self):
        """None where mfbench is gone."""
        line = self.file.readline()
        return json.loads(line) if line else None


def cpu_facts():
    try:
        line = re.search("^flags.*", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        line = None
    flags = line[0].split() if line else []
    return " ".join(name for name in ("avx", "avx2", "fma", "avx512f") if name in flags)


def blas_facts():
    """Name, version, threading layer and threads of each BLAS that is loaded. Nothing without threadpoolctl."""
    try:
        import threadpoolctl
    except ImportError:
        return {}
    parts = ("internal_api", "version", "threading_layer", "architecture", "num_threads")
    pools = [pool for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]
    return {"blas": sorted({" ".join(str(pool[part]) for part in parts if pool.get(part)) for pool in pools})}


def train_to(adapter, done, until, rate):
    """Seconds of training from epoch `done` (each_epoch) or from none."""
    total = 0.0
    for epoch in range(done + 1, until + 1) if adapter.each_epoch else [until]:
        start = time.perf_counter()
        own = adapter.train(epoch, rate)
        total += time.perf_counter() - start if own is None else own
    return total


def save(folder, parts):
    """npy files of float32, and the message that names them."""
    message = {}
    for name, value in parts.items():
        if name == "mean":
            message["mean"] = float(value)
            continue
        numpy.save(folder / f"{name}.npy", numpy.ascontiguousarray(value, dtype=numpy.float32))
        message[name] = f"{name}.npy"
    return message


def own_error(adapter):
    """Only for a program without a model; null if it is not finite."""
    rmse = getattr(adapter, "reported", None)
    return {} if rmse is None else {"rmse": rmse if math.isfinite(rmse) else None}


def converse(channel, adapter, task):
    channel.send("converted", seconds=seconds_of(adapter.convert, task))
    done, trained = 0, 0.0
    while True:
        asked = channel.receive()
        if asked is None:
            sys.exit(1)
        if asked["type"] == "train":
            seconds = train_to(adapter, done, asked["until"], asked["learning_rate"])
            trained = trained + seconds if adapter.each_epoch else seconds
            done = asked["until"]
            channel.send("epoch", epoch=done, train_s=trained, **own_error(adapter))
        elif asked["type"] == "model":
            channel.send("model", **save(task.folder, adapter.model()))
        elif asked["type"] == "end":
            account = getattr(adapter, "account", dict)()
            channel.send("done", **account)
            return


def run(library, make_adapter):
    """The whole life of an adapter. `make_adapter` imports the library: that is its start."""
    channel = Channel()
    task = Task(sys.argv[1])
    try:
        adapter = make_adapter(task)
        # Before "hello": so it is on the clock of the start, as ours is.
        warm_up_s = seconds_of(adapter.warm_up) if hasattr(adapter, "warm_up") else None
        version, build = adapter.describe()
        build = {"python": sys.version.split()[0], "numpy": numpy.__version__, "cpu": cpu_facts(), **blas_facts(),
                 **build}
        channel.send("hello", protocol=PROTOCOL, library=library, version=str(version),
                     each_epoch=adapter.each_epoch, starts_from=adapter.starts_from, warm_up_s=warm_up_s, build=build)
        converse(channel, adapter, task)
    except Unsupported as error:
        channel.send("error", kind="unsupported", message=str(error)[:400])
        sys.exit(1)
    except MemoryError as error:
        channel.send("error", kind="memory", message=f"no memory is left: {error}"[:400])
        raise
    except (BrokenPipeError, ConnectionResetError):
        sys.exit(1)
    except Exception as error:
        channel.send("error", kind="failed", message=f"{type(error).__name__}: {error}"[:400])
        raise
