"""Measured limits of machines: results/published/measured/ceilings*.log, by their device."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mfplots.errors import PlotError

_DEVICE = re.compile(r"^device (.+?) SMs \d+", re.M)
_COPY = re.compile(r"^copy r\+w +([\d.]+) GB/s", re.M)
_ROWS = re.compile(r"^SGD r\+w (?:p\((\d+)\) )?q\((\d+)\)(?: only,)? +(\d+) B rows: +([\d.]+) "
                   r"G updates/s", re.M)
_TENSOR = re.compile(r"^fp16 product .*? ([\d.]+) TFLOP/s", re.M)
_FMA = re.compile(r"^FP32 FMA +([\d.]+) TFLOP/s", re.M)


@dataclass(frozen=True)
class Ceilings:
    """`bytes_per_s`: read and written by a copy. `flops_per_s`: fp32 fused multiply-adds, outside of tensor cores;
    `tensor_flops_per_s`: products of fp16 on them, if measured. `lines`: all measurements."""

    machine: str
    bytes_per_s: float
    flops_per_s: float
    lines: tuple[str, ...]
    source: str
    rows: dict[str, float] = field(default_factory=dict)  # updates a second by `rows_key`
    tensor_flops_per_s: float | None = None


def rows_key(users: int | None, items: int, row_bytes: int) -> str:
    """Updates that read and write random rows of this size, of P and Q or, without users, of Q only."""
    return f"{users or 'Q only'} {items} {row_bytes}"


def read_ceilings(paths: Sequence[Path]) -> list[Ceilings]:
    """One a device, whose numbers may be spread over several files; files that do not exist are skipped. Raises
    PlotError if no file of a device has one of its numbers."""
    logs: dict[str, list[tuple[Path, str]]] = {}
    for path in paths:
        if path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            device = _DEVICE.search(text)
            logs.setdefault(device[1] if device else "", []).append((path, text))
    return [_ceilings(device, own) for device, own in logs.items()]


def _ceilings(device: str, logs: Sequence[tuple[Path, str]]) -> Ceilings:
    text, names = "\n".join(text for _, text in logs), ", ".join(str(path) for path, _ in logs)
    copy, fma, tensor = (pattern.search(text) for pattern in (_COPY, _FMA, _TENSOR))
    if not (device and copy and fma):
        raise PlotError(f'{names}: expected lines "device NAME SMs N", "copy r+w N GB/s" and "FP32 FMA N TFLOP/s"')
    return Ceilings(device, float(copy[1]) * 1e9, float(fma[1]) * 1e12,
                    tuple(line for line in text.splitlines() if line.strip() and not _DEVICE.match(line)),
                    ", ".join(path.name for path, _ in logs),
                    {rows_key(int(p) if p else None, int(q), int(size)): float(rate) * 1e9
                     for p, q, size, rate in _ROWS.findall(text)}, float(tensor[1]) * 1e12 if tensor else None)
