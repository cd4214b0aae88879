"""A case on several GPUs: `devices`, a thread each. What needs them is skipped where there are fewer;
what is refused is refused everywhere."""

import json
import signal
import subprocess

import pytest

from support import children_of, lines_of, wait_for

SPEC = {
    "name": "devices",
    "datasets": [{"like": "ml-100k"}],
    "seeds": [1],
    "stop": {"epochs": 4},
    "algorithms": [{"name": "als_fused", "factors": 24}],
}


def on(count, **changes):
    return {**SPEC, "algorithms": [{**SPEC["algorithms"][0], "devices": count, **changes}]}


def write(folder, spec):
    path = folder / "spec.json"
    path.write_text(json.dumps(spec))
    return path


def cases_in(folder):
    return [lines_of(path) for path in sorted((folder / "results/runs/devices").glob("*.jsonl"))]


def rmse_of(lines):
    return [line["test_rmse"] for line in lines if line["type"] == "trace"]


@pytest.fixture(scope="module")
def count_devices(mfbench, tmp_path_factory):
    report = json.loads(mfbench("doctor", "--json", cwd=tmp_path_factory.mktemp("doctor")).stdout)
    return 0 if report["device"].startswith("none") else 1 + len(report["more_devices"])


@pytest.fixture
def two(count_devices):
    if count_devices < 2:
        pytest.skip(f"needs 2 CUDA devices, found {count_devices}")


# ---- refused ----------------------------------------------------------------------------------------


def test_more_devices_than_there_are_is_an_error_before_anything_is_loaded(mfbench, tmp_path, count_devices):
    wanted = count_devices + 1 if count_devices > 0 else 2
    done = mfbench("run", write(tmp_path, on([1, wanted])), cwd=tmp_path, code=5)
    errors = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert len(errors) == 1
    for words in ("$.algorithms[0]", f"als_fused asks for {wanted} devices", "has no device",
                  "CUDA_VISIBLE_DEVICES"):
        assert words in errors[0], errors[0]
    assert not (tmp_path / "results").exists()


def test_an_algorithm_without_devices_says_what_it_has(mfbench, tmp_path):
    spec = {**SPEC, "algorithms": [{"name": "als_cpu", "devices": 2}]}
    done = mfbench("run", write(tmp_path, spec), cwd=tmp_path, code=2)
    assert "$.algorithms[0].devices" in done.stderr
    done = mfbench("run", write(tmp_path, on(0)), cwd=tmp_path, code=2)
    assert "$.algorithms[0].devices" in done.stderr and "1024" in done.stderr


def test_one_device_is_the_case_without_the_parameter(mfbench, tmp_path):
    def ids(spec):
        done = mfbench("validate", "--json", write(tmp_path, spec), cwd=tmp_path, code=0)
        return [case["id"] for case in json.loads(done.stdout)]

    (alone,) = ids(SPEC)
    one, two, four = ids(on([1, 2, 4]))
    assert one.rsplit("-", 1)[-1] == alone.rsplit("-", 1)[-1]
    assert len({one, two, four}) == 3


@pytest.mark.parametrize("free", [[], ["--device-memory", "130"]])
def test_plan_counts_the_memory_of_each_device(mfbench, tmp_path, free):
    spec = {**on([1, 2, 4], factors=100), "datasets": [{"like": "netflix"}]}
    done = mfbench("plan", "--no-measure", "--json", *free, write(tmp_path, spec), cwd=tmp_path, code=0)
    cases = json.loads(done.stdout)["cases"]
    one, two, four = (case["device_bytes"] for case in cases)
    assert 0.4 * one < two < 0.7 * one
    assert 0.2 * one < four < 0.8 * two


def test_doctor_says_whether_there_is_nccl(mfbench, tmp_path):
    report = json.loads(mfbench("doctor", "--json", cwd=tmp_path).stdout)
    assert report["build"]["nccl"].startswith(("yes: 2.", "no: "))
    if report["build"]["cuda"].startswith("no"):
        assert "no CUDA" in report["build"]["nccl"]
    assert isinstance(report["more_devices"], list)


# ---- with two devices or more --------------------------------------------------------------------------


def test_any_number_of_devices_has_the_numbers_of_one(mfbench, tmp_path, two, count_devices):
    counts = [count for count in (1, 2, 4) if count <= count_devices]
    mfbench("run", write(tmp_path, on(counts)), cwd=tmp_path, code=0)
    cases = {lines[0]["algorithm"]["params"].get("devices", 1): lines for lines in cases_in(tmp_path)}
    for count in counts[1:]:
        assert rmse_of(cases[count]) == pytest.approx(rmse_of(cases[1]), abs=1e-4)
        footer = cases[count][-1]
        assert footer["status"] == "completed"
        assert [one["rank"] for one in footer["ranks"]] == list(range(1, count))
        buses = {one["device"]["pci_bus_id"] for one in footer["ranks"]}
        assert len(buses) == count - 1
        for one in [footer, *footer["ranks"]]:
            assert one["exchanged"]["seconds_s"] > 0
            assert one["exchanged"]["bytes_received"] > 0
            assert one["phases"]["exchange"]["count"] == 8
        for one in footer["ranks"]:
            assert one["device"]["peak_device_bytes"] > 0
    again = mfbench("run", "spec.json", cwd=tmp_path)
    assert f"0 run now, {len(counts)} finished before" in again.stdout


def test_a_signal_ends_the_run_after_the_epoch(mfbench, tmp_path, two):
    write(tmp_path, {**on(2, factors=100), "datasets": [{"like": "ml-1m"}], "stop": {"epochs": 1000000}})
    process = subprocess.Popen([mfbench.program, "run", "spec.json"], cwd=tmp_path, text=True,
                               env=mfbench.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        wait_for(lambda: sum(path.read_text().count('"trace"') for path in tmp_path.glob("**/*.jsonl")) >= 5
                 or process.poll() is not None, "epochs", 90)
        assert children_of(process.pid) == []
        process.terminate()
        _, stderr = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 128 + signal.SIGTERM, stderr
    (lines,) = cases_in(tmp_path)
    assert lines[-1]["status"] == "interrupted"
    assert len(lines[-1]["ranks"]) == 1  # it has told what it did
