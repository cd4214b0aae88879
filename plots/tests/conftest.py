import sys
from pathlib import Path

import matplotlib
import pytest

matplotlib.use("Agg")
sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))


@pytest.fixture(scope="session")
def rich(tmp_path_factory):
    """A folder with cases of all that is drawn: it is only read."""
    from synthetic import rich_cases, write

    return write(tmp_path_factory.mktemp("rich"), rich_cases(), spec=True)
