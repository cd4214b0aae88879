"""Names of algorithms in rows and curves: ours by their names in specs, libraries by their own; and of a configuration,
by its distinguishing keys in a figure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from mfplots.series import PEERS, SIZE_FACET, Series, marks

ON_AXES = {"schedule.learning_rate": "learning rate", "schedule.kind": "schedule"}
SHORT = {SIZE_FACET: "f", "learning_rate": "lr", "cg_steps": "steps"}  # keys in figures
OURS = "mfbench"  # the paper of algorithms without one
# Known in the field without a paper.
OF_THE_FIELD = ("popular", "sgd_serial")
ACRONYMS = ("als", "bpmf", "bpr", "lmf", "mf", "sgd", "svd")
WORDS = {"knn": "kNN", "gibbs": "Gibbs"}


def kind_of(algorithm: str, paper: object) -> str:
    """new (of this project), paper or library; of a plugin, who wrote it is not known: paper."""
    if algorithm.startswith("peer:"):
        return "library"
    return "new" if paper == OURS and algorithm not in OF_THE_FIELD else "paper"


def display_name(algorithm: str, device: str) -> str:
    kind = "GPU" if device == "cuda" else "CPU"
    if is_library(algorithm):
        return f"{own_name(algorithm)} ({kind})"
    return algorithm if device == "cuda" or algorithm.endswith("_cpu") else f"{algorithm} ({kind})"


def is_library(algorithm: str) -> bool:
    return algorithm.startswith("peer:") and algorithm.count(":") == 2


def own_name(algorithm: str) -> str:
    """A library's by its own name: peer:libmf:sgd is LIBMF SGD."""
    if not is_library(algorithm):
        return algorithm
    _, library, method = algorithm.split(":")
    return f"{library_name(library)} {_method(method)}"


def short_names(labels: Iterable[str], panels: Sequence[Sequence[str]] = ()) -> dict[str, str]:
    """A short name for each label. It drops keys that do not distinguish configurations of the algorithm, and keeps
    only the value if that says enough. If two labels of a panel would share a name, all keep their labels. `panels`:
    the labels of each; by default all are in one."""
    labels = list(dict.fromkeys(labels))
    panels = [list(own) for own in panels] or [labels]
    words = {label: re.split(r" (?=\S+=)", label) for label in labels}
    keys: dict[str, set[str]] = {}
    for own in panels:
        for algorithm in {words[label][0] for label in own}:
            alike = [dict(word.partition("=")[::2] for word in words[label][1:]) for label in own if words[label][0] == algorithm]
            keys.setdefault(algorithm, set()).update(_telling(alike))
    found = {label: " ".join([own_name(first), *(_shown(*word.partition("=")[::2]) for word in rest
                                                 if word.partition("=")[0] in keys[first])])
             for label, (first, *rest) in words.items()}
    unique = all(len({found[label] for label in own}) == len(set(own)) for own in panels)
    return found if unique else {label: label for label in labels}


def marked(series: Series, names: Mapping[str, str]) -> str:
    """The short name, with the marks of its cases."""
    return names[series.label] + marks(series.cases)


def over(baselines: Iterable[str], names: Mapping[str, str]) -> str:
    """For an axis: the one baseline of its rows, or the algorithm that several of them are of."""
    found = sorted(set(filter(None, baselines)))
    if len(found) == 1:
        return names[found[0]]
    return f"{own_name(found[0].split()[0])} of equal parameters" if found else "a baseline"


def explained(names: Mapping[str, str]) -> str:
    """For a caption: the short names with their labels."""
    said = [f"{short}: {label}" for label, short in names.items() if short not in (label, own_name(label))]
    return f"In full: {'; '.join(said)}." if said else ""


def _telling(configurations: Sequence[Mapping[str, str]]) -> list[str]:
    """The fewest keys that keep them distinct and leave each at least one; later keys go first. The number of factors
    and the device always stay."""
    keys = list(dict.fromkeys(key for own in configurations for key in own))
    apart = len({tuple(own.get(key) for key in keys) for own in configurations})

    def telling(left: Sequence[str]) -> bool:
        distinct = len({tuple(own.get(key) for key in left) for own in configurations}) == apart
        return distinct and not any(own and own.keys().isdisjoint(left) for own in configurations if len(configurations) > 1)

    for key in reversed(keys):
        left = [other for other in keys if other != key]
        if key not in (SIZE_FACET, "device") and telling(left):
            keys = left
    return keys


def _shown(key: str, value: str) -> str:
    key = SHORT.get(key.rpartition(".")[2], key)
    if key == "device":
        return {"cuda": "GPU", "cpu": "CPU"}.get(value, value)
    if re.fullmatch(r"-?[\d.]+(e-?\d+)?", value):
        return f"{key}={float(value):.3g}" if "." in value else f"{key}={value}"
    return f"{key}={value}" if not value or value in ("true", "false", "null") or not value[0].isalpha() else value


@cache
def library_name(library: str) -> str:
    """As its form in peers/ begins: "LIBMF (PyPI): ..."."""
    if library == "torch":  # whose form says that the loop is this project's
        return "PyTorch"
    form = PEERS / library / "peer.json"
    if not form.is_file():
        return library
    found = re.match(r"[^(:,]+", json.loads(form.read_text(encoding="utf-8"))["summary"])
    return found[0].strip() if found else library


def _method(name: str) -> str:
    words = name.removeprefix("implicit_").removeprefix("biased_").split("_")
    return " ".join(WORDS.get(word, word.upper() if word in ACRONYMS else word) for word in words)
