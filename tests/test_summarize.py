"""`mfbench summarize` and `ask`: every value of every committed result, what follows from it against
tests/number_sources.py, exit codes, and intervals against scipy."""

import csv
import importlib.util
import json
import math
import operator
import pathlib
import re
import subprocess

import number_sources
import pytest
from number_sources import PACKED, lines_of, packed_below, unpacked

ROOT = pathlib.Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "results" / "reference"
PAGE = ROOT / "docs" / "results.md"
PARAMETERS = ("params.", "schedule.", "init.", "stop.", "evaluate.", "split.")
# Where a table says more than the file: docs/reference/results.md.
DERIVED = ("baseline", "target_rmse", "target.metric", "target.value")


def flat(value, prefix):
    """{column: value} of what stands below a key."""
    if not isinstance(value, dict):
        return {prefix: value}
    return {name: leaf for key, inner in value.items()
            for name, leaf in flat(inner, f"{prefix}.{key}" if prefix else key).items()}


def expected_case(header, footer):
    """The columns by docs/results.md."""
    header, footer = dict(header), dict(footer)
    algorithm, dataset = dict(header.pop("algorithm")), dict(header.pop("dataset"))
    row = {"algorithm": algorithm.pop("name"), "dataset": dataset.pop("name")}
    row |= flat({f"work_{key}": value for key, value in header.pop("work_per_epoch").items()}, "")
    row |= flat({f"clock_{key}": value for key, value in footer.pop("clocks").items()}, "")
    for part in (algorithm, dataset, header.pop("environment"), header, footer):
        part.pop("type", None)
        part.pop("schema_version", None)
        row |= flat(part, "")
    return row


NUMBER = re.compile(r"[-+.0-9eE]*[0-9][-+.0-9eE]*")  # begins as a formula does, but is no formula


def check_cell(cell, value, where):
    if value is None:
        assert cell == "", where
    elif isinstance(value, bool):
        assert cell == str(value).lower(), where
    elif isinstance(value, list):
        assert json.loads(cell) == value, where
    elif isinstance(value, str):
        formula = value[:1] in tuple("=+-@") and not NUMBER.fullmatch(value)
        assert cell == "'" * formula + value, where
    else:
        assert type(value)(cell) == value, where  # to the last bit


