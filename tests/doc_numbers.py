"""The numbers of the documents, recomputed from the files that they come from.

Beside a page, docs/comparison.md, stands docs/comparison.numbers with the sources of its numbers:

    let peers = results/reference/h200/peers-explicit
    let fused = als_fused, reg_power=None

    ## Netflix look-alike
    > The answer at .92
    from $peers, $peers.netflix
    54 = 1e3 * answer(.92, $fused)
    .75 .83 = {low|high}(answer(.92, fpsgd))
    given parameter: 16

    > | algorithm | threads |
    from results/reference/h200/cpu-speed
    column 2: rate({0}, threads={1}) / 1e6
    columns 3 5: final({0}, threads={1}, data={"ml-20m"|netflix})

A heading is one of the page. `>` is followed by the first words of a paragraph or table below it,
of one only; which numbers stand in them does not matter. `from` names folders of results, JSON of
Google Benchmark, logs or CSV, with commas between; `*` stands for any part of a name. It holds
until the next `from`. `TEXT = EXPRESSION` finds TEXT in the paragraph and computes it, several
numbers by as many expressions, of which `{a|b}` has the parts that differ; `final(<a / b>, ...)` is
`final(a, ...) / final(b, ...)`. The numbers go in the order of the text, behind a `from` from its
beginning. `column K` computes the first number of each cell of a column (0 is the first), with the
cells of the same row in braces and, as `{row}`, what `rows:` lists for the row, with bars between.
The printed digits must be those of the value rounded. `given REASON:` are numbers that no file of
ours holds: a definition (of a set, or what follows by arithmetic), a parameter (of a run, a target)
or a citation. A measurement has a file. `let` names text, `$NAME` puts it in. A line that begins with two blanks continues the one
before.

In an expression, words that are nothing else are strings. What can be called is in `Files`
(number_sources.py). Arithmetic of two numbers a seed pairs them by seed. What is left at the end is
the median over the seeds.
"""

import ast
import dataclasses
import difflib
import math
import pathlib
import re

from number_sources import ROOT, Files, NumberError, Seeds, common, high, low, mean, median

# Not the digits of words: fp16, ml-100k, table4, 1e-5, H200. A minus that joins words does not count.
# Behind a number that is of contended cases; a line of the page says what it means.
MARK = "†"
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
    names = Words(functions, median=median, mean=mean, common=common, low=low, high=high, abs=abs,
                  sqrt=math.sqrt, len=len, sum=sum)
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


def evaluate_and_watch(expression, files):
    """(the value, whether it is a time of contended cases)"""
    files.contended = False
    return evaluate(expression, files), files.contended


TIMES = {"train", "wall", "clock", "time_to", "answer", "answer_end", "file_to_model", "file_to_model_end", "epoch_s", "device_epoch_s", "rate"}


def is_ratio_of_times(expression):
    """Whether it divides a time of cases by one of others."""
    def has_time(node):
        return any(isinstance(part, ast.Call) and getattr(part.func, "id", "") in TIMES for part in ast.walk(node))

    return any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and has_time(node.left) and has_time(node.right)
               for node in ast.walk(ast.parse(expression, mode="eval")))


def value_of(text):
    return float(text.replace(",", ""))


def agrees(text, value):
    """Whether `text` is `value` rounded to the digits that are printed."""
    unit = 10.0 ** -len(text.partition(".")[2])
    return math.isfinite(value) and abs(value_of(text) - value) <= unit / 2 * (1 + 1e-9)


# ---- pages and their sources ---------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Line:
    """For a file of sources, as it reads with what `let` names put in."""

    text: str
    at: int
    number: int
    rows: tuple


@dataclasses.dataclass(frozen=True)
class Block:
    """The lines about a paragraph or table that go by one set of files."""

    sources: pathlib.Path
    number: int
    text: str
    text_at: int
    files: str
    lines: list

    def where(self, line=None):
        return f"{self.sources}:{(line or self).number}"


@dataclasses.dataclass(frozen=True)
class Number:
    """One that a line computes: as it is printed, where in the page and among its sources (None for
    a cell), and what the files have."""

    printed: str
    page_at: int
    source_at: int | None
    value: float
    line: Line
    from_: str
    contended: bool  # it is a time, and a case behind it shared its machine
    is_ratio: bool  # of two times
    expression: str
    cells: tuple = ()  # of a table: its head, and the cells of the row

    @property
    def is_right(self):
        return agrees(self.printed, self.value)


def sources_of(page):
    return page.with_suffix(".numbers")


