"""The numbers of the documents, recomputed from the files that they come from.

A comment behind a paragraph or a table says where its numbers are from (CONTRIBUTING.md):

    <!-- numbers: results/reference/h200/cpu-speed
    17.0 = rate(sgd_serial, model=biased, data="ml-20m") / 1e6
    given: 16
    -->

    <!-- numbers: results/reference/h200/cpu-speed
    column 3: rate({0}, model={1}, threads={2}, data="ml-20m") / 1e6
    -->

`numbers:` names folders of results, JSON of Google Benchmark, logs or CSV, with commas between them. A line `TEXT = EXPRESSION`
finds TEXT in the text before the comment, in the order of the lines, and computes it; `column K` does so
for the first number of each cell of a column (0 is the first), with the cells of the same row in braces.
The printed digits must be those of the value rounded. `given:` are numbers that no file of ours holds.

In an expression, unknown words are strings. Functions take an algorithm and what else selects its
cases, which may then differ in their seed alone; they return a number a seed (`Seeds`). Arithmetic of
two pairs them by seed. What is left at the end is the median over the seeds.
"""

import ast
import csv
import dataclasses
import functools
import json
import math
import operator
import pathlib
import re
import statistics

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^<!-- numbers: (?P<from>[^\n]*(?:\n  [^\n]*)*)\n(?P<lines>.*?)^-->$", re.M | re.S)
# Not the digits of words: fp16, ml-100k, table4, 1e-5, H200. A minus that joins words is none.
NUMBER = re.compile(r"(?<![\w.])(?<!\de-)(?:(?<![\w\])-])-(?=[\d.]))?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+|\d+|\.\d+)(?![\w]|\.\d)")
LESS_IS_BETTER = ("test_rmse", "objective")


class NumberError(Exception):
    """What is wrong with a number or with the line that explains it."""


# ---- values ----------------------------------------------------------------------------------------

class Seeds(dict):
    """A number for each seed. With another `Seeds` arithmetic is seed by seed."""

    def _with(self, other, act):
        if not isinstance(other, Seeds):
            return Seeds({seed: act(value, other) for seed, value in self.items()})
        if self.keys() != other.keys():
            raise NumberError(f"seeds {sorted(self)} and {sorted(other)} do not pair: take the median "
                              "of each first")
        return Seeds({seed: act(value, other[seed]) for seed, value in self.items()})

    def __truediv__(self, other):
        return self._with(other, operator.truediv)

    def __mul__(self, other):
        return self._with(other, operator.mul)

    def __sub__(self, other):
        return self._with(other, operator.sub)

    def __add__(self, other):
        return self._with(other, operator.add)

    def __abs__(self):
        return Seeds({seed: abs(value) for seed, value in self.items()})

    def __rtruediv__(self, other):
        return Seeds({seed: other / value for seed, value in self.items()})

    def __rsub__(self, other):
        return Seeds({seed: other - value for seed, value in self.items()})

    __rmul__ = __mul__
    __radd__ = __add__


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


# ---- result files ----------------------------------------------------------------------------------

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
        """What a case can be selected by."""
        algorithm, schedule = self.header["algorithm"], self.header["schedule"]
        one = {"threads": 1} if algorithm.get("hardware") == "cpu" else {}  # sgd_serial has no such parameter
        return {**one, **algorithm["params"], "algorithm": algorithm["name"],
                "data": self.header["dataset"]["name"], "kind": schedule["kind"],
                "rate": schedule["learning_rate"], "every": self.header["evaluate"]["every"],
                "init": self.header["init"]["kind"], "folder": str(self.path.parent),
                "split": json.dumps({**self.header["dataset"]["split"], "seed": 0}, sort_keys=True),
                "stop_epochs": self.header["stop"].get("epochs"), "seed": self.seed}


def read_case(path):
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    if lines[-1]["type"] != "footer":
        raise NumberError(f"{path.name}: not finished")
    return Case(path, lines[0], [x for x in lines if x["type"] == "trace"], lines[-1])


