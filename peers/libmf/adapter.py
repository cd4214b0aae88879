"""LIBMF (PyPI): parallel SGD on the CPU, of ratings or of one class.

It minimizes the sum over the ratings of e^2 / 2 + reg / 2 (|p|^2 + |q|^2): mfbench's `reg`, which counts at each
rating. Its step is the learning rate over the root of a sum of squares that each row keeps, so a rate is not comparable
to sgd_serial's. There is a penalty by the sum of absolute values as well, which the Python package has on by default:
it is off here. The library makes its own initial factors, from no seed that it takes.

The package's fit() would copy a table of float64 into the float32 that LIBMF takes: the adapter calls the same entry of
the shared library with such a table, so that only LIBMF's own set-up is charged.

Of one class (`bpr`) its loss compares pairs of items by row: BPR.
"""

import ctypes
import importlib.metadata
import os
import pathlib
import sys

import mfpeer
import numpy

ROW_BPR = 10  # its number of that loss
EXACT = 2**24  # ids are 32-bit floats of the table


def how_compiled():
    """The parameters compiled into the extension, not the requested ones."""
    import libmf.mf
    library = pathlib.Path(libmf.mf.compiled_src)
    code = library.read_bytes()
    noted = pathlib.Path(sys.prefix) / "built.txt"  # by ./dev peers
    return {"openmp": b"GOMP_parallel" in code or b"__kmpc_fork_call" in code,
            "built": noted.read_text(encoding="utf-8").strip() if noted.exists() else "unknown"}


class Sgd:
    each_epoch = False  # only fit()
    starts_from = "library"

    def __init__(self, task):
        sys.stdout = open(os.devnull, "w")  # it prints its path
        from libmf import mf
        sys.stdout = sys.__stdout__
        self.library, self.task = mf, task
        self.version = importlib.metadata.version("libmf")

    def describe(self):
        return self.version, how_compiled()

    def convert(self, task):
        if max(task.n_users, task.n_items) > EXACT:
            raise mfpeer.Unsupported(f"LIBMF's Python package hands ids on as 32-bit floats, exact up to {EXACT:,}")
        self.ratings = numpy.empty((task.nnz, 3), numpy.float32)
        for column, values in enumerate((task.user, task.item, task.value)):
            self.ratings[:, column] = values

    def train(self, epoch, learning_rate):
        params = self.task.params
        options = {"k": self.task.factors, "nr_iters": epoch, "nr_threads": self.task.threads,
                   "lambda_p1": 0.0, "lambda_q1": 0.0, "lambda_p2": params["reg"],
                   "lambda_q2": params["reg"], "eta": learning_rate, "quiet": True}
        own = {"fun": ROW_BPR} if self.task.algorithm == "bpr" else {"do_nmf": params["nonnegative"]}
        options.update(own)
        # Its README: more than 2 threads squared blocks, so that none waits.
        options["nr_bins"] = params["bins"] or max(20, 2 * self.task.threads + 1)
        self.fitted = self.library.MF(**options)
        floats, fit = ctypes.POINTER(ctypes.c_float), self.library.mf.fit_interface
        fit.argtypes = ctypes.c_int, floats, ctypes.POINTER(self.library.MFParam)
        fit.restype = ctypes.POINTER(self.library.MFModel)
        self.fitted.model = fit(len(self.ratings), self.ratings.ctypes.data_as(floats), self.fitted._options).contents

    def rows(self, values, count):
        """All rows of mfbench; rows without ratings, which the library has no numbers for, are zero."""
        known = numpy.flatnonzero(numpy.isfinite(values).all(axis=1))
        return mfpeer.spread(known, values[known], count)

    def model(self):
        return {"p": self.rows(self.fitted.p_factors(), self.task.n_users),
                "q": self.rows(self.fitted.q_factors(), self.task.n_items)}


mfpeer.run("libmf", Sgd)
