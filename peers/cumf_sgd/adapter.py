"""cuMF_SGD: `cumf_sgd -g 0 -l LAMBDA -a ALPHA -b BETA -u 1 -v 1 -x 1 -y 1 -s WORKERS -k FACTORS -t EPOCHS -p TEST TRAIN`.

Both files are triples of 12 bytes: row, column, value. Its rate in iteration t is alpha / (1 + beta t^1.5); an update
shrinks both rows by lambda at each rating, which is mfbench's `reg`.
"""

import mfpeer
import mfprogram


class CumfSgd(mfprogram.Program):
    def write_inputs(self, task, folder):
        mfprogram.triples(folder / "train.bin", task)
        mfprogram.triples(folder / "test.bin", task.test)

    def arguments(self, epochs, rate):
        params = self.task.params
        return ["-g", 0, "-l", params["reg"], "-a", params["alpha"], "-b", params["beta"], "-u", 1, "-v", 1, "-x", 1,
                "-y", 1, "-s", params["workers"], "-k", self.task.factors, "-t", epochs, "-p",
                self.inputs / "test.bin", self.inputs / "train.bin"]


mfpeer.run("cumf_sgd", CumfSgd)
