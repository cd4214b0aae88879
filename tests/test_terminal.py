"""What files say reaches a terminal with its control characters escaped, and no name passes for a
line; JSON output stays JSON that means the same."""

import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import termios
import unicodedata

import pytest

ESC = "\x1b[31mred"
TURNED = "\u202egpj"
HOSTILE = f"{ESC}\u009b2J\x7f{TURNED}"


def is_clean(text):
    return not any(unicodedata.category(c) == "Cc" and c not in "\t\n" for c in text) and \
        "\u202e" not in text


@pytest.fixture(scope="module")
def hostile(mfbench, tmp_path_factory):
    """A run on a file with a hostile name, and its results with hostile text in every string."""
    folder = tmp_path_factory.mktemp("hostile")
    data = f"ratings{HOSTILE}.txt"
    rows = [f"{user} {item} {1 + (user + item) % 5}" for user in range(9) for item in range(9)]
    (folder / data).write_text("\n".join(rows) + "\n")
    spec = {"name": HOSTILE, "datasets": [{"path": data, "format": "triples"}],
            "stop": {"epochs": 2}, "seeds": [1, 2, 3], "target_rmse": 1.5,
            "algorithms": [{"name": "sgd_serial", "factors": 2}]}
    done = mfbench("run", "spec.json", "--out", "out", cwd=folder, code=0, spec=spec)
    assert "ratings\\x1b[31mred" in done.stdout and is_clean(done.stdout + done.stderr)
    for path in (folder / "out").glob("*.jsonl"):
        (folder / "other").mkdir(exist_ok=True)
        objects = [json.loads(line) for line in path.read_text().splitlines()]
        objects[0]["dataset"]["name"] = f"toy{HOSTILE}\nforged: line"
        objects[0]["environment"]["cpu"] = f"cpu{HOSTILE}\nforged: line"
        objects[0]["environment"]["git_sha"] = f"{HOSTILE}\nforged"
        text = "".join(json.dumps(item) + "\n" for item in objects)
        (folder / "other" / path.name).write_text(text)
    (folder / "other" / f"cut{HOSTILE}.jsonl").write_text('{"type": "header"}\n')
    return folder


def test_commands_that_show_names_of_files(mfbench, hostile):
    data = f"ratings{HOSTILE}.txt"
    for arguments in (["data", "stats", data, "--format", "triples"], ["plan", "spec.json",
                                                                      "--no-measure"],
                      ["validate", "spec.json"], ["compare", "out", "other"],
                      ["compare", "other", "other"], ["data", "stats", f"absent{HOSTILE}.txt"],
                      ["validate", f"absent{HOSTILE}.json"], ["recommend", HOSTILE, "--user", "1"]):
        done = mfbench(*arguments, cwd=hostile)
        assert is_clean(done.stdout + done.stderr), arguments
        assert "\nforged" not in done.stdout, arguments
        assert done.returncode in (0, 2, 3), done.stderr
    shown = mfbench("compare", "other", "other", cwd=hostile).stdout
    assert "toy\\x1b[31mred" in shown and "cpu\\x1b[31mred" in shown


def test_json_output_is_clean_and_says_the_same(mfbench, hostile):
    data = f"ratings{HOSTILE}.txt"
    stats = mfbench("data", "stats", data, "--format", "triples", "--json", cwd=hostile)
    assert is_clean(stats.stdout)
    assert json.loads(stats.stdout)["name"].startswith(f"ratings{HOSTILE}.txt")
    compared = mfbench("compare", "other", "other", "--json", cwd=hostile)
    assert is_clean(compared.stdout)
    assert f"cpu{HOSTILE}\nforged: line, " in json.loads(compared.stdout)["first"]["machines"][0]
    cases = mfbench("validate", "spec.json", "--json", cwd=hostile)
    assert is_clean(cases.stdout)
    assert json.loads(cases.stdout)[0]["case"]["dataset"]["path"] == data
    run = mfbench("run", "spec.json", "--out", "json", "--json", cwd=hostile)
    assert is_clean(run.stdout) and [json.loads(line) for line in run.stdout.splitlines()]


