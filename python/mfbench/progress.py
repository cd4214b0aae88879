"""The progress that run() shows: a line for each case, and one for the case that runs."""

import sys
import time

EVERY_S = 0.2


class Progress:
    """Hears the lines of `mfbench run --json`."""

    def __init__(self, show):
        self.show = show
        self.done = []
        self.index, self.count, self.case = 0, 0, ""
        self.shown_at = 0.0

    def hear(self, line):
        kind = line["type"]
        if kind == "case_begins":
            self.index, self.count, self.case = line["index"], line["count"], line["case_id"]
        elif kind == "case_ends":
            self.done.append(f"{self.where()}  {line['status']}{why(line)}")
            self.show(self.done, "")
        elif kind == "trace" and time.monotonic() > self.shown_at + EVERY_S:
            self.shown_at = time.monotonic()
            self.show(self.done, f"{self.where()}  epoch {line['epoch']}, {line['train_s']:.3g} s")

    def where(self):
        return f"[{self.index}/{self.count}] {self.case}"


def why(line):
    return f", training {line['train_s']:.3g} s" if line["status"] == "completed" else f": {line['reason']}"


def silent(done, now):
    """Shows nothing."""


class OnTerminal:
    """Lines of text; a terminal overwrites the last one."""

    def __init__(self, out):
        self.out, self.told = out, 0

    def __call__(self, done, now):
        clear = "\r\x1b[K" if self.out.isatty() else ""
        for line in done[self.told:]:
            print(f"{clear}{line}", file=self.out)
        self.told = len(done)
        if clear:
            print(f"{clear}{now}", end="", file=self.out, flush=True)


class InNotebook:
    """The last cases, in one output of the cell."""

    LAST = 12

    def __init__(self, display):
        self.display, self.handle = display, None

    def __call__(self, done, now):
        earlier = [f"({len(done) - self.LAST} cases before)"] if len(done) > self.LAST else []
        shown = {"text/plain": "\n".join([*earlier, *done[-self.LAST:], now]).rstrip()}
        if self.handle is None:
            self.handle = self.display(shown, raw=True, display_id=True)
        else:
            self.handle.update(shown, raw=True)


def in_a_notebook():
    """A kernel shows rich output; IPython in a terminal has none."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and hasattr(shell, "kernel")


def make(shown):
    if not shown:
        return Progress(silent)
    if in_a_notebook():
        from IPython.display import display
        return Progress(InNotebook(display))
    return Progress(OnTerminal(sys.stderr))
