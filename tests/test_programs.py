"""Programs of one's own as peers. No such program is here: small ones stand for them, which read what the adapters
write, as the command lines say, and print what the real ones printed when they were measured (SAID: lines of their
logs, cut), so that what is tested is our side of it."""

import json
import pathlib
import re
import shutil
import stat
import sys

import numpy
import pytest

from support import cases_of

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Lines of cuMF_ALS, cuMF_SGD and cu2rec, each with our own line after an iteration, which times it.
SAID = {
    "cumf_als": """\
spmm layout: row
--------- Train RMSE in iter 0: 0.896404
--------- Test RMSE in iter 0: 0.902158
iter 1 seconds 0.258443 cumulative 0.258443 test_rmse 0.902158 (csr_upload 0.014578 x 0.153345 theta 0.090520)
--------- Train RMSE in iter 1: 0.874763
--------- Test RMSE in iter 1: 0.884229
iter 2 seconds 0.214975 cumulative 0.473418 test_rmse 0.884229 (csr_upload 0.014492 x 0.105101 theta 0.095382)

doALS takes seconds: 3.627 for F = 100

ALS Done.
""",
    "cumf_sgd": """\
calling sgd_update_k128() ...
iter 0 seconds 0 cumulative 0 test_rmse 3.443054
iter 1 seconds 0.084587 cumulative 0.084587 test_rmse 1.006457
iter 2 seconds 0.084641 cumulative 0.169228 test_rmse 0.952426
update_per_sec:1167671276.300401
scale model ...
""",
    "cu2rec": """\
TRAIN: Iteration 500 GPU MAE: 0.730056 RMSE: 0.900286
TEST: Iteration 500 GPU MAE: 0.733725 RMSE: 0.904565
iter 500 seconds 0.001684 cumulative 0.842164 test_rmse 0.904565 (seconds = mean of the 499 iterations since the last line)
TEST: Iteration 5000 GPU MAE: 0.689233 RMSE: 0.853617
New Learning Rate: 0.002000
: iter 5000 seconds 0.001681 cumulative 8.408977 test_rmse 0.853617 (seconds = mean of the 500 iterations since the last line)
Time taken for 5000 of iterations is 9.767571
done (model not saved)
""",
}


