"""Paths of the files beside the program: in this package if it is installed, else in the source tree around it."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
INSTALLED = HERE / "share" / "mfbench"
SOURCE = HERE.parents[1]
SHARED = INSTALLED if INSTALLED.is_dir() else SOURCE


def find_mfplots():
    """Makes mfplots importable: there is one copy, which `mfbench plot` uses as well."""
    folder = str(SHARED / "plots")
    if folder not in sys.path:
        sys.path.append(folder)
