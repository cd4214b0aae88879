"""What the numbers of the documents follow from: result files, benchmarks, logs, published numbers.

`Files` has the functions that an expression behind a number may call (tests/doc_numbers.py). They
take an algorithm and what else selects its cases, which may then differ only in their seed, and
return a number a seed.
"""

import copy
import csv
import dataclasses
import functools
import json
import lzma
import math
import operator
import pathlib
import re
import statistics

import rank_agreement

ROOT = pathlib.Path(__file__).resolve().parent.parent


class NumberError(Exception):
    """What is wrong with a number or with the line that explains it."""


# ---- values --------------------------------------------------------------------------------------


class Seeds(dict):
    """A number for each seed. With another `Seeds` arithmetic is seed by seed."""

    def _with(self, other, act):
        if not isinstance(other, Seeds):
            return Seeds({seed: act(value, other) for seed, value in self.items()})
        if self.keys() != other.keys():
            raise NumberError(
                f"seeds {sorted(self)} and {sorted(other)} do not pair: take the median "
                "of each first"
            )
        return Seeds({seed: act(value, other[seed]) for seed, value in self.items()})

    def __abs__(self):
        return Seeds({seed: abs(value) for seed, value in self.items()})


for name in ("add", "sub", "mul", "truediv"):
    act = getattr(operator, name)
    setattr(Seeds, f"__{name}__", lambda self, other, act=act: self._with(other, act))
    setattr(Seeds, f"__r{name}__", lambda self, other, act=act: self._with(other, lambda x, y: act(y, x)))


def listed(values):
    return list(values.values()) if isinstance(values, Seeds) else list(values)


def median(values):
    return statistics.median(listed(values))


def mean(values):
    return statistics.fmean(listed(values))


def low(*values):
    return min(x for value in values for x in (listed(value) if hasattr(value, "__iter__") else [value]))


def high(*values):
    return max(x for value in values for x in (listed(value) if hasattr(value, "__iter__") else [value]))


def common(values, other):
    """Those of the seeds that the other has, too."""
    return Seeds({seed: value for seed, value in values.items() if seed in other})


# ---- result files --------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Case:
    """A result file: its header, its trace points and its footer."""

    path: pathlib.Path
    header: dict
    trace: list
    footer: dict

    @property
    def seed(self):
        return self.header["seed"]

    def known(self):
        """What a case can be selected by: parameters, keys of the schedule, and what else stands
        here. Two cases that agree in all of it but the seed are repeats of each other."""
        header = self.header
        algorithm, schedule = header["algorithm"], dict(header["schedule"])
        split = {**header["dataset"]["split"], "seed": 0}
        # sgd_serial has no such parameter
        threads = {"threads": 1} if algorithm.get("hardware") == "cpu" else {}
        return {
            **threads,
            **algorithm["params"],
            "algorithm": algorithm["name"],
            "data": header["dataset"]["name"],
            "kind": schedule.pop("kind"),
            "rate": schedule.pop("learning_rate"),
            **schedule,
            "every": header["evaluate"]["every"],
            "clip": header["evaluate"].get("clip", False),
            "init": "model" if "model" in header["init"] else header["init"]["kind"],
            "folder": str(self.path.parent),
            "split": json.dumps(split, sort_keys=True),
            "stop_epochs": header["stop"].get("epochs"),
            "seed": self.seed,
        }


PACKED = ".jsonl.xz"


@functools.lru_cache(maxsize=4)
def unpacked(path):
    """(its spec.json or study.json, {the file that a case was packed from: its lines})"""
    head, *lines = map(json.loads, lzma.open(path, "rt", encoding="utf-8"))
    cases = {}
    for line in lines:
        if line["type"] == "header":
            name = line["case_id"].rpartition("/")[2]
            cases[path.with_name(path.name.removesuffix(PACKED)) / f"{name}.jsonl"] = case = []
        case.append(line)
    return head, cases


def stored_in(place):
    """The same of a packed file or a folder."""
    if place.name.endswith(PACKED):
        return unpacked(place)
    spec = place / "spec.json"
    head = json.loads(spec.read_text(encoding="utf-8")) if spec.exists() else {}
    return head, {path: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
                  for path in sorted(place.glob("*.jsonl"))}


def packed_below(place):
    """The packed runs at or below a folder, without trials, which are no cases."""
    return sorted(path for path in place.rglob(f"*{PACKED}") if "tune" not in path.parts)


def lines_of(path):
    """For a packed case."""
    return unpacked(path.parent.with_name(path.parent.name + PACKED))[1][path]


