"""cmfrec (PyPI): ALS for ratings (CMF) and for implicit feedback (CMF_implicit), on all threads.

A row solves (Y'Y + l I) x = Y'r, with l = reg, or reg times the ratings of the row if `scale_reg` asks for it (the
library's scale_lam); for implicit feedback the weights are 1 + alpha r and l = reg. All as in mfbench. The library
makes its own initial factors, from the case's seed. With the solver cg, CMF ends with one exact iteration, as it does
by default (finalize_chol).
"""

import importlib.metadata
import pathlib

import mfpeer
import numpy


class Als:
    each_epoch = False  # only fit()
    starts_from = "library"

    def __init__(self, task):
        import cmfrec
        self.library, self.task = cmfrec, task

    def describe(self):
        code = b"".join(path.read_bytes() for path in pathlib.Path(self.library.__file__).parent.glob("*.so"))
        return importlib.metadata.version("cmfrec"), {"openmp": b"GOMP_parallel" in code}

    def convert(self, task):
        import scipy.sparse
        self.ratings = scipy.sparse.coo_matrix(
            (numpy.array(task.value), (numpy.array(task.user), numpy.array(task.item))),
            shape=(task.n_users, task.n_items))

    def make(self, epochs):
        task, params = self.task, self.task.params
        keys = {"k": task.factors, "lambda_": params["reg"], "niter": epochs, "random_state": task.seed,
                "use_cg": params["solver"] == "cg", "use_float": True, "nthreads": task.threads,
                "precompute_for_predictions": False, "handle_interrupt": False}
        if task.algorithm == "implicit_als":
            return self.library.CMF_implicit(alpha=params["alpha"], **keys)
        biased = task.model == "biased"
        return self.library.CMF(method="als", user_bias=biased, item_bias=biased, center=biased,
                                scale_lam=params["scale_reg"], **keys)

    def train(self, epoch, learning_rate):
        self.fitted = self.make(epoch)
        return mfpeer.seconds_of(self.fitted.fit, self.ratings)

    def model(self):
        parts = {"p": self.fitted.A_, "q": self.fitted.B_}
        if self.task.model == "biased":
            parts |= {"user_bias": self.fitted.user_bias_, "item_bias": self.fitted.item_bias_,
                      "mean": self.fitted.glob_mean_}
        return parts


mfpeer.run("cmfrec", Als)
