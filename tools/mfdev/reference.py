"""The pages of docs/reference, written from the program's own descriptions."""

import itertools
import json
import re
import subprocess
import textwrap

from mfdev.shell import ROOT, Failure

FOLDER = ROOT / "docs" / "reference"
NOTE = "This page is written by `./dev docs --update` from {}; a test holds it to be current.\n"


def said(program, *arguments):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"{program} {' '.join(arguments)} ended with {done.returncode}: {done.stderr}")
    return done.stdout


# ---- algorithms ----------------------------------------------------------------------------------


def cell(text):
    return str(text).replace("|", "\\|")


def code(text):
    return f"`{cell(text)}`" if str(text) else ""


def sections(program):
    """(heading, family, its algorithms as `describe` has them); other people's libraries have one each."""
    listed = json.loads(said(program, "list", "--json"))
    for entry in listed:
        if entry["name"].startswith("peer:"):
            entry["group"] = entry["name"].split(":")[1]
    for heading, entries in itertools.groupby(listed, key=lambda entry: entry["group"]):
        entries = list(entries)
        yield heading, entries[0]["family"], [json.loads(said(program, "describe", entry["name"], "--json"))
                                              for entry in entries]


def names(uses):
    return ", ".join(code(name.split(":")[-1]) for name, _ in uses)


def by_meaning(infos):
    """For each name and meaning of a parameter: [(algorithm, parameter)]; the same names stand together."""
    order, found = [], {}
    for info in infos:
        for param in info["params"]:
            order.append(param["name"])
            unit = f" [{param['unit']}]" if param["unit"] else ""
            found.setdefault((param["name"], param["help"] + unit), []).append((info["name"], param))
    return dict(sorted(found.items(), key=lambda entry: order.index(entry[0][0])))


def default(param):
    return json.dumps(param["default"])


def allowed(param):
    """Its words, if it has some: the ends of a number are in `describe`, and in the error that names them."""
    return param["range"] if "|" in param["range"] and param["range"] != "true | false" else ""


def values(uses, of):
    """Each value that `of` gives with the uses that have it, the most frequent first; none is left out beside others."""
    found = {}
    for use in uses:
        found.setdefault(of(use[1]), []).append(use)
    if len(found) > 1:
        found.pop("", None)
    return sorted(found.items(), key=lambda entry: -len(entry[1]))


def spread(uses, of):
    """The value, or the most frequent one and then the others with their algorithms."""
    (first, _), *others = values(uses, of)
    return "; ".join([code(first), *(f"{code(value)} in {names(of_them)}" for value, of_them in others)])


def common_to(found):
    """The meanings that several sections share, the most frequent one of a name, with all their uses."""
    shared = {}
    for _, _, infos in found:
        for key, uses in by_meaning(infos).items():
            shared.setdefault(key, []).append(uses)
    most = {name: max(len(uses) for key, uses in shared.items() if key[0] == name) for name, _ in shared}
    return {key: sum(uses, []) for key, uses in shared.items() if 1 < len(uses) == most[key[0]]}


def of_these(first, words):
    return ", of ".join(part for part in (first, words) if part)


def usual(uses, of):
    """A row of the table of common parameters: a default only if it is the same for all."""
    found = values(uses, of)
    return found[0][0] if of is allowed or len(found) == 1 else ""


def common_table(common):
    yield "## Common parameters\n"
    yield ("These have the same meaning in several sections. A section names those that it has, with a default or "
           "values that differ from this table.\n")
    yield "| parameter | default, of these | meaning |\n| --- | --- | --- |"
    for (name, text), uses in common.items():
        yield f"| {code(name)} | {of_these(code(usual(uses, default)), code(usual(uses, allowed)))} | {cell(text)} |"
    yield ""


def summaries(infos):
    for info in infos:
        facts = [] if info["name"].startswith("peer:") else [info["hardware"]]
        facts += ["learning rate"] * info["uses_learning_rate"] + ["repeatable"] * info["deterministic"]
        what = info["summary"].removeprefix(f"{info['name'].split(':')[-2:][0]}: ")
        yield f"- {code(info['name'])}{' (' + '; '.join(facts) + ')' if facts else ''}: {what}"
    yield ""


def of_common(infos, common, told=()):
    """A sentence: the common parameters of a section but those told, with differences from their table."""
    parts = []
    for key, uses in by_meaning(infos).items():
        if key in common and key not in told:
            few = "" if len(uses) == len(infos) else f" of {names(uses)}"
            differs = [spread(uses, of) for of in (default, allowed) if spread(uses, of) != code(usual(common[key], of))]
            parts.append(f"{code(key[0])}{few}{' = ' if differs else ''}{', '.join(differs)}")
    if parts:
        yield f"[Common](#common-parameters): {'; '.join(parts)}.\n"


