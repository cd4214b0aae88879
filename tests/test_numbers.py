"""Numbers of the documents are those of their files, and the checker finds wrong ones."""

import json
import re

import pytest

from doc_numbers import (agrees, all_sources, blocks, blocks_of, check, evaluate, marks_of, paired, parsed, plain,
                         sources_of, unexplained)
from number_sources import ROOT, Files, NumberError, Seeds, cases_of

EXHIBITS = sorted((ROOT / "docs" / "reproduction").glob("*.md"))
# Pages of algorithms whose section "Measured" has a source behind every number.
ROOMS = [
    ROOT / "algorithms" / name
    for name in (
        "ccd/NOTES.md",
        "ials/blocks/device.md",
        "ials/cpu/NOTES.md",
        "ials/fused/NOTES.md",
        "ials/post/NOTES.md",
    )
]
# Those for readers, of which the section "Best result" does.
FAMILIES = sorted(notes.with_name("README.md") for notes in ROOT.glob("algorithms/*/NOTES.md"))
FOUND = {sources: blocks_of(sources) for sources in all_sources()}
BLOCKS = [block for found, _ in FOUND.values() for block in found]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.where())
def test_the_numbers_are_those_of_the_files(block):
    assert check(block) == []


@pytest.mark.parametrize("sources", FOUND, ids=lambda sources: str(sources.relative_to(ROOT)))
def test_the_sources_fits_its_page(sources):
    assert FOUND[sources][1] == []


@pytest.mark.parametrize("sources", FOUND, ids=lambda sources: str(sources.relative_to(ROOT)))
def test_numbers_of_contended_cases_are_marked(sources):
    assert marks_of(sources) == []


def test_the_pages_with_results_have_sources():
    """So that a file of another name does not pass by being none any more."""
    pages = ["README.md", "results/README.md", "results/NOTES.md", "results/published/measured/README.md"]
    expected = [*(ROOT / page for page in pages), *EXHIBITS, *ROOMS, *FAMILIES]
    assert {sources_of(page) for page in expected} <= FOUND.keys()
    assert len(FAMILIES) == 8
    assert sum(len(block.lines) for block in BLOCKS) > 500


def stated(text):
    """The paragraphs that say what was published, measured or concluded."""
    parts = (part.strip("\n") for part in text.split("\n\n"))
    return [part for part in parts if re.match(r"\*\*(Published|Measured|Verdict)\b", part.strip())]


def section(text, name):
    """Its paragraphs and tables."""
    found = re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    assert found, f"there is no section ## {name}"
    return [part.strip("\n") for part in found[1].split("\n\n") if part.strip()]


def measured(text):
    return section(text, "Measured")


def best_result(text):
    return section(text, "Best result")


# Sections, with what is below them, of which every number of a paragraph or table has a source.
WHOLE = {
    "README.md": ["## Measured"],
    "docs/comparison.md": ["# Libraries and mfbench, compared"],
    "docs/several-gpus.md": ["### Measured"],
    "docs/profiling.md": ["## Findings"],
    "docs/methodology-notes.md": ["## Evaluation", "## Comparing two runs", "## Contended runs"],
    "results/README.md": ["## Quality on real ratings", "## Speed at f = 128", "## On the device", "## Data",
                          "## The whole run"],
    "results/NOTES.md": ["### The host's memory"],
}


def below_heading(text, heading):
    """Its paragraphs and tables, to the next heading that is as high."""
    level = heading.partition(" ")[0]
    found = re.search(rf"^{re.escape(heading)}\n(.*?)(?=^#{{1,{len(level)}}} |\Z)", text, re.M | re.S)
    assert found, f"there is no {heading}"
    parts = (part.strip("\n") for part in found[1].split("\n\n"))
    return [part for part in parts if part.strip() and not part.startswith(("#", "```", "    "))]


