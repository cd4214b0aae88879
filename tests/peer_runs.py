"""Runs of the fake peer (tests/fake_peer.py) in the place of every library."""

import json
import pathlib
import shutil
import sys

import pytest

from support import cases_of

ROOT = pathlib.Path(__file__).resolve().parent.parent
FAKE = ROOT / "tests" / "fake_peer.py"
MODES = next(eval(text.split("=", 1)[1]) for text in FAKE.read_text().split("\n\n")
             if text.startswith("MODES"))


@pytest.fixture
def fakes(tmp_path, monkeypatch):
    """Every library is the fake one, in a Python that has nothing else."""
    scripts, places = tmp_path / "scripts", tmp_path / "places"
    shutil.copytree(ROOT / "peers" / "common", scripts / "common")
    for library in ("libmf", "implicit"):
        (scripts / library).mkdir()
        shutil.copy(ROOT / "peers" / library / "peer.json", scripts / library)
        shutil.copy(FAKE, scripts / library / "adapter.py")
        install(places, library)
    monkeypatch.setenv("MFBENCH_PEER_SCRIPTS", str(scripts))
    monkeypatch.setenv("MFBENCH_PEERS", str(places))
    monkeypatch.setenv("http_proxy", "http://a.proxy:1")
    return tmp_path


def install(places, library):
    """An environment, as far as mfbench asks for one."""
    (places / library / "bin").mkdir(parents=True)
    (places / library / "bin" / "python3").symlink_to(pathlib.Path(sys.executable).resolve())


def fake(mode, **keys):
    return {"name": "peer", "library": "libmf", "factors": 2, "bins": MODES.index(mode), **keys}


def spec(algorithms, **keys):
    return {"name": "peers", "datasets": [{"like": "ml-100k", "scale": 0.01}], "stop": {"epochs": 3},
            "algorithms": algorithms, **keys}


def run(mfbench, folder, what, *arguments, code=None):
    done = mfbench("run", "spec.json", "--out", "out", "--quiet", *arguments, cwd=folder, spec=what)
    assert code is None or done.returncode == code, done.stdout + done.stderr
    return results(folder / "out")


def results(folder):
    """[(header, trace, footer, path)] in the order of the spec."""
    names = json.loads((folder / "spec.json").read_text())["cases"]
    return [(head, trace, foot, folder / f"{name}.jsonl")
            for name, (head, *trace, foot) in zip(names, cases_of(folder))]
