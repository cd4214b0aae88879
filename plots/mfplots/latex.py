"""The summary as a LaTeX tabular: for a paper that says \\usepackage{booktabs}."""

from __future__ import annotations

from collections.abc import Sequence

from mfplots.printable import one_line
from mfplots.series import View
from mfplots.smallprint import machines, revisions
from mfplots.summary import Question, summarise
from mfplots.table import explanations, quality_table

_ESCAPED = {"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
            "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
            "×": r"$\times$", "–": "--", "µ": r"$\mu$",
            "<": r"\textless{}", ">": r"\textgreater{}"}


def latex_text(view: View, question: Question) -> str:
    """The rows of `table`, and as comments their baselines, data and metrics."""
    rows = summarise(view, question)
    headings, *lines = quality_table(rows)
    notes = [*explanations(rows, question), revisions(view.cases), machines(view.cases)]
    return "\n".join([*(f"% {one_line(note)}" for note in notes), *tabular(headings, lines)])


def tabular(headings: Sequence[str], rows) -> list[str]:
    return [rf"\begin{{tabular}}{{{'l' * len(headings)}}}", r"\toprule", _line(headings),
            r"\midrule", *map(_line, rows), r"\bottomrule", r"\end{tabular}"]


def _line(cells_of: Sequence[str]) -> str:
    return " & ".join("".join(_ESCAPED.get(letter, letter) for letter in one_line(cell))
                      for cell in cells_of) + r" \\"
