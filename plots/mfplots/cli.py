"""mfbench plot [table] RESULTS...: figures, or a table, from result files."""

from __future__ import annotations

import argparse
import dataclasses
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from mfplots import figures, metrics, program
from mfplots.benchmarks import Benchmarks, benchmark_files, load_benchmarks
from mfplots.errors import NotDrawable, PlotError, hint
from mfplots.files import folder_in
from mfplots.load import Results, load
from mfplots.metrics import Target
from mfplots.printable import say
from mfplots.recipes import Recipe, read_recipes
from mfplots.series import View, make_view
from mfplots.page import FORMATS
from mfplots.style import WIDTHS
from mfplots.summary import CLOCK_NAMES, Question, metrics_of, winner_text
from mfplots.table import table_text

SHOWN = 3  # winners of data sets
PACKED = ".jsonl.xz"  # results/ml-1m.jsonl.xz replaces the folder results/ml-1m


def main(arguments: Sequence[str]) -> int:
    table = list(arguments[:1]) == ["table"]
    options = _parser(table).parse_args(arguments[table:])
    try:
        code = (_table if table else _figures)(options)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader is gone, as after `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (PlotError, OSError) as error:  # the second names its file, too
        say(f"error: {error}", sys.stderr)
        return 1


def _parser(table: bool) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mfbench plot table" if table else "mfbench plot", description=__doc__)
    parser.add_argument("results", nargs="+", metavar="RESULTS",
                        help="result folder (also packed), .jsonl file, or .json file of a benchmark")
    parser.add_argument("--target", type=float, metavar="VALUE", help="target value of the metric (default: the spec's)")
    parser.add_argument("--metric", metavar="NAME",
                        help="the metric of --target, curves and tables (default: the cases' main metric)")
    parser.add_argument("--baseline", metavar="NAME",
                        help="algorithm or label that is the baseline of speed-ups (default: the spec's)")
    parser.add_argument("--clock", choices=tuple(CLOCK_NAMES), help="clock of times and speed-ups (default: train_s)")
    if not table:
        parser.add_argument("--out", type=Path, metavar="DIR",
                            help="folder of the figures (default: figures/ in the first RESULTS)")
        _add_figure_options(parser)
    return parser


def _add_figure_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--figure", action="append", default=[], metavar="NAME",
                        help=f"draw this figure, any of {', '.join(figures.names())}; may be repeated")
    parser.add_argument("--recipe", type=Path, metavar="FILE", help="draw the figures that this file lists")
    parser.add_argument("--format", default=",".join(FORMATS), metavar="LIST",
                        help="file formats, with commas between (default: %(default)s)")
    parser.add_argument("--width", choices=tuple(WIDTHS), default="page",
                        help="a column's 3.3 in, a page's 7 in, a slide's 10 in (default: %(default)s)")
    parser.add_argument("--versus", action="append", default=[], metavar="DIR",
                        help="the same spec run elsewhere, for speedup-trace; may be repeated")


def _figures(options: argparse.Namespace) -> int:
    sources = _sources(options.results)
    written = _draw_all(options, sources, _formats(options.format))
    if not written:
        raise PlotError("no figure could be drawn")
    for path in written:
        say(path)
    if sources[False] is not None:
        _ending(options, make_view(sources[False]), written)
    return 0


def _ending(options: argparse.Namespace, view: View, written: Sequence[Path]) -> None:
    """The winner, the figure to open first, the next command."""
    best = next(path for part in ("answer", "time", "") for kind in (".png", "") for path in written
                if part in path.stem and path.name.endswith(kind))
    say("")
    winners = [winner_text(panel, _question(options, view)) for panel in view.panels[:SHOWN]]
    say(f"fastest  {'; '.join(winners)}" + f"; and {len(view.panels) - SHOWN} more" * (len(view.panels) > SHOWN))
    say(f"open     {best}")
    say(f"next     mfbench report {shlex.join(options.results)}")


def _table(options: argparse.Namespace) -> int:
    view = make_view(load(options.results))
    say(table_text(view, _question(options, view)))
    return 0


# The data of figures, by whether they are benchmarks; None if there are none of the kind.
Sources = dict[bool, Results | Benchmarks | None]


def _of_benchmarks(recipe: Recipe) -> bool:
    return recipe.figure in figures.OF_BENCHMARKS


def _sources(paths: Sequence[str]) -> Sources:
    files = benchmark_files(paths)
    of_cases = [path for path in map(Path, paths)
                if path not in files and (not benchmark_files([path]) or _has_cases(path))]
    return {False: load(of_cases) if of_cases else None, True: load_benchmarks(files) if files else None}


def source_of(paths: Sequence[str], recipe: Recipe) -> figures.Source:
    """The figures that one recipe draws of these results."""
    return _source(_sources(paths), recipe, None)


def _has_cases(path: Path) -> bool:
    return any(line["type"] == "left_out" or line["algorithm"] for line in program.lines("summarize", "--json", path))


def _draw_all(options: argparse.Namespace, sources: Sources, formats: Sequence[str]) -> list[Path]:
    written: list[Path] = []
    versus = load(options.versus) if options.versus else None
    for recipe, asked_for in _recipes(options, sources):
        try:
            source = _source(sources, recipe, versus)
            written += figures.write(source, recipe, _out(options), formats, options.width)
        except NotDrawable as reason:
            if asked_for:
                raise PlotError(f"{recipe.file_name}: {reason}") from reason
            say(f"left out {recipe.file_name}: {reason}", sys.stderr)
    return written


def _source(sources: Sources, recipe: Recipe, versus: Results | None) -> figures.Source:
    found = sources[_of_benchmarks(recipe)]
    if found is None:
        raise NotDrawable(f"the results hold no {'benchmark' if _of_benchmarks(recipe) else 'case'}")
    if _of_benchmarks(recipe):
        return found
    view = make_view(found, recipe.filter)
    if versus is not None:
        view.versus = make_view(versus, recipe.filter)
    return view


def _recipes(options: argparse.Namespace, sources: Sources) -> list[tuple[Recipe, bool]]:
    """Recipes with whether each was asked for by name; options override what recipes say."""
    view = make_view(sources[False]) if sources[False] is not None else None
    found = [(Recipe(name), True) for name in options.figure]
    if options.recipe:
        # A recipe file serves machines with and without a second one to compare with, and
        # exhibits of which the cases, or the benchmarks, have not run.
        found += [(recipe, not recipe.optional and sources[_of_benchmarks(recipe)] is not None and
                   (recipe.figure not in figures.NEED_VERSUS or bool(options.versus)))
                  for recipe in read_recipes(options.recipe)]
    if not found:
        found = [(recipe, False) for recipe in _defaults(options, view)]
    asked = _question(options, view)
    changes = {"target": asked.target, "baseline": options.baseline, "clock": options.clock}
    changes = {key: value for key, value in changes.items() if value is not None}
    if asked.metric:
        found = [(_shown_by(recipe, asked.metric), named) for recipe, named in found]
    return [(dataclasses.replace(recipe, **changes), named) for recipe, named in found]


def _defaults(options: argparse.Namespace, view: View | None) -> list[Recipe]:
    """The curves once for each metric that cases are judged by: rmse-answer, ndcg_100-answer."""
    if view is None:
        return [Recipe(name) for name in figures.OF_BENCHMARKS]
    curves = [Recipe(name, name=f"{metric.removeprefix('test_')}{name.removeprefix('quality')}", y=metric)
              for metric in _metrics(options, view) for name in figures.CURVES]
    return [*curves, *(Recipe(name) for name in figures.DEFAULTS if name not in figures.CURVES)]


def _shown_by(recipe: Recipe, metric: str) -> Recipe:
    curve = recipe.figure == "trace" or recipe.figure.startswith("quality-")
    return dataclasses.replace(recipe, y=metric) if curve and not recipe.y else recipe


def _metrics(options: argparse.Namespace, view: View | None) -> list[str]:
    """The requested one, or the main metric of the cases."""
    if options.metric:
        return [metrics.known(options.metric, "--metric").key]
    return metrics_of(view) if view else []


def _question(options: argparse.Namespace, view: View | None) -> Question:
    """A target without a metric is of the main metric of all cases, or else of the test RMSE."""
    found = _metrics(options, view)
    target = None if options.target is None else Target(options.target, *(found if len(found) == 1 else []))
    return Question(target=target, baseline=options.baseline, clock=options.clock or "train_s",
                    metric=found[0] if options.metric else None)


def _formats(text: str) -> list[str]:
    formats = list(dict.fromkeys(text.split(",")))
    for kind in formats:
        if kind not in FORMATS:
            raise PlotError(f'--format: unknown "{kind}"{hint(kind, FORMATS)}')
    return formats


def _out(options: argparse.Namespace) -> Path:
    if options.out:
        return options.out
    first = Path(options.results[0])
    if first.is_file() and not first.name.endswith(PACKED):
        return folder_in(first.parent, "figures")
    return folder_in(Path(str(first).removesuffix(PACKED)), "figures")
