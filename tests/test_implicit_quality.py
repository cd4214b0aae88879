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
    """The last trace point of a run on the likes of ml-100k, and the folder of its model."""
    folder = tmp_path_factory.mktemp("implicit-quality")
    spec = {"name": "likes", "split": {"holdout": 0.2}, "seeds": [1],
            "datasets": [{"name": "ml-100k", "implicit": {"min_rating": 4, "value": "binary"}}],
            "stop": {"epochs": 10}, "evaluate": {"every": 10},
            "algorithms": [{"name": "ials_cpu", "factors": 32, "alpha": 10, "reg": 5, "threads": 2}]}
    mfbench("run", "likes.json", "--out", "out", "--save-model", "models",
            cwd=folder, data=DATA, code=0, spec=spec)
    trace = next((folder / "out").glob("*.jsonl")).read_text().splitlines()
    point = [json.loads(line) for line in trace if '"trace"' in line][-1]
    return point, next((folder / "models").iterdir())


class Split:
    """What a model was trained on and what was held out, by the model's own numbers."""

    def __init__(self, model):
        users = {user: row for row, user in enumerate(np.load(model / "user_ids.npy"))}
        items = {item: row for row, item in enumerate(np.load(model / "item_ids.npy"))}
        offsets = np.load(model / "seen_offsets.npy")
        seen = np.load(model / "seen_items.npy")
        self.seen = [seen[offsets[u]:offsets[u + 1]] for u in range(len(users))]
        known = [set(row) for row in self.seen]
        self.test = [[] for _ in users]
        for user, item, rating in ratings():
            if rating >= 4 and items[item] not in known[users[user]]:
                self.test[users[user]].append(items[item])

    def metrics(self, p, q):
        """Means over the users with something held out, as docs/spec.md defines them."""
        discount = 1 / np.log2(np.arange(2, 102))
        ideal = np.cumsum(discount)
        rows = []
        for user, test in enumerate(self.test):
            if not test or not len(self.seen[user]):  # without a history they are counted apart
                continue
            score = q @ p[user]
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
    point, model = trained
    computed = split.metrics(np.load(model / "P.npy"), np.load(model / "Q.npy"))
    assert [point[name] for name in METRICS] == pytest.approx(computed, abs=2e-5)
