"""What rows and curves call an algorithm: ours by the name that specs have, libraries by their own."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING

from mfplots.series import PEERS, hardware

if TYPE_CHECKING:
    from mfplots.site.groups import Member

OURS = "mfbench"  # the paper of what has none
# Of the field, though no paper is named for them.
OF_THE_FIELD = ("popular", "sgd_serial")
ACRONYMS = ("als", "bpmf", "bpr", "lmf", "mf", "nmf", "sgd", "svd", "wals")
WORDS = {"svdpp": "SVD++", "knn": "kNN", "gibbs": "Gibbs"}


def kind_of(member: Member) -> str:
    """new (of this project), paper or library; of a plugin, who wrote it is not known: paper."""
    algorithm = member.series.algorithm
    if algorithm.startswith("peer:"):
        return "library"
    return "new" if member.row["paper"] == OURS and algorithm not in OF_THE_FIELD else "paper"


def display_name(member: Member) -> str:
    algorithm, device = member.series.algorithm, hardware(member.row)
    kind = "GPU" if device == "cuda" else "CPU"
    if algorithm.startswith("peer:") and algorithm.count(":") == 2:
        _, library, method = algorithm.split(":")
        return f"{library_name(library)} {_method(method)} ({kind})"
    return algorithm if device == "cuda" or algorithm.endswith("_cpu") else f"{algorithm} ({kind})"


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
