"""The pages of ./dev docs: the reference is current, and the site is whole, with links and a search
that work from disk."""

import html.parser
import pathlib
import re
import shutil
import subprocess
import urllib.parse

import pytest

from guide import ROOT
from mfdev import reference

SPHINX = ROOT / ".cache" / "docs" / "bin" / "python"


def test_the_reference_is_current(mfbench):
    assert reference.write(pathlib.Path(shutil.which(mfbench.program)), check=True)


# ---- the site ------------------------------------------------------------------------------------


class Page(html.parser.HTMLParser):
    """The targets and the anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        names = dict(attrs)
        self.anchors |= {names[key] for key in ("id", "name") if names.get(key)}
        self.links += [names[key] for key in ("href", "src") if names.get(key)]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    if not SPHINX.exists():
        pytest.skip("what makes the pages is not here: ./dev deps docs")
    out = tmp_path_factory.mktemp("docs") / "site"
    done = subprocess.run(["./dev", "docs", "--out", str(out)], cwd=ROOT, capture_output=True,
                          text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


def test_every_document_has_its_page(site):
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True,
                            check=True).stdout.splitlines()
    pages = [name for name in listed if (ROOT / name).exists()]
    assert len(pages) > 40
    assert [name for name in pages if not (site / name).with_suffix(".html").exists()] == []


def test_links_lead_somewhere_on_the_disk(site):
    pages = {path: Page(path) for path in site.rglob("*.html")}
    assert len(pages) > 40
    broken, outside = [], set()
    for path, page in pages.items():
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                outside.add(parts.scheme)
                continue
            file = path.parent / urllib.parse.unquote(parts.path) if parts.path else path
            target = pathlib.Path(str(file.resolve()))
            anchors = pages[target].anchors if target in pages else {parts.fragment}
            if not target.exists() or (parts.fragment and parts.fragment not in anchors):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert broken == []
    assert outside <= {"https", "http", "data", "mailto"}


def test_nothing_is_loaded_from_a_network(site):
    """Scripts, styles, fonts and pictures lie beside the pages."""
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"<(?:script|img|iframe)[^>]*\bsrc=\"(?:https?:)?//", text), path
        assert not re.search(r"<link[^>]*\brel=\"stylesheet\"[^>]*\bhref=\"(?:https?:)?//", text), path
    for path in site.rglob("*.css"):
        assert "@import url(http" not in path.read_text(encoding="utf-8"), path
