"""The pages of docs/reference, written from what the program says of itself."""

import itertools
import json
import os
import re
import subprocess
import textwrap

from mfdev.shell import ROOT, Failure

FOLDER = ROOT / "docs" / "reference"
NOTE = "This page is written by `./dev docs --update` from {}; a test holds it to be current.\n"


def said(program, *arguments):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False,
                          env={**os.environ, "COLUMNS": "80"})  # Python's helps are as wide as that
    if done.returncode != 0:
        raise Failure(f"{program} {' '.join(arguments)} ended with {done.returncode}: {done.stderr}")
    return done.stdout


# ---- algorithms ----------------------------------------------------------------------------------


def cell(text):
    return str(text).replace("|", "\\|")


def code(text):
    return f"`{cell(text)}`" if str(text) else ""


def value(number):
    return json.dumps(number)


def row(param):
    unit = f" [{param['unit']}]" if param["unit"] else ""
    return (f"| {code(param['name'])} | {code(value(param['default']))} | {code(param['range'])} "
            f"| {cell(param['help'])}{unit} |")


def algorithm(program, name):
    """A section of the page."""
    info = json.loads(said(program, "describe", name, "--json"))
    yield f"### `{info['name']}`\n"
    yield info["summary"][0].upper() + info["summary"][1:] + ".\n"
    paper = "mfbench's own" if info["paper"] == "mfbench" else info["paper"]
    yield f"- Paper: {paper}."
    yield f"- Hardware: {info['hardware']}."
    same = "the same model for the same seed" if info["deterministic"] else "runs may differ"
    yield f"- Deterministic: {'yes' if info['deterministic'] else 'no'}, {same}."
    if info["uses_learning_rate"]:
        yield "- Learning rate: the [schedule](../spec.md#learning-rate) of the spec."
    yield "\n| parameter | default | range | meaning |\n| --- | --- | --- | --- |"
    yield from (row(param) for param in info["params"])
    yield ""


def algorithms(program):
    listed = json.loads(said(program, "list", "--json"))
    yield "# Algorithms and their parameters\n"
    yield NOTE.format("`mfbench list` and `mfbench describe`")
    yield ("A parameter stands in an entry of [`algorithms`](../spec.md#algorithms) beside `name`; a "
           "list of values is a [sweep](../spec.md#sweeps). `mfbench describe NAME` prints the same.\n")
    for group, entries in itertools.groupby(listed, key=lambda entry: entry["group"]):
        entries = list(entries)
        family = entries[0]["family"]
        yield f"## {group}\n"
        page = ROOT / "algorithms" / family / "README.md"
        if page.exists():
            yield f"[algorithms/{family}](../../algorithms/{family}/README.md) says how they work.\n"
        for entry in entries:
            yield from algorithm(program, entry["name"])


# ---- commands ------------------------------------------------------------------------------------


def subcommands(text):
    found = re.search(r"^Subcommands:\n((?:  .*\n)+)", text, re.M)
    return re.findall(r"^  ([\w-]+) ", found[1], re.M) if found else []


def help_of(program, words):
    """Without the folder of the program and lines that end in blanks."""
    text = said(program, *words, "--help")
    text = text.replace(str(program), "mfbench")
    return "\n".join(line.rstrip() for line in text.strip().splitlines()) + "\n"


def command(program, words, depth):
    text = help_of(program, words)
    yield f"{'#' * depth} `{' '.join(['mfbench', *words])}`\n"
    yield f"```text\n{text}```\n"
    for name in subcommands(text):
        yield from command(program, [*words, name], min(depth + 1, 3))


def exit_codes():
    """The table of docs/spec.md, whose codes are those that harness/test/exit_codes_test.cpp reaches."""
    page = (ROOT / "docs" / "spec.md").read_text(encoding="utf-8")
    table = re.search(r"^## Exit codes\n\n((?:\|.*\n)+)", page, re.M)[1]
    yield "## Exit codes\n"
    yield table
    yield "What each message means and what to do: [troubleshooting.md](../troubleshooting.md).\n"


def commands(program):
    yield "# Commands and exit codes\n"
    yield NOTE.format("`mfbench --help`")
    yield "[spec.md](../spec.md#commands) says what they do; this is what they accept.\n"
    text = help_of(program, [])
    yield f"```text\n{text.split(chr(10), 1)[1]}```\n"  # without the version
    for name in subcommands(text):
        yield from command(program, [name], 2)
    yield from exit_codes()


# ---- fields of results ---------------------------------------------------------------------------


SECTIONS = {
    "header": "Header", "trace": "Trace points", "footer": "Footer",
    "derived, of a case": "What follows of a case", "derived, of a trace point": "What follows of a trace point",
}


def results(program):
    fields = json.loads(said(program, "schema", "results"))
    yield "# Fields of results\n"
    yield NOTE.format("`mfbench schema results`")
    yield ("[results.md](../results.md) says how they come together. Units are in the names. The column is what "
           "tables and `mfplots.load` call a field, where that is another name.\n")
    for of, title in SECTIONS.items():
        yield f"## {title}\n"
        yield "| field | column | type | meaning |\n| --- | --- | --- | --- |"
        for field in fields:
            if field["of"] == of:
                column = "" if field["column"] == field["name"] else code(field["column"])
                yield f"| {code(field['name'])} | {column} | {field['type']} | {cell(field['help'])} |"
        yield ""


PAGES = {"algorithms.md": algorithms, "commands.md": commands, "results.md": results}


def wrapped(text):
    """Paragraphs and items of lists in lines of at most 100 columns; rows of tables and what programs print stay."""
    fenced, out = False, []
    for line in text.split("\n"):
        fenced ^= line.startswith("```")
        if fenced or len(line) <= 100 or line.startswith(("#", "|")):
            out.append(line)
        else:
            out += textwrap.wrap(line, 100, subsequent_indent="  " if line.startswith("- ") else "",
                                 break_long_words=False, break_on_hyphens=False)
    return "\n".join(out)


def write(program, check=False):
    """Whether all pages were current."""
    current = True
    for name, lines in PAGES.items():
        text = wrapped(re.sub(r"\n{3,}", "\n\n", "\n".join(lines(program)).rstrip() + "\n"))
        page = FOLDER / name
        if page.exists() and page.read_text(encoding="utf-8") == text:
            continue
        print(f"docs/reference/{name}: {'not current: ./dev docs --update' if check else 'written'}")
        current &= not check
        if not check:
            page.write_text(text, encoding="utf-8")
    return current
