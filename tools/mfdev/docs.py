"""./dev docs: pages for a browser, and whether the documents are in form."""

import os
import pathlib
import re

from mfdev import pages, reference
from mfdev.build import mfbench_at_hand
from mfdev.deps import libraries_there
from mfdev.shell import ROOT, Ended, Failure

WIDTH = 100
# May be longer: headings, rows of tables, code, and a line of one word, as a link is.
MAY_BE_LONG = re.compile(r"#|\||    |\s*[-*]? *\S+$|\s*[-*]? *!?\[[^\]]*\]\(\S+\)\S*$")


def long_lines(text):
    """(number, line) of lines that are too long."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        fenced ^= line.lstrip().startswith("```")
        if len(line) > WIDTH and not fenced and not MAY_BE_LONG.match(line):
            yield number, line


def check_lines():
    found = [(page, number, line) for page in pages.documents()
             for number, line in long_lines((ROOT / page).read_text(encoding="utf-8"))]
    for page, number, line in found:
        print(f"{page}:{number}: {len(line)} columns, at most {WIDTH}: {line[:60]}...")
    return not found


def docs(words):
    if words in (["--check"], ["--update"]):
        program = mfbench_at_hand()
        if not program:
            raise Failure("docs: the reference is written from mfbench, and none is built: ./dev build, or set MFBENCH")
        current = reference.write(pathlib.Path(os.path.abspath(program)), check=words == ["--check"])
        if not (check_lines() and current):
            raise Ended(1)
        return
    if words == ["--out"]:
        raise Failure("docs: --out needs a folder")
    if words and words[0] != "--out":
        raise Failure(f"docs: unknown argument '{words[0]}'; known: --out DIR, --check, --update")
    if not libraries_there("docs"):
        raise Failure("docs: the pages are made by Sphinx and others, pinned in docs/requirements.txt: "
                      "./dev deps docs installs them from PyPI, once")
    pages.make(pathlib.Path(words[1] if words else "site-docs"), ".cache/docs/bin/python")
