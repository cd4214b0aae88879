"""Ids that are text go from a file of ratings through a run into a model and out of it."""

import json
import subprocess

import pytest

from support import saved_model, two_tastes


@pytest.fixture(scope="module")
def trained(mfbench, tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    # Users such as "user, 3", items such as B000007.
    rows = ["reviewerID,item,rating"]
    for user, item, value in two_tastes():
        name = f'"user, {user}"' if user % 3 == 0 else f"zoë{user}"
        rows.append(f"{name},B{item:06},{value}")
    (folder / "ratings.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder, saved_model(mfbench, folder, {"path": "ratings.csv"})


def test_the_model_has_the_names_beside_the_rows(trained):
    _, model = trained
    names = (model / "user_names.txt").read_text(encoding="utf-8").splitlines()
    assert len(names) == 40 and names == sorted(names, key=lambda name: name.encode())
    assert "user, 3" in names and "zoë1" in names
    info = json.loads((model / "model.json").read_text())
    assert (info["mfbench_model"], info["user_names"], info["item_names"]) == (2, True, True)


def test_pairs_are_cut_at_tabs_or_blanks(mfbench, trained):
    folder, model = trained
    done = mfbench("predict", model, cwd=folder, input="zoë1 B000003\nuser, 3\tB000003\n", code=0)
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert [line[:2] for line in lines] == [["zoë1", "B000003"], ["user, 3", "B000003"]]
    assert all(float(score) > 3 for _, _, score in lines)
    bad = mfbench("predict", model, cwd=folder, input="zoë1 B000003\nuser, 3 B000003\n")
    assert bad.returncode == 3 and "-:2: found 'user, 3 B000003', expected" in bad.stderr


def test_names_that_the_model_does_not_know(mfbench, trained):
    folder, model = trained
    for pair, message in [("bob B000003", "no user 'bob'"), ("7 B000003", "no user '7'"), ("zoë1 B3", "no item 'B3'")]:
        assert message in mfbench("predict", model, cwd=folder, input=f"{pair}\n", code=3).stderr
    refused = mfbench("predict", model, cwd=folder, input="\x1b[31mbob B000003\n")
    assert refused.returncode == 3 and "\x1b" not in refused.stderr


def test_a_history_names_items(mfbench, trained):
    folder, model = trained
    (folder / "me.txt").write_text("B000001 5\nB000002\t1\nB000003 5\nB999999\n")
    best = mfbench("recommend", model, "--history", "me.txt", "-k", 3, cwd=folder, code=0)
    assert "no item 'B999999'" in best.stderr
    items = [line.split("\t")[0] for line in best.stdout.splitlines()]
    assert len(items) == 3 and all(int(item[1:]) % 2 == 1 for item in items)
    (folder / "twice.txt").write_text("B000001 5\nB000001 5\n")
    twice = mfbench("recommend", model, "--history", "twice.txt", cwd=folder)
    assert twice.returncode == 3 and 'item "B000001" stands twice' in twice.stderr


def test_stats_and_import_say_what_ids_are(mfbench, trained, tmp_path):
    folder, _ = trained

    def own(*arguments):
        return subprocess.run([mfbench.program, *arguments], cwd=folder, text=True,
                              capture_output=True, timeout=300,
                              env={**mfbench.environment(), "MFBENCH_CACHE": str(tmp_path)})

    stats = own("data", "stats", "ratings.csv", "--json")
    found = json.loads(stats.stdout)
    assert (found["user_ids"], found["item_ids"], found["n_users"]) == ("text", "text", 40)
    (folder / "mixed.txt").write_text("1 0132793040 5\n2 B000123 4\n")
    slip = own("data", "import", "mine", "mixed.txt", "--ids", "integers")
    assert slip.returncode == 3 and "mixed.txt:2:3: found 'B000123'" in slip.stderr
    assert "give --ids text" in slip.stderr
    done = own("data", "import", "mine", "mixed.txt", "--ids", "text")
    assert done.returncode == 0, done.stderr
    rows = json.loads(own("data", "list", "--json").stdout)
    (mine,) = [row for row in rows if row["name"] == "mine"]
    assert (mine["user_ids"], mine["item_ids"], mine["n_users"]) == ("text", "text", 2)
    spec = {"datasets": [{"path": "mixed.txt", "ids": "text"}], "stop": {"epochs": 1},
            "algorithms": [{"name": "sgd_serial"}]}
    assert mfbench("validate", "mixed.json", cwd=folder, spec=spec).returncode == 0
    spec["datasets"][0]["ids"] = "txt"
    wrong = mfbench("validate", "mixed.json", cwd=folder, spec=spec)
    assert wrong.returncode == 2 and 'did you mean "text"' in wrong.stderr
