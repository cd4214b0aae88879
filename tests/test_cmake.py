"""What CMake's versions differ in, and this machine has but one of them."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[1]
CALL = re.compile(r"target_link_libraries\(([^)]*)\)")


def scripts():
    folders = ("base", "datasets", "algorithms", "harness", "testing", "cmake")
    return [ROOT / "CMakeLists.txt", *(path for folder in folders for ending in ("CMakeLists.txt", "*.cmake")
                                       for path in sorted((ROOT / folder).rglob(ending)))]


def test_objects_are_sources_not_libraries():
    """3.28 (Ubuntu 24.04) links objects of joined sources that no rule makes."""
    found = scripts()
    assert len(found) > 10
    calls = [(path.name, call) for path in found for call in CALL.findall(path.read_text(encoding="utf-8"))]
    assert len(calls) > 20
    assert [name for name, call in calls if re.search("TARGET_OBJECTS|objects}", call)] == []
