"""Both times of an answer, epochs, energy, clocks that moved and rates by method, by hand."""

import math
import re

import pytest
from synthetic import Made, draw, lines, rows_of, view_of, write, write_lines

from mfplots import figures
from mfplots.figures.clocks import EARLIER, stack_of
from mfplots.load import load
from mfplots.metrics import Target
from mfplots.recipes import Recipe
from mfplots.series import make_view, methods_apart
from mfplots.smallprint import provenance
from mfplots.style import styled
from mfplots.summary import Question, summarise
from mfplots.table import table_text

FAST = ((0, 0.0, 2.0), (1, 0.1, 1.0), (2, 0.2, 0.9))
MISSES = ((0, 0.0, 2.0), (1, 0.1, 1.0), (2, 0.2, 0.96))


pytestmark = pytest.mark.usefixtures("unlaid")


def drawn(folder, cases, recipe, *options):
    _, words, table = draw(write(folder / "run", cases), folder, recipe, *options)
    return words, table.set_index("series")


def test_an_answer_that_was_prepared_for_long_is_late(tmp_path):
    # Training 2 s against .2 s, but 0.25 s before it against 5.05 s.
    row = rows_of(tmp_path, [Made(), Made("fused", trace=FAST, prepare_s=5.0)])["fused"]
    assert (row.median_time, row.median_answer) == (0.2, pytest.approx(5.25))
    assert row.equal_quality.value == pytest.approx(10.0)
    assert row.answer_quality.value == pytest.approx(2.25 / 5.25)


def test_seeds_that_miss_are_late_in_both_times(tmp_path):
    cases = [Made("fused", seed=1, trace=FAST), *(Made("fused", seed=s, trace=MISSES)
                                                  for s in (2, 3))]
    row = rows_of(tmp_path, cases)["fused"]
    assert math.isnan(row.median_time) and math.isnan(row.median_answer)
    assert row.end_answer == pytest.approx(0.45)
    cases[1].trace = FAST
    row = rows_of(tmp_path / "two", cases)["fused"]
    assert (row.median_time, row.median_answer) == (0.2, pytest.approx(0.45))


def test_medians_are_of_cases_that_came_to_the_end(tmp_path):
    given_up = dict(trace=((0, 0.0, 2.0), (1, 0.001, 1.9)))
    cases = [Made(seed=1), Made(seed=2, status="diverged", **given_up), Made(seed=3, status="timeout", **given_up),
             *(Made("fused", seed=s, trace=FAST if s == 1 else (), status="completed" if s == 1 else "skipped")
               for s in (1, 2, 3))]
    rows = rows_of(tmp_path, cases)
    serial, fused = rows["sgd_serial"], rows["fused"]
    assert (serial.n, serial.not_reached) == (3, 2)
    assert (serial.end_time.median, serial.end_time.n) == (2.0, 1) and math.isnan(serial.end_answer)
    assert (serial.throughput.median, serial.throughput.n, serial.steady_epoch.n) == (1000.0, 1, 1)
    assert (fused.n, fused.not_reached) == (1, 0), "what could not run here missed nothing"
    assert (fused.median_time, fused.end_answer) == (0.2, pytest.approx(0.45))


def test_no_epoch_was_timed_where_each_point_is_a_run_of_its_own(tmp_path):
    row = rows_of(tmp_path, [Made(facts={"restarts": True}, epochs_s=(None, None))])["sgd_serial"]
    assert row.first_epoch.n == row.steady_epoch.n == row.throughput.n == 0 and row.end_time.median == 2.0


def test_clocks_give_no_answer_of_runs_that_did_not_complete(tmp_path):
    cases = [Made(seed=1), Made(seed=2, status="timeout"), Made(seed=3, status="timeout")]
    panel = view_of(tmp_path, cases).panels[0]
    assert math.isnan(stack_of(panel, panel.series[0]).answer)
    panel = view_of(tmp_path / "two", cases[:1]).panels[0]
    assert stack_of(panel, panel.series[0]).answer == pytest.approx(2.25)


def test_the_table_shows_both_times_and_both_speed_ups(tmp_path):
    text = table_text(view_of(tmp_path, [Made(), Made("fused", trace=FAST, prepare_s=5.0)]),
                      Question())
    head, line = text.splitlines()[0], next(t for t in text.splitlines() if "fused" in t)
    for words in ("train to target", "answer to target", "speed-up at target",
                  "speed-up of the answer"):
        assert words in head
    assert re.search(r"200 ms +5\.25 s +200 ms +5\.25 s +10\.0 times as fast +2\.33 times as slow", line)


