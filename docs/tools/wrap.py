#!/usr/bin/env python3
"""Markdown in lines of at most 100 columns.

    python3 docs/tools/wrap.py             every tracked .md, in place
    python3 docs/tools/wrap.py --check     names the lines that are too long, and ends with 1
    python3 docs/tools/wrap.py FILE...     these alone

Paragraphs, items of lists and the comments behind numbers (tests/doc_numbers.py) are wrapped, and
of these only those that have a line which is too long. Code, tables and headings stay as they are.
What may then be longer is what `allowed` says: code, rows of tables, headings, and a line of one
word (a link, a code span, a string of a comment).
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WIDTH = 100

# A line that begins with one of these would be a heading, an item or a quotation.
STARTS_A_BLOCK = re.compile(r"[-+*>#|=]+$|\d+[.)]$|:?-{2,}$")
AS_IT_IS = re.compile(r"^\s*>|^(=+|-+)\s*$|(  |\\)$")
ITEM = re.compile(r"( *)(?:[-*+]|\d+[.)]) +")
# Code spans and names of devices are not taken apart; in a comment, neither are strings.
TEXT_WORD = re.compile(r"(?:`[^`]*`|\]\([^)]*\)|\b[GR]TX \w+|\S)+")
COMMENT_WORD = re.compile(r"""(?:r?"[^"]*"|r?'[^']*'|\S)+""")


def words(text, pattern=TEXT_WORD):
    """Those between which a line may end."""
    found = []
    for word in pattern.findall(text):
        if found and STARTS_A_BLOCK.match(word.split(" ")[0]):
            found[-1] += " " + word
        else:
            found.append(word)
    return found


def fill(parts, first="", rest=""):
    lines, line, empty = [], first, True
    for word in parts:
        if not empty and len(line) + 1 + len(word) > WIDTH:
            lines.append(line)
            line, empty = rest, True
        line += word if empty else " " + word
        empty = False
    return [*lines, line]


def wrap_text(lines):
    """A paragraph or one item of a list. What lines mean as such, quotations, underlined headings and
    breaks, stays."""
    if any(AS_IT_IS.search(line) for line in lines):
        return lines
    joined = " ".join(line.strip() for line in lines)
    item = ITEM.match(lines[0])
    indent = re.match(" *", lines[0])[0]
    first = item[0] if item else indent
    joined = joined[len(first.strip()):].lstrip() if item else joined
    return fill(words(joined), first, " " * len(first))


def wrap_comment(lines):
    """A comment with sources of numbers: a line that begins with two blanks continues the last."""
    entries, out = [], []
    for line in lines:
        if line.startswith("  ") and entries:
            entries[-1].append(line)
        else:
            entries.append([line])
    for entry in entries:
        if all(len(line) <= WIDTH for line in entry):
            out += entry
        else:
            joined = " ".join(line.strip() for line in entry)
            out += fill(COMMENT_WORD.findall(joined), "", "  ")
    return out


def kinds(lines):
    """(kind, lines) of the blocks of a page: code, comment, other comment, table, heading, blank, text, item."""
    i, listed = 0, False
    while i < len(lines):
        line, start = lines[i], i
        if re.match(r" *```", line):
            fence = re.match(r" *```", line)[0]
            i += 1
            while i < len(lines) and not lines[i].startswith(fence):
                i += 1
            i, kind = i + 1, "code"
        elif line.startswith("<!--"):
            while i < len(lines) and "-->" not in lines[i]:
                i += 1
            i += 1
            kind = "numbers" if line.startswith("<!-- numbers:") else "comment"
        elif not line.strip():
            i, kind = i + 1, "blank"
        elif line.lstrip().startswith("|"):
            i, kind = i + 1, "table"
        elif line.startswith("#"):
            i, kind, listed = i + 1, "heading", False
        elif line.startswith("    ") and not listed:
            i, kind = i + 1, "code"
        else:
            listed = bool(ITEM.match(line)) or (listed and line.startswith("  "))
            kind, i = "text", i + 1
            while i < len(lines) and continues(lines[i]):
                i += 1
        yield kind, lines[start:i]


def continues(line):
    return bool(line.strip()) and not ITEM.match(line) and not re.match(r" *(```|\||#+ |<!--)", line)


def wrap(text):
    out = []
    for kind, lines in kinds(text.split("\n")):
        if all(len(line) <= WIDTH for line in lines):
            out += lines
        elif kind == "text":
            out += wrap_text(lines)
        elif kind == "numbers":
            out += wrap_comment(lines)
        else:
            out += lines
    return "\n".join(out)


def allowed(kind, line):
    """Whether a line may be longer than the others."""
    pattern = COMMENT_WORD if kind == "numbers" else TEXT_WORD
    return kind in ("code", "table", "heading") or len(words(line, pattern)) == 1


def too_long(text):
    """(number, line) of what is longer than it may be."""
    number = 0
    for kind, lines in kinds(text.split("\n")):
        for line in lines:
            number += 1
            if len(line) > WIDTH and not allowed(kind, line):
                yield number, line


def pages():
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard",
                             "*.md"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode != 0:  # an archive of the sources
        left_out = {"build", "runs", "data", ".cache", "site-docs"}
        return sorted(path for path in ROOT.rglob("*.md") if not left_out & set(path.relative_to(ROOT).parts))
    return [ROOT / name for name in sorted(set(listed.stdout.splitlines()))
            if (ROOT / name).exists()]


def main(arguments):
    check = "--check" in arguments
    named = [pathlib.Path(name) for name in arguments if name != "--check"]
    missing = [str(page) for page in named if not page.is_file()]
    if missing:
        print(f"error: no such file: {', '.join(missing)}", file=sys.stderr)
        return 2
    failed = 0
    for page in named or pages():
        text = page.read_text(encoding="utf-8")
        if not check and (wrapped := wrap(text)) != text:
            page.write_text(wrapped, encoding="utf-8")
            text = wrapped
        for number, line in too_long(text):
            failed += 1
            if failed <= 20:
                print(f"{page}:{number}: {len(line)} columns, at most {WIDTH}: {line[:60]}...")
    if failed > 20:
        print(f"and {failed - 20} more lines")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