@pytest.mark.parametrize("page, heading", [(page, heading) for page, of in WHOLE.items() for heading in of])
def test_every_number_of_a_section_has_a_source(page, heading):
    page = ROOT / page
    about = FOUND[sources_of(page)][0]
    left = {
        text[:60]: numbers
        for text in below_heading(page.read_text(), heading)
        if (numbers := unexplained(text, [block for block in about if block.text == text.strip()]))
    }
    assert left == {}


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.where())
def test_no_number_is_a_literal_of_its_sources(block):
    """What an expression gives comes from a file: it calls for it."""
    expressions = [one for line in block.lines for one in parsed(line.text)[2]]
    assert [one for one in expressions if not re.search(r"\b(?!(median|mean|low|high|abs|sqrt|len|sum|common)\b)\w+\(",
                                                        one)] == []


@pytest.mark.parametrize(
    "page, of",
    [(page, stated) for page in EXHIBITS]
    + [(page, measured) for page in ROOMS]
    + [(page, best_result) for page in FAMILIES],
    ids=lambda it: str(it.relative_to(ROOT)) if hasattr(it, "name") else it.__name__,
)
def test_every_number_has_a_source(page, of):
    about = FOUND[sources_of(page)][0]
    left = {
        text[:60]: numbers
        for text in of(page.read_text())
        if (numbers := unexplained(text, [block for block in about if block.text == text.strip()]))
    }
    assert left == {}


# ---- the checker, on files made by hand ----------------------------------------------------------


def case(seed, rmse, algorithm="a", prepare=1.0, transfer=0.5, status="completed", **params):
    """Epochs of 2 s."""
    points = [{"type": "trace", "epoch": i, "updates": 10 * i, "passes": i, "train_s": 2.0 * i, "epoch_s": 2.0,
               "train_device_s": 1.5 * i, "wall_s": 3.0 * i, "test_rmse": value} for i, value in enumerate(rmse)]
    last = len(rmse) - 1
    head = {"type": "header", "schema_version": 1, "seed": seed, "facts": {"x": {"y": 7}},
            "algorithm": {"name": algorithm, "params": {"factors": 8, **params}},
            "dataset": {"name": "toy look-alike", "split": {"holdout": 0.2, "seed": seed}, "nnz_train": 100},
            "schedule": {"kind": "constant", "learning_rate": 0.1}, "init": {"kind": "normal"},
            "evaluate": {"every": 1}, "stop": {"epochs": last}}
    groups = [{"train_rmse": 1.0, "train_count": 3}, {"train_rmse": 2.0, "train_count": 1},
              {"train_rmse": None, "train_count": 0}]
    foot = {"type": "footer", "status": status, "epochs": last, "best_epoch": 1, "final_test_rmse": rmse[-1],
            "best_test_rmse": min(rmse), "user_groups": groups,
            "clocks": {"prepare_s": prepare, "transfer_s": transfer, "train_s": 2.0 * last}}
    return [head, *points, foot]


def write_case(folder, name, lines):
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.fixture()
def toy(tmp_path):
    """Seeds 1 to 3 of `a`, and one of `b` with 16 factors."""
    folder = tmp_path / "run"
    folder.mkdir()
    made = {
        "a1": case(1, [4, 3, 2, 1.5]),
        "a2": case(2, [4, 2.5, 1.9, 1.6]),
        "a3": case(3, [4, 3.9, 3.8, 3.7]),
        "b1": case(1, [4, 1], algorithm="b", factors=16),
    }
    for name, lines in made.items():
        write_case(folder, name, lines)
    return tmp_path


@pytest.mark.parametrize("expression, value", [
    ("final(a)", 1.6), ("best(a)", 1.6), ("rmse(a, 1)", 3), ("low(final(a))", 1.5), ("high(final(a))", 3.7),
    ("seeds(a)", 3), ("train(a)", 6), ("train(a, epoch=2)", 4), ("rate(a)", 5), ("epoch_s(a)", 2),
    ("last(a, updates)", 30), ("final(b) / common(final(a), final(b))", 1 / 1.5),
    ("fact(a, 'x.y')", 7), ("final(b, factors=16)", 1), ("final(b, data=toy)", 1),
    # 2.0 is reached at epochs 2, 2 and never: the median of 4, 4 and infinity
    ("time_to(2.0, a)", 4), ("answer(2.0, a)", 5.5), ("epochs_to(2.0, a)", 2),
    # between 3 and 2 lies no evaluated point: the next one counts
    ("low(time_to(2.9, a))", 2), ("time_to(2.4, a)", 4), ("mean([1, 2, 6])", 3),
    ("(2 * final(a) - final(a)) / final(a)", 1), ("group_rmse(a, 'train')", (7 / 4) ** 0.5),
    ("group_rmse(a, 'train', 1, 1)", 2),
])
def test_expressions_by_hand(toy, expression, value):
    assert evaluate(expression, Files("run", toy)) == pytest.approx(value)


