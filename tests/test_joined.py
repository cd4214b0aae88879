"""What a source keeps to itself has a name of its own: sources of a target are compiled sixteen to one.

Which sixteen depends on what else the build has (CUDA, MPI, libarchive), so a name that two sources
of a target both have breaks one build and not another.
"""

import collections
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
OPENS = re.compile(r"^namespace \{$")
CLOSES = re.compile(r"^\}  // namespace$")
FUNCTION = re.compile(r"^(?!using |return |namespace |template )(?=\w)(?:[\w:<>,&*\[\]. ]+[ &*])(\w+)\((.*)$")
TYPE = re.compile(r"^(?:struct|class|enum(?: class)?) (\w+)\b[^;]*$")
ALIAS = re.compile(r"^using (\w+) =")
VALUE = re.compile(r"^(?:const|constexpr|static|thread_local|std::)[\w:<>,&* ]* (\w+)(?:\[\w*\])*(?: =|\{|;)")


def pattern_of(folder, name):
    """What its CMakeLists.txt sets `hot` or `cold` to: the sources that are compiled one by one, or joined."""
    text = (ROOT / folder / "CMakeLists.txt").read_text(encoding="utf-8")
    strings = re.search(rf"^ *set\({name}\s((?:[^\"()]|\"[^\"]*\")*)\)", text, re.MULTILINE)[1]
    found = "|".join(re.findall(r'"([^"]*)"', strings)).replace("\\\\", "\\")
    return re.compile(f"^(?:{found})$")


def targets():
    """[(target, its sources that may be joined)]"""
    rooms = [(folder, folder, "hot") for folder in ("harness", "datasets", "algorithms/core")]
    rooms += [(path.relative_to(ROOT).as_posix(), "algorithms", "cold")
              for path in sorted((ROOT / "algorithms").iterdir()) if path.is_dir() and path.name != "core"]
    for room, lists, name in rooms:
        pattern = pattern_of("algorithms" if room == "algorithms/core" else lists, name)
        yield room, [path for path in sorted((ROOT / room).rglob("*.cpp"))
                     if not {"test", "bench"} & set(path.relative_to(ROOT).parts)
                     and bool(pattern.match(path.name)) == (name == "cold")]


def parameters(lines, first, rest):
    """The types of the parameters from after the bracket: `const A& a, int b = 1` is `const A&,int`."""
    text, at = rest, first
    while text.count("(") + 1 > text.count(")") and at + 1 < len(lines):
        at += 1
        text += " " + lines[at].strip()
    depth, end = 1, 0
    for end, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth == 0:
            break
    types, depth, one = [], 0, ""
    for letter in text[:end] + ",":
        depth += {"<": 1, "(": 1, "{": 1, ">": -1, ")": -1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            types.append(re.sub(r"\s*=.*", "", one).strip())
            one = ""
        else:
            one += letter
    return ",".join(re.sub(r"(?<=[\s&*>])\w+$", "", one).strip() for one in types)


def own_names(text):
    """What a source has in its unnamed namespace, functions with the types of their parameters."""
    inside, lines = False, text.split("\n")
    for at, line in enumerate(lines):
        if OPENS.match(line) or CLOSES.match(line):
            inside = bool(OPENS.match(line))
        if not inside:
            continue
        for pattern in (TYPE, ALIAS, VALUE):
            if found := pattern.match(line):
                yield found[1]
                break
        else:
            if found := FUNCTION.match(line):
                yield f"{found[1]}({parameters(lines, at, found[2])})"


def twice(texts):
    places = collections.defaultdict(set)
    for name, text in texts:
        for own in own_names(text):
            places[own].add(name)
    return {own: sorted(files) for own, files in places.items() if len(files) > 1}


def test_the_names_of_a_source_are_found():
    text = ("namespace {\nstruct A {\n  int f(int a);\n};\nusing B = int;\nconstexpr int kC = 1;\n"
            "const A& e(const A& a,\n           std::map<int, int> b = {}) {\n  return a;\n}\n"
            "}  // namespace\nint g() {}\n")
    names = ["A", "B", "kC", "e(const A&,std::map<int, int>)"]
    assert list(own_names(text)) == names
    assert list(twice([("a.cpp", text), ("b/c.cpp", text)])) == names


def test_what_is_joined_is_known():
    joined = {room: [path.name for path in paths] for room, paths in targets()}
    assert {"study.cpp", "suggester.cpp"} <= set(joined["harness"])
    assert "evaluator.cpp" not in joined["harness"]
    assert "split.cpp" not in joined["datasets"] and len(joined["datasets"]) > 5
    assert "info.cpp" in joined["algorithms/als"] and "reference.cpp" not in joined["algorithms/als"]


@pytest.mark.parametrize("room", [room for room, _ in targets()])
def test_no_name_is_two_sources_own(room):
    found = twice((path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
                  for path in dict(targets())[room])
    assert not found, "\n".join(f"{own}: {', '.join(files)}" for own, files in sorted(found.items()))


# What a loop over ratings or rows looks like: by clones for several instruction sets, or by threads in chunks.
LOOPS = re.compile(r"\b(?:MF_CLONES|for_chunks)\b")


@pytest.mark.parametrize("room, sources", targets(), ids=lambda value: value if isinstance(value, str) else "")
def test_nothing_that_loops_over_ratings_is_compiled_light(room, sources):
    """Joined sources are optimized for the time of the compiler, and a loop there takes twice as long."""
    assert [path.name for path in sources if LOOPS.search(path.read_text(encoding="utf-8"))] == []
