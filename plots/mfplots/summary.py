"""One row a series: quality, time to target, throughput and speed-ups, with failures."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from mfplots import metrics, program
from mfplots.errors import PlotError
from mfplots.metrics import NO_INTERVAL, Interval, Spread, Target
from mfplots.series import RUN_RULES, Panel, Rows, Series, View, canonical, clocks_moved, contended, facet_text, one_machine
from mfplots.style import duration
from mfplots.traces import Trace

ANSWER = "answer_s"
FILE = "file_to_model_s"
CLOCK_NAMES = {"train_s": "training time", "train_device_s": "training time (device events)",
               "answer_s": "prepare + transfer + training time", FILE: "time from file to model", "wall_s": "wall time"}


@dataclass(frozen=True)
class Question:
    """The question to measure; None means the result files' own."""

    target: Target | Mapping[str, Target] | None = None  # or by data set
    baseline: str | None = None
    clock: str = "train_s"
    metric: str | None = None  # that quality is shown by


@dataclass(frozen=True)
class Row:
    panel: Panel
    series: Series
    target: Target | None
    n: int                 # finished cases
    not_reached: int       # of them, without the target in their trace
    metric: str            # main metric of the series
    quality: Spread        # the headline of it
    final: Spread          # the same at the last epoch, of which a saved model is
    best: Spread           # its best on the part that it is measured on
    frozen: list[tuple[float, float]]  # the frozen targets, each with the median answer to it
    median_time: float     # to target, the others counting as infinitely late
    median_answer: float   # the same on prepare + transfer + training
    end_time: Spread       # to the last evaluated point, of completed cases
    end_answer: float      # the median, incomplete cases never answering
    first_epoch: Spread    # of completed cases
    steady_epoch: Spread
    median_energy: float   # joules of training to the target, or to the end if there is none
    writes_made: Spread    # share of the updates that write their item, if an algorithm thins
    clocks_moved: tuple[float, float, int] | None  # lowest and highest SM clock, cases that moved
    contended: int         # cases that other programs may have slowed
    throughput: Spread     # updates/s on the clock
    bytes_rate: Spread     # declared bytes/s
    flops_rate: Spread     # declared flops/s
    baseline: str | None
    equal_quality: Interval     # at the target, on the clock
    answer_quality: Interval    # at the target, on prepare + transfer + training
    per_update: Interval
    per_update_problem: str     # why there is none, or ""
    baseline_problem: str  # why the baseline is missing, or ""
    problem: str           # why the speed-up at equal quality is missing, or ""

    @property
    def is_baseline(self) -> bool:
        return self.baseline == self.series.label

    @property
    def statuses(self) -> str:
        watched = on_test(self.series.cases)
        return status_text(self.series.cases) + (f", {watched} watched the test part" if watched else "")


def summarise(view: View, question: Question) -> list[Row]:
    return [_row(panel, series, question) for panel in view.panels for series in panel.series]


def to_the_end(series: Series, numbers: Sequence[float]) -> list[float]:
    """One a finished case; NaN for incomplete ones: the time of a diverged run is not the algorithm's."""
    return [value if done else math.nan for value, done in zip(numbers, series.completed)]


def end_times(series: Series, clock: str) -> list[float]:
    """To the last evaluated point of each finished case; NaN for incomplete cases."""
    return to_the_end(series, last(series, clock))


def status_text(cases: pd.DataFrame | Rows) -> str:
    """'2 completed, 1 diverged', or '3 skipped: needs CUDA'."""
    counts = Counter(cases["status"])
    order = ["completed", *sorted(set(counts) - {"completed"})]
    needs = {found[0] for status, why in zip(cases["status"], cases["stop_reason"])
             if status == "skipped" and (found := re.search("needs [^;:]+", str(why)))}
    return ", ".join(f"{counts[status]} {status}" for status in order if counts[status]) + (f": {needs.pop()}" if len(needs) == 1 else "")


