"""The summary as plain text, one line a series."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

from mfplots import metrics
from mfplots.metrics import FEWEST, Spread, Target
from mfplots.printable import one_line
from mfplots.series import Facets, View, flatten, panel_title
from mfplots.smallprint import machines, revisions, shared_machines, single_runs
from mfplots.style import duration, si, speed_text
from mfplots.summary import (ANSWER, CLOCK_NAMES, LEVELS, Question, Row, below_floor, clock_words, contended_words,
                             how_chosen, summarise, writes_words)

LAST = "last epoch"  # a column if the validation part chose another
HEADINGS = ("data set", "algorithm", "seeds", "status", "{quality} [min, max]", LAST, "best on test",
            "train", "answer", "train to target", "answer to target", "speed-up at target", "speed-up of the answer")
FROZEN_HEADINGS = ("data set", "algorithm", *(f"answer to {level}" for level in LEVELS))
RATE_HEADINGS = ("data set", "algorithm", "first epoch", "steady epoch", "updates/s of {method}",
                 "per update", "energy", "remarks")
Lines = list[tuple[str, ...]]


def table_text(view: View, question: Question) -> str:
    """The tables, their baselines and targets, cases without a result, and provenance."""
    rows = summarise(view, question)
    parts = [text for table in tables(rows) for text in (_aligned(table), "")]
    notes = [*explanations(rows, question), *failures(view)]
    if view.not_begun:
        notes.append(f"not begun ({len(view.not_begun)}): {', '.join(view.not_begun)}")
    notes += [*shared_machines(view.cases), *single_runs(view.cases)]
    notes += [revisions(view.cases), machines(view.cases)]
    return "\n".join([*parts, *map(one_line, notes)])


def tables(rows: Sequence[Row]) -> list[Lines]:
    """Each with its headings first: quality and times, then rates, a table for each method, whose updates differ from
    another's."""
    found = [quality_table(rows)]
    if any(row.frozen for row in rows):
        found.append([FROZEN_HEADINGS, *(frozen_cells(row, rows) for row in rows if row.frozen)])
    for method in dict.fromkeys(row.series.method for row in rows):
        own = [row for row in rows if row.series.method == method and row.throughput.n]
        if own:
            found.append(_telling([tuple(h.format(method=method) for h in RATE_HEADINGS), *map(rate_cells, own)]))
    return found


def earlier(rows: Sequence[Row]) -> bool:
    """Whether a validation part chose another epoch than the last."""
    return any(row.quality.n and row.final != row.quality for row in rows)


def _telling(lines: Lines) -> Lines:
    """Without the columns in which no line says anything."""
    keep = [k for k in range(len(lines[0])) if any(line[k] not in ("", "–") for line in lines[1:])]
    return [tuple(line[k] for k in keep) for line in lines]


def quality_table(rows: Sequence[Row]) -> Lines:
    """The heading names the metric of all rows; if they have several, each value does."""
    known = {row.metric for row in rows if row.quality.n} or {row.metric for row in rows}
    several = len(known) > 1
    quality = "quality" if several else metrics.row(known.pop()).title
    keep = [k for k, heading in enumerate(HEADINGS) if heading != LAST or earlier(rows)]
    headings = [heading.format(quality=quality) for heading in HEADINGS]
    return [tuple(line[k] for k in keep) for line in [headings, *(_cells(row, several, rows) for row in rows)]]


def _loses(row: Row, rows: Sequence[Row]) -> str:
    """', loses to bias', which has no factors, or ''."""
    own = [other for other in rows if other.panel is row.panel and other.metric == row.metric]
    below = below_floor([(other.series.algorithm, other.quality.median) for other in own], row.metric)
    return next((f", loses to {name}" for other, name in zip(own, below) if other is row and name), "")


def _waits(row: Row, rows: Sequence[Row]) -> str:
    """', 2.1 x the CPU time of one thread', of threads that wait for each other, or ''."""
    def cpu(other: Row) -> float:
        loads = other.series.cases.get("host_load", ())
        known = [s for load in loads if isinstance(load, Mapping) and (s := flatten(load).get("train.cpu_s"))]
        return statistics.median(known) if known else math.nan

    def alike(other: Row) -> Facets:
        return {"panel": id(other.panel), "algorithm": other.series.algorithm, **other.series.facets, "threads": 1}

    times = [cpu(row) / cpu(one) for one in rows if one.series.facets.get("threads") == 1 and alike(one) == alike(row)]
    return next((f", {over:.1f} x the CPU time of one thread" for over in times if over > 2), "")


