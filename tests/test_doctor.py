"""mfbench doctor: what it measures of the host."""

import json
import pathlib
import re
import resource
import socket
import subprocess

import pytest

MIB = 1 << 20


@pytest.fixture(scope="module")
def report(mfbench, tmp_path_factory):
    return json.loads(mfbench("doctor", "--json", cwd=tmp_path_factory.mktemp("doctor")).stdout)


def test_the_speed_of_the_host_is_one_that_there_is(report):
    speed = report["host_speed"]
    assert 0.5e9 < speed["clock_hz"] < 10e9
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


def test_the_text_has_the_same(mfbench, tmp_path):
    line = re.search(r"^speed +(.+)$", mfbench("doctor", cwd=tmp_path).stdout, re.MULTILINE)[1]
    assert re.fullmatch(r"[\d.]+ GHz; a load waits [\d.]+ ns in 1\.0 MiB, [\d.]+ ns in 16\.0 MiB, "
                        r"[\d.]+ ns in 256\.0 MiB; copies [\d.]+ GB/s", line), line


def test_sizes_for_which_there_is_no_memory_are_left_out(mfbench, tmp_path):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (400 * MIB, 400 * MIB))

    done = subprocess.run([mfbench.program, "doctor", "--json"], cwd=tmp_path, text=True, preexec_fn=limit,
                          capture_output=True, check=True)
    speed = json.loads(done.stdout)["host_speed"]
    assert [one["bytes"] for one in speed["load_latency"]] in ([MIB, 16 * MIB], [MIB])
    assert speed["copy_bytes_s"] == 0
