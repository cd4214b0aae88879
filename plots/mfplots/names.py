"""Names of algorithms in rows and curves: ours by their names in specs, libraries by their own; and of a configuration,
by its distinguishing keys in a figure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from mfplots.errors import PlotError
from mfplots.recipes import Recipe
from mfplots.series import PEERS, RUN_RULES, SIZE_FACET, Series, View, facet_text, marks, panel_title
from mfplots.summary import is_named

ON_AXES = {"schedule.learning_rate": "learning rate", "schedule.kind": "schedule"}
SHORT = {SIZE_FACET: "f", "learning_rate": "lr", "cg_steps": "steps"}  # keys in figures
OURS = "mfbench"  # the paper of algorithms without one
# Known in the field without a paper.
OF_THE_FIELD = ("popular", "sgd_serial")
# An algorithm's counterpart for explicit feedback, or the same baseline: one row of the report's matrix.
TWINS = {"ials": "als", "ials_cpu": "als_cpu", "ials_fused": "als_fused", "bpr_tiled": "sgd_tiled", "popular": "bias",
         "peer:libmf:bpr": "peer:libmf:sgd"}
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


def names_of(view: View, recipe: Recipe) -> dict[str, str]:
    """Of each label of the view, also in the words of the recipe."""
    return named([(series.label, series) for panel in view.panels for series in panel.series], recipe,
                 short_names(view.labels, view.by_panel))


def named(labelled: Iterable[tuple[str, Any]], recipe: Recipe, names: dict[str, str],
          fits: Callable[[Any, str], bool] = is_named) -> dict[str, str]:
    """The names, but those that the recipe gives to series. Raises PlotError if two names would become one."""
    given = {label: name for label, series in labelled for words, name in recipe.names.items() if fits(series, words)}
    for name in set(given.values()):
        if len(own := [label for label in given if given[label] == name]) > 1 and len({names[label] for label in own}) > 1:
            raise PlotError(f'{recipe.file_name}: "names": {name} are {" and ".join(own)}')
    return {**names, **given}


def short_names(labels: Iterable[str], panels: Sequence[Sequence[str]] = ()) -> dict[str, str]:
    """A short name for each label, with every key that tells configurations apart. A key is left out if its value says
    enough. Rules of the length of a run appear only if nothing else differs. If two labels of a panel would share a name,
    all keep their labels. `panels`: the labels of each; by default all are in one."""
    labels = list(dict.fromkeys(labels))
    several = {label.split()[0] for label in labels if " devices=" in label}  # beside which one GPU is said, too
    full = {label: label if " devices=" in label or label.split()[0] not in several else f"{label} devices=1" for label in labels}
    panels = [list(own) for own in panels] or [labels]
    for left_out in (RUN_RULES, ()):
        found = {label: _short(full[label], left_out) for label in labels}
        if all(len({found[label] for label in own}) == len(set(own)) for own in panels):
            return found
    return {label: label for label in labels}


def _short(label: str, left_out: tuple[str, ...]) -> str:
    first, *rest = re.split(r" (?=\S+=)", label)
    return " ".join([own_name(first), *(_shown(*word.partition("=")[::2]) for word in rest if not word.startswith(left_out))])


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


def differences(view: View) -> list[str]:
    """For a caption, a line a panel: keys and values that differ between its algorithms and that no label shows."""
    lines = []
    for panel in view.panels:
        found: dict[str, dict[str, dict[str, None]]] = {}
        unsaid = set()
        for series in panel.series:
            said = re.findall(r"(\w+)=", series.label)
            for key, value in series.facets.items():
                found.setdefault(key, {}).setdefault(facet_text(value), {})[own_name(series.algorithm)] = None
                if not key.startswith(RUN_RULES) and key.rpartition(".")[2] not in said:
                    unsaid.add(key)
        words = [" ".join([key, ", ".join(f"{value} ({', '.join(names)})" for value, names in values.items())])
                 for key, values in found.items() if key in unsaid and len(values) > 1]
        lines += [f"{panel_title(panel)}: algorithms also differ in {'; '.join(words)}."] if words else []
    return lines


def _shown(key: str, value: str) -> str:
    key = SHORT.get(key.rpartition(".")[2], key)
    if key == "device":
        return {"cuda": "GPU", "cpu": "CPU"}.get(value, value)
    if key == "devices":
        return f"{value} GPU{'s' if value != '1' else ''}"
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
