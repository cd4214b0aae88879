"""Files of strangers: ids of every kind, packed and exported in every way. Each is read as its plain form is, or refused
with words that mend it."""

import gzip
import io
import json
import random
import re
import shlex
import subprocess
import tarfile
import zipfile

import pytest

DRAW = random.Random(11)
RATINGS = [(user, item, 1 + DRAW.randrange(5)) for user in range(1, 61) for item in sorted(DRAW.sample(range(1, 41), 15))]
LINES = [f"{u},{i},{r}" for u, i, r in RATINGS]
HEAD = "user,item,rating"


def text_of(lines, head=HEAD):
    return "\n".join([head, *lines] if head else lines) + "\n"


@pytest.fixture
def stats(mfbench, tmp_path):
    """The numbers of a file's text, and what is said beside them."""
    def run(name, content=None, *words, code=0):
        path = tmp_path / name
        if content is not None:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        done = mfbench("data", "stats", f"./{name}", *words, "--json", cwd=tmp_path, code=code)
        return (json.loads(done.stdout) if code == 0 else None), done.stderr
    return run


def is_plain(found):
    """Whether it is RATINGS, by integers or as text."""
    return (found["n_users"], found["n_items"], found["nnz"]) == (60, 40, 900) and \
        found["mean"] == pytest.approx(sum(r for _, _, r in RATINGS) / 900)


# ---- ids -------------------------------------------------------------------------------------------

@pytest.mark.parametrize("separator", [",", "\t", "::", " "])
@pytest.mark.parametrize("name", ["34041{0}X", "{0}b", "-{0}", "9876543210{0}", "18446744073709551{0}"])
def test_a_column_of_integers_that_meets_something_else_is_text(stats, separator, name):
    odd = [f"{u},{name.format(i) if i > 38 else i},{r}" for u, i, r in RATINGS]
    first = next(k for k, (_, i, _) in enumerate(RATINGS) if i > 38)
    found, said = stats("r.txt", text_of(odd, head="").replace(",", separator))
    assert is_plain(found) and (found["user_ids"], found["item_ids"]) == ("integers", "text")
    assert said.count("\n") == 1 and f"r.txt:{first + 1}:" in said
    assert f"items are text: '{name.format(RATINGS[first][1])}' is not an integer from 0 to 2147483647" in said


def test_both_columns_may_turn_out_to_be_text(stats):
    found, said = stats("r.csv", "user,item,rating\n1,2,3\n1,x,4\ny,2,5\n")
    assert (found["n_users"], found["n_items"], found["user_ids"], found["item_ids"]) == (2, 2, "text", "text")
    assert [line.split(":")[1:3] for line in said.splitlines()] == [[" ./r.csv", "3"], [" ./r.csv", "4"]]
    found, said = stats("lists.txt", "1 10 11 12 13\n2 10 B7\n", "--format", "lists")
    assert (found["nnz"], found["item_ids"]) == (6, "text") and "'B7'" in said


@pytest.mark.parametrize("lines, users", [(["007,1,3", "7,1,4"], 2), (["07,1,3", "007,1,4"], 2), (["007,1,3", "1234,1,4"], 2),
                                          (["0,1,3", "7,1,4"], 2), (["00,1,3", "0,1,4"], 2)])
@pytest.mark.parametrize("separator", [",", "\t", "::"])
def test_ids_with_zeros_in_front_are_text(stats, lines, users, separator):
    text = "\n".join(lines).replace(",", separator) + "\n"
    zeros = any(re.match("0[0-9]", line) for line in lines)
    found, said = stats("r.txt", text)
    assert (found["n_users"], found["user_ids"]) == (users, "text" if zeros else "integers")
    assert ("or has leading zeros" in said) == zeros
    if lines[0] == "007,1,3" and lines[1] == "1234,1,4":
        assert stats("r.txt", text, "--ids", "integers")[0]["user_ids"] == "integers"


@pytest.mark.parametrize("odd, words", [("5.0", "write it as 5"), ("NaN", "take lines without a user or an item out"),
                                        ("", "found ','"), ('"1,234"', "take a comma between thousands out"),
                                        ("\ufeff3", "take this byte order mark out")])
def test_a_slip_in_a_column_of_integers_is_no_name(stats, odd, words):
    _, said = stats("r.csv", f"user,item,rating\n1,2,3\n{odd},2,3\n", code=3)
    assert "r.csv:3:1: " in said and words in said


