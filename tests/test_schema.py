"""`mfbench schema` and `mfbench validate` say the same of every spec: the committed ones, those of the
documents, and wrong ones."""

import json
import pathlib

import jsonschema
import pytest

from test_docs import MINIMAL, SPECS as DOCUMENTED, name_of

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMITTED = [path for path in sorted((ROOT / "experiments").rglob("*.json"))
             if not path.name.endswith(".bench.json")]


@pytest.fixture(scope="module")
def validator(mfbench, tmp_path_factory):
    done = mfbench("schema", cwd=tmp_path_factory.mktemp("schema"), code=0)
    schema = json.loads(done.stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def verdicts(mfbench, validator, folder, spec):
    """What the schema and the program say against the spec; empty where they accept it."""
    done = mfbench("validate", "spec.json", cwd=folder, spec=spec)
    assert done.returncode in (0, 2), done.stderr
    return [str(error.message) for error in validator.iter_errors(spec)], done.stderr


# ---- right ones ----------------------------------------------------------------------------------

def test_the_schema_accepts_every_spec_of_experiments_and_documents(validator):
    """tests/test_names.py and tests/test_docs.py ask the program."""
    specs = {str(path): json.loads(path.read_text()) for path in COMMITTED}
    specs |= {f"{name_of(page)}-{number}": {**MINIMAL, **json.loads(text)} for page, number, text in DOCUMENTED}
    assert {name: [error.message for error in validator.iter_errors(spec)]
            for name, spec in specs.items() if not validator.is_valid(spec)} == {}


def algorithm(**keys):
    return {"algorithms": [{"name": "sgd_serial", **keys}]}


def tune(keys, **others):
    return {**algorithm(**others, tune=keys), "split": {"validation": 0.1}}


def data(*entries):
    return {"datasets": list(entries)}


PLATEAU = {"kind": "plateau", "patience": 2, "decay": 0.5, "min_delta": 0, "monitor": "train"}
VALIDATION = {"split": {"validation": 0.1}}
RIGHT = {
    "$schema": {"$schema": "https://example.org/mfbench.json"},
    "seeds as floats": {"seeds": [1.0, 2]},
    "a letter in a name": {"name": "über-4"},
    "top": {"baseline": "sgd_serial", "target_rmse": 1, "save_model": True},
    "whole number": {"stop": {"epochs": 2e1}},
    "plateau schedule": {"schedule": PLATEAU},
    "a list inside the spec's schedule": {"schedule": {"kind": ["constant", "plateau"],
                                                       "learning_rate": [0.1, 0.2]}, **VALIDATION},
    "a list inside an entry's schedule": {**algorithm(schedule={"kind": "plateau", "patience": [1, 2]}), **VALIDATION},
    "kinds that share a key": {"schedule": {"kind": ["plateau", "exponential"], "decay": 0.5}, **VALIDATION},
    "stop": {"stop": {"epochs": [10, 20], "wall_seconds": 1, "plateau": [{"patience": [1, 2]}, {}]}, **VALIDATION},
    "init": {"init": {"kind": ["normal", "normal_over_factors"], "scale": [0.1, 0.2]}},
    "algorithms in a list": {"algorithms": [{"name": ["sgd_serial", "hogwild"], "factors": 8}]},
    "a parameter of all named": {"algorithms": [{"name": ["als", "als_cpu"], "reg": [0.1, 0.2]}]},
    "learning rate": algorithm(learning_rate=[0.1, 0.2]),
    "evaluate": {"evaluate": {"every": 2, "train": True, "clip": True, "user_groups": 3}},
    "ranking of a sample": {"evaluate": {"ranking": {"users": 100, "seed": 4}},
                            "stop": {"target": {"metric": "ndcg_100", "value": 0.3},
                                     "plateau": {"monitor": "validation_map_10"}}, **VALIDATION},
    "target": {"target": {"metric": "test_rmse", "value": 0.9}},
    "names": data("ml-100k", "ml-100k@u1", "filmtrust", {"name": ["ml-1m", "ml-10m"]}),
    "look-alikes": data("like:netflix", "like:netflix:0.1", {"like": ["ml-1m", "ml-10m"],
                                                             "scale": [0.1, 1], "seed": 3}),
    "enlarged sets": data("expand:ml-1m:80:5", {"expand": ["ml-1m", "ml-100k"], "users": [2, 4], "items": 2,
                                                "seed": 3, "split": {"holdout": 0.1}}),
    "factors in words": data("like:ml-1m:.5", "like:ml-10m:2", "like:ml-20m:1e-2"),
    "files": data("mine.csv", "folder/mine", "./a@b.csv", "like/this"),
    "a file": data({"path": "a.csv", "format": ["auto", "csv"], "duplicates": "last",
                    "rating_scale": {"min": 1, "max": 5, "step": 0.5}, "label": "mine"}
                   | {"format": "csv"}),
    "parts": data({"train": "a", "test": "b", "validation": "c", "split": {"seed": 2}}),
    "entries in lists": data(["ml-100k", ["like:ml-1m"]]),
    "own splits": data({"name": "ml-100k", "split": {"given": ["u1", "ua"]}},
                       {"like": "ml-1m", "split": {"holdout": [0.1, 0.2], "validation": 0.1}},
                       {"path": "a.csv", "split": [{"leave_out": [1, 2]}, {"seed": 3}]}),
    "split": {"split": {"leave_out": 2, "validation": 0.1, "seed": 3}},
    "folds": {"split": {"folds": 5, "validation": 0.1, "seed": 3}},
    "a fold": data({"like": "ml-1m", "split": {"folds": 5, "fold": [1, 2]}}),
    "by time": {**data("ml-100k"), "split": {"by_time": 0.8, "validation": 0.1}},
    "from a date": data({"path": "a.csv", "split": {"by_time": ["2005-09-06", "2006-01-01T12:30:00Z"]}}),
    "the last": data({"path": "a.csv", "columns": {"time": "seen"}, "split": {"leave_last": 1, "validation": 1}},
                     {"name": "ml-1m", "split": {"leave_last": [1, 5]}}),
    "held-out users": {"split": {"users": 0.1, "fold_in": 0.8, "validation": 0.1, "seed": 3}},
    "sweeps over held-out users": data({"like": "ml-1m", "split": {"users": [0.1, 0.2],
                                                                   "fold_in": [0.5, 0.8]}}),
    "given split for all": {**data("ml-100k"), "split": {"given": "u1"}},
    "implicit": data({"name": "ml-1m", "implicit": {"min_rating": 4}},
                     {"like": "ml-1m", "implicit": {"min_rating": [3, 4], "value": "rating"}},
                     {"path": "a.csv", "implicit": {"min_rating": 1, "value": "binary"}},
                     {"train": "a", "test": "b", "implicit": {"min_rating": 0.5}}),
    "empty name": {"name": ""},
    "ids": data({"path": "a.csv", "ids": "auto"}, {"path": "b.csv", "ids": "text"}),
    "tune": tune({"trials": 3, "budget_s": 1.5, "wall_s": 2.5, "eta": 2, "seed": 4, "metric": "validation_rmse",
                  "over": {"learning_rate": [0.01, 0.1, "log"], "reg": [0, 1, "linear"],
                           "factors": [2, 8], "order": {"choices": ["users", "shuffled"]}}}),
    "tune beside sweeps": tune({"over": {"reg": [0.1, 0.2]}}, factors=[2, [4, 8]]),
}


@pytest.mark.parametrize("name", RIGHT)
def test_both_accept(mfbench, validator, tmp_path, name):
    assert verdicts(mfbench, validator, tmp_path, {**MINIMAL, **RIGHT[name]}) == ([], "")


# ---- wrong ones ----------------------------------------------------------------------------------

WRONG = {
    # typos at each level
    "key": {"sed": 3},
    "key of an algorithm": algorithm(factor=3),
    "tune without ranges": tune({"trials": 3}),
    "no range": tune({"over": {}}),
    "half a range": tune({"over": {"reg": [0.1]}}),
    "a sweep over trials": tune({"over": {"reg": [0.1, 0.2]}, "trials": [3, 4]}),
    "two searches": tune([{"over": {"reg": [0.1, 0.2]}}, {"over": {"reg": [0.1, 0.3]}}]),
    "another metric": tune({"over": {"reg": [0.1, 0.2]}, "metric": "test_rmse"}),
    "key of a schedule": {"schedule": {"learning_rat": 0.1}},
    "key of one schedule of two": {"schedule": {"kind": ["constant", "plateau"], "patience": 2}},
    "key of the schedule without a kind": {"schedule": {"beta": 1}},
    "metric of a target": {"target": {"metric": "ndgc", "value": 0.3}},
    "target without a value": {"stop": {"target": {"metric": "test_rmse"}}},
    "target of a share above 1": {"target": {"metric": "map_10", "value": 30}},
    "key of a split": {"split": {"hold_out": 0.2}},
    "key of a name": data({"name": "ml-1m", "scale": 2}),
    "key that no algorithm inherits": {"stop": {"epoch": 3}, **algorithm(stop={"epochs": 3})},
    "key of one algorithm of two": {"algorithms": [{"name": ["sgd_serial", "hogwild"],
                                                    "threads": 2}]},
    # out of range
    "factors": algorithm(factors=0),
    "schedule's learning rate": {"schedule": {"learning_rate": 1001}},
    "holdout": {"split": {"holdout": 1}},
    "all users": {"split": {"users": 1}},
    "all before the cut": {**data("ml-100k"), "split": {"by_time": 1}},
    "no date": {**data("ml-100k"), "split": {"by_time": "06.09.2005"}},
    "a fold without folds": {"split": {"fold": 1}},
    "two splits": {"split": {"by_time": 0.8, "leave_last": 1}},
    "no history": {"split": {"users": 0.1, "fold_in": 0}},
    "history without held-out users": {"split": {"holdout": 0.1, "fold_in": 0.8}},
    "held-out users of parts": data({"train": "a", "test": "b", "split": {"users": 0.2}}),
    "no least rating": data({"like": "ml-1m", "implicit": {"value": "binary"}}),
    "key of implicit": data({"like": "ml-1m", "implicit": {"min_rating": 4, "max_rating": 5}}),
    "implicit of a spec": {"implicit": {"min_rating": 4}},
    "scale": data({"like": "ml-1m", "scale": 0}),
    "unknown enlarged set": data("expand:ml-2m:80:5"),
    "enlarged without items": data("expand:ml-1m:80"),
    "enlarged without users": data({"expand": "ml-1m", "items": 5}),
    "enlarged by none": data({"expand": "ml-1m", "users": 0, "items": 5}),
    "enlarged and named": data({"expand": "ml-1m", "users": 2, "items": 2, "name": "ml-1m"}),
    "kind of ids": data({"path": "a.csv", "ids": "names"}),
    "ids of a look-alike": data({"like": "ml-1m", "ids": "text"}),
    "negative seed": {"seeds": [-1]},
    "huge seed": {"seeds": [2**63]},
    # wrong types
    "spec": [],
    "text for a number": algorithm(factors="8"),
    "fraction for an integer": algorithm(factors=8.5),
    "text for an object": {"stop": "20 epochs"},
    "algorithms in a list": {"algorithms": [["sgd_serial"]]},
    "list in evaluate": {"evaluate": {"every": [1, 2]}},
    "list in the spec's split": {"split": {"holdout": [0.1, 0.2]}},
    # algorithms
    "unknown algorithm": {"algorithms": ["sgd_seral"]},
    "no name": {"algorithms": [{"factors": 8}]},
    "parameter of another": {"algorithms": [{"name": "als", "threads": 2}]},
    "unknown baseline": {"baseline": "sgd_seral"},
    # data sets
    "unknown name": data("ml-100"),
    "unknown look-alike": data("like:netflux"),
    "unknown given split": data("ml-100k@u7"),
    "given split of another": data({"name": "ml-1m", "split": {"given": "u1"}}),
    "holdout of parts": data({"train": "a", "test": "b", "split": {"holdout": 0.2}}),
    "two forms": data({"name": "ml-1m", "like": "ml-1m"}),
    "no form": data({"seed": 3}),
    "test alone": data({"test": "a"}),
    "rating scale without max": data({"path": "a", "rating_scale": {"min": 1}}),
    "empty label": data({"like": "ml-1m", "label": ""}),
    "label with a line break": data({"like": "ml-1m", "label": "a\nb"}),
    # kinds
    "kind of schedule": {"schedule": {"kind": "plato"}},
    "monitor": {"schedule": {"kind": "plateau", "monitor": "tset"}},
    # missing or empty
    "equal seeds": {"seeds": [1, 1]},
    "no algorithms": {"algorithms": []},
    "empty sweep": algorithm(factors=[]),
}


def with_base(change):
    return {**MINIMAL, **change} if isinstance(change, dict) else change


@pytest.mark.parametrize("name", WRONG)
def test_both_refuse(mfbench, validator, tmp_path, name):
    by_schema, by_program = verdicts(mfbench, validator, tmp_path, with_base(WRONG[name]))
    assert by_schema != []
    assert by_program.startswith("error: spec.json: $")


# What a schema cannot say, with the reason.
BEYOND = {
    "the baseline is another algorithm": (
        {"baseline": "hogwild"}, "it must be among the algorithms of this spec"),
    "two data sets have one label": (
        data({"path": "a/r.csv"}, {"path": "b/r.csv"}), "labels are computed"),
    "one label for a sweep": (
        data({"like": ["ml-1m", "ml-10m"], "label": "x"}), "labels of several expanded entries"),
    "min is not below max": (
        data({"path": "a", "rating_scale": {"min": 5, "max": 1}}), "it compares two numbers"),
    "the factor of a word is out of range": (
        data("like:netflix:1001"), "a pattern knows no numbers"),
    "the part of the target is not there": (
        {"stop": {"target": {"metric": "validation_rmse", "value": 1}}}, "split and stop are combined"),
    "the given split is of no data set here": (
        {"split": {"given": "u1"}}, "the spec's split and the data sets are combined"),
    "the scale has no meaning for the default kind": (
        {"init": {"scale": 1}, "algorithms": ["als_cpu"]}, "the kind depends on the model"),
    "more cases than anybody means": (
        algorithm(factors=list(range(1, 401)), learning_rate=[i / 1000 for i in range(300)]),
        "it multiplies lists"),
}


@pytest.mark.parametrize("name", BEYOND)
def test_what_only_the_program_can_refuse(mfbench, validator, tmp_path, name):
    change, _ = BEYOND[name]
    by_schema, by_program = verdicts(mfbench, validator, tmp_path, {**MINIMAL, **change})
    assert by_schema == []
    assert by_program.startswith("error: spec.json: $")


def test_the_files_of_a_spec_are_looked_for_when_it_runs(mfbench, validator, tmp_path):
    spec = {**MINIMAL, **data("none.csv")}
    assert verdicts(mfbench, validator, tmp_path, spec) == ([], "")
    plain = mfbench("validate", "spec.json", cwd=tmp_path)
    assert plain.stdout == "spec.json: valid, 1 case; its data were not looked at (--data does)\n"
    looked = mfbench("validate", "spec.json", "--data", cwd=tmp_path)
    assert (looked.returncode, looked.stderr) == (
        3, "error: $.datasets[0]: none.csv: no such file in the folder in which mfbench is called\n")
    assert mfbench("run", "spec.json", cwd=tmp_path).returncode == 3


def test_validate_looks_at_the_data_of_every_set(mfbench, tmp_path):
    (tmp_path / "good.csv").write_text("user,item,rating\n5,10,3.5\n")
    (tmp_path / "words.txt").write_text("once upon a time\n")
    spec = {**MINIMAL, "datasets": ["like:ml-100k", "good.csv", "words.txt", "none.csv", "ml-25m"]}
    done = mfbench("validate", "spec.json", "--data", cwd=tmp_path, code=3, spec=spec)
    assert done.stdout == ("ml-100k look-alike: made when it is needed\n"
                           "good.csv: csv, not cached yet\n")
    for problem in ("$.datasets[2]: words.txt: found the extension", "$.datasets[3]: none.csv: no such file",
                    "$.datasets[4]: ml-25m: "):
        assert problem in done.stderr
    spec["datasets"] = spec["datasets"][:2]
    done = mfbench("validate", "spec.json", "--data", cwd=tmp_path, code=0, spec=spec)
    assert done.stdout.endswith("spec.json: valid, 2 cases; its data are at hand\n")
    cases = json.loads(mfbench("validate", "spec.json", "--data", "--json", cwd=tmp_path).stdout)
    assert len(cases) == 2


def test_the_schema_knows_imported_sets(mfbench, tmp_path):
    (tmp_path / "r.csv").write_text("user,item,rating\n5,10,3.5\n")
    (tmp_path / "t.csv").write_text("user,item,rating\n5,11,3.5\n")
    for arguments in (["whole.set", "r.csv"], ["parts", "--train", "r.csv", "--test", "t.csv"]):
        mfbench("data", "import", *arguments, "--replace", cwd=tmp_path, code=0)
    schema = jsonschema.Draft202012Validator(json.loads(mfbench("schema", cwd=tmp_path).stdout))
    for entries, right in [(["whole.set", "parts@imported", {"name": "parts"}], True),
                           (["whole.set@imported"], False), (["parts@other"], False),
                           ([{"name": "parts", "duplicates": "last"}], False)]:
        by_schema, by_program = verdicts(mfbench, schema, tmp_path, {**MINIMAL, **data(*entries)})
        assert (by_schema == [], by_program == "") == (right, right), entries