def as_case(path, lines):
    if lines[-1]["type"] != "footer":
        raise NumberError(f"{path.name}: not finished")
    return Case(path, lines[0], [x for x in lines if x["type"] == "trace"], by_todays_rules(lines[-1]))


def by_todays_rules(footer):
    """Older files have packing on the clock load, and the files for a peer on prepare."""
    footer = copy.deepcopy(footer)
    clocks, shared, phases = footer["clocks"], footer.get("shared") or {}, footer.get("phases") or {}
    packing = (footer.get("load_parts") or {}).pop("pack_s", None)
    if packing is not None:
        clocks["load_s"] -= packing
        clocks["prepare_s"] += packing
    if packing:
        phases["pack"] = {"seconds_s": packing, "count": 1}
    if "packed_s" in shared.get("load", {}):
        shared.setdefault("prepare", {})["packed_s"] = shared["load"].pop("packed_s")
    if "hand_over" in phases:
        phases["files_for_peer"] = phases.pop("hand_over")
        own = sum(phases[name]["seconds_s"] for name in ("convert", "initial_factors") if name in phases)
        freed = max(0.0, min(phases["files_for_peer"]["seconds_s"], clocks["prepare_s"] - own))
        clocks["prepare_s"] -= freed
        clocks["rest_s"] += freed
        shared.get("prepare", {}).pop("training_files_s", None)
    return footer


@functools.lru_cache(maxsize=None)
def cases_of(place):
    """The cases that the spec lists, as plots show them; without one, all. A run that was cut off lists
    some that it never began. What was skipped has no numbers."""
    head, found = stored_in(place)
    if "cases" in head:
        names = [case if isinstance(case, str) else case["case_id"] for case in head["cases"]]
        by_name = {path.stem: path for path in found}
        found = {by_name[name]: found[by_name[name]] for name in names if name in by_name}
    cases = [as_case(path, lines) for path, lines in found.items()]
    return tuple(case for case in cases
                 if case.footer["status"] != "skipped" and "split" in case.header["dataset"])


def matches(key, found, wanted):
    if key == "folder":  # the end of its path
        return f"/{found}".endswith(f"/{wanted}")
    return found == wanted and isinstance(found, bool) == isinstance(wanted, bool)


def of_each(read, clocks=None):
    """A function of an expression: what `read` finds in each case; its other arguments follow the algorithm.
    `clocks`: it reads those of TRAINING or ANSWER; of others the names, "prepare_s", tell."""
    own = read.__code__.co_varnames[1:read.__code__.co_argcount]

    def call(self, algorithm, *words, **wanted):
        given = {name: wanted.pop(name) for name in own if name in wanted}
        names = [name for name in (*words, *given.values()) if isinstance(name, str)]
        return self._each(lambda case: read(case, *words, **given), algorithm, clocks or clocks_of(names), **wanted)

    return call


# Which marks of a case are those of its clocks: of the training, and of what the host does before it.
TRAINING, ANSWER = ("contended",), ("contended", "host_contended")


def clocks_of(names):
    """For what an expression asks for by name: "train_s", "prepare_s+transfer_s", "nnz_train"."""
    parts = [part for name in names for part in name.split("+") if part.endswith("_s")]
    training = ("train_s", "train_device_s", "epoch_s", "first_epoch_s", "steady_epoch_s")
    return ANSWER if any(part not in training for part in parts) else TRAINING if parts else ()


def below(value, keys):
    """What stands in it by keys with dots between them."""
    for key in keys.split("."):
        value = value[key]
    return value