def target_of(panel: Panel, question: Question) -> Target | None:
    """The target asked for, else the one the panel's own result files name."""
    if isinstance(question.target, Mapping):
        return question.target.get(panel.dataset)
    if question.target is not None:
        return question.target
    named = _named_targets(panel)
    if len(named) > 1:
        if all(target.metric == "test_rmse" for target in named.values()):
            words = f"several target RMSEs ({', '.join(f'{t:g}' for t in named.values())})"
        else:
            words = f"several targets ({', '.join(named)})"
        raise PlotError(f"{panel.title}: the results name {words}; give --target")
    return next(iter(named.values()), None)


def _named_targets(panel: Panel) -> dict[str, Target]:
    """By their words."""
    found = [parse_target(target, panel.title) for series in panel.series
             for target in series.rows["target"] if isinstance(target, Mapping)]
    return {target.text: target for target in sorted(found)}


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def parse_target(data: Any, where: str) -> Target:
    """{"metric": "ndcg_100", "value": 0.3}"""
    known = isinstance(data, Mapping) and set(data) == {"metric", "value"} and \
        is_number(data["value"]) and isinstance(data["metric"], str)
    if not known:
        raise PlotError(f'{where}: found {data!r}, expected {{"metric": "ndcg_100", "value": 0.3}}')
    return Target(data["value"], metrics.known(data["metric"], where).key)


def metric_of(series: Series) -> str:
    """The main metric of a series: the test RMSE; without one NDCG@100, or else the objective."""
    return next((name for name in metrics.main() if _has(series, name)), metrics.main()[0])


def metrics_of(view: View) -> list[str]:
    """The main metrics of its series, in the order of metrics.main()."""
    found = {metric_of(series) for panel in view.panels for series in panel.series if _has_trace(series)}
    return [name for name in metrics.main() if name in found] or [metrics.main()[0]]


def main_metric(view: View) -> str:
    return metrics_of(view)[0]


def measured_by(view: View, metric: str) -> View:
    """The view without series that were measured, but not by this metric; all of it if none was."""
    panels = [replace(panel, series=[s for s in panel.series if not _has_trace(s) or _has(s, metric)])
              for panel in view.panels]
    panels = [panel for panel in panels if any(map(_has_trace, panel.series))]
    return replace(view, panels=panels) if panels else view


def _has_trace(series: Series) -> bool:
    return any(len(trace) for trace in series.traces.values())


def _has(series: Series, metric: str) -> bool:
    return any(trace.knows(metric) for trace in series.traces.values())


def baseline_name(panel: Panel, question: Question) -> str | None:
    if question.baseline is not None:
        return question.baseline
    named = {str(b) for s in panel.series for b in s.rows["baseline"] if isinstance(b, str)}
    if len(named) > 1:
        raise PlotError(f"{panel.title}: the results name several baselines "
                        f"({', '.join(sorted(named))}); give --baseline")
    return named.pop() if named else None


def baseline_label(view: View, question: Question) -> str | None:
    """The label of the baseline's first configuration, which is drawn in black."""
    names = [baseline_name(panel, question) for panel in view.panels]
    for panel, name in zip(view.panels, names):
        for series in panel.series:
            if name is not None and is_named(series, name):
                return series.label
    return None


def find_baseline(panel: Panel, series: Series, name: str) -> Series | str:
    """The baseline to compare `series` with, or why there is none.

    `name` is an algorithm, a label, or words as in "ebgtg stride=250" and "stride=250". Of several configurations with
    the name, the one that agrees with `series` in every facet in which they differ and which `series` has too (factors,
    say); where only rules of stopping keep them apart, in all others; where that leaves several algorithms, the series'
    own. That of another machine is never taken."""
    found = [s for s in panel.series if is_named(s, name)]
    exact = [s for s in found if s.label == name]
    found = exact or found
    if not found:
        return f"no baseline: {name} is not among the cases"
    found = [s for s in found if one_machine(s, series)]
    if not found:
        return f"no baseline: {name} was measured on other machines"
    if len(found) == 1:
        return found[0]
    agreeing = _agreeing(found, series) or _agreeing(found, series, RUN_RULES)
    own = [s for s in agreeing if s.algorithm == series.algorithm]
    if len(agreeing) > 1 and len(own) == 1:
        return own[0]
    if len(agreeing) == 1:
        return agreeing[0]
    return f"no baseline: {len(agreeing) or 'none'} of the {len(found)} {name} match"


