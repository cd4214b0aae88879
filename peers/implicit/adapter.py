"""implicit (PyPI): ALS, BPR and logistic factorization for implicit feedback; the first two on the CPU or by
its CUDA extension.

ALS: the library takes the confidence of an observed pair from its matrix, which therefore gets mfbench's 1 + alpha r.
Its regularization is the same for every row, as mfbench's `reg` with an exponent of 0. An iteration solves the users
first, then the items.

BPR: the last column of P is 1, the last of Q the items' biases; the library adds it to its factors, and it counts as
one of mfbench's. Each call of fit() goes on from the factors that are there, with draws of its own seed.

LMF: the same with a user's bias in the last column and a 1 of the items, and the other way round in the
one before it. Its step sizes start anew with each call, so it trains from the start for each point.
"""

import mfpeer
import numpy

# The size of the data that it warms up on.
WARM_USERS, WARM_ITEMS = 32, 16


def load_rmm():
    """The extension names librmm.so, and no folder that has it: the wheels do, and load it by themselves."""
    try:
        import librmm
        librmm.load_library()
    except (ImportError, OSError) as error:
        print(f"implicit: {error}", flush=True)  # says what is missing


def why_no_extension():
    """The library itself keeps silent."""
    import importlib
    try:
        for module in ("rmm", "implicit.gpu._cuda"):
            importlib.import_module(module)
    except ImportError as error:
        return error
    return "it finds no device"


class Model:
    each_epoch = True
    starts_from = "mfbench"

    def __init__(self, task):
        import implicit
        import implicit.gpu
        self.library, self.task = implicit, task
        self.cuda = task.params.get("device") == "cuda"
        if self.cuda and not implicit.gpu.HAS_CUDA:
            raise mfpeer.Unsupported(f"the CUDA extension of implicit does not load here: {why_no_extension()}")
        self.fitted = self.make()

    def own_threads(self):
        return {} if self.cuda else {"num_threads": self.task.threads}

    def warm_up(self):
        """An iteration on half of all pairs, of a separate model: the context, cuBLAS, kernels, threads."""
        import scipy.sparse
        pairs = (numpy.indices((WARM_USERS, WARM_ITEMS)).sum(0) % 2).astype(numpy.float32)
        toy = self.make()
        toy.fit(scipy.sparse.csr_matrix(pairs), show_progress=False)
        if self.cuda:
            toy.user_factors.to_numpy()

    def describe(self):
        return self.library.__version__, {"cuda_extension": bool(self.library.gpu.HAS_CUDA),
                                          "device": "cuda" if self.cuda else "cpu"}

    def start(self, p, q):
        if self.cuda:
            p, q = self.library.gpu.Matrix(p), self.library.gpu.Matrix(q)
        self.fitted.user_factors, self.fitted.item_factors = p, q

    def seconds_of_fit(self):
        """The seconds of the library's own loop, which it hands to its callback: fit() also transposes and checks its
        matrix each time."""
        seconds = []
        self.fitted.fit(self.pairs, show_progress=False, callback=lambda number, took, *_: seconds.append(took))
        return sum(seconds)

    def model(self):
        p, q = self.fitted.user_factors, self.fitted.item_factors
        if self.cuda:
            p, q = p.to_numpy(), q.to_numpy()
        return {"p": p, "q": q}


class Als(Model):
    def make(self):
        import implicit.als
        params = self.task.params
        if self.cuda and params["solver"] != "cg":
            raise mfpeer.Unsupported("the CUDA extension of implicit has only the solver cg")
        own = {} if self.cuda else {"use_native": True, "use_cg": params["solver"] == "cg"}
        return implicit.als.AlternatingLeastSquares(
            use_gpu=self.cuda, factors=self.task.factors, regularization=params["reg"], alpha=1.0, iterations=1,
            random_state=self.task.seed, **own, **self.own_threads())

    def convert(self, task):
        self.pairs = task.csr(1 + task.params["alpha"] * task.value)
        self.start(task.initial_p.copy(), task.initial_q.copy())

    def train(self, epoch, learning_rate):
        return self.seconds_of_fit()


class Bpr(Model):
    def make(self):
        import implicit.bpr
        params = self.task.params
        return implicit.bpr.BayesianPersonalizedRanking(
            use_gpu=self.cuda, factors=self.task.factors - 1, regularization=params["reg"], iterations=1,
            verify_negative_samples=params["verify"], random_state=self.task.seed, **self.own_threads())

    def convert(self, task):
        self.pairs = task.csr()
        p, q = task.initial_p.copy(), task.initial_q.copy()
        p[:, -1], q[:, -1] = 1, 0
        self.start(p, q)

    def train(self, epoch, learning_rate):
        self.fitted.learning_rate = learning_rate
        self.fitted.random_state = self.task.seed * 1_000_003 + epoch
        return self.seconds_of_fit()


class Lmf(Model):
    each_epoch = False
    starts_from = "library"

    def make(self, epochs=1, learning_rate=1.0):
        import implicit.lmf
        params = self.task.params
        return implicit.lmf.LogisticMatrixFactorization(
            factors=self.task.factors - 2, regularization=params["reg"], neg_prop=params["neg_prop"],
            learning_rate=learning_rate, iterations=epochs, random_state=self.task.seed, **self.own_threads())

    def convert(self, task):
        self.pairs = task.csr(task.params["alpha"] * task.value)

    def train(self, epoch, learning_rate):
        self.fitted = self.make(epoch, learning_rate)
        return self.seconds_of_fit()


def make_adapter(task):
    if task.params.get("device") == "cuda":
        load_rmm()
    return {"als": Als, "bpr": Bpr, "lmf": Lmf}[task.algorithm](task)


mfpeer.run("implicit", make_adapter)
