"""Lists of items that any program made, judged as the rankings of a model are."""

import csv
import json
import random

import pytest

DATA = "like:gowalla:0.01"
SPLIT = '{"leave_out": 2, "seed": 1}'
METRICS = ("recall_20", "recall_50", "ndcg_100", "map_10", "mrr_5")


@pytest.fixture(scope="module")
def trained(mfbench, tmp_path_factory):
    """The last trace point of a run, and the lists of its model: all items with their scores."""
    folder = tmp_path_factory.mktemp("evaluate")
    spec = {"datasets": [DATA], "split": {"leave_out": 2}, "stop": {"epochs": 3}, "evaluate": {"metrics": ["mrr@5"]},
            "algorithms": [{"name": "ials_cpu", "factors": 8, "threads": 1}]}
    mfbench("run", "spec.json", "--out", "out", "--save-model", "models", cwd=folder, code=0, spec=spec)
    (model,) = (folder / "models").iterdir()
    (result,) = (folder / "out").glob("*.jsonl")
    point = [json.loads(line) for line in result.read_text().splitlines()][-2]
    lists = mfbench("recommend", model, "--all-users", "-k", 100000, cwd=folder, code=0).stdout
    (folder / "lists.txt").write_text(lists)
    return folder, point, lists.splitlines()


def judged(mfbench, folder, lists, *words, data=(DATA, "--split", SPLIT)):
    if lists is not None:
        (folder / "given.txt").write_text("".join(f"{line}\n" for line in lists))
    done = mfbench("evaluate", "given.txt" if lists is not None else "lists.txt", "--data", *data, "--json", *words,
                   cwd=folder, code=0)
    return json.loads(done.stdout)


def values(said):
    return {name: one["value"] for name, one in said["metrics"].items()}


def pairs_of(lines):
    return [" ".join(line.split()[:2]) for line in lines]


def test_the_lists_of_a_model_have_the_metrics_of_its_run(mfbench, trained):
    folder, point, lines = trained
    expected = {name: point[name] for name in METRICS}
    assert 0.01 < expected["ndcg_100"] < 0.99
    by_spec = judged(mfbench, folder, None, data=("spec.json",))
    assert values(by_spec) == expected and by_spec["order"] == "by scores" and by_spec["users_without_list"] == 0
    random.Random(1).shuffle(lines := list(lines))  # scores alone decide
    assert values(judged(mfbench, folder, lines, "--metrics", ",".join(METRICS))) == expected


def test_lines_without_scores_are_in_the_order_of_the_ranks(mfbench, trained):
    folder, point, lines = trained
    expected = {name: point[name] for name in METRICS}
    users = {}
    for line in lines:
        users.setdefault(line.split()[0], []).append(line)
    best = [line for own in users.values() for line in own[:100]]
    by_lines = judged(mfbench, folder, pairs_of(best), data=("spec.json",))
    assert by_lines["order"] == "of lines" and values(by_lines) == pytest.approx(expected, rel=1e-3)
    assert values(judged(mfbench, folder, [f"{pair} 1" for pair in pairs_of(best)], data=("spec.json",))) == values(by_lines)
    worst = judged(mfbench, folder, pairs_of(best[::-1]), data=("spec.json",))
    assert values(worst)["map_10"] < values(by_lines)["map_10"]


def test_each_user_has_values_whose_mean_has_an_interval(mfbench, trained):
    folder, _, _ = trained
    said = judged(mfbench, folder, None, "--per-user", "users.csv")
    rows = list(csv.DictReader((folder / "users.csv").open()))
    assert len(rows) == said["users"] and all(int(row["held_out"]) == 2 for row in rows)
    for name, one in said["metrics"].items():
        own = [float(row[name]) for row in rows]
        mean = sum(own) / len(own)
        error = (sum((x - mean) ** 2 for x in own) / (len(own) - 1) / len(own)) ** 0.5
        assert one["value"] == pytest.approx(mean, rel=1e-12)
        assert one["low"] == pytest.approx(mean - 1.97 * error, abs=0.02 * error)
        assert one["high"] == pytest.approx(mean + 1.97 * error, abs=0.02 * error)
    text = mfbench("evaluate", "lists.txt", "--data", DATA, "--split", SPLIT, cwd=folder, code=0).stdout
    one = said["metrics"]["ndcg_100"]
    assert f"ndcg_100                {one['value']:.4f}  {one['low']:.4f} to {one['high']:.4f}" in text


