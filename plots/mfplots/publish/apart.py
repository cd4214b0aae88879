"""What is published is read from a copy and made beside it. Both folders of the user are opened once: what is copied
stays within them, whatever takes their names, or names in them, meanwhile."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from mfplots.errors import PlotError
from mfplots.files import MOST_OF_RESULT, open_file
from mfplots.publish.packed import CASE, HEADS

PIECE = 1 << 20


@contextlib.contextmanager
def held_folder(path: Path, above: int | None = None) -> Iterator[int]:
    """`above`: the folder around it, from which no link leads on; without it, `path` leads where it leads."""
    name, flags = (path, 0) if above is None else (path.name, os.O_NOFOLLOW)
    try:
        folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | flags, dir_fd=above)
    except NotADirectoryError as error:
        raise PlotError(f"{path}: found a file or a link, expected a folder") from error
    try:
        yield folder
    finally:
        os.close(folder)


def copy_results(folder: int, path: Path, to: Path, below: Sequence[str] = ("tune", "*")) -> None:
    """Specs and cases, and those of the studies. What is not a file here is not one in the copy either."""
    to.mkdir(parents=True)
    for name in sorted(os.listdir(folder)):
        inner = bool(below) and below[0] in (name, "*")
        if not (inner or name.endswith(CASE) or name in HEADS.values()):
            continue
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        if stat.S_ISREG(mode):
            _copy_file(folder, path / name, to / name)
        elif stat.S_ISDIR(mode) and inner:
            with held_folder(path / name, folder) as found:
                copy_results(found, path / name, to / name, below[1:])
        elif stat.S_ISDIR(mode):
            (to / name).mkdir()
        elif stat.S_ISLNK(mode):
            (to / name).symlink_to("elsewhere")
        else:
            os.mkfifo(to / name)


def _copy_file(folder: int, path: Path, to: Path) -> None:
    """One without an end gets a little longer than what is read of it."""
    with open_file(path, folder=folder) as file, open(to, "xb") as copy:
        while copy.tell() <= MOST_OF_RESULT and (piece := file.read(PIECE)):
            copy.write(piece)


def place(made: Path, folder: int, path: Path) -> None:
    """Adds to a folder what another has; files that are there stay. All of it, or nothing."""
    placed: list[str] = []
    try:
        for one in sorted(made.iterdir()):
            if one.is_dir():
                with contextlib.suppress(FileExistsError):
                    os.mkdir(one.name, dir_fd=folder)
                    placed.append(one.name)
                with held_folder(path / one.name, folder) as inner:
                    place(one, inner, path / one.name)
                continue
            with open(one.name, "xb", opener=lambda name, flags: os.open(name, flags, 0o666, dir_fd=folder)) as file:
                placed.append(one.name)
                file.write(one.read_bytes())
    except BaseException:
        for name in placed:
            shutil.rmtree(name, dir_fd=folder) if (made / name).is_dir() else os.unlink(name, dir_fd=folder)
        raise
