"""The tables of `mfbench export` with the types of their columns, and as parquet.

    python3 -m mfplots.tables CASES.csv CASES.parquet [TRACE.csv TRACE.parquet]

Any reader of CSV takes these tables; what a reader has to guess is the types. Here a column of whole
numbers stays one where values are missing, numbers are those of the result files to the last bit, and
what looks like a number but is none (hashes, versions) is text.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from mfplots.errors import PlotError
from mfplots.printable import say

# Always text, also where every value happens to have digits alone.
TEXT = ("case_id", "case_hash", "spec_name", "spec_hash", "git_sha", "content_hash",
        "source_sha256", "mfbench", "driver", "cuda_driver", "cuda", "dataset", "folder", "file")
_INTEGER = r"-?\d+"
_NUMBER = r"-?\d+(\.\d+)?([eE][-+]?\d+)?"


def read(path: str | Path) -> pd.DataFrame:
    """One table, .csv or .parquet. Columns are Int64, float64, boolean or string; a value that is
    missing is NA (NaN in float64). Raises PlotError where the file is neither or is not there."""
    path = Path(path)
    if not path.is_file():
        raise PlotError(f"{path}: no such file")
    if path.suffix == ".parquet":
        _need_pyarrow(path)
        return pd.read_parquet(path)
    if path.suffix != ".csv":
        raise PlotError(f"{path}: expected a .csv or .parquet file of `mfbench export`")
    # The empty text counts as missing here: pandas does not tell the two apart.
    raw = pd.read_csv(path, dtype=str, keep_default_na=False, na_values=[""])
    return pd.DataFrame({name: _typed(raw[name]) for name in raw.columns})


def write_parquet(table: pd.DataFrame, path: str | Path) -> None:
    """Raises PlotError where pyarrow is not installed."""
    _need_pyarrow(path)
    table.to_parquet(path, engine="pyarrow", index=False)


def _typed(column: pd.Series) -> pd.Series:
    known = column.dropna()
    if column.name in TEXT:
        return column.astype("string")
    if known.isin(["true", "false"]).all() and len(known):
        return column.map({"true": True, "false": False}).astype("boolean")
    if known.str.fullmatch(_INTEGER).all() and len(known):
        # One by one: pandas would go by way of doubles, which do not hold all of them.
        whole = [pd.NA if pd.isna(text) else int(text) for text in column]
        return pd.Series(pd.array(whole, dtype="Int64"), index=column.index, name=column.name)
    if not len(known) or known.str.fullmatch(_NUMBER).all():
        return column.astype(float)
    return column.astype("string")


def _need_pyarrow(path: str | Path) -> None:
    try:
        import pyarrow  # noqa: F401  (pandas says less where it is missing)
    except ImportError as error:
        raise PlotError(f"{path}: parquet needs pyarrow ({error}): pip install pyarrow for "
                        f"{sys.executable}, or choose .csv") from error


def main(arguments: Sequence[str]) -> int:
    if not arguments or len(arguments) % 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        for source, target in zip(arguments[::2], arguments[1::2]):
            write_parquet(read(source), target)
    except PlotError as error:
        say(f"mfplots: {error}", sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
