"""Paths of the files beside the program: in this package if it is installed, else in the source tree around it."""

import importlib.metadata
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
INSTALLED = HERE / "share" / "mfbench"
SOURCE = HERE.parents[1]
SHARED = INSTALLED if INSTALLED.is_dir() else SOURCE


def version():
    if SHARED is INSTALLED:
        return importlib.metadata.version("mfbench")
    return re.search(r"project\(mfbench VERSION ([\d.]+)", (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8"))[1]


def find_mfplots():
    """Makes mfplots importable: there is one copy, which `mfbench plot` uses as well."""
    folder = str(SHARED / "plots")
    if folder not in sys.path:
        sys.path.append(folder)
