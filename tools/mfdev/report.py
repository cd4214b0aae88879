"""What is made of results: figures and the report."""

from mfdev.build import run_mfbench


def plot(words):
    run_mfbench(["plot", *words])


def report(words):
    run_mfbench(["report", *words])
