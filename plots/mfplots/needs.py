"""The packages that mfplots imports: looked for before any of its modules, so that the message says which are missing.
This module runs with any Python 3."""

import importlib.util
import sys

LEAST = (3, 11)
MODULES = ("matplotlib", "pandas")
NOT_POSSIBLE_HERE = 5  # an exit code of mfbench


def problem():
    """The missing packages and the command that installs them, or an empty text."""
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < LEAST:
        return f"{sys.executable} is Python {version}, expected {'.'.join(map(str, LEAST))} or newer; PYTHON names another"
    missing = [name for name in MODULES if importlib.util.find_spec(name) is None]
    if not missing:
        return ""
    in_venv = sys.prefix != sys.base_prefix
    install = f"{sys.executable} -m pip install" if in_venv else "sudo apt-get install"
    packages = missing if in_venv else [f"python3-{name}" for name in missing]
    return (f"figures need {' and '.join(MODULES)}, and {sys.executable} (Python {version}) has no "
            f"{' and no '.join(missing)}: {install} {' '.join(packages)}; PYTHON names another Python")


def check():
    if why := problem():
        print(f"error: {why}", file=sys.stderr)
        sys.exit(NOT_POSSIBLE_HERE)
