"""A JSON file, or an error that says what is wrong with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mfplots.errors import PlotError


def read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PlotError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise PlotError(f"{path}: no JSON: {error}") from error