def test_parts_have_one_kind_of_ids(mfbench, tmp_path):
    (tmp_path / "train.csv").write_text("user,item,rating\n10,1,5\n9,1,4\n9,2,3\n")
    (tmp_path / "test.csv").write_text("user,item,rating\n9,4,1\n9,B1,2\n")
    done = mfbench("data", "import", "parts", "--train", "train.csv", "--test", "test.csv", cwd=tmp_path, code=0)
    assert "parts: 2 users, 4 items, 5 ratings" in done.stdout
    assert "test.csv:3:3: items are text" in done.stderr and "train.csv: items are text, as in test.csv" in done.stderr
    found = json.loads(mfbench("data", "stats", "parts", "--json", cwd=tmp_path, code=0).stdout)
    assert (found["user_ids"], found["item_ids"]) == ("integers", "text")


# ---- lines that are no ratings -----------------------------------------------------------------------

@pytest.mark.parametrize("name, before, kind", [
    ("comment.csv", "# exported 2024-01-01\n# rows: 900\n", "passed over 2 lines before the ratings, the first of them '# exported"),
    ("blank.csv", "\n\r\n", "passed over 2 lines before the ratings, the first of them ''"),
    ("sep.csv", "sep=,\n", "passed over 1 line before the ratings, the first of them 'sep=,'"),
    ("slashes.csv", "// made by hand\n\n", "passed over 2 lines before the ratings, the first of them '// made by hand'"),
    ("plain.csv", "", "")])
def test_lines_before_the_header_are_passed_over_and_named(stats, name, before, kind):
    found, said = stats(name, before + text_of(LINES))
    assert is_plain(found) and kind in said and bool(said) == bool(kind)
    _, said = stats(name, before + text_of(["1,2,x", *LINES]), code=3)
    assert f"{name}:{before.count(chr(10)) + 2}:5: found 'x'" in said  # the line of the file


@pytest.mark.parametrize("head", ["//userID\tartistID\tweight", "#user\titem\trating", "# user item rating"])
def test_a_header_behind_the_mark_of_a_comment_is_one(stats, head):
    separator = "\t" if "\t" in head else " "
    found, said = stats("plain.dat", text_of(LINES, head="").replace(",", separator))
    marked, told = stats("r.dat", text_of([line.replace(",", separator) for line in LINES], head))
    assert is_plain(found) and is_plain(marked) and not said and not told


@pytest.mark.parametrize("odd, words", [
    (HEAD, "found the first line once more, 'user,item,rating'"), ("# half", "found a comment, '# half'"),
    ("", "found a blank line")])
def test_lines_among_the_ratings_are_named_for_what_they_are(stats, odd, words):
    _, said = stats("r.csv", text_of([*LINES[:450], odd, *LINES[450:]]), code=3)
    assert f"r.csv:452:1: {words}" in said and "take the line out" in said
    named = [f"u{line}" for line in LINES]
    _, said = stats("r.csv", text_of([*named[:450], odd, *named[450:]]), code=3)
    assert "r.csv:452:" in said and words in said


# ---- characters ----------------------------------------------------------------------------------------

def mended(said, folder):
    """Runs the command that a message ends with."""
    command = said.strip().rsplit("; ", 1)[1]
    subprocess.run(command, shell=True, cwd=folder, check=True)
    return shlex.split(command)[-1]


@pytest.mark.parametrize("content, words", [
    (text_of(LINES).encode("utf-16"), "text in UTF-16"), (b"\xfe\xff" + text_of(LINES).encode("utf-16-be"), "text in UTF-16"),
    (text_of(LINES).replace("\n", "\r").encode(), "lines that end in a carriage return only")],
    ids=["little", "big", "return"])
def test_what_is_no_lines_of_utf8_is_named_with_the_command_that_mends_it(stats, tmp_path, content, words):
    _, said = stats("of mine.csv", content, code=3)
    assert words in said
    found, said = stats(mended(said, tmp_path))
    assert is_plain(found)


def test_utf8_is_printed_as_it_is(stats):
    _, said = stats("r.csv", "user,item,rating\n1,2,größer als 日本\n", code=3)
    assert "found 'größer'" in said
    _, said = stats("r.csv", b"user,item,rating\n1,2,\xe9\n", code=3)
    assert r"found '\xe9'" in said


