"""What is made of results: figures, the report, tables for other programs."""

import os
import pathlib
import subprocess
import tempfile

from mfdev.build import build, default_preset, mfbench_at_hand
from mfdev.deps import python_with, run_plots
from mfdev.shell import ROOT, Ended, Failure, run


def plot(words):
    run_plots("mfplots", *words)


def report(words):
    """Its page for two runs asks an mfbench."""
    program = mfbench_at_hand()
    run_plots("mfplots.site", *(["--mfbench", program] if program else []), *words)


def export(words):
    """DIR... --out CASES TRACE [--unlisted]: mfbench writes CSV, beside the place where it becomes parquet."""
    asked, tables = list(words), []
    if "--out" in asked:
        cut = asked.index("--out")
        tables, asked = asked[cut + 1:cut + 3], asked[:cut] + asked[cut + 3:]
        if len(tables) < 2:
            raise Failure("export: --out needs two files: one row a case, one row a trace point")
    if len(tables) < 2 or not asked:
        raise Failure("export: expected DIR... --out CASES TRACE, each .csv or .parquet")
    parquet = [table for table in tables if table.endswith(".parquet")]
    python = python_with("pandas", "pyarrow")
    if parquet and not python:
        raise Failure("export: parquet needs pandas and pyarrow, and no Python here has both: pip install pyarrow, "
                      "or choose .csv")
    if "MFBENCH" not in os.environ:
        build([])
    program = os.environ.get("MFBENCH") or f"build/{default_preset()}/mfbench"
    with tempfile.TemporaryDirectory() as folder:
        written = {table: str(pathlib.Path(folder) / f"{i}.csv") if table in parquet else table
                   for i, table in enumerate(tables)}
        done = subprocess.run([program, "export", *asked, "--out", *written.values()], text=True,
                              stdout=subprocess.PIPE, check=False)
        if done.returncode not in (0, 1):
            raise Ended(done.returncode)
        if parquet:
            pairs = [path for table in parquet for path in (written[table], table)]
            run(python, "-m", "mfplots.tables", *pairs, env={"PYTHONPATH": str(ROOT / "plots")})
        said = done.stdout
    for table, path in written.items():
        said = said.replace(path, table)
    print(said, end="")
    if done.returncode:
        raise Ended(done.returncode)