@functools.lru_cache(maxsize=None)
def cases_of(folder):
    """The cases that the folder's spec lists, as plots show them; without one, all files."""
    spec = folder / "spec.json"
    if not spec.exists():
        return tuple(read_case(path) for path in sorted(folder.glob("*.jsonl")))
    stated = json.loads(spec.read_text(encoding="utf-8"))["cases"]
    names = [case if isinstance(case, str) else case["case_id"] for case in stated]
    return tuple(read_case(folder / f"{name}.jsonl") for name in names)


def matches(key, found, wanted):
    if key == "folder":  # the end of its path
        return f"/{found}".endswith(f"/{wanted}")
    return found == wanted and isinstance(found, bool) == isinstance(wanted, bool)


class Files:
    """The files of one comment, and the functions that its expressions may call."""

    def __init__(self, names, root=ROOT):
        self.paths = []
        for name in filter(None, re.split(r"[,\s]+", names)):
            found = sorted(root.glob(name))
            if not found:
                raise NumberError(f"{name}: no such file or folder")
            self.paths += found

    # -- selection

    def cases(self, algorithm, **wanted):
        every = [case for path in self.paths if path.is_dir() for case in cases_of(path)]
        if "data" in wanted and wanted["data"] not in {case.known()["data"] for case in every}:
            wanted["data"] += " look-alike"
        wanted["algorithm"] = algorithm
        for key in wanted:
            if not any(key in case.known() for case in every):
                raise NumberError(f"no case has {key!r}; there are {sorted(every[0].known()) if every else []}")
        found = [case for case in every
                 if all(matches(key, case.known().get(key), value) for key, value in wanted.items())]
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

    def _each(self, read, algorithm, **wanted):
        return Seeds({case.seed: read(case) for case in self.cases(algorithm, **wanted)})

    # -- quality

    def final(self, algorithm, **wanted):
        """Test RMSE after the last epoch."""
        return self._each(lambda case: case.footer["final_test_rmse"], algorithm, **wanted)

    def best(self, algorithm, **wanted):
        return self._each(lambda case: case.footer["best_test_rmse"], algorithm, **wanted)

    def best_epoch(self, algorithm, **wanted):
        return self._each(lambda case: case.footer["best_epoch"], algorithm, **wanted)

    def rmse(self, algorithm, epoch, **wanted):
        return self._each(lambda case: point(case, epoch)["test_rmse"], algorithm, **wanted)

    def spread_of_epochs(self, one, other):
        """The largest difference of the test RMSE of two lists of cases at any epoch."""
        pairs = [(a, b) for a in one for b in other if a.seed == b.seed]
        return max(abs(x["test_rmse"] - y["test_rmse"]) for a, b in pairs
                   for x, y in zip(a.trace, b.trace) if x["epoch"] == y["epoch"])

    def group_rmse(self, algorithm, part, first=0, last=None, **wanted):
        """RMSE of the user groups `first` to `last` (both included, all by default)."""
        def read(case):
            groups = case.footer["user_groups"][first:None if last is None else last + 1]
            counts = [(g[f"{part}_rmse"], g[f"{part}_count"]) for g in groups if g[f"{part}_count"]]
            return math.sqrt(sum(e * e * n for e, n in counts) / sum(n for _, n in counts))
        return self._each(read, algorithm, **wanted)

    def off_percent(self, algorithm, part, group, **wanted):
        """The RMSE of one user group against that of all users, in percent; median over the seeds."""
        return 100 * (median(self.group_rmse(algorithm, part, group, group, **wanted) /
                             self.group_rmse(algorithm, part, **wanted)) - 1)

    def ended(self, status, algorithm, **wanted):
        """How many seeds ended so; all must be named by the rest."""
        return sum(case.footer["status"] == status for case in self.cases(algorithm, **wanted))

    # -- times

    def train(self, algorithm, epoch=None, **wanted):
        """Training time, to the end or to an evaluated epoch."""
        return self._each(lambda case: point(case, epoch)["train_s"], algorithm, **wanted)

    def clock(self, algorithm, name, **wanted):
        return self._each(lambda case: case.footer["clocks"][name], algorithm, **wanted)

    def epoch_s(self, algorithm, **wanted):
        """Mean training time of an epoch."""
        return self._each(lambda case: case.trace[-1]["train_s"] / case.trace[-1]["epoch"], algorithm, **wanted)

    def device_epoch_s(self, algorithm, **wanted):
        """The same by the device's clock."""
        return self._each(lambda case: case.trace[-1]["train_device_s"] / case.trace[-1]["epoch"], algorithm,
                          **wanted)

    def wall(self, algorithm, epoch=None, **wanted):
        return self._each(lambda case: point(case, epoch)["wall_s"], algorithm, **wanted)

    def steady_s(self, algorithm, **wanted):
        """Median of the epochs after the first, each evaluated on its own."""
        def read(case):
            clocks = [(p["epoch"], p["train_s"]) for p in case.trace]
            if [epoch for epoch, _ in clocks] != list(range(len(clocks))):
                raise NumberError(f"{case.path.name}: not every epoch is evaluated")
            return statistics.median(b[1] - a[1] for a, b in zip(clocks[1:], clocks[2:]))
        return self._each(read, algorithm, **wanted)

    def rate(self, algorithm, **wanted):
        """Updates a second, mean over the training."""
        return self._each(lambda case: case.trace[-1]["updates"] / case.trace[-1]["train_s"], algorithm, **wanted)

    def time_to(self, target, algorithm, **wanted):
        """Training time at the first evaluated point whose test RMSE is at or below the target; a
        seed that misses it is infinitely late."""
        return self._each(lambda case: at_target(case, target, "train_s"), algorithm, **wanted)

    def answer(self, target, algorithm, **wanted):
        """prepare + transfer + training time there."""
        return self._each(lambda case: case.footer["clocks"]["prepare_s"] + case.footer["clocks"]["transfer_s"] +
                          at_target(case, target, "train_s"), algorithm, **wanted)

    def epochs_to(self, target, algorithm, **wanted):
        return self._each(lambda case: at_target(case, target, "epoch"), algorithm, **wanted)

    def fact(self, algorithm, name, **wanted):
        """A number of the header's `facts`, by its keys with dots between them."""
        def read(case):
            value = case.header["facts"]
            for key in name.split("."):
                value = value[key]
            return value
        return self._each(read, algorithm, **wanted)

    def seeds(self, algorithm, **wanted):
        """How many there are."""
        return len(self.cases(algorithm, **wanted))

    def size(self, algorithm, key, **wanted):
        """A number of the header's `dataset`: nnz_train, n_users, ..."""
        return self._each(lambda case: case.header["dataset"][key], algorithm, **wanted)

    def epochs(self, algorithm, **wanted):
        return self._each(lambda case: case.footer["epochs"], algorithm, **wanted)

    def before_after(self, algorithm):
        """Training time on the device of each case in .../after/FOLDER over that of the same case in
        .../before/FOLDER, which the comment names."""
        found = []
        for folder in self.paths:
            after = {same_case(case): case for case in cases_of(folder.parents[1] / "after" / folder.name)}
            found += [after[same_case(case)].footer["clocks"]["train_device_s"] /
                      case.footer["clocks"]["train_device_s"] for case in cases_of(folder)
                      if case.header["algorithm"]["name"] == algorithm]
        return found

    # -- benchmarks, logs, published numbers

    def bench(self, *words, counter=None, without=(), take=statistics.median, **keys):
        """Median over the repetitions of one benchmark, in seconds, or of one of its counters. `words`
        are its name without a colon, `keys` its key:value pairs; it has no key of `without`."""
        found = {}
        for path in self.paths:
            path = path / "benchmark.json" if path.is_dir() else path
            if path.suffix != ".json" or not path.exists():
                continue
            for run in json.loads(path.read_text(encoding="utf-8"))["benchmarks"]:
                name = run.get("run_name", run["name"])
                if run.get("run_type", "iteration") == "iteration" and named(name, words, keys) and not any(
                        f"/{key}:" in name for key in ([without] if isinstance(without, str) else without)):
                    found.setdefault((path.name, name), []).append(run)
        if len(found) != 1:
            raise NumberError(f"{len(found)} benchmarks are {words} {keys}: {sorted(found)[:6]}")
        runs = next(iter(found.values()))
        unit = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
        return take(run["real_time"] * unit[run["time_unit"]] if counter is None else run[counter] for run in runs)

    def log(self, pattern, after="", skip=0):
        """The numbers that the group of a pattern finds in the logs, without the first `skip`; two
        groups are minutes and seconds. `after`: in the part of a log whose head (### ...) has it."""
        text = "\n".join(path.read_text(encoding="utf-8") for path in self.paths if path.suffix in (".log", ".txt"))
        if after:
            text = "".join(part for part in re.split(r"^### ", text, flags=re.M)[1:]
                           if after in part.partition("\n")[0])
        found = [float(x) if isinstance(x, str) else 60 * float(x[0]) + float(x[1])
                 for x in re.findall(pattern, text)]
        if len(found) <= skip:
            raise NumberError(f"{pattern!r} is found {len(found)} times")
        return found[skip:] if len(found) > 1 else found[0]

    def published(self, system, exhibit, **wanted):
        """A value of results/published/published.csv."""
        rows = [row for path in self.paths if path.suffix == ".csv" for row in csv.DictReader(path.open())
                if row["system"] == system and row["exhibit"] == exhibit
                and all(same_text(row[key], value) for key, value in wanted.items())]
        if len(rows) != 1:
            raise NumberError(f"{len(rows)} published numbers of {system!r}, {exhibit!r}, {wanted}")
        return float(rows[0]["value"])


