"""`mfbench race`: a spec for given ratings, run, drawn, and who was first; `plot` and `report` as commands."""

import json
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys

import pytest

from support import cases_of

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLOTS = {"PYTHON": sys.executable}


@pytest.fixture
def race(mfbench, tmp_path):
    for name in ("matplotlib", "pandas"):
        pytest.importorskip(name)

    def run(*words, **options):
        return mfbench("race", *words, cwd=tmp_path, timeout=300, env={**mfbench.environment(), **PLOTS}, **options)
    return run


@pytest.fixture
def undrawn(mfbench, tmp_path):
    """A race whose program has no mfplots beside it: figures take most of the time of a small one."""
    program = tmp_path / "elsewhere/mfbench"
    program.parent.mkdir()
    shutil.copy(mfbench.program, program)

    def run(*words):
        done = subprocess.run([program, "race", *map(str, words)], cwd=tmp_path, text=True, capture_output=True,
                              timeout=300, env=mfbench.environment())
        assert done.returncode == 0, done.stderr
        return done
    return run


def write_ratings(path, value, header="user,item,rating", users=150, items=80, per_user=40):
    rng = random.Random(3)
    lines = [header] if header else []
    for user in range(users):
        for item in rng.sample(range(items), per_user):
            # Like and like: even users and items, odd ones.
            lines.append(value(user, item, rng, 1.0 if (user + item) % 2 else -1.0))
    path.write_text("\n".join(lines) + "\n")


def stars(user, item, rng, alike):
    return f"{user},{item},{min(5, max(1, round(3 + 1.2 * alike + rng.gauss(0, 0.5))))}"


def plays(user, item, rng, alike):
    return f"{user},{item},{1 + int(rng.paretovariate(0.6 if alike > 0 else 1.5))}" if rng.random() < 0.5 else f"{user},{item},1"


def end_of(done):
    """The winner, the last two lines, which are the file to open and the next command, by their first words."""
    lines = done.stdout.splitlines()
    (winner,) = re.findall(r"(?m)^(fastest .*(?:\n {9}.*)*)", done.stdout)
    return dict(" ".join(line.split()).split(maxsplit=1) for line in (winner, *lines[-2:]))


# ---- ratings of one's own ------------------------------------------------------------------------

def test_a_file_of_stars_becomes_a_race_with_a_winner(race, undrawn, tmp_path):
    write_ratings(tmp_path / "r.csv", stars)
    done = race("r.csv", "--time", 100, code=0)  # which it needs on no machine
    assert "150 users, 80 items, 6,000 ratings, taken for stars" in done.stdout
    assert "columns: #1 user (0), #2 item (" in done.stdout and "; below a header" in done.stdout
    folder = tmp_path / "results/runs/race-r.csv"
    spec = json.loads((folder / "race.json").read_text())
    assert [entry["name"] for entry in spec["algorithms"]][:4] == ["sgd_serial", "hogwild", "fpsgd", "als_cpu"]
    assert spec["target"]["metric"] == "validation_rmse" and 0.4 < spec["target"]["value"] < 1.2
    end = end_of(done)
    assert f"target, from the trials: validation RMSE {spec['target']['value']:g}, written into" in done.stdout
    assert re.fullmatch(rf"\w+, validation RMSE {spec['target']['value']:g} on r\.csv in .*", end["fastest"])
    assert (tmp_path / end["open"]).is_file()
    assert end["next"].endswith("mfbench race results/runs/race-r.csv/race.json, edited")
    assert list((folder / "figures").glob("*.png"))

    spec["seeds"] = [1, 2]  # the user's edit stands, and what has run is not run again
    (folder / "race.json").write_text(json.dumps(spec))
    again = undrawn("r.csv")
    assert "race.json is there, and goes on as it stands" in again.stderr
    assert "0 run now" in again.stdout and "taken for" not in again.stdout


def test_the_target_comes_from_trials_that_never_saw_the_test_part(undrawn, tmp_path):
    """It is 1 % above the worst of the studies' best, of those within 5 %, and all of these reach it."""
    write_ratings(tmp_path / "r.csv", stars)
    undrawn("r.csv", "--time", 100, "--out", "out")
    target = json.loads((tmp_path / "out/race.json").read_text())["target"]["value"]
    chosen = {}
    for lines in cases_of(tmp_path / "out"):
        tuned = lines[0]["tuned"]
        chosen[tuned["study"]] = tuned["score"]
        assert lines[0]["target"]["value"] == target
    best = min(chosen.values())
    worst = max(score for score in chosen.values() if score <= 1.05 * best)
    assert worst * 1.01 <= target <= worst * 1.01 + 0.0101


