"""A trained model leaves mfbench and comes back in the ids of the user's files."""

import json
import pathlib
import re
import shutil

import pytest

from support import saved_model, two_tastes

np = pytest.importorskip("numpy")


@pytest.fixture(scope="module")
def trained(mfbench, tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    # Users 100, 200, ... and items 7, 14, ...
    (folder / "ratings.txt").write_text("".join(f"{user * 100} {item * 7} {value}\n" for user, item, value in two_tastes()))
    return folder, saved_model(mfbench, folder, {"path": "ratings.txt", "format": "triples"})


def score(model, user, item):
    load = {name: np.load(model / f"{name}.npy")
            for name in ("P", "Q", "user_bias", "item_bias", "user_ids", "item_ids")}
    info = json.loads((model / "model.json").read_text())
    u = int(np.searchsorted(load["user_ids"], user))
    i = int(np.searchsorted(load["item_ids"], item))
    assert load["user_ids"][u] == user and load["item_ids"][i] == item
    return info["mean"] + load["user_bias"][u] + load["item_bias"][i] + load["P"][u] @ load["Q"][i]


def test_numpy_reads_the_arrays_and_predict_agrees(mfbench, trained):
    folder, model = trained
    assert np.load(model / "P.npy").shape == (40, 8)
    for user, item in [(100, 7), (4000, 210), (500, 77)]:
        done = mfbench("predict", model, cwd=folder, input=f"{user} {item}\n")
        assert float(done.stdout.split()[2]) == pytest.approx(score(model, user, item), abs=1e-3)


def test_who_is_only_in_the_test_part_is_predicted_only_where_asked(mfbench, tmp_path):
    rows = [f"{user},{item},{value}" for user, item, value in two_tastes()]
    for name, lines in (("train", rows), ("test", ["777,3,4", "1,888,5"])):
        (tmp_path / f"{name}.csv").write_text("\n".join(["user,item,rating", *lines]) + "\n")
    model = saved_model(mfbench, tmp_path, {"train": "train.csv", "test": "test.csv"})
    for pair, cold in (("777 3", "the user 777"), ("1 888", "the item 888")):
        refused = mfbench("predict", model, cwd=tmp_path, input=f"{pair}\n", code=3)
        assert f"{cold} has no rating in training" in refused.stderr and "--cold" in refused.stderr and not refused.stdout
        done = mfbench("predict", model, "--cold", cwd=tmp_path, input=f"{pair}\n", code=0)
        assert 1 <= float(done.stdout.split()[2]) <= 5
    assert mfbench("predict", model, cwd=tmp_path, input="1 3\n", code=0).stdout.startswith("1 3 ")


def test_a_model_of_svdpp_predicts_what_was_evaluated(mfbench, tmp_path):
    parts = {"train": [], "test": []}
    for user, item, value in two_tastes():
        parts["test" if (user + item) % 5 == 0 else "train"].append((user, item, value))
    for name, part in parts.items():
        (tmp_path / f"{name}.txt").write_text("".join(f"{u} {i} {r}\n" for u, i, r in part))
    spec = {"datasets": [{"train": "train.txt", "test": "test.txt", "format": "triples"}], "stop": {"epochs": 60},
            "schedule": {"learning_rate": 0.02}, "algorithms": [{"name": "svdpp_cpu", "factors": 8}]}
    mfbench("run", "s.json", "--out", "out", "--save-model", "models", cwd=tmp_path, code=0, spec=spec)
    (model,) = (tmp_path / "models").iterdir()
    pairs = "".join(f"{u} {i}\n" for u, i, _ in parts["test"])
    lines = mfbench("predict", model, cwd=tmp_path, input=pairs, code=0).stdout.splitlines()
    errors = [float(line.split()[2]) - r for line, (_, _, r) in zip(lines, parts["test"], strict=True)]
    rmse = float(np.sqrt(np.mean(np.square(errors))))
    (case,) = (tmp_path / "out").glob("*.jsonl")
    assert rmse == pytest.approx(json.loads(case.read_text().splitlines()[-1])["final_test_rmse"], abs=1e-4)
    assert rmse < 0.5
    (tmp_path / "me.txt").write_text("1 5\n3 5\n2 1\n4 1\n")
    best = mfbench("recommend", model, "--history", "me.txt", "-k", 3, cwd=tmp_path, code=0).stdout.splitlines()
    assert all(int(line.split()[0]) % 2 == 1 for line in best), best


def test_a_file_in_place_of_the_models_is_refused_before_anything_is_measured(mfbench, trained, tmp_path):
    folder, _ = trained
    shutil.copy(folder / "ratings.txt", tmp_path)
    shutil.copy(folder / "own.json", tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "models").write_text("no folder")
    done = mfbench("run", "own.json", "--out", "out", cwd=tmp_path, code=4)
    assert "out/models: found a file, expected a folder; move it away" in done.stderr
    assert not list((tmp_path / "out").glob("*.jsonl"))
    (tmp_path / "out" / "models").unlink()
    assert mfbench("run", "own.json", "--out", "out", cwd=tmp_path).returncode == 0
    assert len(list((tmp_path / "out" / "models").iterdir())) == 1


def test_a_clipping_case_saves_a_model_that_clips(mfbench, trained):
    folder, plain = trained
    spec = json.loads((folder / "own.json").read_text())
    scale = {"min": 1, "max": 5, "step": 1}
    spec["datasets"][0]["rating_scale"] = scale
    spec["evaluate"] = {"clip": True}
    mfbench("run", "clip.json", "--out", "clipped", cwd=folder, code=0, spec=spec)
    (model,) = (folder / "clipped" / "models").iterdir()
    assert json.loads((model / "model.json").read_text())["clip"] == {"min": 1, "max": 5}
    assert "clip" not in json.loads((plain / "model.json").read_text())
    pairs = [(user * 100, item * 7) for user in range(1, 41) for item in range(1, 31)]
    raw = [score(model, *pair) for pair in pairs]
    assert any(x > 5.01 or x < 0.99 for x in raw), "nothing to clip"
    text = "".join(f"{user} {item}\n" for user, item in pairs)
    lines = mfbench("predict", model, cwd=folder, input=text).stdout.splitlines()
    assert [float(line.split()[2]) for line in lines] == pytest.approx(
        [min(max(x, 1), 5) for x in raw], abs=1e-3)
    unclipped = mfbench("predict", plain, cwd=folder, input=text).stdout.splitlines()
    assert any(float(line.split()[2]) > 5 for line in unclipped)


def test_recommend_gives_what_the_user_likes(mfbench, trained):
    folder, model = trained
    done = mfbench("recommend", model, "--user", 300, "-k", 3, cwd=folder)
    items = [int(line.split()[0]) for line in done.stdout.splitlines()]
    assert len(items) == 3
    assert all((item // 7) % 2 == 1 for item in items), "user 3 is odd and likes odd items"
    unknown = mfbench("recommend", model, "--user", 301, cwd=folder, code=3)
    assert "no user 301" in unknown.stderr


@pytest.mark.parametrize("pair, message", [
    ("4294967396 7", "no user 4294967396"), ("100 4294967303", "no item 4294967303"), ("1e2 7", "no user 1e2"),
    ("100 7.0", "no item 7.0"), ("0x64 7", "no user 0x64"), ("-4294967196 7", "no user -4294967196"),
    ("101 7", "no user 101"), ("100 8", "no item 8"), ("100 7 5", "found '100 7 5'"), ("100", "found '100'")])
def test_ids_that_the_model_does_not_know_are_refused(mfbench, trained, pair, message):
    folder, model = trained
    bad = mfbench("predict", model, cwd=folder, input=f"100 7\n{pair}\n", code=3)
    assert "-:2: " in bad.stderr and message in bad.stderr


def folded(model, history):
    """Ridge regression with the bias beside the factors, by NumPy."""
    info = json.loads((model / "model.json").read_text())
    load = {name: np.load(model / f"{name}.npy") for name in ("Q", "item_bias", "item_ids")}
    rows = [int(np.searchsorted(load["item_ids"], item)) for item, _ in history]
    z = np.hstack([load["Q"][rows], np.ones((len(rows), 1))]).astype(float)
    rest = np.array([value for _, value in history]) - info["mean"] - load["item_bias"][rows]
    x = np.linalg.solve(z.T @ z + info["loss"]["reg"] * len(rows) * np.eye(z.shape[1]), z.T @ rest)
    return dict(zip(load["item_ids"].tolist(),
                    info["mean"] + load["item_bias"] + x[-1] + load["Q"] @ x[:-1]))


def test_a_history_describes_a_user_of_its_own(mfbench, trained):
    folder, model = trained
    history = [(7, 5), (14, 1), (21, 5), (28, 1)]
    (folder / "me.txt").write_text("".join(f"{item} {value}\n" for item, value in history))
    expected = folded(model, history)
    best = mfbench("recommend", model, "--history", "me.txt", "-k", 5, cwd=folder)
    lines = [line.split() for line in best.stdout.splitlines()]
    unseen = {item: score for item, score in expected.items() if item not in dict(history)}
    assert [float(score) for _, score in lines] == pytest.approx(
        sorted(unseen.values(), reverse=True)[:5], abs=1e-3)
    seen = mfbench("recommend", model, "--history", "me.txt", "-k", 30, "--include-seen", cwd=folder)
    assert len(seen.stdout.splitlines()) == 30


def lists_of(text):
    """{user: [(item, score)]} of lines of JSON."""
    lines = [json.loads(line) for line in text.splitlines()]
    return {line["user"]: [(one["item"], one["score"]) for one in line["items"]] for line in lines}


def test_recommend_serves_many_users(mfbench, trained, tmp_path):
    """The lists of each user as --user gives them, for a terminal and as JSON."""
    folder, model = trained
    users = [300, 4000, 500]
    (folder / "users.txt").write_text("300\n\n 4000\r\n500\n")
    each = {user: mfbench("recommend", model, "--user", user, "-k", 4, cwd=folder, code=0).stdout for user in users}
    many = mfbench("recommend", model, "--users", "users.txt", "-k", 4, cwd=folder, code=0).stdout
    assert many == "".join(f"{user} {line}\n" for user in users for line in each[user].splitlines())
    told = lists_of(mfbench("recommend", model, "--users", "-", "--json", "-k", 4, cwd=folder, code=0,
                            input="300\n4000\n500\n").stdout)
    assert list(told) == users
    for user in users:
        assert [f"{item} {score}" for item, score in told[user]] == each[user].splitlines()
    lists = lists_of(mfbench("recommend", model, "--all-users", "--json", cwd=folder, code=0).stdout)
    assert sorted(lists) == [100 * user for user in range(1, 41)]
    assert all(lists[user][:4] == told[user] for user in users)
    for user in users:
        assert [score for _, score in lists[user]] == pytest.approx(
            [float(score(model, user, item)) for item, _ in lists[user]], abs=1e-4)


def test_recommend_refuses_what_it_cannot_serve(mfbench, trained):
    folder, model = trained
    for text, message in [("300\n301\n", "-:2: the model knows no user 301"), ("x\n", "-:1: the model knows no user x")]:
        assert message in mfbench("recommend", model, "--users", "-", cwd=folder, input=text, code=3).stderr
    refused = mfbench("recommend", model, "--all-users", "--user", 300, cwd=folder, code=2)
    assert "--all-users" in refused.stderr


@pytest.mark.parametrize("text", ["", "\n", "8 5\n"])
def test_a_history_without_an_item_says_nothing_of_a_user(mfbench, trained, text):
    """Every user would get the same list."""
    folder, model = trained
    (folder / "empty.txt").write_text(text)
    refused = mfbench("recommend", model, "--history", "empty.txt", cwd=folder, code=3)
    assert "empty.txt: found no item that the model knows" in refused.stderr and refused.stdout == ""


def test_a_history_of_zeros_says_nothing_of_a_user_of_implicit_feedback(mfbench, tmp_path):
    (tmp_path / "r.csv").write_text("user,item,rating\n" + "".join(
        f"{u},{i},1\n" for u in range(20) for i in range(15) if (u + i) % 3))
    spec = {"datasets": [{"path": "r.csv"}], "stop": {"epochs": 2}, "algorithms": [{"name": "ials_cpu", "factors": 4}]}
    mfbench("run", "s.json", "--out", "out", "--save-model", "models", cwd=tmp_path, code=0, spec=spec)
    (model,) = (tmp_path / "models").iterdir()
    (tmp_path / "me.txt").write_text("0 0\n1 0\n")
    refused = mfbench("recommend", model, "--history", "me.txt", cwd=tmp_path, code=3)
    assert "the history has item 1 with the value 0, which is not observed" in refused.stderr and refused.stdout == ""
    (tmp_path / "me.txt").write_text("0 0\n1 1\n")
    items = {line.split()[0] for line in
             mfbench("recommend", model, "--history", "me.txt", "-k", 15, cwd=tmp_path, code=0).stdout.splitlines()}
    assert "0" in items and "1" not in items


def test_histories_that_cannot_be_read_say_where(mfbench, trained):
    folder, model = trained
    (folder / "bad.txt").write_text("7 5\n\n14 five\n")
    bad = mfbench("recommend", model, "--history", "bad.txt", cwd=folder)
    assert bad.returncode == 3 and "bad.txt:3: found '14 five'" in bad.stderr
    (folder / "twice.txt").write_text("7\n7 2\n")
    twice = mfbench("recommend", model, "--history", "twice.txt", cwd=folder)
    assert twice.returncode == 3 and "item 7 stands twice" in twice.stderr
    (folder / "other.txt").write_text("7 5\n8 3\n")
    other = mfbench("recommend", model, "--history", "other.txt", cwd=folder)
    assert other.returncode == 0 and "no item 8" in other.stderr
    missing = mfbench("recommend", model, "--history", "none.txt", cwd=folder)
    assert missing.returncode == 3 and "none.txt: cannot be read" in missing.stderr
    unnamed = mfbench("recommend", model, cwd=folder)
    assert unnamed.returncode == 2 and "--history" in unnamed.stderr
    mfbench("recommend", model, "--history", "me.txt", "--user", 300, cwd=folder, code=2)


@pytest.fixture(scope="module")
def with_strangers(mfbench, tmp_path_factory):
    """User 9 and item 99 stand in the test part only."""
    folder = tmp_path_factory.mktemp("strangers")
    pairs = [(user, item) for user in range(1, 9) for item in range(1, 9) if (user + item) % 3]
    (folder / "train.txt").write_text("".join(f"{u} {i} {1 + (u * i) % 5}\n" for u, i in pairs))
    (folder / "test.txt").write_text("1 99 3\n9 99 4\n9 1 4\n")
    spec = {"datasets": [{"train": "train.txt", "test": "test.txt", "format": "triples"}],
            "stop": {"epochs": 3}, "algorithms": [{"name": "als_cpu", "factors": 4}]}
    mfbench("run", "s.json", "--out", "out", "--save-model", "models", cwd=folder, code=0, spec=spec)
    (model,) = (folder / "models").iterdir()
    return folder, model


def test_rows_that_training_never_saw_are_zeros(with_strangers):
    _, model = with_strangers
    for factors, ids, stranger in (("P", "user_ids", 9), ("Q", "item_ids", 99)):
        rows, known = np.load(model / f"{factors}.npy"), np.load(model / f"{ids}.npy") != stranger
        assert not rows[~known].any() and rows[known].any(axis=1).all()


def test_a_history_of_items_that_training_never_saw_is_refused(mfbench, with_strangers):
    folder, model = with_strangers
    (folder / "history.txt").write_text("99 4\n")
    done = mfbench("recommend", model, "--history", "history.txt", cwd=folder, code=3)
    assert "the model was trained on no rating of item 99" in done.stderr and done.stdout == ""
    (folder / "history.txt").write_text("99 4\n1 5\n")
    done = mfbench("recommend", model, "--history", "history.txt", "-k", "2", cwd=folder, code=0)
    assert "item 99" in done.stderr and len(done.stdout.splitlines()) == 2


def test_a_list_of_a_user_whom_training_never_saw_says_so(mfbench, with_strangers):
    folder, model = with_strangers
    for words in (["--user", "9"], ["--all-users"]):
        done = mfbench("recommend", model, *words, cwd=folder, code=0)
        assert "users have no rating in training, the first is 9" in done.stderr
    assert mfbench("recommend", model, "--user", "1", cwd=folder, code=0).stderr == ""


def test_every_file_of_a_model_is_documented(trained):
    _, model = trained
    page = (pathlib.Path(__file__).parent.parent / "docs" / "spec.md").read_text(encoding="utf-8")
    table = page.split("| file of a model |")[1].split("\n\n")[0]
    rows = [row.split("|")[1] for row in table.splitlines()[2:]]
    listed = set(re.findall(r"`([^`]+)`", " ".join(rows)))
    names = {"user_names.txt", "item_names.txt"}  # of text ids: test_text_ids.py
    assert {path.name for path in model.iterdir()} == listed - names
    keys = table.splitlines()[2]
    for key in json.loads((model / "model.json").read_text()):
        assert key == "mfbench_model" or f"`{key}`" in keys, key
