"""What a model is worth does not depend on how users and items are numbered."""

import json
import lzma
import os
import pathlib
import random

import pytest

from support import cases_of

DATA = pathlib.Path(os.environ.get("MFBENCH_DATA", "no-data"))
ZERO = {"name": "ials_cpu", "factors": 4, "threads": 1, "init": {"kind": "normal", "scale": 0}, "stop": {"epochs": 0}}
TIE_SEEDS = range(1, 9)
NUMBERINGS = {"published": lambda item, last: item, "reversed": lambda item, last: last + 1 - item,
              "permuted": lambda item, last: (7919 * item) % (last + 1) + 1}


def popular_pairs():
    """(user, item) of 400 users and 500 items, the smaller item the more popular."""
    rng = random.Random(5)
    weights = [1 / (item + 3) for item in range(500)]
    return [(user, item + 1) for user in range(1, 401) for item in set(rng.choices(range(500), weights, k=25))]


def liked_pairs():
    """What ml-100k rates 4 or 5, with its published ids."""
    text = lzma.open(DATA / "ml-100k" / "u.data.xz", "rt", encoding="utf-8").read()
    rows = [line.split("\t") for line in text.splitlines()]
    return [(int(user), int(item)) for user, item, rating, _ in rows if int(rating) >= 4]


@pytest.fixture(params=["made up", "ml-100k"])
def pairs(request):
    if request.param == "made up":
        return popular_pairs()
    if not (DATA / "ml-100k").is_dir():
        pytest.skip("ml-100k is not in MFBENCH_DATA")
    return liked_pairs()


def cut(pairs, cold=0):
    """Training and test part; of one user in `cold` nothing is in the first."""
    rng = random.Random(1)
    train, test = [], []
    for user, item in pairs:
        is_cold = cold and user % cold == 0
        (test if is_cold or rng.random() < 0.2 else train).append((user, item))
    known = {item for _, item in train}
    return train, [pair for pair in test if pair[1] in known]


def write(folder, name, parts, number):
    last = max(item for part in parts for _, item in part)
    for part, rows in zip(("train", "test", "validation"), parts):
        (folder / f"{name}-{part}.txt").write_text("".join(f"{user} {number(item, last)} 1\n" for user, item in rows))
    return {part: f"{name}-{part}.txt" for part, _ in zip(("train", "test", "validation"), parts)} | {
        "format": "triples", "label": name}


def run(mfbench, folder, parts, algorithm, **keys):
    """{numbering: the lines of its case}, of one algorithm."""
    datasets = [write(folder, name, parts, number) for name, number in NUMBERINGS.items()]
    spec = {"name": "s", "seeds": [1], "datasets": datasets, "algorithms": [algorithm], **keys}
    mfbench("run", "s.json", "--out", "out", cwd=folder, code=0, spec=spec, timeout=300)
    return {header["dataset"]["name"]: (header, trace, footer)
            for header, *trace, footer in cases_of(folder / "out")}


def test_a_model_of_zeros_is_worth_the_same_by_any_numbers(mfbench, tmp_path, pairs):
    found = {name: [] for name in NUMBERINGS}
    for seed in TIE_SEEDS:
        folder = tmp_path / str(seed)
        folder.mkdir()
        cases = run(mfbench, folder, cut(pairs), ZERO, evaluate={"ranking": {"users": 0, "seed": seed}})
        for name, (header, trace, footer) in cases.items():
            found[name].append(trace[-1]["ndcg_100"])
            assert footer["tied_users"] == header["ranking"]["users"]
            assert "have one score" in footer["warnings"][0]
    means = {name: sum(values) / len(values) for name, values in found.items()}
    spread = max(max(values) - min(values) for values in found.values())
    assert max(means.values()) - min(means.values()) < spread < 0.3 * means["published"], found


def test_users_without_a_history_are_counted_apart(mfbench, tmp_path, pairs):
    algorithm = {"name": "ials_cpu", "factors": 8, "alpha": 5, "reg": 3, "threads": 1, "stop": {"epochs": 8}}
    cases = run(mfbench, tmp_path, cut(pairs, cold=3), algorithm)
    warm = []
    for header, trace, footer in cases.values():
        ranking = header["ranking"]
        assert ranking["users"] / 4 < ranking["users_without_history"] < ranking["users"] / 2
        assert footer["cold_ranking"]["ndcg_100"] < 0.6 * trace[-1]["ndcg_100"], "they are ranked by chance"
        warm.append(trace[-1]["ndcg_100"])
    assert max(warm) - min(warm) < 0.01, warm


def test_a_case_of_older_rules_stands_with_a_warning(mfbench, tmp_path):
    run(mfbench, tmp_path, cut(popular_pairs()), ZERO)
    path = next((tmp_path / "out").glob("*.jsonl"))
    head, *rest = path.read_text().splitlines()
    head = json.loads(head)
    del head["ranking"]["users_without_history"]
    path.write_text("\n".join([json.dumps(head), *rest, ""]))
    again = mfbench("run", "s.json", "--out", "out", cwd=tmp_path, code=0)
    assert f"{path.name}: stands, but was ranked by older rules" in again.stderr and "0 run now" in again.stdout
    assert again.stderr.count("older rules") == 1


def with_validation(pairs):
    rng = random.Random(3)
    train, test = cut(pairs)
    validation = [pair for pair in train if rng.random() < 0.2]
    return [pair for pair in train if pair not in set(validation)], test, validation


def test_rankings_that_had_validation_items_among_them_are_marked(mfbench, tmp_path):
    run(mfbench, tmp_path, with_validation(popular_pairs()), {"name": "popular"})
    for path in (tmp_path / "out").glob("*.jsonl"):
        head, *rest = path.read_text().splitlines()
        head = json.loads(head)
        assert head["ranking"].pop("seen") == "train + validation"
        path.write_text("\n".join([json.dumps(head), *rest, ""]))
    again = mfbench("run", "s.json", "--out", "out", "--explain", cwd=tmp_path, code=0)
    assert again.stderr.count("older rules: items of the validation part not left out") == len(NUMBERINGS)
    assert again.stdout.count("1 with seen: train") == len(NUMBERINGS)
    assert again.stdout.count("seen: train: an older version ranked") == 1


def test_a_search_does_not_choose_a_dead_model(mfbench, tmp_path):
    """With 1e6 all scores are 0. When the smaller of equal items went first, it won by their popularity."""
    parts = with_validation(popular_pairs())
    algorithm = {"name": "ials_cpu", "factors": 8, "alpha": 5, "threads": 1, "stop": {"epochs": 6},
                 "tune": {"trials": 4, "eta": 1, "over": {"reg": {"choices": [0.5, 5, 50, 1e6]}}}}
    cases = run(mfbench, tmp_path, parts, algorithm)
    assert {header["ranking"]["seen"] for header, *_ in cases.values()} == {"train + validation"}
    chosen = {name: header["tuned"]["values"]["reg"] for name, (header, *_) in cases.items()}
    assert all(reg < 1e6 for reg in chosen.values()), chosen
