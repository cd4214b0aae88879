"""smurff (PyPI): BPMF by Gibbs sampling, whole rows drawn (C++, OpenMP).

It takes the ratings less their mean, averages the predictions of the draws after burn-in, or takes the last one, and
says their RMSE, not clipped. It has room for the predictions of so many draws, and predicts the test part in each.
"""

import time

import mfpeer
import numpy


class Smurff:
    each_epoch = False  # the number of draws is asked for before the first
    starts_from = "library"

    def __init__(self, task):
        import smurff
        self.library = smurff
        self.task = task

    def describe(self):
        return self.library.version, {"threads": self.task.threads}

    def convert(self, task):
        import scipy.sparse
        mean = float(numpy.mean(task.value))
        self.train_part = task.csr(task.value - mean).astype(float)
        self.test_part = scipy.sparse.coo_matrix((task.test.value - mean, (task.test.user, task.test.item)),
                                                 shape=self.train_part.shape)

    def train(self, epoch, learning_rate):
        task = self.task
        alpha, burn_in = task.params["alpha"], min(task.params["burn_in"], epoch - 1)
        session = self.library.TrainSession(num_latent=task.factors, num_threads=task.threads, burnin=burn_in,
                                            nsamples=epoch - burn_in, seed=task.seed % 2**31, verbose=0)
        session.addTrainAndTest(self.train_part, self.test_part,
                                self.library.FixedNoise(alpha) if alpha > 0 else self.library.AdaptiveNoise())
        start = time.perf_counter()
        session.init()
        while session.step() is not None:
            pass
        seconds = time.perf_counter() - start
        self.reported = float(session.getRmseAvg())
        return seconds


mfpeer.run("smurff", Smurff)
