"""Text of any origin for a terminal, by the rule of base/text.hpp."""

from __future__ import annotations

import sys
import unicodedata
from typing import TextIO

# Control characters (C0, DEL, C1), half surrogates, and characters that turn the direction of text.
TURNING = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def printable(text: str) -> str:
    """Escapes control characters, except tabs and ends of lines."""
    return "".join(_escaped(c) if c not in "\t\n" and _is_control(c) else c for c in text)


def one_line(text: str) -> str:
    """The same with tabs and ends of lines: a name cannot pass for a line of a table."""
    return "".join(_escaped(c) if _is_control(c) else c for c in text)


def counted(n: int, word: str) -> str:
    """ "1 case", "12 cases"."""
    return f"{n} {word}{'' if n == 1 else 's'}"


def csv_cell(value: object) -> object:
    """A quote in front keeps a spreadsheet from running a text as a formula: by the rule of the program's own tables
    (harness/results/summarize.cpp)."""
    if not isinstance(value, str):
        return value
    formula = value[:1] in set("=+-@\t\r") and not (set(value) <= set("+-.0123456789eE") and any(map(str.isdigit, value)))
    return ("'" if value and formula else "") + printable(value)


def say(text: object, file: TextIO | None = None) -> None:
    """print() for text from files; characters outside the terminal's encoding are escaped."""
    out = sys.stdout if file is None else file
    encoding = getattr(out, "encoding", None) or "utf-8"
    print(printable(str(text)).encode(encoding, "backslashreplace").decode(encoding), file=out)


def _is_control(c: str) -> bool:
    return unicodedata.category(c) in ("Cc", "Cs") or c in TURNING


def _escaped(c: str) -> str:
    if c in "\t\n":
        return {"\t": "\\t", "\n": "\\n"}[c]
    return "".join(f"\\x{byte:02x}" for byte in c.encode("utf-8", "surrogatepass"))
