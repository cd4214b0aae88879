"""The HTML of the pages before any script runs. Text of others is escaped here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape as escape_markup
from urllib.parse import quote

from mfplots.printable import one_line
from mfplots.site.exhibits import Claim, counts_of, prose
from mfplots.site.figures import Picture

NAVIGATION = (("index.html", "Results"), ("explore.html", "Explore"), ("papers.html", "Papers"),
              ("machines.html", "Machines and roofline"), ("runs.html", "All runs"))
ALL_RUNS = (("runs.html", "Leaderboard"), ("cases.html", "Cases"), ("compare.html", "Compare"), ("cards.html", "Cards"), ("tuning.html", "Tuning"), ("failures.html", "Failures"))
TITLES = {**dict(NAVIGATION), **dict(ALL_RUNS), "case.html": "Case", "papers.html": "What papers claim", "compare.html": "Compare two runs", "cards.html": "The same work on several cards",
          "tuning.html": "Trials of searches"}
HEADINGS = {"index.html": "How long until the model is good enough?"}
# No outside content, no script but the files beside the page, and no sending.
POLICY = ("default-src 'none'; script-src 'self' file:; style-src 'self' file: 'unsafe-inline'; "
          "img-src 'self' file: data: blob:; connect-src 'none'; base-uri 'none'; form-action 'none'")
BASE = ("assets/tables.js", "assets/metrics.js", "assets/report.js")


def escape(text: str) -> str:
    """Also of names of folders and revisions, which are others' text."""
    return escape_markup(one_line(text))


def page(file: str, body: str, scripts: Sequence[str], about: str, made: str, files: Collection[str]) -> str:
    """`about`: what the report is, as HTML. `files`: the pages of this report, to which others lead."""
    title = TITLES[file]
    part = _links(ALL_RUNS, "case.html" if file == "case.html" else file, files)
    inner = f'<nav class="part" aria-label="All runs">{part}</nav>' if "aria-current" in part else ""
    tags = "".join(f'<script defer src="{src}"></script>\n' for src in (*BASE, *scripts))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>{escape(title)} - mfbench report</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="assets/tables.css">
<link rel="stylesheet" href="assets/report.css">
<script src="assets/theme.js"></script>
{tags}</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header><a class="name" href="index.html">mfbench</a>
<nav aria-label="Pages">{_links(NAVIGATION, _menu(file), files)}</nav></header>
<main id="main" tabindex="-1">{inner}
<h1>{escape(HEADINGS.get(file, title))}</h1>
<noscript><p class="note">Tables and figures of this page are made by scripts, which are off here.
The numbers are in the result files; <code>mfbench summarize</code> makes tables of them.</p></noscript>
{f'<p class="method">{about}</p>' if file == "index.html" else ""}
{body}
</main>
<footer><p>{about}</p><p>{escape(made)}</p></footer>
</body>
</html>
"""


def about(version: str, days: Sequence[str], link: str) -> str:
    """One sentence for what the report is, from which version, of which days; `link` leads to the project, if it is known."""
    name = f'<a href="{escape(link)}">{escape(version)}</a>' if link else escape(version)
    when = " to ".join(dict.fromkeys([min(days), max(days)])) if days else "an unknown day"
    return f"A report of {name}, which benchmarks matrix-factorization algorithms on CPUs and GPUs; measured {when}."


def _menu(file: str) -> str:
    """The entry of the menu that a page is under."""
    return "runs.html" if file == "case.html" or file in dict(ALL_RUNS) else file


def _links(entries: Iterable[tuple[str, str]], here: str, files: Collection[str]) -> str:
    here = "cases.html" if here == "case.html" else here
    return "".join(f'<a href="{href}"{CURRENT if href == here else ""}>{name}</a>' for href, name in entries if href in files)


CURRENT = ' aria-current="page"'
RESULTS = """<p class="method">Tuned programs train until they reach the target on test data. A cell is the time over
the time of the first.</p>
<div id="switches" class="switches"></div>
<div id="matrix"></div>
<p class="note key">&ndash; not reached (hover: best value) &ensp; &middot; not run &ensp; (time) fewer than three seeds &ensp;
&dagger; shared machine, no factor &ensp; ~ a sum of clocks &ensp; * target chosen after the runs</p>
<h2>One data set at a time</h2>
<div id="panels" class="panels"></div>
<p class="note">Clocks: <i>answer</i> is prepare, copy and train, from loaded ratings on; <i>file to model</i> is all from the start of
the process to the factors. The time is of the first evaluated point at the target; a seed that never gets there counts as infinitely
late. Of several configurations of an algorithm the fastest is shown. A panel is of one data set, one machine and one number of
factors.</p>"""

EXPLORE = """<p class="method">The quality of each algorithm against time; the dashed line is the target, and can be dragged.</p>
<form id="controls" class="controls">
<label>Data set <select id="data"></select></label>
<label>Machine <select id="machine"></select></label>
<label>Factors <select id="factors"></select></label>
<label>Clock <select id="clock"><option value="answer_s">answer: prepare + transfer + training</option>
<option value="train_s">training</option><option value="wall_s">wall, evaluations too</option>
<option value="epoch">epochs</option></select></label>
<label>Target <input type="number" id="target" step="any" inputmode="decimal"></label>
<label>Move it <input type="range" id="slide" min="0" max="1000" aria-label="Move the target"></label>
<details><summary>More</summary>
<label>Results <select id="run"></select></label>
<label>Value <select id="metric"></select></label>
<label class="check"><input type="checkbox" id="logx" checked> log time</label>
<label class="check"><input type="checkbox" id="logy"> log value</label></details>
</form>
<div id="figure" class="figure" role="img" aria-label="Curves; the table below has their numbers"
 aria-describedby="series-h"></div>