# ---- formats -----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("lines", ["{} {} {} {}", "{}  {}\t{}   {} ", "  {} {} {} {}.25"])
def test_triples_may_have_a_time(mfbench, stats, tmp_path, lines):
    text = "".join(lines.format(u, i, r, 1_600_000_000 + k) + "\n" for k, (u, i, r) in enumerate(RATINGS))
    found, said = stats("timed.txt", text)
    assert is_plain(found) and not said
    spec = {"datasets": [{"path": "timed.txt", "split": {"leave_last": 1}}], "stop": {"epochs": 1},
            "algorithms": [{"name": "sgd_serial", "factors": 2}]}
    mfbench("run", "s.json", "--out", "r", "--quiet", cwd=tmp_path, code=0, spec=spec)
    header = json.loads(next((tmp_path / "r").glob("*.jsonl")).read_text().splitlines()[0])["dataset"]
    assert (header["nnz_train"], header["nnz_test"]) == (840, 60)


REVIEWS = {
    "amazon": lambda u, i, r: {"reviewerID": f"A{u}", "asin": f"{i:010}", "reviewText": 'so "good",\nif odd {', "overall": float(r),
                               "unixReviewTime": 1_300_000_000, "helpful": [0, 1]},
    "yelp": lambda u, i, r: {"review_id": "x", "user_id": f"ü-{u}", "business_id": f"b,{i}", "stars": r, "date": "2018-07-07 22:09:11"},
    "numbers": lambda u, i, r: {"user": u, "item": str(i), "rating": f"{r}"}}


@pytest.mark.parametrize("layout", REVIEWS)
def test_json_lines_are_read_by_their_keys(stats, layout):
    text = "".join(json.dumps(REVIEWS[layout](*one), ensure_ascii=False) + "\n" for one in RATINGS)
    found, said = stats("reviews.json", text)
    assert is_plain(found)
    assert (found["user_ids"] == "text") == (layout != "numbers")
    _, said = stats("reviews.json", text + '{"user": 1}\n', code=3)
    assert "reviews.json:901:1: found no value of '" in said
    _, said = stats("reviews.json", text + text[:20] + "\n", code=3)
    assert "reviews.json:901:1: found '" in said and "an object of JSON on one line" in said


def test_json_lines_with_other_keys_take_columns(mfbench, stats, tmp_path):
    text = "".join(json.dumps({"who": u, "what": i, "stars": r, "score": 9}) + "\n" for u, i, r in RATINGS)
    _, said = stats("r.jsonl", text, code=3)
    assert "with --columns which they are" in said
    assert is_plain(stats("r.jsonl", text, "--columns", "user=who,item=what,rating=stars")[0])


@pytest.mark.parametrize("key", ["user:a,b", 'user:"x"', "user:\nitem,rating"])
def test_a_key_of_json_is_one_column_whatever_is_in_it(stats, key):
    text = "".join(json.dumps({key: u, "item": i, "rating": r}) + "\n" for u, i, r in RATINGS)
    assert is_plain(stats("r.jsonl", text)[0])


def test_objects_of_python_and_arrays_are_mended_by_the_command_that_is_named(stats, tmp_path):
    objects = [{"username": f"u{u}", "product_id": str(i), "hours": float(r), "early": True, "found": None} for u, i, r in RATINGS]
    _, said = stats("steam.json", "".join(f"{one}\n" for one in objects), code=3)
    command = said.strip().split("makes JSON of them: ", 1)[1]
    text = subprocess.run(command, shell=True, input="".join(f"{one}\n" for one in objects), capture_output=True, text=True, check=True)
    assert is_plain(stats("steam.jsonl", text.stdout)[0])
    _, said = stats("array.json", json.dumps(objects), code=3)
    assert "an array of JSON" in said and "jq -c '.[]' < ./array.json > ./mended-array.json" in said


def test_packed_text_is_unpacked_by_the_command_that_mends_it(stats, tmp_path):
    _, said = stats("r.csv.gz", gzip.compress(text_of(LINES).encode("utf-16")), code=3)
    subprocess.run(said.strip().split("; ", 1)[1], shell=True, cwd=tmp_path, check=True)
    assert is_plain(stats("mended-r.csv", (tmp_path / "mended-r.csv").read_text())[0])


