#!/usr/bin/env python3
"""Trains the library `implicit` on the training part of a model that `mfbench run --save-model` wrote.

    implicit_als.py MODEL_DIR [--factors N] [--alpha A] [--reg L] [--iterations N] [--threads N]
                    [--seed N] [--save DIR]

MODEL_DIR holds seen_offsets.npy and seen_items.npy: the users' rows of what was trained on, taken as binary.
One JSON line an iteration: the seconds of the library's own loop. --save writes P.npy and Q.npy.

The library gives an observed pair the confidence alpha where mfbench's `alpha` gives 1 + alpha r, so
A here is passed on as 1 + A; its regularization is the same for every row, as `reg_exponent: 0`.
"""

import argparse
import json
import os
import pathlib

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the library asks for it: its threads are its own

import implicit
import numpy as np
import scipy.sparse
from implicit.als import AlternatingLeastSquares


def training_matrix(folder):
    """Users by items, ones where a pair was trained on."""
    offsets = np.load(folder / "seen_offsets.npy")
    items = np.load(folder / "seen_items.npy")
    shape = (len(np.load(folder / "user_ids.npy")), len(np.load(folder / "item_ids.npy")))
    return scipy.sparse.csr_matrix((np.ones(len(items), np.float32), items, offsets), shape=shape)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--factors", type=int, default=64)
    parser.add_argument("--alpha", type=float, default=1.0)
    parser.add_argument("--reg", type=float, default=0.05)
    parser.add_argument("--iterations", type=int, default=15)
    parser.add_argument("--threads", type=int, default=0, help="0: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", type=pathlib.Path)
    options = parser.parse_args()

    confidence = training_matrix(options.model)
    print(json.dumps({"library": "implicit", "version": implicit.__version__, "users": confidence.shape[0],
                      "items": confidence.shape[1], "nnz": int(confidence.nnz), "factors": options.factors,
                      "alpha": options.alpha, "reg": options.reg, "threads": options.threads}), flush=True)
    model = AlternatingLeastSquares(
        factors=options.factors, regularization=options.reg, alpha=1 + options.alpha,
        iterations=options.iterations, use_native=True, use_cg=True, use_gpu=False,
        num_threads=options.threads, random_state=options.seed)
    # The library's own clock of an iteration, which it hands to fit's callback.
    model.fit(confidence, show_progress=False,
              callback=lambda epoch, seconds, *_: print(json.dumps({"epoch": epoch + 1, "train_s": seconds}),
                                                        flush=True))
    if options.save:
        options.save.mkdir(parents=True, exist_ok=True)
        np.save(options.save / "P.npy", model.user_factors)
        np.save(options.save / "Q.npy", model.item_factors)


if __name__ == "__main__":
    main()
