"""docs/reading-results.md, executed: its blocks run one after another, in one Python, and print what
the page says. Results are those of the repository, so numbers are the same everywhere; after a change
of these, or of what is exported, `pytest tests/test_reading.py --update` rewrites the page."""

import contextlib
import io
import re

import pytest

from guide import ROOT

PAGE = ROOT / "docs" / "reading-results.md"
pytest.importorskip("pandas", reason="pandas is not here: ./dev deps plot")


def blocks():
    """[(language, code, output)] of the page."""
    found = re.findall(r"^```(sh|python)\n(.*?)^```\n\n```text\n(.*?)^```$",
                       PAGE.read_text(encoding="utf-8"), re.M | re.S)
    return found


BLOCKS = blocks()


@pytest.fixture(scope="module")
def printed(mfbench, tmp_path_factory):
    """What each block prints."""
    folder, found = tmp_path_factory.mktemp("reading"), []
    for name in ["results", "plots"]:
        (folder / name).symlink_to(ROOT / name)
    names = {}
    with pytest.MonkeyPatch.context() as patch, contextlib.chdir(folder):
        patch.syspath_prepend(str(folder))
        for language, code, _ in BLOCKS:
            if language == "sh":
                words = code.split()
                assert words[0] == "mfbench"
                done = mfbench(*words[1:], cwd=folder, code=0)
                found.append(done.stdout)
                continue
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(code, str(PAGE), "exec"), names)  # pylint: disable=exec-used
            found.append(out.getvalue())
    return found


def even(text):
    """Without blanks at the ends of lines, and with the width of columns as it comes."""
    return [line.split() for line in text.strip().splitlines()]


def test_update(printed, request):
    if not request.config.getoption("--update"):
        return
    text = PAGE.read_text(encoding="utf-8")
    for (_, code, before), now in zip(BLOCKS, printed):
        now = "".join(line.rstrip() + "\n" for line in now.splitlines())
        text = text.replace(f"{code}```\n\n```text\n{before}```", f"{code}```\n\n```text\n{now}```")
    PAGE.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_a_block_prints_what_the_page_says(printed, number):
    assert even(printed[number]) == even(BLOCKS[number][2]), BLOCKS[number][1]


def test_every_block_of_code_is_run():
    text = PAGE.read_text(encoding="utf-8")
    assert len(re.findall(r"^```(?:sh|python)$", text, re.M)) == len(BLOCKS) >= 8
