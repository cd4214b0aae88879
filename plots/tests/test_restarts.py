"""A library that runs from the start for each evaluated point: the times of a trace are those of several runs, and
may run backwards."""

import pytest
from synthetic import Made, draw, view_of, write

from mfplots import figures
from mfplots.load import load
from mfplots.recipes import Recipe
from mfplots.series import make_view
from mfplots.site.board import board
from mfplots.site.gather import Run
from mfplots.site.groups import group_data, make_groups
from mfplots.summary import Question
from mfplots.table import table_text

# The run of one epoch was in the way of another program: it took longer than that of two.
BACKWARDS = ((0, 0.0, 2.0), (1, 1.9, 0.94), (2, 1.4, 0.9))
LIBRARY = Made("peer:libmf:sgd", trace=BACKWARDS, facts={"restarts": True})


def joined_lines(folder, x):
    """For each curve, whether a line joins its points."""
    (axes,) = figures.draw(view_of(folder, [LIBRARY, Made()]), Recipe("trace", x=x)).axes
    return [line.get_linestyle() != "None" for line in axes.lines if len(line.get_xdata()) == len(BACKWARDS)]


@pytest.mark.parametrize("x, joined", [("train_s", False), ("answer_s", False), ("epochs", True), ("wall_s", True)])
def test_no_line_joins_the_times_of_several_runs(tmp_path, x, joined):
    assert sorted(joined_lines(tmp_path, x)) == sorted([joined, True])


def test_the_table_marks_times_that_are_of_several_runs(tmp_path):
    text = table_text(view_of(tmp_path, [LIBRARY, Made()]), Question())
    (row,) = (line for line in text.splitlines() if line.startswith("toy") and "libmf" in line and "1.40 s" in line)
    assert "1.90 s" in row and "peer:libmf:sgd ‡" in row, "to the target it took longer than to the end"
    assert "‡ runs from the start for each evaluated point" in text
    assert "‡" not in table_text(view_of(tmp_path / "other", [Made()]), Question())


def test_the_figure_says_why_there_is_no_line(tmp_path):
    folder = write(tmp_path / "run", [LIBRARY, Made()])
    status, words, _ = draw(folder, tmp_path, {"figure": "rmse-time"})
    assert status == 0 and "LIBMF SGD ‡" in words and "‡ runs from the start" in words


def test_the_best_of_all_epochs_says_what_chose_it(tmp_path):
    """LIBMF's best is .9156 and its model's .9427: an axis of the former is no ranking of models."""
    folder = write(tmp_path / "run", [Made(), Made("fused")])
    for y, says in (("best_test_rmse", True), ("final_test_rmse", False)):
        _, words, _ = draw(folder, tmp_path, {"figure": "metric-bars", "y": y})
        assert ("chosen on the test part" in words) == says
    _, words, table = draw(folder, tmp_path, {"figure": "paired-differences", "baseline": "sgd_serial"})
    assert "chosen on the test part" not in words and "headline_test_rmse_less" in table


def test_the_report_marks_them(tmp_path):
    results = load([write(tmp_path / "run", [LIBRARY, Made()])])
    groups = make_groups([Run("run", tmp_path, results, make_view(results))])
    assert {row["algorithm"]: row["restarts"] for row in board(groups)} == {LIBRARY.algorithm: True, "sgd_serial": False}
    found = {series["algorithm"]: (series["restarts"], series["label"].endswith(" ‡"))
             for series in group_data(groups[0], 0)["series"]}
    assert found == {
        LIBRARY.algorithm: (True, True), "sgd_serial": (False, False)}
