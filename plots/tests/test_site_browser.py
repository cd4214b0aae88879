"""The report in a browser: headless Chromium on one small site. Skipped, visibly, where Chromium, its
driver, selenium or the report's libraries are not installed: ./dev deps report browser."""

from __future__ import annotations

import base64
import csv
import gzip
import io
import json
import math
import os
import random
import re
import shutil
import subprocess
import time
from pathlib import Path
from urllib.parse import quote_plus, urlencode

import pytest
from mfplots import metrics, program
from mfplots.errors import PlotError
from mfplots.metrics import Target
from mfplots.site import panels, write as write_site
from mfplots.site.assets import find_libraries
from mfplots.site.gather import gather
from mfplots.site.groups import make_groups
from mfplots.site.pages import POLICY
from mfplots.style import duration, si
from synthetic import Made, descent, lines, rich_cases, write as write_cases, write_lines

ROOT = Path(__file__).parents[2]
PAGES = ("index", "explore", "papers", "machines", "runs", "cases", "compare", "tuning", "failures")
HOSTILE = '<img src=x onerror="window.pwned=1">&amp;</script><script>window.pwned=1</script>'


def _missing() -> str:
    try:
        import selenium  # noqa: F401
        find_libraries()
    except (ImportError, PlotError) as error:
        return str(error)
    absent = [name for name in ("chromium", "chromedriver") if not shutil.which(name)]
    return f"no {' and no '.join(absent)}" if absent else ""


pytestmark = pytest.mark.skipif(bool(_missing()),
                                reason=f"{_missing()}; ./dev deps report browser installs it")


def made_up(folder: Path) -> Path:
    """Two runs that share cases, implicit feedback, names that are markup, and what failed."""
    write_cases(folder / "before", rich_cases((1, 2, 3)))
    faster = [Made("sgd_serial", {"factors": 50}, seed=s, trace=descent(s, 0.9, 0.92)) for s in (1, 2, 3)]
    write_cases(folder / "after", faster)
    write_cases(folder / "shared", [Made("disturbed", {"factors": 8}, contended=["train: a neighbour"],
                                         trace=descent(1, 0.9, 0.92))])
    write_cases(folder / "implicit", [
        Made("ials_fused", {"factors": 64, "precision": "fp16"}, "tastes", seed=s, hardware="cuda",
             gpu="NVIDIA H200", implicit=True, target=None, goal={"metric": "ndcg_100", "value": 0.3},
             content_hash="3" * 16, trace=[(e, 0.1 * e, 0.05 * e + 0.01 * s) for e in range(9)])
        for s in (1, 2, 3)] + [
        Made("bpr", {"factors": 64}, "tastes", hardware="cuda", gpu="NVIDIA H200", implicit=True, target=None, content_hash="3" * 16,
             goal={"metric": "ndcg_100", "value": 0.3}, trace=[(e, 0.1 * e, 0.04 * e) for e in range(9)])])
    search(folder / "searched")
    names = dict(algorithm=HOSTILE, params={"factors": 8, HOSTILE: HOSTILE}, dataset=HOSTILE, content_hash="4" * 16)
    bad = Made(**names, status="error", reason=HOSTILE)
    write_cases(folder / "names", [Made("fpsgd", dataset="plain", content_hash="5" * 16)])
    for seed, exhibit in enumerate(("fig4", "fig5", "fig6", "table4"), start=11):
        write_cases(folder / "cumf_als" / exhibit, [Made("fpsgd", dataset="plain", content_hash="5" * 16, seed=seed)])
    write_lines(folder / "names" / "hostile.jsonl", lines(bad))
    write_lines(folder / "names" / "hostile2.jsonl", lines(Made(**names, seed=2)))  # that has rates
    (folder / "names" / "damaged.jsonl").write_text('{"type": "header"\n')
    return folder