def test_epochs_come_from_the_footer(tmp_path):
    rows = rows_of(tmp_path, [Made(epochs_s=(3.5, 1.25)), Made("short", trace=FAST[:1], epochs_s=(None, None))])
    found = {name: (row.first_epoch.median, row.steady_epoch.median) for name, row in rows.items()}
    assert found["sgd_serial"] == (3.5, 1.25) and all(map(math.isnan, found["short"]))


def test_energy_is_that_of_the_point_at_the_target(tmp_path):
    cases = [Made("fused", seed=s, trace=FAST, watts=400.0) for s in (1, 2, 3)]
    assert rows_of(tmp_path / "a", cases)["fused"].median_energy == pytest.approx(80.0)
    assert rows_of(tmp_path / "b", cases, Question(Target(1.0)))["fused"].median_energy == \
        pytest.approx(40.0)
    cases[0].trace = cases[1].trace = MISSES
    assert math.isnan(rows_of(tmp_path / "c", cases)["fused"].median_energy)
    assert math.isnan(rows_of(tmp_path / "d", [Made()])["sgd_serial"].median_energy)


def test_a_clock_that_moved_is_marked_in_table_and_small_print(tmp_path):
    still = {"min": 1980e6, "median": 1980e6, "max": 1980e6, "samples": 5}
    moved = {"min": 1740e6, "median": 1900e6, "max": 1935e6, "samples": 5}
    cases = [Made("als", seed=s, clock_seen=still) for s in (1, 2)]
    cases += [Made("fused", seed=1, clock_seen=still), Made("fused", seed=2, clock_seen=moved)]
    text = table_text(view_of(tmp_path / "a", cases), Question(baseline="als"))
    assert "SM clock moved in 1 of 2: 1740 to 1935 MHz" in text
    words, _ = drawn(tmp_path / "b", cases, {"figure": "rmse-time"})
    assert "SM clock moved by more than 2 % within 1 of 4 cases, 1740 to 1935 MHz: fused" in words
    words, _ = drawn(tmp_path / "c", cases[:3], {"figure": "rmse-time"})
    assert "SM clock" not in words


WHY = "training: other programs kept 1.0 of 2 CPUs busy"
OPTIONS = {"speedup": ("--baseline", "als"), "paired-differences": ("--baseline", "als")}


@pytest.mark.parametrize("name", ["rmse-time", "throughput", "metric-bars", "clocks", "speedup",
                                  "paired-differences"])
def test_a_machine_that_was_shared_is_marked_in_series_and_small_print(tmp_path, name):
    cases = [Made("als", seed=s, contended=[], params={"factors": 8}) for s in (1, 2)]
    cases += [Made("fpsgd", seed=1, contended=[WHY], params={"factors": 8}),
              Made("fpsgd", seed=2, contended=[], params={"factors": 8})]
    options = OPTIONS.get(name, ())
    words, _ = drawn(tmp_path / "a", cases, {"figure": name}, *options)
    assert "fpsgd †" in words and "als †" not in words
    assert f"† contended in 1 of 4 cases, whose times may be those of other programs: fpsgd " \
           f"({WHY})" in words
    cases[2].contended = []
    words, _ = drawn(tmp_path / "b", cases, {"figure": name}, *options)
    assert "†" not in words and "contended" not in words


def test_a_sweep_marks_the_line_of_a_machine_that_was_shared(tmp_path):
    cases = [Made("als", params={"factors": k}, contended=[WHY] if k == 8 else []) for k in (4, 8)]
    words, _ = drawn(tmp_path, cases, {"figure": "sweep", "x": "factors"})
    assert "als †" in words and "† contended in 1 of 2 cases" in words


def test_a_shared_machine_is_named_in_the_table_and_old_files_are_taken_as_they_were(tmp_path):
    cases = [Made("als", seed=1), Made("als", seed=2, contended=[]),
             Made("fpsgd", seed=1, contended=[WHY]), Made("fused", host_contended=[WHY])]
    text = table_text(view_of(tmp_path, cases), Question())
    assert "contended in 1 of 1" in text and "fpsgd †" in text and "als †" not in text
    assert f"† contended in 1 of 4 cases, whose times may be those of other programs: fpsgd ({WHY})" \
        in text
    assert "† host clocks contended in 1 of 4 cases" in text and "fused †" in text
    assert "†" not in table_text(view_of(tmp_path / "old", cases[:2]), Question())