def same_case(case):
    return json.dumps({**case.known(), "folder": ""}, sort_keys=True)


def same_text(found, wanted):
    try:
        return float(found) == float(wanted)
    except ValueError:
        return found == str(wanted)


def named(name, words, keys):
    parts = name.split("/")
    return all(word in parts for word in words) and all(f"{k}:{v}" in parts for k, v in keys.items())


def point(case, epoch):
    if epoch is None:
        return case.trace[-1]
    for candidate in case.trace:
        if candidate["epoch"] == epoch:
            return candidate
    raise NumberError(f"{case.path.name}: epoch {epoch} is not evaluated")


def at_target(case, target, key):
    return next((p[key] for p in case.trace if p["test_rmse"] is not None and p["test_rmse"] <= target), math.inf)


# ---- expressions -----------------------------------------------------------------------------------

class Words(dict):
    """Names that are nothing else are their own text."""

    def __missing__(self, key):
        return key


def evaluate(expression, files):
    functions = {name: getattr(files, name) for name in dir(Files) if not name.startswith("_")}
    names = Words(functions, median=median, mean=mean, low=low, high=high, abs=abs, sqrt=math.sqrt, len=len, sum=sum)
    try:
        value = eval(compile(expression, expression, "eval"), {"__builtins__": {}}, names)
    except NumberError:
        raise
    except Exception as error:
        raise NumberError(f"{expression}: {type(error).__name__}: {error}") from error
    value = median(value) if isinstance(value, (Seeds, list)) else value
    if not isinstance(value, (int, float)):
        raise NumberError(f"{expression} is {value!r}, not a number")
    return value