@pytest.mark.parametrize("name, header, value, wanted", [
    ("r.csv", "user,item,plays", plays, "taken for counts"),
    ("r.pairs", "", lambda user, item, rng, alike: f"{user} {item}", "taken for pairs"),
])
def test_counts_and_pairs_are_raced_as_implicit_feedback(race, undrawn, tmp_path, name, header, value, wanted):
    write_ratings(tmp_path / name, value, header)
    draws = wanted == "taken for counts"
    done = (race if draws else undrawn)(name, "--time", 1, "--out", "out")
    assert wanted in done.stdout
    spec = json.loads((tmp_path / "out/race.json").read_text())
    assert [entry["name"] for entry in spec["algorithms"] if not entry["name"].startswith("ials")] == [
        "popular", "item_knn", "ease_cpu"]
    assert spec["target"]["metric"] == "validation_ndcg_100"
    assert re.search(r"^[1-9]\d* trials run now, 0 finished before", done.stdout, re.M)
    assert "validation NDCG@100" in end_of(done)["fastest"]
    assert (tmp_path / end_of(done)["open"]).is_file() == draws


def click(user, item, rng, alike):
    """A log of events: a line for each, some pairs three times."""
    return "\n".join([f"{user},{item},1"] * (3 if alike > 0 else 1))


@pytest.mark.parametrize("value, words, kind, second, policy", [
    (stars, [], "stars", "3 pairs with more than one rating: the last counts (--duplicates names", "last"),
    (stars, ["--duplicates", "mean"], "stars", "3 pairs with more than one rating: their mean counts", "mean"),
    (stars, ["--feedback", "counts"], "counts", "3 pairs with more than one rating: their sum counts", "sum"),
    (click, [], "counts", "pairs with more than one rating: their sum counts (--duplicates names", "sum"),
    (click, ["--feedback", "pairs"], "pairs", "pairs with more than one rating: the last counts", "last"),
])
def test_pairs_that_occur_twice_are_told_and_count_as_the_kind_of_values_asks(undrawn, tmp_path, value, words, kind, second,
                                                                              policy):
    write_ratings(tmp_path / "r.csv", value, users=60, items=30, per_user=12)
    if value is stars:
        with (tmp_path / "r.csv").open("a") as file:
            file.write("\n".join((tmp_path / "r.csv").read_text().splitlines()[1:4]) + "\n")
    first, told = undrawn("r.csv", *words, "--time", 1, "--out", "out").stdout.splitlines()[:2]
    assert f"60 users, 30 items, 720 ratings, taken for {kind}" in first and second in told
    spec = json.loads((tmp_path / "out/race.json").read_text())
    assert spec["datasets"] == [{"path": "r.csv", "duplicates": policy}]


def test_a_mark_of_not_rated_is_pointed_out(undrawn, tmp_path):
    write_ratings(tmp_path / "r.csv", lambda user, item, rng, alike: stars(user, item, rng, alike) if item else f"{user},{item},0",
                  users=60, items=30, per_user=12)
    told = 'lies below the rating scale'
    assert told in undrawn("r.csv", "--time", 1, "--out", "out").stdout
    done = undrawn("r.csv", "--time", 1, "--unrated", 0, "--out", "left")
    assert told not in done.stdout and "60 users, 29 items" in done.stdout
    spec = json.loads((tmp_path / "left/race.json").read_text())
    assert spec["datasets"] == [{"path": "r.csv", "unrated": 0}]


def test_what_cannot_be_raced_is_an_error(race, tmp_path, monkeypatch):
    (tmp_path / "three.csv").write_text("user,item,rating\n1,1,5\n1,2,3\n2,1,4\n")
    (said,) = race("three.csv", code=3).stderr.splitlines()
    assert "three.csv: found 3 ratings, expected at least 20" in said
    assert "no.csv" in race("no.csv", code=3).stderr
    (tmp_path / "bad.csv").write_text("user,item,rating\n1,2,x\n")
    assert "bad.csv:2:5" in race("bad.csv", code=3).stderr
    assert not (tmp_path / "results").exists()
    assert "no.json" in race("no.json", code=2).stderr
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    assert "race: found 2 processes" in race("bad.csv", code=2).stderr
    monkeypatch.delenv("OMPI_COMM_WORLD_SIZE")
    assert "--time" in race("bad.csv", "--time", 0, code=2).stderr
    assert "stars, counts" in race("bad.csv", "--feedback", "x", code=2).stderr.replace("{", "").replace(",", ", ")