def is_named(series: Series, name: str) -> bool:
    if name in (series.label, series.algorithm):
        return True
    words = name.split()
    if not words or "=" not in words[-1]:
        return False
    own = [] if "=" in words[0] else [words.pop(0)]
    wanted = [word.split("=", 1) for word in words]
    return own in ([], [series.algorithm]) and all(
        len(pair) == 2 and pair[0] in series.facets and facet_text(series.facets[pair[0]]) == pair[1] for pair in wanted)


def _agreeing(candidates: list[Series], series: Series, ignored: tuple[str, ...] = ()) -> list[Series]:
    keys = {key for s in candidates for key in s.facets if not key.startswith(ignored)}
    varying = [key for key in keys & series.facets.keys() if len({canonical(s.facets.get(key)) for s in candidates}) > 1]
    return [s for s in candidates if all(s.facets.get(key) == series.facets[key] for key in varying)]


def times_to_target(series: Series, target: Target | None, clock: str) -> list[float]:
    """For each finished case; NaN for cases that did not reach it. None without a target."""
    return [] if target is None else series.at_target(target, clock)


def throughputs(series: Series, clock: str) -> list[float]:
    """Updates per second of each finished case, at its last evaluated epoch; NaN for incomplete cases. Empty if each
    point is a run with its setup: that gives no rate of epochs."""
    if series.restarts:
        return []
    return metrics.rates(last(series, "updates"), end_times(series, clock))


def declared_rates(series: Series, amount: str, clock: str) -> list[float]:
    """Declared work (`work_bytes`, `work_flops`) of the epochs done, per second."""
    totals = [(math.nan if a is None else a) * e for a, e in zip(series.finished[amount], last(series, "epoch"))]
    return metrics.rates(totals, end_times(series, clock))


def last(series: Series, column: str) -> list[float]:
    """For each finished case, at its last evaluated point."""
    return [float(t[column][-1]) if len(t) and column in t else math.nan for t in series.finished_traces]


def headlines(series: Series, metric: str) -> list[float]:
    """For each finished case, at the epoch that its validation part chose, or at the last one."""
    return at_epochs(series, metric, series.finished["headline_epoch"])


def at_epochs(series: Series, metric: str, epochs: Sequence[float]) -> list[float]:
    """For each finished case, at its epoch; NaN if that was not evaluated."""
    return [_at_epoch(series.traces[i], metric, epoch) for i, epoch in zip(series.finished.index, epochs)]


def _at_epoch(trace: Trace, metric: str, epoch: float) -> float:
    if metric not in trace:
        return math.nan
    there = np.flatnonzero(trace["epoch"] == epoch)
    return float(trace[metric][there[0]]) if len(there) else math.nan


def bests(series: Series, metric: str) -> list[float]:
    """For each finished case, of all its epochs: of the test part, chosen on the test part itself. The initial model is
    not one of them."""
    return [metrics.best_of(t[metric][t["epoch"] > 0] if metric in t else [], metric) for t in series.finished_traces]


def on_test(cases: pd.DataFrame | Rows) -> int:
    """In how many cases a rule watched the test part."""
    return sum(bool(rules) for rules in cases["watched_test"] if isinstance(rules, list))


LEVELS = ("named", "stricter", "strictest")


def frozen(series: Series) -> list[tuple[float, float]]:
    """The frozen targets of its data set, with the median answer to each; NaN if it is missed. Empty if there are
    none."""
    known = [levels for levels in series.finished["at_frozen_targets"] if isinstance(levels, dict)]
    if not known or known[0][LEVELS[0]]["metric"] != metric_of(series):
        return []
    answers = {level: [math.nan if at[level]["answer_s"] is None else at[level]["answer_s"] for at in known]
               for level in LEVELS}
    return [(known[0][level]["value"], metrics.censored_median(answers[level])) for level in LEVELS]


