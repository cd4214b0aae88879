"""Google Benchmark's JSON, and its bars. The numbers are made up."""

import json

import pandas as pd
import pytest
from synthetic import Made, benchmark_failure, benchmark_runs, draw as draw_file, published, write, write_benchmarks

from mfplots.benchmarks import benchmark_files, load_benchmarks, parse_name, select
from mfplots.cli import main
from mfplots.errors import NotDrawable, PlotError
from mfplots.figures import draw
from mfplots.recipes import parse_recipe
from mfplots.style import styled

pytestmark = pytest.mark.usefixtures("unlaid")
TIMES = {("x", "coalesced"): (3, 8, 2), ("x", "l1"): (1, 8, 2), ("theta", "coalesced"): (4, 9, 1),
         ("theta", "l1"): (2, 9, 1)}


def stacks():
    return [run for (side, load), parts in TIMES.items()
            for part, time in zip(("load", "compute", "write"), parts)
            for run in benchmark_runs(f"fig/side:{side}/load:{load}/part:{part}/manual_time",
                                      [time])]


def solvers():
    return [*benchmark_runs("solve/solver:lu/manual_time", [7.0, 8.0, 9.0], flops=2e12),
            *benchmark_runs("solve/solver:cg/manual_time", [1.0, 2.0, 6.0], flops=1e12)]


def loaded(folder, runs, **options):
    return load_benchmarks(benchmark_files([write_benchmarks(folder, runs, **options)]))


def drawn(found, **recipe):
    with styled():
        return draw(found, parse_recipe({"figure": "benchmark-bars", **recipe}, "here"))


def words(folder, runs, **recipe):
    return draw_file(write_benchmarks(folder / "r", runs), folder, {"figure": "benchmark-bars", **recipe})[1]


# ---- reading -------------------------------------------------------------------------------------

@pytest.mark.parametrize("name, keys", [
    ("fig4/side:x/part:load/manual_time", {"benchmark": "fig4", "side": "x", "part": "load"}),
    ("epoch/f:32/iterations:5/repeats:3/real_time", {"benchmark": "epoch", "f": "32"}),
    ("Copy/1024/threads:2", {"benchmark": "Copy/1024", "threads": "2"}),
    ("a/data:like:netflix", {"benchmark": "a", "data": "like:netflix"})])
def test_names_carry_parameters(name, keys):
    assert parse_name(name) == keys


def test_repetitions_are_gathered_and_means_left_out(tmp_path):
    lu, cg = loaded(tmp_path, solvers()).items
    assert lu.times == pytest.approx((0.007, 0.008, 0.009)) and cg.values("time") == cg.times
    assert lu.counters == {"flops": (2e12, 2e12, 2e12)} and lu.values("bytes") == ()