def lines_of(sources):
    """(line number, where it begins, line); what begins with two blanks continues the one before."""
    for found in re.finditer(r"^(?=.*\S)(?:.|\n  +)+", sources, re.M):
        number = sources.count("\n", 0, found.start()) + 1
        yield number, found.start(), re.sub(r"\n  +", " ", found.group()).rstrip()


def sections_of(text):
    """{a heading: its paragraphs and tables, (text, where it begins) each}, and the headings that
    stand twice."""
    fences = re.compile(r"^ *```.*?^ *```$", re.M | re.S)
    masked = fences.sub(lambda fence: re.sub(r"\S", "`", fence.group()), text)
    sections, twice, current = {}, set(), None
    for found in re.finditer(r"\S(?:.|\n(?!\n|\Z))*", masked):
        if re.match(r"#+ ", found.group()):
            current = found.group().partition("\n")[0]
            twice |= {current} & sections.keys()
            sections.setdefault(current, [])
        else:
            sections.setdefault(current, []).append((text[slice(*found.span())], found.start()))
    return sections, twice


def words_of(text):
    """By these a paragraph is found: numbers may change."""
    return " ".join(re.sub(rf"[\d.,]*\d{MARK}?", "0", text).split())


def paragraph(sections, heading, words):
    if heading not in sections:
        near = difflib.get_close_matches(str(heading), filter(None, sections), 1)
        raise NumberError(f"the page has no heading {heading!r}" + (f", but {near[0]!r}" if near else ""))
    found = [part for part in sections[heading] if words_of(part[0]).startswith(words_of(words))]
    if len(found) != 1:
        begins = "; ".join(" ".join(text.split()[:5]) for text, _ in found or sections[heading])
        raise NumberError(f"expected one paragraph below {heading!r} that begins with {words!r}, "
                          f"found {len(found)}; there are: {begins}")
    return found[0]


def blocks(sources, text, sources_text):
    """(the blocks of a page's sources, what does not fit the page)."""
    sections, twice = sections_of(text)
    found, problems, names, unused = [], [], {}, {}
    heading = files = about = current = None
    rows = ()
    for number, at, line in lines_of(sources_text):
        where = f"{sources}:{number}"
        try:
            kind, _, rest = line.partition(" ")
            if kind == "let":
                name, _, value = rest.partition(" = ")
                names[name] = put_in(value, names, unused)
                unused[name] = where
            elif re.fullmatch("#+", kind):
                heading, about = line, None
                if line in twice:
                    raise NumberError(f"the page has the heading {line!r} twice")
            elif kind == ">":
                about, rows, current = (), (), None
                about = paragraph(sections, heading, rest)
            elif kind == "from":
                files, current = put_in(rest, names, unused), None
            elif kind == "rows:":
                rows = tuple(part.strip() for part in put_in(rest, names, unused).split("|"))
            elif about is None:
                raise NumberError(f"no `> FIRST WORDS` says which paragraph is meant: {line}")
            elif about:
                if current is None:
                    current = Block(sources, number, *about, files or "", [])
                    found.append(current)
                current.lines.append(Line(put_in(line, names, unused), at, number, rows))
        except NumberError as error:
            problems.append(f"{where}: {error}")
    problems += [f"{where}: {name} is never put in" for name, where in unused.items()]
    return found, problems


def put_in(text, names, unused):
    def value(found):
        unused.pop(found[1], None)
        if found[1] not in names:
            raise NumberError(f"no `let` before names {found[1]!r}")
        return names[found[1]]

    return re.sub(r"\$(\w+)", value, text)


def all_sources():
    """Those files of all pages."""
    left_out = {"build", "runs", "data", ".cache"}
    found = sorted(ROOT.rglob("*.numbers"))
    return [path for path in found if not left_out & set(path.relative_to(ROOT).parts)]


def blocks_of(sources):
    page = sources.with_suffix(".md")
    if not page.exists():
        return [], [f"{sources}: there is no page {page.name} beside it"]
    texts = [path.read_text(encoding="utf-8") for path in (page, sources)]
    return blocks(sources.relative_to(ROOT), *texts)


def plain(text):
    """Without code spans, targets of links and names of devices, whose digits are no numbers: they
    are filled up, so that all else stays where it is."""
    text = re.sub(r"`[^`\n]*`", lambda span: "`" * len(span.group()), text)
    text = re.sub(r"\]\([^)]*\)", lambda link: "]" * len(link.group()), text)
    return re.sub(r"\b[GR]TX \w+", lambda name: "x" * len(name.group()), text)


# ---- what the lines say --------------------------------------------------------------------------

