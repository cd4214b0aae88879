"""myfm (PyPI): a Bayesian factorization machine by Gibbs sampling, one number after another, on one thread.

Of a rating it is given its user and its item, so that it is w0 + b_u + c_i + p_u . q_i. It would keep all draws, so
their predictions are averaged as they come, which its time is without. Its RMSE is of the mean of the draws after
burn-in, or of the last one; it is not clipped.
"""

import time

import mfpeer
import numpy


class Myfm:
    each_epoch = False  # one call makes all averaged draws
    starts_from = "library"

    def __init__(self, task):
        import myfm
        self.library = myfm
        self.task = task

    def describe(self):
        return self.library.__version__, {"threads": 1}

    def features(self, user, item):
        import scipy.sparse
        rows = len(user)
        columns = numpy.column_stack([user, numpy.asarray(item, numpy.int64) + self.task.n_users]).ravel()
        return scipy.sparse.csr_matrix((numpy.ones(2 * rows), columns, numpy.arange(0, 2 * rows + 1, 2)),
                                       shape=(rows, self.task.n_users + self.task.n_items))

    def convert(self, task):
        self.train_rows = self.features(task.user, task.item)
        self.values = numpy.array(task.value, dtype=float)
        self.test_rows = self.features(task.test.user, task.test.item)

    def train(self, epoch, learning_rate):
        first = min(self.task.params["burn_in"], epoch - 1)
        mean, apart = numpy.zeros(self.test_rows.shape[0]), 0.0

        def take(number, draw, _hyper, _history):
            nonlocal apart
            start = time.perf_counter()
            if number >= first:
                mean[:] += (draw.predict_score(self.test_rows, []) - mean) / (number - first + 1)
            apart += time.perf_counter() - start
            return False, None

        model = self.library.MyFMRegressor(rank=self.task.factors, random_seed=self.task.seed % 2**31)
        start = time.perf_counter()
        model.fit(self.train_rows, self.values, n_iter=epoch, n_kept_samples=1, callback=take,
                  group_shapes=[self.task.n_users, self.task.n_items])
        seconds = time.perf_counter() - start - apart
        self.reported = float(numpy.sqrt(numpy.mean((mean - self.task.test.value) ** 2)))
        return seconds


mfpeer.run("myfm", Myfm)
