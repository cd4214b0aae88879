import pytest
from synthetic import Made, footer, header, lines, rich_cases, rows_of, view_of, write, write_lines

from mfplots.errors import PlotError
from mfplots.load import load
from mfplots.metrics import Target
from mfplots.series import make_labels, make_view, panel_title, repeats
from mfplots.summary import Question


def test_labels_name_what_differs_and_nothing_else():
    labels = make_labels([("a", {"factors": 50, "threads": 1, "x": 1}),
                          ("a", {"factors": 50, "threads": 2, "x": 1}),
                          ("b", {"factors": 50, "threads": 4})])
    assert labels == ["a threads=1", "a threads=2", "b"]


def test_a_model_size_that_differs_is_always_named():
    assert make_labels([("a", {"factors": 50}), ("b", {"factors": 100})]) == \
        ["a factors=50", "b factors=100"]


def test_a_number_of_workers_that_differs_is_always_named():
    assert make_labels([("a", {"devices": 4}), ("b", {})]) == ["a devices=4", "b"]


def test_what_some_lack_is_named_only_where_nothing_else_tells_them_apart():
    assert make_labels([("a", {"solver": "lu"}), ("a", {"solver": "cg", "cg_steps": 6})]) == ["a solver=lu", "a solver=cg"]
    assert make_labels([("a", {}), ("a", {"stride": 250})]) == ["a", "a stride=250"]


def test_parameters_that_do_nothing_are_dropped(tmp_path):
    cases = [Made("als", {"solver": "cholesky", "cg_steps": 6}), Made("als", {"solver": "cg", "cg_steps": 6}, learning_rate=0.5)]
    second, first = sorted(view_of(tmp_path / "a", cases).panels[0].series, key=lambda series: series.label)
    assert "cg_steps" not in first.facets and second.facets["cg_steps"] == 6
    assert "schedule.learning_rate" not in second.facets  # no rate in ALS
    both = [Made("als", {"solver": "lu", "cg_steps": steps}) for steps in (3, 6)]
    assert sorted(view_of(tmp_path / "b", both).labels) == ["als cg_steps=3", "als cg_steps=6"]


def test_sections_are_left_out_of_labels_where_that_stays_clear():
    labels = make_labels([("a", {"schedule.learning_rate": 0.1}),
                          ("a", {"schedule.learning_rate": 0.2})])
    assert labels == ["a learning_rate=0.1", "a learning_rate=0.2"]


def test_seeds_are_repeats_of_one_series(tmp_path):
    view = view_of(tmp_path, [Made(seed=seed) for seed in (1, 2, 3)])
    assert view.labels == ["sgd_serial"]
    assert len(view.panels[0].series[0].cases) == 3


def test_folds_are_repeats_of_one_series_that_are_told_apart(tmp_path):
    for seed, fold in [(1, 1), (1, 2), (2, 1)]:
        case = Made(seed=seed)
        split = {"folds": 2, "fold": fold, "validation": 0.0, "seed": seed}
        made, *rest = lines(case)
        made["dataset"]["split"] = split
        made["case_id"] = made["case_hash"] = f"case-{seed}-{fold}"
        write_lines(tmp_path / f"case-{seed}-{fold}.jsonl", [made, *rest])
    view = make_view(load([tmp_path]))
    ((series,),) = [panel.series for panel in view.panels]
    assert sorted(repeats(series.finished)) == ["1 fold 1", "1 fold 2", "2 fold 1"]
    assert repeats(view_of(tmp_path / "plain", [Made(seed=3)]).panels[0].series[0].finished) == [3]


def test_learning_rates_make_series(tmp_path):
    view = view_of(tmp_path, [Made(learning_rate=rate) for rate in (0.01, 0.02)])
    assert view.labels == ["sgd_serial learning_rate=0.01", "sgd_serial learning_rate=0.02"]


def test_data_sets_make_panels_in_order(tmp_path):
    view = view_of(tmp_path, rich_cases())
    assert [panel.title for panel in view.panels] == ["toy", "ml-tiny"]
    assert [panel.look_alike for panel in view.panels] == [True, False]


def test_look_alikes_are_marked_once(tmp_path):
    view = view_of(tmp_path, [Made(dataset="ml-1m look-alike x0.1")])
    assert panel_title(view.panels[0]) == "ml-1m x0.1 (look-alike, synthetic)"


def test_enlarged_sets_say_that_their_ratings_are_drawn(tmp_path):
    made = Made(dataset="ml-1m expanded 80x5")
    data = {**header(made)["dataset"], "source": "expanded"}
    write_lines(tmp_path / "a.jsonl", [header(made, dataset=data), footer(made)])
    panel = make_view(load([tmp_path])).panels[0]
    assert panel_title(panel) == "ml-1m 80x5 (enlarged, ratings drawn anew)"


def test_the_same_name_with_other_content_is_another_panel(tmp_path):
    view = view_of(tmp_path, [Made(), Made(seed=2, content_hash="f" * 16)])
    assert [panel.title for panel in view.panels] == ["toy, content 00c0ffee",
                                                      "toy, content ffffffff"]


