"""From a data frame, table or matrix to the program's input: a folder of NumPy arrays.

Ids from 0 to 2^31 - 1 stay unchanged. Others are numbered, and their names stand beside the numbers, so that the
program knows them by name and gives them back.
"""

import contextlib
import hashlib
import os
import shutil
import threading
from pathlib import Path

import numpy as np
import pandas as pd

from mfplots import program
from mfplots.errors import PlotError

PLACE = Path("results", "data")
READ_HERE = (".parquet", ".feather", ".arrow", ".ipc")  # by pyarrow; the program reads all other files
MOST = 2**31 - 1
MILLION = 10**6
KNOWN = ("a data frame of pandas, PySpark or Modin, a table with the Arrow interface (polars, pyarrow, DuckDB), a matrix "
         "of scipy.sparse, or the path of a file")


def is_path(data):
    return isinstance(data, (str, os.PathLike))


def to_be_handed_over(data):
    """Whether the program cannot read it by its path."""
    return not is_path(data) or Path(data).suffix in READ_HERE


def hand_over(data, columns=None, pairs=False, timed=False, place=PLACE):
    """Writes the table below `place`, unless its folder is there already; returns the folder, and the original ids of each
    side. `timed`: with the times of the ratings, if the table has any."""
    users, items, ratings, times = read(data, columns or {}, pairs)
    sides = {"user": ids_of(users, "user"), "item": ids_of(items, "item")}
    arrays = {"users": sides["user"].numbers, "items": sides["item"].numbers, "ratings": ratings_of(ratings, len(users))}
    if timed and times is not None:
        arrays["times"] = times_of(times)
    texts = {f"{side}_names": "".join(f"{name}\n" for name in ids.names).encode()
             for side, ids in sides.items() if ids.names is not None}
    folder = Path(place) / digest(arrays, texts)
    write(folder, arrays, texts)
    return folder, {side: ids.kind for side, ids in sides.items()}


# ---- columns ---------------------------------------------------------------------------------------

def read(data, columns, pairs):
    """Columns of users, items, ratings, None if each row is an observed pair, and times or None."""
    if hasattr(data, "tocoo"):
        return of_matrix(data)
    if is_path(data):
        data = arrow_file(Path(data))
    if hasattr(data, "toPandas"):  # PySpark
        data = data.toPandas()
    elif not hasattr(data, "__arrow_c_stream__") and hasattr(data, "__dataframe__"):  # Modin, cuDF
        data = pd.api.interchange.from_dataframe(data)
    if isinstance(data, pd.DataFrame):
        names, column = list(data.columns), lambda at: data.iloc[:, at]
    elif hasattr(data, "__arrow_c_stream__"):
        table = arrow().table(data)
        names, column = table.column_names, table.column
    else:
        advice = "; collect() makes one of it" if hasattr(data, "collect") else ""
        raise PlotError(f"data: found {type(data).__name__}, expected {KNOWN}{advice}")
    return chosen([str(name) for name in names], column, columns, pairs)


def chosen(names, column, columns, pairs):
    """Columns are found by the names that mfbench knows in headers of files."""
    try:
        found = program.ask("columns", names=names, columns=columns, pairs=pairs)
    except PlotError as error:
        raise PlotError(str(error).replace("mfbench ask", "data")) from None
    return [None if found[role] is None else column(found[role]) for role in ("user", "item", "rating", "time")]


def of_matrix(matrix):
    """Rows are users. Stored entries count, zeros too; the program counts pairs that occur twice, which SciPy would sum."""
    triples = matrix.tocoo()
    return pd.Series(triples.row), pd.Series(triples.col), pd.Series(triples.data), None


def arrow():
    try:
        import pyarrow
    except ImportError as error:
        raise PlotError("data: Parquet, Feather and tables with the Arrow interface need pyarrow: pip install pyarrow") from error
    return pyarrow


def arrow_file(path):
    arrow()
    if not path.is_file():
        raise PlotError(f"{path}: no such file")
    import pyarrow.feather
    import pyarrow.parquet
    try:
        return (pyarrow.parquet if path.suffix == ".parquet" else pyarrow.feather).read_table(path)
    except (OSError, ValueError) as error:
        raise PlotError(f"{path}: {error}") from error


# ---- ids -------------------------------------------------------------------------------------------

class Ids:
    """The number of each row's id, and the name of each number: None if the numbers are the ids themselves."""

    def __init__(self, numbers, names, kind):
        self.numbers, self.names, self.kind = numbers, names, kind


def ids_of(column, side):
    if not isinstance(column, pd.Series):
        column = of_arrow(column)
    refuse_missing(column, side)
    if isinstance(column.dtype, pd.CategoricalDtype):
        return of_categories(column, side)
    if pd.api.types.is_bool_dtype(column.dtype) or column.dtype.kind in "mM":
        raise wrong(column, side)
    if pd.api.types.is_float_dtype(column.dtype):
        column = whole(column, side)
    if pd.api.types.is_integer_dtype(column.dtype):
        return of_integers(column.to_numpy())
    numbers, names = pd.factorize(column.to_numpy())
    return of_names(numbers, list(names), column, side)