def target_levels(found: Sequence[Series], metric: str, named: float | None = None) -> dict[str, Target]:
    """The targets of a contest: `named`, then harder ones; frozen ones, if its data set has them."""
    known = next((levels for s in found if metric_of(s) == metric and (levels := frozen(s))), [])
    values = program.ask("targets", metric=metric, named=named, frozen=[value for value, _ in known],
                         racers=[metrics.racer(quality=headlines(s, metric)) for s in found])
    return {level: Target(value, metric) for level, value in zip(LEVELS, values)}


def winner_text(panel: Panel, question: Question) -> str:
    """In the words of mfbench."""
    run = [series for series in panel.series if len(series.finished)]
    metric = metric_of(run[0]) if run else ""
    asked = target_of(panel, question)
    target = asked or (target_levels(run, metric).get(LEVELS[0]) if run else None)
    if target is None:
        return f"unknown: no algorithm has a quality on {panel.dataset}"
    racers = [metrics.racer(times_to_target(s, target, ANSWER), headlines(s, metric), name=s.label,
                            contended=bool(contended(s.cases).any())) for s in run]
    return program.ask("winner", metric=target.metric, target=float(target), named=asked is not None, data=panel.dataset,
                       quality=metric or target.metric, racers=racers)


def how_chosen(series: Series) -> dict[str, str]:
    """Each level of its frozen targets: named, before or afterwards; '' if the file does not say."""
    known = [levels for levels in series.finished["at_frozen_targets"] if isinstance(levels, dict)]
    return {level: known[0][level].get("chosen") or "" for level in LEVELS} if known else {}


FLOORS = ("bias", "popular")


def below_floor(found: Sequence[tuple[str, float | None]], metric: str) -> list[str]:
    """Of each (algorithm, value) of one data set: the baseline without factors that is better, or ''."""
    known = [(name, math.nan if value is None else value) for name, value in found]
    floors = [(value, name) for name, value in known if name in FLOORS and math.isfinite(value)]
    best = metrics.best_of([value for value, _ in floors], metric)
    name = next((name for value, name in floors if value == best), "")
    return [name if math.isfinite(value) and metrics.best_of([value, best], metric) != value else "" for _, value in known]


def _row(panel: Panel, series: Series, question: Question) -> Row:
    target, clock = target_of(panel, question), question.clock
    times = times_to_target(series, target, clock)
    name = baseline_name(panel, question)
    base = find_baseline(panel, series, name) if name else "no baseline named"
    done = series.finished
    judged_by = question.metric or metric_of(series)
    return Row(
        panel=panel, series=series, target=target, n=len(done), not_reached=sum(math.isnan(t) for t in times),
        metric=judged_by, quality=metrics.spread(headlines(series, judged_by)),
        final=metrics.spread(last(series, judged_by)), best=metrics.spread(bests(series, judged_by)), frozen=frozen(series),
        median_time=metrics.censored_median(times),
        median_answer=metrics.censored_median(times_to_target(series, target, ANSWER)),
        end_time=metrics.spread(end_times(series, clock)), end_answer=metrics.censored_median(end_times(series, ANSWER)),
        first_epoch=metrics.spread(to_the_end(series, done["first_epoch_s"])),
        steady_epoch=metrics.spread(to_the_end(series, done["steady_epoch_s"])),
        median_energy=_median_energy(series, target),
        writes_made=writes_made(series), clocks_moved=clocks_moved(series.cases),
        contended=int(contended(series.cases).sum()), throughput=metrics.spread(throughputs(series, clock)),
        bytes_rate=metrics.spread(declared_rates(series, "work_bytes", clock)),
        flops_rate=metrics.spread(declared_rates(series, "work_flops", clock)),
        baseline=base.label if isinstance(base, Series) else None,
        baseline_problem=base if isinstance(base, str) else "", equal_quality=_equal_quality(series, base, target, clock),
        answer_quality=_equal_quality(series, base, target, ANSWER), per_update=_per_update(series, base, clock),
        per_update_problem=_per_update_problem(series, base), problem=_problem(series, base, target, clock, times))


def _median_energy(series: Series, target: Target | None) -> float:
    """Of training to the target, a seed that missed it counting as endless; to the end if there is none. NaN if it was
    not measured."""
    at_end = end_times(series, "train_energy_j")
    if target is None or not any(map(math.isfinite, at_end)):
        return metrics.spread(at_end).median
    return metrics.censored_median(times_to_target(series, target, "train_energy_j"))


