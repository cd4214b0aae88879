"""mfbench doctor: what it measures of the host."""

import json
import pathlib
import re
import resource
import socket
import subprocess

import pytest

from test_terminal import on_terminal

MIB = 1 << 20


@pytest.fixture(scope="module")
def report(mfbench, tmp_path_factory):
    return json.loads(mfbench("doctor", "--json", cwd=tmp_path_factory.mktemp("doctor")).stdout)


def test_the_speed_of_the_host_is_one_that_there_is(report):
    speed = report["host_speed"]
    assert 1e7 < speed["clock_hz"] < 1e10
    sizes = [one["bytes"] for one in speed["load_latency"]]
    assert sizes == [MIB, 16 * MIB, 256 * MIB]
    small, _, large = (one["seconds"] for one in speed["load_latency"])
    assert 0.3e-9 < small < large < 5e-6  # a cache beside memory
    assert 0.2e9 < speed["copy_bytes_s"] < 5e12


def test_the_host_has_a_name_that_is_not_its_own(report):
    host = report["environment"]["host"]
    assert re.fullmatch(r"host-[0-9a-f]{12}", host)
    id_of_machine = pathlib.Path("/etc/machine-id")
    assert socket.gethostname() not in host
    assert not id_of_machine.exists() or host[5:] not in id_of_machine.read_text()


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_a_screen_has_ten_lines_that_do_not_wrap(mfbench, tmp_path, columns):
    text = on_terminal(mfbench.program, ["doctor"], tmp_path, mfbench.environment(), columns=columns)
    lines = text.splitlines()
    assert len(lines) == 10 and all(len(line) < columns for line in lines), text
    assert "doctor --verbose" in text


def test_more_is_there_on_request(mfbench, tmp_path, report):
    """Each algorithm, library and data set, which the ten lines count."""
    short = mfbench("doctor", cwd=tmp_path).stdout
    whole = mfbench("doctor", "-v", cwd=tmp_path).stdout
    for key, kind, done in [("algorithms", "algorithm", lambda one: one["state"] == "runs here"),
                            ("peers", "peer", lambda one: one["installed"]),
                            ("data_sets", "data set", lambda one: one["at_hand"])]:
        assert re.findall(rf"(?m)^{kind} +(\S+)", whole) == [one["name"] for one in report[key]]
        count = sum(map(done, report[key]))
        assert re.search(rf"(?m)^{key.replace('_', ' ')} +{count} of {len(report[key])} ", short)
    assert all(len(line) < 100 for line in whole.splitlines())


def test_sizes_for_which_there_is_no_memory_are_left_out(mfbench, tmp_path):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (400 * MIB, 400 * MIB))

    done = subprocess.run([mfbench.program, "doctor", "--json"], cwd=tmp_path, text=True, preexec_fn=limit,
                          capture_output=True, check=True)
    speed = json.loads(done.stdout)["host_speed"]
    assert [one["bytes"] for one in speed["load_latency"]] in ([MIB, 16 * MIB], [MIB])
    assert speed["copy_bytes_s"] == 0
