"""The numbers of the documents, recomputed from the files that they come from.

A comment behind a paragraph or a table says where its numbers are from (CONTRIBUTING.md):

    <!-- numbers: results/reference/h200/cpu-speed
    13.9 = rate(sgd_serial, model=biased, data="ml-20m") / 1e6
    given: 16
    -->

    <!-- numbers: results/reference/h200/cpu-speed
    column 3: rate({0}, model={1}, threads={2}, data="ml-20m") / 1e6
    -->

`numbers:` names folders of results, JSON of Google Benchmark, logs or CSV, with commas between; `*`
stands for any part of a name. A line `TEXT = EXPRESSION` finds TEXT in the text before the comment, in
the order of the lines, and computes it; `column K` does so for the first number of each cell of a
column (0 is the first), with the cells of the same row in braces. The printed digits must be those of
the value rounded. `given:` are numbers that no file of ours holds. A line that begins with two blanks
continues the one before.

In an expression, words that are nothing else are strings. What can be called is in `Files`
(number_sources.py). Arithmetic of two numbers a seed pairs them by seed. What is left at the end is
the median over the seeds.
"""

import ast
import dataclasses
import math
import pathlib
import re

from number_sources import ROOT, Files, NumberError, Seeds, common, high, low, mean, median

BLOCK = re.compile(
    r"^<!-- numbers: (?P<from>[^\n]*(?:\n  [^\n]*)*)\n(?P<lines>.*?)^-->$", re.M | re.S
)
# Not the digits of words: fp16, ml-100k, table4, 1e-5, H200. A minus that joins words is none.
NUMBER = re.compile(
    r"(?<![\w.])(?<!\de-)"
    r"(?:(?<![\w\])-])-(?=[\d.]))?"
    r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+|\d+|\.\d+)"
    r"(?![\w]|\.\d)"
)


# ---- expressions ---------------------------------------------------------------------------------


class Words(dict):
    """Names that are nothing else are their own text."""

    def __missing__(self, key):
        return key


def evaluate(expression, files):
    functions = {name: getattr(files, name) for name in dir(Files) if not name.startswith("_")}
    names = Words(
        functions,
        median=median,
        mean=mean,
        common=common,
        low=low,
        high=high,
        abs=abs,
        sqrt=math.sqrt,
        len=len,
        sum=sum,
    )
    try:
        value = eval(compile(expression, expression, "eval"), {"__builtins__": {}}, names)
        value = median(value) if isinstance(value, (Seeds, list)) else value
    except NumberError:
        raise
    except Exception as error:
        raise NumberError(f"{expression}: {type(error).__name__}: {error}") from error
    if not isinstance(value, (int, float)):
        raise NumberError(f"{expression} is {value!r}, not a number")
    return value


def value_of(text):
    return float(text.replace(",", ""))


def unit_of(text):
    """Half of this is how far a printed number may be from what it rounds."""
    decimals = text.partition(".")[2]
    return 10.0 ** -len(decimals)


def agrees(text, value):
    """Whether `text` is `value` rounded to the digits that are printed."""
    return math.isfinite(value) and abs(value_of(text) - value) <= unit_of(text) / 2 * (1 + 1e-9)


# ---- documents -----------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Block:
    """A comment with the text that it is about, and where both stand in the page."""

    page: pathlib.Path
    line: int
    text: str
    text_at: int
    files: str
    lines: tuple
    lines_at: tuple

    @property
    def where(self):
        return f"{self.page}:{self.line}"


@dataclasses.dataclass(frozen=True)
class Number:
    """One that a line computes: as it is printed, where in the page, and what the files have."""

    printed: str
    places: tuple
    value: float
    from_: str

    @property
    def is_right(self):
        return agrees(self.printed, self.value)


def blocks(page, text):
    """The comments of a page. Each is about the paragraph or table that ends before it."""
    for found in BLOCK.finditer(text):
        before = re.sub(r"<!--.*?-->\n?", "", text[: found.start()], flags=re.S).rstrip("\n")
        paragraph = before[before.rfind("\n\n") + 1 :].strip("\n")
        lines = joined(found["lines"])
        yield Block(
            page,
            text.count("\n", 0, found.start()) + 1,
            paragraph,
            text.rfind(paragraph, 0, found.start()),
            found["from"],
            tuple(line for _, line in lines),
            tuple(found.start("lines") + start for start, _ in lines),
        )


def joined(text):
    """(where it begins, the line); lines that begin with two blanks continue the one before."""
    found = re.finditer(r"(?:.|\n  +)+", text)
    return [(line.start(), re.sub(r"\n  +", " ", line.group()).strip()) for line in found]


def plain(text):
    """Without code spans, targets of links and names of devices, whose digits are no numbers: they
    are filled up, so that all else stays where it is."""
    text = re.sub(r"`[^`\n]*`", lambda span: "`" * len(span.group()), text)
    text = re.sub(r"\]\([^)]*\)", lambda link: "]" * len(link.group()), text)
    return re.sub(r"\b[GR]TX \w+", lambda name: "x" * len(name.group()), text)


def check(block, root=ROOT):
    """What is wrong with the numbers of a block, a line each."""
    found, problems = numbers_of(block, root)
    wrong = [
        f"{number.from_}: {number.printed} is printed, the files have {number.value:.6g}"
        for number in found
        if not number.is_right
    ]
    return [f"{block.where}: {problem}" for problem in problems + wrong]