PARTS = re.compile(r"\{([^{}]*\|[^{}]*)\}")
PAIR = re.compile(r"<([^<>]+) ([/-]) ([^<>]+)>")


def versions(expression, count):
    """The expressions of so many numbers: each takes its part of all braces with bars."""
    groups = [found[1].split("|") for found in PARTS.finditer(expression)]
    if any(len(group) != count for group in groups) or (count > 1 and not groups):
        raise NumberError(f"{count} numbers need braces with {count} parts: {expression}")
    return [paired(PARTS.sub(lambda found: found[1].split("|")[k].strip(), expression)) for k in range(count)]


def paired(expression):
    """f(<a / b>, c) as (f(a, c) / f(b, c)), the same with a minus."""
    found = PAIR.search(expression)
    if not found:
        return expression
    before, behind = expression[:found.start()], expression[found.end():]
    begin = re.search(r"\w+\((?:[^()]|\([^()]*\))*$", before)
    end = re.match(r"(?:[^()]|\([^()]*\))*\)", behind)
    if not begin or not end:
        raise NumberError(f"{found[0]} is in no call: {expression}")
    end = found.end() + end.end()
    one, other = (PAIR.sub(lambda pair: pair[k], expression[begin.start():end]) for k in (1, 3))
    return paired(f"{before[:begin.start()]}({one} {found[2]} {other}){expression[end:]}")


def parsed(line):
    """(given, column or numbers; what stands on the left; an expression for each)."""
    kind = line.partition(" ")[0]
    if kind in ("given", "given:"):
        if not re.match(r"given (definition|parameter|citation): ", line):
            raise NumberError(f"expected given definition:, given parameter: or given citation:, found {line!r}; "
                              "a measurement names its file, or leaves the page")
        return "given", NUMBER.findall(line), []
    left, sign, right = line.partition(":" if kind in ("column", "columns") else " = ")
    column = kind in ("column", "columns")
    words = left.split()[column:]
    fits = re.compile(r"\d+") if column else NUMBER
    if not sign or not words or not all(map(fits.fullmatch, words)):
        raise NumberError(f"expected NUMBER = EXPRESSION or column K: EXPRESSION, found {line!r}")
    return "column" if column else "numbers", words, versions(right.strip(), len(words))


def check(block):
    """What is wrong with the numbers of a block, a line each."""
    found, problems = numbers_of(block)
    return problems + [
        f"{block.where(number.line)}: {number.from_}: {number.printed} is printed, "
        f"the files have {number.value:.6g}"
        for number in found
        if not number.is_right
    ]


def marks_of(sources):
    """What is wrong with the marks of a page: each number of contended cases has one, no other has."""
    text = sources.with_suffix(".md").read_text(encoding="utf-8")
    numbers = [number for block in blocks_of(sources)[0] for number in numbers_of(block)[0]]
    due = {number.page_at + len(number.printed): number for number in numbers if number.contended}
    marked = {found.start() for found in re.finditer(rf"(?<=\d){MARK}", text)}
    page = sources.with_suffix(".md").relative_to(ROOT)
    problems = [f"{page}: {number.printed} ({number.from_}) is of contended cases, and has no {MARK} behind it"
                for at, number in due.items() if at not in marked]
    problems += [f"{page}: {number.printed} ({number.from_}) is a ratio of contended times: take it out"
                 for number in due.values() if number.is_ratio]
    problems += [f"{page}: ...{text[max(0, at - 30):at + 1]}: no case behind it is contended, or none is known"
                 for at in sorted(marked - due.keys())]
    if due and not re.search(rf"(?m)^{MARK}: (?:.|\n(?!\n))*?contended", text):
        problems.append(f"{page}: no line that begins with '{MARK}: ' says what the mark means")
    return problems


def numbers_of(block):
    """(the numbers that the lines of a block compute, why others cannot be)."""
    try:
        files = Files(block.files)
    except NumberError as error:
        return [], [f"{block.where()}: {error}"]
    tokens = [(token.group(), token.start()) for token in NUMBER.finditer(plain(block.text))]
    texts = [text for text, _ in tokens]
    numbers, problems, first = [], [], 0
    for line in block.lines:
        try:
            kind, left, expressions = parsed(line.text)
            if kind == "given" and (absent := [word for word in left if word not in texts]):
                raise NumberError(f"given {', '.join(absent)} is not in the text")
            if kind == "column":
                for column, expression in zip(left, expressions):
                    numbers += numbers_of_column(int(column), expression, line, block, files)
            if kind == "numbers":
                for word, expression, at in zip(left, expressions, places(left, line)):
                    first = place_of(word, texts, first, line.text) + 1
                    start = block.text_at + tokens[first - 1][1]
                    value, contended = evaluate_and_watch(expression, files)
                    numbers.append(Number(word, start, at, value, line, expression, contended,
                                          is_ratio_of_times(expression), expression, cells_at(block, start)))
        except NumberError as error:
            problems.append(f"{block.where(line)}: {error}")
    return numbers, problems


