"""What holds of every figure: its size, one panel a comparison, no word over another, and its caption in a file."""

from itertools import combinations

import pytest
from matplotlib.image import imread
from synthetic import Made, view_of, write

from mfplots import figures
from mfplots.cli import main
from mfplots.errors import NotDrawable
from mfplots.load import load
from mfplots.names import short_names
from mfplots.recipes import Recipe
from mfplots.series import make_view
from mfplots.page import DPI, fit, inches_of
from mfplots.style import LogTicks, WIDTHS, styled

KINDS = {name: Recipe(name) for name in (*figures.DEFAULTS, "quality-time", "metric-bars")} | {
    "trace": Recipe("trace", y="train_s"), "sweep": Recipe("sweep", x="factors", y="s_per_epoch"),
    "words": Recipe("sweep", x="algorithm", y="final_test_rmse"),
    "paired": Recipe("paired-differences", y="final_test_rmse", filter={"factors": 50, "algorithm": ["sgd_serial", "hogwild"]}),
    "relative": Recipe("metric-bars", y="s_per_epoch", relative=True)}


def drawn(view, recipe, width):
    with styled(width):
        page = figures.draw(view, recipe)
        page.arrange()
    return page


def crowd(n):
    return [Made(name, {"factors": f}) for name in ("sgd_serial", "hogwild", "fpsgd") for f in range(1, n + 1)][:n]


