"""What a machine was measured to do: results/published/measured/ceilings.log, by its device."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from mfplots.errors import PlotError

_DEVICE = re.compile(r"^device (.+?) SMs \d+", re.M)
_COPY = re.compile(r"^copy r\+w +([\d.]+) GB/s", re.M)
_ROWS = re.compile(r"^SGD r\+w (?:p\((\d+)\) )?q\((\d+)\)(?: only,)? +(\d+) B rows: +([\d.]+) "
                   r"G updates/s", re.M)
_FMA = re.compile(r"^FP32 FMA +([\d.]+) TFLOP/s", re.M)


@dataclass(frozen=True)
class Ceilings:
    """`bytes_per_s`: read and written by a copy. `flops_per_s`: fp32 fused multiply-adds, outside of
    tensor cores. `lines`: all that was measured."""

    machine: str
    bytes_per_s: float
    flops_per_s: float
    lines: tuple[str, ...]
    source: str
    rows: dict[str, float] = field(default_factory=dict)  # updates a second by `rows_key`


def rows_key(users: int | None, items: int, row_bytes: int) -> str:
    """Updates that read and write random rows of this size, of P and Q or, without users, of Q only."""
    return f"{users or 'Q alone'} {items} {row_bytes}"


def read_ceilings(path: Path) -> list[Ceilings]:
    """One, or none where there is no such file. Raises PlotError where a number is not in it."""
    if not path.is_file():
        return []
    text = path.read_text(encoding="utf-8", errors="replace")
    found = [pattern.search(text) for pattern in (_DEVICE, _COPY, _FMA)]
    if not all(found):
        raise PlotError(f'{path}: expected lines "device NAME SMs N", "copy r+w N GB/s" and '
                        '"FP32 FMA N TFLOP/s"')
    device, copy, fma = (match[1] for match in found if match)
    return [Ceilings(device, float(copy) * 1e9, float(fma) * 1e12,
                     tuple(line for line in text.splitlines()[1:] if line.strip()), str(path),
                     {rows_key(int(p) if p else None, int(q), int(size)): float(rate) * 1e9
                      for p, q, size, rate in _ROWS.findall(text)})]
