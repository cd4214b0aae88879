"""implicit (PyPI): ALS, BPR and logistic MF for implicit feedback, on the CPU or by its CUDA extension.

ALS: the library gives an observed pair the confidence that stands in its matrix, where mfbench's is
1 + alpha r: so that is what the matrix gets. Its regularization is the same for every row, as mfbench's
`reg` with an exponent of 0. An iteration solves the users first, then the items.
"""

import mfpeer
import numpy

# Of the data that it warms up on.
WARM_USERS, WARM_ITEMS = 32, 16


def load_rmm():
    """The extension names librmm.so, and no folder that has it: the wheels do, and load it by themselves."""
    try:
        import librmm
        librmm.load_library()
    except (ImportError, OSError) as error:
        print(f"implicit: {error}", flush=True)  # what misses it says so


def why_no_extension():
    """The library itself keeps silent."""
    import importlib
    try:
        importlib.import_module("implicit.gpu._cuda")
    except ImportError as error:
        return error
    return "it finds no device"


def library_for(device):
    """The library, for a device that it has here."""
    if device == "cuda":
        load_rmm()
    import implicit
    import implicit.als
    import implicit.bpr
    import implicit.gpu
    import implicit.lmf
    if device == "cuda" and not implicit.gpu.HAS_CUDA:
        raise mfpeer.Unsupported(f"the CUDA extension of implicit does not load here: {why_no_extension()}")
    return implicit


class Model:
    """What its three models share: a matrix in, epochs by its own clock, factors out."""

    def __init__(self, task):
        self.task = task
        self.device = task.params.get("device", "cpu")
        self.cuda = self.device == "cuda"
        self.library = library_for(self.device)
        self.fitted = self.make(task.seed)

    def warm_up(self):
        """An epoch on half of all pairs, of a model of its own: the context, cuBLAS, kernels, threads."""
        import scipy.sparse
        pairs = (numpy.indices((WARM_USERS, WARM_ITEMS)).sum(0) % 2).astype(numpy.float32)
        toy = self.make(1)
        toy.fit(scipy.sparse.csr_matrix(pairs), show_progress=False)
        self.factors_of(toy)

    def describe(self):
        return self.library.__version__, {"cuda_extension": bool(self.library.gpu.HAS_CUDA), "device": self.device}

    def fit(self):
        """The seconds of the library's own loop, which it hands to its callback: fit() also transposes and
        checks its matrix each time."""
        seconds = []
        self.fitted.fit(self.matrix, show_progress=False, callback=lambda number, took, *_: seconds.append(took))
        return sum(seconds)

    def factors_of(self, model):
        rows = model.user_factors, model.item_factors
        return [side.to_numpy() if self.cuda else side for side in rows]

    def model(self):
        p, q = self.factors_of(self.fitted)
        return {"p": p, "q": q}


class Als(Model):
    each_epoch = True
    starts_from = "mfbench"

    def make(self, seed):
        task, params = self.task, self.task.params
        if self.cuda and params["solver"] != "cg":
            raise mfpeer.Unsupported("the CUDA extension of implicit has no solver but cg")
        keys = {"factors": task.factors, "regularization": params["reg"], "alpha": 1.0, "iterations": 1,
                "random_state": seed}
        if not self.cuda:
            keys |= {"use_native": True, "use_cg": params["solver"] == "cg", "num_threads": task.threads}
        return self.library.als.AlternatingLeastSquares(use_gpu=self.cuda, **keys)

    def convert(self, task):
        self.matrix = task.csr(1 + task.params["alpha"] * task.value)
        p, q = task.initial_p.copy(), task.initial_q.copy()
        if self.cuda:
            p, q = self.library.gpu.Matrix(p), self.library.gpu.Matrix(q)
        self.fitted.user_factors, self.fitted.item_factors = p, q

    def train(self, epoch, learning_rate):
        return self.fit()


class Bpr(Model):
    """One column of both is the item's bias, which it adds to the factors that it is asked for."""
    each_epoch = True
    starts_from = "library"

    def make(self, seed):
        task = self.task
        # A generator, not a number, from which each call of fit() would draw the same triples.
        return self.library.bpr.BayesianPersonalizedRanking(
            factors=task.factors - 1, regularization=task.params["reg"], iterations=1, use_gpu=self.cuda,
            num_threads=task.threads, verify_negative_samples=task.params["verify"],
            random_state=numpy.random.default_rng(seed))

    def convert(self, task):
        self.matrix = task.csr(numpy.ones(task.nnz))

    def train(self, epoch, learning_rate):
        self.fitted.learning_rate = learning_rate
        return self.fit()


class Lmf(Model):
    """From the start for each point: fit() would forget the sums of squares of AdaGrad."""
    each_epoch = False
    starts_from = "library"

    def make(self, seed):
        task = self.task
        return self.library.lmf.LogisticMatrixFactorization(
            factors=task.factors - 2, regularization=task.params["reg"], iterations=1,
            neg_prop=task.params["negatives"], num_threads=task.threads, random_state=seed % 2**32)

    def convert(self, task):
        self.matrix = task.csr(numpy.ones(task.nnz))

    def train(self, epoch, learning_rate):
        self.fitted = self.make(self.task.seed)
        self.fitted.iterations, self.fitted.learning_rate = epoch, learning_rate
        return self.fit()


mfpeer.run("implicit", lambda task: {"als": Als, "bpr": Bpr, "lmf": Lmf}[task.algorithm](task))
