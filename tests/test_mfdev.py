"""./dev: what it chooses, looks for, installs and says, with stand-ins for the machine."""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

from mfdev import deps, fuzz, peers, quickstart, shell, soak, test as tests
from mfdev.__main__ import COMMANDS, PASS_ON, USAGE, call, main
from mfdev.shell import Failure

ROOT = pathlib.Path(__file__).resolve().parent.parent


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """Only those that a test makes are on PATH: programs(name, script)."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def make(name, script="exit 0"):
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    return make


# ---- the command line ----------------------------------------------------------------------------

def dev(*words, **environment):
    return subprocess.run([ROOT / "dev", *words], text=True, capture_output=True, env={**os.environ, **environment})


def test_the_help_names_every_command():
    done = dev("help")
    assert done.returncode == 0 and done.stdout == USAGE
    assert set(re.findall(r"(?:^|, )\./dev ([\w-]+)", USAGE, re.M)) == set(COMMANDS)


def test_each_command_has_its_part_of_the_help(capsys):
    for command in COMMANDS.keys() - PASS_ON:
        assert call(command, ["--help"]) == 0
        told = capsys.readouterr().out
        assert told.startswith(f"./dev {command}") and all(line in USAGE.splitlines() for line in told.splitlines())


@pytest.mark.parametrize("command", ["plot", "report", "mfbench"])
def test_words_name_files_of_the_folder_that_it_is_called_in(tmp_path, command):
    program = tmp_path / "mfbench"
    program.write_text("#!/bin/sh\npwd\n")
    program.chmod(0o755)
    done = subprocess.run([ROOT / "dev", command], cwd=tmp_path, text=True, capture_output=True,
                          env={**os.environ, "MFBENCH": str(program)}, check=False)
    assert done.stdout.strip() == str(tmp_path)


@pytest.mark.parametrize("words, said", [
    (["bogus"], "there is no command 'bogus'; known: quickstart test gpu-test build"),
    (["quickstart", "--fast"], "quickstart: unknown argument '--fast'"),
    (["lint", "x"], "lint: unknown argument 'x'"),
    (["test", "gcc"], "test: there is no preset 'gcc'; known: cpu ci clang asan tsan"),
    (["deps", "bogus"], "there is no group 'bogus'; known: build plot test"),
    (["peers", "bogus"], "peers: there is no library 'bogus'; known: "),
    (["docs", "--x"], "docs: unknown argument '--x'; known: --out DIR, --check, --update"),
    (["docs", "--out", "a", "b"], "docs: unknown argument 'b'"),
    (["remeasure", "x", "--mfbench", "none"], "remeasure: there is no none (./dev build, or set MFBENCH)"),
])
def test_a_word_that_there_is_not_is_named(words, said, capsys):
    assert main(words) == 1
    out, err = capsys.readouterr()
    assert err.startswith(f"error: {said}") and "all there" not in out


def test_a_machine_without_python_is_told_or_gets_it(programs, tmp_path):
    """As far as apt-get, which here notes what it is asked for."""
    for name in ("dirname", "id", "awk"):
        programs(name, f"exec /usr/bin/{name} \"$@\"")
    environment = {"PATH": str(tmp_path / "programs")}
    done = subprocess.run(["/bin/bash", ROOT / "dev", "help"], text=True, capture_output=True, env=environment)
    assert done.returncode == 1 and "needs python3" in done.stderr
    line, optional = (line.strip() for line in done.stderr.splitlines()[-2:])
    packages = line.removeprefix("sudo apt-get install --no-install-recommends ").split()
    of_both = [package for group in (*deps.BOTH[0], *deps.BOTH[1]) for _, _, package in deps.GROUPS[group]]
    assert packages == list(dict.fromkeys(of_both)) and "python3" in packages
    needed = {package for group in deps.BOTH[0] for _, _, package in deps.GROUPS[group]}
    assert optional == f"(optional: {' '.join(one for one in packages if one not in needed)})"
    for name in ("apt-get", "sudo"):
        programs(name, f"echo {name} $* >>{tmp_path}/asked")
    programs("env", "shift; exec \"$@\"")
    done = subprocess.run(["/bin/bash", ROOT / "dev", "help"], text=True, capture_output=True, env=environment)
    assert "== installing: python3" in done.stdout and done.returncode != 0
    assert "install -y --no-install-recommends python3" in (tmp_path / "asked").read_text()


# ---- what is looked for --------------------------------------------------------------------------

def test_the_looks_tell_what_is_there_from_what_is_not():
    assert deps.program("sh") and not deps.program("no-such-program")
    assert deps.header("vector") and not deps.header("no/such/header.h")
    assert deps.python("json venv") and not deps.python("json no_such_module")
    assert deps.cmake("3.1") and not deps.cmake("99.0")
    assert deps.numbers("3.25.1") >= deps.numbers("3.25") > deps.numbers("3.9") == deps.numbers("3.9-rc1")


def test_what_is_required_is_installed_and_what_cannot_be_is_told(monkeypatch, capsys):
    there = {"cmake"}
    monkeypatch.setattr(deps, "GROUPS", {"a": [("x", "cmake", "cmake"), ("x", "ninja", "ninja-build")],
                                         "b": [("x", "lzma", "liblzma-dev")]})
    monkeypatch.setattr(deps, "LOOKS", {"x": lambda name: name in there})
    monkeypatch.setattr(deps, "apt_install", lambda packages: there.add("ninja"))
    with pytest.raises(shell.Failure, match="missing: ninja-build; ./dev deps installs"):
        deps.need(["a"])
    assert deps.deps(["a"], ["b"]) == ["liblzma-dev"]
    assert "optional, and not installable from here: liblzma-dev" in capsys.readouterr().out
    with pytest.raises(shell.Failure, match="sudo apt-get install --no-install-recommends liblzma-dev$"):
        deps.deps(["a", "b"])


@pytest.fixture
def plain_user(monkeypatch):
    """Who may install nothing; `there` is what the machine has."""
    there = set()
    monkeypatch.setattr(deps, "LOOKS", {look: lambda argument: argument in there for look in deps.LOOKS})
    monkeypatch.setattr(deps, "apt_install", lambda packages: None)
    return there


@pytest.mark.parametrize("command", ["quickstart", "test"])
def test_one_line_has_all_that_both_commands_use(plain_user, command, capsys):
    """After it neither asks for more."""
    assert main([command]) == 1
    line, optional = capsys.readouterr().err.splitlines()[-2:]
    named = line.split("--no-install-recommends ")[1].split()
    of_both = {group for use in deps.BOTH for group in use}
    assert {"libarchive-dev", "python3-venv", "python3-pytest-xdist", "libopenmpi-dev", "g++"} <= set(named)
    assert set(named) == {row[2] for group in of_both for row in deps.GROUPS[group]}
    assert "libarchive-dev" in optional and "g++" not in optional
    plain_user |= {row[1] for group in of_both for row in deps.GROUPS[group] if row[2] in named}
    assert deps.missing_packages(of_both) == []


def test_the_groups_of_both_commands_are_those_that_they_ask_for():
    sources = "".join((ROOT / "tools/mfdev" / name).read_text() for name in ("quickstart.py", "test.py"))
    asked = {word for call in re.findall(r"(?:deps|need)\((\[.*)|groups = (\[.*)", sources)
             for word in re.findall(r'"(\w+)"', "".join(call))}
    assert asked - {"cpu", "ci", "clang", "docs", "browser"} <= {group for use in deps.BOTH for group in use}


def test_deps_does_not_say_that_all_is_there_where_something_is_not(plain_user, capsys):
    plain_user |= {row[1] for group in deps.USES["needed"] for row in deps.GROUPS[group]} - {"pooch"}
    assert main(["deps"]) == 0
    said = capsys.readouterr().out
    assert "libarchive-dev" in said and "all that is needed is there" in said and "all there" not in said
    assert "sudo apt-get install" in said.splitlines()[-1] or "sudo apt-get install" in said.splitlines()[-2]
    plain_user |= {row[1] for use in deps.BOTH for group in use for row in deps.GROUPS[group]}
    assert main(["deps"]) == 0 and capsys.readouterr().out == "== all there\n"


def test_apt_is_asked_as_root_or_by_sudo(programs, tmp_path, monkeypatch):
    for name in ("apt-get", "sudo", "env"):
        programs(name, f"echo {name} $* >>{tmp_path}/asked; echo may")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    deps.apt_install(["one", "two"])
    asked = (tmp_path / "asked").read_text().splitlines()
    assert asked[1] == "sudo -n apt-get update" and asked[2].startswith("sudo -n env DEBIAN_FRONTEND=noninteractive")
    assert asked[2].endswith("apt-get install -y --no-install-recommends one two")


# ---- the race of quickstart ----------------------------------------------------------------------

CARD = "case $1 in -L) echo 'GPU 0: NVIDIA H200 (UUID: GPU-0)' ;; *) echo 143771 ;; esac"


@pytest.fixture
def nvcc(monkeypatch):
    monkeypatch.setattr(quickstart, "have_nvcc", lambda: True)
    monkeypatch.setattr(quickstart, "free_kib", lambda: 64_000_000)


def test_a_gpu_is_raced_on(programs, nvcc):
    programs("nvidia-smi", CARD)
    assert quickstart.choice() == ("cuda", "quickstart-gpu", "GPU 0: NVIDIA H200")


@pytest.mark.parametrize("script", ["exit 9", "echo 'No devices were found'", None])
def test_a_driver_without_a_device_is_none(programs, nvcc, script):
    if script:
        programs("nvidia-smi", script)
    assert quickstart.choice() == ("cpu", "quickstart", "no GPU here (nvidia-smi -L names none)")


def test_a_small_gpu_or_host_gets_the_small_race(programs, nvcc, monkeypatch):
    programs("nvidia-smi", CARD.replace("143771", "2048"))
    assert quickstart.choice()[:2] == ("cuda", "quickstart") and "has 2048 MiB" in quickstart.choice()[2]
    programs("nvidia-smi", CARD)
    monkeypatch.setattr(quickstart, "free_kib", lambda: 2_000_000)
    assert quickstart.choice()[:2] == ("cuda", "quickstart") and "1953 MiB of memory" in quickstart.choice()[2]
    monkeypatch.setattr(quickstart, "have_nvcc", lambda: False)
    assert quickstart.choice()[:2] == ("cpu", "quickstart") and "no nvcc" in quickstart.choice()[2]


def test_the_races_are_those_that_are_promised_and_have_room(mfbench, tmp_path):
    algorithms = {}
    for race in ("quickstart", "quickstart-gpu"):
        done = mfbench("validate", ROOT / "experiments" / f"{race}.json", "--json", cwd=tmp_path, code=0)
        algorithms[race] = {case["case"]["algorithm"] for case in json.loads(done.stdout)}
        assert json.loads((ROOT / "experiments" / f"{race}.json").read_text())["target_rmse"]
    assert algorithms == {"quickstart": {"sgd_serial", "hogwild", "fpsgd", "als_cpu"},
                          "quickstart-gpu": {"sgd_tiled", "als_fused", "als", "batch_hogwild", "ebgtg", "fpsgd", "als_cpu"}}
    done = mfbench("plan", ROOT / "experiments" / "quickstart-gpu.json", "--no-measure", "--json",
                   "--device-memory", quickstart.DEVICE_MIB / 1024, cwd=tmp_path, code=0)
    for case in json.loads(done.stdout)["cases"]:
        assert case["device_bytes"] < quickstart.DEVICE_MIB * 2**20
        assert case["host_bytes"] < quickstart.HOST_KIB * 2**10, case


# ---- programs beside others ----------------------------------------------------------------------

def test_a_program_beside_speaks_when_it_is_waited_for_and_ends_with_us(capfdbinary):
    with shell.Beside("sh", "-c", "echo said; exit 3") as process:
        print("before", flush=True)
        assert process.wait() == 3
    assert capfdbinary.readouterr().out == b"before\nsaid\n"
    with pytest.raises(ValueError), shell.Beside("sh", "-c", "sleep 60 & wait"):
        raise ValueError
    with pytest.raises(shell.Ended, match="ended with 4"):
        shell.run("sh", "-c", "exit 4")


def test_pytest_takes_what_there_is(monkeypatch, capsys):
    assert tests.pytest_processes(4, True) == 4 and tests.pytest_processes(4, None) == 1
    assert "runs in one process" in capsys.readouterr().out
    monkeypatch.setenv("JOBS", "16")
    command, environment = tests.pytest_command("ci", ["tests"])
    assert command[1:4] == ["-m", "pytest", "-q"] and command[-1] == "tests"
    assert environment["MFBENCH"] == f"{ROOT}/build/ci/mfbench"


def test_the_program_is_called_in_the_folder_of_its_user(mfbench, tmp_path):
    """Figures and report in that of the repository, whose paths the documents name."""
    (tmp_path / "s.json").write_text('{"datasets": ["like:ml-100k"], "algorithms": ["sgd_serial"]}')
    call = [ROOT / "dev", "mfbench", "validate", "s.json"]
    done = subprocess.run(call, cwd=tmp_path, text=True, capture_output=True, env={**os.environ, "MFBENCH": mfbench.program})
    assert done.returncode == 0 and "s.json: valid, 1 case" in done.stdout, done.stderr
    assert dev("report", "no-such-folder", MFBENCH=mfbench.program).returncode == 1
    assert dev("mfbench", "run", "no.json", MFBENCH=mfbench.program).returncode == 2


# ---- the rest ------------------------------------------------------------------------------------

def test_a_row_of_the_fuzzer(tmp_path):
    (tmp_path / "csv.log").write_text("#9 NEW cov: 12 ft: 3\n#10 cov: 15 ft: 3\n"
                                      "stat::number_of_executed_units: 42\nstat::average_exec_per_sec: 7\n")
    found = tmp_path / "findings/csv"
    found.mkdir(parents=True)
    (found / "slow-unit-1").write_text("")
    assert fuzz.row("csv", tmp_path) == (fuzz.ROW.format("csv", 42, 7, 15, 0), 0)
    (found / "crash-1").write_text("")
    assert fuzz.row("csv", tmp_path)[1] == 1
    (tmp_path / "csv.log").write_text("cannot start\n")
    (found / "crash-1").unlink()
    assert fuzz.row("csv", tmp_path)[1] == 1


def test_a_short_soak(mfbench, tmp_path, capsys):
    soak.soak_in(tmp_path, mfbench.program, 40, 2)
    said = capsys.readouterr().out
    assert "== 40 cases: " in said and "== killed 2 times" in said and "== two runs on one folder ran " in said
    changed, *_ = (tmp_path / "both").glob("*.jsonl")
    header, *rest = changed.read_text().splitlines(True)
    changed.write_text(header + "".join(rest[:-1]))
    with pytest.raises(Failure, match="expected a header, trace points and a footer"):
        soak.Soak(mfbench.program, 40, tmp_path).measured("both")
    finished = {changed.name: b"other"}
    changed.write_text(header + "".join(rest))
    with pytest.raises(Failure, match="was finished, and has changed"):
        soak.Soak(mfbench.program, 40, tmp_path).check_finished("both", finished)


@pytest.mark.parametrize("code", [0, 4])
def test_a_soak_takes_all_that_a_run_says(tmp_path, monkeypatch, code):
    talker = tmp_path / "talker"
    talker.write_text(f"#!{sys.executable}\n"
                      "import signal, sys\n"
                      "signal.alarm(10)\n"
                      "print('words ' * 100_000, file=sys.stderr, flush=True)\n"
                      "print('{\"type\": \"case_ends\"}\\n' * 40, end='')\n"
                      f"sys.exit({code})\n")
    talker.chmod(0o755)
    monkeypatch.setattr(soak, "use_of", lambda pid: (0, 0))  # it has ended before it is read
    watched = soak.Soak(str(talker), 40, tmp_path).watched
    if code == 0:
        assert len(watched("out")) == soak.LOOKS + 1
    else:
        with pytest.raises(Failure, match="the run with code 4: (words ){100000}"):
            watched("out")


@pytest.mark.parametrize("words", [["many"], ["8"], ["100", "0"]])
def test_a_soak_says_what_it_cannot_count(words):
    with pytest.raises(Failure, match="expected 40 or more cases and 1 or more kills"):
        soak.soak(words)


@pytest.mark.parametrize("grown", [(0, 50 << 20, 4), (0, 1 << 20, 9), (60, 1 << 20, 4)], ids=["memory", "descriptors", "seconds"])
def test_a_soak_sees_what_grows(grown):
    seconds, bytes_, descriptors = grown
    looks = [(1 + 100 * k, float(k + seconds * (k > 5)), (20 << 20) + (k > 5) * bytes_, 4 + (k > 5) * (descriptors - 4))
             for k in range(soak.LOOKS + 1)]
    with pytest.raises(Failure, match="takes more the more cases it has"):
        soak.check_growth(looks)


def test_a_pause_of_a_short_soak_is_no_growth():
    soak.check_growth([(1 + 4 * k, k / 250 + (k > 5) / 10, 20 << 20, 4) for k in range(soak.LOOKS + 1)])


def test_a_dictionary_of_the_fuzzer_has_the_words_of_what_it_reads():
    for target in (path.name for path in (ROOT / "testing/fuzz/corpus").iterdir()):
        for line in fuzz.dictionary(target).splitlines():
            assert re.fullmatch(r'"([ !#-[\]-~]|\\x[0-9a-f]{2})+"', line), (target, line)
    for target, some in {"spec": ['"learning_rate": ', '"simd"', '"als_fused"'], "split": ['"given": '], "results": ['"epoch_s":'],
                         "catalog": ['"probe": '], "peer": ['"user_bias": ', "'<f4'"], "csv": ["nan"], "cache": []}.items():
        assert set(some) <= set(fuzz.words(target)), target


def test_a_library_that_is_there_is_kept_until_its_requirements_change(tmp_path, monkeypatch):
    monkeypatch.setenv("MFBENCH_PEERS", str(tmp_path))
    monkeypatch.delenv("PEERS_CUDA", raising=False)
    asked = b"".join(path.read_bytes() for path in [peers.requirements_of("surprise"), *peers.cuda_requirements("surprise")])
    assert not peers.is_there("surprise")
    (tmp_path / "surprise").mkdir()
    (tmp_path / "surprise/installed.txt").write_text("x==1\n")
    (tmp_path / "surprise/requirements.txt").write_bytes(asked)
    assert peers.is_there("surprise")
    (tmp_path / "surprise/requirements.txt").write_bytes(asked + b"more\n")
    assert not peers.is_there("surprise")
    (tmp_path / "own/mine").mkdir(parents=True)
    (tmp_path / "own/mine/requirements.txt").write_text("numpy\n")
    monkeypatch.setenv("MFBENCH_PEERS_PATH", f"{tmp_path / 'own'}:")
    assert {"implicit", "libmf", "mine", "surprise"} <= set(peers.known())


def test_a_library_that_cannot_be_installed_leaves_only_its_log(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MFBENCH_PEERS", str(tmp_path))
    def fail(folder, *_, **__):
        (folder / "pip.log").write_text("a\nno network\n")
    monkeypatch.setattr(peers, "pip", fail)
    (tmp_path / "venv.py").write_text("#!/bin/sh\nmkdir $3\n")  # python -m venv FOLDER
    (tmp_path / "venv.py").chmod(0o755)
    monkeypatch.setattr(peers, "python_with", lambda *_: tmp_path / "venv.py")
    assert not peers.install("surprise")
    assert "surprise: not installed" in (said := capsys.readouterr().out) and "no network" in said
    assert {path.name for path in tmp_path.iterdir()} == {"surprise.log", "venv.py"}
