"""Shared by adapters of programs: a program of one's own, which the parameter `program` names (docs/peers.md).

The program runs from its start for each point that is evaluated, in a folder of its own, on files that `convert` wrote.
Its output is a text of lines; `progress` makes of it the seconds and the error after each iteration. It leaves no factors:
it is given the test part as well, as its command line wants it, and its own RMSE is what the result has, marked
`"evaluated_by": "program"`.
"""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess

import mfpeer
import numpy

NUMBER = r"(\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|nan|-nan|inf)"
# Builds that time each iteration by themselves say so in such lines.
ITERATION = re.compile(rf"\biter (\d+) seconds {NUMBER} cumulative {NUMBER}(?: test_rmse {NUMBER})?")

# The most bytes of its output that are read, and of its end that are in the log of the case.
OUTPUT_BYTES, LOG_CHARACTERS = 64 << 20, 100_000


def iterations(text):
    """Seconds of training from the first iteration on, and the program's RMSE of the test part: after each iteration."""
    seconds, rmse = {}, {}
    for found in ITERATION.finditer(text):
        seconds[int(found[1])] = float(found[3])
        if found[4]:
            rmse[int(found[1])] = float(found[4])
    return seconds, rmse


def write(path, values, dtype):
    """As the program reads it. What does not fit its integers is an error, and no number that wrapped."""
    dtype = numpy.dtype(dtype)
    if dtype.kind == "i" and len(values) and numpy.max(values) > numpy.iinfo(dtype).max:
        raise RuntimeError(f"{path.name}: found {numpy.max(values)}, which the program's {8 * dtype.itemsize}-bit "
                           "numbers do not hold; it is made for fewer ratings")
    numpy.ascontiguousarray(values, dtype=dtype).tofile(path)


def triples(path, part):
    """12 bytes a rating: user and item, 32 bits from 0, and the value."""
    out = numpy.empty(part.nnz, dtype=[("user", "<i4"), ("item", "<i4"), ("value", "<f4")])
    out["user"], out["item"], out["value"] = part.user, part.item, part.value
    out.tofile(path)


class Program:
    each_epoch = False
    starts_from = "library"
    iterations_of_epoch = 1

    def __init__(self, task):
        self.task = task
        self.path = pathlib.Path(task.program)
        self.inputs, self.run_folder = task.folder / "inputs", task.folder / "run"
        self.reported = None
        if not os.access(self.path, os.X_OK):
            raise mfpeer.Unsupported(f"{self.path.name} is no program that may be run")

    def describe(self):
        code = self.path.read_bytes()
        return "sha256:" + hashlib.sha256(code).hexdigest()[:16], {"program": self.path.name, "bytes": len(code)}

    def convert(self, task):
        self.inputs.mkdir()
        self.write_inputs(task, self.inputs)

    def train(self, epoch, learning_rate):
        shutil.rmtree(self.run_folder, ignore_errors=True)
        self.run_folder.mkdir()
        command = [str(self.path), *(str(word) for word in self.arguments(epoch, learning_rate))]
        said = self.run_folder / "output.txt"
        with said.open("wb") as out:
            done = subprocess.run(command, cwd=self.run_folder, stdout=out, stderr=subprocess.STDOUT,
                                  stdin=subprocess.DEVNULL, check=False)
        if said.stat().st_size > OUTPUT_BYTES:
            raise RuntimeError(f"{self.path.name} printed {said.stat().st_size >> 20} MiB; {OUTPUT_BYTES >> 20} MiB are read")
        text = said.read_text(encoding="utf-8", errors="replace")
        print(text[-LOG_CHARACTERS:], flush=True)  # for the log of the case
        if done.returncode:
            how = f"code {done.returncode}" if done.returncode > 0 else f"signal {-done.returncode}"
            raise RuntimeError(f"{self.path.name} ended with {how}")
        last = epoch * self.iterations_of_epoch
        seconds, self.reported = (after.get(last) for after in self.progress(text))
        for found, what in ((seconds, "time"), (self.reported, "RMSE")):
            if found is None:
                raise RuntimeError(f"{self.path.name} printed no {what} of iteration {last}")
        return seconds

    def progress(self, text):
        return iterations(text)