def tar_of(members, mode="w:gz"):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode=mode) as archive:
        for name, text in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    return content.getvalue()


def zip_of(members):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return content.getvalue()


PLAIN = text_of(LINES).encode()
MAC = {"__MACOSX/._mine.csv": b"\0\5\26\7", ".DS_Store": b"\0\0\0\1", "a/._mine.csv": b"\0"}
MOVIELENS = {"ml/README.txt": b"no ratings", "ml/movies.dat": b"1::Toy Story::Comedy\n",
             "ml/ratings.dat": text_of(LINES, head="").replace(",", "::").encode()}


@pytest.mark.parametrize("name, content", [
    ("mine.tar.gz", tar_of({"a/mine.csv": PLAIN})), ("mine.tar", tar_of({"mine.csv": PLAIN}, "w")),
    ("mine.tar.xz", tar_of({"mine.csv": PLAIN, "._mine.csv": b"\0"}, "w:xz")), ("ml.tgz", tar_of(MOVIELENS)),
    ("mac.zip", zip_of({"a/mine.csv": PLAIN, **MAC})), ("ml.zip", zip_of(MOVIELENS)), ("mine.csv.gz", gzip.compress(PLAIN))],
    ids=lambda one: one if isinstance(one, str) else "bytes")  # which hold the time
def test_archives_are_unpacked(mfbench, stats, tmp_path, name, content):
    if not json.loads(mfbench("doctor", "--json", cwd=tmp_path, code=0).stdout)["build"]["libarchive"].startswith("yes"):
        pytest.skip("this build unpacks nothing")
    found, said = stats(name, content)
    assert is_plain(found) and not said
    assert is_plain(stats(name)[0])  # from the cache


def test_an_archive_or_a_folder_of_several_files_is_refused_unless_one_has_ratings(mfbench, stats, tmp_path):
    _, said = stats("two.zip", zip_of({"a.csv": PLAIN, "b.csv": PLAIN, **MAC}), code=3)
    assert "an archive of 2 files" in said and "unpack it and name the file" in said
    folder = tmp_path / "ml"
    folder.mkdir()
    for name, content in MOVIELENS.items():
        (tmp_path / name).write_bytes(content)
    assert is_plain(stats("ml")[0])
    (folder / "u.data").write_text("1\t2\t3\n")
    assert "ml: found a directory without a known set of ratings" in stats("ml", code=3)[1]


# ---- one set of options -----------------------------------------------------------------------------------------

def test_the_same_options_go_to_each_command_that_reads_ratings(mfbench, tmp_path):
    (tmp_path / "names.csv").write_text(text_of([*LINES, "1,2,0", "60,41,0", *LINES[:3]], "reader,title,rating"))
    words = ["--columns", "user=reader,item=title", "--ids", "text", "--format", "csv", "--duplicates", "max", "--unrated", "0",
             "--min-rating", "2"]
    kept = sum(r >= 2 for _, _, r in RATINGS)
    found = json.loads(mfbench("data", "stats", "names.csv", *words, "--json", cwd=tmp_path, code=0).stdout)
    assert (found["nnz"], found["duplicate_policy"], found["user_ids"]) == (kept, "max", "text")
    mfbench("data", "import", "kept", "names.csv", *words, cwd=tmp_path, code=0)
    assert json.loads(mfbench("data", "stats", "kept", "--json", cwd=tmp_path, code=0).stdout)["nnz"] == kept
    spec = {"datasets": ["names.csv"], "stop": {"epochs": 1}, "algorithms": [{"name": "ials_cpu", "factors": 2}]}
    mfbench("validate", "s.json", "--data", cwd=tmp_path, code=3, spec=spec)
    mfbench("validate", "s.json", "--data", *words, cwd=tmp_path, code=0)
    for wrong in (["--ids", "names"], ["--duplicates", "first"], ["--columns", "who"], ["--value", "binary"]):
        for command in (["data", "stats"], ["data", "import", "x"], ["race"], ["validate"]):
            mfbench(*command, "s.json" if command == ["validate"] else "names.csv", *wrong, cwd=tmp_path, code=2)


