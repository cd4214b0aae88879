"""One HTML page that needs no other file: summary, figures, every case, provenance."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from mfplots.series import View
from mfplots.smallprint import machines, revisions
from mfplots.style import significant
from mfplots.summary import Question, summarise
from mfplots.table import explanations, tables

STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#222}
table{border-collapse:collapse;font-size:13px;margin:1rem 0;display:block;overflow-x:auto}
th,td{border-bottom:1px solid #ddd;padding:.25rem .6rem;text-align:left;white-space:nowrap}
td.long{white-space:normal;min-width:16rem}
tr.failed td{background:#fdf0e6}
svg{max-width:100%;height:auto}
figure{margin:2rem 0}
code{font-size:12px}
"""
_SVG_ID = re.compile(r'(\bid="|url\(#|href="#)')


def report_html(title: str, view: View, question: Question, figures: Sequence[Path]) -> str:
    """`figures`: SVG files, put into the page."""
    rows = summarise(view, question)
    return "\n".join([
        "<!doctype html>", '<html lang="en">', '<meta charset="utf-8">',
        f"<title>{html.escape(title)}</title>", f"<style>{STYLE}</style>",
        f"<h1>{html.escape(title)}</h1>",
        "<h2>Summary</h2>", *(_table(lines[0], lines[1:]) for lines in tables(rows)),
        _list(explanations(rows, question)),
        "<h2>Figures</h2>", *map(_figure, figures),
        "<h2>Cases</h2>", _cases(view),
        "<h2>Provenance</h2>", _list([revisions(view.cases), machines(view.cases),
                                      *_builds(view), *_data_sets(view)]),
        "</html>", ""])


def _figure(path: Path) -> str:
    svg = path.read_text(encoding="utf-8")
    svg = svg[svg.index("<svg"):]
    # The ids of several figures meet in one page: each gets its file's name in front.
    return f"<figure>{_SVG_ID.sub(lambda m: f'{m[1]}{path.stem}-', svg)}</figure>"


def _table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = "".join(f"<th>{html.escape(text)}</th>" for text in headings)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in row) + "</tr>\n"
                   for row in rows)
    return f"<table><tr>{head}</tr>\n{body}</table>"


def _cases(view: View) -> str:
    head = "".join(f"<th>{text}</th>" for text in
                   ("case", "hash", "status", "epochs", "best RMSE", "train (s)", "why it ended"))
    body = []
    for _, row in view.cases.iterrows():
        mark = "" if row["status"] == "completed" else ' class="failed"'
        numbers = [row["epochs"], row["best_test_rmse"], row["clock_train_s"]]
        middle = "".join(f"<td>{_number(value)}</td>" for value in numbers)
        body.append(f"<tr{mark}><td>{html.escape(row['case_id'])}</td>"
                    f"<td><code>{html.escape(str(row['case_hash'])[:10])}</code></td>"
                    f"<td>{html.escape(row['status'])}</td>{middle}"
                    f'<td class="long">{html.escape(str(row["stop_reason"] or ""))}</td></tr>')
    body += [f'<tr class="failed"><td>{html.escape(case)}</td><td></td><td>not begun</td></tr>'
             for case in view.not_begun]
    return f"<table><tr>{head}</tr>\n" + "\n".join(body) + "</table>"


def _number(value: object) -> str:
    if value is None or value != value:
        return "–"
    number = float(value)
    return f"{number:.0f}" if number.is_integer() else significant(number, 4)


def _list(items: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{html.escape(item)}</li>" for item in items) + "</ul>"


def _builds(view: View) -> list[str]:
    keys = ("compiler", "flags", "build_type", "simd", "os", "command_line")
    seen = view.cases[list(keys)].astype(str).drop_duplicates()
    return [", ".join(f"{key}: {row[key]}" for key in keys) for _, row in seen.iterrows()]


def _data_sets(view: View) -> list[str]:
    keys = ("dataset", "source", "content_hash", "n_users", "n_items", "nnz_train", "nnz_test",
            "cold_users", "cold_items", "cold_ratings")
    loaded = view.cases[view.cases["content_hash"].notna()]
    seen = loaded.drop_duplicates(["dataset", "content_hash"])
    return [", ".join(f"{key}: {_plain(row[key])}" for key in keys) for _, row in seen.iterrows()]


def _plain(value: object) -> str:
    return value if isinstance(value, str) else _number(value)