@pytest.mark.parametrize("expression, message", [
    ("final(c)", "no case is"), ("final(a, factors=9)", "no case is"),
    ("final(a, colour=1)", "no case has 'colour'"), ("rmse(a, 9)", "epoch 9 is not evaluated"),
    ("final(a) / final(b)", "do not pair"), ("nothing", "not a number"), ("final(", "SyntaxError"),
    ("__import__(os)", "TypeError"),
])
def test_expressions_that_mean_nothing_are_errors(toy, expression, message):
    with pytest.raises(NumberError, match=re.escape(message)):
        evaluate(expression, Files("run", toy))


def test_cases_that_differ_in_more_than_the_seed_are_an_error(toy):
    write_case(toy / "run", "a4", case(4, [4, 1], momentum=0.9))
    with pytest.raises(NumberError, match="differ in momentum"):
        evaluate("final(a)", Files("run", toy))
    assert evaluate("final(a, momentum=0.9)", Files("run", toy)) == 1


def test_configurations_are_counted_where_one_is_above_the_other(tmp_path):
    (tmp_path / "run").mkdir()
    made = [("a", 1, 7), ("a", 2, 7), ("a", 3, 7), ("b", 1, 6), ("b", 2, 7), ("b", 3, 8)]
    for algorithm, blocks, value in made:
        lines = case(1, [4, 1], algorithm=algorithm, blocks=blocks)
        lines[0]["facts"] = {"x": value}
        write_case(tmp_path / "run", f"{algorithm}{blocks}", lines)
    files = Files("run", tmp_path)
    assert evaluate("count_above(x, a, b, blocks)", files) == 1
    assert evaluate("count_above(x, b, a, blocks)", files) == 1
    (tmp_path / "run" / "b3.jsonl").unlink()
    cases_of.cache_clear()
    with pytest.raises(NumberError, match="a and b differ in the blocks"):
        evaluate("count_above(x, a, b, blocks)", files)


def problems(toy, text, sources):
    found, wrong = blocks("page.numbers", text, sources)
    return wrong + [problem for block in found for problem in check(block, toy)]


def marks(folder, text, sources):
    (folder / "page.md").write_text(text)
    (folder / "page.numbers").write_text(sources)
    return marks_of(folder / "page.numbers", folder)


def test_a_time_of_a_contended_case_has_a_mark_and_no_other_number_has(toy):
    for name, clocks in (("a2", "contended"), ("b1", "host_contended")):
        lines = [json.loads(line) for line in (toy / "run" / f"{name}.jsonl").read_text().splitlines()]
        lines[-1][clocks] = True
        write_case(toy / "run", name, lines)
    cases_of.cache_clear()
    text = "Ends at 1.6 after 6.0† s; other 2.0 s, 3.5† s.\n\n†: contended, by others.\n"
    sources = "> Ends\nfrom run\n1.6 6.0 = {final|train}(a)\n2.0 3.5 = {train|answer_end}(b)\n"
    assert marks(toy, text, sources) == []
    (absent,) = marks(toy, text.replace("6.0†", "6.0"), sources)
    assert "page.md: 6.0 (train(a)) is of contended cases" in absent
    (many,) = marks(toy, text.replace("2.0 s", "2.0† s"), sources)
    assert "2.0†: no case behind it is contended" in many
    (silent,) = marks(toy, text.partition("\n")[0], sources)
    assert "no line that begins with '†: '" in silent
    ratio = "> Ends\nfrom run\n1.6 = final(a)\n6.0 = median(train(a)) * median(train(b)) / 2\n"
    assert marks(toy, text.replace("3.5†", "3.5"), ratio) == [], "what is computed with one is of it, too"