def _fact(facts: Any, key: str) -> float:
    return float(facts.get(key, math.nan)) if isinstance(facts, Mapping) else math.nan


def clock_words(row: Row) -> str:
    """'SM clock moved in 1 of 3: 1740 to 1935 MHz', or ''."""
    if row.clocks_moved is None:
        return ""
    low, high, count = row.clocks_moved
    return f"SM clock moved in {count} of {len(row.series.cases)}: " \
           f"{low / 1e6:.0f} to {high / 1e6:.0f} MHz"


def contended_words(row: Row) -> str:
    """'contended in 1 of 3', or ''."""
    return f"contended in {row.contended} of {len(row.series.cases)}" if row.contended else ""


def writes_made(series: Series) -> Spread:
    """Share of the updates that write their item's row, if an algorithm thins them."""
    return metrics.spread([_fact(facts, "writes_made") for facts in series.finished["facts"]])


def writes_words(share: Spread) -> str:
    """'43.2 % of the item writes made', or ''."""
    return f"{100 * share.median:.1f} % of the item writes made" if share.n else ""


def writes_note(view: View) -> str:
    """For the small print of rates."""
    found = {series.label: writes_words(writes_made(series)) for panel in view.panels for series in panel.series}
    return "; ".join(f"{label}: {words}" for label, words in found.items() if words)


def before_note(view: View) -> str:
    """For the small print of training times: the times before it, an algorithm's medians."""
    before: dict[str, list[float]] = {}
    for panel in view.panels:
        for series in panel.series:
            ends = zip(end_times(series, ANSWER), end_times(series, "train_s"))
            median = metrics.spread([answer - train for answer, train in ends]).median
            if math.isfinite(median):
                before.setdefault(series.algorithm, []).append(median)
    words = [f"{name} {_range(medians)}" for name, medians in before.items()]
    return f"Before training, prepare + transfer took: {', '.join(words)}." if words else ""


def _range(seconds: Sequence[float]) -> str:
    ends = list(dict.fromkeys(duration(value) for value in (min(seconds), max(seconds))))
    return " to ".join(ends)


def _equal_quality(series: Series, base: Series | str, target: Target | None, clock: str) -> Interval:
    if target is None or isinstance(base, str):
        return NO_INTERVAL
    if base is series:
        return _of_itself(times_to_target(base, target, clock))
    return metrics.ratio_of_medians(times_to_target(base, target, clock), times_to_target(series, target, clock))


def _per_update(series: Series, base: Series | str, clock: str) -> Interval:
    if isinstance(base, str) or _per_update_problem(series, base):
        return NO_INTERVAL
    rates = [[v for v in throughputs(s, clock) if math.isfinite(v)] for s in (series, base)]
    if base is series:
        return _of_itself(rates[0])
    return metrics.ratio_of_medians(rates[0], rates[1])


def _per_update_problem(series: Series, base: Series | str) -> str:
    if isinstance(base, str) or base.method == series.method:
        return ""
    return f"updates of {series.method} and {base.method} differ"


def _of_itself(values: list[float]) -> Interval:
    """The baseline over itself: 1 by definition, so without an interval."""
    known = math.isfinite(metrics.censored_median(values))
    return Interval(1.0, math.nan, math.nan) if known else NO_INTERVAL


def _problem(series: Series, base: Series | str, target: Target | None, clock: str, times: list[float]) -> str:
    if not any(map(len, series.finished_traces)):
        return status_text(series.cases)
    if target is None:
        return "no target"
    missed = sum(math.isnan(t) for t in times)
    if missed * 2 >= len(times):
        return f"did not reach {_goal(target)} ({missed} of {len(times)} seeds)"
    if isinstance(base, str):
        return base
    if math.isnan(metrics.censored_median(times_to_target(base, target, clock))):
        return f"the baseline {base.label} did not reach {_goal(target)}"
    return ""


def _goal(target: Target) -> str:
    return f"{target:g}" if target.metric == "test_rmse" else target.text
