"""results/ holds only files that something reads, and each folder of reference results has its spec."""

import pathlib

from number_sources import PACKED, packed_below

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Results and contributions, measurements of programs and benchmarks, pages and the sources of their numbers.
KNOWN = (PACKED, ".json", ".csv", ".log", ".txt", ".md", ".numbers")


def test_every_file_is_of_a_kind_that_is_read():
    files = [path for part in ("contributed", "published", "reference")
             for path in (ROOT / "results" / part).rglob("*") if path.is_file()]
    assert len(files) > 300
    assert [path for path in files if not path.name.endswith(KNOWN)] == []


def test_every_folder_of_reference_results_has_its_spec():
    """Except what was measured before and after one change, or once more on another host."""
    found = packed_below(ROOT / "results/reference")
    assert len(found) > 50
    for packed in found:
        name = pathlib.Path(*packed.relative_to(ROOT / "results/reference").parts[1:])
        if "other-host" not in name.parts:
            assert (ROOT / "experiments" / str(name).replace(PACKED, ".json")).is_file(), packed