def test_a_missing_folder_is_an_error(toy):
    wrong = problems(toy, "# A\n\ntext 1\n", "# A\n> text\nfrom gone\n1 = 1\n")
    assert wrong == ["page.numbers:4: gone: no such file or folder"]


@pytest.mark.parametrize("text, value, same", [
    (".944", 0.94449, True), (".944", 0.94451, False), (".944", 0.9435, True), ("12.9", 12.89, True),
    ("12.9", 12.84, False), ("1,468", 1468.4, True), ("1,468", 1469, False), ("3", 3.49, True),
    ("-1.4", -1.43, True), ("-1.4", 1.43, False), (".0", 0.04, True), ("5", float("inf"), False),
])
def test_printed_digits_are_the_value_rounded(text, value, same):
    assert agrees(text, value) is same


PAGE = """# A page

The RMSE is 1.60 after 3 epochs, `b16` ends at 1.0.

It began at 4.
"""
SOURCES = """let six = b

# A page

> The RMSE is
from run
1.60 3 = {final|epochs}(a)
1.0 = final($six)
"""


def test_right_numbers_pass(toy):
    assert problems(toy, PAGE, SOURCES) == []


@pytest.mark.parametrize(
    "right, wrong, message",
    [
        ("is 1.60", "is 1.61", "page.numbers:7: 1.60 is not in the text"),
        ("1.60", "1.61", "page.numbers:7: final(a): 1.61 is printed, the files have 1.6"),
        ("3 epochs", "4 epochs", "3 is not in the text"),
        ("at 1.0", "at 1.1", "page.numbers:8: 1.0 is not in the text"),
        ("1.60 after 3", "3 after 1.60", "it stands earlier"),
        ("1.0 = final($six)", "1.0 final($six)", "expected NUMBER = EXPRESSION"),
        ("1.0 = final($six)", "given: 17", "given 17 is not in the text"),
        ("1.60 3 = {final|epochs}(a)", "1.60 3 = final(a)", "2 numbers need braces with 2 parts"),
        ("1.60 3 =", "1.60 =", "1 numbers need braces with 1 parts"),
        ("final($six)", "<1 / 2>", "<1 / 2> is in no call"),
        ("$six", "$seven", "no `let` before names 'seven'"),
        ("$six", "b", "page.numbers:1: six is never put in"),
        ("The RMSE is 1", "RMSE: 1", "page.numbers:5: expected one paragraph below '# A page' that "
         "begins with 'The RMSE is', found 0; there are: RMSE: 1.60 after 3 epochs,; It began at 4."),
        ("It began", "The RMSE is", "found 2"),
        ("# A page\n\nThe", "# Page\n\nThe", "no heading '# A page', but '# Page'"),
        ("> The RMSE is\n", "", "no `> FIRST WORDS` says which paragraph is meant: 1.60 3 ="),
        ("It began at 4.", "# A page", "the page has the heading '# A page' twice"),
    ],
)
def test_what_does_not_fit_is_found(toy, right, wrong, message):
    assert right in PAGE + SOURCES
    assert message in " ".join(problems(toy, PAGE.replace(right, wrong), SOURCES.replace(right, wrong)))


@pytest.mark.parametrize("expression, means", [
    ("low(f(<a / b>, x=1)) - 1", "low((f(a, x=1) / f(b, x=1))) - 1"),
    ("f(<a - b>, (1), n=<1 - 2>)", "(f(a, (1), n=1) - f(b, (1), n=2))"),
    ("f(<a / b>) + g(<1 - 2>)", "(f(a) / f(b)) + (g(1) - g(2))"),
    ("f('>=0.5', a) / 2", "f('>=0.5', a) / 2"),
])
def test_a_call_of_a_pair_is_two_calls(expression, means):
    assert paired(expression) == means


def test_a_paragraph_is_found_whatever_its_numbers_are(toy):
    sources = SOURCES.replace("> The RMSE is", "> The RMSE is 2.75 after")
    assert problems(toy, PAGE, sources) == []


def test_a_file_of_sources_without_its_page_is_an_error(tmp_path):
    assert "no page a.md beside it" in blocks_of(tmp_path / "a.numbers", tmp_path)[1][0]


