"""Model: the arrays of a saved model, and its recommendations (docs/spec.md has its files and rules)."""

import contextlib
import json
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from mfbench import call
from mfplots.errors import PlotError
from mfplots.files import open_file, read_json, read_text

ID = (str, int, np.integer)
IDS = "ids.json"  # in a folder of results: the original ids of tables


@contextlib.contextmanager
def as_a_model(path):
    """Raises Error, whatever a damaged file makes its reader raise."""
    try:
        yield
    except (AttributeError, EOFError, KeyError, TypeError, ValueError) as error:
        raise PlotError(f"{path}: is damaged: found {error!r}, expected the file of a model; save the model again") from error


class Model:
    """`P` has a row for each of `users`, `Q` one for each of `items`: the ids of your data.

    In a plain model `user_bias` and `item_bias` are None, and `mean` is 0.
    """

    def __init__(self, folder):
        self.folder = Path(folder)
        self.info = read_json(self.folder / "model.json")
        with as_a_model(self.folder / "model.json"):
            self.mean, self.kind, *_ = (self.info[key] for key in ("mean", "kind", "n_users", "n_items", "factors"))

    def array(self, name):
        """Mapped, not read. Changes stay in memory: an array that cannot be written is none for DLPack, so torch would
        have to copy it."""
        with open_file(path := self.folder / f"{name}.npy") as file, as_a_model(path):
            return np.load(f"/proc/self/fd/{file.fileno()}", mmap_mode="c")

    P = cached_property(lambda self: self.array("P"))
    Q = cached_property(lambda self: self.array("Q"))
    user_bias = cached_property(lambda self: self.array("user_bias") if self.kind == "biased" else None)
    item_bias = cached_property(lambda self: self.array("item_bias") if self.kind == "biased" else None)
    users = cached_property(lambda self: self.ids("user"))
    items = cached_property(lambda self: self.ids("item"))

    def ids(self, side):
        if not self.info.get(f"{side}_names", False):
            return np.asarray(self.array(f"{side}_ids"))
        with as_a_model(path := self.folder / f"{side}_names.txt"):
            return np.array([self.own(side, name) for name in read_text(path).split("\n")[:-1]])

    # ---- ids -----------------------------------------------------------------------------------------

    @cached_property
    def kinds(self):
        """"integers" for a side whose ids the program knows only as text, since they have more than 31 bits."""
        kept = self.folder.resolve().parent.parent / IDS
        known = read_json(kept) if kept.is_file() else {}
        with as_a_model(self.folder / "model.json"):
            data = self.info["case"]["dataset"]
            return known.get(data.get("path") or data.get("train"), {})

    def own(self, side, said):
        return int(said) if self.kinds.get(side) == "integers" else said

    # ---- answers -------------------------------------------------------------------------------------

    def recommend(self, user=None, k=10, *, history=None, include_seen=False):
        """The best `k` items with their scores. `user` is an id; for a list of ids, or for all users if it is None, the
        frame also has a column `user`. `history` describes a user unknown to the model: items, or a dictionary of their
        ratings."""
        words = ["-k", k, "--json", *(["--include-seen"] if include_seen else [])]
        if history is not None:
            values = history.items() if isinstance(history, dict) else ((item, 1) for item in history)
            return self.one([*words, "--history", "/dev/stdin"], "".join(f"{item}\t{value}\n" for item, value in values))
        if user is None:
            return self.many([*words, "--all-users"], "")
        if isinstance(user, ID):
            return self.one([*words, f"--user={user}"], "")
        return self.many([*words, "--users", "-"], "".join(f"{one}\n" for one in user))

    def predict(self, users, items, *, cold=False):
        """The prediction for each pair of ids, or for one pair, as the case was evaluated. `cold`: also for users and
        items without a rating in training."""
        if isinstance(users, ID) and isinstance(items, ID):
            return float(self.predict([users], [items], cold=cold)[0])
        pairs = "".join(f"{user}\t{item}\n" for user, item in zip(users, items, strict=True))
        said = call.lines("predict", self.folder, "--json", "--pairs", "-", *(["--cold"] if cold else []), text=pairs)
        return np.array([line["prediction"] for line in said], dtype=float)

    def similar_items(self, item, k=10):
        """The `k` items whose rows of Q are nearest to the row of `item` by their cosine, among those with a rating."""
        own = np.flatnonzero(self.items.astype(object) == item)
        if not len(own):
            raise PlotError(f"{self.folder}: the model knows no item {item!r}; it has {len(self.items)} items, such as "
                            f"{self.items[0]!r}")
        lengths = np.linalg.norm(self.Q, axis=1)
        cosines = self.Q @ self.Q[own[0]] / np.where(lengths > 0, lengths * lengths[own[0]], np.inf)
        known = np.flatnonzero((lengths > 0) & (np.arange(len(lengths)) != own[0]))
        best = known[np.argsort(-cosines[known], kind="stable")[:k]]
        return pd.DataFrame({"item": self.items[best], "score": cosines[best]})

    def one(self, words, text):
        (answer,) = call.lines("recommend", self.folder, *words, text=text)
        return self.frame(answer)

    def many(self, words, text):
        found = [self.frame(answer).assign(user=self.own("user", answer["user"]))
                 for answer in call.lines("recommend", self.folder, *words, text=text)]
        columns = ["user", "item", "score"]
        return pd.concat(found, ignore_index=True)[columns] if found else pd.DataFrame(columns=columns)

    def frame(self, answer):
        return pd.DataFrame({"item": [self.own("item", one["item"]) for one in answer["items"]],
                             "score": [one["score"] for one in answer["items"]]})

    def __repr__(self):
        return f"<mfbench model {self.folder}: {self.kind}, {self.info['n_users']} users, {self.info['n_items']} items, " \
               f"{self.info['factors']} factors>"