<p class="buttons"><button type="button" id="best">Fastest of each algorithm</button>
<button type="button" id="all">Show all</button><button type="button" id="none">Show none</button></p>
<p id="about" class="note"></p><p class="note" id="counts"></p>
<p class="note">Lines are medians over the seeds, bands their range. &dagger;: for some of the seeds the machine had other work,
too. &Dagger;: each point is a separate run from the start, so its points are not joined.</p>
<h2 id="series-h">The series, with their times to the target</h2>
<div id="series"></div>"""

RUNS = """<p class="method">One row an algorithm: its configuration that is first at the target. The button with a number unfolds the
others.</p>
<div id="filters" class="controls"></div>
<p class="buttons"><label><input type="checkbox" id="more"> all columns</label>
<button type="button" id="csv">CSV</button></p><div id="board"></div>
<p class="note">Numbers are medians over the seeds of one folder of results. The target is the one that most results of a data set name, or else a frozen
one, or else 5 % short of the best; the <a href="explore.html">curves</a> let you move it. Rates of different methods do not compare: an update of
ALS is other work than one of SGD. Quality is at the epoch that the validation part chose, or at the last; best on test is
chosen on the test part itself, and not a result. &dagger;: for some of its seeds the machine had other work, too. &Dagger;:
each evaluated point is a separate run from the start, so that a later one may have taken less. Hardware goes by its name;
machines of one name may differ.</p>"""

MACHINES = """<p class="method">How near does an algorithm come to the limits of the machine? A point is the work that it declares over its
training time; the lines are the machine's measured limits.</p>
<div id="filters" class="controls"></div>
<div id="figure" class="figure" role="img" aria-label="Roofline; the table below has its numbers"
 aria-describedby="rates-h"></div>
<div id="ceilings"></div>
<details><summary>How to read it</summary><p>Bytes and operations are the ones that an algorithm declares as compulsory for an
epoch: savings of caches and repeated reads are not in them, so a share of bytes may be above 100 %. The ceiling of
operations is fp32 outside of tensor cores, or, for an algorithm on tensor cores, fp16 products on them; if those were not
measured, it has no share and no point in the figure. The share of random rows: updates of SGD over the rate at which rows
of that size can be read and written at random, if measured. A case of several GPUs has the rates of all; its shares, and its
point in the figure, are of one of them. Open points are of CPUs, to which a ceiling of a GPU says nothing.</p></details>
<h2 id="rates-h">Rates, and shares of the machine's measured limits</h2><div id="rates"></div>"""

CASES = """<p>Every case of the results. Its name leads to its curve, clocks, parameters and provenance.</p>
<div id="filters" class="controls"></div><div id="cases"></div>"""

CASE = """<p id="back"><a href="cases.html">All cases</a></p><div id="case" aria-live="polite"></div>"""

COMPARE = """<p>Is the second run faster, slower or the same? By <code>mfbench compare</code>: 95 % intervals by
Student's t on logarithms over runs, verdicts with Holm's correction over all rows
(docs/methodology.md). Ratios are second over first: below 1 the second is faster.</p>
<div class="controls"><label>Runs <select id="pair"></select></label></div>
<p id="about" class="note"></p>
<div id="figure" class="figure" role="img"
 aria-label="Ratios with their intervals; the table below has the numbers" aria-describedby="rows-h"></div>
<h2 id="rows-h">Configurations of both</h2><div id="rows"></div>"""

