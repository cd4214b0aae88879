"""The libraries that the pages carry: files of packages of plots/requirements-report.txt."""

from __future__ import annotations

import importlib.util
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from mfplots.errors import PlotError

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / ".cache/report"  # ./dev deps puts them here
HOW = "./dev deps report installs it (plots/requirements-report.txt)" if (ROOT / "dev").exists() else \
    f"{sys.executable} -m pip install plotly itables markdown-it-py"
_EXPORT = re.compile(r"\bexport\{([^{}]*)\};?")
_NAME = re.compile(r"([\w$]+)(?: as ([\w$]+))?")


@dataclass(frozen=True)
class Libraries:
    plotly: Path
    tables: Path
    tables_style: Path


def find_libraries() -> Libraries:
    """On the path of Python or in FOLDER. Raises PlotError naming the missing package and the command that installs
    it."""
    sys.path += [path for found in sorted(FOLDER.glob("lib/python3*/site-packages"))
                 if (path := str(found)) not in sys.path]
    if importlib.util.find_spec("markdown_it") is None:
        raise PlotError(f"the report needs markdown-it-py; {HOW}")
    return Libraries(_file("plotly", "package_data/plotly.min.js"),
                     _file("itables", "html/dt_bundle.js"), _file("itables", "html/dt_bundle.css"))


def _file(package: str, path: str) -> Path:
    """Without importing the package, since only its file is wanted."""
    found = importlib.util.find_spec(package)
    for folder in (found.submodule_search_locations or []) if found else []:
        if (Path(folder) / path).is_file():
            return Path(folder) / path
    what = f"has no {path}" if found else "is not installed"
    raise PlotError(f"the report needs the package {package}, which {what}; {HOW}")


def classic_script(module: str, name: str) -> str:
    """An ES module without imports as a script that sets window[name]: a browser loads no module from a folder of the
    disk. Raises PlotError unless it has exactly one export list."""
    lists = _EXPORT.findall(module)
    if len(lists) != 1:
        raise PlotError(f"the bundle of tables has {len(lists)} lists of exports, expected 1: is it "
                        "the version of plots/requirements-report.txt?")
    pairs = [_NAME.fullmatch(item.strip()) for item in lists[0].split(",")]
    fields = ",".join(f'"{pair[2] or pair[1]}":{pair[1]}' for pair in pairs if pair)
    body = _EXPORT.sub(lambda _: f"window.{name}={{{fields}}};", module)
    return f'(function(){{"use strict";\n{body}\n}})();\n'
