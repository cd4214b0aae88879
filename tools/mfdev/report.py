"""What is made of results: figures and the report."""

from mfdev.build import mfbench


def plot(words):
    mfbench(["plot", *words])


def report(words):
    mfbench(["report", *words])
