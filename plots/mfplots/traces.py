"""The evaluated points of a case, a column an array: a report asks for a million of them, which pandas makes slow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

Numbers = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Trace:
    columns: Mapping[str, Numbers]

    def __len__(self) -> int:
        """Points, as of a frame."""
        return len(next(iter(self.columns.values()), ()))

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __getitem__(self, name: str) -> Numbers:
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def knows(self, name: str) -> bool:
        """Whether any point has a value of it."""
        if name not in self:
            return False
        values = self[name]
        return bool((values == values if values.dtype.kind == "f" else pd.notna(values)).any())

    def frame(self) -> pd.DataFrame:
        return pd.DataFrame(dict(self.columns))


def split(frame: pd.DataFrame) -> dict[int, Trace]:
    """By case, from the frame of `mfplots.load`."""
    ordered = frame if frame["case"].is_monotonic_increasing else frame.sort_values("case", kind="stable")
    columns = {name: ordered[name].to_numpy() for name in ordered}
    cases, starts = np.unique(columns["case"], return_index=True)
    ends = [*starts[1:], len(ordered)]
    return {int(case): Trace({name: values[start:end] for name, values in columns.items()})
            for case, start, end in zip(cases, starts, ends)}


def empty(frame: pd.DataFrame) -> Trace:
    return Trace({name: frame[name].to_numpy()[:0] for name in frame})
