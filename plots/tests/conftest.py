import sys
from pathlib import Path

import matplotlib
import pytest

matplotlib.use("Agg")
sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))


@pytest.fixture(scope="session")
def rich(tmp_path_factory):
    """A folder with cases of all that is drawn: it is only read."""
    from synthetic import rich_cases, write

    return write(tmp_path_factory.mktemp("rich"), rich_cases(), spec=True)


@pytest.fixture
def unlaid(monkeypatch):
    """Pages are neither laid out nor rendered, which takes the most of the time: an SVG holds their words."""
    from mfplots.page import Page

    def words(page):
        yield from [page.title, *(handle.get_label() for handle in page.handles)]
        for axes in page.axes:
            yield from [axes.get_title(loc="left"), axes.get_xlabel(), axes.get_ylabel()]
            yield from (text.get_text() for text in axes.texts)
            for axis in (axes.xaxis, axes.yaxis):  # of get_ticklabels() the words, without the ticks that it makes
                yield from axis.get_major_formatter().format_ticks(axis.get_majorticklocs())
        yield from page.caption.splitlines()

    def save(page, base, formats):
        text = "".join(f"<text>{' '.join(one.split())}</text>" for one in words(page))
        paths = [base.with_name(f"{base.name}.{kind}") for kind in formats]
        for path in paths:
            path.write_text(text, encoding="utf-8")
        return paths

    monkeypatch.setattr(Page, "save", save)
