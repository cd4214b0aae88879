"""scikit-surprise (PyPI): SVD, SVD++, NMF, BaselineOnly, SlopeOne and KNNBaseline, on one thread.

SVD minimizes the sum over the ratings of e^2 + reg (|p|^2 + |q|^2 + b^2 + c^2), and steps by half the
gradient: the step of sgd_serial with the same `reg` and rate. It draws its own initial factors; they get the
mean and the deviation of mfbench's. The order of a pass is the same in all of them: by user, as the ratings
stand in the training set. The library counts its users in the order in which they come, so those without
ratings are left out there and zero here.

SVD++ is a model of P and Q, too: the row of a user is p_u and what the items of u add to it. SlopeOne and
KNNBaseline have no factors: they say the RMSE of their own predictions, which are not clipped.
"""

import time

import mfpeer
import numpy


class Surprise:
    each_epoch = False  # there is no call for one epoch
    starts_from = "library"

    def __init__(self, task):
        import surprise
        self.library = surprise
        self.task = task

    def describe(self):
        return self.library.__version__, {"threads": 1}

    def convert(self, task):
        user, item = numpy.array(task.user), numpy.array(task.item)
        self.users, user = numpy.unique(user, return_inverse=True)
        self.items, item = numpy.unique(item, return_inverse=True)
        value = numpy.array(task.value, dtype=float)
        self.n_users, self.n_items = task.n_users, task.n_items
        by_user = {u: [] for u in range(len(self.users))}
        by_item = {i: [] for i in range(len(self.items))}
        for u, i, r in zip(user.tolist(), item.tolist(), value.tolist()):
            by_user[u].append((i, r))
            by_item[i].append((u, r))
        self.train_set = self.library.Trainset(
            by_user, by_item, len(self.users), len(self.items), len(value), (value.min(), value.max()),
            {u: u for u in by_user}, {i: i for i in by_item})
        self.train_set.global_mean  # kept: else only the first fit would pay for it
        self.initial = float(numpy.mean(task.initial_p)), float(numpy.std(task.initial_p))

    def train(self, epoch, learning_rate):
        self.fitted = self.make(epoch, learning_rate)
        start = time.perf_counter()
        self.fitted.fit(self.train_set)
        return time.perf_counter() - start

    def biases(self):
        return {"user_bias": mfpeer.spread(self.users, self.fitted.bu, self.n_users),
                "item_bias": mfpeer.spread(self.items, self.fitted.bi, self.n_items),
                "mean": self.train_set.global_mean}


class Factors(Surprise):
    """SVD's: P, Q and, in a biased model, biases."""

    def own(self):
        """What SVD and SVD++ differ by."""
        return self.library.SVD, {"biased": self.task.model == "biased"}

    def make(self, epochs, rate):
        params = self.task.params
        kind, options = self.own()
        regs = {theirs: params[ours] if params[ours] >= 0 else params["reg"]
                for theirs, ours in (("reg_pu", "reg_p"), ("reg_qi", "reg_q"), ("reg_yj", "reg_y"),
                                     ("reg_bu", "reg_user_bias"), ("reg_bi", "reg_item_bias")) if ours in params}
        mean, deviation = self.initial
        return kind(n_factors=self.task.factors, n_epochs=epochs, init_mean=mean, init_std_dev=deviation,
                    lr_all=rate, random_state=self.task.seed, **regs, **options)

    def user_rows(self):
        return self.fitted.pu

    def model(self):
        factors = {"p": mfpeer.spread(self.users, self.user_rows(), self.n_users),
                   "q": mfpeer.spread(self.items, self.fitted.qi, self.n_items)}
        return factors | (self.biases() if self.task.model == "biased" else {})


class SvdPlusPlus(Factors):
    def own(self):
        return self.library.SVDpp, {"cache_ratings": True}  # else it keeps a row of each user that it never uses

    def user_rows(self):
        """p_u + sum of y_j / root of their number, over the items j of u."""
        rows = self.fitted.pu.copy()
        for user, rated in self.train_set.ur.items():
            rows[user] += self.fitted.yj[[item for item, _ in rated]].sum(0) / len(rated) ** 0.5
        return rows


class Nmf(Factors):
    def make(self, epochs, rate):
        return self.library.NMF(n_factors=self.task.factors, n_epochs=epochs, random_state=self.task.seed,
                                reg_pu=self.task.params["reg_p"], reg_qi=self.task.params["reg_q"])


class Baseline(Surprise):
    def make(self, epochs, rate):
        params = self.task.params
        if self.task.algorithm == "baseline_als":
            options = {"method": "als", "n_epochs": epochs, "reg_u": params["reg_user_bias"],
                       "reg_i": params["reg_item_bias"]}
        else:
            options = {"method": "sgd", "n_epochs": epochs, "reg": params["reg"], "learning_rate": rate}
        return self.library.BaselineOnly(bsl_options=options, verbose=False)

    def model(self):
        return self.biases()


class WithoutFactors(Surprise):
    def convert(self, task):
        super().convert(task)
        self.user_of = {row: user for user, row in enumerate(self.users.tolist())}
        self.item_of = {row: item for item, row in enumerate(self.items.tolist())}

    def train(self, epoch, learning_rate):
        seconds = super().train(epoch, learning_rate)
        self.reported = self.rmse(self.task.test)
        return seconds

    def rmse(self, test):
        """Who has no rating is unknown to the library, and predicted by its own rule."""
        predicted = [self.fitted.predict(self.user_of.get(u), self.item_of.get(i), clip=False).est
                     for u, i in zip(test.user.tolist(), test.item.tolist())]
        return float(numpy.sqrt(numpy.mean((numpy.array(predicted) - test.value) ** 2)))


class SlopeOne(WithoutFactors):
    def make(self, epochs, rate):
        return self.library.SlopeOne()


class KnnBaseline(WithoutFactors):
    def make(self, epochs, rate):
        params = self.task.params
        return self.library.KNNBaseline(
            k=params["k"], min_k=params["min_k"], verbose=False,
            sim_options={"name": "pearson_baseline", "user_based": False, "shrinkage": params["shrinkage"]},
            bsl_options={"method": "als", "reg_u": params["reg_user_bias"], "reg_i": params["reg_item_bias"]})


KINDS = {"svd": Factors, "svdpp": SvdPlusPlus, "nmf": Nmf, "slope_one": SlopeOne, "knn_baseline": KnnBaseline}

mfpeer.run("surprise", lambda task: KINDS.get(task.algorithm, Baseline)(task))