# ---- a spec --------------------------------------------------------------------------------------

RULERS = {
    "name": "rulers", "datasets": [{"like": "ml-100k", "scale": 0.05}], "seeds": [1, 2, 3], "stop": {"epochs": 4},
    "algorithms": [{"name": "ruler", "sleep_ms": [40, 10]}],
}


def write_rulers(tmp_path, **keys):
    (tmp_path / "s.json").write_text(json.dumps({**RULERS, **keys}))


def contend(folder, by):
    """Sets in every footer whether other programs took part of the machine."""
    for path in folder.glob("*.jsonl"):
        *lines, footer = path.read_text().splitlines()
        footer = {**json.loads(footer), "contended": bool(by), "contended_by": by, "host_contended": False, "host_contended_by": []}
        path.write_text("\n".join([*lines, json.dumps(footer)]) + "\n")


@pytest.mark.parametrize("by", [[], ["training: a thread waited"]])
def test_the_winner_is_who_answers_first(undrawn, mfbench, tmp_path, by):
    write_rulers(tmp_path)
    mfbench("run", "s.json", "--quiet", cwd=tmp_path, code=0)
    contend(tmp_path / "results/runs/rulers", by)
    cases = cases_of(tmp_path / "results/runs/rulers")
    target = cases[0][3]["test_rmse"]  # of epoch 2, in every case
    write_rulers(tmp_path, target_rmse=target)
    done = undrawn("s.json")
    assert "0 run now" in done.stdout
    answers = {}
    for header, *trace, footer in cases:
        clocks = footer["clocks"]
        first = next(point for point in trace if point["test_rmse"] <= target)
        assert first["epoch"] == 2
        answers.setdefault(header["algorithm"]["params"]["sleep_ms"], []).append(
            clocks["prepare_s"] + clocks["transfer_s"] + first["train_s"])
    assert set(answers) == {10, 40}
    fastest, other = sorted(answers, key=lambda sleep: statistics.median(answers[sleep]))
    ratio = statistics.median(answers[other]) / statistics.median(answers[fastest])
    end = end_of(done)
    assert end["fastest"].startswith(f"ruler sleep_ms={fastest:g}, RMSE {target:g} on ml-100k look-alike x0.05 in ")
    if by:  # no factor of times that others may have made longer
        assert re.search(rf"; then ruler sleep_ms={other:g} in \S+ \S+; contended, so no factor", end["fastest"])
        assert "as fast as" not in end["fastest"]
    else:
        assert f"; {ratio:.1f} times as fast as ruler sleep_ms={other:g}, the next" in end["fastest"]
    assert end["next"].endswith("mfbench race ratings.csv, with ratings of your own")


def test_who_ends_lowest_is_named_beside_who_is_first(undrawn, tmp_path):
    spec = {"name": "ends", "datasets": [{"like": "ml-100k", "scale": 0.05}], "stop": {"epochs": 3}, "target_rmse": 5,
            "algorithms": [{"name": "als_cpu", "factors": 4}, {"name": "bias"}]}
    (tmp_path / "s.json").write_text(json.dumps(spec))
    end = end_of(undrawn("s.json"))["fastest"]
    ends = {case[0]["algorithm"]["name"]: case[-2]["test_rmse"] for case in cases_of(tmp_path / "results/runs/ends")}
    lowest = min(ends, key=ends.get)
    assert re.search(rf"; lowest at the end: {lowest}[^,;]*, test RMSE {ends[lowest]:.4f}", end)


def test_no_case_begins_beyond_the_time_once_each_algorithm_has_run(undrawn, tmp_path):
    write_rulers(tmp_path, target_rmse=9)
    done = undrawn("s.json", "--time", 1e-3)
    assert "6 cases: 2 run now, 0 finished before, 4 left out: the time is up" in done.stdout
    assert end_of(done)["fastest"].startswith("ruler")
    assert "4 run now, 2 finished before; results" in undrawn("s.json").stdout  # a spec has no limit by default


def test_who_misses_the_target_is_counted(undrawn, tmp_path):
    write_rulers(tmp_path, target_rmse=1e-6)
    assert end_of(undrawn("s.json"))["fastest"].startswith("no algorithm of 2 reached RMSE 1e-06 on ml-100k look-alike")
    write_rulers(tmp_path)
    assert "the spec names none" in end_of(undrawn("s.json"))["fastest"]