def value_of(text):
    return float(text.replace(",", ""))


def unit_of(text):
    """Half of this is how far a printed number may be from what it rounds."""
    decimals = text.partition(".")[2]
    return 10.0 ** -len(decimals)


def agrees(text, value):
    """Whether `text` is `value` rounded to the digits that are printed."""
    return math.isfinite(value) and abs(value_of(text) - value) <= unit_of(text) / 2 * (1 + 1e-9)


# ---- documents -------------------------------------------------------------------------------------

@dataclasses.dataclass(frozen=True)
class Block:
    """A comment with the text that it is about."""

    page: pathlib.Path
    line: int
    text: str
    files: str
    lines: tuple

    @property
    def where(self):
        return f"{self.page}:{self.line}"


def blocks(page, text):
    """The comments of a page. Each is about the paragraph or table that ends before it."""
    for found in BLOCK.finditer(text):
        before = re.sub(r"<!--.*?-->\n?", "", text[:found.start()], flags=re.S).rstrip("\n")
        paragraph = before[before.rfind("\n\n") + 1:].strip("\n")
        line = text.count("\n", 0, found.start()) + 1
        yield Block(page, line, paragraph, found["from"],
                    tuple(x.strip() for x in joined(found["lines"])))


def joined(lines):
    """Lines that begin with two blanks continue the one before."""
    return [line for line in re.sub(r"\n  +", " ", lines).split("\n") if line.strip()]


