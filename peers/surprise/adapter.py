"""scikit-surprise (PyPI): SVD and SVD++, on one thread.

SVD minimizes the sum over the ratings of e^2 + reg (|p|^2 + |q|^2 + b^2 + c^2), and steps by half the
gradient: the step of sgd_serial with the same `reg` and rate. It draws its own initial factors; they get the
mean and the deviation of mfbench's. The order of a pass is the same in all of them: by user, as the ratings
stand in the training set. The library counts its users in the order in which they come, so those without
ratings are left out there and zero here. SVD++ adds |N|^-1/2 sum y to the rows of users; it keeps each user's items
(cache_ratings), its faster way.
"""

import mfpeer
import numpy


REGS = {"reg_pu": "reg_p", "reg_qi": "reg_q", "reg_bu": "reg_user_bias", "reg_bi": "reg_item_bias", "reg_yj": "reg_y"}


class Svd:
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

    def make(self, epochs, rate):
        params = self.task.params
        regs = {theirs: params[ours] if params[ours] >= 0 else params["reg"]
                for theirs, ours in REGS.items() if ours in params}
        mean, deviation = self.initial
        shared = {"n_factors": self.task.factors, "n_epochs": epochs, "init_mean": mean, "init_std_dev": deviation,
                  "lr_all": rate, "random_state": self.task.seed, **regs}
        if self.task.algorithm == "svdpp":
            return self.library.SVDpp(cache_ratings=True, **shared)
        return self.library.SVD(biased=self.task.model == "biased", **shared)

    def train(self, epoch, learning_rate):
        self.fitted = self.make(epoch, learning_rate)
        return mfpeer.seconds_of(self.fitted.fit, self.train_set)

    def model(self):
        fitted = self.fitted
        rows = fitted.pu
        if self.task.algorithm == "svdpp":
            histories = self.train_set.ur.values()
            rows = rows + [fitted.yj[[i for i, _ in rated]].sum(0) / len(rated) ** .5 for rated in histories]
        model = {"p": mfpeer.spread(self.users, rows, self.n_users),
                 "q": mfpeer.spread(self.items, fitted.qi, self.n_items)}
        if self.task.model == "biased":
            model |= {"user_bias": mfpeer.spread(self.users, fitted.bu, self.n_users),
                      "item_bias": mfpeer.spread(self.items, fitted.bi, self.n_items),
                      "mean": self.train_set.global_mean}
        return model


mfpeer.run("surprise", Svd)