class Files:
    """The files behind a block of numbers, and the functions that its expressions may call."""

    def __init__(self, names, root=ROOT):
        self.paths = []
        for name in filter(None, re.split(r"[,\s]+", names)):
            found = sorted({*root.glob(name), *root.glob(name + PACKED)})
            if not found:
                raise NumberError(f"{name}: no such file or folder")
            self.paths += found
        self.contended = False  # whether a time that was asked for is of a contended case

    # -- selection

    def places(self):
        return [path for path in self.paths if path.is_dir() or path.name.endswith(PACKED)]

    def cases(self, algorithm, **wanted):
        every = self._every()
        if "data" in wanted and wanted["data"] not in {case.known()["data"] for case in every}:
            wanted["data"] += " look-alike"
        wanted["algorithm"] = algorithm
        for key in wanted:
            if not any(key in case.known() for case in every):
                raise NumberError(
                    f"no case has {key!r}; there are {sorted(every[0].known()) if every else []}"
                )
        found = [
            case
            for case in every
            if all(matches(key, case.known().get(key), value) for key, value in wanted.items())
        ]
        if not found:
            raise NumberError(f"no case is {wanted}")
        first = {**found[0].known(), "seed": 0}
        for case in found:
            other = {**case.known(), "seed": 0}
            differing = sorted(key for key in first | other if first.get(key) != other.get(key))
            if differing:
                raise NumberError(f"cases with {wanted} differ in {', '.join(differing)}")
        seeds = [case.seed for case in found]
        if len(seeds) != len(set(seeds)):
            raise NumberError(f"several cases with {wanted} have one seed: name the folder")
        return found

    def _each(self, read, algorithm, clocks=(), **wanted):
        cases = self.cases(algorithm, **wanted)
        self.contended |= any(case.footer.get(clock) for case in cases for clock in clocks)
        return Seeds({case.seed: read(case) for case in cases})

    # -- quality

    final = of_each(lambda case: case.footer["final_test_rmse"])
    headline = of_each(lambda case: chosen(case)["test_rmse"])
    best = of_each(lambda case: best_point(case)["test_rmse"])
    epochs = of_each(lambda case: case.footer["epochs"])
    rmse = of_each(lambda case, epoch: point(case, epoch)["test_rmse"])
    last = of_each(lambda case, column: case.trace[-1][column])  # objective, ndcg_100, ...

    def spread_of_epochs(self, one, other):
        """The largest difference of the test RMSE of two lists of cases at any epoch."""
        pairs = [(a, b) for a in one for b in other if a.seed == b.seed]
        return max(
            abs(x["test_rmse"] - y["test_rmse"])
            for a, b in pairs
            for x, y in zip(a.trace, b.trace)
            if x["epoch"] == y["epoch"]
        )

    def off_percent(self, algorithm, part, group, **wanted):
        """The RMSE of one user group against that of all users, in percent; median over seeds."""

        def off(case):
            counts = [(g[f"{part}_rmse"], g[f"{part}_count"]) for g in case.footer["user_groups"] if g[f"{part}_count"]]
            whole = math.sqrt(sum(e * e * n for e, n in counts) / sum(n for _, n in counts))
            return case.footer["user_groups"][group][f"{part}_rmse"] / whole

        return 100 * (median(self._each(off, algorithm, **wanted)) - 1)

    def ended(self, status, algorithm, **wanted):
        """How many seeds ended so; all must be named by the rest."""
        return sum(case.footer["status"] == status for case in self.cases(algorithm, **wanted))

    # -- response surfaces

    def surface(self, algorithm, metric, **wanted):
        """For each seed the points (value on the validation part, on the test part) of its cases, each
        at the epoch with the best validation value, and the best test value of any epoch."""
        seeds = {}
        for case in self._every():
            known = case.known()
            if known["algorithm"] != algorithm or any(known.get(k) != v for k, v in wanted.items()):
                continue
            rows = [row for row in case.trace[1:] if row[metric] is not None]  # it is none if diverged
            points = [(row[f"validation_{metric}"], row[metric]) for row in rows] or [(0.0, 0.0)]
            seeds.setdefault(case.seed, []).append((max(points), max(test for _, test in points)))
        return seeds

    def points(self, algorithm, metric, **wanted):
        (count,) = {len(points) for points in self.surface(algorithm, metric, **wanted).values()}
        return count

    def best_on_test(self, algorithm, metric, **wanted):
        surface = self.surface(algorithm, metric, **wanted)
        return Seeds({seed: max(top for _, top in points) for seed, points in surface.items()})

    def regret(self, algorithm, metric, draws=None, **wanted):
        """What is lost on the test part, of its best point, when validation chooses among `draws` points
        drawn at random without replacement: the mean over all draws; without `draws`, among all."""
        result = {}
        for seed, points in self.surface(algorithm, metric, **wanted).items():
            ranked = [test for (_, test), _ in sorted(points, reverse=True)]
            n = draws or len(ranked)
            ways = [math.comb(len(ranked) - 1 - rank, n - 1) for rank in range(len(ranked))]
            mean = sum(w * test for w, test in zip(ways, ranked)) / math.comb(len(ranked), n)
            result[seed] = max(top for _, top in points) - mean
        return Seeds(result)

    # -- times

    # to the end, or to an evaluated epoch
    train = of_each(lambda case, epoch=None: point(case, epoch)["train_s"], TRAINING)
    wall = of_each(lambda case, epoch=None: point(case, epoch)["wall_s"], ANSWER)
    # "prepare_s", or the sum of several, "prepare_s+transfer_s"
    clock = of_each(lambda case, name: sum(case.footer["clocks"][part] for part in name.split("+")))
    footer = of_each(lambda case, key: below(case.footer, key))  # "peak_host_bytes", or "load_parts.split_s"
    fact = of_each(lambda case, name: below(case.header["facts"], name))
    tuned = of_each(lambda case, key: below(case.header["tuned"], key))  # "trials", "values.reg"
    size = of_each(lambda case, key: case.header["dataset"][key])  # nnz_train, n_users, ...
    work = of_each(lambda case, key: case.header["work_per_epoch"][key])  # flops, bytes, updates: as declared
    flops_of = of_each(lambda case: case.header["work_per_epoch"]["flops"])
    bytes_of = of_each(lambda case: case.header["work_per_epoch"]["bytes"])
    # Means: training time of an epoch, the same by the device's clock, updates a second.
    epoch_s = of_each(lambda case: case.trace[-1]["train_s"] / case.trace[-1]["epoch"], TRAINING)
    device_epoch_s = of_each(lambda case: case.trace[-1]["train_device_s"] / case.trace[-1]["epoch"], TRAINING)
    rate = of_each(lambda case: case.trace[-1]["updates"] / case.trace[-1]["train_s"], TRAINING)
    # The median time of one evaluation; the first, which also sets up, does not count.
    evaluation_s = of_each(lambda case: statistics.median(
        after["evaluate_s"] - before["evaluate_s"] for before, after in zip(case.trace, case.trace[1:])))
    # prepare + transfer + training time to the end, with what an earlier case had done of them
    answer_end = of_each(lambda case: before_training(case) + point(case, None)["train_s"], ANSWER)

    file_to_model_end = of_each(
        lambda case: before_training_from_file(case) + point(case, None)["train_s"], ANSWER)

    def time_to(self, target, algorithm, **wanted):
        """Training time at the first evaluated point whose test RMSE is at or below the target; a
        seed that misses it is infinitely late."""
        return self._each(lambda case: at_target(case, target, "train_s"), algorithm, TRAINING, **wanted)

    def answer(self, target, algorithm, **wanted):
        """The same of the answer."""
        return self._each(lambda case: before_training(case) + at_target(case, target, "train_s"), algorithm, ANSWER,
                          **wanted)

    def file_to_model(self, target, algorithm, **wanted):
        """The same for file to model."""
        return self._each(lambda case: before_training_from_file(case) + at_target(case, target, "train_s"), algorithm,
                          ANSWER, **wanted)

    def epochs_to(self, target, algorithm, **wanted):
        return self._each(lambda case: at_target(case, target, "epoch"), algorithm, **wanted)

    def count_above(self, name, one, other, *keys):
        """In how many configurations, which agree in `keys`, a number of `facts` of one algorithm
        is above that of the other."""
        every = self._every()
        shared = [
            {tuple(case.known()[key] for key in keys) for case in every if is_of(case, algorithm)}
            for algorithm in (one, other)
        ]
        if shared[0] != shared[1] or not shared[0]:
            raise NumberError(f"{one} and {other} differ in the {', '.join(keys)} that they have")
        places = [dict(zip(keys, place)) for place in shared[0]]
        return sum(
            median(self.fact(one, name, **place)) > median(self.fact(other, name, **place))
            for place in places
        )

    def seeds(self, algorithm, **wanted):
        """How many there are."""
        return len(self.cases(algorithm, **wanted))

    # -- substitutes of real sets (rank_agreement.py)

    def agreement(self, real, substitute):
        for place in self.places():
            if any(rank_agreement.is_of(case, real, substitute) for case in cases_of(place)):
                return rank_agreement.Agreement(cases_of(place), real, substitute)
        raise NumberError(f"no case is of {real} {substitute}")

    def drawn(self, algorithm, column, **wanted):
        """The last value of a column, over the drawings of a substitute."""
        return rank_agreement.drawn(self._every(), column, {"algorithm": algorithm, **wanted})

    def _every(self):
        return [case for place in self.places() for case in cases_of(place)]

    # -- benchmarks, logs, published numbers

    def bench(self, *words, counter=None, without=(), take=statistics.median, folder=None, **keys):
        """Median over the repetitions of one benchmark, in seconds, or of one of its counters.
        `words` are its name without a colon, `keys` its key:value pairs; it has no key of
        `without`. `folder` ends the path of the file's folder."""
        found = {}
        for path in self.paths:
            path = path / "benchmark.json" if path.is_dir() else path
            if path.suffix != ".json" or not path.exists():
                continue
            if folder is not None and not matches("folder", path.parent, folder):
                continue
            for run in json.loads(path.read_text(encoding="utf-8"))["benchmarks"]:
                name = run.get("run_name", run["name"])
                if (
                    run.get("run_type", "iteration") == "iteration"
                    and named(name, words, keys)
                    and not any(
                        f"/{key}:" in name
                        for key in ([without] if isinstance(without, str) else without)
                    )
                ):
                    found.setdefault((str(path), name), []).append(run)
        if len(found) != 1:
            raise NumberError(f"{len(found)} benchmarks are {words} {keys}: {sorted(found)[:6]}")
        runs = next(iter(found.values()))
        unit = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
        return take(
            run["real_time"] * unit[run["time_unit"]] if counter is None else run[counter]
            for run in runs
        )

    def log(self, pattern, after="", skip=0, file=""):
        """The numbers that the group of a pattern finds in the logs, without the first `skip`; two
        groups are minutes and seconds. `after`: in the part of a log whose head (### ...) has it;
        `file`: in the one of that name.
        """
        text = "\n".join(
            path.read_text(encoding="utf-8")
            for path in self.paths
            if path.suffix in (".log", ".txt", ".hpp") and file in ("", path.name)
        )
        if after:
            text = "".join(
                part
                for part in re.split(r"^### ", text, flags=re.M)[1:]
                if after in part.partition("\n")[0]
            )
        found = [
            float(x) if isinstance(x, str) else 60 * float(x[0]) + float(x[1])
            for x in re.findall(pattern, text)
        ]
        if len(found) <= skip:
            raise NumberError(f"{pattern!r} is found {len(found)} times")
        return found[skip:] if len(found) > 1 else found[0]

    def profile(self, name, key):
        """A value of a look-alike's profile: "shape.nnz"."""
        for path in self.paths:
            for profile in json.loads(path.read_text())["profiles"] if path.name == "profiles.json" else ():
                if profile["name"] == name:
                    return below(profile, key)
        raise NumberError(f"no profile is {name!r}")

    def published(self, system, exhibit, **wanted):
        """A value of results/published/published.csv."""
        rows = [
            row
            for path in self.paths
            if path.suffix == ".csv"
            for row in csv.DictReader(path.open())
            if row["system"] == system
            and row["exhibit"] == exhibit
            and all(same_text(row[key], value) for key, value in wanted.items())
        ]
        if len(rows) != 1:
            raise NumberError(f"{len(rows)} published numbers of {system!r}, {exhibit!r}, {wanted}")
        return float(rows[0]["value"])


