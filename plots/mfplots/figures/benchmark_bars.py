"""Micro-benchmarks as bars, side by side or stacked from their parts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd
from matplotlib.patches import Patch

from mfplots import metrics
from mfplots.bar_page import Bar, Row, Rows, Tick, bar_page, open_handle, published_rows
from mfplots.benchmarks import BENCHMARK, COMPUTED, Benchmark, Benchmarks, Keys, select
from mfplots.errors import NotDrawable, PlotError, hint
from mfplots.figures import figure
from mfplots.metrics import Interval, Spread
from mfplots.names import explained, named, short_names
from mfplots.page import Page
from mfplots.palette import BLACK, BLUE, COLOURS
from mfplots.published import Point, value_points
from mfplots.recipes import Recipe
from mfplots.smallprint import n_words
from mfplots.style import Look, duration, plain_tick, ratio_text, si, si_tick, significant, speed_text, time_tick

# By y its words on an axis, its unit and the peak that it is a share of; other counters have neither.
QUANTITIES = {"time": ("time of a run", "s", ""), "bytes": ("bytes a second", "B/s", "bytes_per_s"),
              "flops": ("floating-point operations a second", "FLOP/s", "flops_per_s"), "updates": ("updates a second", "/s", ""),
              "symmetric_flops": ("floating-point operations a second, of the symmetric half", "FLOP/s", "flops_per_s"),
              COMPUTED: ("floating-point operations computed a second", "FLOP/s", "flops_per_s")}


@dataclass
class Stack:
    """A bar: one benchmark, or the parts of a stack, in their order."""

    panel: str
    keys: Keys  # without the keys of panel and stack
    parts: dict[str, Spread] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    label: str = ""
    base: Stack | None = None

    @property
    def whole(self) -> bool:
        return not self.errors and bool(self.parts) and all(p.n for p in self.parts.values())

    @property
    def total(self) -> float:
        return sum(p.median for p in self.parts.values()) if self.whole else math.nan

    @property
    def ratio(self) -> float:
        return self.total / self.base.total if self.base else math.nan


@figure("benchmark-bars")
def benchmark_bars(benchmarks: Benchmarks, recipe: Recipe) -> Page:
    rows = _rows(select(benchmarks, recipe.filter), recipe)
    if not any(row.whole for row in rows):
        raise NotDrawable(f"no benchmark has a value of {recipe.y or 'time'}")
    _label(rows)
    _check_shares(rows, recipe)
    if recipe.baseline:
        _find_baselines(rows, recipe.baseline)
    elif recipe.relative:
        raise PlotError(f'{recipe.file_name}: "relative" needs a "baseline"')
    points = value_points(recipe.published)
    say = (lambda value: _times(value, recipe)) if recipe.relative else _unit(recipe)
    names = named([(row.label, row) for row in rows], recipe, short_names(row.label for row in rows), _has)
    shown = {name: [Row(names[row.label], _words_of(row, recipe), [_bar(row, recipe, rows)], row.base.label if row.base else "")
                    for row in rows if row.panel == name]
             for name in dict.fromkeys(row.panel for row in rows)}
    page = bar_page(recipe.title or f"benchmarks: {_axis(recipe)}", [
        Rows(name, [*own, *published_rows(points, say)], _axis(recipe)) for name, own in shown.items()], _tick(recipe),
                    most=_quantity(recipe)[1] not in ("", "s"))
    return page.done(_numbers(rows, recipe), [*_reading(rows, recipe), explained(names), *benchmarks.provenance],
                     _legend(rows, recipe, points))


# ---- rows ----------------------------------------------------------------------------------------

def _rows(items: Sequence[Benchmark], recipe: Recipe) -> list[Stack]:
    _check_keys(items, recipe)
    rows: dict[tuple[str, ...], Stack] = {}
    for item in items:
        keys = dict(item.keys)
        part = keys.pop(recipe.stack_by, "") if recipe.stack_by else ""
        panel = f"{recipe.panel_by} = {keys.pop(recipe.panel_by, '')}" if recipe.panel_by else ""
        row = rows.setdefault((panel, *sorted(f"{k}:{v}" for k, v in keys.items())), Stack(panel, keys))
        if part in row.parts:
            raise PlotError(f"two results of {_words(item.keys)}; narrow the results or the filter")
        row.parts[part] = metrics.spread(item.values(recipe.y or "time"))
        if item.error:
            row.errors.append(f"{part}: {item.error}" if part else item.error)
    for row in rows.values() if recipe.cumulative else ():
        _take_apart(row, recipe.cumulative)
    return list(rows.values())


def _take_apart(row: Stack, names: Mapping[str, str]) -> None:
    """Each part less the one before it. Differences of medians: they have no range."""
    measured, row.parts, before = row.parts, {}, 0.0
    row.errors += [f"no {part}" for part in names if part not in measured]
    for part, name in names.items():
        if part in measured:
            median = measured[part].median
            row.parts[name] = Spread(median - before, math.nan, math.nan, measured[part].n)
            before = median


def _check_keys(items: Sequence[Benchmark], recipe: Recipe) -> None:
    known = {key for item in items for key in item.keys}
    for name, key in (("stack_by", recipe.stack_by), ("panel_by", recipe.panel_by)):
        if items and key and key not in known:
            raise PlotError(f'{recipe.file_name}.{name}: no benchmark has the key "{key}"'
                            f"{hint(key, known)}")
    strange = {item.keys.get(recipe.stack_by) for item in items} - set(recipe.cumulative)
    if recipe.cumulative and strange:
        raise PlotError(f"{recipe.file_name}.cumulative: no name for what {', '.join(sorted(map(str, strange)))} adds")
    counters = {"time", *(name for item in items for name in item.counters)}
    counters |= {COMPUTED} if "flops" in counters else set()
    if items and recipe.y and recipe.y not in counters and any(not i.error for i in items):
        raise PlotError(f'{recipe.file_name}.y: no benchmark has "{recipe.y}"'
                        f"{hint(recipe.y, counters)}")


def _check_shares(rows: Sequence[Stack], recipe: Recipe) -> None:
    """More than 100 % means that the peak is of something else than what is counted."""
    peak = _peak(recipe)
    for row in rows:
        if peak and row.total > peak:
            raise PlotError(f"{recipe.file_name}: {row.label} would have {100 * row.total / peak:.0f} % of the peak of "
                            f"{_unit(recipe)(peak)}; name the peak of what {recipe.y} counts, or draw {COMPUTED}")


def _label(rows: Sequence[Stack]) -> None:
    """Labels each row by the keys that differ among the rows."""
    names = dict.fromkeys(key for row in rows for key in row.keys)
    differ = [key for key in names if len({row.keys.get(key) for row in rows}) > 1]
    for row in rows:
        own = {key: row.keys[key] for key in differ if key in row.keys}
        row.label = _words(own) or row.keys[BENCHMARK] or "benchmark"


def _words(keys: Mapping[str, str]) -> str:
    return " ".join(value if key == BENCHMARK else f"{key}={value}" for key, value in keys.items() if value)


def _has(row: Stack, words: str) -> bool:
    return set(words.split()) <= set(_words(row.keys).split())


def _find_baselines(rows: Sequence[Stack], name: str) -> None:
    """For each row the one of its panel that has the named words and most else in common."""
    fitting = [row for row in rows if _has(row, name)]
    if not fitting:
        raise PlotError(f'the baseline "{name}" fits no benchmark'
                        f"{hint(name, {_words(row.keys) for row in rows})}")
    for row in rows:
        rivals = [other for other in fitting if other.panel == row.panel]
        if rivals:
            row.base = max(rivals, key=lambda other: len(other.keys.items() & row.keys.items()))


# ---- the page ------------------------------------------------------------------------------------

def _bar(row: Stack, recipe: Recipe, rows: Sequence[Stack]) -> Bar:
    scale = _scale(row, recipe)
    shown = Look(BLACK if row.base is row else BLUE, "-", "o", 0)
    if not row.whole:
        return Bar(metrics.NO_INTERVAL, shown)
    if recipe.stack_by:
        colours = _colours(rows)
        parts = [(p.median * scale, colours[part]) for part, p in row.parts.items()]
        return Bar(Interval(row.total * scale, math.nan, math.nan), shown, parts=parts)
    only = next(iter(row.parts.values()))
    whiskers = only.whiskers
    shown_as = Interval(whiskers.value * scale, whiskers.low * scale, whiskers.high * scale)
    return Bar(shown_as, shown)


def _quantity(recipe: Recipe) -> tuple[str, str, str]:
    name = recipe.y or "time"
    return QUANTITIES.get(name, (name, "", ""))


def _peak(recipe: Recipe) -> float | None:
    """Of what is drawn, if the recipe names one."""
    return recipe.peaks.get(_quantity(recipe)[2])


def _scale(row: Stack, recipe: Recipe) -> float:
    if peak := _peak(recipe):
        return 100 / peak
    return 1 / row.base.total if recipe.relative and row.base else 1.0


def _words_of(row: Stack, recipe: Recipe) -> list[str]:
    if not row.whole:
        return ["; ".join(row.errors) or "no value"]
    say = _unit(recipe)
    words = [say(row.total)]
    if peak := _peak(recipe):
        words = [f"{100 * row.total / peak:.0f} %", *words]
    if row.base is row:
        words.append("baseline")
    elif math.isfinite(row.ratio):
        words.append(_times(row.ratio, recipe))
    return words + ([f"{part} {say(p.median)}" for part, p in row.parts.items()] if recipe.stack_by else [])


def _times(ratio: float, recipe: Recipe) -> str:
    """Of times the inverse is the speed; a counter of the benchmark's own has none."""
    found, unit = Interval(ratio, math.nan, math.nan), _quantity(recipe)[1]
    return speed_text(found.inverse if unit == "s" else found) if unit else ratio_text(found)