def on_terminal(program, arguments, folder, environment, columns=None, code=0):
    """What a program writes to a terminal, of so many columns or of unknown size."""
    master, slave = pty.openpty()
    if columns:
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([program, *arguments], cwd=folder, stdout=slave, stderr=slave,
                               stdin=slave, env=environment, close_fds=True)
    os.close(slave)
    out = b""
    while select.select([master], [], [], 60)[0]:
        try:
            piece = os.read(master, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        out += piece
    os.close(master)
    assert process.wait(300) == code, out
    return out.decode()


def test_the_live_table_sends_its_own_sequences_alone(mfbench, hostile):
    text = on_terminal(mfbench.program, ["run", "spec.json", "--out", "live"], hostile,
                       {**mfbench.environment(), "NO_COLOR": "1"},  # a busy machine colours "contended"
                       columns=300)  # room for the name of the data set
    assert "\r\x1b[K" in text
    rest = text.replace("\r\x1b[K", "").replace("\r\n", "\n")
    assert is_clean(rest) and "ratings\\x1b[31mred" in rest


RED, YELLOW, PLAIN = "\x1b[31m", "\x1b[33m", "\x1b[0m"


@pytest.mark.parametrize("change, coloured", [
    ({}, True), ({"NO_COLOR": ""}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_errors_and_warnings_are_coloured_on_a_terminal(mfbench, tmp_path, change, coloured):
    environment = {**mfbench.environment(), "TERM": "xterm", **change}
    shown = on_terminal(mfbench.program, ["describe", "no_such"], tmp_path, environment, code=2)
    assert (f"{RED}error{PLAIN}: there is" in shown) == coloured and "error" in shown
    spec = {"datasets": [{"like": "ml-100k"}], "stop": {"epochs": 1},
            "algorithms": [{"name": "sgd_serial", "factors": [4, 4]}]}
    (tmp_path / "odd.json").write_text(json.dumps(spec))
    shown = on_terminal(mfbench.program, ["validate", "odd.json"], tmp_path, environment)
    assert (f"{YELLOW}warning{PLAIN}: " in shown) == coloured and "warning" in shown
    assert coloured or "\x1b[3" not in shown
    assert "\x1b" not in mfbench("validate", "odd.json", cwd=tmp_path).stderr


def test_the_line_of_a_contended_case_is_clean(mfbench, hostile):
    assert mfbench("run", "spec.json", "--out", "shared", "--quiet", cwd=hostile).returncode == 0
    for path in (hostile / "shared").glob("*.jsonl"):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        lines[-1].update(contended=True, contended_by=f"a thread waited {HOSTILE}")
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    shown = mfbench("run", "spec.json", "--out", "shared", "--quiet", cwd=hostile)
    assert "contended, " in shown.stdout and is_clean(shown.stdout + shown.stderr)


def test_messages_about_hostile_keys_and_values(mfbench, tmp_path):
    good = {"datasets": ["ml-100k"], "algorithms": ["sgd_serial"]}
    for change in ({HOSTILE: 1}, {"schedule": {HOSTILE: 1}}, {"datasets": [HOSTILE]},
                   {"algorithms": [HOSTILE]}, {"stop": {"epochs": HOSTILE}},
                   {"datasets": [{"path": "x.csv", "format": HOSTILE}]},
                   {"datasets": [{"like": "ml-100k", "label": f"a{TURNED}"}]},
                   {"datasets": [{"like": "ml-100k", "label": "a\u009b"}]}):
        done = mfbench("validate", "spec.json", cwd=tmp_path, spec={**good, **change})
        assert done.returncode == 2 and is_clean(done.stdout + done.stderr), (change, done.stderr)


def test_without_home_all_commands_work(mfbench, tmp_path):
    """The cache is elsewhere, with a warning; what needs no cache says nothing."""
    environment = {name: value for name, value in mfbench.environment().items()
                   if name not in ("HOME", "XDG_CACHE_HOME", "MFBENCH_CACHE")}
    spec = {"datasets": [{"path": "ratings.txt"}], "stop": {"epochs": 1},
            "algorithms": [{"name": "sgd_serial", "factors": 2}]}
    (tmp_path / "own.json").write_text(json.dumps(spec))

    def run(*arguments):
        return subprocess.run([mfbench.program, *arguments], cwd=tmp_path, text=True,
                              capture_output=True, timeout=300, env=environment)

    for arguments in (["list"], ["describe", "als_cpu"], ["validate", "own.json"]):
        done = run(*arguments)
        assert done.returncode == 0, done.stderr
    assert run("list").stderr == ""
    done = run("doctor")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("HOME is not set") == 1
