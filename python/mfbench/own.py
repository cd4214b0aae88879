"""Your own classes as algorithms: writes the peer.json and adapter.py by which mfbench runs them (docs/peers.md).

    python3 -m mfbench.own my_als.py FOLDER     # then MFBENCH_PEERS_PATH=FOLDER mfbench list

The class gives the names, the parameters and their defaults. It is imported here, in the process that names its file,
since only a caller, not a spec, may start programs. peers/common/mfown.py runs it and documents such a class.
"""

import hashlib
import importlib.util
import inspect
import json
import os
import re
import sys
from pathlib import Path

from mfplots.errors import PlotError, hint

MOST = 10**9
GIVEN = ("seed", "threads")  # by the case, not by the entry of a spec
TYPES = {bool: "boolean", int: "integer", float: "number", str: "text"}


def prepare(named, spec, folder):
    """Writes a library for each file below `folder` and adds the entries that the spec lacks. Returns the environment."""
    files = {}
    for path, classes in map(classes_of, named):
        known = files.setdefault(path, [])
        known += [one for one in classes if one.__name__ not in {other.__name__ for other in known}]
    for path, classes in files.items():
        add_entries(spec, plain(path.stem), make(path, classes, folder))
    return {"MFBENCH_PEERS_PATH": os.pathsep.join(filter(None, [str(folder), os.environ.get("MFBENCH_PEERS_PATH")]))}


def add_entries(spec, library, algorithms):
    """Skips an algorithm that an entry of the spec names already, perhaps with other parameters."""
    entries = spec.setdefault("algorithms", [])
    named = [str(entry.get("library") or entry.get("name")) if isinstance(entry, dict) else str(entry) for entry in entries]
    for algorithm in algorithms:
        full = f"peer:{library}:{algorithm}"
        if not {full, library} & set(named):
            entries.append({"name": full})


def make(path, classes, folder):
    """Writes FOLDER/LIBRARY, named after the file; returns the names of its algorithms."""
    library, source = plain(path.stem), hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    names = {plain(one.__name__): one.__name__ for one in classes}
    form = {"summary": f"classes of {path.name}", "environment": "python",
            "algorithms": {plain(one.__name__): form_of(one, path, source) for one in classes}}
    place = Path(folder) / library
    place.mkdir(parents=True, exist_ok=True)
    (place / "peer.json").write_text(json.dumps(form, indent=2) + "\n", encoding="utf-8")
    (place / "own.py").unlink(missing_ok=True)
    (place / "own.py").symlink_to(path)  # so that the supervisor keeps it and what is beside it in sight
    (place / "adapter.py").write_text(f"import mfown\n\nmfown.run({library!r}, {str(path)!r}, {names!r})\n", encoding="utf-8")
    return list(names)


# ---- classes of a file -----------------------------------------------------------------------------

def classes_of(named):
    """The file that "FILE", "FILE:CLASS" or a class names, and its classes that can be trained."""
    if inspect.isclass(named):
        try:
            path = Path(inspect.getfile(named)).resolve()
        except (TypeError, OSError) as error:
            raise PlotError(f"algorithms: {named.__name__} stands in no file; write the cell with %%writefile my_own.py and "
                            'name that: algorithms=["my_own.py"]') from error
        refuse_script(path, named.__name__)
        return path, [named]
    file, _, name = str(named).partition(":")
    path = Path(file).resolve()
    if not path.is_file():
        raise PlotError(f"algorithms: {file}: no such file; expected a Python file with a class that has fit_epoch()")
    refuse_script(path, "this")
    module = imported(path)
    found = {key: one for key, one in vars(module).items()
             if inspect.isclass(one) and one.__module__ == module.__name__ and hasattr(one, "fit_epoch")}
    if name and name not in found:
        raise PlotError(f"algorithms: {file} has no class {name} with fit_epoch(){hint(name, found)}")
    if not found:
        raise PlotError(f"algorithms: {file} has no class with fit_epoch()")
    return path, [found[name]] if name else list(found.values())


