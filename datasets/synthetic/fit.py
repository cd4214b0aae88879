#!/usr/bin/env python3
"""Fits the profile of a look-alike to a set of ratings: the laws of activity and popularity to the median and the
largest number of ratings of users and items, then the planted model to the spread of the ratings and to the test RMSE
of a few algorithms, each at its best regularizer. `mfbench data fit` starts it."""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

try:
    import numpy
    from scipy.optimize import least_squares
except ImportError as error:
    sys.exit(f"error: data fit: {error}; it needs scipy (python3-scipy), and PYTHON may name another Python")

# Steps of the optimizer, splits of the real set, seeds of the look-alikes.
ROUNDS, SPLITS, SEEDS = 3, [1, 2, 3, 4, 5], [1, 2, 3]
REGS = [0.03, 0.05, 0.08, 0.12, 0.18, 0.27, 0.4, 0.6, 0.9]
ALS = {"name": "als_cpu", "reg_power": 1, "stop": {"epochs": 12}, "reg": REGS}
SGD = {"name": "sgd_serial", "stop": {"epochs": 25}, "reg_user_bias": 0.05, "reg_item_bias": 0.05, "reg": REGS,
       "schedule": {"kind": "exponential", "learning_rate": 0.015, "decay": 0.93}}
ALGORITHMS = [  # means of items only, of users only, of both, and models with factors
    *({"name": "bias", "factors": 1, "reg_user": user, "reg_item": item} for user, item in (
        (1e6, 25.0), (10.0, 1e6), (10.0, 25.0))),
    *({**one, "factors": factors} for factors in (8, 32) for one in (
        {**ALS, "center": "none"}, {**ALS, "center": "biases"}, SGD))]
# Start, least, most and step of a profile's numbers; SCALED in standard deviations of the ratings.
LAWS = {"activity.power": (1.7, 0.1, 9, 0.2), "activity.tail": (0.04, 0, 0.45, 0.02),
        "popularity.power": (2.4, 0.1, 9, 0.2), "popularity.tail": (0.08, 0, 0.45, 0.02)}
MODEL = {"model.user_activity_correlation": (-0.1, -0.9, 0.9, 0.1), "model.noise_spread": (0.37, 0, 1, 0.1),
         "model.item_popularity_correlation": (0.3, -0.9, 0.9, 0.1), "model.gain_sd": (0.26, 0, 1, 0.1),
         "model.selection": (0.85, 0, 4, 0.2), "model.spectrum": (0.55, 0.05, 2, 0.1)}
SCALED = {"model.user_sd": (0.4, 0.01, 3, 0.05), "model.item_sd": (0.55, 0.01, 3, 0.05),
          "model.signal_sd": (0.6, 0.01, 3, 0.05), "model.noise_sd": (0.7, 0.01, 3, 0.03)}


def fit(profile, file, numbers, off, rounds):
    """Least squares over these numbers of the profile, whose file keeps the best."""
    start, least, most, steps = numpy.array(list(numbers.values()), float).T

    def residuals(point):
        for place, value in zip(numbers, start + point * steps):
            group, name = place.split(".")
            profile[group][name] = round(float(value), 6)
        file.write_text(json.dumps(profile, indent=2) + "\n")
        return numpy.array([*off(), *0.1 * point])  # what else nothing decides stays

    def slopes(point):
        here = residuals(point)
        return numpy.stack([residuals(point + one) - here for one in numpy.eye(len(point))], 1)

    found = least_squares(residuals, 0 * start, slopes, ((least - start) / steps, (most - start) / steps),
                          max_nfev=rounds + 1, verbose=2)
    residuals(found.x)


def key_of(algorithm):
    return algorithm["name"], *map(algorithm.get, ("center", "factors", "reg_user", "reg_item"))


def main(program, word, out):
    with tempfile.TemporaryDirectory() as folder:
        drawn, apart = pathlib.Path(folder, "profile.json"), {**os.environ, "MFBENCH_CACHE": f"{folder}/cache"}

        def call(*words, env=apart):
            done = subprocess.run([program, *map(str, words)], stdout=subprocess.PIPE, text=True, env=env)
            return done.stdout if done.returncode == 0 else sys.exit(done.returncode)

        def stats_of(word=f"like:{drawn}", **env):
            return json.loads(call("data", "stats", word, "--json", **env))

        def rmse_of(data, algorithms, seeds, **env):
            """{key of an algorithm: (least test RMSE, its regularizer)}; RMSE is the mean of the completed cases."""
            results, spec, found = tempfile.mkdtemp(dir=folder), f"{folder}/fit.json", {}
            pathlib.Path(spec).write_text(json.dumps({
                "name": "fit", "datasets": [data], "seeds": seeds, "split": {"holdout": 0.2}, "algorithms": algorithms,
                "evaluate": {"every": 1000, "train": False}}))
            call("run", spec, "--out", results, "--quiet", **env)
            for case in map(json.loads, call("summarize", results, "--json").splitlines()):
                if case["type"] == "case" and case["status"] == "completed":
                    of_reg = found.setdefault(key_of({"name": case["algorithm"], **case["params"]}), {})
                    of_reg.setdefault(case["params"].get("reg"), []).append(case["final_test_rmse"])
            return {key: min((statistics.fmean(runs), reg) for reg, runs in one.items()) for key, one in found.items()}

        def off_laws():  # in tenths
            stats = stats_of()
            return [10 * numpy.log(stats[side][key] / real[side][key]) for side in (
                "ratings_per_user", "ratings_per_item") for key in ("median", "max")]

        def off_rmse():
            found = rmse_of({"like": str(drawn), "seed": SEEDS}, algorithms, SPLITS[:1])
            return {key: found.get(key, (1e3,))[0] - rmse for key, (rmse, _) in known.items()}

        def off_model():  # in hundredths of a deviation of the ratings, RMSE in thirds of them
            stats = stats_of()
            return [100 * (stats[key] - real[key]) / unit for key in ("mean", "standard_deviation")] + [
                300 * off / unit for off in off_rmse().values()]

        real, known = stats_of(word, env=None), rmse_of(word, ALGORITHMS, SPLITS, env=None)
        unit, mean = real["standard_deviation"], real["mean"]
        algorithms = [{**one, "reg": [reg for reg in REGS if 0.59 < reg / known[key][1] < 1.7]} if "reg" in one else one
                      for one in ALGORITHMS if (key := key_of(one)) in known]
        model = {"model.mean": (mean, mean - unit, mean + unit, 0.05 * unit), **MODEL,
                 **{name: [number * unit for number in one] for name, one in SCALED.items()}}
        profile = {"name": word, "shape": {key: real[key] for key in ("n_users", "n_items", "nnz")},
                   "scale": real["scale"], "min_user_degree": real["ratings_per_user"]["min"], "activity": {},
                   "popularity": {}, "model": {name.split(".")[1]: start for name, (start, *_) in model.items()}}
        fit(profile, drawn, LAWS, off_laws, 4 * ROUNDS)
        fit(profile, drawn, model, off_model, ROUNDS)
        for key, off in off_rmse().items():
            print(f"{' '.join(str(part) for part in key if part):24} real {known[key][0]:.4f}, look-alike {off:+.4f}")
        pathlib.Path(out).write_text(drawn.read_text())
        print(f'{out}: a profile; in specs: {{"like": "{out}"}}')


if __name__ == "__main__":
    main(*sys.argv[1:])
