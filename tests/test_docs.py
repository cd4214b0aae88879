"""The documents are true: their specs are valid, their commands exist, their links resolve, and the
worked examples of docs/adding-an-algorithm.md compile, pass their tests and run."""

import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from guide import GUIDE, ROOT, files_of, write

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
ALL_MARKDOWN = [path for path in sorted(ROOT.rglob("*.md"))
                if not {"build", "runs", "data", ".cache"} & set(path.relative_to(ROOT).parts)]


def name_of(path):
    return str(path.relative_to(ROOT))


def blocks(path):
    """(language, text) of the fenced blocks."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", path.read_text(), re.M | re.S)


# ---- specs ---------------------------------------------------------------------------------------

MINIMAL = {"datasets": ["like:ml-100k"], "algorithms": ["sgd_serial"]}
# Their headings name the algorithms.
FAMILIES = [page for page in sorted(ROOT.glob("algorithms/*/README.md")) if "`" in page.read_text().splitlines()[0]]
SPECS = [(page, number, text) for page in [*PAGES, *FAMILIES] if page != GUIDE
         for number, (language, text) in enumerate(blocks(page)) if language == "json"]


@pytest.mark.parametrize("page,number,text", SPECS,
                         ids=[f"{name_of(page)}-{number}" for page, number, _ in SPECS])
def test_every_json_block_is_a_valid_spec_or_part_of_one(mfbench, tmp_path, page, number, text):
    spec = {**MINIMAL, **json.loads(text)}
    mfbench("validate", "spec.json", cwd=tmp_path, code=0, spec=spec)


def keys_of(schema):
    """The names of all properties at any depth."""
    for key, inner in schema.items() if isinstance(schema, dict) else enumerate(schema):
        if key == "properties":
            yield from inner
        if isinstance(inner, (dict, list)):
            yield from keys_of(inner)


def test_the_pages_name_every_key_format_and_look_alike_of_the_schema(mfbench, tmp_path):
    schema = json.loads(mfbench("schema", cwd=tmp_path).stdout)
    choices = re.findall(r'"enum": \[(.*?)\]', json.dumps([schema["$defs"][name] for name in ("format", "like")]))
    words = {*keys_of(schema), *re.findall(r'"(.*?)"', " ".join(choices))}
    assert {"holdout", "user_groups", "sleep_ms", "netflix", "matrix-market"} <= words
    pages = "".join((ROOT / "docs" / name).read_text() for name in
                    ("spec.md", "tuning.md", "reference/algorithms.md", "reference/formats.md"))
    assert [word for word in sorted(words) if f"`{word}`" not in pages and f'"{word}"' not in pages] == []


# ---- commands ------------------------------------------------------------------------------------

def code_lines(path):
    """Lines of fenced and indented blocks, and code spans."""
    text = path.read_text()
    for _, block in blocks(path):
        yield from block.splitlines()
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    yield from (line.strip() for line in text.splitlines() if line.startswith("    "))
    yield from re.findall(r"`([^`\n]+)`", text)


def subcommands(help_text):
    listed = help_text.split("Subcommands:\n")[1]
    return set(re.findall(r"^  (\w+) ", listed, re.M))


def calls(program):
    """(page, line) of every code line that calls the program."""
    pattern = re.compile(rf"(^|[\s/;]){re.escape(program)} (?=[a-z-])")
    return [(page, line) for page in PAGES if page.parent.name != "reference"  # the program's words
            for line in code_lines(page)
            if pattern.search(line) and not line.startswith("cmake")]


def test_every_mfbench_command_and_option_exists(mfbench, tmp_path):
    known = subcommands(mfbench("--help", cwd=tmp_path).stdout)
    known_data = subcommands(mfbench("data", "--help", cwd=tmp_path).stdout)
    assert "run" in known and "fetch" in known_data
    helps = functools.cache(lambda *command: mfbench(*command, "--help", cwd=tmp_path).stdout)
    seen = 0
    for page, line in calls("mfbench"):
        words = line.split("mfbench ", 1)[1].split("#")[0].split()
        if words[0].startswith("-"):
            command = []
        elif words[0] == "data":
            command = words[:2]
            assert words[1:] == [] or words[1] in known_data | {"..."}, f"{name_of(page)}: {line}"
        else:
            command = words[:1]
            assert words[0] in known, f"{name_of(page)}: {line}"
        seen += 1
        text = helps(*(w for w in command if w != "..."))
        for option in (w.strip("[],.;") for w in words):
            if option.startswith("--"):
                assert re.search(rf"{option}\b", text), f"{name_of(page)}: {line}"
    assert seen > 10


def test_every_dev_command_exists():
    done = subprocess.run(["./dev", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    known = set(re.findall(r"^\./dev ([a-z-]+)", done.stdout, re.M))
    used = {line.split("./dev ", 1)[1].split()[0]: f"{name_of(page)}: {line}"
            for page, line in calls("./dev")}
    assert {"quickstart", "test"} <= used.keys()
    assert [where for word, where in used.items() if word not in known] == []


# ---- links ---------------------------------------------------------------------------------------

def anchors(path):
    """The anchors that code hosts make of headings."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.M | re.S)
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_relative_links_resolve():
    broken = []
    for page in ALL_MARKDOWN:
        text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            file = page.parent / path if path else page
            if not file.exists() or (anchor and anchor not in anchors(file)):
                broken.append(f"{name_of(page)}: {target}")
    assert broken == []


