"""Results: returned by load() and run(), as frames, tables and figures. mfplots computes and draws all of it."""

import html
import tempfile
import warnings
import webbrowser
from functools import cached_property
from pathlib import Path

import pandas as pd

from mfbench.model import Model
from mfbench.progress import in_a_notebook
from mfplots import metrics, table
from mfplots.errors import PlotError, hint
from mfplots.files import folder_in, plain_name
from mfplots.load import load
from mfplots.metrics import Target
from mfplots.printable import one_line
from mfplots.series import make_view, panel_title
from mfplots.style import styled
from mfplots.summary import ANSWER, Question, metric_of, summarise, times_to_target

CASES = ("case_id", "algorithm", "label", "dataset", "seed", "status", "stop_reason", "epochs", "headline",
         "headline_metric", "headline_epoch", "best_seen", "train_to_target_s", "answer_to_target_s", "clock_load_s",
         "clock_prepare_s", "clock_transfer_s", "clock_train_s", "clock_wall_s", "steady_epoch_s", "contended", "n_users",
         "n_items", "nnz_train")
TRACE = ("epoch", "updates", "passes", "train_s", "answer_s", "wall_s", "epoch_s", "updates_per_s", "learning_rate")


class Results:
    """Results of one or several folders. They are read when they are first asked for; refresh() reads them anew."""

    def __init__(self, paths):
        self.paths = [Path(path) for path in paths]

    @cached_property
    def all(self):
        """`all.cases` and `all.trace` with every column (docs/reference/results.md), as mfplots.load gives them."""
        return load(self.paths)

    @cached_property
    def view(self):
        """Grouped for mfplots: panels of data sets, series of configurations with their seeds."""
        return make_view(self.all)

    def refresh(self):
        return Results(self.paths)

    # ---- frames --------------------------------------------------------------------------------------

    @cached_property
    def labels(self):
        """The name of each case's configuration in tables and figures."""
        return pd.Series({case: series.label for panel in self.view.panels for series in panel.series
                          for case in series.cases.index}, dtype=object, name="label")

    @property
    def cases(self):
        """A row a case: its result and times. Parameters and the rest are in all.cases."""
        cases = self.all.cases.assign(label=self.labels)
        return cases[[name for name in CASES if name in cases]]

    @property
    def trace(self):
        """A row an evaluated epoch of a case, with the metrics that were measured."""
        trace, cases = self.all.trace, self.all.cases
        measured = [name for name in trace if metrics.row(name) is not None and trace[name].notna().any()]
        of_case = pd.DataFrame({"case_id": cases["case_id"], "label": self.labels, "dataset": cases["dataset"],
                                "seed": cases["seed"]})
        return trace[["case"]].join(of_case, on="case").join(trace[[*(n for n in TRACE if n in trace), *measured]])

    def curves(self, x="train_s", y=None):
        """The data of a figure of `y` over `x`: medians over the seeds with the least and the greatest, by epoch."""
        from mfplots.curves import panel_curves
        from mfplots.recipes import Recipe
        if x not in self.all.trace:
            raise PlotError(f"curves: no clock or count {x!r}{hint(x, self.all.trace)}")
        found = [curve.points.assign(**{x: curve.points["x"]}, dataset=panel.dataset, label=curve.series.label, metric=metric)
                 for panel in self.view.panels for metric in ([self._metric(y)] if y else self._metrics(panel))
                 for curve in panel_curves(panel, Recipe("trace"), x, metric)]
        columns = list(dict.fromkeys(["dataset", "label", "metric", "epoch", x, "y", "low", "high", "seeds"]))
        return pd.concat(found, ignore_index=True)[columns] if found else pd.DataFrame(columns=columns)

    @staticmethod
    def _metric(name):
        return metrics.known(name, "y").key

    @staticmethod
    def _metrics(panel):
        return list(dict.fromkeys(metric_of(series) for series in panel.series))

    # ---- tables --------------------------------------------------------------------------------------

    def question(self, target=None, metric=None, baseline=None, clock="train_s"):
        """The question that tables compare by; omitted parts are the results' own."""
        key = metrics.known(metric, "metric").key if metric else None
        goal = None if target is None else Target(target, *([key] if key else []))
        return Question(target=goal, baseline=baseline, clock=clock, metric=key)

    def table(self, **question):
        """The numbers of `mfbench plot table`: a row a configuration. Keywords: target, metric, baseline, clock."""
        return pd.DataFrame(map(table_row, summarise(self.view, self.question(**question))))

    def winners(self, **question):
        """For each data set, the best and the first at the target, in the median over the seeds."""
        rows = summarise(self.view, self.question(**question))
        return pd.DataFrame([winner_row(panel, [row for row in rows if row.panel is panel]) for panel in self.view.panels])

    def __len__(self):
        return len(self.all.cases)

    def __str__(self):
        return table.table_text(self.view, self.question())

    def __repr__(self):
        count = self.all.cases["status"].value_counts()
        return f"<mfbench results of {', '.join(map(str, self.paths))}: " \
               f"{', '.join(f'{number} {status}' for status, number in count.items())}>"

    def _repr_html_(self):
        notes = table.failures(self.view)
        said = "".join(f"<p>{html.escape(one_line(note))}</p>" for note in notes[:5])
        more = f"<p>and {len(notes) - 5} more</p>" if len(notes) > 5 else ""
        return f"<p>{html.escape(repr(self)[1:-1])}</p>{self.winners().to_html(index=False)}{said}{more}"

    # ---- figures -------------------------------------------------------------------------------------

    def figure(self, name="quality-time", **recipe):
        """One of plots/README.md; keywords are keys of its recipe: y="ndcg_10", x_scale="log"."""
        return Figure(self.view, name, recipe)

    # ---- models --------------------------------------------------------------------------------------

    def model(self, case):
        """The saved model of a case: `case` is its id, the beginning of it, or its number in `cases`."""
        row = self._case(case)
        file = Path(row["file"])
        folder = folder_in(folder_in(file.parent, "models"), plain_name(row["case_id"].rpartition("/")[2], file))
        if not folder.is_dir():
            raise PlotError(f"{row['case_id']}: no model was saved; run it with save_model=True, and with rerun=True where "
                            "it has a result already")
        if row["headline_epoch"] < row["epochs"]:
            warnings.warn(f"{row['case_id']}: the model is of epoch {row['epochs']:.0f}, the last; the printed quality is of "
                          f"epoch {row['headline_epoch']:.0f}, which the validation part chose", stacklevel=2)
        return Model(folder)

    def _case(self, case):
        cases = self.all.cases
        if isinstance(case, str):
            exact = cases[cases["case_id"] == case]
            found = exact if len(exact) else cases[cases["case_id"].str.startswith(case)]
        else:
            found = cases[cases.index == case]
        if len(found) == 1:
            return found.iloc[0]
        ids = list(found["case_id"]) if len(found) else list(cases["case_id"])
        if len(found):
            raise PlotError(f"{case!r} begins the ids of {len(found)} cases: {', '.join(ids[:8])}")
        raise PlotError(f"no case {case!r}{hint(str(case), ids)}")


