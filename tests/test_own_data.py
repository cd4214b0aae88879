"""Files of one's own, as a user has them: counts, pairs, unusual headers, and what is no text at all."""

import json
import random

import pytest


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Plays of 60 users, most of them few; the same as events, and as pairs."""
    made, draw = tmp_path_factory.mktemp("own"), random.Random(7)
    plays = {(user, item): int(1 + draw.paretovariate(0.6)) for user in range(60) for item in range(40)
             if draw.random() < 0.3}
    lines = {"plays.csv": ["userID,artistID,plays", *(f"{u},{i},{n}" for (u, i), n in plays.items())],
             "events.csv": ["at,who,what,much", *(f"9,{u},{i},1" for (u, i), n in plays.items()
                                                  for _ in range(min(n, 3)))],
             "pairs.txt": [f"{u}\t{i}" for u, i in plays]}
    for name, content in lines.items():
        (made / name).write_text("\n".join(content) + "\n", encoding="utf-8")
    return made


def stats(mfbench, folder, *words):
    return json.loads(mfbench("data", "stats", *words, "--json", cwd=folder, code=0).stdout)


def test_stats_say_that_values_look_like_counts_and_what_follows(mfbench, folder):
    assert stats(mfbench, folder, "plays.csv")["values_look_like"] == "counts"
    text = mfbench("data", "stats", "plays.csv", cwd=folder, code=0).stdout
    assert "look like          counts: implicit feedback, for ials_cpu" in text and "alpha of about" in text
    assert stats(mfbench, folder, "pairs.txt")["values_look_like"] == "pairs"
    rated = mfbench("data", "stats", "like:ml-100k", cwd=folder, code=0).stdout
    assert "look like" not in rated.split("\n", 1)[1]


def test_columns_on_the_command_line_are_those_of_a_spec(mfbench, folder):
    words = "--columns", "user=who,item=what,rating=much"
    found = stats(mfbench, folder, "events.csv", *words)
    done = mfbench("data", "import", "events", "events.csv", *words, "--duplicates", "sum", "--replace", cwd=folder, code=0)
    assert "pairs with more than one rating: their sum counts" in done.stdout
    summed = stats(mfbench, folder, "events")
    assert summed["nnz"] == found["nnz"] == stats(mfbench, folder, "plays.csv")["nnz"]
    assert summed["mean"] > found["mean"] == 1
    spec = {"datasets": [{"path": "events.csv", "duplicates": "sum",
                          "columns": {"user": "who", "item": "what", "rating": "much"}}],
            "stop": {"epochs": 1}, "algorithms": [{"name": "ials_cpu", "factors": 4}]}
    mfbench("validate", "e.json", "--data", cwd=folder, code=2, spec=spec | {"datasets": [
        {"path": "events.csv", "columns": {"users": "who"}}]})
    mfbench("run", "e.json", "--out", "e", cwd=folder, code=0, spec=spec)
    for wrong in ("who", "user=", "user=a,user=b", "who=a"):
        refused = mfbench("data", "stats", "events.csv", "--columns", wrong, cwd=folder, code=2)
        assert "--columns: found" in refused.stderr


def test_a_published_file_with_damaged_lines_is_read_by_the_places_of_its_columns(mfbench, tmp_path):
    """The layout of last.fm 360K, in a file of our own: fetch checks the real one by the MD5 of its archive."""
    place = tmp_path / "data/lastfm-360k"
    place.mkdir(parents=True)
    user, other = "00000c289a1829a808ac09c00daf10bc3c4e223b", "00001411dc427966b17297bf4d69e7e193135d89"
    place.joinpath("usersha1-artmbid-artname-plays.tsv").write_text("".join("\t".join(line) + "\n" for line in (
        (user, "3bd73256-3905-4f3a-97e2-8b341527f805", "betty blowtorch", "2137"),
        (user, "", '"weird al" yankovic', "31"), (other, "", "", "17"), (other, "f2fb0ff0", "die Ärzte", "sep 20, 2008"),
        (other, "", "betty blowtorch", "5"), (other, "a3cb23fc", "betty blowtorch", "2"))), encoding="utf-8")
    done = mfbench("data", "stats", "lastfm-360k", "--json", cwd=tmp_path, code=0, data=tmp_path / "data")
    found = json.loads(done.stdout)
    assert (found["n_users"], found["n_items"], found["nnz"], found["duplicate_pairs"]) == (2, 2, 3, 1)
    assert found["mean"] == (2137 + 31 + 7) / 3 and found["user_ids"] == found["item_ids"] == "text"
    assert "2 lines are no ratings and are left out; the first: " in done.stderr and "plays.tsv:3:43: found nothing" in done.stderr
    assert "found 2 users, 2 items and 3 ratings, the catalog has 358868" in done.stderr


@pytest.mark.parametrize("name, lines, entry, sizes", [
    ("steam-200k.csv", ["7,\"Warhammer, 40,000\",purchase,1.0,0", "7,\"Warhammer, 40,000\",play,14.9,0", "9,Spore,play,2.5,0"],
     {"columns": {"user": "#1", "item": "#2", "rating": "#4"}, "ids": "text", "duplicates": "max",
      "split": {"holdout": 0.5}}, (2, 2, 2)),
    ("Books.csv", ["0001713353,A1C6M8LCIX4M6M,5.0,1123804800", "B000JQ0JNS,A1C6M8LCIX4M6M,3.0,1123804801",
                   "B000JQ0JNS,A3,1.0,1123804802"],
     {"columns": {"user": "#2", "item": "#1", "rating": "#3", "time": "#4"}, "ids": "text",
      "rating_scale": {"min": 1, "max": 5, "step": 1}, "split": {"leave_last": 1}}, (2, 2, 3)),
    ("Books-2023.csv", ["user_id,parent_asin,rating,timestamp", "AF2B,0001713353,5.0,1588687728923", "AF2B,B000JQ0JNS,1.0,1588687728924"],
     {"columns": {"item": "parent_asin"}, "ids": "text", "split": {"leave_last": 1}}, (1, 2, 2))])
def test_files_that_no_catalog_has_are_read_as_the_docs_say(mfbench, tmp_path, name, lines, entry, sizes):
    """docs/adding-a-data-set.md, "Steam and Amazon": files of their layouts, written by hand."""
    (tmp_path / name).write_text("\n".join(lines) + "\n")
    spec = {"datasets": [{"path": name, **entry}], "stop": {"epochs": 1},
            "algorithms": [{"name": "sgd_serial", "factors": 2}]}
    mfbench("run", "s.json", "--out", "r", "--quiet", cwd=tmp_path, code=0, spec=spec)
    header = json.loads(next((tmp_path / "r").glob("*.jsonl")).read_text().splitlines()[0])["dataset"]
    assert (header["n_users"], header["n_items"], header["nnz_train"] + header["nnz_test"]) == sizes


def test_what_was_imported_can_be_removed(mfbench, folder):
    mfbench("data", "import", "played", "plays.csv", cwd=folder, code=0)
    assert "played " in mfbench("data", "list", cwd=folder, code=0).stdout
    refused = mfbench("data", "remove", "playd", cwd=folder, code=2)
    assert "nothing was imported under this name" in refused.stderr and 'did you mean "played"?' in refused.stderr
    assert "played: removed" in mfbench("data", "remove", "played", cwd=folder, code=0).stdout
    assert "played " not in mfbench("data", "list", cwd=folder, code=0).stdout
    assert (folder / "plays.csv").exists()
    mfbench("data", "import", "played", "plays.csv", cwd=folder, code=0)  # the name is free again
    mfbench("data", "remove", "played", cwd=folder, code=0)
    assert "of the catalog" in mfbench("data", "remove", "ml-1m", cwd=folder, code=2).stderr
    assert "nothing was imported" in mfbench("data", "remove", "../x", cwd=folder, code=2).stderr


def test_ratings_in_the_place_of_a_spec(mfbench, folder):
    for command in ("run", "validate", "plan"):
        refused = mfbench(command, "plays.csv", cwd=folder, code=2)
        assert "plays.csv: found no JSON, expected a spec" in refused.stderr
        assert "mfbench race plays.csv" in refused.stderr


def test_algorithms_of_ratings_say_so_where_they_diverge_on_counts(mfbench, folder):
    spec = {"datasets": [{"path": "plays.csv"}], "stop": {"epochs": 30},
            "schedule": {"kind": "constant", "learning_rate": 0.5},
            "algorithms": [{"name": "sgd_serial", "factors": 8}]}
    mfbench("run", "d.json", "--out", "d", cwd=folder, spec=spec)
    case, = (folder / "d").glob("*.jsonl")
    footer = json.loads(case.read_text(encoding="utf-8").splitlines()[-1])
    assert footer["status"] == "diverged"
    assert "the values look like counts" in footer["stop_reason"] and "ials_cpu" in footer["stop_reason"]


def test_the_table_is_headed_by_the_metric_of_the_cases(mfbench, folder):
    spec = {"datasets": [{"path": "pairs.txt"}], "stop": {"epochs": 1},
            "algorithms": [{"name": "ials_cpu", "factors": 4}]}
    done = mfbench("run", "t.json", "--out", "t", cwd=folder, code=0, spec=spec)
    heading = next(line for line in done.stdout.splitlines() if line.startswith("algorithm"))
    assert " ndcg_100 " in heading and "rmse" not in heading and "quality" not in heading


# ---- other data than the file's ----------------------------------------------------------------------

def refusal(mfbench, folder, text, *words):
    (folder / "own.csv").write_text(text, encoding="utf-8")
    return mfbench("data", "stats", "own.csv", *words, cwd=folder, code=3).stderr


def read(mfbench, folder, text, *words):
    (folder / "own.csv").write_text(text, encoding="utf-8")
    found = stats(mfbench, folder, "own.csv", *words)
    return found["n_users"], found["nnz"], found["mean"]


@pytest.mark.parametrize("text, applied", [('1,2,"6,170"\n1,3,"1,234"\n', "1,2,6170\n1,3,1234\n"),
                                           ("1,2,6,170\n1,3,1,234\n", "1,2,6170\n1,3,1234\n")])
def test_advice_on_thousands_makes_no_decimals_of_them(mfbench, tmp_path, text, applied):
    head = "user,item,plays\n"
    assert "take a comma between thousands out; write a decimal comma as a point" in refusal(mfbench, tmp_path, head + text)
    assert read(mfbench, tmp_path, head + applied) == (1, 2, 3702)
    assert "write decimals with a point" in refusal(mfbench, tmp_path, head + '1,2,"3,5"\n')


def test_advice_on_a_byte_order_mark_in_the_middle_adds_no_user(mfbench, tmp_path):
    joined = "user,item,rating\n1,2,5\n\ufeff1,3,4\n"
    for ids in ("auto", "text"):
        assert "own.csv:3:1: " in (told := refusal(mfbench, tmp_path, joined, "--ids", ids))
        assert "take this byte order mark out" in told and "--ids" not in told
    assert read(mfbench, tmp_path, joined.replace("\ufeff", "")) == (1, 2, 4.5)


def test_advice_on_true_and_false_does_not_count_the_false(mfbench, tmp_path):
    text = "user,item,liked\n1,2,True\n1,3,False\n2,2,True\n"
    told = refusal(mfbench, tmp_path, text)
    assert "say with --columns which they are" in told and "pairs" not in told
    words = "--columns", "rating=liked"
    assert "own.csv:2:5: " in (told := refusal(mfbench, tmp_path, text, *words)) and "write 1 for true and 0 for false" in told
    assert read(mfbench, tmp_path, text.replace("True", "1").replace("False", "0"), *words) == (2, 3, pytest.approx(2 / 3))


@pytest.mark.parametrize("text, words, taken", [
    ("B000JQ0JNS,A1C6M8LCIX4M6M,5.0\n", [], "#1 user (B000JQ0JNS), #2 item (A1C6M8LCIX4M6M), #3 rating (5.0); no header"),
    ("at,sku,who,stars\n7,x,ann,4\n", ["--columns", "user=who,item=sku,rating=stars"],
     "#2 item (x), #3 user (ann), #4 rating (4); below a header"),
    ("user,item\n1,2\n", ["--columns", "user=#1,item=#2", "--format", "pairs", "--ids", "text"],
     "#1 user (user), #2 item (item); no header"),
    ("1\t2\t3\t4\n", ["--format", "movielens-tab"], "#1 user (1), #2 item (2), #3 rating (3); no header")])
def test_stats_say_what_was_taken_for_what(mfbench, tmp_path, text, words, taken):
    (tmp_path / "own.csv").write_text(text, encoding="utf-8")
    assert f"columns            {taken}\n" in mfbench("data", "stats", "own.csv", *words, cwd=tmp_path, code=0).stdout


UNRATED = "user,item,rating\n" + "".join(f"{k % 7},{k},{(-1, 7, 8, 9, 10)[k % 5]}\n" for k in range(50))


def test_a_mark_of_not_rated_is_pointed_out_and_left_out_where_asked(mfbench, tmp_path):
    (tmp_path / "own.csv").write_text(UNRATED)
    (tmp_path / "pos.csv").write_text(UNRATED.replace(",-1\n", ",6\n"))
    told = mfbench("data", "stats", "own.csv", cwd=tmp_path, code=0).stdout
    assert '-1 (10 ratings) lies below the rating scale: if it marks pairs without a rating, leave them out with --unrated -1' in told
    assert "stands alone" not in mfbench("data", "stats", "pos.csv", cwd=tmp_path, code=0).stdout
    assert read(mfbench, tmp_path, UNRATED, "--unrated", "-1") == (7, 40, 8.5)
    data = {"path": "own.csv", "unrated": -1, "rating_scale": {"min": 7, "max": 10, "step": 1}}
    spec = {"datasets": [data], "stop": {"epochs": 1}, "algorithms": [{"name": "sgd_serial", "factors": 2}]}
    mfbench("run", "s.json", "--out", "r", "--quiet", cwd=tmp_path, code=0, spec=spec)
    header = json.loads(next((tmp_path / "r").glob("*.jsonl")).read_text().splitlines()[0])["dataset"]
    assert header["nnz_train"] + header["nnz_test"] == 40


@pytest.mark.parametrize("value, words", [
    (lambda k: 1, "are all 1"), (lambda k: k % 2, "are only 0 and 1"), (lambda k: 1000 if k % 9 == 0 else 1, "look like counts"),
    (lambda k: 1 + k % 5, None), (lambda k: f"{1 + k % 5}e-40", "cannot tell them apart")])
def test_values_that_are_no_stars_are_a_warning_in_run_and_validate(mfbench, tmp_path, value, words):
    (tmp_path / "own.csv").write_text("user,item,rating\n" + "".join(f"{k % 7},{k},{value(k)}\n" for k in range(60)))
    spec = {"datasets": [{"path": "own.csv"}], "stop": {"epochs": 1}, "algorithms": [{"name": "sgd_serial", "factors": 2}]}
    looked = mfbench("validate", "s.json", "--data", cwd=tmp_path, code=0, spec=spec).stderr
    mfbench("run", "s.json", "--out", "r", "--quiet", cwd=tmp_path, code=0, spec=spec)
    footer = json.loads(next((tmp_path / "r").glob("*.jsonl")).read_text().splitlines()[-1])
    warned = " ".join(footer.get("warnings", []))
    if words is None:
        assert not looked and not warned
    else:
        assert words in warned and "implicit feedback" in warned
        assert words.startswith("cannot") or (words in looked and "implicit feedback" in looked)
    spec["algorithms"] = [{"name": "ials_cpu", "factors": 2}]
    assert not mfbench("validate", "s.json", "--data", cwd=tmp_path, code=0, spec=spec).stderr
