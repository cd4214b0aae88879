"""Files that others may have made: the one way to open and to write them, by the rules of base/files/open_file.hpp."""

from __future__ import annotations

import contextlib
import errno
import json
import lzma
import os
import re
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from mfplots.errors import PlotError

MOST, MOST_OF_RESULT = 256 << 20, 1 << 30
LONGEST_NAME = 200  # bytes of it: room for an ending, and for the marks of a file that is being written
RATIO = 200  # bytes that one of a packed file may become, beyond MOST

_PLAIN = re.compile(r"(?!\.)[^/\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
_WORDS = {errno.ELOOP: "found a link, expected a file", errno.ENXIO: "found a device or a socket, expected a file"}


def open_file(path: Path, named: bool = False) -> BinaryIO:
    """`named`: by the user, so that a link leads where it leads and a pipe is read to its end; else no link is
    followed and no pipe waited for. Raises PlotError that says what stands there."""
    flags = 0 if named else os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY | flags)
    except OSError as error:
        raise PlotError(f"{path}: {_WORDS.get(error.errno or 0, error.strerror)}") from error
    mode = os.fstat(file).st_mode
    if stat.S_ISREG(mode) or (named and stat.S_ISFIFO(mode)):
        return open(file, "rb")
    os.close(file)
    kind = "a pipe" if stat.S_ISFIFO(mode) else "a folder" if stat.S_ISDIR(mode) else "a device"
    raise PlotError(f"{path}: found {kind}, expected a file")


def read_bytes(path: Path, most: int = MOST, named: bool = False) -> bytes:
    with open_file(path, named) as file:
        # A file says its size before it is read, a pipe does not.
        if os.fstat(file.fileno()).st_size > most or len(data := file.read(most + 1)) > most:
            raise PlotError(f"{path}: found more than {most >> 20} MiB, expected a shorter file")
    return data


def read_text(path: Path, most: int = MOST, named: bool = False) -> str:
    """Raises PlotError; UnicodeDecodeError, which is a ValueError, if it is not UTF-8."""
    return read_bytes(path, most, named).decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")


def read_json(path: Path, named: bool = False) -> Any:
    try:
        return json.loads(read_text(path, named=named))
    except (ValueError, RecursionError) as error:
        raise PlotError(f"{path}: no JSON: {error}") from error


def packed_lines(path: Path) -> Iterator[str]:
    """Each with its end. Raises PlotError if they take far more than their packed size."""
    with open_file(path) as packed, lzma.open(packed) as lines:
        most = max(MOST, RATIO * os.fstat(packed.fileno()).st_size)
        left = most
        while line := lines.readline(left + 1):
            left -= len(line)
            if left < 0:
                raise PlotError(f"{path}: unpacks to more than {most >> 20} MiB, expected at most {RATIO} times its size")
            yield line.decode("utf-8")


def plain_name(name: str, where: str | Path) -> str:
    """A name from a stranger's file, if it names one file in any folder. Else raises PlotError that begins with `where`."""
    if _PLAIN.fullmatch(name) and len(name.encode()) <= LONGEST_NAME:
        return name
    raise PlotError(f"{where}: found {ascii(name)[:80]} as a file name, expected at most {LONGEST_NAME} bytes of text "
                    "without a folder, a dot in front or control characters; remove that case")


def folder_in(folder: Path, name: str) -> Path:
    """FOLDER/NAME, which may be missing. Raises PlotError if it leads out of the folder."""
    if (folder / name).is_symlink():
        raise PlotError(f"{folder / name}: found a link, expected a folder")
    return folder / name


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Replaces a file of that name once the new one is whole: never writes through a link."""
    part = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    part.unlink(missing_ok=True)
    try:
        with open(part, "xb") as file:
            yield file
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
