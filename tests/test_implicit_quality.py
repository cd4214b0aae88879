"""Ranking on real likes: the evaluator against NumPy."""

import json
import lzma
import os
import pathlib

import numpy as np
import pytest

DATA = pathlib.Path(os.environ.get("MFBENCH_DATA", "no-data"))
METRICS = ("recall_20", "recall_50", "ndcg_100", "map_10")

pytestmark = pytest.mark.skipif(not (DATA / "ml-100k").is_dir(),
                                reason="ml-100k is not in MFBENCH_DATA")


def ratings():
    """User, item, rating of ml-100k as the file has them."""
    packed = DATA / "ml-100k" / "u.data.xz"
    text = lzma.open(packed, "rt").read() if packed.exists() else packed.with_suffix("").read_text()
    return np.array([line.split()[:3] for line in text.splitlines()], dtype=np.int64)


@pytest.fixture(scope="module")
def trained(mfbench, tmp_path_factory):
    """The last trace point of each algorithm on the likes of ml-100k, and the folder of a model."""
    folder = tmp_path_factory.mktemp("implicit-quality")
    spec = {"name": "likes", "split": {"holdout": 0.2}, "seeds": [1],
            "datasets": [{"name": "ml-100k", "implicit": {"min_rating": 4, "value": "binary"}}],
            "stop": {"epochs": 10}, "evaluate": {"every": 10},
            "algorithms": [{"name": "ials_cpu", "factors": 32, "alpha": 10, "reg": 5, "threads": 2},
                           {"name": "popular"}, {"name": "item_knn", "k": 40}, {"name": "ease_cpu", "reg": 200}]}
    mfbench("run", "likes.json", "--out", "out", "--save-model", "models",
            cwd=folder, data=DATA, code=0, spec=spec)
    points = {}
    for file in (folder / "out").glob("*.jsonl"):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        points[lines[0]["algorithm"]["name"]] = [line for line in lines if line["type"] == "trace"][-1]
    return points, next((folder / "models").glob("ials_cpu*"))


class Split:
    """What a model was trained on and what was held out, by the model's own numbers."""

    def __init__(self, model):
        users = {user: row for row, user in enumerate(np.load(model / "user_ids.npy"))}
        items = {item: row for row, item in enumerate(np.load(model / "item_ids.npy"))}
        offsets = np.load(model / "seen_offsets.npy")
        seen = np.load(model / "seen_items.npy")
        self.seen = [seen[offsets[u]:offsets[u + 1]] for u in range(len(users))]
        known = [set(row) for row in self.seen]
        self.n_items = len(items)
        self.test = [[] for _ in users]
        for user, item, rating in ratings():
            if rating >= 4 and items[item] not in known[users[user]]:
                self.test[users[user]].append(items[item])

    def history(self):
        """Users by items: 1 where a pair is in training."""
        x = np.zeros((len(self.seen), self.n_items))
        for user, items in enumerate(self.seen):
            x[user, items] = 1
        return x

    def metrics(self, scores):
        """Means over the users with something held out, as docs/spec.md defines them."""
        discount = 1 / np.log2(np.arange(2, 102))
        ideal = np.cumsum(discount)
        rows = []
        for user, test in enumerate(self.test):
            if not test or not len(self.seen[user]):  # without a history they are counted apart
                continue
            score = scores[user].copy()
            score[self.seen[user]] = -np.inf
            top = np.lexsort((np.arange(len(score)), -score))[:100]
            hit = np.isin(top, test) & np.isfinite(score[top])
            precision = np.cumsum(hit[:10]) / np.arange(1, 11)
            rows.append((hit[:20].sum() / min(20, len(test)), hit[:50].sum() / min(50, len(test)),
                         hit @ discount / ideal[min(100, len(test)) - 1],
                         (hit[:10] * precision).sum() / min(10, len(test))))
        return np.mean(rows, axis=0)


@pytest.fixture(scope="module")
def split(trained):
    return Split(trained[1])


def test_the_evaluator_agrees_with_numpy(trained, split):
    points, model = trained
    computed = split.metrics(np.load(model / "P.npy") @ np.load(model / "Q.npy").T)
    assert [points["ials_cpu"][name] for name in METRICS] == pytest.approx(computed, abs=2e-5)


def ease_scores(x):
    inverse = np.linalg.inv(x.T @ x + 200 * np.eye(x.shape[1]))
    weights = -inverse / np.diag(inverse)
    np.fill_diagonal(weights, 0)
    return x @ weights


def test_ranking_by_histories_agrees_with_numpy(trained, split):
    points = trained[0]
    computed = split.metrics(ease_scores(split.history()))
    assert [points["ease_cpu"][name] for name in METRICS] == pytest.approx(computed, abs=1e-4)
    for name in ("ease_cpu", "item_knn"):
        assert points[name]["ndcg_100"] > 1.2 * points["popular"]["ndcg_100"]
