"""Shared by the end-to-end tests: the mfbench program and a cache of its own."""

import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading

import pytest

from support import Answers

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))


@pytest.fixture(scope="session")
def mfbench(tmp_path_factory):
    """Runs mfbench in a folder; returns the completed process, whose exit code is `code` if that is given. Writes a
    `spec` first, to the file that the second word names."""
    program = os.path.abspath(os.environ.get("MFBENCH") or ROOT / "build" / "cpu" / "mfbench")
    if not shutil.which(program):
        pytest.fail(f"{program} is not built: run ./dev build cpu, or set MFBENCH")
    cache = tmp_path_factory.mktemp("cache")

    def environment(data="no-data"):
        return {**os.environ, "MFBENCH_CACHE": str(cache), "MFBENCH_DATA": str(data)}

    def run(*arguments, cwd, data="no-data", code=None, spec=None, **options):
        if spec is not None:
            (pathlib.Path(cwd) / arguments[1]).write_text(json.dumps(spec))
        done = subprocess.run([program, *map(str, arguments)], cwd=cwd, text=True, capture_output=True,
                              **{"timeout": 300, "env": environment(data), **options})
        assert code is None or done.returncode == code, done.stdout + done.stderr
        return done

    run.program = program
    run.environment = environment
    return run


@pytest.fixture
def file_server():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.daemon_threads = True
    server.content, server.answers, server.asked = b"", [], 0
    server.url = f"http://127.0.0.1:{server.server_address[1]}/files"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def pytest_addoption(parser):
    parser.addoption("--update", action="store_true", help="rewrite the golden files")