def test_threads_that_take_twice_the_cpu_time_of_one_are_marked(tmp_path):
    for algorithm, threads, seconds in (("als", 1, 1.0), ("als", 2, 1.9), ("als", 16, 6.0), ("fpsgd", 16, 9.0)):
        found = lines(Made(algorithm, {"factors": 8, "threads": threads}))
        found[-1]["host_load"] = {"train": {"cpu_s": seconds}}
        write_lines(tmp_path / f"{algorithm}{threads}.jsonl", found)
    text = table_text(make_view(load([tmp_path])), Question())
    assert "6.0 x the CPU time of one thread" in next(line for line in text.splitlines() if "threads=16" in line)
    assert text.count("CPU time of one") == 1


def test_there_is_no_speed_up_per_update_between_methods(tmp_path):
    rows = rows_of(tmp_path, [Made(), Made("hogwild", trace=FAST), Made("als", trace=FAST)])
    assert rows["hogwild"].per_update.value == pytest.approx(10.0)
    assert not rows["als"].per_update.known
    assert rows["als"].per_update_problem == "updates of als and sgd differ"
    assert rows["als"].equal_quality.known


def test_rates_have_a_panel_and_a_table_a_method(tmp_path):
    cases = [Made(), Made("hogwild", trace=FAST), Made("als", trace=FAST)]
    view = view_of(tmp_path, cases)
    apart = methods_apart(view)
    assert [(panel.title, [s.label for s in panel.series]) for panel in apart.panels] == [
        ("toy, updates of als", ["als"]), ("toy, updates of sgd", ["hogwild", "sgd_serial"])]
    assert len(view.panels) == 1, "the view itself stays"
    text = table_text(view, Question())
    _, *rates = text.split("\n\n")[:3]
    assert ["updates/s of als" in rates[0], "updates/s of sgd" in rates[1]] == [True, True]
    assert "hogwild" not in rates[0] and not re.search(r"toy .* als ", rates[1])
    assert "hogwild" in rates[1] and re.search(r"synthetic\) +als ", rates[0])
    single = view_of(tmp_path / "single", cases[:2])
    assert methods_apart(single) is single


@pytest.mark.parametrize("figure", [
    {"figure": "throughput"}, {"figure": "trace", "x": "epochs", "y": "updates_per_s"},
    {"figure": "metric-bars", "y": "updates_per_s"}, {"figure": "metric-bars", "y": "s_per_iteration"},
    {"figure": "sweep", "x": "factors", "y": "updates_per_s"}])
def test_no_figure_of_rates_has_two_methods_on_one_axis(tmp_path, figure):
    cases = [Made(), Made("als", trace=FAST, facts={"writes_made": 0.4321})]
    words, table = drawn(tmp_path, cases, figure)
    assert set(re.findall(r"updates of (\w+) \(look-alike", words)) == {"als", "sgd"}
    assert "43.2 % of the item writes made" in words and len(table) >= 2


def test_time_to_the_target_is_drawn_with_the_answer_beside_it(tmp_path):
    cases = [Made("fused", seed=1, trace=FAST, prepare_s=5.0),
             *(Made("fused", seed=s, trace=MISSES, prepare_s=5.0) for s in (2,)), Made(),
             Made("fused", seed=3, trace=FAST, prepare_s=5.0)]
    words, table = drawn(tmp_path, cases, {"figure": "metric-bars", "y": "time_to_target"})
    assert "200 ms, answer 5.25 s, 1 of 3 did not reach" in words.replace("\N{NO-BREAK SPACE}", " ")
    assert table.loc["fused", "time_to_target"] == pytest.approx(0.2)
    assert table.loc["fused", "answer_to_target"] == pytest.approx(5.25)
    assert table.loc["fused", "answer_to_target_ratio"] == pytest.approx(5.25 / 2.25)
    assert table.loc["fused", "ratio"] == pytest.approx(0.1)


def test_curves_against_training_time_say_what_came_before_it(tmp_path):
    cases = [Made(), Made("fused", {"factors": 8}, prepare_s=5.0, trace=FAST),
             Made("fused", {"factors": 16}, prepare_s=1.0, trace=FAST)]
    words, _ = drawn(tmp_path / "a", cases, {"figure": "rmse-time"})
    assert "prepare + transfer took: fused 1.05 s to 5.05 s, sgd_serial 250 ms." in words
    words, _ = drawn(tmp_path / "b", cases, {"figure": "rmse-answer"})
    assert "transfer took" not in words