# ---- lines ---------------------------------------------------------------------------------------

def test_a_page_hides_nothing():
    """Sources of numbers have a file beside the page; in a comment they would not be checked."""
    assert [name_of(page) for page in ALL_MARKDOWN if "<!--" in page.read_text()] == []


# ---- pages of algorithms -------------------------------------------------------------------------

def test_every_algorithm_has_a_page(mfbench, tmp_path):
    """The first line of the page of a family names its algorithms."""
    names = {}
    for one in json.loads(mfbench("list", "--json", cwd=tmp_path).stdout):
        if one["family"] not in ("peer", "ruler"):
            names.setdefault(one["family"], set()).add(one["name"])
    titles = {page.parent.name: page.read_text().partition("\n")[0] for page in ROOT.glob("algorithms/*/README.md")}
    found = {family: set(re.findall(r"`([\w+]+)`", titles.get(family, ""))) for family in names}
    assert found == names, 'expected the form "# Title: `name`, `name`"'


# ---- the worked examples --------------------------------------------------------------------------

def ninja_block(text, output):
    """The variables of one build statement of a build.ninja."""
    found = re.search(rf"^build {re.escape(output)}: [^\n]*\n((?:  [^\n]*\n)*)", text, re.M)
    assert found, f"build.ninja does not build {output}"
    return dict(re.findall(r"^  (\w+) = (.*)$", found[1], re.M))


def ninja_inputs(text, output):
    """What one build statement makes its output from, less what that only waits for."""
    found = re.search(rf"^build {re.escape(output)}: \S+ ([^|\n]*)", text, re.M)
    assert found, f"build.ninja does not build {output}"
    return found[1].split()


def cache_value(build, name):
    found = re.search(rf"^{name}:\w+=(.*)$", (build / "CMakeCache.txt").read_text(), re.M)
    return found[1] if found else ""


