"""The pages of ./dev docs: the reference is current, and the site is whole, with links and a search
that work from disk."""

import html.parser
import pathlib
import re
import shutil
import subprocess
import time
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


# ---- the first page in a browser -----------------------------------------------------------------


@pytest.fixture(scope="module")
def browser():
    webdriver = pytest.importorskip("selenium.webdriver", reason="no selenium: ./dev deps browser installs it")
    if absent := [name for name in ("chromium", "chromedriver") if not shutil.which(name)]:
        pytest.skip(f"no {' and no '.join(absent)}: ./dev deps browser installs it")
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    driver = webdriver.Chrome(service=webdriver.chrome.service.Service(shutil.which("chromedriver")), options=options)
    yield driver
    driver.quit()


@pytest.mark.parametrize("words, page", [("which algorithm", "docs/which-algorithm"), ("what learned", "docs/what-we-learned"),
                                         ("gallery", "docs/gallery"), ("pictures", "docs/gallery")])
def test_the_search_finds_the_pages_of_a_newcomer_first(site, browser, words, page):
    browser.get(f"file://{site}/search.html?q={urllib.parse.quote_plus(words)}")
    end = time.monotonic() + 30
    while not (found := browser.execute_script("return [...document.querySelectorAll('#search-results li a')].map((a) => a.href)")):
        assert time.monotonic() < end, "no result within 30 s"
        time.sleep(0.05)
    assert found[0].split("#")[0].split("?")[0] == f"file://{site}/{page}.html", found[:3]


def test_the_navigation_and_readme_lead_to_the_pages_of_a_newcomer(site):
    links = Page(site / "index.html").links
    for page in ("which-algorithm", "what-we-learned", "gallery"):
        assert sum(link.split("#")[0] == f"docs/{page}.html" for link in links) >= 2, page


BLOCKS = """return [...document.querySelectorAll("article h1, article p, article pre, article img, article table")].map(
    (e) => ({tag: e.tagName, text: e.textContent.trim(), bottom: e.getBoundingClientRect().bottom + scrollY,
             top: e.getBoundingClientRect().top + scrollY}))"""


@pytest.mark.parametrize("width, high", [(1440, 900), (390, 844)])
def test_the_first_screen_has_subject_result_and_command(site, browser, width, high):
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": width, "height": high, "deviceScaleFactor": 1, "mobile": False})
    browser.get(f"file://{site}/index.html")
    blocks = browser.execute_script(BLOCKS)
    screen = [block for block in blocks if block["bottom"] <= high]
    subject = next(block for block in screen if block["tag"] == "P")
    assert re.fullmatch(r"mfbench benchmarks matrix-factorization algorithms [^.]+\.", subject["text"])
    assert any(block["tag"] == "PRE" and "mfbench race" in block["text"] for block in screen)
    # The nearest rival on the card, then the CPU, then a library, by both clocks, and a real set.
    result = "als .*times.* to answer as als_fused on the same H100.*from file to model.*fpsgd.*LIBMF.*real ml-1m"
    assert any(re.match(result, block["text"].replace("\n", " ")) for block in screen)
    picture = next(block for block in blocks if block["tag"] == "IMG")
    assert 0 < picture["bottom"] - picture["top"] <= 420
    table = next(block for block in blocks if block["tag"] == "TABLE")
    assert width < 1000 or table["top"] < 2 * high  # on the second screen of a desk
