"""Files of strangers: what stands in the place of one is refused with its kind, and nothing is written through it."""

import lzma
import os

import pytest

from mfplots import files
from mfplots.errors import PlotError
from mfplots.files import folder_in, packed_lines, read_json, read_text, replacing


def put(folder, kind):
    path = folder / "file.json"
    mine = folder / "mine"
    mine.write_text("{}")
    if kind == "link":
        path.symlink_to(mine)
    elif kind == "dangling":
        path.symlink_to(folder / "new")
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        path.symlink_to("/dev/zero")
    return path


@pytest.mark.parametrize("kind, words", [("link", "a link"), ("dangling", "a link"), ("device", "a link"),
                                         ("pipe", "a pipe"), ("folder", "a folder")])
def test_what_is_no_file_is_refused_where_it_was_found(tmp_path, kind, words):
    path = put(tmp_path, kind)
    with pytest.raises(PlotError, match=f"file.json: found {words}, expected a file"):
        read_json(path)


def test_what_the_user_names_may_be_a_link_and_is_no_device(tmp_path):
    assert read_json(put(tmp_path, "link"), named=True) == {}
    (tmp_path / "file.json").unlink()
    with pytest.raises(PlotError, match="found a device, expected a file"):
        read_json(put(tmp_path, "device"), named=True)


def test_what_has_no_end_is_bounded(tmp_path, monkeypatch):
    path = tmp_path / "long"
    path.write_bytes(b"x" * (3 << 20))
    assert len(read_text(path)) == 3 << 20
    with pytest.raises(PlotError, match="long: found more than 2 MiB"):
        read_text(path, 2 << 20)
    path.write_bytes(lzma.compress(b"x\n" + b"y" * (1 << 20)))
    assert [len(line) for line in packed_lines(path)] == [2, 1 << 20]
    monkeypatch.setattr(files, "MOST", 1000)
    monkeypatch.setattr(files, "RATIO", 100)
    with pytest.raises(PlotError, match="long: unpacks to more than"):
        list(packed_lines(path))


@pytest.mark.parametrize("text", ["[" * 100_000, "{", "\udc80"])
def test_what_is_no_json_is_an_error_of_the_file(tmp_path, text):
    path = tmp_path / "deep.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(PlotError, match="deep.json: no JSON"):
        read_json(path)


@pytest.mark.parametrize("kind", ["link", "dangling", "pipe", "device"])
def test_nothing_is_written_through_a_name(tmp_path, kind):
    path = put(tmp_path, kind)
    with replacing(path) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new" and not path.is_symlink()
    assert (tmp_path / "mine").read_text() == "{}" and {one.name for one in tmp_path.iterdir()} == {"file.json", "mine"}


def test_what_fails_halfway_replaces_nothing(tmp_path):
    path = tmp_path / "kept"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), replacing(path) as file:
        file.write(b"new")
        1 / 0
    assert path.read_text() == "old" and [one.name for one in tmp_path.iterdir()] == ["kept"]


def test_a_folder_that_leads_elsewhere_is_refused(tmp_path):
    (tmp_path / "own").mkdir()
    assert folder_in(tmp_path, "own").is_dir() and not folder_in(tmp_path, "missing").exists()
    (tmp_path / "link").symlink_to("/tmp")
    with pytest.raises(PlotError, match="link: found a link, expected a folder"):
        folder_in(tmp_path, "link")