def _legend(rows: Sequence[Stack], recipe: Recipe, points: Sequence[Point]) -> list:
    colours = _colours(rows) if recipe.stack_by else {}
    patches = [Patch(facecolor=colour, label=part) for part, colour in colours.items()]
    return patches + ([open_handle()] if points else [])


def _colours(rows: Sequence[Stack]) -> dict[str, str]:
    parts = dict.fromkeys(part for row in rows for part in row.parts)
    return {part: COLOURS[i % len(COLOURS)] for i, part in enumerate(parts)}


def _axis(recipe: Recipe) -> str:
    text = _quantity(recipe)[0]
    if peak := _peak(recipe):
        return f"{text}, % of {_unit(recipe)(peak)}"
    return f"{text}, over {recipe.baseline}" if recipe.relative else text


def _unit(recipe: Recipe) -> Callable[[float], str]:
    unit = _quantity(recipe)[1]
    return duration if unit == "s" else (lambda value: si(value, unit)) if unit else significant


def _tick(recipe: Recipe) -> Tick:
    if recipe.relative or _peak(recipe):
        return plain_tick
    return time_tick if _unit(recipe) is duration else si_tick


def _reading(rows: Sequence[Stack], recipe: Recipe) -> list[str]:
    counts = {p.n for row in rows for p in row.parts.values() if p.n}
    over = f"Ratios: over {recipe.baseline}, of medians." if recipe.baseline else ""
    parts = " Parts are differences of the medians of kernels that end after them." if recipe.cumulative else ""
    return [n_words(counts, "repetition", "" if recipe.stack_by else "range"), over + parts]


def _numbers(rows: Sequence[Stack], recipe: Recipe) -> pd.DataFrame:
    name = recipe.y or "time"
    return pd.DataFrame([{
        "panel": row.panel, "benchmark": _words(row.keys), "part": part,
        f"{name}_s" if name == "time" else name: p.median, "low": p.low, "high": p.high,
        "repetitions": p.n, "total": row.total, "baseline": _words(row.base.keys) if row.base else "", "ratio": row.ratio,
        "remark": "; ".join(row.errors)} for row in rows for part, p in row.parts.items()])
