"""docs/tools/pack.py, and that a packed run is read as its folder is: by the program, by mfplots, by numbers."""

import hashlib
import json
import lzma
import pathlib
import shutil

import pytest
from number_sources import Files, stored_in

from mfdev.pack import pack
from mfdev.shell import Failure

SPEC = {"name": "small", "datasets": [{"like": "ml-100k", "scale": 0.05}], "seeds": [1, 2, 3], "stop": {"epochs": 2},
        "target_rmse": 1.0, "split": {"holdout": 0.2, "validation": 0.1},
        "algorithms": [{"name": "sgd_serial", "factors": 8}, {"name": "fpsgd", "factors": 8, "threads": 1},
                       {"name": "als_cpu", "factors": 4, "threads": 1,
                        "tune": {"trials": 2, "over": {"reg": {"choices": [0.01, 0.1]}}}}]}


@pytest.fixture(scope="module")
def both(mfbench, tmp_path_factory):
    """A folder with `plain/r`, a run with trials, and `packed`, the same packed."""
    folder = tmp_path_factory.mktemp("results")
    mfbench("run", "small.json", "--out", "plain/r", "--quiet", cwd=folder, code=0, spec=SPEC)
    names = sorted(path.name for path in (folder / "plain/r").glob("*.jsonl"))
    unlisted = json.loads((folder / "plain/r/spec.json").read_text())
    unlisted["cases"].remove(names[-1].removesuffix(".jsonl"))
    (folder / "plain/r/spec.json").write_text(json.dumps(unlisted))
    (folder / "plain/r/notes.txt").write_text("kept")
    shutil.copytree(folder / "plain", folder / "packed")
    pack([str(folder / "packed")])
    return folder


def files_of(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_what_is_packed_is_replaced_and_the_rest_stays(both):
    study, = (path.name for path in (both / "plain/r/tune").iterdir())
    assert files_of(both / "packed") == {"r.jsonl.xz", "r/notes.txt", f"r/tune/{study}.jsonl.xz"}


def test_the_same_results_give_the_same_bytes_and_come_back(both, tmp_path):
    def digest():
        return hashlib.sha256((tmp_path / "r.jsonl.xz").read_bytes()).hexdigest()

    shutil.copytree(both / "plain/r", tmp_path / "r")
    (tmp_path / "r/notes.txt").unlink()
    shutil.rmtree(tmp_path / "r/tune")
    before = {path.name: path.read_bytes() for path in (tmp_path / "r").glob("*.jsonl")}
    stated = json.loads((tmp_path / "r/spec.json").read_text())
    pack([str(tmp_path / "r")])
    assert not (tmp_path / "r").exists()
    first = digest()
    pack(["--unpack", str(tmp_path / "r.jsonl.xz")])
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "r").glob("*.jsonl")}
    assert json.loads((tmp_path / "r/spec.json").read_text()) == stated
    pack([str(tmp_path)])
    assert digest() == first


def test_what_a_packed_file_could_not_give_back_is_refused(both, tmp_path):
    source = next((both / "plain/r").glob("*.jsonl"))
    lines = source.read_text().splitlines(keepends=True)
    for name, text, why in ((source.name, lines[:-1], "is unfinished"), (source.name, [*lines, lines[-1][:9]], "unfin"),
                            ("other.jsonl", lines, "not named after"), (source.name, lines[:1] + lines, "one header")):
        (tmp_path / "r").mkdir()
        (tmp_path / "r" / name).write_text("".join(text))
        with pytest.raises(Failure, match=why):
            pack([str(tmp_path / "r")])
        assert files_of(tmp_path) == {f"r/{name}"}
        shutil.rmtree(tmp_path / "r")


def test_two_cases_of_one_name_are_refused(both, tmp_path):
    lines = lzma.decompress((both / "packed/r.jsonl.xz").read_bytes()).splitlines(keepends=True)
    begins = [number for number, line in enumerate(lines) if b'"type":"header"' in line]
    (tmp_path / "r.jsonl.xz").write_bytes(lzma.compress(b"".join(lines + lines[begins[0]:begins[1]])))
    with pytest.raises(Failure, match=f"r.jsonl.xz:{len(lines) + 1}: found a second case .*, expected one"):
        pack(["--unpack", str(tmp_path / "r.jsonl.xz")])
    assert files_of(tmp_path) == {"r.jsonl.xz"}