def places(words, line):
    """Where the words on the left of a line stand among the sources."""
    at = 0
    for word in words:
        at = line.text.index(word, at)
        yield line.at + at
        at += len(word)


def place_of(printed, texts, first, line):
    """Which of the numbers of a text, from the first on, is the one that a line computes."""
    if printed not in texts[first:]:
        elsewhere = " (it stands earlier: lines go by the order of the text)" if printed in texts else ""
        raise NumberError(f"{printed} is not in the text{elsewhere}: {line}")
    return texts.index(printed, first)


def rows_of(text):
    """The rows of a table without head and rule: (a cell, where it begins in the text) each."""
    rows, at = [], 0
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith("|"):
            bars = [at + bar.start() for bar in re.finditer(r"\|", line)]
            cells = [(text[left + 1 : right], left + 1) for left, right in zip(bars, bars[1:])]
            rows.append([(cell.strip(), at_ + len(cell) - len(cell.lstrip())) for cell, at_ in cells])
        at += len(line)
    return rows[2:]


def cells_at(block, at):
    """The head of a table and the cells of the row in which a number begins there; an empty cell repeats the one above."""
    cells = []
    for row in rows_of(block.text):
        cells = [cell or above for (cell, _), above in zip(row, [*cells, *[""] * len(row)])]
        if row and row[0][1] <= at - block.text_at <= row[-1][1] + len(row[-1][0]):
            return block.text.partition("\n")[0], *cells
    return ()


def as_arguments(cell):
    """`fpsgd`, `block_order: local` as the arguments fpsgd, block_order=local."""
    words = [word.strip().strip("`") for word in cell.split(",")]
    if NUMBER.fullmatch(cell):
        return cell.replace(",", "")
    return ", ".join("=".join(as_value(part) for part in word.split(": ", 1)) for word in words)


def as_value(word):
    return word if re.fullmatch(r"[A-Za-z_]\w*|-?[\d.]+", word) else repr(word)


def numbers_of_column(column, expression, line, block, files):
    """The first numbers of the cells of a column."""
    numbers, rows = [], rows_of(block.text)
    if line.rows and len(line.rows) != len(rows):
        raise NumberError(f"the table has {len(rows)} rows, `rows:` lists {len(line.rows)}")
    for k, row in enumerate(rows):
        cell, start = row[column] if column < len(row) else ("", 0)
        token = NUMBER.search(plain(cell))
        if token is None:
            continue
        filled = re.sub(r"\{(\d+)\}", lambda found: as_arguments(row[int(found[1])][0]), expression)
        filled = filled.replace("{row}", line.rows[k] if line.rows else "{row}")
        value, contended = evaluate_and_watch(filled, files)
        numbers.append(Number(token.group(), block.text_at + start + token.start(), None, value, line,
                              f"row {row[0][0]}, column {column}: {filled}", contended, is_ratio_of_times(filled), filled,
                              cells_at(block, block.text_at + start)))
    if not numbers:
        raise NumberError(f"column {column} has no number")
    return numbers


# ---- what has a source ---------------------------------------------------------------------------


def constants(expression):
    return {
        node.value
        for node in ast.walk(ast.parse(expression, mode="eval"))
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float))
    }


def without_columns(text, lines):
    """A table without what `column` lines compute, the first number of each cell, and without the
    columns that these go by."""
    computed = {int(column) for kind, left, _ in lines if kind == "column" for column in left}
    keys = {
        int(digits)
        for kind, _, right in lines if kind == "column"
        for digits in re.findall(r"\{(\d+)\}", " ".join(right))
    }
    if not computed:
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


def unexplained(text, about):
    """Numbers of a paragraph or table that no line of its blocks prints, computes, gives, or
    selects cases by."""
    lines = [parsed(line.text) for block in about for line in block.lines]
    printed, known = [], set()
    for kind, left, expressions in lines:
        if kind == "given":
            known |= {value_of(word) for word in left}
        elif kind == "numbers":
            printed += left
            known |= set().union(*map(constants, expressions))
    left = []
    for token in NUMBER.finditer(plain(without_columns(text, lines))):
        if token.group() in printed:
            printed.remove(token.group())
        elif value_of(token.group()) not in known:
            left.append(token.group())
    return left