# ---- the stacked clocks -------------------------------------------------------------------------

def with_clocks(case, **clocks):
    found = lines(case)
    found[-1]["clocks"].update(clocks)
    return found


def test_clocks_stack_up_to_the_wall_time_with_the_rest(tmp_path):
    write_lines(tmp_path / "a.jsonl", with_clocks(
        Made(), load_s=1.0, prepare_s=2.0, transfer_s=0.5, train_s=4.0, evaluate_s=1.5,
        wall_s=10.0))
    panel = make_view(load([tmp_path])).panels[0]
    stack = stack_of(panel, panel.series[0])
    assert stack.parts == {"start": 0.0, "load": 1.0, "prepare": 2.0, "transfer": 0.5, "train": 4.0,
                           "evaluate": 1.5, "save": 0.0, EARLIER: 0.0, "rest": 1.0}, "not known: all in the rest"
    assert stack.total == 7.5 and stack.answer == 6.5 and stack.n == 1


def test_the_runs_before_the_last_of_what_restarts_are_no_rest(tmp_path):
    found = with_clocks(Made("peer:libmf:sgd", facts={"restarts": True}), load_s=0.0, prepare_s=1.0, transfer_s=0.0, train_s=4.0,
                        evaluate_s=0.0, wall_s=10.0)
    found[-1]["phases"] = {"epoch": {"seconds_s": 8.5, "count": 3}}
    write_lines(tmp_path / "a.jsonl", found)
    panel = make_view(load([tmp_path])).panels[0]
    stack = stack_of(panel, panel.series[0])
    assert (stack.parts["train"], stack.parts[EARLIER], stack.parts["rest"]) == (4.0, 4.5, 0.5)
    with styled():
        (axes,) = figures.draw(make_view(load([tmp_path])), Recipe("clocks")).axes
    assert sum(bar.get_width() for bar in axes.patches) == pytest.approx(5.0), "seconds, without the runs before the last"


def with_shared(case, shared, **clocks):
    found = with_clocks(case, **clocks)
    found[-1]["shared"] = shared
    return found


LENT = {"start": {"first_case_s": 9.0}, "load": {"ratings_s": 7.0, "split_s": 1.0},
        "prepare": {"views_s": 0.5}, "transfer": {"upload_s": 0.25, "columns_s": 0.125}}


def test_the_answer_has_what_an_earlier_case_had_prepared_and_transferred(tmp_path):
    clocks = dict(load_s=0.0, prepare_s=2.0, transfer_s=0.5, train_s=4.0, evaluate_s=0.0,
                  wall_s=10.0)
    write_lines(tmp_path / "a.jsonl", with_shared(Made(), LENT, **clocks))
    write_lines(tmp_path / "b.jsonl", with_shared(Made("als"), {}, **clocks))
    results = load([tmp_path])
    last = results.trace.groupby("case").last()["answer_s"]
    trained = results.trace.groupby("case").last()["train_s"]
    by_name = dict(zip(results.cases["algorithm"], last - trained))
    assert by_name == {"sgd_serial": pytest.approx(3.375), "als": pytest.approx(2.5)}
    panel = make_view(results).panels[0]
    stacks = {one.label: stack_of(panel, one) for one in panel.series}
    assert stacks["sgd_serial"].answer == pytest.approx(7.375)
    assert stacks["als"].answer == pytest.approx(6.5)
    assert stacks["sgd_serial"].parts == stacks["als"].parts, "the bar is what the case itself did"


def test_each_part_is_a_median_over_seeds(tmp_path):
    for seed, prepare in ((1, 1.0), (2, 5.0), (3, 2.0)):
        write_lines(tmp_path / f"{seed}.jsonl", with_clocks(
            Made(seed=seed), load_s=0.0, prepare_s=prepare, transfer_s=0.0, train_s=seed,
            evaluate_s=0.0, wall_s=10.0))
    panel = make_view(load([tmp_path])).panels[0]
    stack = stack_of(panel, panel.series[0])
    assert (stack.parts["prepare"], stack.parts["train"]) == (2.0, 2.0)
    assert stack.answer == 5.0  # of 2, 7 and 5
    assert stack.parts["rest"] == 5.0  # of 8, 3 and 5


