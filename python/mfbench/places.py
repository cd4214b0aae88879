"""Where the program's own files are: in this package, once it is installed, or in the source around it."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
INSTALLED = HERE / "share" / "mfbench"
SOURCE = HERE.parents[1]
SHARED = INSTALLED if INSTALLED.is_dir() else SOURCE


def find_mfplots():
    """mfplots stands once, where `mfbench plot` finds it as well."""
    folder = str(SHARED / "plots")
    if folder not in sys.path:
        sys.path.append(folder)
