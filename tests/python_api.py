"""The package and a table for its tests. With MFBENCH_WHEEL=installed the package that pip has installed is tested, else
that of the source."""

import os
import pathlib
import sys

import pytest

np = pytest.importorskip("numpy")
pd = pytest.importorskip("pandas")
pytest.importorskip("matplotlib")

ROOT = pathlib.Path(__file__).resolve().parent.parent
INSTALLED = os.environ.get("MFBENCH_WHEEL") == "installed"
if not INSTALLED:
    sys.path.insert(0, str(ROOT / "python"))
    os.environ.setdefault("MFBENCH", str(ROOT / "build" / "cpu" / "mfbench"))
    os.environ["MFBENCH"] = os.path.abspath(os.environ["MFBENCH"])

import mfbench  # noqa: E402

SPEC = {"name": "api", "stop": {"epochs": 3}, "algorithms": [{"name": "sgd_serial", "factors": 4}]}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder to work in, with a cache of its own."""
    folder = tmp_path_factory.mktemp("python")
    before, cache = os.getcwd(), os.environ.get("MFBENCH_CACHE")
    os.environ["MFBENCH_CACHE"] = str(folder / "cache")
    os.chdir(folder)
    yield folder
    os.chdir(before)
    os.environ.pop("MFBENCH_CACHE")
    if cache is not None:
        os.environ["MFBENCH_CACHE"] = cache


@pytest.fixture(scope="module")
def frame():
    draw = np.random.default_rng(3)
    pairs = draw.choice(60 * 45, 1200, replace=False)
    return pd.DataFrame({"userId": pairs // 45, "movieId": pairs % 45, "rating": draw.integers(1, 6, 1200).astype(float),
                         "timestamp": 0})


def run(spec=None, data=None, **options):
    return mfbench.run({**SPEC, **(spec or {})}, data, progress=False, **options)


def headline(*words, **options):
    return float(run(*words, **options).cases["headline"].iloc[0])