def test_clocks_are_seconds_without_what_is_the_harness_own(tmp_path):
    words, table = drawn(tmp_path, [Made(), Made("als", trace=(), status="oom")], {"figure": "clocks"})
    page = figures.draw(make_view(load([tmp_path / "run"])), Recipe("clocks"))
    assert [handle.get_label() for handle in page.handles] == ["load", "prepare", "transfer", "train"]
    assert [bar.get_width() for bar in page.axes[0].patches if bar.get_width()] == pytest.approx(2 * [0.1, 0.2, 0.05] + [2.0])
    assert page.axes[0].xaxis.get_major_formatter()(2.0) == "2 s"
    assert "1 oom" in words and "time from the file to the model" in words and "all 2.35 s" in words
    own = table.loc["sgd_serial"]
    assert own["train_s"] == 2.0 and own["answer_s"] == pytest.approx(2.25)
    assert own[["load_s", "prepare_s", "transfer_s", "train_s", "evaluate_s",
                "rest_s"]].sum() == pytest.approx(3.0)


def test_the_headline_is_at_the_epoch_that_validation_chose(tmp_path):
    path = write_lines(tmp_path / "1.jsonl", [
        {**line, "validation_rmse": {0: 0.1, 1: 0.95, 2: 0.99}[line["epoch"]]} if line["type"] == "trace" else line
        for line in lines(Made(trace=((0, 0.0, 0.5), (1, 0.1, 1.0), (2, 0.2, 0.9))))])
    row, = summarise(make_view(load([path])), Question())
    assert row.quality.median == 1.0, "epoch 1, and the initial model is no choice"
    assert row.best.median == 0.9, "nor the best"
    head, cells = table_text(make_view(load([path])), Question()).splitlines()[:2]
    assert re.search(r"test RMSE \[min, max\] +last epoch +best on test", head)
    assert re.search(r"1\.0000 +0\.9000 +0\.9000", cells)
    assert "last epoch" not in table_text(view_of(tmp_path / "without", [Made()]), Question())


def test_who_watched_the_test_part_is_marked(tmp_path):
    plateau = {"kind": "plateau", "learning_rate": 0.01, "patience": 2, "decay": 0.2, "min_delta": 0}
    rows = rows_of(tmp_path, [Made(schedule={**plateau, "monitor": "test"}),
                              Made("hogwild", schedule={**plateau, "monitor": "validation"})])
    assert {label.split()[0]: "1 watched the test part" in row.statuses for label, row in rows.items()} == {
        "sgd_serial": True, "hogwild": False}
    view = make_view(load([tmp_path]))
    assert "test part watched in 1 of 2 cases by schedule: sgd_serial" in provenance(view)


def test_rankings_of_an_older_version_are_marked(tmp_path):
    for name, ranking in (("old", {}), ("new", {"seen": "train + validation"})):
        head, *rest = lines(Made(name, implicit=True))
        head["dataset"]["nnz_validation"] = 10
        write_lines(tmp_path / f"{name}.jsonl", [{**head, "ranking": ranking}, *rest])
    small = " ".join(provenance(make_view(load([tmp_path]))))
    assert "seen: train in 1 of 2 cases" in small and small.endswith("validation part: old")


def test_the_first_at_each_frozen_target_is_marked(tmp_path):
    early = ((0, 0.0, 2.0), (1, 1.0, 0.94), (2, 9.0, 0.91))
    late = ((0, 0.0, 2.0), (1, 2.0, 0.92), (2, 3.0, 0.91))
    never = ((0, 0.0, 2.0), (1, 0.1, 0.99))
    cases = [Made(trace=early, dataset="ml-100k"), Made("hogwild", trace=late, dataset="ml-100k"),
             Made("als", trace=never, dataset="ml-100k")]
    rows = rows_of(tmp_path, cases)
    assert [value for value, _ in rows["als"].frozen] == [0.94, 0.928, 0.915]
    assert all(math.isnan(answer) for _, answer in rows["als"].frozen)
    text = table_text(view_of(tmp_path, cases), Question()).split("answer to named")[1]
    first, second, third = (next(line for line in text.splitlines() if f" {name} " in line)
                            for name in ("sgd_serial", "hogwild", "als"))
    assert re.search(r"0\.94: 1\.25 s \*", first) and first.count("*") == 1
    assert second.count("*") == 2 and "*" not in third
    assert not rows_of(tmp_path / "toy", [Made()])["sgd_serial"].frozen, "of no data set that has any"