@pytest.mark.parametrize("asked", ["r", "r.jsonl.xz", "."])
def test_the_program_exports_it_as_its_folder(mfbench, both, asked):
    tables = {}
    for kind in ("plain", "packed"):
        place = "r" if kind == "plain" else asked
        done = mfbench("summarize", place, "--out", "../c.csv", "../t.csv", cwd=both / kind, code=0)
        assert "1 case that spec.json does not list" in done.stderr
        tables[kind] = (both / "c.csv").read_text().replace(",./r/", ",r/"), (both / "t.csv").read_text()
    assert tables["plain"] == tables["packed"] and tables["plain"][0].count("\n") == 9


def test_the_program_compares_it_as_its_folder(mfbench, both):
    reports = [json.loads(mfbench("compare", "plain/r", other, "--json", cwd=both).stdout)
               for other in ("plain/r", "packed/r", "packed/r.jsonl.xz")]
    rows = [[{**row, "files": [pathlib.Path(file).name for file in row["files"]]} for row in report["rows"]]
            for report in reports]
    assert rows[0] and rows[0] == rows[1] == rows[2]
    assert reports[0]["second"] | {"folder": ""} == reports[1]["second"] | {"folder": ""}


def test_the_program_reads_packed_trials(mfbench, both):
    said = [mfbench("tune", f"{kind}/r", "--json", cwd=both) for kind in ("plain", "packed")]
    assert json.loads(said[0].stdout) and said[0].stdout == said[1].stdout


def test_numbers_of_documents_are_those_of_the_folder(both):
    (_, plain), (_, packed) = stored_in(both / "plain/r"), stored_in(both / "packed/r.jsonl.xz")
    assert list(plain.values()) == [packed[both / "packed/r" / path.name] for path in plain]
    for name in ("r", "r*"):
        found = [Files(f"{kind}/{name}", both).final("fpsgd", folder="r") for kind in ("plain", "packed")]
        assert len(found[0]) == 3 and found[0] == found[1]


DAMAGE = {"cut off": lambda data, text: (data[:-40], "damaged"),
          "turned": lambda data, text: (data[:80] + bytes([data[80] ^ 1]) + data[81:], "damaged"),
          "no xz": lambda data, text: (text, "its header"),
          "empty": lambda data, text: (b"", "its header"),
          "no head": lambda data, text: (lzma.compress(text[text.index(b"\n") + 1:]), "line 1: found no such line"),
          "half a line": lambda data, text: (lzma.compress(text[:-3]), "without its end"),
          "a large one": lambda data, text: (lzma.compress(bytes(257 << 20), preset=0), "at most 200 times")}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_file_is_named(mfbench, both, tmp_path, kind):
    good = (both / "packed/r.jsonl.xz").read_bytes()
    data, why = DAMAGE[kind](good, lzma.decompress(good))
    (tmp_path / "r.jsonl.xz").write_bytes(data)
    done = mfbench("compare", "r", "r", cwd=tmp_path)
    assert done.returncode == 3 and "r.jsonl.xz: " in done.stderr and why in done.stderr


def test_a_damaged_case_is_left_out_and_the_others_count(mfbench, both, tmp_path):
    lines = lzma.decompress((both / "packed/r.jsonl.xz").read_bytes()).splitlines(keepends=True)
    lines[2] = b"{}\n"
    (tmp_path / "r.jsonl.xz").write_bytes(lzma.compress(b"".join(lines)))
    done = mfbench("summarize", "r", "--out", "c.csv", "t.csv", cwd=tmp_path)
    assert done.returncode == 1 and "r.jsonl.xz: line 3: found {}, expected an object" in done.stderr
    assert (tmp_path / "c.csv").read_text().count("\n") == 8