def test_a_race_ends_well_without_a_report(race, tmp_path, monkeypatch):
    """Its packages are optional: figures are the thing to open."""
    (tmp_path / "lacks/itables").mkdir(parents=True)
    (tmp_path / "lacks/itables/__init__.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "lacks"))
    write_rulers(tmp_path)
    done = race("s.json", code=0)
    assert "info: no report: the report needs" in done.stderr and "error" not in done.stderr
    assert re.search(r"figures/.*\.png$", end_of(done)["open"])


def test_a_race_without_figures_has_a_winner(undrawn, tmp_path):
    write_rulers(tmp_path, target_rmse=9)
    done = undrawn("s.json")
    assert "info: no figures: plots/mfplots/__main__.py of the source is not beside" in done.stderr
    assert end_of(done)["fastest"].startswith("ruler") and end_of(done)["open"] == "no figure, for the reason above"


def test_the_quickstart_has_winners(mfbench, tmp_path):
    """Its target is one that its data meet: what the shortest of its runs shows already."""
    spec = json.loads((ROOT / "experiments/quickstart.json").read_text())
    spec["seeds"] = [1]
    mfbench("run", "s.json", "--quiet", cwd=tmp_path, code=0, spec=spec, timeout=300)
    for header, *trace, _ in cases_of(tmp_path / "results/runs/quickstart"):
        reached = [point["epoch"] for point in trace if point["test_rmse"] <= spec["target_rmse"]]
        assert reached and reached[0] > 0, header["algorithm"]["name"]


# ---- Python --------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def bare_python(tmp_path_factory):
    """The Python of a venv without packages."""
    folder = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    return folder / "bin/python"


def test_the_winner_is_read_from_the_folder_that_was_run_into(mfbench, tmp_path):
    """What draws exchanges it for a link that leads nowhere."""
    spec = {"datasets": [{"like": "ml-100k", "scale": 0.05}], "stop": {"epochs": 3}, "target_rmse": 5,
            "algorithms": [{"name": "als_cpu", "factors": 4}, {"name": "als_cpu", "factors": 8}]}
    (tmp_path / "s.json").write_text(json.dumps(spec))
    drawing = tmp_path / "drawing"
    drawing.write_text(f"#!/bin/sh\nmv '{tmp_path}/r' '{tmp_path}/aside' && ln -s '{tmp_path}/none' '{tmp_path}/r'\nexit 1\n")
    drawing.chmod(0o755)
    done = mfbench("race", "s.json", "--out", "r", cwd=tmp_path, code=0, env={**mfbench.environment(), "PYTHON": str(drawing)})
    assert (tmp_path / "r").is_symlink() and re.match(r"als_cpu.* on ml-100k look-alike.* in ", end_of(done)["fastest"])


@pytest.mark.parametrize("module", ["mfplots", "mfplots.site"])
def test_a_python_without_packages_is_named_with_what_installs_them(bare_python, module, tmp_path):
    done = subprocess.run([bare_python, "-m", module, "x"], cwd=tmp_path, text=True, capture_output=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT / "plots")})
    assert done.returncode == 5 and len(done.stderr.splitlines()) == 1, done.stderr
    assert f"{bare_python} (Python 3." in done.stderr and "has no matplotlib and no pandas" in done.stderr
    assert f"{bare_python} -m pip install matplotlib pandas" in done.stderr


def test_a_python_that_has_the_packages_is_found_beside_one_that_has_not(mfbench, bare_python, tmp_path):
    """The venv that is active has none; the rest of PATH may."""
    for name in ("matplotlib", "pandas"):
        pytest.importorskip(name)
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "python3").symlink_to(sys.executable)
    env = {**mfbench.environment(), "PYTHON": str(bare_python), "PATH": f"{programs}:{os.environ['PATH']}"}
    done = mfbench("plot", "no-such-folder", cwd=tmp_path, env=env)
    assert done.returncode == 1 and "no-such-folder" in done.stderr and "pip install" not in done.stderr


def test_plot_and_report_take_all_words_as_their_own(mfbench, tmp_path):
    pytest.importorskip("pandas")
    env = {**mfbench.environment(), **PLOTS}
    assert "usage: mfbench plot" in mfbench("plot", "--help", cwd=tmp_path, env=env, code=0).stdout
    assert "usage: mfbench plot table" in mfbench("plot", "table", "--help", cwd=tmp_path, env=env, code=0).stdout
    assert "usage: mfbench report" in mfbench("report", "--help", cwd=tmp_path, env=env, code=0).stdout
