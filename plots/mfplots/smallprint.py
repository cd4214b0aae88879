"""The basis of a figure: cases, revision and machine, in words for its lower edge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas as pd

from mfplots.metrics import FEWEST
from mfplots.names import differences, explained
from mfplots.printable import counted
from mfplots.series import CONTENDED_MARK, RESTART_MARK, View, clocks_moved, cores_text, is_true, restarted

MAX_IDS = 24
# Keys of the environment shown in words.
SHOWN = ("mfbench", "git_sha", "git_dirty", "build_type", "host", "cpu", "cores", "gpu", "cuda", "driver")


def small_print(view: View, names: Mapping[str, str], reading: str, *notes: str, shown: str = "range") -> list[str]:
    """A caption: how many seeds and what is `shown` of them beside the median, which the picture says, too; how to read it,
    notes, short names in full, other differences, and what it rests on."""
    return [sample(view, shown), reading, *notes, explained(names), *differences(view), *provenance(view)]


def provenance(view: View) -> list[str]:
    """One line each for cases, revision and machine of the view's cases, clocks that moved, machines
    that were shared, runs for single points, test parts that were watched, and older rankings."""
    cases = view.cases
    return [_ids(cases), revisions(cases), machines(cases), *moved_clocks(cases), *shared_machines(cases), *single_runs(cases),
            *watched_tests(cases), *ranked_validation(cases)]


def single_runs(cases: pd.DataFrame) -> list[str]:
    """The meaning of RESTART_MARK; no line if it stands nowhere."""
    return [f"{RESTART_MARK.strip()} runs from the start for each evaluated point, which has the time of its own run: "
            f"a later one may have taken less: {_names(own)}" for own in [cases[restarted(cases)]] if len(own)]


def watched_tests(cases: pd.DataFrame) -> list[str]:
    """One line if a rule of a case watched the test part; else none."""
    own = cases[[isinstance(said, list) and bool(said) for said in cases["watched_test"]]]
    rules = ", ".join(sorted(set().union(*own["watched_test"])))
    return [f"test part watched in {len(own)} of {len(cases)} cases by {rules}: {_names(own)}"] if len(own) else []


def ranked_validation(cases: pd.DataFrame) -> list[str]:
    """One line if a case of an older version ranked test items among those of the validation part; else none."""
    own = cases[is_true(cases, "ranked_validation")]
    return [f"seen: train in {len(own)} of {len(cases)} cases, which ranked test items among the user's items of the "
            f"validation part: {_names(own)}"] if len(own) else []


def moved_clocks(cases: pd.DataFrame) -> list[str]:
    """One line if the SM clock of a case moved; else none."""
    if not (moved := clocks_moved(cases)):
        return []
    low, high, count = moved
    return [f"SM clock moved by more than 2 % within {count} of {len(cases)} cases, "
            f"{low / 1e6:.0f} to {high / 1e6:.0f} MHz: {_names(cases[is_true(cases, 'clock_moved')])}"]


def shared_machines(cases: pd.DataFrame) -> list[str]:
    """Explains CONTENDED_MARK, a line each for the times and the host's clocks; else none."""
    lines = []
    for clocks, words in (("contended", "contended"), ("host_contended", "host clocks contended")):
        if len(shared := cases[is_true(cases, clocks)]):
            why = next((f" ({said[0]})" for said in shared[f"{clocks}_by"] if isinstance(said, list) and said), "")
            lines.append(f"{CONTENDED_MARK.strip()} {words} in {len(shared)} of {len(cases)} "
                         f"cases, whose times may be those of other programs: {_names(shared)}{why}")
    return lines


def _names(cases: pd.DataFrame) -> str:
    return ", ".join(_distinct(cases["algorithm"]))


def sample(view: View, shown: str) -> str:
    """'n = 5 seeds: median, range', or from the fewest to the most of a configuration: 'n = 1 to 3 seeds: ...'."""
    return n_words({len(series.finished) for panel in view.panels for series in panel.series if len(series.finished)} or {0}, "seed", shown)


def n_words(counts: Iterable[int], what: str, shown: str) -> str:
    """`shown` beside the median, from the fewest on of which a range is one."""
    few, most = min(counts := set(counts)), max(counts)
    ends = " to ".join(dict.fromkeys(map(str, (few, most))))
    return f"n = {ends} {what}{'s' if most > 1 else ''}" + (": median" if most > 1 else "") + (f", {shown}" if shown and most >= FEWEST else "")


def _ids(cases: pd.DataFrame) -> str:
    hashes = [str(value)[:10] for value in cases["case_hash"]]
    specs = _distinct(f"{name} {str(digest)[:10]}" for name, digest in zip(cases["spec_name"], cases["spec_hash"]))
    head = f"{counted(len(hashes), 'case')} of {', '.join(specs)}"
    return f"{head}: {' '.join(hashes)}" if len(hashes) <= MAX_IDS else head


def revisions(cases: pd.DataFrame) -> str:
    return "mfbench " + ", ".join(_distinct(
        f"{row['mfbench'] or ''} git {str(row['git_sha'] or 'unknown')[:10]}"
        f"{' + uncommitted changes' if row['git_dirty'] else ''}"
        f"{', ' + row['build_type'] if row['build_type'] else ''}".strip() for row in _environments(cases)))


def machines(cases: pd.DataFrame) -> str:
    known = cases["process"].dropna() if "process" in cases else ()
    processes = [f"{count} process{'es' if count > 1 else ''}"] if (count := len(set(known))) else []
    return "; ".join(_distinct(_machine(row) for row in _environments(cases)) + processes)


def _environments(cases: pd.DataFrame) -> list[dict]:
    shown = cases[list(SHOWN)].astype(object)
    return shown.where(shown.notna(), None).to_dict("records")


def _machine(row: dict) -> str:
    words = [str(row["host"] or "unknown host"), f"{row['cpu']} ({cores_text(row['cores'])} cores)"]
    if row["gpu"]:
        words.append(f"{row['gpu']}, CUDA {row['cuda']}, driver of CUDA {row['driver']}")
    return ", ".join(words)


def _distinct(texts) -> list[str]:
    return list(dict.fromkeys(texts))
