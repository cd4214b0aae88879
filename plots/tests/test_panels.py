"""The first page's panels, without a browser: what is in them, who is first, where a library is ahead."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pandas as pd
import pytest
from mfplots import metrics
from mfplots.metrics import Target
from mfplots.errors import PlotError
from mfplots.site import cli, figures, pages, panels
from mfplots.site.assets import find_libraries
from mfplots.site.board import board
from mfplots.site.gather import gather
from mfplots.site.groups import make_groups
from mfplots.names import library_name
from mfplots.summary import LEVELS, times_to_target
from synthetic import Made, descent, write as write_cases

ROOT = Path(__file__).parents[2]
SEEDS = (1, 2, 3)
LIBMF = "peer:libmf:sgd"


TUNED = {"trials": 2, "values": {}, "search": {"over": {"reg": [0.01, 0.1]}}}


def made(algorithm: str, seconds: float, floor: float = 0.9, seeds=SEEDS, **more) -> list[Made]:
    params = {"factors": 8, **more.pop("params", {})}
    more = {"tuned": TUNED, **more}
    return [Made(algorithm, params, seed=s, trace=descent(s, seconds, floor), prepare_s=0.0, **more) for s in seeds]


def panels_of(folder: Path, published: pd.DataFrame | None = None) -> list[dict]:
    return panels.panels(make_groups(gather([folder])[0]), published)


def row(panel: dict, name: str) -> dict:
    return next(r for r in panel["rows"] if r["name"] == name)


def test_a_panel_has_a_row_an_algorithm_and_its_fastest_configuration(tmp_path):
    write_cases(tmp_path / "run", [*made(LIBMF, 1.0), *made("fpsgd", 0.5), *made("fpsgd", 0.1, learning_rate=0.02)])
    (panel,) = panels_of(tmp_path)
    assert sorted((r["name"], r["kind"]) for r in panel["rows"]) == [("LIBMF SGD (CPU)", "library"), ("fpsgd (CPU)", "paper")]
    (group,) = make_groups(gather([tmp_path])[0])
    fastest = min((m for m in group.members if m.series.algorithm == "fpsgd"),
                  key=lambda m: max(t["train_s"].max() for t in m.series.traces.values()))
    want = metrics.censored_median(times_to_target(fastest.series, Target(panel["targets"]["named"]), "answer_s"))
    assert row(panel, "fpsgd (CPU)")["at"]["named"]["answer"]["s"] == want


def test_one_number_of_factors_and_one_machine_stand_in_a_panel(tmp_path):
    write_cases(tmp_path / "run", [*made(LIBMF, 1.0), *made("fpsgd", 0.5), *made("bias", 0.02, params={"factors": 1}), *made("als", 0.3, hardware="cuda", host="b", gpu="Card"),
                                   *made("sgd_tiled", 0.3, hardware="cuda", params={"devices": 4})])
    write_cases(tmp_path / "other", made("fpsgd", 0.01, params={"factors": 16}))
    usual, *others = panels_of(tmp_path)
    assert usual["factors"] == 8 and usual["usual"] and not any(p["usual"] for p in others)
    names = {r["name"] for r in usual["rows"]}
    assert {"LIBMF SGD (CPU)", "fpsgd (CPU)", "bias (CPU)"} <= names and "sgd_tiled" not in names and "als" not in names
    assert row(usual, "fpsgd (CPU)")["at"]["named"]["answer"]["configuration"] == "factors=8"


def test_all_of_a_run_alone_are_in_its_panel_at_its_target(tmp_path):
    write_cases(tmp_path / "run", [*made("fpsgd", 0.5), *made("als_cpu", 0.01, params={"factors": 16}),
                                   *made("sgd_tiled", 0.3, hardware="cuda", params={"devices": 4})])
    (panel,) = panels_of(tmp_path)
    assert {r["name"] for r in panel["rows"]} == {"fpsgd (CPU)", "als_cpu", "sgd_tiled"} and panel["factors"] is None
    assert panel["targets"]["named"] == 0.95 and panel["chosen"]["named"] == "named"


def test_two_hosts_of_one_kind_are_no_contest(tmp_path):
    write_cases(tmp_path / "one", [*made(LIBMF, 1.0, host="one"), *made("fpsgd", 0.5, host="one")])
    write_cases(tmp_path / "two", [*made("als_cpu", 0.01, host="two"), *made("fpsgd", 0.1, host="two")])
    (panel,) = panels_of(tmp_path)
    assert {r["name"] for r in panel["rows"]} == {"LIBMF SGD (CPU)", "fpsgd (CPU)"}
    assert row(panel, "fpsgd (CPU)")["at"]["named"]["answer"]["run"] == "one"
    assert panel["bench"].endswith(", one") and not panel["machine"].endswith(", one")


def test_a_row_of_several_hosts_is_beside_those_of_the_host_that_most_of_its_seeds_have(tmp_path):
    write_cases(tmp_path / "run", [*made(LIBMF, 1.0, host="one"), *made("fpsgd", 0.5, seeds=SEEDS[:1], host="two"),
                                   *made("fpsgd", 0.5, seeds=SEEDS[1:], host="one")])
    (panel,) = panels_of(tmp_path)
    assert {r["name"] for r in panel["rows"]} == {"LIBMF SGD (CPU)", "fpsgd (CPU)"} and panel["bench"].endswith(", one")


def test_the_usual_host_has_a_race_and_then_most_rows(tmp_path):
    write_cases(tmp_path / "libraries", [*made(LIBMF, 1.0, host="a"), *made("peer:cmfrec:als", 1.0, host="a")])
    write_cases(tmp_path / "rows", [case for name in (LIBMF, "fpsgd", "als_cpu") for case in made(name, 0.5, host="b")])
    write_cases(tmp_path / "none", [case for name in ("fpsgd", "als_cpu", "hogwild", "sgd_serial") for case in made(name, 0.5, host="c")])
    assert panels_of(tmp_path)[0]["bench"].endswith(", b")


def test_panels_are_races_where_any_is_the_largest_first_and_then_real_data(tmp_path):
    write_cases(tmp_path / "without", made("fpsgd", 0.1, dataset="without", content_hash="1" * 16))
    assert [p["title"] for p in panels_of(tmp_path)] == ["without"]
    for name, real, ratings in (("large look-alike", False, 9000), ("small", True, 100), ("medium", True, 500)):
        both = dict(dataset=name, look_alike=not real, nnz=ratings, content_hash=name[0] * 16)
        write_cases(tmp_path / name, [*made(LIBMF, 1.0, **both), *made("fpsgd", 0.1, **both)])
    assert [(p["title"], p["made"]) for p in panels_of(tmp_path)] == [
        ("large", "look-alike"), ("medium", "real"), ("small", "real")]


@pytest.mark.parametrize("untuned", [(LIBMF, "fpsgd"), (LIBMF,), ("fpsgd",)])
def test_what_was_not_tuned_or_has_one_side_is_no_race(untuned, tmp_path):
    """Neither a panel beside a race, nor a loss, nor more rows of the race."""
    fixed = dict(dataset="fixed", content_hash="f" * 16)
    for name, seconds in ((LIBMF, 0.1), ("fpsgd", 1.0)):
        write_cases(tmp_path / "fixed", made(name, seconds, **fixed, tuned=None if name in untuned else TUNED))
    write_cases(tmp_path / "one side", made(LIBMF, 0.001, host="other"))
    (alone,) = [p for p in panels_of(tmp_path / "fixed")]
    assert not alone["races"] and panels.losses([alone]) == []
    write_cases(tmp_path / "race", [*made(LIBMF, 1.0), *made("fpsgd", 0.5)])
    write_cases(tmp_path / "more", made("fpsgd", 0.01, tuned=None))
    (panel,) = panels_of(tmp_path)
    assert panel["title"] == "toy" and panel["races"] and panels.losses([panel]) == []
    assert {r["at"]["named"]["answer"]["run"] for r in panel["rows"]} == {"race"}


def test_a_loss_of_the_committed_results_has_a_row_of_ours_in_its_panel():
    folders = ("bpr-speed", "peers-implicit.lastfm-2k", "peers-explicit.ml-100k", "cumf_als/section56.peers")
    shown = panels.panels(make_groups(gather([ROOT / "results/reference/h100" / name for name in folders])[0]))
    assert [panel["title"] for panel in shown] == ["ml-100k", "lastfm-2k, implicit from 1"]
    rows = {panel["title"]: {row["name"]: row["kind"] for row in panel["rows"]} for panel in shown}
    for loss in panels.losses(shown):
        own = rows[loss["data"]]
        assert own[loss["by"]["name"]] == "library" and set(own.values()) & {"new", "paper"}


def test_the_best_value_has_its_owner_and_range_wherever_it_ran(tmp_path):
    write_cases(tmp_path / "race", [*made(LIBMF, 1.0, 0.9), *made("fpsgd", 0.5, 0.85)])
    (panel,) = panels_of(tmp_path)
    assert (panel["best"]["of"], panel["best"]["run"], panel["best"]["n"]) == ("fpsgd (CPU)", "race", 3)
    finals = sorted(case.trace[-1][2] for case in made("fpsgd", 0.5, 0.85))
    assert [panel["best"][key] for key in ("low", "quality", "high")] == pytest.approx(finals)
    write_cases(tmp_path / "elsewhere", [*made("bpmf", 9.0, 0.7, host="other", tuned=None), *made("ease", 9.0, 0.5, seeds=(1, 2)),
                                         *made("als_cpu", 9.0, 0.6, params={"factors": 64})])
    (panel,) = panels_of(tmp_path)
    assert (panel["best"]["of"], panel["best"]["run"]) == ("bpmf (CPU)", "elsewhere"), "three seeds, of the panel's size"
    assert "bpmf (CPU)" not in {row["name"] for row in panel["rows"]}


def test_titles_tell_data_sets_apart(tmp_path):
    for content in "12":
        write_cases(tmp_path / content, [*made(LIBMF, 1.0, content_hash=content * 16), *made("fpsgd", 0.5, content_hash=content * 16)])
    assert sorted(panel["title"] for panel in panels_of(tmp_path)) == ["toy, content 11111111", "toy, content 22222222"]


def test_a_report_names_itself_its_days_and_its_project(tmp_path):
    days = ["2026-01-03", "2026-01-02", "2026-01-03"]
    assert pages.about("mfbench 9", days, "https://x.org/m") == (
        'A report of <a href="https://x.org/m">mfbench 9</a>, which benchmarks matrix-factorization algorithms on CPUs and GPUs; '
        'measured 2026-01-02 to 2026-01-03.')
    assert pages.about("mfbench 9", days[:1], "").endswith("report of mfbench 9, which benchmarks matrix-factorization algorithms "
                                                           "on CPUs and GPUs; measured 2026-01-03.")
    write_cases(tmp_path / "run", made("fpsgd", 0.5))
    assert set(cli.days_of(gather([tmp_path])[0])) == {"2020-01-01"}


def test_targets_that_are_not_frozen_follow_the_rule_of_those_that_are(tmp_path):
    write_cases(tmp_path / "run", [*made(LIBMF, 1.0, 0.9, target=None), *made("fpsgd", 0.1, 0.8, target=None)])
    (panel,) = panels_of(tmp_path)
    assert set(panel["chosen"].values()) == {"afterwards"} and list(panel["targets"]) == list(LEVELS)
    strictest = row(panel, "fpsgd (CPU)")["quality"]
    assert strictest <= panel["targets"]["strictest"] <= strictest + 0.001
    assert panel["targets"]["named"] == pytest.approx(1.05 * strictest, abs=0.001)
    assert panel["targets"]["strictest"] < panel["targets"]["stricter"] < panel["targets"]["named"]
    write_cases(tmp_path / "run", made("als_cpu", 0.1, 0.85, target=0.99))
    assert panels_of(tmp_path)[0]["targets"]["named"] == 0.99  # what a spec names


def test_frozen_targets_are_those_of_the_file(tmp_path):
    frozen = json.loads((ROOT / "harness/experiment/targets.json").read_text())["sets"]
    known = next(s for s in frozen if s["dataset"] == "ml-100k" and s["split"] == {"holdout": 0.2})
    write_cases(tmp_path / "run", [*made(LIBMF, 1.0, dataset="ml-100k", look_alike=False, target=None)])
    (panel,) = panels_of(tmp_path)
    late = known.get("chosen", "")
    assert panel["chosen"] == {"named": "named" if known.get("named_by") else late, "stricter": late, "strictest": late}
    assert panel["targets"] == {level: known[level] for level in LEVELS}


def test_the_first_has_seeds_enough_and_a_mark_where_its_machine_was_shared(tmp_path):
    write_cases(tmp_path / "run", [*made(LIBMF, 1.0), *made("als_cpu", 0.01, seeds=(1, 2)), *made("fpsgd", 0.1, contended=["others"]),
                                   *made("hogwild", 0.5)])
    (panel,) = panels_of(tmp_path)
    names = [r["name"] for r in panel["rows"]]
    assert [names[place] for place in panel["order"]["named"]["answer"]] == [
        "fpsgd (CPU)", "hogwild (CPU)", "LIBMF SGD (CPU)", "als_cpu"]
    assert row(panel, "fpsgd (CPU)")["at"]["named"]["answer"]["contended"]
    assert row(panel, "als_cpu")["at"]["named"]["answer"]["seeds"] == 2


def test_a_row_behind_the_baseline_without_factors_is_marked(tmp_path):
    write_cases(tmp_path / "run", [*made(LIBMF, 1.0, 0.8), *made("fpsgd", 0.1, 1.1), *made("bias", 0.1, 0.95, params={"factors": 1})])
    (panel,) = panels_of(tmp_path)
    assert {r["name"]: r["below"] for r in panel["rows"]} == {"LIBMF SGD (CPU)": "", "fpsgd (CPU)": "bias", "bias (CPU)": ""}
    rows = board(make_groups(gather([tmp_path])[0]))
    assert {r["algorithm"] for r in rows if r["status"].endswith(", loses to bias")} == {"fpsgd"}


def test_what_a_library_does_better_is_a_loss(tmp_path):
    write_cases(tmp_path / "run", [*made(LIBMF, 0.01, 0.8), *made("fpsgd", 0.1, 0.85)])
    found = panels.losses(panels_of(tmp_path))
    assert [(loss["what"], loss.get("level")) for loss in found] == [
        ("time", "named"), ("time", "stricter"), ("time", "strictest"), ("quality", None)]
    assert found[0]["by"]["s"] < found[0]["ours"]["s"] and found[2]["ours"] is None
    assert found[3]["by"]["quality"] < found[3]["ours"]["quality"]
    write_cases(tmp_path / "run", made("als_cpu", 0.001, 0.7))
    assert panels.losses(panels_of(tmp_path)) == []


def test_what_has_too_few_seeds_stands_among_the_losses_with_their_number(tmp_path):
    write_cases(tmp_path / "run", [*made(LIBMF, 0.01, 0.8), *made("fpsgd", 0.1, 0.85), *made("ease", 0.001, 0.7, seeds=(1, 2))])
    found = panels.losses(panels_of(tmp_path))
    assert [loss["what"] for loss in found] == ["time", "time", "time", "quality"]
    for loss in found:
        assert loss["few"]["name"] == "ease (CPU)" and loss["few"]["seeds"] == 2 < loss["by"]["seeds"]
    assert found[-1]["few"]["quality"] < found[-1]["by"]["quality"] < found[-1]["ours"]["quality"]
    write_cases(tmp_path / "run", made("peer:myfm:gibbs", 9.0, 0.5, seeds=(1, 2)))
    assert panels.losses(panels_of(tmp_path))[-1]["by"] == {"name": "myfm Gibbs (CPU)", "seeds": 2, "quality": pytest.approx(0.5, abs=0.1)}


def test_a_published_value_has_who_reaches_it_at_any_size(tmp_path):
    table = pd.DataFrame([{"dataset": "toy", "system": system, "metric": "test_rmse", "x": "", "value": value}
                          for system, value in (("Net f=8", "0.85"), ("Net again", "0.86"))])
    write_cases(tmp_path / "run", [*made(LIBMF, 1.0), *made("fpsgd", 0.1)])
    (panel,) = panels_of(tmp_path, table)
    assert panel["published"] == {"system": "Net f=8", "value": 0.85, "by": None}
    write_cases(tmp_path / "more", made("als_cpu", 0.1, 0.8, params={"factors": 64}))
    by = panels_of(tmp_path, table)[0]["published"]["by"]
    assert by["name"] == "als_cpu" and by["factors"] == 64 and by["quality"] < 0.85 and by["answer"] > 0
    assert panels_of(tmp_path, table.assign(metric="ndcg_20"))[0]["published"] is None


def test_nothing_reached_is_said_with_the_best(tmp_path):
    write_cases(tmp_path / "run", [*made(LIBMF, 1.0, 0.94), *made("fpsgd", 0.1, 1.2)])
    (panel,) = panels_of(tmp_path)
    slow = row(panel, "fpsgd (CPU)")
    assert set(slow["at"]["named"].values()) == {None} and slow["quality"] > 1.1


def test_libraries_are_called_by_their_own_names():
    assert [library_name(name) for name in ("libmf", "lenskit", "spark", "torch", "cumf_als", "unknown")] == [
        "LIBMF", "LensKit", "Spark MLlib", "PyTorch", "cuMF_ALS", "unknown"]


def test_a_report_of_one_run_shows_its_own_data_only(tmp_path):
    try:
        find_libraries()
    except PlotError as error:
        pytest.skip(str(error))
    write_cases(tmp_path / "results/own", made("fpsgd", 0.1))
    subprocess.run([ROOT / "dev", "report", tmp_path / "results", "--out", tmp_path / "site"], check=True, timeout=300,
                   capture_output=True)
    pages_made = {path.name for path in (tmp_path / "site").glob("*.html")}
    assert "papers.html" not in pages_made  # which is of other results
    for page in pages_made:
        text = (tmp_path / "site" / page).read_text()
        assert set(re.findall(r'href="([\w.]+\.html)"', text)) <= pages_made
    assert all("measured 2020-01-01." in (tmp_path / "site" / page).read_text() for page in pages_made)
    assert '"own":false' in (tmp_path / "site/data/results.js").read_text()
    assert '"ceilings":[]' in (tmp_path / "site/data/speed.js").read_text()
    write_cases(tmp_path / "results/cumf_als/fig5", made("fpsgd", 0.1))
    runs, _ = gather([tmp_path / "results"])
    claims = cli.claims_of(figures.sources([tmp_path / "results"], runs), runs)
    assert claims and all("cumf_als/fig5" in claim.exhibits for claim in claims)