def numbers_of(block, root=ROOT):
    """(the numbers that the lines of a block compute, why others cannot be)."""
    try:
        files = Files(block.files, root)
    except NumberError as error:
        return [], [str(error)]
    tokens = [(token.group(), token.start()) for token in NUMBER.finditer(plain(block.text))]
    numbers, problems, next_token = [], [], 0
    for line, line_at in zip(block.lines, block.lines_at, strict=True):
        try:
            if line.startswith("given:"):
                check_given(line, [text for text, _ in tokens])
            elif line.startswith("column "):
                numbers += numbers_of_column(line, block, files)
            else:
                at = token_of(line, tokens, next_token)
                next_token = at + 1
                printed, start = tokens[at]
                expression = line.partition(" = ")[2].strip()
                numbers.append(
                    Number(
                        printed,
                        (block.text_at + start, line_at),
                        evaluate(expression, files),
                        expression,
                    )
                )
        except NumberError as error:
            problems.append(str(error))
    return numbers, problems


def check_given(line, tokens):
    for word in NUMBER.findall(line):
        if word not in tokens:
            raise NumberError(f"given {word} is not in the text")


def token_of(line, tokens, first):
    """Which of the tokens, from the first on, is the one that the line computes."""
    printed, sign, _ = (part.strip() for part in line.partition(" = "))
    if not sign or not NUMBER.fullmatch(printed):
        raise NumberError(f"expected NUMBER = EXPRESSION, found {line!r}")
    texts = [text for text, _ in tokens]
    if printed not in texts[first:]:
        elsewhere = (
            " (it stands earlier: lines go by the order of the text)" if printed in texts else ""
        )
        raise NumberError(f"{printed} is not in the text{elsewhere}: {line}")
    return texts.index(printed, first)


def rows_of(text):
    """The rows of a table without head and rule: (a cell, where it begins in the text) each."""
    rows, at = [], 0
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith("|"):
            bars = [at + bar.start() for bar in re.finditer(r"\|", line)]
            cells = [(text[left + 1 : right], left + 1) for left, right in zip(bars, bars[1:])]
            rows.append(
                [(cell.strip(), start + len(cell) - len(cell.lstrip())) for cell, start in cells]
            )
        at += len(line)
    return rows[2:]


def as_arguments(cell):
    """`fpsgd`, `block_order: local` as the arguments fpsgd, block_order=local."""
    words = [word.strip().strip("`") for word in cell.split(",")]
    if NUMBER.fullmatch(cell):
        return cell.replace(",", "")
    return ", ".join("=".join(as_value(part) for part in word.split(": ", 1)) for word in words)


def as_value(word):
    return word if re.fullmatch(r"[A-Za-z_]\w*|-?[\d.]+", word) else repr(word)


def numbers_of_column(line, block, files):
    """The first numbers of the cells of a column."""
    column, _, expression = line.removeprefix("column ").partition(":")
    numbers = []
    for row in rows_of(block.text):
        cell, start = row[int(column)] if int(column) < len(row) else ("", 0)
        token = NUMBER.search(plain(cell))
        if token is None:
            continue
        filled = re.sub(
            r"\{(\d+)\}", lambda found: as_arguments(row[int(found[1])][0]), expression.strip()
        )
        numbers.append(
            Number(
                token.group(),
                (block.text_at + start + token.start(),),
                evaluate(filled, files),
                f"row {row[0][0]}, column {column}: {filled}",
            )
        )
    if not numbers:
        raise NumberError(f"column {int(column)} has no number")
    return numbers


# ---- what has a source ---------------------------------------------------------------------------


def constants(expression):
    return {
        node.value
        for node in ast.walk(ast.parse(expression, mode="eval"))
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float))
    }


def without_columns(text, comments):
    """A table without what `column` lines compute, the first number of each cell, and without the
    columns that these go by."""
    lines = [x for comment in comments for x in comment.lines if x.startswith("column ")]
    computed = {int(digits) for x in lines for digits in re.findall(r"^column (\d+)", x)}
    keys = {int(digits) for x in lines for digits in re.findall(r"\{(\d+)\}", x)}
    if not lines:
        return text
    head = text.lstrip().splitlines()[0].strip().strip("|").split("|")
    left = [cell for k, cell in enumerate(head) if k not in keys]
    for row in rows_of(text):
        left += [
            NUMBER.sub("", cell, count=1) if k in computed else cell
            for k, (cell, _) in enumerate(row)
            if k not in keys
        ]
    return " | ".join(left)


def unexplained(text, comments):
    """Numbers of a paragraph or table that no line of its comments prints, computes, gives, or
    selects cases by."""
    text = without_columns(text, comments)
    printed, known = [], set()
    for comment in comments:
        for line in comment.lines:
            if line.startswith("given:"):
                known |= {value_of(word) for word in NUMBER.findall(line)}
            elif not line.startswith("column "):
                left, _, right = line.partition(" = ")
                printed.append(left)
                known |= constants(right.strip())
    left = []
    for token in NUMBER.finditer(plain(text)):
        if token.group() in printed:
            printed.remove(token.group())
        elif value_of(token.group()) not in known:
            left.append(token.group())
    return left
