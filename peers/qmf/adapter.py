"""QMF: `wals --train_dataset=F --user_factors=F --item_factors=F --nepochs=N --nfactors=N --nthreads=N
--regularization_lambda=X --confidence_weight=X`.

TRAIN has a line `USER ITEM VALUE` for each pair; the factors that it leaves have a line `ID FACTOR...` for each row. A
pair's confidence is 1 + confidence_weight r: mfbench's `alpha`. It prints no times of its own, so the training time is that
of the whole program, with the reading of the text and the writing of the factors.
"""

import time

import mfpeer
import mfprogram
import numpy


class Wals(mfprogram.Program):
    def write_inputs(self, task, folder):
        table = numpy.column_stack([task.user, task.item, task.value])
        numpy.savetxt(folder / "train.txt", table, fmt=["%d", "%d", "%.9g"])

    def arguments(self, epochs, rate):
        params = self.task.params
        self.began = time.perf_counter()
        return [f"--train_dataset={self.inputs / 'train.txt'}", "--user_factors=users.txt", "--item_factors=items.txt",
                f"--nepochs={epochs}", f"--nfactors={self.task.factors}", f"--nthreads={self.task.threads}",
                f"--regularization_lambda={params['reg']}", f"--confidence_weight={params['alpha']}"]

    def progress(self, text):
        progress = mfprogram.Progress()
        progress.total = time.perf_counter() - self.began
        return progress

    def rows(self, name, count):
        out = numpy.zeros((count, self.task.factors), numpy.float32)
        with (self.run_folder / name).open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                words = line.split()
                if len(words) != self.task.factors + 1:
                    raise RuntimeError(f"{name}:{number}: found {len(words)} words, expected an id and "
                                       f"{self.task.factors} factors")
                row = int(words[0])
                if not 0 <= row < count:
                    raise RuntimeError(f"{name}:{number}: found the id {row}, expected one of 0 to {count - 1}")
                out[row] = [float(word) for word in words[1:]]
        return out

    def model(self):
        return {"p": self.rows("users.txt", self.task.n_users), "q": self.rows("items.txt", self.task.n_items)}


mfpeer.run("qmf", Wals)