def refuse_script(path, named):
    """The peer imports the file: of a script that would run all of it again."""
    script = getattr(sys.modules["__main__"], "__file__", None)
    if script and path == Path(script).resolve() and not re.search("['\"]__main__['\"]", path.read_text(encoding="utf-8")):
        raise PlotError(f"algorithms: {path.name}: {named} is defined in the script that is running, and the peer would run that script again; "
                        'move the class to my_own.py and name that: algorithms=["my_own.py"], or put the rest below '
                        'if __name__ == "__main__":')


def imported(path):
    form = importlib.util.spec_from_file_location(f"mfbench_own_{plain(path.stem)}", path)
    module = importlib.util.module_from_spec(form)
    sys.path.insert(0, str(path.parent))
    try:
        form.loader.exec_module(module)
    except Exception as error:
        raise PlotError(f"algorithms: {path.name}: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(str(path.parent))
    return module


def plain(name):
    """RidgeALS is ridge_als, my-als my_als."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return re.sub(r"[^a-z0-9_]", "_", snake.lower())


# ---- its peer.json ---------------------------------------------------------------------------------

def form_of(one, path, source):
    if not (hasattr(one, "factors") or hasattr(one, "predict")):
        raise PlotError(f"algorithms: {path.name}: {one.__name__} has neither factors() nor predict()")
    evaluated_here = hasattr(one, "factors")
    form = {"summary": (inspect.getdoc(one) or one.__name__).splitlines()[0], "paper": getattr(one, "paper", path.name),
            "method": getattr(one, "method", "sgd"), "each_epoch": True, "takes_test": not evaluated_here,
            "deterministic": getattr(one, "deterministic", False), "params": params_of(one, path, source)}
    if len(inspect.signature(one.fit_epoch).parameters) > 1:
        form |= {"uses_learning_rate": True, "changes_rate": True}
    if hasattr(one, "implicit"):
        form["implicit"] = one.implicit
    return form


def params_of(one, path, source):
    params = {"source": {"type": "text", "default": source, "help": "hash of its file: an edited one runs anew"},
              "model": {"type": "choice", "default": getattr(one, "model", "plain"), "choices": ["plain", "biased"],
                        "help": "biased: with a mean and biases"}}
    for name, known in list(inspect.signature(one).parameters.items())[1:]:
        if name not in GIVEN:
            params[name] = param_of(name, known.default, f"algorithms: {path.name}: {one.__name__}({name})")
    params.setdefault("factors", {"type": "integer", "default": 1, "min": 1, "max": 1, "help": "no factors"})
    return params


def param_of(name, default, where):
    kind = TYPES.get(type(default))
    if kind is None:
        raise PlotError(f"{where}: found {'no default' if default is inspect.Parameter.empty else repr(default)}, expected a "
                        "number, text or a truth value as default")
    range_of = {"integer": {"min": 1 if name == "factors" else -MOST, "max": 4096 if name == "factors" else MOST},
                "number": {"min": -MOST, "max": MOST}}
    return {"type": kind, "default": default, "help": f"of {where.rpartition(': ')[2]}", **range_of.get(kind, {})}


def main(words):
    if len(words) != 2:
        sys.exit("usage: python3 -m mfbench.own FILE[:CLASS] FOLDER")
    try:
        path, classes = classes_of(words[0])
        algorithms = make(path, classes, Path(words[1]))
    except PlotError as error:
        sys.exit(f"error: {error}")
    for algorithm in algorithms:
        print(f"peer:{plain(path.stem)}:{algorithm}")
    print(f"in {words[1]}: MFBENCH_PEERS_PATH={Path(words[1]).resolve()} mfbench describe peer:{plain(path.stem)}")


if __name__ == "__main__":
    main(sys.argv[1:])
