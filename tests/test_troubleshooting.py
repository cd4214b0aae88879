"""docs/troubleshooting.md has every exit code and every status, and only messages of the program.

Messages are the format strings that the sources give to `fail` and `Error` with a kind; the value of
a kind is its exit code (base/error.hpp). A row of the page has signatures of messages, `...` for what
differs.
"""

import re

import pytest

from guide import ROOT

PAGE = ROOT / "docs" / "troubleshooting.md"
SOURCES = [path for room in ("base", "datasets", "algorithms", "harness")
           for path in sorted((ROOT / room).rglob("*"))
           if path.suffix in (".cpp", ".hpp", ".cu", ".cuh", ".in")
           and not {"test", "bench"} & set(path.relative_to(ROOT).parts)]
STRING = r'"(?:[^"\\\n]|\\.)*"'
THROWS = re.compile(rf"\b(?:fail|Error)\(\s*ErrorKind::(\w+),\s*((?:{STRING}\s*)*)")
FETCH = ROOT / "datasets" / "fetch" / "fetch.py"  # whose kinds are those of base/error.hpp
FAILS = re.compile(rf"\bFailure\(\s*(\w+),\s*((?:f?(?:{STRING}|'[^'\n]*')\s*)*)")
TEXTS = {path: path.read_text(encoding="utf-8") for path in [*SOURCES, FETCH]}


def enumerators(name, path):
    body = re.search(rf"enum class {name} {{(.*?)}};", (ROOT / path).read_text(), re.S)[1]
    return re.sub(r"//.*", "", body)


KINDS = {name: int(value) for name, value in
         re.findall(r"(\w+) = (\d+)", enumerators("ErrorKind", "base/error.hpp"))}


def unquoted(literals):
    return "".join(text[1:-1].replace('\\"', '"') for text in re.findall(rf"{STRING}|'[^'\n]*'", literals))


def messages():
    """[(exit code, file, message)], a message with `...` in place of what is filled in."""
    found = []
    for path, text in TEXTS.items():
        for kind, literals in THROWS.findall(text) + FAILS.findall(text):
            message = re.sub(r"{[^{}]*}", "...", unquoted(literals).replace("{{", "(")
                             .replace("}}", ")"))
            found.append((KINDS[kind.lower()], str(path.relative_to(ROOT)), message))
    return found


MESSAGES = messages()


def sections():
    """{exit code: [signatures]} of the page; the codes of a heading share a section. Warnings have the code 0."""
    found = {}
    for heading, text in re.findall(r"^## (?:Exit codes? )?([\d, ]+|Warnings)\n(.*?)(?=^## |\Z)",
                                    PAGE.read_text(encoding="utf-8"), re.M | re.S):
        rows = re.findall(r"^\| (`[^|]*) \|", text, re.M)
        signatures = [one for row in rows for one in re.findall(r"`([^`]+)`", row)]
        for code in re.findall(r"\d+", heading) or [0]:
            found[int(code)] = signatures
    return found


SECTIONS = sections()


def pattern(signature):
    """`...` is anything; braces and backticks of a message do not matter."""
    parts = [re.escape(part.strip()) for part in signature.split("...")]
    return re.compile(r".*".join(parts), re.S)


def plain(message):
    return message.replace("`", "").replace("(\"", "{\"")


def test_messages_are_found():
    assert len(MESSAGES) > 200
    assert {code for code, _, _ in MESSAGES} == set(KINDS.values())


def test_every_kind_of_error_and_every_exit_code_has_a_section():
    spec = (ROOT / "docs" / "spec.md").read_text(encoding="utf-8").split("## Exit codes")[1]
    listed = {int(code) for code in re.findall(r"^\| (\d+) \|", spec.split("\n## ")[0], re.M)}
    assert set(KINDS.values()) < listed
    assert set(SECTIONS) == listed


def test_every_status_of_a_case_has_its_row():
    names = re.findall(r"\w+", enumerators("Status", "harness/experiment/status.hpp"))
    assert len(names) == 7
    assert set(SECTIONS[1]) == set(names)


@pytest.mark.parametrize("code", [0, *sorted(set(KINDS.values()))])
def test_no_row_is_of_a_message_that_there_is_not(code):
    texts = [message for kind, _, message in MESSAGES if kind == code]
    texts += [unquoted(found) for text in TEXTS.values()
              for found in re.findall(rf"(?:{STRING}\s*)+", text)]
    of_cli11 = {"is required", "requires at least", "excludes", "not in", "Could not convert"}
    assert [one for one in SECTIONS[code] if one not in of_cli11
            and not any(pattern(one).search(plain(text)) for text in texts)] == []