@pytest.fixture(scope="module")
def mfprogram():
    """The parsers, without a task."""
    import importlib.util
    for name in ("mfpeer", "mfprogram"):
        spec = importlib.util.spec_from_file_location(name, ROOT / "peers" / "common" / f"{name}.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    yield sys.modules["mfprogram"]
    for name in ("mfpeer", "mfprogram"):
        del sys.modules[name]


def adapter(name, mfprogram, monkeypatch):
    """The class of an adapter, which a run of its file would start."""
    import runpy
    monkeypatch.setattr(sys.modules["mfpeer"], "run", lambda *_: None)
    names = runpy.run_path(str(ROOT / "peers" / name / "adapter.py"))
    (found,) = [one for one in names.values() if isinstance(one, type) and issubclass(one, mfprogram.Program)]
    return found


@pytest.mark.parametrize("name, expected", [
    ("cumf_als", {1: (0.258443, 0.902158), 2: (0.473418, 0.884229)}),
    ("cumf_sgd", {1: (0.084587, 1.006457), 2: (0.169228, 0.952426)}),
    ("cu2rec", {500: (0.842164, 0.904565), 5000: (8.408977, 0.853617)})])
def test_what_was_printed_when_they_were_measured(mfprogram, monkeypatch, name, expected):
    parse = adapter(name, mfprogram, monkeypatch).progress
    as_it_comes = "\n".join(line for line in SAID[name].splitlines() if not re.search(r"\biter \d+ seconds", line))
    for text, same in [(SAID[name], True), (as_it_comes, False)]:
        of_time, of_rmse = parse(None, text)
        for epoch, (seconds, rmse) in expected.items():
            found = (of_time.get(epoch), of_rmse.get(epoch))
            if same:
                assert found == (seconds, rmse)
            elif name == "cumf_als":  # as it comes: only the whole time
                assert found == (pytest.approx(3.627 * epoch / 2), rmse)
            elif name == "cu2rec":
                assert found == (9.767571 if epoch == 5000 else None, rmse)
    assert parse(None, "nothing of the kind\n") == ({}, {})


# Each is a program that checks what it is given and leaves `seen.json` beside itself.
HEAD = """#!{python}
import json, pathlib, sys
import numpy as np
here = pathlib.Path(__file__).parent
def see(**what):
    (here / "seen.json").write_text(json.dumps(what))
def read(path, type_):
    return np.fromfile(path, dtype=type_).tolist()
"""

PROGRAMS = {
    "cumf_als": """
m, n, f, nnz, tests = map(int, sys.argv[1:6])
folder = pathlib.Path(sys.argv[9])
see(shape=[m, n, f, nnz, tests], reg=float(sys.argv[6]), batches=sys.argv[7:9],
    **{name: read(folder / f"R_{name}.bin", type_) for name, type_ in (
        ("train_csr.data", "<f4"), ("train_csr.indices", "<i4"), ("train_csr.indptr", "<i4"), ("train_csc.data", "<f4"),
        ("train_csc.indices", "<i4"), ("train_csc.indptr", "<i4"), ("train_coo.row", "<i4"), ("test_coo.row", "<i4"),
        ("test_coo.col", "<i4"), ("test_coo.data", "<f4"))})
for k in range(1, 4):
    print(f"--------- Test RMSE in iter {k - 1}: {1 - .1 * k:.6f}")
    print(f"iter {k} seconds 0.000010 cumulative {k * 1e-5:f} test_rmse {1 - .1 * k:.6f} (csr_upload 0.014578)")
""",
    "cumf_sgd": """
keys = dict(zip(sys.argv[1:-1:2], sys.argv[2:-1:2]))
kind = [("u", "<i4"), ("i", "<i4"), ("r", "<f4")]
see(keys={k: v for k, v in keys.items() if k != "-p"}, train=np.fromfile(sys.argv[-1], kind).tolist(),
    test=np.fromfile(keys["-p"], kind).tolist())
for k in range(int(keys["-t"]) + 1):
    print(f"iter {k} seconds 0.00001 cumulative {k * 1e-5:f} test_rmse {1 - .1 * k:.6f}")
""",
    "cu2rec": """
keys = dict(line.split("=") for line in pathlib.Path(sys.argv[2]).read_text().splitlines())
see(keys=keys, train=pathlib.Path(sys.argv[3]).read_text(), test=pathlib.Path(sys.argv[4]).read_text())
count = int(keys["total_iterations"])
print(f"TEST: Iteration {count} GPU MAE: 0.7 RMSE: {1 - .001 * count:.6f}")
print(f"Time taken for {count} of iterations is 0.000020")
""",
}

RATINGS = [(1, 1, 4), (1, 2, 3), (2, 1, 5), (2, 3, 1), (3, 2, 2), (3, 3, 4), (4, 1, 3), (4, 2, 5), (4, 3, 2), (5, 1, 1)]


@pytest.fixture
def places(tmp_path, monkeypatch):
    """A folder of programs that specs may run, and a Python with NumPy and SciPy for the adapters."""
    python = tmp_path / "places" / "programs" / "bin" / "python3"
    python.parent.mkdir(parents=True)
    # Isolated it finds its packages by the path that it is called by, which a link would hide.
    python.write_text(f'#!/bin/sh\nexec "{pathlib.Path(sys.executable)}" "$@"\n')
    python.chmod(0o755)
    monkeypatch.setenv("MFBENCH_PEERS", str(tmp_path / "places"))
    programs = tmp_path / "programs"
    programs.mkdir()
    monkeypatch.setenv("MFBENCH_PROGRAMS", f"/nowhere:{programs}")
    (tmp_path / "ratings.txt").write_text("".join(f"{u} {i} {r}\n" for u, i, r in RATINGS))
    return tmp_path


def put(places, name, text):
    path = places / "programs" / name
    path.write_text(HEAD.format(python=sys.executable) + text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def run(mfbench, places, entry, code=0, epochs=2, **keys):
    spec = {"name": "programs", "datasets": [{"path": "ratings.txt"}], "split": {"holdout": 0.2, "seed": 1},
            "stop": {"epochs": epochs}, "algorithms": [{"name": "peer", **entry}], **keys}
    done = mfbench("run", "spec.json", "--out", "out", "--quiet", "--rerun", cwd=places, spec=spec)
    assert done.returncode == code, done.stdout + done.stderr
    ((header, *trace, footer),) = cases_of(places / "out")
    return header, trace, footer


def seen(places):
    return json.loads((places / "programs" / "seen.json").read_text())


def rated(rows):
    return sorted((round(u), round(i), round(r)) for u, i, r in rows)


def dense(rows):
    """Rows of mfbench are ids less one here."""
    return [(u - 1, i - 1, r) for u, i, r in rows]


@pytest.mark.parametrize("rows", ["items", "users"])
def test_cumf_als(mfbench, places, rows):
    put(places, "als", PROGRAMS["cumf_als"])
    header, trace, footer = run(mfbench, places, {"library": "cumf_als", "program": "als", "factors": 3, "reg": 0.048,
                                                  "rows": rows, "x_batch": 2})
    assert [point["test_rmse"] for point in trace[1:]] == [0.9, 0.8]
    assert all(point["evaluated_by"] == "program" and point["test_mae"] is None for point in trace[1:])
    assert "evaluated_by" not in trace[0]  # the initial model is ours
    assert trace[2]["train_s"] == pytest.approx(2e-5)
    assert footer["status"] == "completed" and footer["final_test_rmse"] == 0.8
    assert header["facts"]["evaluated_by"] == "program" and header["facts"]["restarts"]
    assert header["facts"]["version"].startswith("sha256:")
    got = seen(places)
    shape = [3, 5] if rows == "items" else [5, 3]
    assert got["shape"] == [*shape, 3, 8, 2] and got["reg"] == 0.048 and got["batches"] == ["2", "3"]
    assert len(got["train_csr.indptr"]) == shape[0] + 1 and len(got["train_csc.indptr"]) == shape[1] + 1
    by_row = list(zip(got["train_coo.row"], got["train_csr.indices"], got["train_csr.data"]))
    column = numpy.repeat(range(shape[1]), numpy.diff(got["train_csc.indptr"]))
    by_column = list(zip(got["train_csc.indices"], column, got["train_csc.data"]))
    test = list(zip(got["test_coo.row"], got["test_coo.col"], got["test_coo.data"]))
    turn = (lambda row: (row[1], row[0], row[2])) if rows == "items" else tuple
    assert rated(by_row) == rated(by_column)
    assert numpy.repeat(range(shape[0]), numpy.diff(got["train_csr.indptr"])).tolist() == got["train_coo.row"]
    assert rated(map(turn, by_row + test)) == sorted(dense(RATINGS))


def test_cumf_sgd(mfbench, places):
    put(places, "sgd", PROGRAMS["cumf_sgd"])
    _, trace, _ = run(mfbench, places, {"library": "cumf_sgd", "program": str(places / "programs" / "sgd"),
                                        "factors": 128, "reg": 0.04, "alpha": 0.07, "beta": 0.2, "workers": 96})
    assert [point["test_rmse"] for point in trace[1:]] == [0.9, 0.8]
    got = seen(places)
    assert rated(got["train"] + got["test"]) == sorted(dense(RATINGS)) and len(got["test"]) == 2
    for key, value in {"-l": 0.04, "-a": 0.07, "-b": 0.2, "-k": 128, "-t": 2, "-s": 96}.items():
        assert float(got["keys"][key]) == value


@pytest.mark.parametrize("kind", ["csv", "triples"])
def test_cu2rec(mfbench, places, kind):
    text = PROGRAMS["cu2rec"]
    if kind == "triples":
        text = text.replace("pathlib.Path(sys.argv[3]).read_text()", "[]").replace(
            "pathlib.Path(sys.argv[4]).read_text()", "np.fromfile(sys.argv[4], '<i4').tolist()")
    put(places, "mf", text)
    _, trace, _ = run(mfbench, places, {"library": "cu2rec", "program": "mf", "factors": 4, "reg": 0.02,
                                        "learning_rate": 0.01, "input": kind})
    # 8 ratings of 5 users: 2 iterations an epoch.
    assert [point["test_rmse"] for point in trace[1:]] == [0.998, 0.996]
    got = seen(places)
    assert got["keys"]["total_iterations"] == "4" and float(got["keys"]["learning_rate"]) == 0.01
    if kind == "csv":
        rows = [line.split(",") for line in (got["train"] + got["test"]).splitlines() if "user" not in line]
        assert rated(tuple(map(float, row)) for row in rows) == sorted(RATINGS)
    else:
        assert len(got["test"]) == 6


def test_no_bytecode_is_left_beside_the_adapters(mfbench, places, monkeypatch):
    """Adapters of programs may write there: no kernel confines them."""
    scripts = places / "scripts"
    shutil.copytree(ROOT / "peers", scripts, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setenv("MFBENCH_PEER_SCRIPTS", str(scripts))
    put(places, "sgd", PROGRAMS["cumf_sgd"])
    _, _, footer = run(mfbench, places, {"library": "cumf_sgd", "program": "sgd", "factors": 2})
    assert footer["status"] == "completed"
    assert not list(scripts.rglob("__pycache__"))


def test_what_does_not_fit_the_integers_of_a_program_is_an_error(mfprogram, tmp_path):
    mfprogram.write(tmp_path / "a.bin", numpy.array([0, 2**31 - 1]), "<i4")
    assert (tmp_path / "a.bin").stat().st_size == 8
    with pytest.raises(RuntimeError, match="b.bin: found 2147483648, which the program's 32-bit"):
        mfprogram.write(tmp_path / "b.bin", numpy.array([0, 2**31]), "<i4")


FAULTS = {
    "print('iter 1 seconds 0.1')": "printed no time of iteration 2",
    "sys.exit('the device is gone')": "ended with code 1",
    "import os; os.kill(os.getpid(), 9)": "ended with signal 9",
    "print('iter 2 seconds 1e-6 cumulative 2e-6')": "printed no RMSE of iteration 2",
}


@pytest.mark.parametrize("text, reason", FAULTS.items())
def test_a_program_that_fails(mfbench, places, text, reason):
    put(places, "sgd", text)
    *_, footer = run(mfbench, places, {"library": "cumf_sgd", "program": "sgd", "factors": 2}, code=1,
                     evaluate={"every": 2})
    assert footer["status"] == "error" and reason in footer["stop_reason"]
    assert str(places) not in footer["stop_reason"]


def test_an_rmse_that_is_no_number_has_diverged(mfbench, places):
    put(places, "sgd", "print('iter 2 seconds 1e-6 cumulative 2e-6 test_rmse nan')")
    *_, footer = run(mfbench, places, {"library": "cumf_sgd", "program": "sgd", "factors": 2},
                     evaluate={"every": 2})
    assert footer["status"] == "diverged"


def test_a_spec_alone_starts_no_program(mfbench, places, monkeypatch):
    inside = put(places, "sgd", "(here / 'ran').touch()")
    outside = places / "outside"
    outside.write_text("#!/bin/sh\ntouch ran\n")
    outside.chmod(0o755)
    (places / "programs" / "link").symlink_to(outside)
    for named in (str(outside), "../outside", "link", "missing", ".", ""):
        *_, footer = run(mfbench, places, {"library": "cumf_sgd", "program": named, "factors": 2})
        assert footer["status"] == "skipped", named
        assert "MFBENCH_PROGRAMS" in footer["stop_reason"] or named == ""
    monkeypatch.delenv("MFBENCH_PROGRAMS")
    *_, footer = run(mfbench, places, {"library": "cumf_sgd", "program": str(inside), "factors": 2})
    assert footer["status"] == "skipped" and "it is not set" in footer["stop_reason"]
    assert not list(places.rglob("ran"))


def test_a_trial_gets_the_validation_part(mfbench, places):
    """The program that evaluates itself is the only one that is given a part to evaluate on: of a trial, that of
    the trial."""
    put(places, "sgd", PROGRAMS["cumf_sgd"])
    entry = {"name": "peer", "library": "cumf_sgd", "program": "sgd", "factors": 2,
             "tune": {"trials": 1, "over": {"reg": [0.01, 0.1]}}}
    spec = {"name": "t", "datasets": [{"path": "ratings.txt"}], "stop": {"epochs": 1},
            "split": {"holdout": 0.2, "validation": 0.2, "seed": 1}, "algorithms": [entry]}
    mfbench("tune", "spec.json", "--out", "out", cwd=places, code=0, spec=spec)
    trial = rated(seen(places)["test"])
    mfbench("run", "spec.json", "--out", "out", "--quiet", cwd=places, code=0)
    assert trial and rated(seen(places)["test"]) and not set(trial) & set(rated(seen(places)["test"]))


def test_what_has_no_factors_has_no_model_to_save(mfbench, places):
    put(places, "sgd", PROGRAMS["cumf_sgd"])
    *_, footer = run(mfbench, places, {"library": "cumf_sgd", "program": "sgd", "factors": 2}, code=1, save_model=True)
    assert footer["status"] == "error" and "leaves no factors" in footer["stop_reason"]
