"""`cmake --install` into a folder that is then moved: the program runs from there and finds its data;
the manual page and completions are made from its own command line."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent


def commands(mfbench, cwd):
    """{"": options, "run": options, "data fetch": ...} by the program's own --help."""
    found = {}

    def walk(words):
        text = mfbench(*words, "--help", cwd=cwd).stdout
        found[" ".join(words)] = set(re.findall(r"^  +(?:-\w[, ]+)?(--[\w-]+)|^  +(-\w)\b", text, re.M))
        found[" ".join(words)] = {a or b for a, b in found[" ".join(words)]}
        if "Subcommands:\n" in text:
            for name in re.findall(r"^  (\w+) ", text.split("Subcommands:\n")[1], re.M):
                walk([*words, name])
    walk([])
    return found


@pytest.fixture(scope="module")
def installed(mfbench, tmp_path_factory):
    folder = tmp_path_factory.mktemp("install")
    build = pathlib.Path(mfbench.program).parent
    (folder / "r.csv").write_text("user,item,rating\n1,1,1\n2,2,2\n")
    assert mfbench("data", "import", "mine", "r.csv", cwd=folder).returncode == 0
    done = subprocess.run(["cmake", "--install", build, "--prefix", folder / "first"],
                          capture_output=True, text=True, env=mfbench.environment())
    assert done.returncode == 0, done.stderr
    (folder / "first").rename(folder / "a b")  # it must not know where it was put
    return folder / "a b"


@pytest.fixture
def run(installed, mfbench, tmp_path):
    def call(program, *arguments, **options):
        environment = {**mfbench.environment(), "PATH": f"{installed / 'bin'}:{os.environ['PATH']}"}
        return subprocess.run([program, *map(str, arguments)], cwd=tmp_path, text=True, timeout=60,
                              capture_output=True, **{"env": environment, **options})
    return call


def test_the_tree_is_complete(installed):
    share = installed / "share"
    for name in ["bin/mfbench", "bin/mfplots", "share/man/man1/mfbench.1",
                 "share/bash-completion/completions/mfbench", "share/zsh/site-functions/_mfbench",
                 "share/mfbench/spec.schema.json", "share/mfbench/peers/launch.py",
                 "share/mfbench/plots/recipes/quickstart.json", "share/doc/mfbench/LICENSE",
                 "share/doc/mfbench/docs/spec.md"]:
        assert (installed / name).is_file(), name
    specs = {path.relative_to(ROOT) for path in (ROOT / "experiments").rglob("*.json")}
    assert specs == {path.relative_to(share / "mfbench") for path in
                     (share / "mfbench" / "experiments").rglob("*.json")}
    assert not [path for path in installed.rglob("*") if "__pycache__" in path.parts
                or path.suffix in (".a", ".o", ".cpp", ".hpp")]


def test_it_runs_what_came_with_it_from_anywhere(run, tmp_path):
    done = run("mfbench", "validate", "experiments/quickstart.json")
    assert done.returncode == 0, done.stderr
    done = run("mfbench", "run", "experiments/ml-100k.json")
    assert done.returncode == 3 and "ml-100k: u.data" in done.stderr  # the spec was found
    done = run("mfbench", "validate", "experiments/no.json")
    assert done.returncode == 2 and "experiments/no.json" in done.stderr
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments/quickstart.json").write_text("[]")
    assert run("mfbench", "validate", "experiments/quickstart.json").returncode == 2  # one's own first


def test_figures_are_drawn_by_what_was_installed(installed, mfbench, tmp_path):
    for name in ("matplotlib", "pandas", "scipy"):
        pytest.importorskip(name)
    done = subprocess.run([installed / "bin" / "mfplots", "table",
                           ROOT / "results" / "reference" / "epyc-2" / "quickstart"], cwd=tmp_path,
                          capture_output=True, text=True, timeout=120,
                          env={**os.environ, "PYTHON": sys.executable})
    assert done.returncode == 0, done.stderr
    assert "fpsgd" in done.stdout


def test_peers_are_found_beside_it(run):
    peers = json.loads(run("mfbench", "doctor", "--json").stdout)["peers"]
    assert peers and all("MFBENCH_PEER_SCRIPTS" not in peer["state"] for peer in peers)


def test_the_schema_is_the_program_s(installed, mfbench, tmp_path):
    """Without the data sets that whoever installs it has imported."""
    kept = json.loads((installed / "share/mfbench/spec.schema.json").read_text())
    nothing = {**mfbench.environment(), "MFBENCH_CACHE": str(tmp_path / "empty")}
    assert kept == json.loads(mfbench("schema", cwd=tmp_path, env=nothing).stdout)


# ---- version ------------------------------------------------------------------------------------