def test_a_case_whose_data_did_not_load_joins_its_data_set(tmp_path):
    write(tmp_path, [Made()])
    failed = Made("hogwild", trace=(), status="error", reason="unreadable")
    write_lines(tmp_path / "b.jsonl", [header(failed, dataset={"name": "toy"}), footer(failed)])
    view = make_view(load([tmp_path]))
    assert len(view.panels) == 1 and view.panels[0].look_alike
    assert {s.label for s in view.panels[0].series} == {"sgd_serial", "hogwild"}


def test_the_same_cases_in_two_folders_are_two_series(tmp_path):
    results = load([write(tmp_path / "before", [Made()]), write(tmp_path / "after", [Made()])])
    assert make_view(results).labels == ["sgd_serial folder=before", "sgd_serial folder=after"]


def test_the_same_case_is_known_by_its_hash_whatever_its_file_is_called(tmp_path):
    """mfbench names a case by what differs in its folder, which may be less than in another."""
    renamed = write_lines(tmp_path / "sgd_serial-lr0.01-toy-s1.jsonl",
                          [{**header(Made()), "case_id": "sgd_serial-lr0.01-toy-s1"},
                           *lines(Made())[1:]])
    results = load([write(tmp_path / "before", [Made()]), renamed])
    assert len(make_view(results).labels) == 2


def test_filters_take_columns_and_parameters(tmp_path):
    results = load([write(tmp_path, rich_cases(), spec=True)])
    view = make_view(results, {"algorithm": ["sgd_serial", "ebgtg"], "factors": 50,
                               "dataset": "toy"})
    assert view.labels == ["sgd_serial", "ebgtg"]
    without = make_view(results, {"stride": None, "factors": 50, "dataset": "toy"}).labels
    assert "sgd_serial" in without and "ebgtg" not in without
    with pytest.raises(PlotError, match='filter: unknown key "factor"; did you mean "factors"'):
        make_view(results, {"factor": 50})
    with pytest.raises(PlotError, match="leaves no case"):
        make_view(results, {"factors": 51})


def test_speed_up_at_equal_quality_and_per_update(tmp_path):
    # Baseline: 0.95 is met at 2 s, hogwild's 0.8 at 0.5 s; before training both take 0.25 s.
    rows = rows_of(tmp_path, [Made(), Made("hogwild", trace=[(0, 0.0, 1.2), (1, 0.5, 0.8)])])
    row = rows["hogwild"]
    assert row.median_time == 0.5
    assert row.median_answer == pytest.approx(0.75)
    assert row.equal_quality.value == pytest.approx(2.0 / 0.5)
    assert row.answer_quality.value == pytest.approx(2.25 / 0.75)
    assert row.throughput.median == pytest.approx(2000.0)
    assert row.per_update.value == pytest.approx(2.0)  # 1000 in 0.5 s over 2000 in 2 s
    assert row.bytes_rate.median == pytest.approx(800 * 2000)
    assert rows["sgd_serial"].is_baseline and rows["sgd_serial"].equal_quality.value == 1.0


def test_not_reached_is_counted_over_all_finished_seeds(tmp_path):
    misses = [(0, 0.0, 1.2), (1, 0.5, 0.96)]
    cases = [Made(), *(Made("hogwild", seed=s, trace=misses) for s in (1, 2)),
             Made("hogwild", seed=3, trace=[(0, 0.0, 1.2), (1, 0.5, 0.9)]),
             Made("hogwild", seed=4, status=None)]
    row = rows_of(tmp_path, cases)["hogwild"]
    assert (row.n, row.not_reached) == (3, 2)
    assert not row.equal_quality.known
    assert row.problem == "did not reach 0.95 (2 of 3 seeds)"
    assert row.per_update.known


def test_the_baseline_is_the_one_of_equal_parameters(tmp_path):
    rows = rows_of(tmp_path, rich_cases())
    assert rows["ebgtg factors=300"].baseline == "sgd_serial factors=300"
    assert rows["als factors=100"].baseline is None
    assert rows["als factors=100"].baseline_problem == \
        "no baseline: none of the 2 sgd_serial match"


def test_a_baseline_can_be_named_by_its_label(tmp_path):
    rows = rows_of(tmp_path, rich_cases(), Question(baseline="sgd_serial factors=50"))
    assert rows["ebgtg factors=300"].baseline == "sgd_serial factors=50"


def test_targets_of_the_question_win_over_those_of_the_files(tmp_path):
    assert rows_of(tmp_path, [Made()], Question(Target(1.0)))["sgd_serial"].median_time == 1.0


def test_files_that_name_several_targets_need_a_choice(tmp_path):
    with pytest.raises(PlotError, match=r"several target RMSEs \(0.9, 0.95\); give --target"):
        rows_of(tmp_path, [Made(), Made("als", target=0.9)])
