"""run(), evaluate() and load(): the spec is completed, its tables become files, the program runs, its folder is read."""

import functools
import json
import os
import re
import sys
import tempfile
import warnings
from pathlib import Path

import pandas as pd

from mfbench import call, jobs, tables
from mfbench.model import IDS
from mfbench.progress import make as make_progress
from mfbench.results import Results
from mfplots import program
from mfplots.errors import PlotError, hint
from mfplots.files import read_json, replacing

PARTS = ("path", "train", "test", "validation")  # keys of a data set that may hold a table
BY_TIME = ("by_time", "leave_last")  # splits
OF_COLUMNS = ("columns", "format")  # keys of an entry that say how its columns are read
COMMENTS = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.S)


def run(spec, data=None, *, algorithms=(), out=None, save_model=None, progress=True, executor=None, **options):
    """Runs the cases without a result, and returns all results; the same call resumes an interrupted run.

    `spec`: a dictionary, or the path of a file (docs/spec.md). `data` takes the place of its `datasets`: a table, a
    matrix or a path, or a dictionary of such by their labels; an entry of the spec may have one as its `path`, too.
    `algorithms`: files with classes of one's own, "my_als.py" or "my_als.py:RidgeALS" (docs/python.md). `out`: folder
    of the results, by default results/runs/NAME. `save_model` keeps the models of the cases that complete. `progress`:
    whether they are shown. `executor`: it runs a job for each case (docs/python.md). Every other keyword is an option of
    `mfbench run`: rerun=True, retry=True, shard="1/2".

    Raises mfbench.Error with the program's message. A case that fails is a result, whose row says why.
    """
    if "mfown" in sys.modules:
        raise PlotError('run: called while a peer imports the file of its class; put the call below if __name__ == "__main__":')
    place = None if executor is None else jobs.place(executor, options)
    with tempfile.TemporaryDirectory(prefix="mfbench-", dir=place) as folder:
        words_of_options = option_words("run", {"out": out, **options})
        spec = changed(spec, data, save_model)
        env = with_classes(algorithms, spec, Path(folder)) if algorithms else {}
        kinds = hand_over_all(spec)
        words = ["run", written(spec, Path(folder)), "--json", *words_of_options]
        lines = call.lines if executor is None else functools.partial(jobs.lines, executor)
        heard = lines(*words, env=env, hear=make_progress(progress).hear, hide=f"{folder}/")
    for text in dict.fromkeys(text for line in heard for text in line.get("warnings", ())):
        warnings.warn(text, stacklevel=2)
    results = Path(heard[-1]["folder"])
    keep_kinds(results, kinds)
    return Results([results])


def evaluate(lists, data, *, split=None, **options):
    """Judges lists of items that any program made, by the test part of the data (docs/python.md).

    `lists`: a table or a path with a user and an item a row, best first, or with scores. `data`: a table, a matrix, a
    path, the name of a data set, an entry of a spec, or the path of a spec. `split` as in a spec. Every other keyword is
    an option of `mfbench evaluate`: metrics="ndcg_10", per_user="users.csv". Returns a frame with the value of each
    metric and its interval over users; its `attrs` have what else the program counted.
    """
    with tempfile.TemporaryDirectory(prefix="mfbench-") as folder:
        entry = dict(data) if isinstance(data, dict) else {"path": data}
        if isinstance(data, dict) or tables.to_be_handed_over(data):
            hand_over_all({"datasets": [entry], "split": split})
            data = json.dumps(entry)
        if tables.to_be_handed_over(lists):
            lists, _ = tables.hand_over(lists, place=folder)
        words = option_words("evaluate", {"split": split and json.dumps(split), **options})
        (said,) = call.lines("evaluate", lists, "--data", data, "--json", *words, hide=f"{folder}/")
    found = pd.DataFrame.from_dict(said.pop("metrics"), orient="index", dtype=float)
    found.attrs = said
    return found


def with_classes(algorithms, spec, folder):
    from mfbench import own  # here, since `python3 -m mfbench.own` warns if the package has imported it
    return own.prepare(algorithms, spec, folder)


