"""LensKit (PyPI): ALS for ratings beside fixed biases (BiasedMFScorer) and for implicit feedback (ImplicitMFScorer).

A row of the explicit one solves (Y'Y + reg n I) x = Y'r, n being its ratings and r the residual of mean and damped
biases: mfbench's `reg` of the ALS with weighted regularization. A row of the implicit one solves (Y'Y + reg I + sum w y
y') x = sum (1 + w) y with w = alpha r. Both solve users, then items, by Cholesky in the library's own Rust. LensKit
counts the users and items that have ratings; others are left out there and zero here.
"""

import importlib.metadata
import os

import mfpeer
import numpy


class Als:
    each_epoch = True
    starts_from = "mfbench"

    def __init__(self, task):
        # The threads are its Rust's; BLAS and PyTorch are called from one at a time.
        os.environ |= {"LK_NUM_THREADS": str(task.threads), "LK_NUM_BACKEND_THREADS": "1", "OMP_NUM_THREADS": "1"}
        import lenskit
        import lenskit.als
        import lenskit.data
        import lenskit.parallel
        import lenskit.training
        self.library, self.task = lenskit, task
        lenskit.parallel.initialize(threads=task.threads, backend_threads=1)

    def describe(self):
        return importlib.metadata.version("lenskit"), {"threads": self.task.threads}

    def scorer(self):
        als, params = self.library.als, self.task.params
        keys = {"embedding_size": self.task.factors, "regularization": params["reg"]}
        if self.task.algorithm == "implicit_mf":
            return als.ImplicitMFScorer(
                weight=params["alpha"], use_ratings=True, **keys)
        return als.BiasedMFScorer(damping=params["damping"], **keys)

    def convert(self, task):
        import pandas
        data = self.library.data.from_interactions_df(pandas.DataFrame({
            "user_id": numpy.array(task.user), "item_id": numpy.array(task.item), "rating": numpy.array(task.value)}))
        self.users, self.items = numpy.array(data.users.ids()), numpy.array(data.items.ids())
        self.fitted = self.scorer()
        self.trainer = self.fitted.create_trainer(data, self.library.training.TrainingOptions(rng=task.seed))
        self.trainer.load_parameters({"user_embeddings": task.initial_p[self.users],
                                      "item_embeddings": task.initial_q[self.items]})

    def train(self, epoch, learning_rate):
        self.trainer.train_epoch()

    def model(self):
        task = self.task
        parts = {"p": mfpeer.spread(self.users, self.fitted.user_embeddings, task.n_users),
                 "q": mfpeer.spread(self.items, self.fitted.item_embeddings, task.n_items)}
        if task.algorithm == "implicit_mf":
            return parts
        bias = self.fitted.bias
        return parts | {"user_bias": mfpeer.spread(self.users, bias.user_biases, task.n_users),
                        "item_bias": mfpeer.spread(self.items, bias.item_biases, task.n_items),
                        "mean": bias.global_bias}


mfpeer.run("lenskit", Als)