def _cells(row: Row, named: bool, rows: Sequence[Row]) -> tuple[str, ...]:
    return (panel_title(row.panel), row.series.marked, str(len(row.series.cases)),
            row.statuses + _loses(row, rows) + _waits(row, rows), _quality(row, named), _value(row, row.final),
            _value(row, row.best), duration(row.end_time.median), duration(row.end_answer),
            _time(row), _answer(row), "baseline" if row.is_baseline else speed_text(row.equal_quality),
            "baseline" if row.is_baseline else speed_text(row.answer_quality))


def frozen_cells(row: Row, rows: Sequence[Row]) -> tuple[str, ...]:
    """Answers to the frozen targets, the first of its panel at each marked."""
    texts = []
    for level, (target, answer) in enumerate(row.frozen):
        others = [other.frozen[level][1] for other in rows if other.panel is row.panel and other.frozen]
        first = answer == min((one for one in others if not math.isnan(one)), default=math.nan)
        texts.append(f"{target:g}: {'–' if math.isnan(answer) else duration(answer)}{' *' if first else ''}")
    return (panel_title(row.panel), row.series.marked, *texts)


def rate_cells(row: Row) -> tuple[str, ...]:
    remarks = ", ".join(filter(None, [writes_words(row.writes_made), clock_words(row), contended_words(row)]))
    return (panel_title(row.panel), row.series.marked, duration(row.first_epoch.median),
            duration(row.steady_epoch.median), si(row.throughput.median, "/s"),
            "baseline" if row.is_baseline else row.per_update_problem or speed_text(row.per_update),
            si(row.median_energy, "J"), remarks)


def explanations(rows: Sequence[Row], question: Question) -> list[str]:
    targets = dict.fromkeys((row.panel.title, row.target) for row in rows)
    baselines = sorted({row.baseline for row in rows if row.baseline})
    clock = CLOCK_NAMES[question.clock]
    lines = ["medians over the seeds, one that misses the target being infinitely late; train: "
             f"{clock}; answer: {CLOCK_NAMES[ANSWER]}; to target: at the first evaluated point; "
             "energy: of training, to the target where there is one"]
    lines.append("quality on the test part: at the epoch that the validation part chose, or, without one, "
                 "at the last; best on test is chosen on what it is measured on, and no result")
    if earlier(rows):
        lines.append("last epoch: of the model that --save-model keeps")
    if any(row.frozen for row in rows):
        lines.append("named, stricter, strictest: frozen targets (mfbench schema targets)" + _when(rows) + "; * the first at each")
    lines += [_target_line(title, target) for title, target in targets]
    lines.append(f"speed-ups: over {', '.join(baselines)}, on the {clock} and of the answer"
                 if baselines else f"no speed-ups: {rows[0].baseline_problem}")
    return lines


def _when(rows: Sequence[Row]) -> str:
    """', chosen afterwards: stricter, strictest of netflix', of targets that followed results."""
    late: dict[str, None] = {}
    for row in rows:
        levels = [level for level, how in how_chosen(row.series).items() if row.frozen and how == "afterwards"]
        late.update({f"{', '.join(levels)} of {row.panel.title}": None} if levels else {})
    return f", chosen afterwards: {'; '.join(late)}" if late else ""


def _target_line(title: str, target: Target | None) -> str:
    if target is None or target.metric == "test_rmse":
        return f"target test RMSE: {title}: {'none named' if target is None else f'{target:g}'}"
    return f"target: {title}: {target.text}"


def failures(view: View) -> list[str]:
    """One line for every case that is not completed, with the reason its file gives."""
    failed = view.cases[view.cases["status"] != "completed"]
    return [f"{status}: {case_id}: {reason}" for status, case_id, reason
            in zip(failed["status"], failed["case_id"], failed["stop_reason"])]


def _value(row: Row, spread: Spread) -> str:
    return f"{spread.median:{metrics.row(row.metric).format}}" if spread.n else "–"


def _quality(row: Row, named: bool) -> str:
    spread = row.quality
    if not spread.n:
        return "–"
    metric = metrics.row(row.metric)
    digits = metric.format
    name = f"{metric.title} " if named else ""
    text = f"{name}{spread.median:{digits}}"
    if spread.n < FEWEST:
        return text
    return f"{text} [{spread.low:{digits}}, {spread.high:{digits}}]"


def _time(row: Row) -> str:
    if row.target is None or row.quality.n == 0:
        return "–"
    missed = f"{row.not_reached} of {row.n} did not reach" if row.not_reached else ""
    known = "" if math.isnan(row.median_time) else duration(row.median_time)
    return ", ".join(filter(None, [known, missed])) or "–"


def _answer(row: Row) -> str:
    return "–" if row.target is None or math.isnan(row.median_answer) else duration(row.median_answer)


def _aligned(lines: Sequence[Sequence[str]]) -> str:
    lines = [tuple(map(one_line, line)) for line in lines]
    widths = [max(map(len, column)) for column in zip(*lines)]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(line, widths)).rstrip() for line in lines)
