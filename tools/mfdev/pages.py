"""The documents of the repository as pages for a browser, which open from disk and are searched there.

Sphinx and MyST make them (docs/requirements.txt); any warning of theirs, such as a link that leads nowhere, is an
error. Before that the tree of Markdown is copied: a link to a folder becomes one to its README, and a link to a folder
without one, text.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from mfdev.shell import ROOT, Failure

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"^( *```.*?^ *```$)", re.M | re.S)

# The order of the pages: a heading, then documents; unnamed documents go under the last.
CONTENTS = [
    ("First steps", ["docs/tutorial.md", "docs/which-algorithm.md", "docs/what-we-learned.md", "docs/gallery.md",
                     "docs/python.md", "docs/troubleshooting.md", "docs/glossary.md"]),
    ("Using it", ["docs/spec.md", "docs/adding-a-data-set.md", "datasets/README.md", "datasets/look-alikes.md",
                  "docs/tuning.md", "docs/peers.md", "docs/many-machines.md", "docs/several-gpus.md",
                  "docs/larger-than-the-card.md", "docs/profiling.md", "docs/benchmarks.md"]),
    ("Results", ["docs/results.md", "docs/reading-results.md", "docs/report.md",
                 "plots/README.md", "results/README.md", "docs/comparison.md", "docs/gowalla.md", "docs/published.md",
                 "docs/response.md", "results/NOTES.md", "docs/methodology.md", "docs/methodology-notes.md"]),
    ("Reference", ["docs/reference/algorithms.md", "docs/reference/formats.md", "docs/reference/results.md"]),
    ("Algorithms", ["algorithms/*/README.md", "algorithms/**/*.md"]),
    ("Papers", ["docs/reproduction.md", "docs/reproduction/*.md", "docs/errata.md"]),
    ("Contributing", ["CONTRIBUTING.md", "docs/adding-an-algorithm.md", "**/*.md"]),
]

CONF = '''
project = "mfbench"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "mfbench"
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
# A summary is fetched, which a browser refuses on a page from disk.
html_show_search_summary = False
master_doc = "README"
myst_heading_anchors = 6
html_search_scorer = __file__.replace("conf.py", "scorer.js")
nitpicky = True
# A block of commands is text; a part of a spec need not be whole JSON.
highlight_language = "text"
suppress_warnings = ["misc.highlighting_failure"]
'''

# A title ranks the higher, the more of its words are asked for. Sphinx takes all or none of Scorer.
SCORER = r'''var Scorer = {objNameMatch: 0, objPartialMatch: 0, objPrio: {}, objPrioDefault: 0, title: 15, partialTitle: 7, term: 5,
  partialTerm: 2, score: ([, title, , , score], asked = new URLSearchParams(location.search).get("q").toLowerCase().split(/\W+/)) =>
  score * (1 + title.toLowerCase().split(/\W+/).filter((word) => word && asked.includes(word)).length / title.match(/\w+/g).length)};'''


def documents():
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard",
                             "*.md"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode != 0:  # an archive of the sources
        left_out = {"build", "runs", "data", ".cache", "site-docs"}
        return sorted(str(path.relative_to(ROOT)) for path in ROOT.rglob("*.md")
                      if not left_out & set(path.relative_to(ROOT).parts))
    return sorted(name for name in set(listed.stdout.splitlines()) if (ROOT / name).exists())


def ordered(names):
    """[(heading, documents)], each document once."""
    left = [name for name in names if name != "README.md"]
    for heading, patterns in CONTENTS:
        chosen = []
        for pattern in patterns:
            fitting = {str(path.relative_to(ROOT)) for path in ROOT.glob(pattern)}
            chosen += [name for name in left if name not in chosen and name in fitting]
        left = [name for name in left if name not in chosen]
        yield heading, chosen


def link(page, found, copied):
    """A link as the pages can follow it."""
    sign, text, target = found.groups()
    path, hash_, anchor = target.partition("#")
    if re.match(r"[a-z]+:", target) or not path:
        return found[0]
    file = pathlib.Path(os.path.normpath((ROOT / page).parent / path))
    if file.is_dir():
        readme = file / "README.md"
        return f"[{text}]({path.rstrip('/')}/README.md{hash_}{anchor})" if readme.exists() else text
    if file.suffix != ".md":
        copied.add(file.relative_to(ROOT))
    return f"{sign}[{text}]({path}{hash_}{anchor})"


def prepared(page, text, copied):
    """A document with its links followed; code stays."""
    parts = FENCE.split(text)
    for k in range(0, len(parts), 2):
        parts[k] = LINK.sub(lambda found: link(page, found, copied), parts[k])
    return "".join(parts)


def contents(names):
    for heading, chosen in ordered(names):
        pages = "\n".join("/" + name.removesuffix(".md") for name in chosen)
        yield f"```{{toctree}}\n:hidden:\n:caption: {heading}\n:maxdepth: 1\n\n{pages}\n```\n"


def stage(folder):
    """The tree that Sphinx reads."""
    names, copied = documents(), set()
    for name in names:
        text = prepared(name, (ROOT / name).read_text(encoding="utf-8"), copied)
        if name == "README.md":
            text += "\n" + "\n".join(contents(names))
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    for path in sorted(copied):
        target = folder / path
        if (ROOT / path).exists() and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, target)
    for name, text in (("conf.py", CONF), ("scorer.js", SCORER)):
        (folder / name).write_text(text, encoding="utf-8")
    return names


def make(target, sphinx):
    out = target.resolve()
    if out.exists() and any(out.iterdir()) and not (out / "searchindex.js").exists():
        raise Failure(f"{target}: holds other things than these pages; choose another --out")
    with tempfile.TemporaryDirectory() as scratch:
        source, made = pathlib.Path(scratch) / "source", pathlib.Path(scratch) / "html"
        source.mkdir()
        names = stage(source)
        done = subprocess.run([sphinx, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q", source, made],
                              text=True, capture_output=True, check=False)
        if done.returncode != 0:
            raise Failure(done.stderr.replace(f"{source}/", "") + "the pages were not made")
        shutil.copyfile(made / "README.html", made / "index.html")
        shutil.rmtree(made / ".doctrees", ignore_errors=True)
        if out.exists():
            shutil.rmtree(out)
        shutil.copytree(made, out)
    print(f"{len(names)} documents: {target / 'index.html'}")