def own_table(infos, common):
    rows = {key: uses for key, uses in by_meaning(infos).items() if key not in common}
    if not rows:
        return
    yield "| parameter | default, of these | meaning |\n| --- | --- | --- |"
    for (name, text), uses in rows.items():
        few = "" if len(uses) == len(infos) else f"{names(uses)}: "
        yield f"| {code(name)} | {of_these(spread(uses, default), spread(uses, allowed))} | {few}{cell(text)} |"
    yield ""


def algorithms(program):
    found = list(sections(program))
    common = common_to(found)
    yield "# Algorithms and their parameters\n"
    yield ("What can an entry of [`algorithms`](../spec.md#algorithms) say beside its `name`? `mfbench describe NAME` "
           "prints one algorithm, with its paper and the ranges of numbers. A list of values is a "
           "[sweep](../spec.md#sweeps).\n")
    yield NOTE.format("`mfbench list` and `mfbench describe`")
    yield ("*Learning rate*: the algorithm uses the [schedule](../spec.md#learning-rate). *Repeatable*: the same seed "
           "gives the same model.\n")
    yield from common_table(common)
    of_libraries = [by_meaning(infos) for _, family, infos in found if family == "peer"]
    all_have = [key for key, uses in common.items()
                if usual(uses, default) and all(key in of_library for of_library in of_libraries)]
    for is_peer, of_kind in itertools.groupby(found, key=lambda section: section[1] == "peer"):
        if is_peer:
            yield "## Other people's libraries\n"
            yield ("What `reg` and the learning rate mean in each: [peers.md](../peers.md#the-libraries). All have "
                   f"{', '.join(code(name) for name, _ in all_have)}.\n")
        for heading, family, infos in of_kind:
            yield f"{'###' if is_peer else '##'} {heading}\n"
            if not is_peer:
                yield f"How they work: [algorithms/{family}](../../algorithms/{family}/README.md).\n"
            yield from summaries(infos)
            yield from of_common(infos, common, all_have if is_peer else ())
            yield from own_table(infos, common)


# ---- fields of results ---------------------------------------------------------------------------


SECTIONS = {
    "header": "Header", "trace": "Trace points", "footer": "Footer",
    "derived, of a case": "What follows of a case", "derived, of a trace point": "What follows of a trace point",
}


def meaning(field):
    """With the name of its column, if that is not the last part of its own name."""
    column = field["column"]
    in_tables = "" if column == field["name"].split(".")[-1] else f"in tables {code(column)}"
    return "; ".join(part for part in (in_tables, cell(field["help"])) if part)


def results(program):
    fields = json.loads(said(program, "schema", "results"))
    yield "# Fields of results\n"
    yield ("What does a field of a result mean? [results.md](../results.md) says how the fields come together. Units are "
           "in the names, types in `mfbench schema results`. Tables and `mfplots.load` call a field by the last part of its "
           "name, unless another stands here.\n")
    yield NOTE.format("`mfbench schema results`")
    for of, title in SECTIONS.items():
        yield f"## {title}\n"
        here = [(code(field["name"]), meaning(field)) for field in fields if field["of"] == of]
        yield "| field | meaning |\n| --- | --- |"
        yield from (f"| {name} | {text} |" for name, text in here if text)
        yield ""
        if plain := [name for name, text in here if not text]:
            yield f"Names that say it: {', '.join(plain)}.\n"


# ---- formats of ratings --------------------------------------------------------------------------


def formats(program):
    yield "# Formats of ratings\n"
    yield ("What does a line of a file look like in each [`format`](../spec.md#data-sets)? "
           "[datasets/README.md](../../datasets/README.md#readers) has the names of columns that a header may have, and "
           "what counts as malformed.\n")
    yield NOTE.format("`mfbench schema formats`")
    yield "| format | text ids | a line |\n| --- | --- | --- |"
    for one in json.loads(said(program, "schema", "formats")):
        yield f"| {code(one['name'])} | {'yes' if one['text_ids'] else 'no'} | {cell(one['help'])} |"


PAGES = {"algorithms.md": algorithms, "formats.md": formats, "results.md": results}


def wrapped(text):
    """Paragraphs and items of lists in lines of at most 100 columns; rows of tables stay."""
    out = []
    for line in text.split("\n"):
        if len(line) <= 100 or line.startswith(("#", "|")):
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