CARDS = """<p class="method">How many times as fast is an algorithm on another GPU? By <code>mfbench compare --by card</code>, of the
folders that share cases. Ratios are geometric means over pairs, with 95 % intervals; times are medians; data sheets give the rates.</p>
<p id="about" class="note"></p>
<figure id="picture"><img src="figures/cards.svg" alt="Times as fast by algorithm and card; the table below has the numbers"></figure>
<div id="filters" class="controls"></div><div id="cards"></div>"""

TUNING = """<p>Which parameters did each search try on the validation part, with the same effort for every program? Choose
a search to see its trials.</p>
<div id="studies"></div><h2 id="trials-h">Trials</h2><div id="filters" class="controls"></div><div id="trials"></div>"""

FAILURES = """<p>Cases that diverged, ran out of memory or time, were skipped or cut off; cases that shared their machine
with other work; files that could not be read. A failure is a result: it stays in every count.</p>
<div id="filters" class="controls"></div><div id="failures"></div>"""


def papers(claims: Sequence[Claim], runs: dict[str, list[str]], pictures: Mapping[str, Picture]) -> str:
    """Of each claim an article; filters show and hide them. `runs` and `pictures` by exhibit."""
    counts = counts_of(claims)
    summary = "".join(f"<li>{kind} <b>{n}</b></li>" for kind, n in counts.items())
    names = list(dict.fromkeys(c.paper for c in claims))
    return ("<p>Each claim with what the paper published, the figure of these results, and the verdict. Published numbers are open markers or lines "
            "in the figures. Numbers are medians over seeds; a test recomputes each from its file.</p>"
            f'<ul class="counts">{summary}</ul><div class="controls">'
            f'<label>Paper <select id="paper">{_options(names)}</select></label>'
            f'<label>Verdict <select id="verdict">{_options(list(counts))}</select></label></div>'
            '<p id="shown" class="note" aria-live="polite"></p>'
            + "".join(_article(claim, runs, pictures) for claim in claims))


def _options(values: Sequence[str]) -> str:
    return '<option value="">all</option>' + "".join(f'<option value="{escape(v)}">{escape(v)}</option>' for v in values)


def _article(claim: Claim, runs: dict[str, list[str]], pictures: Mapping[str, Picture]) -> str:
    asked = "Asked" if claim.ours else "Published"
    commands = "".join(f"<li><code>./dev reproduce {escape(name)}</code>{_folders(runs.get(name, []))}</li>"
                       for name in claim.exhibits)
    picture = next((pictures[name] for name in claim.exhibits if name in pictures), None)
    return (f'<article class="claim" data-paper="{escape(claim.paper)}" data-verdict="{claim.kind}">'
            f'<h2>{_words(claim.claim)}</h2><p><span class="tag">{escape(claim.paper)}{", asked here" if claim.ours else ""}'
            f'</span> <span class="tag verdict {claim.kind.replace(" ", "-")}">{_words(claim.verdict)}</span></p>'
            f'<div class="sides"><div>{_terms([(asked, claim.published), ("", claim.other), ("Why", claim.why)])}'
            f'<details><summary>What was measured</summary>{_terms([("Measured", claim.measured)])}'
            f'<ul class="commands">{commands}</ul></details></div>{_figure(picture)}</div></article>')


def _words(markdown: str) -> str:
    return prose(markdown).strip().removeprefix("<p>").removesuffix("</p>")


def _terms(parts: Sequence[tuple[str, str]]) -> str:
    return "<dl>" + "".join((f"<dt>{name}</dt>" if name else "") + f"<dd>{prose(text)}</dd>"
                            for name, text in parts if text.strip()) + "</dl>"


def _figure(picture: Picture | None) -> str:
    if picture is None:
        return ""
    return (f'<figure><a href="{escape(picture.file)}"><img src="{escape(picture.file)}" loading="lazy" {picture.size}'
            f'alt="{escape(picture.title)}; the text has its numbers"></a></figure>')


def _folders(names: Sequence[str]) -> str:
    links = ", ".join(f'<a href="cases.html#run={quote(name, safe="")}">{escape(name)}</a>'
                      for name in names)
    return f" – results: {links}" if links else ""
