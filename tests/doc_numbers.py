"""The numbers of the documents, recomputed from the files that they come from.

A comment behind a paragraph or a table says where its numbers are from (CONTRIBUTING.md):

    <!-- numbers: results/reference/h200/cpu-speed
    17.0 = rate(sgd_serial, model=biased, data="ml-20m") / 1e6
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
    except NumberError:
        raise
    except Exception as error:
        raise NumberError(f"{expression}: {type(error).__name__}: {error}") from error
    value = median(value) if isinstance(value, (Seeds, list)) else value
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
    """A comment with the text that it is about."""

    page: pathlib.Path
    line: int
    text: str
    files: str
    lines: tuple

    @property
    def where(self):
        return f"{self.page}:{self.line}"


def blocks(page, text):
    """The comments of a page. Each is about the paragraph or table that ends before it."""
    for found in BLOCK.finditer(text):
        before = re.sub(r"<!--.*?-->\n?", "", text[: found.start()], flags=re.S).rstrip("\n")
        paragraph = before[before.rfind("\n\n") + 1 :].strip("\n")
        line = text.count("\n", 0, found.start()) + 1
        yield Block(
            page, line, paragraph, found["from"], tuple(x.strip() for x in joined(found["lines"]))
        )


def joined(lines):
    """Lines that begin with two blanks continue the one before."""
    return [line for line in re.sub(r"\n  +", " ", lines).split("\n") if line.strip()]


def plain(text):
    """Without code spans, targets of links and names of devices, whose digits are no numbers."""
    text = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`\n]*`", "`", text))
    return re.sub(r"\b[GR]TX \w+", "GPU", text)


def check(block, root=ROOT):
    """What is wrong with the numbers of a block, a line each."""
    problems = []
    try:
        files = Files(block.files, root)
    except NumberError as error:
        return [f"{block.where}: {error}"]
    tokens = [token.group() for token in NUMBER.finditer(plain(block.text))]
    place = 0
    for line in block.lines:
        try:
            if line.startswith("given:"):
                for word in NUMBER.findall(line):
                    if word not in tokens:
                        raise NumberError(f"given {word} is not in the text")
            elif line.startswith("column "):
                problems += [
                    f"{block.where}: {found}" for found in check_column(line, block.text, files)
                ]
            else:
                place = check_number(line, tokens, place, files)
        except NumberError as error:
            problems.append(f"{block.where}: {error}")
    return problems


def check_number(line, tokens, place, files):
    printed, sign, expression = (part.strip() for part in line.partition(" = "))
    if not sign or not NUMBER.fullmatch(printed):
        raise NumberError(f"expected NUMBER = EXPRESSION, found {line!r}")
    if printed not in tokens[place:]:
        elsewhere = (
            " (it stands earlier: lines go by the order of the text)" if printed in tokens else ""
        )
        raise NumberError(f"{printed} is not in the text{elsewhere}: {line}")
    value = evaluate(expression, files)
    if not agrees(printed, value):
        raise NumberError(f"{printed} is printed, the files have {value:.6g}: {expression}")
    return tokens.index(printed, place) + 1


def rows_of(text):
    rows = [
        line.strip().strip("|").split("|")
        for line in text.splitlines()
        if line.lstrip().startswith("|")
    ]
    return [[cell.strip() for cell in row] for row in rows[2:]]  # head and rule


def as_arguments(cell):
    """`fpsgd`, `block_order: local` as the arguments fpsgd, block_order=local."""
    words = [word.strip().strip("`") for word in cell.split(",")]
    if NUMBER.fullmatch(cell):
        return cell.replace(",", "")
    return ", ".join("=".join(as_value(part) for part in word.split(": ", 1)) for word in words)


def as_value(word):
    return word if re.fullmatch(r"[A-Za-z_]\w*|-?[\d.]+", word) else repr(word)


def check_column(line, text, files):
    """Problems of the cells of a column, a line each."""
    number, _, expression = line.removeprefix("column ").partition(":")
    column, problems, seen = int(number), [], 0
    for row in rows_of(text):
        token = NUMBER.search(plain(row[column])) if column < len(row) else None
        if token is None:
            continue
        seen += 1
        filled = re.sub(
            r"\{(\d+)\}", lambda found: as_arguments(row[int(found[1])]), expression.strip()
        )
        value = evaluate(filled, files)
        if not agrees(token.group(), value):
            problems.append(
                f"row {row[0]}, column {column}: {token.group()} is printed, the files have "
                f"{value:.6g}: {filled}"
            )
    return problems or ([] if seen else [f"column {column} has no number"])


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
            for k, cell in enumerate(row)
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