def is_of(case, algorithm):
    return case.header["algorithm"]["name"] == algorithm


def same_text(found, wanted):
    try:
        return float(found) == float(wanted)
    except ValueError:
        return found == str(wanted)


def named(name, words, keys):
    parts = name.split("/")
    return all(word in parts for word in words) and all(f"{k}:{v}" in parts for k, v in keys.items())


def before_training(case):
    clocks, shared = case.footer["clocks"], case.footer.get("shared") or {}
    return sum(
        clocks[f"{clock}_s"] + sum(shared.get(clock, {}).values())
        for clock in ("prepare", "transfer")
    )


def before_training_from_file(case):
    """The time from the start of the process if it was measured, else the sum of clocks."""
    header, footer = case.header, case.footer
    if footer.get("file_to_model_s") is not None:
        return footer["file_to_model_s"] - footer["clocks"]["train_s"]
    shared = footer.get("shared") or {}
    start = footer["clocks"].get("start_s") or 0
    if header["algorithm"].get("hardware") == "cuda" and "library" not in (header.get("facts") or {}):
        start += sum(shared.get("start", {}).values())
    load = footer["clocks"]["load_s"] + sum(shared.get("load", {}).values()) - (footer.get("overlap_s") or 0)
    return start + load + before_training(case)


def point(case, epoch):
    if epoch is None:
        return case.trace[-1]
    for candidate in case.trace:
        if candidate["epoch"] == epoch:
            return candidate
    raise NumberError(f"{case.path.name}: epoch {epoch} is not evaluated")


def chosen(case):
    """The point of the headline: where the validation part is best, or the last."""
    judged = [p for p in case.trace if p["epoch"] > 0 and p.get("validation_rmse") is not None]
    return min(judged, key=lambda p: p["validation_rmse"]) if judged else case.trace[-1]


def best_point(case):
    """For the best test RMSE; the initial model does not count."""
    known = [p for p in case.trace if p["epoch"] > 0 and p["test_rmse"] is not None]
    if not known:
        raise NumberError(f"{case.path.name}: no epoch has an RMSE")
    return min(known, key=lambda p: p["test_rmse"])


def at_target(case, target, key):
    return next(
        (p[key] for p in case.trace if p["test_rmse"] is not None and p["test_rmse"] <= target),
        math.inf,
    )
