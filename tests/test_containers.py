"""The recipes of containers, which no test here can build, hold to the repository: commands, groups and
targets that exist, and no package that `./dev deps` does not know."""

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "containers"
RECIPES = ["Dockerfile", "Dockerfile.cuda", "mfbench.def"]
DEV = (ROOT / "dev").read_text()
WANTED = DEV.split("wanted() {")[1].split("\n}\n")[0]


def text_of(name):
    """Without comments, lines joined that go on."""
    text = re.sub(r"^\s*#.*\n", "", (FOLDER / name).read_text(), flags=re.M)
    return re.sub(r"\\\n\s*", "", text)


def groups():
    found = re.findall(r"^    (\w+(?: \| \w+)*)\) (?:cat|echo)", WANTED, re.M)
    return {name for names in found for name in names.split(" | ")}


def packages():
    return set(re.findall(r"\| ([a-z0-9.+-]+)[\"\n]", WANTED))


def test_what_is_compared_with_is_found():
    assert {"build", "optional", "mpi", "plot", "report"} <= groups()
    assert {"g++", "cmake", "libopenmpi-dev", "python3-pandas"} <= packages()


@pytest.mark.parametrize("name", RECIPES)
def test_commands_of_dev_and_their_groups_exist(name):
    calls = re.findall(r"\./dev (\S+)((?: [a-z]+)*)", text_of(name))
    assert calls
    for command, words in calls:
        assert command == "deps" and set(words.split()) <= groups()


@pytest.mark.parametrize("name", RECIPES)
def test_no_package_is_named_that_dev_does_not_know(name):
    named = [word for line in re.findall(r"apt-get install ([^&|;\n]*)", text_of(name))
             for word in line.split() if not word.startswith("-")]
    assert set(named) <= packages()


@pytest.mark.parametrize("name", RECIPES)
def test_presets_targets_and_folders_exist(name):
    text = text_of(name)
    presets = set(re.findall(r'"name": "(\w+)", "inherits"', (ROOT / "CMakePresets.json").read_text()))
    used = set(re.findall(r"--preset (\w+)", text))
    assert used and used <= presets
    assert set(re.findall(r"build/(\w+)", text)) == used
    assert set(re.findall(r"--target (\w+)", text)) == {"mfbench"}
    for option in re.findall(r"-D(MF_\w+)=", text):
        declared = "".join(p.read_text() for p in [ROOT / "CMakeLists.txt", *(ROOT / "cmake").glob("*.cmake")])
        assert re.search(rf"(option|set)\({option}\b", declared), option
    for path in re.findall(r"\b(experiments/\S+\.json)", (FOLDER / name).read_text()):
        assert (ROOT / path).is_file(), path


@pytest.mark.parametrize("name", ["Dockerfile", "Dockerfile.cuda"])
def test_a_dockerfile_has_known_instructions_in_an_order_that_builds(name):
    words = [line.split()[0] for line in text_of(name).splitlines() if line.strip()]
    assert words[0] == "FROM" and words[-2:] == ["ENTRYPOINT", "CMD"]
    assert set(words) <= {"FROM", "ENV", "ARG", "COPY", "WORKDIR", "RUN", "ENTRYPOINT", "CMD"}
    for script in re.findall(r"^RUN (.*)$", text_of(name), re.M):
        assert subprocess.run(["bash", "-n", "-c", script]).returncode == 0


def test_the_definition_of_apptainer_has_its_sections_and_they_parse():
    text = (FOLDER / "mfbench.def").read_text()
    header, *sections = re.split(r"^%(\w+)\n", text, flags=re.M)
    assert re.findall(r"^(\w+):", header, re.M) == ["Bootstrap", "From"]
    names, bodies = sections[::2], sections[1::2]
    assert names == ["files", "post", "environment", "runscript", "test"]
    for name, body in list(zip(names, bodies))[1:]:
        assert subprocess.run(["bash", "-n", "-c", body]).returncode == 0, name


def test_what_stays_outside_is_nothing_that_the_build_reads():
    kept_out = (ROOT / ".dockerignore").read_text().split()
    assert ".git" in kept_out and "build" in kept_out
    for needed in ["base", "cmake", "containers", "dev", "docs", "experiments", "peers", "plots",
                   "CMakeLists.txt", "CMakePresets.json", "LICENSE"]:
        assert (ROOT / needed).exists() and needed not in kept_out
