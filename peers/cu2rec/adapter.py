"""cu2rec: `mf -c CONFIG TRAIN TEST`.

An iteration is one rating of each user; an epoch here is as many of them as give a pass over the ratings in the mean
(ratings / users). CONFIG has a line KEY=VALUE for each of its hyperparameters. TRAIN and TEST are tables of users,
items and ratings with ids from 1 (`input`: csv), or triples of 12 bytes with ids from 0 (a build that reads them).
"""

import re

import mfpeer
import mfprogram
import numpy

RMSE = re.compile(rf"TEST: Iteration (\d+) GPU MAE: {mfprogram.NUMBER} RMSE: {mfprogram.NUMBER}")
TOTAL = re.compile(rf"Time taken for (\d+) of iterations is {mfprogram.NUMBER}")


class Cu2rec(mfprogram.Program):
    def write_inputs(self, task, folder):
        self.iterations_of_epoch = max(1, round(task.nnz / task.n_users))
        for name, part in (("train", task), ("test", task.test)):
            if task.params["input"] == "triples":
                mfprogram.triples(folder / f"{name}.data", part)
                continue
            table = numpy.column_stack([numpy.array(part.user) + 1, numpy.array(part.item) + 1, part.value])
            numpy.savetxt(folder / f"{name}.data", table, fmt=["%d", "%d", "%g"], delimiter=",",
                          header="userId,itemId,rating", comments="")

    def arguments(self, epochs, rate):
        params, config = self.task.params, self.run_folder / "config.cfg"
        count = epochs * self.iterations_of_epoch
        keys = {"total_iterations": count, "n_factors": self.task.factors, "learning_rate": rate,
                "P_reg": params["reg"], "Q_reg": params["reg"], "user_bias_reg": params["reg"],
                "item_bias_reg": params["reg"], "is_train": "true", "n_threads": 32, "check_error": count,
                "patience": params["patience"], "learning_rate_decay": params["decay"]}
        config.write_text("".join(f"{key}={value}\n" for key, value in keys.items()), encoding="utf-8")
        return ["-c", config, self.inputs / "train.data", self.inputs / "test.data"]

    def progress(self, text):
        seconds, rmse = mfprogram.iterations(text)
        for found in RMSE.finditer(text):
            rmse.setdefault(int(found[1]), float(found[3]))
        total = TOTAL.search(text)
        if total:
            seconds.setdefault(int(total[1]), float(total[2]))
        return seconds, rmse


mfpeer.run("cu2rec", Cu2rec)