TABLE = """| algorithm | factors | seconds | RMSE |
| --- | --- | --- | --- |
| `a` | 8 | 6.0 | 1.60 |
| `b`, `factors: 16` | 16 | 2.0 (fast) | |
"""
COLUMNS = "> | algorithm\nfrom run\ncolumn 2: train({0})\ncolumn 3: final({0}, factors={1})\n"


@pytest.mark.parametrize(
    "right, wrong, message",
    [
        ("2.0 (", "2.1 (", "row `b`, `factors: 16`, column 2: train(b, factors=16): 2.1 is printed"),
        ("1.60", "1.70", "row `a`, column 3"),
        ("column 2: train({0})", "column 9: 1", "column 9 has no number"),
        ("from run", "from run\nrows: a", "the table has 2 rows, `rows:` lists 1"),
    ],
)
def test_a_table_is_checked_row_by_row(toy, right, wrong, message):
    assert problems(toy, TABLE, COLUMNS) == []
    assert message in problems(toy, TABLE.replace(right, wrong), COLUMNS.replace(right, wrong))[0]


def test_rows_are_listed_where_their_cells_do_not_say_what_they_are(toy):
    text = TABLE.replace("`a`", "one").replace("`b`, `factors: 16`", "other")
    sources = "> | algorithm\nfrom run\nrows: a | b, factors=16\ncolumns 1 2: {8 *|6 /} 1\n"
    assert "2.0 is printed, the files have 6" in problems(toy, text, sources)[1]
    sources = sources.replace("columns 1 2: {8 *|6 /} 1", "columns 2 3: {train|final}({row})")
    assert problems(toy, text, sources) == []


def test_cells_that_no_line_computes_are_listed():
    about, _ = blocks("page", TABLE, COLUMNS)
    assert unexplained(TABLE.strip(), about) == []
    assert unexplained(TABLE.strip().replace("6.0", "6.0 (1.5)"), about) == ["1.5"]
    one, _ = blocks("page", TABLE, COLUMNS.rpartition("column 3")[0])
    assert unexplained(TABLE.strip(), one) == ["8", "1.60", "16"]


def test_cases_that_were_never_begun_are_passed_over(tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    write_case(run, "a1", case(1, [4, 1]))
    (run / "spec.json").write_text(json.dumps({"cases": ["a1", "a2"]}))
    assert evaluate("seeds(a)", Files("run", tmp_path)) == 1


def test_files_of_benchmarks_with_one_name_are_told_apart_by_their_folder(tmp_path):
    for place, seconds in (("bench", [1, 2, 5]), ("bench/second", [4, 6, 7])):
        (tmp_path / place).mkdir()
        runs = [{"name": "copy/16", "real_time": time, "time_unit": "s"} for time in seconds]
        (tmp_path / place / "a.json").write_text(json.dumps({"benchmarks": runs}))
    files = Files("bench/a.json, bench/second/a.json", tmp_path)
    assert evaluate('bench(copy, "16", folder="second")', files) == 6
    assert evaluate('bench(copy, "16", folder="bench")', files) == 2
    with pytest.raises(NumberError, match="2 benchmarks"):
        evaluate('bench(copy, "16")', files)


def test_numbers_without_a_source_are_listed():
    text = "**Measured.** 1.5 s on f = 8 of `fp16`, ml-100k, [x](a-7.md), 40 % of 2."
    about, _ = blocks("page", text, "> **Measured.**\n1.5 = train(a, factors=8)\ngiven: 2\n")
    assert unexplained(text, about) == ["40"]
    assert unexplained("1.5 and 1.5", about) == ["1.5"]
    text = "`fp16` [x](a-7.md) GTX 1080 Ti"
    assert not re.search(r"\d", plain(text)) and len(plain(text)) == len(text)


def test_arithmetic_pairs_by_seed():
    one, other = Seeds({1: 2.0, 2: 9.0}), Seeds({2: 3.0, 1: 4.0})
    assert one / other == {1: 0.5, 2: 3.0}
    assert abs(one - other) == {1: 2.0, 2: 6.0} and 1 - one == {1: -1.0, 2: -8.0}
    with pytest.raises(NumberError, match="do not pair"):
        _ = one / Seeds({1: 1.0})
