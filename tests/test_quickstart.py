"""What `./dev quickstart` chooses, with stand-ins for nvidia-smi, nvcc and the host's memory."""

import json
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
SMI = """#!/bin/sh
case $1 in
  -L) {listing} ;;
  --query-gpu=memory.total) {memory} ;;
esac
"""
CARD = "echo 'GPU 0: NVIDIA H200 (UUID: GPU-0)'"


@pytest.fixture
def choose(tmp_path):
    def run(smi=None, nvcc=True, free_kib=64_000_000, *arguments):
        programs = tmp_path / "programs"
        programs.mkdir(exist_ok=True)
        for program in ("bash", "dirname", "grep", "head", "nproc", "sed", "sort"):
            target = programs / program
            if not target.exists():
                target.symlink_to(subprocess.run(["sh", "-c", f"command -v {program}"], text=True,
                                                 capture_output=True).stdout.strip())
        if smi:
            (programs / "nvidia-smi").write_text(smi.replace("#!/bin/sh", f"#!{programs / 'bash'}"))
            (programs / "nvidia-smi").chmod(0o755)
        if nvcc:
            (programs / "nvcc").symlink_to("/bin/true")
        (tmp_path / "meminfo").write_text(f"MemTotal: 1 kB\nMemAvailable:   {free_kib} kB\n")
        done = subprocess.run([str(programs / "bash"), "dev", "quickstart", "--show", *arguments],
                              cwd=ROOT, text=True, capture_output=True,
                              env={"PATH": str(programs), "MEMINFO": str(tmp_path / "meminfo")})
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()
    return run


def test_a_gpu_is_raced_on(choose):
    said = choose(SMI.format(listing=CARD, memory="echo 143771"))
    assert said == "== GPU 0: NVIDIA H200: experiments/quickstart-gpu.json, build/cuda"


@pytest.mark.parametrize("listing", ["exit 9", "echo 'No devices were found'"])
def test_a_driver_without_a_device_is_none(choose, listing):
    said = choose(SMI.format(listing=listing, memory="exit 9"))
    assert said == ("== no GPU here (nvidia-smi -L names none): experiments/quickstart.json, "
                    "build/cpu")


def test_without_a_driver_it_is_the_cpu_s(choose):
    assert choose(nvcc=False).endswith("experiments/quickstart.json, build/cpu")


@pytest.mark.skipif(os.path.exists("/usr/local/cuda/bin/nvcc"), reason="this machine has nvcc")
def test_without_a_compiler_for_it_it_is_the_cpu_s(choose):
    said = choose(SMI.format(listing=CARD, memory="echo 143771"), nvcc=False)
    assert "no nvcc" in said and said.endswith("experiments/quickstart.json, build/cpu")


def test_a_small_gpu_or_host_gets_the_small_race(choose):
    said = choose(SMI.format(listing=CARD, memory="echo 2048"))
    assert "has 2048 MiB" in said and said.endswith("experiments/quickstart.json, build/cuda")


def test_a_host_without_the_memory_gets_the_small_race(choose):
    said = choose(SMI.format(listing=CARD, memory="echo 143771"), True, 2_000_000)
    assert "1953 MiB of memory" in said and said.endswith("experiments/quickstart.json, build/cuda")


def test_the_races_are_those_that_are_promised(mfbench, tmp_path):
    cases = {}
    for race in ("quickstart", "quickstart-gpu"):
        done = mfbench("validate", ROOT / "experiments" / f"{race}.json", "--json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        cases[race] = {case["case"]["algorithm"] for case in json.loads(done.stdout)}
        assert (ROOT / "plots" / "recipes" / f"{race}.json").is_file()
    assert cases["quickstart"] == {"sgd_serial", "hogwild", "fpsgd", "als_cpu"}
    assert cases["quickstart-gpu"] == {"sgd_tiled", "als_fused", "als", "batch_hogwild", "ebgtg",
                                       "fpsgd", "als_cpu"}


def test_the_limits_have_room_for_the_race(mfbench, tmp_path):
    """MiB of the device, KiB of the host, as `dev` has them."""
    device, host = (int(re.search(rf'"{name}" -lt (\d+)', (ROOT / "dev").read_text())[1])
                    for name in (r"\$device_mib", r"\$\{host_kib:-0\}"))
    done = mfbench("plan", ROOT / "experiments" / "quickstart-gpu.json", "--no-measure", "--json",
                   "--device-memory", device / 1024, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for case in json.loads(done.stdout)["cases"]:
        assert case["device_bytes"] < device * 2**20 and case["host_bytes"] < host * 2**10, case


def test_dev_calls_functions_that_there_are():
    """Of names with an underscore, where a command stands."""
    text = re.sub(r"<<'TEXT'\n.*?^TEXT$|#[^\n]*", "", (ROOT / "dev").read_text(), flags=re.M | re.S)
    there = set(re.findall(r"^(\w+)\(\)", text, re.M))
    begins = r"(?:^ *|&& |\|\| |! |\(|; |then |else |do )"
    called = set(re.findall(begins + r"([a-z]+(?:_[a-z0-9]+)+)(?![\w=+\[)-])", text, re.M))
    assert len(called & there) > 40 and called - there == set()


def test_an_unknown_argument_is_told(tmp_path):
    done = subprocess.run(["./dev", "quickstart", "--fast"], cwd=ROOT, text=True, capture_output=True)
    assert done.returncode == 1 and "unknown argument '--fast'" in done.stderr


def test_an_unknown_command_names_those_there_are():
    done = subprocess.run(["./dev", "bogus"], cwd=ROOT, text=True, capture_output=True)
    assert done.returncode == 1 and done.stdout == "" and done.stderr.count("\n") == 1
    assert "there is no command 'bogus'; known: " in done.stderr
    known = set(done.stderr.partition("known: ")[2].partition(" (")[0].split())
    text = (ROOT / "dev").read_text()
    dispatched = set(re.findall(r"^  ([a-z-]+)(?: \|[^)]*)?\) (?:cmd_\w+|usage)", text, re.M))
    assert known == dispatched and "report" in known
