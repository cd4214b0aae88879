"""An algorithm of one's own, a class in a file (docs/python.md), as an adapter.

    class RidgeALS:
        '''ALS with ridge regression, in NumPy.'''
        def __init__(self, train, factors=16, reg=0.05): ...  # keywords with defaults are its parameters
        def fit_epoch(self): ...                               # or fit_epoch(self, learning_rate)
        def factors(self): return P, Q                         # or P, Q, user_bias, item_bias, mean
        def predict(self, users, items): ...                   # in the place of factors()

`train` is the Task of mfpeer.py: user, item, value, user_offsets, csr(), n_users, n_items, mean, initial_p, initial_q,
seed, threads. What predict() gives is compared here with a test part that the class does not see.
"""

import hashlib
import importlib.util
import inspect
import math
import pathlib
import sys

import mfpeer
import numpy

PARTS = ("p", "q", "user_bias", "item_bias", "mean")


def module_of(path):
    """Modules beside it are found, as by a script."""
    path = pathlib.Path(path)
    sys.path.insert(0, str(path.parent))
    form = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(form)
    sys.modules[path.stem] = module
    form.loader.exec_module(module)
    return module


def given(make, task):
    """The arguments that it takes, by name."""
    asked = list(inspect.signature(make).parameters)[1:]
    known = {"seed": task.seed, "threads": task.threads, **task.params}
    return {name: known[name] for name in asked if name in known}


class Own:
    each_epoch = True

    def __init__(self, task, path, name):
        self.task, self.path = task, pathlib.Path(path)
        self.make = getattr(module_of(path), name)
        self.starts_from = getattr(self.make, "starts_from", "library")
        self.reported = None

    def describe(self):
        return "sha256:" + hashlib.sha256(self.path.read_bytes()).hexdigest()[:16], {"file": self.path.name}

    def convert(self, task):
        self.own = self.make(task, **given(self.make, task))
        self.takes_rate = bool(inspect.signature(self.own.fit_epoch).parameters)

    def train(self, epoch, learning_rate):
        seconds = mfpeer.seconds_of(self.own.fit_epoch, *([learning_rate] if self.takes_rate else []))
        if self.task.evaluated_by == "program":
            self.reported = self.error()
        return seconds

    def error(self):
        test = self.task.test
        found = numpy.asarray(self.own.predict(numpy.array(test.user), numpy.array(test.item)), dtype=float)
        if found.shape != (test.nnz,):
            raise ValueError(f"predict() gave an array of the shape {found.shape}, expected ({test.nnz},)")
        return math.sqrt(numpy.mean((found - test.value) ** 2))

    def model(self):
        found = self.own.factors()
        if not isinstance(found, (tuple, list)) or len(found) not in (2, len(PARTS)):
            what = f"{len(found)} of them" if isinstance(found, (tuple, list)) else type(found).__name__
            raise ValueError(f"factors() gave {what}, expected P, Q or P, Q, user_bias, item_bias, mean")
        return dict(zip(PARTS, found))


def run(library, path, names):
    """`names`: of its algorithms, each with that of its class."""
    mfpeer.run(library, lambda task: Own(task, path, names[task.algorithm]))
