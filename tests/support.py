"""What several tests ask of result files and of processes, and a server of files."""

import concurrent.futures
import contextlib
import fcntl
import http.server
import io
import json
import os
import pathlib
import resource
import signal
import subprocess
import time
import zipfile

import pytest


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def two_tastes():
    """(user, item, value) of 40 users and 30 items: odd users like odd items, even ones even items."""
    return [(user, item, 5 if user % 2 == item % 2 else 1) for user in range(1, 41) for item in range(1, 31)
            if (user * 7 + item * 3) % 4]


def saved_model(mfbench, folder, data):
    """Trained on such ratings."""
    spec = {"name": "own", "datasets": [data], "stop": {"epochs": 60}, "save_model": True,
            "schedule": {"learning_rate": 0.02}, "algorithms": [{"name": "sgd_serial", "factors": 8}]}
    mfbench("run", "own.json", "--out", "out", cwd=folder, code=0, spec=spec)
    (model,) = (folder / "out" / "models").iterdir()
    return model


def footers(folder):
    return [lines_of(path)[-1] for path in sorted(folder.glob("*.jsonl"))]


def cases_of(folder):
    """The lines of the cases that its spec lists, in the order of the spec."""
    return [lines_of(folder / f"{name}.jsonl") for name in json.loads((folder / "spec.json").read_text())["cases"]]


@contextlib.contextmanager
def installing(build):
    """One at a time: cmake writes what it installs into the build folder first."""
    with open(build / "CMakeCache.txt") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def cmake_install(build, prefix, environment):
    with installing(build):
        done = subprocess.run(["cmake", "--install", build, "--prefix", prefix], capture_output=True, text=True,
                              env=environment, check=False)
    assert done.returncode == 0, done.stderr


def children_of(pid):
    """Those that it has started, by their ids."""
    return [int(one) for one in
            pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_gone(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1][0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


@contextlib.contextmanager
def stopped(pid):
    """A rank that does nothing more, as one whose file system is away."""
    os.kill(pid, signal.SIGSTOP)
    try:
        time.sleep(0.5)  # the others come to wait for it
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


def as_from_a_terminal():
    """`nohup` and `&` of a script have these ignored, and who starts the tests may use either."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def in_little_memory():
    """For a process that begins: where 512 MiB are not to be had, no run --apart measures how fast the host is over a
    quarter of a GiB, which is three quarters of the time of a small case."""
    resource.setrlimit(resource.RLIMIT_AS, (448 << 20, 448 << 20))


def wait_for(condition, what="that", seconds=120):
    end = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > end:
            pytest.fail(f"no {what} within {seconds} s")
        time.sleep(0.005)
    return found


class Waiting(dict):
    """{name: body} of a file's tests that wait for seconds and take no CPU meanwhile. They begin together with the
    first test of the file, the longest first; the last, `test_ends_well`, says how they went."""

    def __call__(self, body):
        self[body.__name__] = body
        return body

    @contextlib.contextmanager
    def begun(self, request, mfbench, tmp_path_factory):
        """{name: what comes of it} of those that are to be tested, each called with a folder of its own and mfbench."""
        wanted = [item.callspec.params["name"] for item in request.session.items
                  if item.path == request.path and item.originalname == "test_ends_well"]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            yield {name: pool.submit(self[name], tmp_path_factory.mktemp(name), mfbench) for name in wanted}


def zipped(members):
    """A zip archive of members (name, content) or (name, content, mode)."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content, *mode in members:
            info = zipfile.ZipInfo(name)
            info.external_attr = (mode[0] if mode else 0o100644) << 16
            archive.writestr(info, content)
    return packed.getvalue()


class Answers(http.server.BaseHTTPRequestHandler):
    """Gives the answers of its server, the last one again and again, and counts its requests."""

    def do_GET(self):
        server = self.server
        server.asked += 1
        answers = server.answers
        answer = {"content": b"", "status": 404} if not answers else answers.pop(0) if len(answers) > 1 else answers[0]
        content, status = answer.get("content", server.content), answer.get("status", 200)
        self.send_response(status)
        body = content if status == 200 else b"an error page"
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        body = body[:answer.get("cut", len(body))]
        step = max(1, len(content) // 20)
        try:
            for at in range(0, len(body), step):
                self.wfile.write(body[at:at + step])
                time.sleep(answer.get("seconds", 0) / 20)
        except OSError:
            pass  # the client was killed

    def log_message(self, *arguments):
        pass