def table_row(row):
    """NaN where there is no number; a time to the target is infinite for a median that missed it."""
    return {"dataset": panel_title(row.panel), "algorithm": row.series.marked, "seeds": len(row.series.cases),
            "status": row.statuses, "metric": row.metric, "value": row.quality.median, "low": row.quality.low,
            "high": row.quality.high, "last_epoch": row.final.median, "best_on_test": row.best.median,
            "train_s": row.end_time.median, "answer_s": row.end_answer, "train_to_target_s": row.median_time,
            "answer_to_target_s": row.median_answer, "speed_up": row.equal_quality.value,
            "speed_up_of_answer": row.answer_quality.value}


def winner_row(panel, rows):
    """The value of the best, and the seconds of the first at the target."""
    named = {"dataset": panel_title(panel)}
    judged = [row for row in rows if row.quality.n]
    if judged:
        metric = metrics.row(judged[0].metric)
        same = [row for row in judged if row.metric == metric.key]
        best = min(same, key=lambda row: row.quality.median if metric.less else -row.quality.median)
        named |= {"best": best.series.marked, "metric": metric.key, "value": best.quality.median}
    there = metrics.finish_order(times_to_target(row.series, row.target, ANSWER) for row in rows)
    if there:
        first = rows[there[0]]
        named |= {"target": float(first.target), "first": first.series.marked, "answer_s": first.median_answer}
    return named


class Figure:
    """Drawn when it is shown. `numbers` has its data; save(path) writes png, svg or pdf."""

    SHOWN_DPI = 110  # in a notebook

    def __init__(self, view, name, recipe):
        self.view, self.name, self.recipe = view, name, recipe

    @cached_property
    def drawing(self):
        from mfplots import figures
        from mfplots.recipes import Recipe
        unknown = sorted(set(self.recipe) - set(Recipe.__dataclass_fields__))
        if unknown:
            raise PlotError(f"figure: no key {unknown[0]!r}{hint(unknown[0], Recipe.__dataclass_fields__)}")
        with styled():
            return figures.draw(self.view, Recipe(self.name, **self.recipe))

    @property
    def numbers(self):
        return self.drawing.numbers

    def save(self, path):
        path = Path(path)
        with styled():
            return self.drawing.save(path.with_suffix(""), [path.suffix[1:] or "png"])[0]

    def show(self):
        """Below the cell of a notebook; else by the program that shows pictures here. Returns the path."""
        if in_a_notebook():
            from IPython.display import display
            return display(self)
        path = self.save(Path(tempfile.mkdtemp(prefix="mfbench-")) / f"{self.name}.png")
        webbrowser.open(path.as_uri())
        return path

    def _repr_png_(self):
        from mfplots.page import DPI
        with tempfile.TemporaryDirectory() as folder:
            drawn = self.save(Path(folder) / "figure.png").read_bytes()
        width = int.from_bytes(drawn[16:20], "big")  # of a PNG's header
        return drawn, {"width": width * self.SHOWN_DPI // DPI}