def copy_of(folder, target):
    """Packed results as a folder; the ids of their cases."""
    head, cases = unpacked(folder.with_name(folder.name + PACKED))
    target.mkdir()
    (target / "spec.json").write_text(json.dumps(head))
    for path, lines in cases.items():
        (target / path.name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return head["cases"]


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def tables(mfbench, tmp_path_factory):
    """The tables of all committed results: cases as dictionaries, the trace as its columns and rows."""
    folder = tmp_path_factory.mktemp("tables")
    done = mfbench("summarize", REFERENCE, "--out", "cases.csv", "trace.csv", cwd=folder)
    assert done.returncode == 0 and "warning" not in done.stderr
    with open(folder / "trace.csv", newline="", encoding="utf-8") as file:
        columns, *points = csv.reader(file)
    return read(folder / "cases.csv"), {column: place for place, column in enumerate(columns)}, points


@pytest.fixture(scope="module")
def fields(mfbench, tmp_path_factory):
    """The table of fields by column: of cases, and of trace points."""
    known = json.loads(mfbench("schema", "results", cwd=tmp_path_factory.getbasetemp()).stdout)
    of_points = {field["column"] for field in known if "trace" in field["of"]}
    return [field for field in known if field["column"] not in of_points or field["of"] == "footer"], \
        [field for field in known if "trace" in field["of"]]


def number(cell):
    return float(cell) if cell else math.inf


def check_case(row, case, derived):
    """Every value of header and footer, and nothing else but what is derived."""
    expected = expected_case(case.header, case.footer)
    for column, value in expected.items():
        if column not in DERIVED and (value is not None or column in row):
            check_cell(row[column], value, (row["file"], column))
    filled = {column for column, cell in row.items() if cell and not column.startswith("at_frozen_targets.")}
    assert filled <= expected.keys() | derived | {"case", "schema_version", *DERIVED}
    assert row["folder"] == pathlib.Path(row["file"]).parent.name


def finite(point, key):
    return isinstance(point.get(key), (int, float)) and math.isfinite(point[key])


def check_quality(row, case):
    """The headline and what was seen, by docs/methodology.md; where they are of two epochs."""
    trial = case.header.get("trial") is not None
    keys = ["validation_rmse" if trial else "test_rmse", "ndcg_100", "objective"]
    key = next((key for key in keys if any(finite(point, key) for point in case.trace)), None)
    if key is None:
        assert row["headline"] == row["best_seen"] == "", row["file"]
        return False
    better = max if key == "ndcg_100" else min
    trained = [point for point in case.trace if point["epoch"] > 0]
    chooser = {"test_rmse": "validation_rmse", "ndcg_100": "validation_ndcg_100"}.get(key)
    judged = [point for point in trained if finite(point, chooser)]
    chosen = better(judged, key=lambda point: point[chooser]) if judged else case.trace[-1]
    if finite(chosen, key) and (chosen["epoch"] > 0 or case.footer.get("status") == "completed"):
        assert [float(row["headline"]), int(row["headline_epoch"])] == [chosen[key], chosen["epoch"]], row["file"]
        assert row["headline_chosen_by"] == (chooser if judged else "last epoch") and row["headline_metric"] == key
    else:
        assert row["headline"] == "", row["file"]
    seen = [point for point in trained if finite(point, key)]
    best = better(seen, key=lambda point: point[key]) if seen else None
    assert row["best_seen"] == "" if best is None else float(row["best_seen"]) == best[key], row["file"]
    on_test = case.header["schedule"].get("monitor") == "test" and not trial
    assert "schedule" not in json.loads(row["watched_test"]) or on_test, row["file"]
    return best is not None and best["epoch"] != chosen["epoch"]


def check_targets(row, case, lead):
    """What follows of the case by tests/number_sources.py; how often it reached its target."""
    if row["target.metric"] != "test_rmse":
        return 0
    found = [number_sources.at_target(case, float(row["target.value"]), key) for key in ("train_s", "epoch")]
    assert [number(row["train_to_target_s"]), number(row["epoch_at_target"])] == found, row["file"]
    assert number(row["answer_to_target_s"]) == pytest.approx(lead + found[0])
    return math.isfinite(found[0])


def test_every_committed_value_is_in_the_tables_and_what_follows_is_as_computed_independently(tables, fields):
    cases, place, points = tables
    derived = {field["column"] for field in fields[0] if field["of"].startswith("derived")}
    repeated = operator.itemgetter(*(place[column] for column in place if column.startswith(PARAMETERS)
                                     or column in ("case", "case_id")))
    of_case = operator.itemgetter(*(column for column in place if column.startswith(PARAMETERS)
                                    or column in ("case", "case_id")))
    rest, seen, reached, apart = iter(points), set(), 0, 0
    for count, row in enumerate(cases):
        path = pathlib.Path(row["file"])
        seen.add(path)
        assert int(row["case"]) == count
        case = number_sources.as_case(path, lines_of(path))
        check_case(row, case, derived)
        lead = number_sources.before_training(case)
        from_file = number_sources.before_training_from_file(case)
        assert row["file_to_model_summed"] == str(case.footer.get("file_to_model_s") is None).lower()
        reached += check_targets(row, case, lead)
        apart += check_quality(row, case)
        for line in case.trace:
            point = next(rest)
            for column, value in line.items():
                if column != "type":
                    check_cell(point[place[column]], value, (row["file"], line["epoch"], column))
            assert repeated(point) == of_case(row)
            assert math.isclose(number(point[place["answer_s"]]), lead + line["train_s"], rel_tol=1e-12)
            assert math.isclose(number(point[place["file_to_model_s"]]), from_file + line["train_s"], rel_tol=1e-12)
    assert next(rest, None) is None and reached > 500 and apart > 500 and len(seen) == len(cases) > 1000
    assert {path.parent for path in seen} == {one.with_name(one.name.removesuffix(PACKED)) for one in packed_below(REFERENCE)}


def test_the_tables_have_the_columns_of_the_fields(tables, fields):
    cases, place, _ = tables
    for columns, known, own in zip((list(cases[0]), list(place)), fields,
                                   (set(), {"case_id", "algorithm", "dataset", "seed"})):
        scalars = [field["column"] for field in known if field["type"] != "an object"]
        assert [column for column in columns if column in scalars and column not in own] == \
            [column for column in scalars if column not in own]
        objects = tuple(field["column"] + "." for field in [*fields[0]] if field["type"] == "an object")
        # A ranking metric may be of any part and number of ranks: fields have the usual ones.
        of_ranks = {column for column in columns if re.fullmatch(r"(validation_)?(recall|recall_of_all|ndcg)_\d+", column)}
        assert {column for column in columns if not column.startswith(objects)} - of_ranks == \
            {*scalars, *own, "case"} - of_ranks


def test_every_key_that_a_run_writes_is_a_field(mfbench, tmp_path):
    known = {}
    for field in json.loads(mfbench("schema", "results", cwd=tmp_path).stdout):
        known.setdefault(field["of"], set()).add(field["name"])
    spec = {"name": "s", "datasets": ["like:ml-100k:0.05"], "stop": {"epochs": 1},
            "evaluate": {"user_groups": 2, "train": True, "ranking": True},
            "algorithms": [{"name": "ruler", "sleep_ms": 0}, {"name": "sgd_serial"}]}
    assert mfbench("run", "s.json", "--out", "r", cwd=tmp_path, spec=spec).returncode == 0
    for path in (tmp_path / "r").glob("*.jsonl"):
        for line in map(json.loads, path.read_text().splitlines()):
            for key, value in line.items():
                inner = {f"{key}.{name}" for name in value} if isinstance(value, dict) else set()
                assert key in known[line["type"]] or inner <= known[line["type"]] or key == "type", key


def test_columns_and_their_order_do_not_depend_on_the_order_of_the_folders(mfbench, tmp_path):
    folders = [REFERENCE / name for name in ("h200/ml-1m", "h200/cumf_als/fig8", "h100/ccd/speed")]
    heads = []
    for number, order in enumerate((folders, folders[::-1])):
        mfbench("summarize", *order, "--out", f"c{number}.csv", f"t{number}.csv", cwd=tmp_path, code=0)
        heads.append([(tmp_path / f"{table}{number}.csv").open().readline() for table in "ct"])
    assert heads[0] == heads[1]


def test_what_is_damaged_or_foreign_is_named_left_out_and_in_the_exit_code(mfbench, tmp_path):
    ids = copy_of(REFERENCE / "epyc-2" / "quickstart", tmp_path / "run")
    damaged = tmp_path / "run" / f"{ids[3]}.jsonl"
    damaged.write_text(damaged.read_text()[:-400] + "\n")
    (tmp_path / "run" / "foreign.jsonl").write_text('{"prompt": "a", "text": "b"}\n')
    (tmp_path / "run" / f"{ids[5]}.jsonl").unlink()
    done = mfbench("summarize", "run", "--out", "c.csv", "t.csv", cwd=tmp_path, code=1)
    left_out = [line for line in done.stderr.splitlines() if line.startswith("warning: ")]
    assert len(left_out) == 2
    assert f"run/{damaged.name}: line " in done.stderr and "run/foreign.jsonl: line 1" in done.stderr
    assert "run: 1 of 24 cases have not begun" in done.stderr
    rows = read(tmp_path / "c.csv")
    assert {row["case_id"] for row in rows} == set(ids) - {ids[3], ids[5]}
    assert {row["case"] for row in read(tmp_path / "t.csv")} == {row["case"] for row in rows}


def test_cases_that_the_spec_no_longer_lists_are_counted_and_asked_for(mfbench, tmp_path):
    spec = {"name": "s", "datasets": ["like:ml-100k:0.05"], "stop": {"epochs": 2},
            "algorithms": [{"name": "ruler", "sleep_ms": 0, "offset": [1, 2]}]}
    for offsets in ([1, 2], [2, 3]):
        spec["algorithms"][0]["offset"] = offsets
        assert mfbench("run", "s.json", "--out", "r", cwd=tmp_path, spec=spec).returncode == 0
    done = mfbench("summarize", "r", "--out", "c.csv", "t.csv", cwd=tmp_path, code=0)
    assert "1 case that spec.json does not list" in done.stderr
    assert [row["params.offset"] for row in read(tmp_path / "c.csv")] == ["2.0", "3.0"]
    done = mfbench("summarize", "r", "--unlisted", "--out", "c.csv", "t.csv", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert [row["params.offset"] for row in read(tmp_path / "c.csv")] == ["2.0", "3.0", "1.0"]


def test_wrong_calls_say_what_is_expected(mfbench, tmp_path):
    source = REFERENCE / "epyc-2" / "quickstart"
    for arguments, said in [((source, "--out", "c.parquet", "t.csv"), "expected .csv"),
                            ((source, "--out", "c.csv", "c.csv"), "both tables"),
                            ((source, "--out", "c.csv", "./c.csv"), "both tables"),
                            ((source, "--out", "c.csv"), "--out"),
                            ((source,), "--json, or --out"),
                            (("nowhere", "--out", "c.csv", "t.csv"), "nowhere: no such file"),
                            ((PAGE, "--out", "c.csv", "t.csv"), "expected a folder of results"),
                            ((ROOT / "docs", "--out", "c.csv", "t.csv"), "no result")]:
        done = mfbench("summarize", *arguments, cwd=tmp_path, code=2)
        assert said in done.stderr
    done = mfbench("summarize", source, "--out", "nowhere/c.csv", "t.csv", cwd=tmp_path)
    assert done.returncode == 4 and "nowhere/c.csv" in done.stderr
    assert list(tmp_path.iterdir()) == []


# ---- pandas and parquet --------------------------------------------------------------------------

def has(*modules):
    return all(importlib.util.find_spec(module) for module in modules)


@pytest.mark.skipif(not has("pandas"), reason="no pandas")
def test_pandas_reads_a_table_in_one_line_to_the_last_bit(mfbench, tmp_path):
    import pandas as pd

    folder = REFERENCE / "h200" / "cumf_als" / "fig8"
    mfbench("summarize", folder, "--out", "cases.csv", "trace.csv", cwd=tmp_path, code=0)
    older = tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1)
    exact = {"float_precision": "round_trip"} if older else {}
    trace = pd.read_csv(tmp_path / "trace.csv", **exact)
    found = []
    for file in pd.read_csv(tmp_path / "cases.csv")["file"]:
        lines = lines_of(pathlib.Path(file))
        found += [(line["epoch"], line["train_s"], line["test_rmse"]) for line in lines[1:-1]]
    assert list(zip(trace["epoch"], trace["train_s"], trace["test_rmse"])) == found
    cases = pd.read_csv(tmp_path / "cases.csv")
    assert cases["git_dirty"].dtype == bool
    filled = [[cell != "" for cell in row.values()] for row in read(tmp_path / "cases.csv")]
    assert cases.notna().values.tolist() == filled  # no text is taken for a missing value
    assert cases["params.factors"].eq(100).all()


# ---- questions ------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def ask(mfbench):
    with subprocess.Popen([mfbench.program, "ask"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as talk:
        def asked(question, of, over):
            of, over = ([None if math.isinf(x) else x for x in side] for side in (of, over))
            talk.stdin.write(json.dumps({"ask": question, "of": of, "over": over}) + "\n")
            talk.stdin.flush()
            answer = json.loads(talk.stdout.readline())["answer"]
            return answer["low"], answer["high"]
        yield asked


def scatters(np):
    """For logarithms: symmetric; most runs alike, some late; one of ten disturbed."""
    return {"normal": lambda rng, n: 0.05 * rng.standard_normal(n),
            "skewed": lambda rng, n: 0.05 * rng.exponential(size=n),
            "disturbed": lambda rng, n: 0.01 * rng.standard_normal(n) + 0.1 * (rng.random(n) < 0.1)}


@pytest.mark.parametrize("n", [3, 5])
@pytest.mark.parametrize("name", ["normal", "skewed", "disturbed"])
def test_intervals_are_those_of_scipy(ask, name, n):
    np = pytest.importorskip("numpy")
    stats = pytest.importorskip("scipy.stats")
    rng, draw = np.random.default_rng(2026), scatters(np)[name]
    for _ in range(20):
        a, b = 2 * np.exp(draw(rng, n)), np.exp(draw(rng, n))
        for question in ("ratio", "ratio of pairs"):
            for end in ask(question, a.tolist(), b.tolist()):  # it holds what the test cannot tell from the ratio
                p = (stats.ttest_ind(np.log(a / end), np.log(b), equal_var=False) if question == "ratio"
                     else stats.ttest_1samp(np.log(a / b), np.log(end))).pvalue
                assert p == pytest.approx(0.05, rel=1e-6)


@pytest.mark.parametrize("n, m", [(4, 4), (4, 6), (5, 5), (7, 5)])
def test_intervals_by_ranks_end_where_the_exact_rank_sum_cannot_tell(ask, n, m):
    np = pytest.importorskip("numpy")
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(n * m)
    a, b = np.sort(np.exp(rng.random(n))), np.append(np.sort(np.exp(rng.random(m - 1))), math.inf)
    low, high = ask("ratio", a.tolist(), b.tolist())

    def p(ratio):
        return stats.mannwhitneyu(a / ratio, b, method="exact").pvalue

    assert p(high * 1.0001) <= 0.05 < p(high * 0.9999)
    assert low == 0 if n * m < 25 else p(low * 0.9999) <= 0.05 < p(low * 1.0001) or low == 0