# ---- ratings.csv: users 1 to 4 with items 1 to 9; the test part has item 9 of each, and of user 5 ----

@pytest.fixture
def small(tmp_path):
    (tmp_path / "train.csv").write_text("user,item\n" + "".join(f"{u},{i}\n" for u in range(1, 5) for i in range(u, u + 4)))
    (tmp_path / "test.csv").write_text("user,item\n" + "".join(f"{u},9\n" for u in range(1, 6)))
    return tmp_path


GIVEN = ('{"train": "train.csv", "test": "test.csv"}',)


def test_what_does_not_fit_is_counted(mfbench, small):
    lists = ["1 1", "1 9",           # 1 was seen: 9 has rank 1
             "2 77", "2 9",          # 77 is unknown, and keeps its rank
             "3 7",                  # a miss
             "8 9",                  # no user of the data
             "5 9"]                  # has no history
    said = judged(mfbench, small, lists, "--metrics", "mrr@3", "--per-user", "users.csv", data=GIVEN)
    assert [row["mrr_3"] for row in csv.DictReader((small / "users.csv").open())] == ["1", "0.5", "0", "0"]
    assert said["metrics"]["mrr_3"]["value"] == 0.375 and said["users"] == 4
    counts = {"users_without_list": 1, "short_lists": 4, "unknown_items": 1, "seen_items": 1, "lines_of_unknown_users": 1,
              "lines_of_other_users": 0}
    assert {key: said[key] for key in counts} == counts


@pytest.mark.parametrize("lists, words, code, said", [
    ("1 9\n1 8.5\n", [], 3, "given.txt:2:3: found '8.5'"),
    ("1 9\n2 9\n1 8\n", [], 3, "found the list of user 1 in two places"),
    ("1 9 .5\n1 9 .4\n", [], 3, "found item 9 twice in the list of user 1"),
    ("7 9\n", [], 3, "found no list of a user with"),
    ("1 9 nan\n", [], 3, "given.txt:1:5: found 'nan'"),
    ("1 9\n", ["--metrics", "rmse"], 2, "rmse"),
    ("1 9\n", ["--case", "x"], 2, "--case: found 'x', expected the beginning of a case's id or hash, such as popular"),
    ("1 9\n", ["--split", "{"], 2, "--split")])
def test_bad_lists_are_refused(mfbench, small, lists, words, code, said):
    (small / "given.txt").write_text(lists)
    refused = mfbench("evaluate", "given.txt", "--data", *GIVEN, *words, cwd=small, code=code)
    assert said in refused.stderr and refused.stdout == ""


def test_a_case_chooses_among_test_parts(mfbench, small):
    spec = {"datasets": [{"path": "train.csv"}], "split": {"leave_out": 1}, "seeds": [1, 2, 3, 4, 5, 6],
            "algorithms": ["popular"], "stop": {"epochs": 1}}
    (small / "s.json").write_text(json.dumps(spec))
    def seen(case):
        return judged(mfbench, small, ["1 1", "2 3", "3 5", "4 7"], "--case", case, data=("s.json",))["seen_items"]
    found = [seen(f"popular-f1-train.csv-s{seed}-") for seed in spec["seeds"]]
    assert seen("") == found[0] and len(set(found)) > 1


def test_ids_may_be_names(mfbench, small):
    for part in ("train", "test"):
        lines = (small / f"{part}.csv").read_text().splitlines()[1:]
        (small / f"{part}.csv").write_text("user,item\n" + "".join("ann {}\n".format(line).replace(",", ",b ") for line in lines))
    lists = ["ann 1\tb 9", "ann 2\tb 8", "ann 2\tb 9"]
    (small / "given.tsv").write_text("user\titem\n" + "".join(f"{line}\n" for line in lists))
    done = mfbench("evaluate", "given.tsv", "--data", *GIVEN, "--metrics", "mrr_2", "--json", cwd=small, code=0)
    assert json.loads(done.stdout)["metrics"]["mrr_2"]["value"] == 0.375
    (small / "given.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n4 9 1\n1 9\n")
    refused = mfbench("evaluate", "given.mtx", "--data", *GIVEN, cwd=small, code=3).stderr
    assert "found no list of a user with" in refused and "such as \"ann 1\" for a user" in refused
