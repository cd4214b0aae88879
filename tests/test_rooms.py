"""Includes point one way: every room may include itself and those that stand above it in the table, so that there is
no circle."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent

# From the lowest up, a line a level: rooms of one line know nothing of each other. A file belongs to
# the longest room that its path begins with, one that is named before one of a "*". Rooms that are
# not there yet do no harm.
LEVELS = [
    ["base"],
    ["datasets/ratings"],
    ["datasets/readers", "datasets/synthetic"],
    ["datasets/fetch", "datasets/expand"],
    ["datasets"],
    ["algorithms/core"],
    ["algorithms/*"],  # each folder a family; a family knows no other, but for BUILDS_ON
    ["algorithms/ials", "algorithms/bpmf", "algorithms/ccd", "algorithms/baseline"],
    ["harness/experiment"],
    ["harness/device"],
    ["harness/evaluate"],
    ["harness/results/meaning"],
    ["harness/results/files"],
    ["harness/results/compare"],
    ["harness/results/study"],
    ["harness/results"],
    ["harness/run"],
    ["harness/race"],
    ["harness"],
]
# The families that share code, which a level by itself does not say: the other families stay unknown.
BUILDS_ON = dict.fromkeys(LEVELS[LEVELS.index(["algorithms/*"]) + 1], {"algorithms/als"})
# What only tests and benchmarks include. It may include anything, and they may include anything.
TESTING = "testing"
SOURCES = (".cpp", ".hpp", ".cu", ".cuh")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def room_of(path):
    """The room of a path from the root, as (level, name), or None: generated files, testing."""
    found = None
    for level, rooms in enumerate(LEVELS):
        for room in rooms:
            name = room
            named = not room.endswith("/*")
            if not named:
                parts = path.split("/")
                if parts[0] != room[:-2] or len(parts) < 3:
                    continue
                name = "/".join(parts[:2])
            rank = (len(name), named)
            if path.startswith(name + "/") and (found is None or rank > found[0]):
                found = (rank, (level, name))
    return found and found[1]


def is_family(room):
    return room.startswith("algorithms/") and room != "algorithms/core"


def is_test(path):
    return any(part in ("test", "bench", TESTING) for part in path.split("/")[:-1])


def wrong_includes(includes):
    """Messages about pairs (file, included file) that go upwards, sideways or to the tests' own."""
    wrong = []
    for source, target in includes:
        if is_test(source):
            continue
        if is_test(target):
            wrong.append(f"{source} includes {target}, which only tests and benchmarks may include")
            continue
        here, there = room_of(source), room_of(target)
        if here is None or there is None or here == there:
            continue
        if is_family(here[1]) and is_family(there[1]):
            if there[1] not in BUILDS_ON.get(here[1], ()):
                wrong.append(f"{source} ({here[1]}) includes {target} ({there[1]}), another family")
            continue
        if there[0] < here[0]:
            continue
        way = "of the same level" if there[0] == here[0] else "above it"
        wrong.append(f"{source} ({here[1]}) includes {target} ({there[1]}), a room {way}")
    return wrong


@pytest.fixture(scope="module")
def includes():
    folders = dict.fromkeys(room.split("/")[0] for rooms in LEVELS for room in rooms)
    files = [path for folder in [*folders, TESTING] for path in sorted((ROOT / folder).rglob("*"))
             if path.suffix in SOURCES]
    assert len(files) > 100
    return [(path.relative_to(ROOT).as_posix(), target) for path in files
            for target in INCLUDE.findall(path.read_text(encoding="utf-8"))]


def test_every_include_is_from_the_root(includes):
    wrong = [f"{source} includes {target}: no such file from the root" for source, target in includes
             if not (ROOT / target).is_file() and not target.startswith("mf_generated/")]
    assert not wrong, "\n".join(wrong)


def test_every_source_has_a_room(includes):
    lost = sorted({source for source, _ in includes if not is_test(source) and not room_of(source)})
    assert not lost, f"in no room of LEVELS (tests/test_rooms.py): {', '.join(lost)}"


def test_nothing_includes_upwards(includes):
    wrong = wrong_includes(includes)
    assert not wrong, "\n".join(wrong)


def test_rooms_of_a_family_know_nothing_of_each_other(includes):
    room = re.compile(r"^algorithms/(\w+)/(?!test/|bench/|cuda/)(\w+)/")
    wrong = [f"{source} includes {target}" for source, target in includes
             if (here := room.match(source)) and (there := room.match(target))
             and here[1] == there[1] and here[2] != there[2]]
    assert not wrong, "\n".join(wrong)


def test_only_cuda_sources_ask_for_cuda():
    """A build with CUDA links objects of the others from a build without it (MF_HOST_BUILD)."""
    asks = re.compile(r"MF_HAVE_CUDA|__CUDACC__|^\s*#\s*include\s*<(?:cuda|cublas|cusolver)", re.M)
    plain = [path for folder in ["base", "datasets", "algorithms", "harness"]
             for path in sorted((ROOT / folder).rglob("*.cpp"))
             if not path.name.endswith(".cuda.cpp")]
    assert len(plain) > 100
    wrong = [path.relative_to(ROOT).as_posix() for path in plain
             if asks.search(path.read_text(encoding="utf-8"))]
    assert not wrong, f"rename to *.cuda.cpp or *.nocuda.cpp what asks for CUDA: {', '.join(wrong)}"


def way_to_cuda(source, texts, seen):
    """The chain of headers by which `source` comes to one of CUDA's, or None. `texts`: file to text."""
    own = re.search(r"^\s*#\s*include\s*<((?:cuda|cublas|cusolver|curand|nccl|cub/|thrust/)[^>]*)>",
                    texts[source], re.M)
    if own:
        return [source, own[1]]
    for header in re.findall(r'^\s*#\s*include\s*"([^"]+)"', texts[source], re.M):
        if header in texts and header not in seen:
            seen.add(header)
            if way := way_to_cuda(header, texts, seen):
                return [source, *way]
    return None


def test_a_build_without_cuda_needs_none_of_its_headers():
    """Where they are installed, a build without CUDA finds them all the same."""
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
             for folder in ["base", "datasets", "algorithms", "harness", "testing"]
             for path in sorted((ROOT / folder).rglob("*.[ch]pp"))}
    plain = [source for source in texts
             if source.endswith(".cpp") and not source.endswith(".cuda.cpp")]
    ways = [way for source in plain if (way := way_to_cuda(source, texts, {source}))]
    assert not ways, "\n".join(" -> ".join(way) for way in ways)
