"""implicit (PyPI): ALS for implicit feedback, on the CPU or by its CUDA extension.

The library gives an observed pair the confidence that stands in its matrix, where mfbench's is
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


class Als:
    each_epoch = True
    starts_from = "mfbench"

    def __init__(self, task):
        params = task.params
        cuda = params["device"] == "cuda"
        if cuda:
            load_rmm()
        import implicit
        import implicit.als
        import implicit.gpu
        self.library = implicit
        if cuda and not implicit.gpu.HAS_CUDA:
            raise mfpeer.Unsupported(f"the CUDA extension of implicit does not load here: {why_no_extension()}")
        if cuda and params["solver"] != "cg":
            raise mfpeer.Unsupported("the CUDA extension of implicit has only the solver cg")
        keys = {"factors": task.factors, "regularization": params["reg"], "alpha": 1.0, "iterations": 1,
                "random_state": task.seed}
        if not cuda:
            keys |= {"use_native": True, "use_cg": params["solver"] == "cg", "num_threads": task.threads}
        self.make = lambda: implicit.als.AlternatingLeastSquares(use_gpu=cuda, **keys)
        self.als = self.make()
        self.cuda = cuda

    def warm_up(self):
        """An iteration on half of all pairs, of a model of its own: the context, cuBLAS, kernels, threads."""
        import scipy.sparse
        pairs = (numpy.indices((WARM_USERS, WARM_ITEMS)).sum(0) % 2).astype(numpy.float32)
        toy = self.make()
        toy.fit(scipy.sparse.csr_matrix(pairs), show_progress=False)
        if self.cuda:
            toy.user_factors.to_numpy()

    def describe(self):
        return self.library.__version__, {"cuda_extension": bool(self.library.gpu.HAS_CUDA),
                                          "device": "cuda" if self.cuda else "cpu"}

    def convert(self, task):
        self.confidence = task.csr(1 + task.params["alpha"] * task.value)
        p, q = task.initial_p.copy(), task.initial_q.copy()
        if self.cuda:
            p, q = self.library.gpu.Matrix(p), self.library.gpu.Matrix(q)
        self.als.user_factors, self.als.item_factors = p, q

    def train(self, epoch, learning_rate):
        # The seconds of the library's own loop, which it hands to its callback: fit() also
        # transposes and checks its matrix each time.
        seconds = []
        self.als.fit(self.confidence, show_progress=False,
                     callback=lambda number, took, *_: seconds.append(took))
        return sum(seconds)

    def model(self):
        p, q = self.als.user_factors, self.als.item_factors
        if self.cuda:
            p, q = p.to_numpy(), q.to_numpy()
        return {"p": p, "q": q}


mfpeer.run("implicit", Als)
