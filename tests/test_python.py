"""The Python package: data in every form, results as frames, models that give one's own ids back."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import pytest

from python_api import ROOT, SPEC, frame, headline, mfbench, np, pd, place, run  # noqa: F401

from mfbench import call, progress, tables


# ---- data in every form ---------------------------------------------------------------------------

def of_text(frame):
    """Names that are in the order of the numbers, so that the dense matrix is the same."""
    return frame.assign(userId=frame.userId.map("reader {:03}".format), movieId=frame.movieId.map("book ü{:03}".format))


def as_csr(frame):
    sparse = pytest.importorskip("scipy.sparse")
    return sparse.csr_matrix((frame.rating, (frame.userId, frame.movieId)))


def as_coo(frame):
    sparse = pytest.importorskip("scipy.sparse")
    return sparse.coo_matrix((frame.rating, (frame.userId, frame.movieId)))


def as_arrow(frame):
    return pytest.importorskip("pyarrow").Table.from_pandas(frame)


def as_polars(frame):
    pytest.importorskip("pyarrow")
    return pytest.importorskip("polars").DataFrame({name: frame[name].to_list() for name in frame})


class Spark:
    """A frame with PySpark's way to pandas."""

    def __init__(self, frame):
        self.toPandas = lambda: frame


class Modin:
    """A frame with the interchange protocol only."""

    def __init__(self, frame):
        self.__dataframe__ = frame.__dataframe__


def as_file(frame, name):
    pytest.importorskip("pyarrow")
    frame.to_parquet(name) if name.endswith("parquet") else frame.to_feather(name)
    return pathlib.Path(name)