def plain(text):
    """Without code spans, the targets of links and names of devices, whose digits are no numbers."""
    text = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`\n]*`", "`", text))
    return re.sub(r"\b[GR]TX \w+", "GPU", text)


def check(block, root=ROOT):
    """What is wrong with the numbers of a block, a line each."""
    problems = []
    try:
        files = Files(block.files, root)
    except NumberError as error:
        return [f"{block.where}: {error}"]
    tokens = [token.group() for token in NUMBER.finditer(plain(block.text))]
    place = 0
    for line in block.lines:
        try:
            if line.startswith("given:"):
                for word in NUMBER.findall(line):
                    if word not in tokens:
                        raise NumberError(f"given {word} is not in the text")
            elif line.startswith("column "):
                problems += [f"{block.where}: {found}" for found in check_column(line, block.text, files)]
            else:
                place = check_number(line, tokens, place, files)
        except NumberError as error:
            problems.append(f"{block.where}: {error}")
    return problems


def check_number(line, tokens, place, files):
    printed, sign, expression = (part.strip() for part in line.partition(" = "))
    if not sign or not NUMBER.fullmatch(printed):
        raise NumberError(f"expected NUMBER = EXPRESSION, found {line!r}")
    if printed not in tokens[place:]:
        elsewhere = " (it stands earlier: lines go by the order of the text)" if printed in tokens else ""
        raise NumberError(f"{printed} is not in the text{elsewhere}: {line}")
    value = evaluate(expression, files)
    if not agrees(printed, value):
        raise NumberError(f"{printed} is printed, the files have {value:.6g}: {expression}")
    return tokens.index(printed, place) + 1


def rows_of(text):
    rows = [line.strip().strip("|").split("|") for line in text.splitlines() if line.lstrip().startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]  # head and rule


def as_arguments(cell):
    """`fpsgd`, `block_order: local` as the arguments fpsgd, block_order=local."""
    words = [word.strip().strip("`") for word in cell.split(",")]
    if NUMBER.fullmatch(cell):
        return cell.replace(",", "")
    return ", ".join("=".join(as_value(part) for part in word.split(": ", 1)) for word in words)


def as_value(word):
    return word if re.fullmatch(r"[A-Za-z_]\w*|-?[\d.]+", word) else repr(word)


def check_column(line, text, files):
    """Problems of the cells of a column, a line each."""
    number, _, expression = line.removeprefix("column ").partition(":")
    column, problems, seen = int(number), [], 0
    for row in rows_of(text):
        token = NUMBER.search(plain(row[column])) if column < len(row) else None
        if token is None:
            continue
        seen += 1
        filled = re.sub(r"\{(\d+)\}", lambda found: as_arguments(row[int(found[1])]), expression.strip())
        value = evaluate(filled, files)
        if not agrees(token.group(), value):
            problems.append(f"row {row[0]}, column {column}: {token.group()} is printed, the files have "
                            f"{value:.6g}: {filled}")
    return problems or ([] if seen else [f"column {column} has no number"])


# ---- what has a source -----------------------------------------------------------------------------

def constants(expression):
    return {node.value for node in ast.walk(ast.parse(expression, mode="eval"))
            if isinstance(node, ast.Constant) and isinstance(node.value, (int, float))}


def unexplained(text, comments):
    """Numbers of a paragraph that no line of its comments prints, gives, or selects cases by."""
    printed, known = [], set()
    for comment in comments:
        for line in comment.lines:
            if line.startswith("given:"):
                known |= {value_of(word) for word in NUMBER.findall(line)}
            elif not line.startswith("column "):
                left, _, right = line.partition(" = ")
                printed.append(left)
                known |= constants(right.strip())
    left = []
    for token in NUMBER.finditer(plain(text)):
        if token.group() in printed:
            printed.remove(token.group())
        elif value_of(token.group()) not in known:
            left.append(token.group())
    return left
