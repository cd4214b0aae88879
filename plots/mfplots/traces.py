"""The evaluated points of a case, a column an array: a report asks for a million of them, which pandas makes slow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

Numbers = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Trace:
    """The points from `start` to `end` of the columns, which many traces share."""

    columns: Mapping[str, Numbers]
    start: int
    end: int

    def __len__(self) -> int:
        """Points, as of a frame."""
        return self.end - self.start

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __getitem__(self, name: str) -> Numbers:
        return self.columns[name][self.start:self.end]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def knows(self, name: str) -> bool:
        """Whether any point has a value of it."""
        if name not in self:
            return False
        values = self[name]
        return bool((values == values if values.dtype.kind == "f" else pd.notna(values)).any())

    def frame(self) -> pd.DataFrame:
        return pd.DataFrame({name: self[name] for name in self})


def split(frame: pd.DataFrame, all_cases: Iterable[int] = ()) -> dict[int, Trace]:
    """By case, from the frame of `mfplots.load`; of `all_cases` also an empty one for a case without points."""
    ordered = frame if frame["case"].is_monotonic_increasing else frame.sort_values("case", kind="stable")
    columns = {name: ordered[name].to_numpy() for name in ordered}
    cases, starts = np.unique(columns["case"], return_index=True)
    ends = [*starts[1:].tolist(), len(ordered)]
    return dict.fromkeys(all_cases, Trace(columns, 0, 0)) | {
        case: Trace(columns, start, end) for case, start, end in zip(cases.tolist(), starts.tolist(), ends)}