class Example:
    """An example's files, its test program and an mfbench that has it, as the build makes them."""

    def __init__(self, build, folder, family):
        self.folder = folder
        write(family, folder)
        self.build = build
        self.compiler = cache_value(build, "CMAKE_CXX_COMPILER")
        self.cuda_compiler = (cache_value(build, "CMAKE_CUDA_COMPILER")
                              or cache_value(build, "MF_NVCC"))
        ninja = (build / "build.ninja").read_text()
        self.main = "harness/CMakeFiles/mfbench.dir/main.cpp.o"
        # Not a source of a family: a build may take those that need no CUDA from another one.
        self.commands = {".cpp": self.compile_command(ninja, self.main)}
        if self.cuda_compiler:
            kernel = "algorithms/CMakeFiles/mf_algo_ruler.dir/ruler/ruler_device.cu.o"
            self.commands[".cu"] = self.compile_command(ninja, kernel)
        self.link = ninja_block(ninja, "mfbench")
        # Those of the families among them; a program of the example has a main of its own, or this.
        self.objects = [name for name in ninja_inputs(ninja, "mfbench") if name != self.main]

    def compile_command(self, ninja, output):
        """As the build compiles this object, but quickly, and for one of its architectures. Without
        its precompiled header, which fits only optimized code and would hide a missing include."""
        block = ninja_block(ninja, output)
        flags = re.sub(r"-Winvalid-pch|-include \S+", "", block["FLAGS"]).split()
        architectures = [word for word in flags if word.startswith("--generate-code")]
        flags = [word for word in flags if word not in architectures[:-1]]
        compiler = self.cuda_compiler if architectures else self.compiler
        return [compiler, *block.get("DEFINES", "").replace("\\", "").split(), *flags, "-O0",
                f"-I{self.folder}", *block.get("INCLUDES", "").split()]

    def missing(self):
        inputs = [self.main, *self.objects, *self.link["LINK_LIBRARIES"].split()]
        absent = [name for name in inputs
                  if name.endswith((".a", ".o")) and not (self.build / name).exists()]
        return f"{absent[0]} is not built" if absent else ""

    def compile_all(self):
        sources = [path for path in sorted(self.folder.rglob("*")) if path.suffix in self.commands]
        objects = [source.with_suffix(".o") for source in sources]
        running = [subprocess.Popen([*self.commands[source.suffix], "-c", str(source), "-o",
                                     str(out)], cwd=self.build, stderr=subprocess.PIPE, text=True)
                   for source, out in zip(sources, objects)]
        errors = [process.communicate()[1] for process in running]
        assert all(process.returncode == 0 for process in running), "\n".join(errors)
        return objects

    def link_program(self, name, objects, libraries=()):
        out = self.folder / name
        command = [self.compiler, *self.link["FLAGS"].split(),
                   *self.link.get("LINK_FLAGS", "").split(), *map(str, objects),
                   *self.objects, *libraries, *self.link["LINK_LIBRARIES"].split(), "-pthread", "-o", str(out)]
        done = subprocess.run(command, cwd=self.build, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return out

    def make(self):
        objects = self.compile_all()
        tests = [out for out in objects if out.parent.name == "test"]
        rest = [out for out in objects if out not in tests]
        self.test_program = self.link_program("test_program", tests + rest,
                                              ["-lgtest", "-lgtest_main"])
        self.mfbench = self.link_program("mfbench", [self.main, *rest])


def make_example(build, folder, family):
    for name in ["build.ninja", "CMakeCache.txt"]:
        if not (build / name).exists():
            pytest.skip(f"no {name} in {build.name}: {family} is not compiled")
    made = Example(build, folder, family)
    if missing := made.missing():
        pytest.skip(f"{build.name}: {missing}: {family} is not compiled")
    made.make()
    return made


@pytest.fixture(scope="module")
def example(mfbench, tmp_path_factory):
    build = pathlib.Path(shutil.which(mfbench.program)).resolve().parent
    return make_example(build, tmp_path_factory.mktemp("example"), "bias_only")


@pytest.fixture(scope="module")
def cuda_example(mfbench, tmp_path_factory):
    """Compiled by a CUDA build that stands beside the one under test, or is it."""
    builds = pathlib.Path(shutil.which(mfbench.program)).resolve().parent.parent
    build = next((builds / name for name in ["cuda", "cuda-check"] if (builds / name).exists()), None)
    if build is None:
        pytest.skip("no CUDA build beside this one: minibatch_sgd is not compiled")
    return make_example(build, tmp_path_factory.mktemp("cuda_example"), "minibatch_sgd")


def test_the_cuda_example_passes_its_own_tests(cuda_example):
    done = subprocess.run([cuda_example.test_program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout
    if "no CUDA device" in done.stdout:
        pytest.skip("the CUDA example compiles and links; no device here to run its test")
    assert "[  PASSED  ] 1 test" in done.stdout


def test_the_example_passes_its_own_tests(example):
    written = sum(text.count("\nTEST(") for text in files_of("bias_only").values())
    done = subprocess.run([example.test_program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout
    assert f"[  PASSED  ] {written} tests" in done.stdout


def test_the_example_runs_in_the_harness(mfbench, example, tmp_path):
    def run(*arguments):
        return subprocess.run([example.mfbench, *arguments], cwd=tmp_path, text=True, timeout=300,
                              capture_output=True, env=mfbench.environment())

    assert "bias_only" in run("list").stdout
    assert "reg_user_bias" in run("describe", "bias_only").stdout
    spec = next(text for language, text in blocks(GUIDE) if language == "json")
    (tmp_path / "biases.json").write_text(spec)
    done = run("run", "biases.json", "--out", "out", "--quiet")
    assert done.returncode == 0, done.stderr
    files = sorted((tmp_path / "out").glob("bias_only-*.jsonl"))
    assert len(files) == len(json.loads(spec)["seeds"])
    for path in files:
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        start, footer = lines[1], lines[-1]
        assert footer["status"] == "completed"
        assert footer["best_test_rmse"] < 0.95 * start["test_rmse"]
        assert footer["phases"]["users"]["count"] == footer["phases"]["items"]["count"] == 20


# Checks of the tree that a new family meets, beside those of its build.
FAMILY_CHECKS = ("links or lines or hides or English or page or include or room or way or cuda or title "
                 "or star")


def test_a_copied_example_meets_the_checks_of_a_family(example, tmp_path):
    """As the guide says: cp -r docs/examples/bias_only algorithms/."""
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "results").symlink_to(ROOT / "results")
    for one in ROOT.iterdir():
        if one.is_file():
            shutil.copy(one, tree)
        elif one.name not in (".git", ".cache", "build", "runs", "data", "shared", "results", "site-docs"):
            shutil.copytree(one, tree / one.name, ignore=shutil.ignore_patterns("__pycache__"))
    write("bias_only", tree)
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", FAMILY_CHECKS,
                           "tests/test_docs.py", "tests/test_list.py", "tests/test_rooms.py"], cwd=tree, text=True,
                          capture_output=True, timeout=300, env={**os.environ, "MFBENCH": str(example.mfbench)})
    assert done.returncode == 0, done.stdout