def load(*paths):
    """Results of folders, also packed ones and folders with such in them, as run() returns them."""
    return Results(paths)


# ---- the spec --------------------------------------------------------------------------------------

def changed(spec, data, save_model):
    """A copy with the arguments of the call in place."""
    if not isinstance(spec, (dict, str, os.PathLike)):
        raise PlotError(f"run: found {type(spec).__name__}, expected the path of a spec or a dictionary, such as "
                        '{"algorithms": ["sgd_serial"]}')
    spec = read_spec(Path(spec)) if tables.is_path(spec) else dict(spec)
    spec.setdefault("name", "run")
    if save_model is not None:
        spec["save_model"] = save_model
    if data is not None:
        spec["datasets"] = [{"path": data}] if not isinstance(data, dict) else \
            [{"path": one, "label": label} for label, one in data.items()]
    if isinstance(spec.get("datasets"), list):
        spec["datasets"] = [dict(one) if isinstance(one, dict) else one for one in spec["datasets"]]
    if isinstance(spec.get("algorithms"), (list, tuple)):
        spec["algorithms"] = list(spec["algorithms"])
    return spec


def read_spec(path):
    try:
        spec = json.loads(COMMENTS.sub(lambda found: found[1] or "", path.read_text(encoding="utf-8")))
    except OSError as error:
        raise PlotError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise PlotError(f"{path}: no JSON: {error}") from error
    if not isinstance(spec, dict):
        raise PlotError(f"{path}: found {type(spec).__name__}, expected an object")
    return {"name": path.stem, **spec}


def written(spec, folder):
    """Named after the spec, since messages name the file."""
    path = folder / f"{re.sub(r'[^A-Za-z0-9._-]', '-', str(spec['name']))[:60] or 'spec'}.json"
    try:
        path.write_text(json.dumps(spec), encoding="utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        raise PlotError(f"{path.name}: {error}; expected what JSON knows: objects, lists, text, numbers") from error
    return path


def option_words(command, options):
    """rerun=True is --rerun, no_share=True --no-share, shard="1/2" --shard 1/2."""
    known = {one.replace("-", "_"): f"--{one}" for one in re.findall(r"^ +--([a-z-]+)", program.text(command, "--help"), re.M)}
    for name in options:
        if name not in known:
            raise PlotError(f"{command}: no keyword {name!r}{hint(name, known)} (put keys of a spec into the spec: "
                            '{"stop": {"epochs": 20}, "algorithms": [{"name": "als_cpu", "factors": 16}]})')
    return [word for name, value in options.items() if value not in (None, False)
            for word in [known[name], *([] if value is True else [str(value)])]]


# ---- its data --------------------------------------------------------------------------------------

def hand_over_all(spec):
    """Tables of the spec become paths; returns their original ids, by path."""
    kinds = {}
    for entry in filter(lambda one: isinstance(one, dict), spec.get("datasets") or []):
        tabular = [part for part in PARTS if part in entry and tables.to_be_handed_over(entry[part])]
        how = {key: entry.pop(key) for key in OF_COLUMNS if tabular and key in entry}
        for part in filter(entry.__contains__, PARTS):
            data = entry[part]
            if part not in tabular:
                entry[part] = str(data)
                continue
            if part == "path":
                entry.setdefault("label", Path(data).name if tables.is_path(data) else "table")
            path, kind = tables.hand_over(data, how.get("columns"), how.get("format") == "pairs", goes_by_time(spec, entry))
            entry[part] = str(path)
            kinds[str(path)] = kind
    return kinds


def goes_by_time(spec, entry):
    """Whether a split may ask for times; the program reports missing ones."""
    splits = [one.get("split") for one in (spec, entry)]
    return any(isinstance(split, dict) and key in split for split in splits for key in BY_TIME)


def keep_kinds(folder, kinds):
    """Stands beside the results, so that models give ids back as they were."""
    if not kinds:
        return
    path = folder / IDS
    known = read_json(path) if path.is_file() else {}
    with replacing(path) as file:
        file.write((json.dumps({**known, **kinds}, indent=2) + "\n").encode())