def visible(page):
    """Titles, labels, legends, words at bars and curves, and the ticks inside the axes."""
    texts = [*page.figure.texts, *(t for legend in page.figure.legends for t in legend.get_texts())]
    for axes in page.axes:
        texts += [axes.title, axes._left_title, axes.xaxis.label, axes.yaxis.label, *axes.texts]
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            texts += [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    return [text for text in texts if text.get_visible() and text.get_text().strip()]


@pytest.fixture(scope="module")
def rich_results(rich):
    return load([rich])


@pytest.mark.parametrize("width", ["column", "page"])
@pytest.mark.parametrize("kind", KINDS)
def test_no_word_lies_over_another_or_off_the_page_and_no_figure_is_too_high(rich_results, kind, width):
    page = drawn(make_view(rich_results, KINDS[kind].filter), KINDS[kind], width)
    wide, high = page.figure.get_size_inches()
    assert wide == WIDTHS[width]["figure.figsize"][0]
    assert high <= (1.5 * wide if width == "column" else WIDTHS[width]["figure.figsize"][1]) + 1e-9
    page.figure.draw_without_rendering()
    boxes = [(text.get_text(), text.get_window_extent(page.canvas.get_renderer())) for text in visible(page)]
    assert len(boxes) > 10
    for text, box in boxes:
        assert box.x0 >= -2 and box.x1 <= wide * DPI + 2 and box.y0 >= -2 and box.y1 <= high * DPI + 2, text
    for (a, box_a), (b, box_b) in combinations(boxes, 2):
        assert not box_a.padded(-1.5).overlaps(box_b.padded(-1.5)), f"{a!r} over {b!r}"


@pytest.mark.parametrize("width", WIDTHS)
def test_a_picture_is_as_wide_as_asked_for(tmp_path, width):
    with styled(width):
        page = figures.draw(view_of(tmp_path / "run", crowd(8)), Recipe("metric-bars"))
        page.save(tmp_path / "x", ["png"])
    assert imread(tmp_path / "x.png").shape[1] == WIDTHS[width]["figure.figsize"][0] * DPI


def test_a_comparison_is_in_one_panel_and_no_series_is_lost(tmp_path):
    view = view_of(tmp_path / "run", crowd(27))
    page = drawn(view, Recipe("rmse-time"), "column")
    assert len(page.axes) == len(view.panels) == 1
    named = [text.get_text() for legend in page.figure.legends for text in legend.get_texts()]
    assert sorted(named) == sorted(short_names(view.labels).values())


def test_more_rows_than_have_room_are_refused_with_what_to_do(tmp_path):
    with pytest.raises(NotDrawable, match="no room for its rows on 3.3 x 4.95 inches; narrow the results by a filter"):
        drawn(view_of(tmp_path, crowd(50)), Recipe("metric-bars"), "column")


def test_the_caption_stands_in_a_file_and_the_picture_has_its_n(tmp_path):
    folder = write(tmp_path / "run", [Made(seed=s) for s in (1, 2)] + [Made("hogwild")])
    assert main([str(folder), "--figure", "rmse-time", "--out", str(tmp_path), "--format", "svg"]) == 0
    caption, picture = ((tmp_path / f"rmse-time.{kind}").read_text() for kind in ("txt", "svg"))
    for words in ("n = 1 to 2 seeds", "git 0123456789", "Test CPU"):
        assert words in caption and (words in picture) == words.startswith("n =")


@pytest.mark.parametrize("recipe, says", [
    (Recipe("quality-answer"), "median, range"), (Recipe("quality-answer", band="iqr"), "median, quartiles"),
    (Recipe("quality-answer", band="none"), "median"), (Recipe("throughput"), "median, range"), (Recipe("speedup"), "median, 95 % interval"),
    (Recipe("metric-bars"), "median, range"), (Recipe("metric-bars", relative=True), "median, 95 % interval"), (Recipe("clocks"), "median"),
    (Recipe("sweep", x="algorithm"), "median, range")])
@pytest.mark.parametrize("seeds, n", [((1, 2, 3), "n = 3 seeds"), ((1, 2), "n = 2 seeds"), ((1,), "n = 1 seed")])
def test_n_and_the_spread_stand_in_the_picture(tmp_path, recipe, says, seeds, n):
    page = drawn(view_of(tmp_path, [Made(name, seed=seed) for name in ("sgd_serial", "hogwild") for seed in seeds]), recipe, "page")
    expected = {3: f"{n}: {says}.", 2: f"{n}: median.", 1: f"{n}."}[len(seeds)]
    assert page.foot == expected and expected in [text.get_text() for text in page.figure.texts]


@pytest.mark.parametrize("labels, names", [
    (["als solver=lu", "als solver=cg a_storage=fp16", "als solver=cg a_storage=fp32"],
     ["als lu", "als cg fp16", "als cg fp32"]),
    (["fpsgd schedule.kind=exponential learning_rate=0.015 decay=0.9", "fpsgd schedule.kind=inverse_power learning_rate=0.02"],
     ["fpsgd exponential lr=0.015 decay=0.9", "fpsgd inverse_power lr=0.02"]),
    (["ebgtg factors=50", "sgd_serial factors=300"], ["ebgtg f=50", "sgd_serial f=300"]),
    (["als_fused reg=0.07473", "als_fused reg=1.213 reg_power=0.5"], ["als_fused reg=0.0747", "als_fused reg=1.21 reg_power=0.5"]),
    (["als devices=4 exchange=reduce", "sgd_tiled devices=1"], ["als 4 GPUs reduce", "sgd_tiled 1 GPU"]),
    (["als stop.epochs=5 solver=lu", "als stop.epochs=9 solver=cg"], ["als lu", "als cg"]),
    (["als stop.epochs=5", "als stop.epochs=9"], ["als stop.epochs=5", "als stop.epochs=9"]),
    (["peer:libmf:sgd", "peer:torch:sgd device=cuda"], ["LIBMF SGD", "PyTorch SGD GPU"]),
    (["als machine=One CPU, 2 cores", "als machine=Other CPU, 2 cores"], ["als One CPU, 2 cores", "als Other CPU, 2 cores"])])
def test_names_say_what_tells_configurations_apart(labels, names):
    assert list(short_names(labels).values()) == names


def test_words_are_wrapped_to_their_measured_width():
    text = "iiii iiii iiii MMMM MMMM MMMM"
    for line in fit(text, 1.0, 10).splitlines():
        assert inches_of(line, 10) <= 1.0
    assert fit(text, 1.0, 10).replace("\n", " ") == text and fit("", 1.0, 10) == ""


@pytest.mark.parametrize("most", [2, 4, 8])
@pytest.mark.parametrize("low,high", [(0.01, 600), (0.011, 0.85), (0.43, 0.7), (0.02, 16), (1e-3, 1e6), (0.9, 1.05)])
def test_a_logarithmic_axis_has_two_numbers_at_least(low, high, most):
    ticks = LogTicks(most).tick_values(low, high)
    assert 2 <= len(ticks) <= max(most, 5) and all(low <= tick <= high for tick in ticks) and ticks == sorted(ticks)


def test_one_gpu_is_said_beside_several():
    labels = ["als devices=4", "sgd_tiled devices=4", "sgd_tiled", "batch_hogwild"]
    assert list(short_names(labels).values()) == ["als 4 GPUs", "sgd_tiled 4 GPUs", "sgd_tiled 1 GPU", "batch_hogwild"]