def test_the_version_comes_from_one_place(mfbench, tmp_path):
    version = re.search(r"project\(mfbench VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    lines = mfbench("--version", cwd=tmp_path).stdout.splitlines()
    assert lines[0] == f"mfbench {version}"
    assert re.match(r"commit: ([0-9a-f]{40}|unknown)(, with changes)?$", lines[1])
    assert lines[2].startswith("build: ") and lines[3].startswith("with: ")
    assert f"mfbench {version}" in mfbench("man", cwd=tmp_path).stdout.splitlines()[0].replace("\\", "")
    assert mfbench("doctor", cwd=tmp_path).stdout.split("\n")[0].split()[1] == version


def test_changelog_and_citation_have_the_same_version():
    version = re.search(r"project\(mfbench VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    changes = (ROOT / "CHANGELOG.md").read_text()
    headings = re.findall(r"^## (.*)$", changes, re.M)
    assert headings[0] == "[Unreleased]"
    released = [re.fullmatch(r"\[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)", one) for one in headings[1:]]
    assert released and all(released), headings
    assert released[0][1] == version
    numbers = [tuple(map(int, one[1].split("."))) for one in released]
    assert numbers == sorted(numbers, reverse=True)
    assert [one[2] for one in released] == sorted((one[2] for one in released), reverse=True)
    kinds = set(re.findall(r"^### (.*)$", changes, re.M))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    begins = [" ".join(one.split())[:40] for one in re.findall(r"^- (?:.*\n(?:  .*\n)*)", changes, re.M)]
    assert sorted(begins) == sorted(set(begins)), "a change stands there twice"
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"version: {version}\ndate-released: {released[0][2]}\n" in citation


# ---- the manual page ------------------------------------------------------------------------------

def plain(text):
    return re.sub(r"\\f[BIR]|\\&", "", text).replace("\\-", "-").replace("\\e", "\\")


def test_the_manual_page_has_every_command_and_option(mfbench, tmp_path):
    text = plain(mfbench("man", cwd=tmp_path).stdout)
    sections = dict(re.findall(r"^\.SS (.*)\n((?:(?!\.S[SH]).*\n)*)", text, re.M))
    known = commands(mfbench, tmp_path)
    assert set(sections) == set(known) - {""}
    for command, options in known.items():
        section = sections.get(command, text)
        assert [option for option in options if option not in section] == [], command


def variables():
    """That the program asks for: those of tests and benchmarks are their own."""
    sources = [path for room in ("base", "datasets", "algorithms", "harness")
               for path in (ROOT / room).rglob("*.[ch]pp")
               if not {"test", "bench"} & set(path.relative_to(ROOT).parts)]
    return {name for path in sources for name in re.findall(r'"(MFBENCH_\w+)"', path.read_text())}


def test_the_manual_page_names_all_variables_and_exit_codes(mfbench, tmp_path):
    text = mfbench("man", cwd=tmp_path).stdout
    page = (ROOT / "docs" / "spec.md").read_text()
    rows = re.findall(r"^\| (`MFBENCH_[^|]*) \|", page, re.M)
    names = {name for row in rows for name in re.findall(r"MFBENCH_\w+", row)}
    assert names and names == variables() == set(re.findall(r"^\\fB(MFBENCH_\w+)", text, re.M))
    codes = re.findall(r"^\| (\d+) \|", page.split("## Exit codes")[1].split("\n## ")[0], re.M)
    told = re.findall(r"^\\fB([\d, ]+)\\fR", text.split(".SH EXIT STATUS")[1].split(".SH")[0], re.M)
    assert codes and ", ".join(told).split(", ") == codes


@pytest.mark.parametrize("program", ["groff", "mandoc"])
def test_formatters_have_nothing_to_say(mfbench, tmp_path, program):
    if not shutil.which(program):
        pytest.skip(f"no {program} here")
    text = mfbench("man", cwd=tmp_path).stdout
    arguments = {"groff": ["-man", "-Tutf8", "-ww", "-z"], "mandoc": ["-Tlint", "-Wwarning"]}[program]
    done = subprocess.run([program, *arguments], input=text, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout + done.stderr == ""


# ---- completion -----------------------------------------------------------------------------------

def completed(script, line, cwd):
    """What bash would offer for a line."""
    code = (f"source {script}; COMP_WORDBREAKS=$' \\t\\n\"\\'><=;|&(:'; COMP_LINE=$1; COMP_POINT=${{#1}}; "
            'compopt() { :; }; _mfbench; printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "--norc", "-c", code, "_", line], cwd=cwd, text=True,
                          capture_output=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return set(done.stdout.split("\n")) - {""}


@pytest.fixture(scope="module")
def bash(mfbench, tmp_path_factory):
    path = tmp_path_factory.mktemp("bash") / "mfbench.bash"
    path.write_text(mfbench("completion", "bash", cwd=path.parent).stdout)
    return path


def test_bash_knows_every_command_and_option(mfbench, bash, tmp_path):
    known = commands(mfbench, tmp_path)
    assert completed(bash, "mfbench ", tmp_path) == {name for name in known if name and " " not in name}
    assert completed(bash, "mfbench data ", tmp_path) == {"list", "stats", "import", "fetch"}
    for command, options in known.items():
        offered = completed(bash, f"mfbench {command} -".replace("  ", " "), tmp_path)
        assert options <= offered, command


def test_bash_completes_names_files_and_choices(mfbench, bash, tmp_path):
    names = {one["name"] for one in json.loads(mfbench("list", "--json", cwd=tmp_path).stdout)}
    plain_names = {name for name in names if ":" not in name}
    assert plain_names <= completed(bash, "mfbench describe ", tmp_path)
    assert completed(bash, "mfbench describe als_", tmp_path) == {"als_cpu", "als_fused"}
    peers = {name for name in names if name.startswith("peer:surprise")}
    offered = completed(bash, "mfbench describe peer:surp", tmp_path)  # without what readline has
    assert peers and offered == {name.rpartition("peer:")[2] for name in peers}
    (tmp_path / "a.json").write_text("{}")
    (tmp_path / "b.txt").write_text("")
    (tmp_path / "specs").mkdir()
    assert completed(bash, "mfbench run ", tmp_path) == {"a.json", "specs"}
    assert completed(bash, "mfbench run a.json --out ", tmp_path) == {"specs"}
    assert completed(bash, "mfbench run a.json --pin ", tmp_path) == {"none", "threads", "cores", "nodes"}
    assert completed(bash, "mfbench compare --margin 0.1 ", tmp_path) == {"specs"}
    assert "ml-100k" in completed(bash, "mfbench data fetch ml-", tmp_path)
    assert completed(bash, "mfbench completion ", tmp_path) == {"bash", "zsh"}


def test_zsh_takes_the_script_and_knows_every_option(mfbench, tmp_path):
    if not shutil.which("zsh"):
        pytest.skip("no zsh here")
    script = tmp_path / "_mfbench"
    script.write_text(mfbench("completion", "zsh", cwd=tmp_path).stdout)
    code = ("autoload -U compinit; compinit -u -D; source ./_mfbench; "
            "print -r -- $_comps[mfbench]; print -rl -- ${(k)functions} | grep '^_mfbench'")
    done = subprocess.run(["zsh", "-f", "-c", code], cwd=tmp_path, text=True, capture_output=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    known = commands(mfbench, tmp_path)
    functions = set(done.stdout.split()[1:])
    assert done.stdout.split()[0] == "_mfbench"
    assert functions == {"_mfbench" + "".join(f"_{word}" for word in name.split()) for name in known}
    text = script.read_text()
    for name, options in known.items():
        function = "_mfbench" + "".join(f"_{word}" for word in name.split())
        body = text.split(f"\n{function}() {{\n")[1].split("\n}\n")[0]
        assert [option for option in options if f"'{option}[" not in body] == [], name


def test_zsh_offers_commands_files_and_choices(mfbench, tmp_path):
    """In a shell on a terminal of its own: TAB, and what stands there then."""
    if not shutil.which("zsh"):
        pytest.skip("no zsh here")
    (tmp_path / "_mfbench").write_text(mfbench("completion", "zsh", cwd=tmp_path).stdout)
    (tmp_path / "own.json").write_text("{}")
    (tmp_path / "other.txt").write_text("")
    code = r"""
zmodload zsh/zpty
zpty shell 'PS1= zsh -f -i'
zpty -w shell "cd '$PWD'; autoload -U compinit; compinit -u -D; source ./_mfbench; echo READY"
zpty -r -m shell out '*READY*READY*'
for line in "mfbench vali" "mfbench run o" "mfbench run --pin co" "mfbench describe als_f" "mfbench data fe"; do
  zpty -n -w shell "$line"$'\t'
  zpty -n -w shell $'\x01echo SH"OWN <\x05>" \n'  # which the terminal repeats as it is typed
  zpty -r -m shell out '*SHOWN <*>*'
  print -r -- "$out"
done
zpty -d shell
"""
    done = subprocess.run(["zsh", "-f", "-c", code], cwd=tmp_path, text=True, capture_output=True,
                          timeout=60, env={**os.environ, "TERM": "dumb"})
    shown = re.findall(r"SHOWN <(mfbench[^>]*?) *>", done.stdout)
    assert shown == ["mfbench validate", "mfbench run own.json", "mfbench run --pin cores",
                     "mfbench describe als_fused", "mfbench data fetch"], done.stdout + done.stderr