@pytest.mark.parametrize("unit, factor", [("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1)])
def test_times_are_seconds(tmp_path, unit, factor):
    (item,) = loaded(tmp_path, benchmark_runs("a", [3.0], unit)).items
    assert item.times == pytest.approx((3.0 * factor,))


def test_a_failed_benchmark_keeps_its_reason(tmp_path):
    (item,) = loaded(tmp_path, [benchmark_failure("a/f:7", "no device memory")]).items
    assert item.keys == {"benchmark": "a", "f": "7"} and item.error == "no device memory"
    assert item.times == () and item.values("flops") == ()


@pytest.mark.parametrize("text, message", [
    ("{", "no JSON"), ("[]", "found list, expected an object"),
    ('{"benchmarks": []}', "no output of Google Benchmark"),
    (json.dumps({"context": {}, "benchmarks": [{"name": "a", "real_time": 1, "time_unit": "m"}]}),
     'a: time_unit "m"')])
def test_damaged_files_are_named(tmp_path, text, message):
    path = tmp_path / "benchmark.json"
    path.write_text(text)
    with pytest.raises(PlotError, match=f"benchmark.json: {message}"):
        load_benchmarks(benchmark_files([tmp_path]))


def test_select_takes_values_of_keys(tmp_path):
    found = loaded(tmp_path, stacks())
    assert len(select(found, {"side": "x", "load": ["coalesced", "l1"]})) == 6
    assert len(select(found, {"part": "write"})) == 4
    with pytest.raises(PlotError, match='no benchmark has the key "sid"; did you mean "side"?'):
        select(found, {"sid": "x"})


def test_provenance_names_program_revision_and_device(tmp_path):
    text = " ".join(loaded(tmp_path / "a", solvers()).provenance)
    assert "toy_gpubench, 2020-01-01" in text and "some/where" not in text
    assert "git 0123456789 + uncommitted changes" in text and "Test GPU, CUDA 12.0, driver of CUDA 1.0" in text
    text = " ".join(loaded(tmp_path / "b", solvers(), machine=False).provenance)
    assert "revision and device not recorded (no environment.json" in text


# ---- bars ----------------------------------------------------------------------------------------

def test_stacks_add_up_and_are_compared_within_their_panel(tmp_path):
    table = drawn(loaded(tmp_path, stacks()), panel_by="side", stack_by="part",
                  baseline="load=coalesced").numbers
    totals = table.drop_duplicates(["panel", "benchmark"]).set_index(["panel", "benchmark"])
    assert totals.loc[("side = x", "fig load=l1"), "total"] == pytest.approx(0.011)
    assert totals.loc[("side = x", "fig load=l1"), "ratio"] == pytest.approx(11 / 13)
    assert totals.loc[("side = theta", "fig load=l1"), "ratio"] == pytest.approx(12 / 14)
    assert len(table) == 12 and (table["baseline"] == "fig load=coalesced").all()


def test_the_parts_of_a_stack_lie_end_to_end(tmp_path):
    page = drawn(loaded(tmp_path, stacks()), panel_by="side", stack_by="part")
    top = min(patch.get_y() for patch in page.axes[0].patches)
    first = [patch for patch in page.axes[0].patches if patch.get_y() == top]
    assert [p.get_x() for p in first] == pytest.approx([0, 0.001, 0.009]), "the shorter stack, load=l1"
    assert [p.get_width() for p in first] == pytest.approx([0.001, 0.008, 0.002])
    assert len({p.get_facecolor() for p in first}) == 3


def test_medians_with_their_range(tmp_path):
    table = drawn(loaded(tmp_path, solvers()), baseline="solver=lu").numbers
    cg = table[table["benchmark"] == "solve solver=cg"].iloc[0]
    assert cg[["time_s", "low", "high"]].tolist() == pytest.approx([0.002, 0.001, 0.006])
    assert cg["ratio"] == pytest.approx(0.25) and cg["repetitions"] == 3


def test_counters_are_bars_too(tmp_path):
    text = words(tmp_path, solvers(), y="flops", baseline="solver=lu")
    assert "2.00 TFLOP/s, baseline" in text and "1.00 TFLOP/s, 2.00 times as slow" in text
    assert "floating-point operations a second" in text and "n = 3 repetitions" in text


def test_published_ratios_stand_beside_measured_ones(tmp_path):
    rows = published(tmp_path, "s,e,netflix,CG over LU,Titan X,,,solver_ratio,0.3,x,t", metric="solver_ratio")
    text = words(tmp_path, solvers(), baseline="solver=lu", relative=True, published=rows)
    assert "CG over LU, Titan X" in text and "3.33 times as fast" in text and "published, not measured here" in text and "over solver=lu" in text


def test_a_recipe_names_bars_in_the_words_of_a_paper(tmp_path):
    text = words(tmp_path, solvers(), names={"solver=lu": "GPU-ALS"})
    assert "GPU-ALS" in text
    with pytest.raises(PlotError, match='"names": ours are '):
        drawn(loaded(tmp_path / "b", solvers()), names={"solver=lu": "ours", "solver=cg": "ours"})


def test_failures_are_shown_and_do_not_hide_the_rest(tmp_path):
    runs = [*solvers(), benchmark_failure("solve/solver:fp16/manual_time", "needs sm_90")]
    table = drawn(loaded(tmp_path / "a", runs)).numbers
    broken = table[table["benchmark"] == "solve solver=fp16"]
    assert broken["remark"].tolist() == ["needs sm_90"]
    assert "needs sm_90" in words(tmp_path, runs)


def running_totals(**left_out):
    names = {"load": 3.0, "load_compute": 11.0, "all": 12.5}
    return [run for name, time in names.items() if name not in left_out
            for run in benchmark_runs(f"fig/part:{name}", [time - 0.1, time, time + 1])]


STEPS = {"load": "load", "load_compute": "compute", "all": "write"}


def test_running_totals_are_taken_apart(tmp_path):
    table = drawn(loaded(tmp_path, running_totals()), stack_by="part", cumulative=STEPS).numbers
    assert table["part"].tolist() == ["load", "compute", "write"]
    assert table["time_s"].tolist() == pytest.approx([0.003, 0.008, 0.0015])
    assert table["total"].tolist() == pytest.approx([0.0125] * 3)
    assert table["low"].isna().all()


def test_running_totals_need_all_their_steps(tmp_path):
    runs = [*running_totals(all=True), *benchmark_runs("whole/part:load", [1.0]),
            *benchmark_runs("whole/part:load_compute", [2.0]),
            *benchmark_runs("whole/part:all", [3.0])]
    table = drawn(loaded(tmp_path / "a", runs), stack_by="part", cumulative=STEPS).numbers
    assert table.loc[table["benchmark"] == "fig", "remark"].tolist() == ["no all"] * 2
    assert table.loc[table["benchmark"] == "fig", "total"].isna().all()
    with pytest.raises(PlotError, match="cumulative: no name for what all adds"):
        drawn(loaded(tmp_path / "b", running_totals()), stack_by="part",
              cumulative={"load": "load", "load_compute": "compute"})


@pytest.mark.parametrize("recipe, message", [
    ({"stack_by": "parts"}, r'stack_by: no benchmark has the key "parts"; did you mean "part"'),
    ({"panel_by": "sides"}, r'panel_by: no benchmark has the key "sides"'),
    ({"y": "flop"}, 'y: no benchmark has "flop"; known: time'),
    ({"baseline": "load=none"}, 'the baseline "load=none" fits no benchmark'),
    ({"relative": True}, '"relative" needs a "baseline"'),
    ({"filter": {"side": "y"}}, "no benchmark has a value of time")])
def test_recipes_that_do_not_fit_say_why(tmp_path, recipe, message):
    with pytest.raises((PlotError, NotDrawable), match=message):
        drawn(loaded(tmp_path, stacks()), **recipe)


def test_the_same_benchmark_twice_is_an_error(tmp_path):
    folders = [write_benchmarks(tmp_path / name, solvers()) for name in "ab"]
    with pytest.raises(PlotError, match="two results of solve solver=lu"):
        drawn(load_benchmarks(benchmark_files(folders)))


# ---- the command ---------------------------------------------------------------------------------

def test_a_folder_of_benchmarks_is_drawn_without_a_recipe(tmp_path, capsys):
    folder = write_benchmarks(tmp_path / "r", solvers())
    assert main([str(folder), "--format", "png"]) == 0
    assert {p.name for p in (folder / "figures").iterdir()} == {"benchmark-bars.png", "benchmark-bars.txt",
                                                               "benchmark-bars.csv"}
    assert main([str(folder / "benchmark.json"), "--out", str(tmp_path / "out")]) == 0
    table = pd.read_csv(tmp_path / "out" / "benchmark-bars.csv")
    assert table["benchmark"].tolist() == ["solve solver=lu", "solve solver=cg"]


def test_cases_and_benchmarks_may_share_a_folder(tmp_path, capsys):
    folder = write(tmp_path / "r", [Made()], spec=True)
    recipe = tmp_path / "recipe.json"
    recipe.write_text(json.dumps([{"figure": "rmse-time"}, {"figure": "benchmark-bars"}]))
    arguments = [str(folder), "--recipe", str(recipe), "--format", "svg"]
    assert main(arguments) == 0
    assert "left out benchmark-bars: the results hold no benchmark" in capsys.readouterr().err
    write_benchmarks(folder, solvers())
    assert main(arguments) == 0 and capsys.readouterr().err == ""
    assert {p.stem for p in (folder / "figures").glob("*.svg")} == {"rmse-time", "benchmark-bars"}
    only = write_benchmarks(tmp_path / "only", solvers())
    assert main([str(only), *arguments[1:]]) == 0
    assert "left out rmse-time: the results hold no case" in capsys.readouterr().err


def test_a_figure_that_was_asked_for_is_an_error_without_its_results(tmp_path, capsys):
    assert main([str(write(tmp_path, [Made()])), "--figure", "benchmark-bars"]) == 1
    assert "benchmark-bars: the results hold no benchmark" in capsys.readouterr().err
    folder = write_benchmarks(tmp_path / "b", solvers())
    assert main([str(folder), "--figure", "speedup"]) == 1
    assert "speedup: the results hold no case" in capsys.readouterr().err


def test_a_share_of_the_peak_is_of_the_rate_that_is_drawn(tmp_path):
    text = words(tmp_path, solvers(), y="flops", peaks={"flops_per_s": 8e12, "bytes_per_s": 1.0})
    assert "25 %, 2.00 TFLOP/s" in text and "% of 8.00 TFLOP/s" in text


def test_no_share_of_a_peak_is_above_all_of_it(tmp_path):
    with pytest.raises(PlotError, match=r"solver=lu would have 200 % of the peak of 1.00 TFLOP/s; name the peak of what flops counts"):
        drawn(loaded(tmp_path, solvers()), y="flops", peaks={"flops_per_s": 1e12})


def test_what_is_computed_of_a_symmetric_matrix_is_half(tmp_path):
    runs = [*benchmark_runs("hermitian/manual_time", [1.0], flops=8e12, symmetric_flops=4e12),
            *benchmark_runs("gemm/manual_time", [1.0], flops=3e12)]
    text = words(tmp_path, runs, y="computed_flops", peaks={"flops_per_s": 8e12})
    assert "50 %, 4.00 TFLOP/s" in text and "38 %, 3.00 TFLOP/s" in text