def search(out: Path) -> None:
    """A study of three trials and the cases that it leads to, by mfbench."""
    spec = out.parent.parent / "searched.json"
    spec.write_text(json.dumps({
        "name": "searched", "datasets": [{"like": "ml-100k", "scale": 0.05, "seed": 3}], "split": {"holdout": 0.2, "validation": 0.1},
        "seeds": [1], "stop": {"epochs": 2}, "algorithms": [{"name": "sgd_serial", "factors": 4, "tune": {
            "trials": 3, "eta": 1, "over": {"reg": [0.01, 0.2, "log"]}}}]}))
    subprocess.run([program.find(), "run", spec, "--out", out, "--quiet"], check=True, capture_output=True, timeout=300)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    made_up(folder / "results")
    done = subprocess.run([ROOT / "dev", "report", folder / "results", "--out", folder / "site"],
                          capture_output=True, text=True, timeout=300, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "damaged.jsonl: line 1" in done.stderr
    return folder / "site"


@pytest.fixture(scope="module")
def groups(site):
    return make_groups(gather([site.parent / "results"])[0])


class Browser:
    def __init__(self, site: Path):
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options = webdriver.ChromeOptions()
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                         "--disable-dev-shm-usage", "--window-size=1600,1000"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
        self.site = site

    def js(self, text: str, *arguments):
        return self.driver.execute_script(text, *arguments)

    def look(self, width: int, dark: bool) -> None:
        """A page of this width on a system with this theme."""
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def open(self, page: str, drawn: bool = True) -> None:
        """Waits until it is usable and, where it has a figure, drawn."""
        self.driver.get("about:blank")
        self.driver.get_log("browser")
        self.driver.get(f"file://{self.site}/{page}")
        self.wait("return document.documentElement.dataset.ready")
        if drawn:
            self.wait("return [...document.querySelectorAll('.figure:not([hidden])')]"
                      ".every((f) => f.dataset.drawn || f.querySelector('p'))")

    def wait(self, condition: str, *arguments, seconds: float = 120):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = self.js(condition, *arguments)
            if found:
                return found
            time.sleep(0.02)
        raise AssertionError(f"not within {seconds} s: {condition}; {self.errors()}")

    def errors(self) -> list[str]:
        return [line["message"] for line in self.driver.get_log("browser")
                if line["level"] in ("SEVERE", "WARNING")]

    def choose(self, name: str, value: str) -> None:
        self.js("const s = document.getElementById(arguments[0]); s.value = arguments[1];"
                "s.dispatchEvent(new Event('change'));", name, value)

    def rows(self, host: str) -> list[list[str]]:
        """Of the page of a table that is shown."""
        return self.js("return [...document.querySelectorAll(`#${arguments[0]} tbody tr`)]"
                       ".map((r) => [...r.cells].map((c) => c.innerText.trim()))", host)

    def column(self, host: str, title: str) -> list[str]:
        place = self.js("return [...document.querySelectorAll(`#${arguments[0]} thead th`)]"
                        ".findIndex((h) => h.innerText.trim().startsWith(arguments[1]))", host, title)
        assert place >= 0, title
        return [row[place] for row in self.rows(host)]


@pytest.fixture(scope="module")
def browser(site):
    made = Browser(site)
    yield made
    made.driver.quit()


def a_case(site: Path, words: str) -> str:
    """The key of a case whose data have these words."""
    return next(key for key, text in sorted(cases_in(site).items()) if words in text)


def cases_in(site: Path) -> dict[str, str]:
    found = {}
    for path in (site / "data/cases").glob("*.js"):
        found |= unpacked(path)
    return {key: json.dumps(case, separators=(",", ":")) for key, case in found.items()}


def unpacked(path: Path):
    packed = json.loads(path.read_text().removeprefix('mf.data("packed",').removesuffix(");\n"))
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def test_a_few_files_have_all_cases(site):
    known = {case["key"] for case in json.loads((site / "data/cases.js").read_text().removeprefix('mf.data("cases",').removesuffix(");\n"))
             if case["begun"]}
    assert set(cases_in(site)) == known
    runs = {path.parent for path in (site.parent / "results").rglob("*.jsonl")}
    assert len(list((site / "data/cases").iterdir())) <= 4 * len(runs) < len(known)


# ---- every page -----------------------------------------------------------------------------------

@pytest.mark.parametrize("width,dark", [(1600, False), (400, True)], ids=["wide-light", "narrow-dark"])
def test_every_page_opens_without_an_error(browser, site, width, dark):
    browser.look(width, dark)
    for page in [*(f"{name}.html" for name in PAGES), f"case.html#{a_case(site, 'sgd_serial')}"]:
        browser.open(page)
        assert browser.errors() == [], page
        assert browser.js("return document.documentElement.classList.contains('dark')") == dark
        assert browser.js("return document.documentElement.scrollWidth") <= width, page
        assert browser.js("return document.querySelectorAll('main h1').length") == 1
        assert len(browser.js("return document.querySelector('main').innerText")) > 100, page
        unlabelled = browser.js(
            "return [...document.querySelectorAll('main input, main select, main button')].filter((e) => "
            "!e.labels?.length && !e.getAttribute('aria-label') && !e.innerText.trim() && "
            "!e.closest('.modebar')).map((e) => e.outerHTML)")
        assert unlabelled == [], page
        figures = browser.js("return [...document.querySelectorAll('.figure')].map((f) => "
                             "[f.getAttribute('role'), f.getAttribute('aria-label') || ''])")
        assert all(role == "img" and "table" in label for role, label in figures), page
    browser.look(1600, False)


def titles(browser) -> list[str]:
    return browser.js("return mf.store.explore.groups.map((g) => g.title)")


def show_all(browser, title: str) -> None:
    """The series of a data set from every machine and of every size."""
    browser.choose("data", title)
    browser.wait("return mf.explore.state.group && mf.explore.state.group.title === arguments[0]", title)
    for select in ("machine", "factors"):
        browser.choose(select, "")


def test_names_are_no_markup(browser, site):
    for page in ("index.html", "explore.html", "runs.html", "cases.html", "failures.html", "machines.html",
                 f"case.html#{a_case(site, 'onerror')}"):
        browser.open(page)
        if page == "explore.html":
            browser.choose("data", next(title for title in titles(browser) if "<img" in title))
            browser.wait("return mf.explore.state.group.title.includes('<img')")
            browser.js("mf.by('all').click()")
            browser.wait("return mf.by('figure').data.length > 0")
        assert browser.js("return window.pwned") is None, page
        assert browser.js("return document.querySelectorAll('main img, main script').length") == 0, page
        assert HOSTILE in browser.js("return document.body.textContent"), page
        assert browser.errors() == [], page  # also what the policy of the page had to stop


def test_a_page_may_ask_no_network_and_run_no_script_but_its_own(browser, site):
    browser.open("cases.html")
    browser.js("""window.stopped = [];
        document.addEventListener("securitypolicyviolation", (e) => window.stopped.push(e.effectiveDirective));
        fetch("http://127.0.0.1:9/").catch(() => {});
        new Image().src = "http://127.0.0.1:9/x.png";
        document.body.append(mf.el("script", { src: "http://127.0.0.1:9/x.js" }));
        document.body.append(mf.el("script", {}, "window.pwned = 1"));
        document.body.append(mf.el("button", { id: "bad", onfocus: () => {} }));
        mf.by("bad").setAttribute("onclick", "window.pwned = 1");""")
    browser.js("mf.by('bad').click()")
    want = ["connect-src", "img-src", "script-src-attr", "script-src-elem", "script-src-elem"]
    assert browser.wait("return window.stopped.length >= 5 && window.stopped.sort()") == want
    assert browser.js("return window.pwned") is None
    browser.driver.get_log("browser")
    for page in site.glob("*.html"):
        assert f'content="{POLICY}"' in page.read_text(), page


# ---- the first page --------------------------------------------------------------------------------

def brief(s: float) -> str:
    value, unit = (s, "s") if s >= 0.9995 else (1e3 * s, "ms") if s >= 0.9995e-3 else (1e6 * s, "µs")
    return f"{value:.0f} {unit}" if value >= 9.95 else f"{value:.1f} {unit}"


def shown_rows(browser, place: int = 0) -> list[list[str]]:
    return browser.js("return [...document.querySelectorAll('.panel')[arguments[0]].querySelectorAll('.row')].map((r) => "
                      "[r.querySelector('.name').innerText, r.querySelector('.value').innerText])", place)


def test_switches_choose_target_and_clock_and_stand_in_the_address(browser):
    browser.open("index.html")
    first = browser.js("return mf.results.shown()[0]")
    for level in first["targets"]:
        browser.js("document.querySelector(`[data-value=${arguments[0]}]`).click()", level)
        for clock in browser.js("return [...document.querySelectorAll('[data-key=clock]')].map((b) => b.dataset.value)"):
            browser.js("document.querySelector(`[data-value=${arguments[0]}]`).click()", clock)
            want = sorted(at["s"] for row in first["rows"] if (at := row["at"][level][clock]))
            rows = shown_rows(browser)
            assert [" ".join(value.split()[:2]) for _, value in rows[:len(want)]] == list(map(brief, want))
            assert all(value.startswith("not reached; best ") for _, value in rows[len(want):]) and len(rows) == len(first["rows"])
    address = browser.js("return location.hash")
    assert address == "#target=strictest&clock=file"
    browser.open(f"index.html{address}")
    assert shown_rows(browser) == rows
    browser.js("location.hash = '#target=none&clock=%3Cb%3E'")
    browser.wait("return mf.results.state.target === 'named' && mf.results.state.clock === 'answer'")
    assert browser.js("return [...document.querySelectorAll('[aria-pressed=true]')].map((b) => b.dataset.value)") == \
        ["named", "answer"]
    assert browser.errors() == []


def test_ratios_are_over_the_first_with_seeds_enough(browser):
    browser.open("index.html")
    place, first, second = browser.js("""const place = mf.results.shown().findIndex((p) => p.order.named.answer.length > 1);
        const panel = mf.results.shown()[place];
        const at = (row) => row.at.named.answer, s = (row) => (at(row) ? at(row).s : Infinity);
        const order = [...panel.rows].sort((a, b) => s(a) - s(b));
        at(order[0]).seeds = 2;
        const places = panel.order.named.answer;
        places.splice(1, 0, ...places.splice(0, 1));
        document.querySelector('[data-value=named]').click();
        return [place, s(order[0]), s(order[1])];""")
    rows = [value for _, value in shown_rows(browser, place)]
    assert rows[0] == brief(second) and rows[1] == f"{brief(first)} n = 2"


@pytest.fixture(scope="module")
def raced(site):
    """The first page of committed races."""
    folder = site.parent / "raced"
    shutil.copytree(site / "assets", folder / "assets")
    (folder / "data").mkdir()
    shutil.copyfile(site / "index.html", folder / "index.html")
    races = ("peers-explicit", "peers-explicit.ml-100k", "peers-explicit.netflix", "peers-explicit.ml-20m", "peers-explicit.expanded",
             "peers-implicit", "peers-implicit.gowalla", "peers-implicit.lastfm-2k")
    shown = panels.panels(make_groups(gather([ROOT / "results/reference/h100" / name for name in races])[0]))
    write_site.data(folder / "data/results.js", "results", {
        "panels": shown, "losses": panels.losses(shown), "machines": panels.machines(shown), "claims": {}, "own": True})
    return folder, shown


MATRIX = """return [...document.querySelectorAll('.matrix tbody tr')].map((r) =>
    [...r.querySelectorAll('.name, td')].map((c) => c.innerText.trim()))"""


def test_the_matrix_has_the_factor_behind_the_first_of_each_data_set(browser, raced):
    folder, shown = raced
    browser.driver.get(f"file://{folder}/index.html#target=stricter&clock=file")
    browser.wait("return document.documentElement.dataset.ready")
    rows = browser.js(MATRIX)
    firsts = browser.js("return [...document.querySelectorAll('.matrix .winner')].map((c) => c.innerText)")
    assert len(firsts) == len(shown) == 8 and all(len(row) == 11 for row in rows)
    counts = {}
    for column, panel in enumerate(shown, start=1):
        order = [panel["rows"][place] for place in panel["order"]["stricter"]["file"]]
        assert firsts[column - 1] == (order[0]["own"] if order else "nobody")
        lines = {}
        for row in sorted(panel["rows"], key=lambda r: order.index(r) if r in order else len(order)):
            lines.setdefault((row["line"], row["hardware"]), row)
        for (line, hardware), row in lines.items():
            at = row["at"]["stricter"]["file"]
            name, *cells = next(r for r in rows if row["own"] in r[0].rsplit(" ", 1)[0].split(", ")
                                and r[0].endswith("GPU" if hardware == "cuda" else "CPU"))
            first = order and order[0] is row
            ran, won = counts.get(name, (0, 0))
            counts[name] = (ran + 1, won + bool(first))
            cell = cells[column - 1]
            if at is None:
                assert cell == "–"
            elif first:
                assert cell.startswith(f"1 {brief(at['s'])}")
            elif at["seeds"] >= 3 and not at["contended"] and not (head := order[0]["at"]["stricter"]["file"])["contended"]:
                ratio = at["s"] / head["s"]
                assert cell == f"{ratio:{'.0f' if ratio >= 9.95 else '.1f'}}×"
            else:
                assert "×" not in cell and brief(at["s"]) in cell
        assert sum(row[column] != "·" for row in rows) == len(lines), "a dot where it was not run"
    assert {row[0]: row[-2] for row in rows} == {name: f"{won} of {ran}" for name, (ran, won) in counts.items()}
    profiles = browser.js("return [...document.querySelectorAll('.matrix tbody .profile')].map((p) => [p.getAttribute('aria-label'), "
                          "p.lastChild.getAttribute('d')])")
    for row, (label, path) in zip(rows, profiles, strict=True):
        ran, won = counts[row[0]]
        within = sum(cell not in "–·" for cell in row[1:-2])
        assert label == f"on {within} of {ran} data sets within 1,000 times the first"
        steps = [(float(x), float(y)) for x, y in re.findall(r"H([\d.]+)V([\d.]+)", path)]
        assert steps == sorted(steps, key=lambda step: (step[0], -step[1])) and len(steps) == within
        assert sum(x == 1 for x, _ in steps) >= won and (not steps or steps[-1][1] == pytest.approx(15.5 - 14 * within / ran, abs=0.06))
    assert browser.errors() == []


def test_the_matrix_is_above_the_fold_and_scrolls_in_its_own_box(browser, raced):
    box = "const m = document.querySelector('.matrix'), s = m.parentElement; return [m.getBoundingClientRect().bottom, " \
          "s.scrollWidth > s.clientWidth, document.documentElement.scrollWidth]"
    for width, inside in ((1440, False), (390, True)):
        browser.look(width, False)
        browser.driver.get(f"file://{raced[0]}/index.html")
        browser.wait("return document.documentElement.dataset.ready")
        bottom, scrolls, page = browser.js(box)
        assert scrolls == inside and page == width
        assert width == 390 or bottom < 900
    browser.js("document.querySelector('.matrix a').click()")
    assert browser.js("return document.querySelector('.panel').getBoundingClientRect().top") < 100
    browser.look(1600, False)


def test_bars_of_all_panels_begin_at_one_time(browser, raced):
    browser.driver.get(f"file://{raced[0]}/index.html")
    browser.wait("return document.documentElement.dataset.ready")
    ends = browser.js("return [...document.querySelectorAll('.panel .axis')].map((a) => [a.firstChild.innerText, a.lastChild.innerText])")
    assert len(ends) == 8 and len({tuple(end) for end in ends}) == 1


def test_words_are_the_readers_in_a_report_of_their_own_results(browser, raced, tmp_path):
    site = shutil.copytree(raced[0], tmp_path / "site")
    words = {}
    for own, heading in ((True, "Where we lose"), (False, "Where yours lose")):
        data = site / "data/results.js"
        data.write_text(data.read_text().replace('"own":true', f'"own":{json.dumps(own)}'))
        browser.driver.get(f"file://{site}/index.html")
        browser.wait("return document.documentElement.dataset.ready")
        words[own] = browser.js("return document.querySelector('main').innerText")
        assert heading in words[own]
    assert " of ours" in words[True]
    assert " of yours" in words[False] and not {"ours", "we", "our", "us"} & set(words[False].lower().replace(",", " ").split())


SHIFTS = """const [done] = arguments; let sum = 0;
    new PerformanceObserver((list) => { for (const entry of list.getEntries()) sum += entry.value; })
      .observe({ type: "layout-shift", buffered: true });
    setTimeout(() => done(sum), 200);"""
SMALL = """return [...document.querySelectorAll("main a, main button, main input, main select, main summary, nav a")].filter((e) => {
    const { width, height } = e.getBoundingClientRect();
    return width && height && Math.min(width, height) < 24 && !e.closest(".modebar, p, dd, footer, label") && e.offsetParent;
  }).map((e) => e.outerHTML)"""


@pytest.mark.parametrize("width", [1440, 390])
def test_pages_stand_still_and_have_places_large_enough_for_a_finger(browser, site, raced, width):
    browser.look(width, False)
    for page in [*(f"{name}.html" for name in PAGES), f"case.html#{a_case(site, 'sgd_serial')}"]:
        browser.open(page)
        assert browser.driver.execute_async_script(SHIFTS) < 0.1, page
        assert browser.js(SMALL) == [], page
    browser.driver.get(f"file://{raced[0]}/index.html")
    browser.wait("return document.documentElement.dataset.ready")
    assert browser.driver.execute_async_script(SHIFTS) < 0.1 and browser.js(SMALL) == []
    browser.look(1600, False)


def test_the_leaderboard_begins_with_its_first_data_set(browser, site, groups):
    first = json.loads((site / "data/board.js").read_text().removeprefix('mf.data("board",').removesuffix(");\n"))
    rest = unpacked(site / "data/board_rest.js")
    assert {row["group"] for row in first} == {0} and 0 not in {row["group"] for row in rest}
    browser.open("runs.html")
    assert browser.js("return mf.store.board.length") == len(first) + len(rest) == sum(len(group.members) for group in groups)


# ---- the target -----------------------------------------------------------------------------------

def test_a_target_that_moves_gives_what_python_computes(browser, groups):
    browser.open("explore.html")
    for group in groups:
        show_all(browser, group.title)
        values = [v for m in group.members for t in m.series.traces.values() for v in t[group.metric]
                  if math.isfinite(v)]
        if not values:
            continue
        low, high = min(values), max(values)
        for share in (0.0, 0.1, 0.5):
            target = Target(low + share * (high - low), group.metric)
            browser.js("const t = mf.by('target'); t.value = arguments[0]; t.dispatchEvent(new Event('change'));",
                       repr(float(target)))
            said = browser.js("return mf.explore.selected().map((s) => { const r = mf.explore.rowOf(s);"
                              "return [s.run + ' ' + s.label.replace(' †', ''), r.train, r.answer, r.reached]; })")
            assert sorted(said, key=str) == sorted(_by_mfbench(group, target), key=str)
            shown = browser.column("series", "Answer to target")
            assert len(shown) == min(25, len(said))
            assert set(shown) <= set(browser.js(
                "return arguments[0].map(mf.duration)", [answer for _, _, answer, _ in said]))


def _by_mfbench(group, target):
    found = []
    for member in group.members:
        train, answer = (member.series.at_target(target, clock) for clock in ("train_s", "answer_s"))
        medians = [metrics.censored_median(times) for times in (train, answer)]
        found.append([f"{member.run.name} {member.label}",
                      *(None if math.isnan(m) else m for m in medians),
                      sum(not math.isnan(t) for t in train)])
    return found


def test_the_browsers_definition_is_that_of_mfbench(browser):
    """On traces with unknown points, ties, ups and downs, both ways of being better."""
    browser.open("cases.html")
    chance = random.Random(1)
    for less in (True, False):
        metric = "test_rmse" if less else "ndcg_100"
        cases = [[chance.choice([None, chance.random(), 0.5]) for _ in range(n)] for n in [0, 1, 2, 5, 9] * 8]
        said = browser.js("return arguments[0].map((v) => mf.timeToTarget([...v.keys()], v, 0.5, arguments[1]))",
                          cases, less)
        nan = [[math.nan if x is None else x for x in values] for values in cases]
        places = metrics.first_at(Target(0.5, metric), [{metric: values} for values in nan])
        assert said == places
    times = [[chance.choice([None, chance.random()]) for _ in range(n)] for n in [0, 1, 2, 3, 4, 5] * 9]
    said = browser.js("return arguments[0].map(mf.censoredMedian)", times)
    want = [metrics.censored_median([math.nan if t is None else t for t in side]) for side in times]
    assert said == [None if math.isnan(w) else w for w in want]


def test_numbers_read_as_in_the_tables_of_mfplots(browser):
    browser.open("cases.html")
    values = [0.0, 1e-9, 1.234e-5, 0.00099949, 0.0123, 0.9999, 0.99949, 1.0, 9.995, 12.3, 999.4, 999.9, 5000.0,
              123456.0, 1.5e7, 4.24e12, 2.5e15]
    assert browser.js("return arguments[0].map(mf.duration)", values) == [duration(v).strip() for v in values]
    assert browser.js("return arguments[0].map((v) => mf.si(v, 'B/s'))", values) == \
        [si(v, "B/s").strip() for v in values]


def test_the_line_can_be_dragged_and_the_slider_takes_keys_from_anywhere(browser):
    """Also where the target is beyond all values; every step of the slider is another target."""
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    browser.open("explore.html")
    browser.js("Plotly.relayout(mf.by('figure'), {'shapes[0].y0': 0.97, 'shapes[0].y1': 0.97})")
    browser.wait("return mf.explore.state.target === 0.97")
    assert browser.js("return mf.by('target').value") == "0.97"
    browser.js("const t = mf.by('target'); t.value = '0.5'; t.dispatchEvent(new Event('change'));")
    assert browser.js("return mf.by('slide').value") == "0"
    slide = browser.driver.find_element(By.ID, "slide")
    seen = [0.5]
    for _ in range(4):
        slide.send_keys(Keys.ARROW_RIGHT)
        seen.append(browser.wait("return mf.explore.state.target > arguments[0] && mf.explore.state.target", seen[-1]))
    browser.wait("return mf.by('figure').layout.shapes[0].y0 === arguments[0]", seen[-1])
    slide.send_keys(Keys.ARROW_LEFT * 4)
    browser.wait("return mf.explore.state.target === 0.5")


def test_the_address_holds_the_view(browser):
    browser.open("explore.html")
    browser.choose("factors", "50")
    browser.choose("clock", "train_s")
    browser.js("mf.by('logy').click()")
    browser.js("const t = mf.by('target'); t.value = '0.93'; t.dispatchEvent(new Event('change'));")
    address = browser.js("return location.hash")
    said = "return [mf.by('factors').value, mf.by('clock').value, mf.by('logy').checked, mf.explore.state.target]"
    assert browser.js(said) == ["50", "train_s", True, 0.93]
    browser.open(f"explore.html{address}")
    browser.wait("return mf.explore.state.target === 0.93")
    assert browser.js(said) == ["50", "train_s", True, 0.93] and browser.js("return location.hash") == address
    other = titles(browser)[1]
    browser.choose("data", other)
    browser.wait("return mf.explore.state.group.title === arguments[0] && location.hash.includes('clock')", other)
    assert browser.js("return [mf.by('clock').value, mf.by('logy').checked]") == ["train_s", True], "the view stays"
    first = titles(browser)[0]
    browser.js("location.hash = new URLSearchParams({ data: arguments[0] })", first)
    browser.wait("return mf.explore.state.group.title === arguments[0]", first)
    assert browser.wait("return mf.by('clock').value === 'answer_s' && !mf.by('logy').checked"), "the usual view"
    browser.open("explore.html#data=%3Cb%3Enone&factors=50")
    assert browser.js("return [mf.by('figure').innerText, mf.by('data').value, mf.by('series').innerText]") == [
        'This report has no data set "<b>none"; choose one above.', "", ""]
    browser.choose("data", first)
    browser.wait("return (mf.by('figure').data || []).length > 0 && !mf.by('figure').innerText.includes('This report')")
    browser.open("explore.html#factors=none&target=abc&clock=%3Cb%3E")
    usual = browser.js("return mf.explore.state.group.usual")
    assert browser.js("return [mf.by('machine').value, mf.by('factors').value, mf.by('clock').value]") == \
        [usual["machine"], usual["factors"], "answer_s"]
    assert browser.errors() == []


def test_the_epoch_of_a_time_is_what_python_computes(browser, groups):
    from mfplots.site.groups import met

    browser.open("explore.html")
    group = groups[0]
    show_all(browser, group.title)
    said = browser.js("return mf.explore.selected().map((s) => { const r = mf.explore.rowOf(s);"
                      "return [s.run + ' ' + s.label.replace(' †', ''), r.met && [r.met.epoch, r.met.before]]; })")
    want = [[f"{m.run.name} {m.label}", (at := met(m.series, group.target[0])) and list(at)] for m in group.members]
    assert sorted(said, key=str) == sorted(want, key=str) and any(at for _, at in want)


def test_no_figure_can_be_handed_to_a_service(browser, site):
    """Plotly's own buttons for that are left out."""
    for page in ("explore.html", "machines.html", "compare.html", f"case.html#{a_case(site, 'sgd_serial')}"):
        browser.open(page)
        buttons = browser.js("return [...document.querySelectorAll('.modebar-btn')].map((b) => b.dataset.title)")
        assert set(buttons) <= {"Zoom", "Pan", "Zoom in", "Zoom out", "Reset axes"}, page
        assert all(url == "" for url in browser.js(
            "return [...document.querySelectorAll('.figure')].filter((f) => f._context)"
            ".map((f) => f._context.plotlyServerURL)")), page


def test_series_are_shown_and_hidden(browser):
    browser.open("explore.html")
    count = "return mf.by('figure').data.filter((t) => t.showlegend !== false).length"
    first = browser.js(count)
    browser.js("mf.by('all').click()")
    more = browser.wait(f"const n = (() => {{ {count} }})(); return n > arguments[0] && n", first)
    browser.js("document.querySelector('#series input[type=checkbox]:checked').click()")
    browser.wait(f"{count} === arguments[0]", more - 1)
    browser.js("mf.by('none').click()")
    browser.wait("return mf.by('figure').data.length === 0")
    browser.choose("clock", "epoch")
    browser.js("mf.by('best').click(); mf.by('logx').click()")
    browser.wait(f"{count} === arguments[0] && mf.by('figure').layout.xaxis.type === 'linear'", first)


# ---- the other pages ------------------------------------------------------------------------------

def test_filters_narrow_the_leaderboard_and_stand_in_the_address(browser, groups):
    browser.open("runs.html")
    browser.choose("filter-dataset", "")
    total = browser.js("return mf.store.board.length")
    assert total == sum(len(group.members) for group in groups)
    browser.choose("filter-algorithm", "hogwild")
    want = sum(any(m.series.algorithm == "hogwild" for m in group.members) for group in groups)
    rows = browser.column("board", "Algorithm")
    assert len(rows) == want < total and {row.split(" +")[0] for row in rows} == {"hogwild (CPU)"}
    address = browser.js("return location.hash")
    assert address == "#algorithm=hogwild"
    browser.open(f"runs.html{address}")
    assert len(browser.rows("board")) == want
    browser.choose("filter-algorithm", "")
    browser.choose("filter-hardware", "cuda")
    browser.js("mf.by('more').click()")
    assert set(browser.column("board", "Device")) == {"cuda"}
    browser.choose("filter-hardware", "")
    assert browser.js("return location.hash") == "#dataset=", "all, where the page begins with one"
    browser.open("runs.html#dataset=")
    assert browser.js("return mf.by('filter-dataset').value") == "" and browser.errors() == []


def test_the_leaderboards_head_has_the_target(browser, groups):
    heads = "return [...document.querySelectorAll('#board thead th')].map((h) => h.innerText.trim())"
    for group in groups:
        if group.target[0] is None:
            continue
        browser.open(f"runs.html#{urlencode({'dataset': group.title})}")
        row = metrics.row(group.target[0].metric)
        assert f"Answer to {row.title} {'≤' if row.less else '≥'} {float(group.target[0]):g}" in browser.js(heads)
    browser.choose("filter-dataset", "")
    assert "Answer to target" in browser.js(heads)


def test_a_search_is_over_all_data_and_stands_in_the_address(browser):
    browser.open("runs.html")
    assert browser.js("return mf.by('filter-dataset').value") and "bpr (GPU)" not in browser.column("board", "Algorithm")
    browser.js("const f = document.querySelector('#board input[type=search]'); f.value = 'bpr';"
               "f.dispatchEvent(new Event('input', { bubbles: true }));")
    browser.wait("return location.hash === '#find=bpr'")
    rows = browser.column("board", "Algorithm")
    assert rows and all(row.startswith("bpr") for row in rows) and browser.js("return mf.by('filter-dataset').value") == ""
    browser.open("runs.html#find=bpr")
    assert browser.column("board", "Algorithm") == rows
    assert browser.js("return document.querySelector('#board input[type=search]').value") == "bpr"


def test_an_address_that_names_nothing_shows_nothing_else(browser):
    browser.open("runs.html#dataset=none")
    assert browser.rows("board") == [["No matching records found"]]
    assert browser.js("return mf.by('filter-dataset').selectedOptions[0].text") == "none: not in this report"


def test_the_leaderboard_has_a_row_an_algorithm_which_unfolds(browser, groups):
    browser.look(1600, False)
    group = next(g for g in groups if g.key[0] == "toy")
    browser.open(f"runs.html#{urlencode({'dataset': group.title})}", drawn=False)
    assert len(browser.js("return [...document.querySelectorAll('#board thead th')].map((h) => h.innerText.trim())")) == 8
    rows = browser.rows("board")
    names = [row[0].split(" +")[0] for row in rows]
    assert sorted(names) == sorted({m.about["name"] for m in group.members})
    own = [m for m in group.members if m.series.algorithm == "hogwild"]
    times = [metrics.censored_median(m.series.at_target(group.target[0], "answer_s")) for m in own]
    place = names.index("hogwild (CPU)")
    assert rows[place][1] == duration(min(t for t in times if math.isfinite(t))).strip()
    browser.js("document.querySelectorAll('#board tbody tr')[arguments[0]].querySelector('.fold').click()", place)
    inner = browser.js("return [...document.querySelectorAll('#board td[colspan] tbody tr')].map((r) => r.cells[0].innerText)")
    assert len(inner) == len(own) - 1
    browser.js("document.querySelector('.fold[aria-expanded=true]').click()")
    assert browser.js("return document.querySelectorAll('#board td[colspan]').length") == 0
    browser.js("window.got = []; URL.createObjectURL = (b) => { b.text().then((t) => window.got.push(t)); return 'blob:none'; };"
               "HTMLAnchorElement.prototype.click = () => {}; mf.by('csv').click();")
    table = list(csv.DictReader(io.StringIO(browser.wait("return window.got[0]"))))
    assert len(table) == len(group.members), "all of its configurations"
    assert {row["name"] for row in table} == set(names) and "quality" in table[0]


def test_trials_of_a_search_are_listed(browser):
    browser.open("tuning.html", drawn=False)
    (study,) = browser.js("return mf.store.tuning")
    assert study["runs"] == 3 and study["chosen"].startswith("reg = ")
    trials = browser.column("trials", "Validation")
    assert trials == [f"{t['score']:.4f}" for t in sorted(study["trials"], key=lambda t: t["score"])]
    assert browser.column("trials", "Parameters")[0] == study["chosen"]


def test_tables_sort_by_numbers_with_the_keyboard(browser):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    browser.open("cases.html")
    head = next(h for h in browser.driver.find_elements(By.CSS_SELECTOR, "#cases thead th")
                if "Training" in h.text)
    target = browser.js("const h = arguments[0]; return h.tabIndex >= 0 ? h : h.querySelector('[tabindex]')", head)
    target.send_keys(Keys.ENTER)
    browser.wait("return arguments[0].getAttribute('aria-sort') === 'ascending'", head)
    keys = browser.js("return mf.store.cases.map((c) => c.train).filter((t) => t !== null).sort((a, b) => a - b)")
    assert browser.column("cases", "Training")[0] == duration(keys[0]).strip()
    target.send_keys(Keys.ENTER)
    browser.wait("return arguments[0].getAttribute('aria-sort') === 'descending'", head)
    assert browser.column("cases", "Training")[0] == duration(keys[-1]).strip(), "not those without a number"


def skip(browser) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    browser.driver.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
    assert browser.js("return document.activeElement.id") == "main"


def test_the_skip_link_keeps_the_view(browser, site):
    key = a_case(site, '"algorithm":"sgd_serial"')
    address = f"case.html#{key}"
    browser.open(address)
    skip(browser)
    assert browser.js("return location.href").endswith(address)
    assert "sgd_serial" in browser.js("return mf.by('case').innerText")
    browser.open("explore.html#clock=train_s")
    title = titles(browser)[1]
    browser.open(f"explore.html#data={quote_plus(title)}&clock=train_s")
    skip(browser)
    assert browser.js("return [mf.by('data').value, mf.by('clock').value]") == [title, "train_s"]
    assert browser.js("return mf.address().get('data')") == title


def test_times_of_cases_that_were_disturbed_are_marked(browser, site):
    browser.open("runs.html#algorithm=disturbed", drawn=False)
    assert all(time.endswith("†") for time in browser.column("board", "Answer to"))
    browser.open("runs.html#algorithm=als", drawn=False)
    assert not any("†" in time for time in browser.column("board", "Answer to"))
    browser.open(f"case.html#{a_case(site, 'a neighbour')}")
    tags = browser.js("return [...document.querySelectorAll('.tag')].map((t) => t.parentElement.innerText)")
    assert tags[1] == "contended † train: a neighbour"


def lines_in(text):
    return [json.loads(line) for line in text.splitlines()]


def test_a_case_gives_its_file_back(browser, site):
    path = sorted((site.parent / "results" / "before").glob("hogwild-toy-s1-*.jsonl"))[0]
    browser.open(f"case.html#{a_case(site, path.name)}")
    catch = ("window.got = []; URL.createObjectURL = (b) => { b.text().then((t) => window.got.push(t));"
             "return 'blob:none'; }; HTMLAnchorElement.prototype.click = () => {};"
             "mf.by('download-jsonl').click();")
    browser.js(catch)
    assert lines_in(browser.wait("return window.got[0]")) == lines_in(path.read_text())
    clocks = browser.js("return mf.by('clocks').data.map((b) => [b.name, b.x[0]])")
    assert ["prepare", 0.2] in clocks and ["load", 0.1] in clocks
    heads = browser.js("return [...document.querySelectorAll('#case h2')].map((h) => h.innerText)")
    assert heads == ["Curve", "Where the time went", "Parameters", "Repeat it"]
    assert browser.js("return [...document.querySelectorAll('#case details.folded')].every((d) => !d.open)")
    assert browser.js("return mf.by('figure').layout.yaxis.title.text") == metrics.row("test_rmse").axis


def test_a_case_that_is_not_there_is_said(browser):
    browser.open("case.html#000000000000", drawn=False)
    assert "no such case" in browser.js("return mf.by('case').innerText")
    browser.driver.get_log("browser")


def test_two_runs_are_compared(browser, site):
    browser.open("compare.html")
    pair, = browser.js("return mf.store.pairs")
    assert {pair["first"], pair["second"]} == {"before", "after"} and pair["shared"] == 3
    if not os.environ.get("MFBENCH") and "problem" in pair["said"]:
        pytest.skip("no mfbench, whose compare has the statistics")
    rows, said = browser.rows("rows"), pair["said"]["rows"]
    assert len(rows) == len(said) >= 1
    names = browser.js("return mf.by('figure').layout.yaxis.ticktext")
    assert names and all(name.startswith("sgd_serial ") for name in names), "a row names its algorithm"
    assert said[0]["answer_time"]["low"] is not None
    assert rows[0][2] == said[0]["verdict"]
    assert rows[0][3].startswith(f"{said[0]['answer_time']['ratio']:.3g}"[:4])


def test_claims_are_filtered(browser):
    browser.open("papers.html")
    shown = "return [...document.querySelectorAll('.claim')].filter((c) => !c.hidden).length"
    total = browser.js(shown)
    browser.choose("verdict", "does not hold")
    few = browser.js(shown)
    assert 0 < few < total
    assert f"{few} of {total} claims" in browser.js("return mf.by('shown').textContent")
    assert browser.js("return location.hash") == "#verdict=does+not+hold"
    browser.open("papers.html#verdict=does+not+hold&paper=none")
    assert browser.js(shown) == few


def test_failures_name_the_damaged_file(browser):
    browser.open("failures.html")
    rows = browser.rows("failures")
    kinds = [row[0] for row in rows]
    assert kinds[0] == "damaged" and kinds[-1] == "contended", "what is least of a failure last"
    assert kinds.count("damaged") == 1 and "skipped" in kinds and "diverged" in kinds and "error" in kinds
    assert "damaged.jsonl: line 1" in next(row[2] for row in rows if row[0] == "damaged")


def test_the_roofline_begins_with_one_device_and_says_so_in_the_address(browser):
    browser.open("machines.html")
    assert browser.js("return mf.by('filter-machine').value").startswith("NVIDIA H200")
    devices = "return new Set(mf.by('figure').data.filter((t) => t.mode === 'lines').map((t) => t.name.split(':')[0])).size"
    assert browser.js(devices) == 1
    browser.choose("filter-machine", "")
    assert browser.js("return location.hash") == "#machine="
    browser.open("machines.html#machine=")
    assert browser.js("return mf.by('filter-machine').value") == ""
