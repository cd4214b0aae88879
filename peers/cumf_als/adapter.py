"""cuMF_ALS: `main M N F NNZ NNZ_TEST LAMBDA X_BATCH THETA_BATCH DATA_DIR`.

The number of factors, the number of iterations and the solver are compiled in: `factors` must be the program's.
DATA_DIR has the training part by rows and by columns (R_train_csr.*, R_train_csc.*, R_train_coo.row.bin) and the test
part as coordinates (R_test_coo.*), each array a file of 32-bit numbers. An iteration solves its rows, then its columns;
`rows` says which rows those are. A row is shrunk by lambda times its ratings: mfbench's `reg`.
"""

import re

import mfpeer
import mfprogram
import numpy

RMSE = re.compile(rf"Test RMSE in iter (\d+): {mfprogram.NUMBER}")
TOTAL = re.compile(rf"doALS takes seconds: {mfprogram.NUMBER}")


class CumfAls(mfprogram.Program):
    def write_inputs(self, task, folder):
        csr = task.csr()
        by_row = csr if task.params["rows"] == "users" else csr.T.tocsr()
        by_column = by_row.tocsc()
        for name, matrix in (("csr", by_row), ("csc", by_column)):
            matrix.sort_indices()
            mfprogram.write(folder / f"R_train_{name}.data.bin", matrix.data, "<f4")
            mfprogram.write(folder / f"R_train_{name}.indices.bin", matrix.indices, "<i4")
            mfprogram.write(folder / f"R_train_{name}.indptr.bin", matrix.indptr, "<i4")
        rows = numpy.repeat(numpy.arange(by_row.shape[0]), numpy.diff(by_row.indptr))
        mfprogram.write(folder / "R_train_coo.row.bin", rows, "<i4")
        test = task.test
        row, column = (test.user, test.item) if task.params["rows"] == "users" else (test.item, test.user)
        order = numpy.lexsort((column, row))
        mfprogram.write(folder / "R_test_coo.row.bin", row[order], "<i4")
        mfprogram.write(folder / "R_test_coo.col.bin", column[order], "<i4")
        mfprogram.write(folder / "R_test_coo.data.bin", test.value[order], "<f4")

    def arguments(self, epochs, rate):
        task, params = self.task, self.task.params
        shape = (task.n_users, task.n_items) if params["rows"] == "users" else (task.n_items, task.n_users)
        return [*shape, task.factors, task.nnz, task.test.nnz, params["reg"], params["x_batch"],
                params["theta_batch"], self.inputs]

    def progress(self, text):
        seconds, rmse = mfprogram.iterations(text)
        for found in RMSE.finditer(text):  # counted from 0
            rmse.setdefault(int(found[1]) + 1, float(found[2]))
        total = TOTAL.search(text)
        if total and rmse and not seconds:
            # The total covers all iterations: each took an equal share of it.
            count = max(rmse)
            seconds = {k: float(total[1]) * k / count for k in range(1, count + 1)}
        return seconds, rmse


mfpeer.run("cumf_als", CumfAls)
