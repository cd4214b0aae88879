"""What is made of results: figures and the report."""

from mfdev.deps import run_plots


def plot(words):
    run_plots("mfplots", *words)


def report(words):
    run_plots("mfplots.site", *words)