def race(mfbench, tmp_path, what, *words, code=0):
    """The spec that a race has written, of a program without mfplots, and its output."""
    done = mfbench("race", what, *words, "--time", "1", "--out", "out", cwd=tmp_path,
                   env={**mfbench.environment(), "PYTHON": "/bin/false"})
    if code:
        assert done.returncode == code, done.stdout + done.stderr
        return None, done
    return json.loads((tmp_path / "out/race.json").read_text())["datasets"], done


def test_race_writes_the_options_into_its_spec(mfbench, tmp_path):
    (tmp_path / "names.csv").write_text(text_of(LINES, "reader,title,rating"))
    _, refused = race(mfbench, tmp_path, "names.csv", code=3)
    assert "say with --columns which they are" in refused.stderr
    (entry,), done = race(mfbench, tmp_path, "names.csv", "--columns", "user=reader,item=title", "--ids", "text")
    assert entry["columns"] == {"user": "reader", "item": "title"} and entry["ids"] == "text"
    assert "60 users, 40 items, 900 ratings" in done.stdout


def test_race_takes_a_data_set_as_a_spec_has_it(mfbench, tmp_path):
    (tmp_path / "twice.csv").write_text(text_of([*LINES, *LINES[:9]]))
    data = {"path": "twice.csv", "duplicates": "max", "label": "mine"}
    (entry,), done = race(mfbench, tmp_path, json.dumps(data))
    assert entry == data and "9 pairs with more than one rating" in done.stdout
    _, refused = race(mfbench, tmp_path, '{"path": "twice.csv", "idz": 1}', code=2)
    assert "the data set" in refused.stderr and 'did you mean "ids"' in refused.stderr


def test_a_file_of_json_lines_is_raced_though_specs_have_its_ending(mfbench, tmp_path):
    (tmp_path / "yelp.json").write_text("".join(json.dumps(REVIEWS["yelp"](*one)) + "\n" for one in RATINGS))
    _, done = race(mfbench, tmp_path, "yelp.json")
    assert "60 users, 40 items, 900 ratings, taken for stars" in done.stdout


def test_messages_of_a_spec_name_its_keys(mfbench, tmp_path):
    (tmp_path / "twice.csv").write_text("reader,title,rating\n1,2,3\n1,2,4\n")
    spec = {"datasets": ["twice.csv"], "stop": {"epochs": 1}, "algorithms": ["sgd_serial"]}
    said = mfbench("validate", "s.json", "--data", cwd=tmp_path, code=3, spec=spec).stderr
    assert "say with columns which they are" in said and "--columns" not in said
    spec["datasets"] = [{"path": "twice.csv", "columns": {"user": "reader", "item": "title"}}]
    said = mfbench("validate", "s.json", "--data", cwd=tmp_path, code=3, spec=spec).stderr
    assert 'set duplicates to "last", "mean", "sum" or "max"' in said
    said = mfbench("data", "import", "x", "twice.csv", "--columns", "user=reader,item=title", cwd=tmp_path, code=3).stderr
    assert "give --duplicates last, mean, sum or max" in said


# ---- values ------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("value, remarked", [("6.170", True), ("1.5", False), ("6170", False)])
def test_points_that_may_divide_thousands_are_pointed_out(stats, value, remarked):
    lines = [f"{u};{i};{1 + k % 5}.{100 + k}" if remarked else f"{u};{i};{value}" for k, (u, i, _) in enumerate(RATINGS[:800])]
    found, _ = stats("european.csv", text_of(lines, "user;item;plays"))
    assert ("if its point divides thousands, take the point out" in found["columns"]) == remarked


def test_pairs_with_true_and_false_are_no_pairs_unless_it_is_said(stats):
    text = "user,item,liked\n1,2,True\n1,3,False\n"
    _, said = stats("liked.csv", text, "--format", "pairs", code=3)
    assert "true or false beside the pairs" in said and "write 1 and 0 as ratings" in said
    assert stats("liked.csv", text, "--format", "pairs", "--columns", "user=user,item=item")[0]["nnz"] == 2
    mended = text.replace("True", "1").replace("False", "0")
    assert stats("liked.csv", mended, "--columns", "rating=liked")[0]["mean"] == 0.5


def test_a_header_once_more_is_no_pair_of_names(stats):
    _, said = stats("p.csv", "user,item\nann,x\nuser,item\nbob,y\n", "--format", "pairs", code=3)
    assert "p.csv:3:1: found the first line once more" in said