def of_arrow(column):
    """Text as categories, which are numbered without an object a row."""
    import pyarrow
    if pyarrow.types.is_string(column.type) or pyarrow.types.is_large_string(column.type):
        column = column.dictionary_encode()
    return column.to_pandas()


def of_categories(column, side):
    used = column.cat.remove_unused_categories().cat
    return of_names(used.codes.to_numpy(), list(used.categories), column, side)


def of_integers(values):
    if not len(values) or (values.min() >= 0 and values.max() <= MOST):
        return Ids(values.astype(np.int32), None, "integers")
    numbers, names = pd.factorize(values)
    return Ids(numbers.astype(np.int32), [str(name) for name in names], "integers")


def of_names(numbers, names, column, side):
    if names and all(isinstance(name, (int, np.integer)) and not isinstance(name, bool) for name in names):
        return of_integers(np.asarray(names)[numbers])
    for number, name in enumerate(names):
        if not isinstance(name, str) or "\n" in name:
            row = int(np.flatnonzero(numbers == number)[0])
            raise PlotError(f"data: row {row}: found the {side} {name!r}, expected text in one line, as in the other rows, "
                            "or integers in all of them")
    return Ids(numbers.astype(np.int32), names, "text")


def whole(column, side):
    """Integers that passed through a column with missing values are floats."""
    values = column.to_numpy()
    bad = np.flatnonzero((values != np.floor(values)) | (np.abs(values) > 2**53))
    if len(bad):
        raise PlotError(f"data: row {bad[0]}: found the {side} {values[bad[0]]}, expected integers or text")
    return column.astype(np.int64)


def wrong(column, side):
    return PlotError(f"data: found a column of {column.dtype} for the {side}, expected integers or text")


def refuse_missing(column, what):
    missing = column.isna().to_numpy()
    if missing.any():
        raise PlotError(f"data: row {int(missing.argmax())}: the {what} is missing; leave such rows out, as with dropna()")


def ratings_of(column, count):
    if column is None:
        return np.ones(count, np.float32)
    if not isinstance(column, pd.Series):
        column = column.to_pandas()
    refuse_missing(column, "rating")
    try:
        values = column.to_numpy()
        if np.iscomplexobj(values):
            raise TypeError("a rating has no imaginary part")
        if values.dtype.kind not in "iuf" or values.dtype.itemsize == 2:
            values = column.to_numpy(dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise PlotError(f"data: found a column of {column.dtype} for the rating, expected numbers: {error}") from error
    return values


def times_of(column):
    """Numbers, and dates as seconds since 1970; both in millionths if any has a fraction."""
    if not isinstance(column, pd.Series):
        column = column.to_pandas()
    refuse_missing(column, "time")
    if column.dtype.kind in "iuf":
        values = column.to_numpy()
        fractions = column.dtype.kind == "f" and np.isfinite(values).all() and (values != np.floor(values)).any()
        if fractions:
            values = np.rint(values.astype(np.float64) * MILLION)
        if column.dtype.kind == "f" and (np.abs(values) >= 2**63).any():
            raise PlotError("data: found a time that is infinite or beyond 64 bits, expected numbers or dates")
        return values.astype(np.int64)
    try:
        dates = pd.to_datetime(column, utc=True).dt.tz_localize(None)
    except (TypeError, ValueError) as error:
        raise PlotError(f"data: found a column of {column.dtype} for the time, expected numbers or dates: {error}") from error
    millionths = dates.to_numpy().astype("datetime64[us]").astype(np.int64)
    return millionths if (millionths % MILLION).any() else millionths // MILLION


# ---- files -----------------------------------------------------------------------------------------

def digest(arrays, texts):
    found = hashlib.blake2b(digest_size=10)
    for name, content in {**arrays, **texts}.items():
        found.update(f"{name} {getattr(content, 'dtype', '')} {len(content)}\n".encode())
        found.update(np.ascontiguousarray(content) if isinstance(content, np.ndarray) else content)
    return found.hexdigest()


def write(folder, arrays, texts):
    """Gets its name when it is whole, even if another process or thread writes the same."""
    if folder.is_dir():
        return
    fresh = folder.with_name(f".{folder.name}.{os.getpid()}.{threading.get_ident()}")
    fresh.mkdir(parents=True, exist_ok=True)
    try:
        for name, array in arrays.items():
            np.save(fresh / f"{name}.npy", np.ascontiguousarray(array))
        for name, text in texts.items():
            (fresh / f"{name}.txt").write_bytes(text)
        with contextlib.suppress(OSError):  # another has written it meanwhile
            fresh.rename(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
