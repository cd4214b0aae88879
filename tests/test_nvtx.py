"""What a profiler sees: domain, names, nesting and balance of mfbench's NVTX ranges, told by a library
that NVTX loads in its place (testing/nvtx_inject). Where there is a device, its algorithms as well."""

import collections
import json
import pathlib

import pytest

CPU = [{"name": "als_cpu", "factors": 8, "threads": 2}, {"name": "sgd_serial", "factors": 8}]
DEVICE = [{"name": "als_fused", "factors": 16}, {"name": "sgd_tiled", "factors": 16}]
SPEC = {"name": "watched", "datasets": [{"like": "ml-100k", "scale": 0.05}], "stop": {"epochs": 3}}
Call = collections.namedtuple("Call", "thread ns what domain name")


@pytest.fixture(scope="module")
def library(mfbench):
    path = pathlib.Path(mfbench.program).parent / "testing" / "nvtx_inject" / "libnvtx_inject.so"
    if not path.exists():
        pytest.skip(f"no {path.name} beside {mfbench.program}: the build found no NVTX headers (they "
                    "come with CUDA's toolkit), or its target `tests` is not built")
    return path


def watch(mfbench, library, folder, algorithms):
    (folder / "s.json").write_text(json.dumps({**SPEC, "algorithms": algorithms}))
    log = folder / "calls.txt"
    environment = {**mfbench.environment(), "NVTX_INJECTION64_PATH": str(library),
                   "NVTX_INJECT_LOG": str(log)}
    mfbench("run", "s.json", "--out", "out", cwd=folder, env=environment, code=0)
    assert log.exists(), "mfbench did not load the library: this build has no NVTX"
    return [Call(*line.split("\t")) for line in log.read_text().splitlines()]


def paths_of(calls):
    """For each thread, the names on its stack at every push; fails where pushes and pops do not balance."""
    paths = collections.defaultdict(list)
    stacks = collections.defaultdict(list)
    for call in calls:
        stack = stacks[call.thread]
        if call.what == "push":
            stack.append(call.name)
            paths[call.thread].append("/".join(stack))
        elif call.what == "pop":
            assert stack, f"thread {call.thread} pops what it has not pushed"
            stack.pop()
    assert not any(stacks.values()), f"ranges that did not end: {dict(stacks)}"
    return paths


def main_paths(calls):
    """Only those of the thread that runs the cases."""
    first = next(call.thread for call in calls if call.name == "case")
    paths = paths_of(calls)
    for thread, own in paths.items():
        assert thread == first or set(own) == {"work"}, own
    return paths[first]


@pytest.fixture(scope="module")
def calls(mfbench, library, tmp_path_factory):
    return watch(mfbench, library, tmp_path_factory.mktemp("nvtx"), CPU)


def test_all_ranges_are_in_one_domain(calls):
    assert [call.domain for call in calls if call.what == "domain"] == ["mfbench"]
    assert {call.domain for call in calls} == {"mfbench"}


def test_names_and_nesting_are_those_of_the_documents(calls):
    seen = main_paths(calls)
    counts = collections.Counter(seen)
    assert counts["case"] == counts["case/load"] == counts["case/prepare"] == 2
    assert counts["case/epoch"] == 6 and counts["case/evaluate"] == 8
    assert any(path.startswith("case/epoch/") and not path.endswith("work") for path in seen)
    assert {path.split("/")[0] for path in seen} == {"case"}


def test_every_thread_has_ranges_of_its_own(calls):
    paths = paths_of(calls)
    assert len(paths) > 1


def test_the_timeline_has_the_same_ranges(mfbench, library, tmp_path):
    """`run --trace` and a profiler are told the same, but for the ids of cases."""
    (tmp_path / "s.json").write_text(json.dumps({**SPEC, "algorithms": CPU}))
    environment = {**mfbench.environment(), "NVTX_INJECTION64_PATH": str(library),
                   "NVTX_INJECT_LOG": str(tmp_path / "calls.txt")}
    mfbench("run", "s.json", "--out", "out", "--trace", "t.json", cwd=tmp_path,
            env=environment, code=0)
    calls = [Call(*line.split("\t")) for line in (tmp_path / "calls.txt").read_text().splitlines()]
    seen = collections.Counter(call.name for call in calls if call.what == "push")
    events = json.loads((tmp_path / "t.json").read_text())
    ids = {path.stem for path in (tmp_path / "out").glob("*.jsonl")}
    begun = collections.Counter(e["name"] for e in events if e["ph"] == "B" and e["name"] not in ids)
    assert begun == seen


def test_a_device_s_algorithms_have_their_phases(mfbench, library, tmp_path):
    report = json.loads(mfbench("doctor", "--json", cwd=tmp_path).stdout)
    if report["device"].startswith("none"):
        pytest.skip(f"no device: {report['device']}")
    seen = main_paths(watch(mfbench, library, tmp_path, DEVICE))
    counts = collections.Counter(seen)
    assert counts["case"] == 2 and counts["case/prepare/transfer"] >= 1
    assert counts["case/epoch"] >= 2
    assert any(path.startswith("case/epoch/") for path in seen)
