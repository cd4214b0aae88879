"""Files of the site. A browser loads no JSON from a folder of the disk, so data are scripts:
mf.data("board", {...})."""

from __future__ import annotations

import base64
import gzip
import json
import re
import shutil
from pathlib import Path
from typing import Any

from mfplots.errors import PlotError
from mfplots.printable import one_line
from mfplots.site.assets import Libraries, classic_script

STATIC = Path(__file__).parent / "static"
MARK = "mfbench-report.txt"  # a folder with it is one of ours


def prepare(out: Path) -> None:
    """An empty folder. Raises PlotError if there is one that is not a report."""
    if out.is_dir() and any(out.iterdir()):
        if not (out / MARK).is_file():
            raise PlotError(f"{out}: holds other files and no report; name another folder with --out")
        shutil.rmtree(out)
    for part in ("assets", "data/cases", "data/groups"):
        (out / part).mkdir(parents=True, exist_ok=True)
    (out / MARK).write_text("Made by ./dev report, which writes this folder anew.\n")


def libraries(out: Path, found: Libraries) -> None:
    shutil.copyfile(found.plotly, out / "assets/plotly.min.js")
    shutil.copyfile(found.tables_style, out / "assets/tables.css")
    module = found.tables.read_text(encoding="utf-8")
    (out / "assets/tables.js").write_text(classic_script(module, "mfTables"), encoding="utf-8")
    for path in sorted(STATIC.iterdir()):
        shutil.copyfile(path, out / "assets" / path.name)


def data(path: Path, name: str, value: Any) -> None:
    """`name` is one of ours. Text becomes printable, numbers that are not finite become null."""
    path.write_bytes(f"mf.data({json.dumps(name)},{encoded(value)});\n".encode("ascii"))


def packed(path: Path, name: str, text: str) -> None:
    """Of encoded data, compressed, which the page unpacks: mf.unpack()."""
    data(path, name, base64.b64encode(gzip.compress(text.encode("ascii"), 9, mtime=0)).decode("ascii"))


_JSON = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_TEXT = json.JSONEncoder(separators=(",", ":"), allow_nan=False, ensure_ascii=False)
_ESCAPE = re.compile(r'\\[^"\\]')  # of control characters


def encoded(value: Any) -> str:
    """JSON, by the rule for a terminal: no control character, none that turns text. `raw` stays unchanged, since it is
    never shown."""
    if isinstance(value, dict) and "raw" in value:
        shown = encoded({key: inner for key, inner in value.items() if key != "raw"})
        return f'{shown[:-1]},"raw":{_JSON.encode(value["raw"])}}}'
    try:
        if (text := _TEXT.encode(value)).isprintable() and not _ESCAPE.search(text):  # as most are
            return text if text.isascii() else _JSON.encode(value)
    except ValueError:
        pass
    if isinstance(value, dict):
        parts = (f"{encoded(str(k))}:{encoded(v)}" for k, v in value.items())
        return "{%s}" % ",".join(parts)
    if isinstance(value, (list, tuple)):
        return "[%s]" % ",".join(map(encoded, value))
    return "null" if isinstance(value, float) else _JSON.encode(value if value.isprintable() else one_line(value))