FORMS = {
    "pandas": lambda frame: frame,
    "other order of columns": lambda frame: frame[["timestamp", "rating", "movieId", "userId"]],
    "any index": lambda frame: frame.set_index(frame.rating.rank(method="first") * 7),
    "floats as ids": lambda frame: frame.astype({"userId": float}),
    "nullable": lambda frame: frame.astype({"userId": "Int64", "rating": "Float64"}),
    "few bits": lambda frame: frame.astype({"userId": "uint8", "movieId": "int16", "rating": "int8"}),
    "objects": lambda frame: frame.astype({"userId": object}),
    "text": of_text,
    "categories": lambda frame: of_text(frame).astype({"userId": "category", "movieId": "category"}),
    "categories of integers": lambda frame: frame.astype({"userId": "category"}),
    "large ids": lambda frame: frame.assign(userId=frame.userId + 10**15),
    "csr": as_csr,
    "arrow": as_arrow,
    "arrow text": lambda frame: as_arrow(of_text(frame)),
    "polars": as_polars,
    "spark": Spark,
    "modin": lambda frame: Modin(of_text(frame)),
    "polars text": lambda frame: as_polars(of_text(frame)),
    "parquet": lambda frame: as_file(of_text(frame), "ratings.parquet"),
    "feather": lambda frame: as_file(frame, "ratings.feather"),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_the_file_of_csv(place, frame, form):
    if not pathlib.Path("ratings.csv").exists():  # written anew, it would be warned of
        frame.to_csv("ratings.csv", index=False)
    expected = headline(None, "ratings.csv")
    assert headline(None, FORMS[form](frame)) == expected


def test_a_table_stands_in_an_entry_with_its_keys(place, frame):
    named = frame.rename(columns={"userId": "who", "rating": "grade"})
    entry = {"path": named, "columns": {"user": "who", "rating": "grade"}, "label": "mine",
             "implicit": {"min_rating": 4}}
    cases = run({"datasets": [entry], "algorithms": ["ials_cpu"]}).all.cases
    assert cases["nnz_train"].iloc[0] + cases["nnz_test"].iloc[0] == (frame.rating >= 4).sum()
    assert "columns" in entry and entry["path"] is named  # what the caller has stays as it is


@pytest.mark.parametrize("split", [{"by_time": 0.8}, {"leave_last": 1}])
def test_splits_by_time_take_the_times_of_a_table(place, frame, split):
    seconds = np.random.default_rng(5).permutation(len(frame)) + 10**9
    timed = frame.assign(timestamp=seconds)
    if not pathlib.Path("timed.csv").exists():
        timed.to_csv("timed.csv", index=False)
    dates = pd.to_datetime(pd.Series(seconds, index=timed.index), unit="s")
    forms = [timed, timed.assign(timestamp=dates),
             timed.assign(timestamp=dates.dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")),
             timed.assign(timestamp=dates.dt.strftime("%Y-%m-%d %H:%M:%S"))]
    found = [run({"split": split}, data).all.cases.iloc[0] for data in ["timed.csv", *forms]]
    assert len({(case["headline"], case["test_from"], case["nnz_test"]) for case in found}) == 1
    half = run({"split": split}, timed.assign(timestamp=seconds + 0.5)).all.cases.iloc[0]
    assert (half["headline"], half["nnz_test"]) == (found[0]["headline"], found[0]["nnz_test"])
    named = {"path": timed.rename(columns={"timestamp": "seen"}), "columns": {"time": "seen"}, "split": split}
    assert run({"datasets": [named]}).all.cases["headline"].iloc[0] == found[0]["headline"]


@pytest.mark.parametrize("form", ["dates", "float seconds", "text"])
def test_fractions_of_a_second_decide_which_rating_is_the_last(place, frame, form):
    milliseconds = np.random.default_rng(6).permutation(len(frame)) + 1_593_878_903_000
    dates = pd.Series(pd.to_datetime(milliseconds, unit="ms"), index=frame.index)
    forms = {"dates": dates, "float seconds": milliseconds / 1000, "text": dates.dt.strftime("%Y-%m-%d %H:%M:%S.%f")}
    exact = run({"split": {"leave_last": 1}}, frame.assign(timestamp=milliseconds)).all.cases.iloc[0]
    found = run({"split": {"leave_last": 1}}, frame.assign(timestamp=forms[form])).all.cases.iloc[0]
    assert found["headline"] == exact["headline"]


def test_times_are_not_looked_at_without_a_split_by_time(place, frame):
    assert headline(None, frame.assign(timestamp="soon")) == headline(None, frame)
    for data, words in [(frame.assign(timestamp="soon"), "for the time, expected numbers or dates"),
                        (frame.assign(timestamp=np.inf), "infinite or beyond 64 bits"),
                        (frame.assign(timestamp=pd.Series([None] * len(frame), dtype="float64")), "row 0: the time is missing"),
                        (frame.drop(columns="timestamp"), "expected a time of each rating")]:
        with pytest.raises(mfbench.Error, match=words):
            run({"split": {"by_time": 0.8}}, data)


def test_pairs_have_no_rating(place, frame):
    pairs = frame[["userId", "movieId"]]
    assert headline(None, pairs) == headline({"datasets": [{"path": frame, "format": "pairs"}]})


def test_parts_of_ones_own_and_several_sets(place, frame):
    cases = run({"datasets": [{"train": frame[:1000], "test": frame[1000:]}]}).all.cases
    assert list(cases["nnz_train"]) == [1000]
    frame[1000:].to_csv("held_out.csv", index=False)
    mixed = run({"datasets": [{"train": frame[:1000], "test": pathlib.Path("held_out.csv")}]}).all.cases
    assert list(mixed["nnz_test"]) == [200]
    several = run({"name": "several"}, {"a": frame, "b": frame[:900]})
    assert sorted(several.cases["dataset"]) == ["a", "b"]


WRONG = {
    "a fraction": (lambda f: f.assign(userId=f.userId + 0.5), "row 0: found the user"),
    "a missing user": (lambda f: f.assign(userId=f.userId.where(f.index != 3)), "row 3: the user is missing"),
    "a missing rating": (lambda f: f.assign(rating=f.rating.where(f.index != 5)), "row 5: the rating is missing"),
    "complex ratings": (lambda f: f.assign(rating=f.rating + 1j), "column of complex128 for the rating, expected numbers"),
    "a text for a rating": (lambda f: f.assign(rating="x"), "expected numbers"),
    "mixed ids": (lambda f: f.assign(userId=[7] + ["a"] * (len(f) - 1)), "row 0: found the user 7"),
    "two lines": (lambda f: f.assign(movieId="a\nb"), r"row 0: found the item 'a\nb'"),
    "a blank": (lambda f: f.assign(movieId=" x"), "item_names.txt:1: found ' x'"),
    "truth values": (lambda f: f.assign(userId=True), "column of bool for the user"),
    "dates": (lambda f: f.assign(userId=np.datetime64(0, "ns")), "column of datetime64[ns] for the user"),
    "no user": (lambda f: f.rename(columns={"userId": "w"}), "data: found the columns w, movieId, rating, timestamp"),
    "no rating": (lambda f: f.drop(columns="rating").assign(x=1), 'say "format": "pairs"'),
    "twice": (lambda f: pd.concat([f, f]), 'set duplicates to "last"'),
    "twice in a matrix": (lambda f: as_coo(pd.concat([f, f[:30]])), "(30 such pairs in all), expected every pair once"),
    "nothing": (lambda f: f[:0], "found no ratings"),
    "a list": (lambda f: [1, 2], "found list, expected a data frame"),
    "a lazy frame": (lambda f: pytest.importorskip("polars").LazyFrame(f.to_dict("list")), "collect() makes one of it"),
    "no file": (lambda f: "none.csv", "none.csv: no such file"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_with_data_is_said(place, frame, case):
    make, words = WRONG[case]
    with pytest.raises(mfbench.Error) as found:
        run(None, make(frame))
    assert words in str(found.value)


def test_counts_that_an_algorithm_of_ratings_trains_on_are_a_warning(place, frame):
    with pytest.warns(UserWarning, match="the values look like counts, which are implicit feedback"):
        run({"name": "counts"}, frame.assign(rating=np.where(frame.index % 9, 1, 1000)))


def test_a_matrix_with_pairs_twice_is_summed_only_where_asked(place, frame):
    matrix = as_coo(pd.concat([frame, frame[:30]]))
    cases = run({"datasets": [{"path": matrix, "duplicates": "sum"}]}).all.cases
    assert list(zip(cases["duplicate_pairs"], cases["duplicate_policy"])) == [(30, "sum")]


def test_a_parquet_file_that_is_none(place):
    pytest.importorskip("pyarrow")
    pathlib.Path("bad.parquet").write_text("no")
    for name, words in [("bad.parquet", "bad.parquet: "), ("none.parquet", "none.parquet: no such file")]:
        with pytest.raises(mfbench.Error, match=words):
            run(None, name)


def test_the_same_table_is_written_once_and_another_is_other_data(place, frame):
    first = tables.hand_over(frame)[0]
    before = {path: path.stat().st_mtime_ns for path in first.iterdir()}
    assert tables.hand_over(frame.copy())[0] == first
    assert {path: path.stat().st_mtime_ns for path in first.iterdir()} == before
    assert tables.hand_over(frame.assign(rating=frame.rating + 1))[0] != first
    assert tables.hand_over(of_text(frame))[0] != first
    assert not [path for path in first.parent.iterdir() if path.name.startswith(".")]


# ---- runs ------------------------------------------------------------------------------------------

def test_what_has_a_result_is_not_run_again(place, frame):
    folder = run({"name": "again"}, frame).paths[0]
    (file,) = folder.glob("*.jsonl")
    before = file.stat().st_mtime_ns
    run({"name": "again"}, frame)
    assert file.stat().st_mtime_ns == before
    run({"name": "again"}, frame, rerun=True)
    assert file.stat().st_mtime_ns != before


def test_an_interrupted_run_ends_the_program_and_goes_on(place, frame):
    spec = {"name": "cut", "stop": {"epochs": 4}, "seeds": [1, 2]}

    def at_the_first_point(line):
        if line["type"] == "trace":
            raise KeyboardInterrupt

    path = pathlib.Path("cut.json")
    data = tables.hand_over(frame)[0]
    path.write_text(json.dumps({**SPEC, **spec, "stop": {"epochs": 10**9}, "datasets": [{"path": str(data)}]}))
    with pytest.raises(KeyboardInterrupt):
        call.lines("run", path, "--json", hear=at_the_first_point)
    assert set(mfbench.load("results/runs/cut").cases["status"]) <= {"interrupted", "missing", "unfinished"}
    assert set(run(spec, frame).cases["status"]) == {"completed"}


def test_a_program_that_is_killed_is_an_exception(place, frame):
    def kill(line):
        children = pathlib.Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
        for one in children:
            if b"killed.json" in pathlib.Path(f"/proc/{one}/cmdline").read_bytes():
                os.kill(int(one), signal.SIGKILL)

    data = tables.hand_over(frame)[0]
    pathlib.Path("killed.json").write_text(json.dumps(
        {**SPEC, "stop": {"epochs": 10**9}, "datasets": [{"path": str(data)}]}))
    with pytest.raises(mfbench.ProgramError) as found:
        call.lines("run", "killed.json", "--json", hear=kill)
    assert found.value.code == -signal.SIGKILL and str(found.value)


def test_refusals_carry_what_the_program_says(place, frame):
    with pytest.raises(mfbench.ProgramError) as found:
        run({"algorithms": ["sgd_serail"]}, frame)
    assert found.value.code == 2
    assert str(found.value).startswith('api.json: $.algorithms[0].name: there is no algorithm "sgd_serail", did you mean')
    with pytest.raises(mfbench.Error, match="run: no keyword 'rerum'; did you mean \"rerun\"[?] .put keys of a spec into the spec: .*factors"):
        run(None, frame, rerum=True)
    for spec, words in [(["sgd_serial"], "run: found list, expected the path of a spec or a dictionary"), (None, "found NoneType")]:
        with pytest.raises(mfbench.Error, match=words):
            mfbench.run(spec, frame)
    cyclic = {}
    with pytest.raises(mfbench.Error, match="Circular reference detected; expected what JSON knows"):
        run({"description": cyclic.setdefault("itself", cyclic)}, frame)
    with pytest.raises(mfbench.Error, match="expected what JSON knows"):
        run({"seeds": {1, 2}}, frame)
    for text, words in [("[]", "expected an object"), ("{", "no JSON")]:
        pathlib.Path("bad.json").write_text(text)
        with pytest.raises(mfbench.Error, match=words):
            mfbench.run("bad.json")
    with pytest.raises(mfbench.Error, match="nowhere.json: No such file"):
        mfbench.run("nowhere.json")


def test_warnings_are_warnings(place, frame):
    with pytest.warns(UserWarning, match=r"^warned.json: .*stand there twice; each runs once"):
        run({"name": "warned", "algorithms": ["als_cpu", "als_cpu"]}, frame)


def test_a_file_with_comments_is_a_spec(place, frame):
    pathlib.Path("written.json").write_text('{"stop": {"epochs": 2}, // two\n"description": "a // b", /* one */ '
                                            '"algorithms": ["sgd_serial"]}')
    results = mfbench.run("written.json", frame, progress=False)
    assert results.paths == [pathlib.Path("results/runs/written")] and list(results.cases["epochs"]) == [2]


def test_progress_is_a_line_a_case(place, frame, capsys):
    mfbench.run({**SPEC, "name": "shown", "seeds": [1, 2]}, frame)
    said = capsys.readouterr().err.splitlines()
    assert [line.split("]")[0] for line in said] == ["[1/2", "[2/2"], said
    assert all(re.search("  (completed|contended)", line) for line in said), said
    mfbench.run({**SPEC, "name": "shown", "seeds": [1, 2]}, frame, rerun=True, progress=False)
    assert capsys.readouterr().err == ""


def test_progress_in_a_notebook_keeps_the_last_cases():
    shown = []

    class Handle:
        def update(self, what, raw):
            shown.append(what["text/plain"])

    def display(what, raw, display_id):
        shown.append(what["text/plain"])
        return Handle()

    show = progress.InNotebook(display)
    for count in range(1, 21):
        show([f"case {k}" for k in range(count)], "now")
    assert shown[0] == "case 0\nnow"
    assert shown[-1].splitlines() == ["(8 cases before)", *(f"case {k}" for k in range(8, 20)), "now"]


# ---- results ---------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def results(place, frame):
    spec = {"name": "race", "seeds": [1, 2, 3], "target_rmse": 1.6, "baseline": "sgd_serial", "stop": {"epochs": 5},
            "algorithms": [{"name": "sgd_serial", "factors": [2, 4]}, {"name": "als_cpu", "factors": 2}]}
    return run(spec, of_text(frame), save_model=True)


def test_frames_have_what_is_asked_first_and_all_on_request(results):
    assert 18 <= len(results.cases.columns) <= 25 and len(results.cases) == 9
    assert len(results.all.cases.columns) > 100
    assert set(results.cases["label"]) == {"sgd_serial factors=2", "sgd_serial factors=4", "als_cpu factors=2"}
    assert len(results.trace) == 9 * 6 and results.trace["test_rmse"].notna().all()
    assert len(results.trace.columns) <= 20 and "ndcg_100" not in results.trace
    assert set(results.trace["case_id"]) == set(results.cases["case_id"])


def test_curves_are_medians_over_the_seeds(results):
    curves = results.curves()
    of_one = curves[curves["label"] == "als_cpu factors=2"].set_index("epoch")
    by_hand = results.trace[results.trace["label"] == "als_cpu factors=2"].groupby("epoch")["test_rmse"]
    assert np.allclose(of_one["y"], by_hand.median()) and np.allclose(of_one["high"], by_hand.max())
    assert set(of_one["metric"]) == {"test_rmse"} and list(of_one["seeds"]) == [3] * 6
    by_epoch = results.curves(x="epoch", y="test_mae")
    assert set(by_epoch["metric"]) == {"test_mae"} and list(by_epoch.columns).count("epoch") == 1
    with pytest.raises(mfbench.Error, match="no clock or count 'trains'; did you mean \"train_s\""):
        results.curves(x="trains")
    with pytest.raises(mfbench.Error, match="test_rmse"):
        results.curves(y="test_rmsee")


def test_the_table_is_that_of_the_command_line(results):
    text = str(results)
    said = subprocess.run([mfbench.call.program.find(), "plot", "table", results.paths[0]], capture_output=True, text=True,
                          env=call.environment(), check=True).stdout
    assert text.strip() == said.strip()
    frame = results.table()
    assert list(frame["algorithm"].str.removesuffix(" †")) == ["sgd_serial factors=2", "sgd_serial factors=4", "als_cpu factors=2"]
    assert len(results) == 9
    cases = results.cases
    for _, row in frame.iterrows():
        own = cases[cases["label"] == row["algorithm"].removesuffix(" †")]["headline"]
        assert [row["value"], row["low"], row["high"]] == [own.median(), own.min(), own.max()]
        assert f"{row['value']:.4f} [{row['low']:.4f}, {row['high']:.4f}]" in text
        assert 0 < row["train_s"] <= row["answer_s"]
    numbers = frame.drop(columns=["dataset", "algorithm", "status", "metric"])
    assert all(pd.api.types.is_numeric_dtype(kind) for kind in numbers.dtypes)


def test_winners_are_those_with_the_best_median(results):
    (row,) = results.winners().to_dict("records")
    medians = results.cases.groupby("label")["headline"].median()
    assert row["best"].removesuffix(" †") == medians.idxmin() and row["value"] == medians.min()
    answers = results.cases.assign(at=results.cases["answer_to_target_s"].fillna(np.inf)).groupby("label")["at"].median()
    assert row["first"].removesuffix(" †") == answers.idxmin() and row["target"] == 1.6 and row["answer_s"] == answers.min()
    html = results._repr_html_()
    assert "<table" in html and row["best"] in html and "9 completed" in html
    assert results.winners(target=0.001).columns.tolist() == ["dataset", "best", "metric", "value"]  # which is never reached


def test_failures_are_shown_and_escaped(place, frame, tmp_path, monkeypatch):
    monkeypatch.setenv("MFBENCH_PEERS", str(tmp_path))  # where no library is
    results = run({"name": "failing", "algorithms": ["sgd_serial", {"name": "peer", "library": "libmf", "reg": 0.1}]}, frame)
    assert "skipped" in set(results.cases["status"])
    assert "libmf is not installed" in results._repr_html_()
    assert results.winners()["best"].iloc[0].removesuffix(" †") == "sgd_serial factors=100"


def test_figures_are_pictures(results, place):
    figure = results.figure()
    picture, size = figure._repr_png_()
    assert picture.startswith(b"\x89PNG") and 100 < size["width"] < 2000
    assert set(figure.numbers["series"]) == set(results.cases["label"])
    path = results.figure("quality-answer", x_scale="log").save("curves.svg")
    assert path == pathlib.Path("curves.svg") and path.read_text().startswith("<?xml")
    with pytest.raises(mfbench.Error, match='did you mean "quality-time"'):
        results.figure("qualty-time").numbers
    with pytest.raises(mfbench.Error, match="no key 'xscale'"):
        results.figure(xscale="log").numbers


def test_a_figure_is_shown_by_what_is_here(results, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    path = results.figure().show()
    assert opened == [path.as_uri()] and path.read_bytes().startswith(b"\x89PNG")


def test_the_version_is_that_of_the_program(place):
    assert call.program.text("--version").startswith(f"mfbench {mfbench.__version__}\n")


def test_a_folder_gives_the_same(results):
    again = mfbench.load(results.paths[0])
    pd.testing.assert_frame_equal(again.all.cases, results.all.cases)
    pd.testing.assert_frame_equal(again.trace, results.trace)
    with pytest.raises(mfbench.Error, match="no such file or folder"):
        mfbench.load("nowhere").cases


# ---- models ----------------------------------------------------------------------------------------

def scores(model, row):
    """By the equation."""
    return model.mean + model.user_bias[row] + model.item_bias + model.P[row] @ model.Q.T


def test_the_beginning_of_an_id_names_one_case(results):
    with pytest.raises(mfbench.Error, match="begins the ids of 3 cases"):
        results.model("als_cpu")
    with pytest.raises(mfbench.Error, match="no case 'x'; known: als_cpu"):
        results.model("x")
    with pytest.raises(mfbench.Error, match="no case 99"):
        results.model(99)
    model = results.model(0)
    assert model.folder.name == results.cases["case_id"][0] and model.P.shape == (60, 2) == (len(model.users), 2)


@pytest.mark.parametrize("change, clip", [(of_text, False), (lambda f: f.assign(userId=f.userId + 2**40), True)])
def test_predictions_are_those_of_the_equation(place, frame, change, clip):
    own = change(frame)
    entry = {"path": own, "rating_scale": {"min": 1, "max": 5}} if clip else {"path": own}
    model = run({"name": f"predicts-{clip}", "datasets": [entry], "evaluate": {"clip": clip}}, save_model=True).model(0)
    rows = [(row, item) for row in (0, 7, 30) for item in (1, 2)]
    found = model.predict([model.users[row] for row, _ in rows], [model.items[item] for _, item in rows])
    expected = np.array([scores(model, row)[item] for row, item in rows])
    assert found == pytest.approx(np.clip(expected, 1, 5) if clip else expected, abs=1e-5)
    assert model.predict(model.users[7], model.items[2]) == found[3]
    with pytest.raises(mfbench.ProgramError, match="the model knows no user"):
        model.predict("nobody" if change is of_text else 3, model.items[0])
    with pytest.raises(ValueError):
        model.predict([model.users[0]], list(model.items[:2]))


def test_similar_items_are_the_nearest_by_cosine(results):
    model = results.model(0)
    found = model.similar_items(model.items[4], k=3)
    lengths = np.linalg.norm(model.Q, axis=1)
    cosines = {model.items[i]: float(model.Q[4] @ model.Q[i] / lengths[4] / lengths[i]) for i in range(len(lengths)) if i != 4}
    assert list(found["item"]) == sorted(cosines, key=cosines.get, reverse=True)[:3]
    assert found["score"].tolist() == pytest.approx([cosines[item] for item in found["item"]], abs=1e-6)
    with pytest.raises(mfbench.Error, match="knows no item 'nothing'; it has 45 items"):
        model.similar_items("nothing")


@pytest.mark.parametrize("name, text", [
    ("model.json", "[]"), ("model.json", "{}"), ("model.json", "7"), ("P.npy", ""), ("P.npy", "no array"), ("Q.npy", "cut"),
    ("item_bias.npy", "pickle"), ("user_names.txt", "\udcff\n")])
def test_a_damaged_model_is_an_error_that_names_its_file(results, tmp_path, name, text):
    shutil.copytree(results.model(0).folder, tmp_path / "m")
    data = (tmp_path / "m" / name).read_bytes() if name.endswith(".npy") else b""
    (tmp_path / "m" / name).write_bytes(data[:-1] if text == "cut" else os.fsencode(text))
    if text == "pickle":
        np.save(tmp_path / "m" / name, np.array([{}]), allow_pickle=True)
    if name.endswith(".txt"):
        told = json.loads((tmp_path / "m/model.json").read_text())
        (tmp_path / "m/model.json").write_text(json.dumps({**told, "user_names": True}))
    with pytest.raises(mfbench.Error) as found:
        model = mfbench.Model(tmp_path / "m")
        print(model, model.P, model.Q, model.item_bias, model.users)
    assert str(found.value).startswith(f"{tmp_path / 'm' / name}: is damaged: found ")


def test_arrays_go_to_other_libraries_without_a_copy(results):
    model = results.model(0)
    before = (model.folder / "P.npy").read_bytes()
    shared = np.from_dlpack(model.P)
    assert np.shares_memory(shared, model.P)
    model.P[0] = 7  # a change stays in memory
    assert shared[0, 0] == 7 and (model.folder / "P.npy").read_bytes() == before
    torch = pytest.importorskip("torch")
    assert torch.from_dlpack(model.Q).data_ptr() == model.Q.ctypes.data


def test_a_model_is_read_by_any_path_of_its_folder(results, monkeypatch):
    model = results.model(0)
    users, folder = list(model.users), model.folder.resolve()
    monkeypatch.chdir(folder.parent)
    assert list(mfbench.Model(folder.name).users) == users


@pytest.mark.parametrize("change, kind", [(of_text, str), (lambda f: f, int),
                                          (lambda f: f.assign(userId=f.userId + 2**40, movieId=-1 - f.movieId), int)])
def test_ones_own_ids_come_back(place, frame, change, kind):
    own_frame = change(frame)
    model = run({"name": f"ids-{kind.__name__}-{own_frame.userId.max()}"}, own_frame, save_model=True).model(0)
    users, items = list(model.users), list(model.items)
    assert set(users) == set(own_frame.userId) and set(items) == set(own_frame.movieId)
    assert all(isinstance(one, kind) for one in np.array(users).tolist())
    user = own_frame.userId[0]
    best = model.recommend(user, 5)
    row = users.index(user)
    seen = set(own_frame.movieId[own_frame.userId == user]) - set(best["item"])
    ranked = [items[i] for i in np.argsort(-scores(model, row), kind="stable")]
    unseen = [item for item in ranked if item not in seen]
    assert list(best["item"]) == unseen[:5]
    assert np.allclose(best["score"], np.sort(-scores(model, row)[[items.index(i) for i in best["item"]]]) * -1, atol=1e-5)
    several = model.recommend([user, users[3]], k=2)
    assert list(several.columns) == ["user", "item", "score"] and list(several["user"]) == [user] * 2 + [users[3]] * 2
    assert several["item"].iloc[:2].tolist() == best["item"].iloc[:2].tolist()
    everybody = model.recommend(k=1)
    assert list(everybody["user"]) == users
    stranger = model.recommend(history={items[0]: 5, items[1]: 4}, k=3)
    assert len(stranger) == 3 and not {items[0], items[1]} & set(stranger["item"]) and set(stranger["item"]) <= set(items)
    assert len(model.recommend(history=[items[0]], k=2)) == 2
    with pytest.raises(mfbench.ProgramError) as found:
        model.recommend("nobody" if kind is str else 77)
    assert found.value.code == 3


@pytest.mark.parametrize("change", [lambda f: f, of_text, lambda f: f.assign(userId=f.userId + 10**15)])
def test_the_lists_of_a_model_have_the_metrics_of_its_run(place, frame, change):
    own, split = change(frame), {"leave_out": 2}
    found = run({"name": f"judged-{own.userId.max()}", "split": split, "algorithms": [{"name": "ials_cpu", "factors": 4}]},
                own, save_model=True)
    lists = found.model(0).recommend(k=45)
    judged = mfbench.evaluate(lists, own, split=split)
    assert judged.loc["ndcg_100", "value"] == found.all.trace["ndcg_100"].iloc[-1]
    assert judged.loc["ndcg_100", "low"] < judged.loc["ndcg_100", "value"] < judged.loc["ndcg_100", "high"]
    assert judged.attrs["users"] == 60 and judged.attrs["order"] == "by scores"
    ranked = mfbench.evaluate(lists[["user", "item"]], own, split=split, metrics="mrr_5", per_user="users.csv")
    assert ranked.loc["mrr_5", "value"] == pytest.approx(pd.read_csv("users.csv")["mrr_5"].mean(), rel=1e-12)


def test_no_saved_model_is_an_error_that_says_how(place, frame):
    with pytest.raises(mfbench.Error, match="save_model=True"):
        run({"name": "unsaved"}, frame).model(0)


# ---- the page --------------------------------------------------------------------------------------

def test_the_examples_of_the_page_run(place, frame, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    of_text(frame).to_csv("ratings.csv", index=False)
    page = (ROOT / "docs" / "python.md").read_text()
    examples = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
    assert len(examples) >= 3
    names = {}
    for example in examples:
        exec(compile(example, "docs/python.md", "exec"), names)
    assert pathlib.Path("curves.png").stat().st_size > 1000
    assert set(mfbench.load("results/runs/means").cases["status"]) == {"completed"}
    assert len(mfbench.load("results/runs/jobs")) == 4, "by an executor"
    assert "error" not in set(mfbench.load("results").cases["status"])


def test_the_command_of_a_package_is_the_program(place):
    environment = call.environment({"PYTHONPATH": os.pathsep.join(sys.path)})
    said = subprocess.run([sys.executable, "-m", "mfbench", "--version"], capture_output=True, text=True, env=environment,
                          check=True).stdout
    assert said.startswith("mfbench ")
    refused = subprocess.run([sys.executable, "-m", "mfbench", "describe", "nothing"], capture_output=True, text=True,
                             env=environment, check=False)
    assert refused.returncode == 2 and "nothing" in refused.stderr


def test_a_model_says_that_the_printed_quality_is_of_an_earlier_epoch(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    spec = {"name": "late", "datasets": [{"like": "ml-100k", "scale": 0.05}], "stop": {"epochs": 40},
            "split": {"holdout": 0.1, "validation": 0.1}, "schedule": {"learning_rate": 0.1},
            "algorithms": [{"name": "sgd_serial", "factors": 16, "reg": 0}]}
    results = mfbench.run(spec, save_model=True, progress=False)
    chosen = results.cases["headline_epoch"].iloc[0]
    assert 0 < chosen < 40
    with pytest.warns(UserWarning, match=rf"the model is of epoch 40, the last; the printed quality is of epoch {chosen:.0f}"):
        results.model(0)
