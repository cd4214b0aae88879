"""datasets/fetch/fetch.py against a server of its own that misbehaves as real servers do, and archives that
are hostile."""

import fcntl
import hashlib
import io
import json
import os
import pathlib
import random
import re
import signal
import stat
import subprocess
import sys
import tarfile

import pytest

from support import as_from_a_terminal, zipped

pooch = pytest.importorskip("pooch", reason="data fetch needs python3-pooch")
ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "datasets" / "fetch" / "fetch.py"
sys.path.insert(0, str(SCRIPT.parent))
import fetch  # noqa: E402

TRAIN = random.Random(1).randbytes(100_000).hex().encode()


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def tarred(members, kinds=(), how="w"):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=how) as archive:
        for name, content, *mode in members:
            info = tarfile.TarInfo(name)
            if mode and stat.S_ISLNK(mode[0]):
                info.type, info.linkname = tarfile.SYMTYPE, content
                archive.addfile(info)
                continue
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content.encode() if isinstance(content, str) else content))
        for name, kind in kinds:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
    return packed.getvalue()


ARCHIVE = zipped([("toy/", "", 0o40755), ("toy/README", "read me"), ("toy/train.dat", TRAIN),
                  ("toy/test.dat", "the test part")])


@pytest.fixture
def server(file_server):
    file_server.content = ARCHIVE
    return file_server


@pytest.fixture
def entry():
    return {"name": "toy", "title": "A toy", "origin": "nowhere", "url": "https://example.invalid/where/toy.zip",
            "licence": "For tests only.", "citation": "Nobody, 2024.", "redistributable": False,
            "archive_sha256": sha256(ARCHIVE),
            "files": [{"name": "train.dat", "sha256": sha256(TRAIN), "member": "toy/train.dat"},
                      {"name": "test.dat", "member": "toy/test.dat"}, {"name": "other.dat"}]}


@pytest.fixture
def get(server, entry, tmp_path, monkeypatch, capsys):
    """Fetches `entry` from answers of the server; (what was said, the failure or nothing)."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(fetch.pooch.core.time, "sleep", lambda seconds: None)

    def call(*answers, **options):
        server.answers = list(answers)
        failure = None
        try:
            fetch.fetch(entry, tmp_path, **{"mirror": server.url, **options})
        except fetch.Failure as found:
            failure = found
        return capsys.readouterr().out, failure
    return call


@pytest.fixture
def toy(tmp_path):
    return tmp_path / "toy"


def names(folder):
    return {path.name for path in folder.iterdir()} - {".fetch.lock"}


def assert_installed(folder):
    assert (folder / "train.dat").read_bytes() == TRAIN
    assert (folder / "test.dat").read_bytes() == b"the test part"
    assert names(folder) == {"train.dat", "test.dat", "fetched.json"}


def test_a_whole_set(get, server, toy):
    said, failure = get({})
    assert failure is None
    assert_installed(toy)
    assert said.index("For tests only.") < said.index("downloaded") and "as in the catalog" in said
    assert "SHA-256\n" in said and "http," not in said
    record = json.loads((toy / "fetched.json").read_text())
    assert record["download_sha256"] == sha256(ARCHIVE) and record["checksum_was_known"] is True
    assert record["files_sha256"]["test.dat"] == sha256(b"the test part")
    assert record["licence"] == "For tests only." and record["url"] == server.url + "/toy.zip"

    said, _ = get({})
    assert "already in" in said and server.asked == 1
    (toy / "train.dat").write_text("damaged")
    assert get({})[1] is None
    assert_installed(toy)
    assert get({}, again=True)[1] is None
    assert server.asked == 3


def test_errors_are_tried_again(get, server, toy):
    assert get({"status": 503}, {"cut": 70_000}, {})[1] is None
    assert_installed(toy)
    assert server.asked == 3


@pytest.mark.parametrize("answers, said", [([{"status": 500}], "500 Server Error"), ([], "404 Client Error"),
                                           ([{"cut": 140_000}], "")])
def test_it_gives_up_after_some_attempts(get, server, toy, answers, said):
    _, failure = get(*answers)
    assert failure.code == fetch.IO and f"{server.url}/toy.zip: {said}" in str(failure)
    assert server.asked == 1 + fetch.RETRIES and names(toy) == set()


def test_what_a_killed_call_left_is_removed(get, toy):
    (toy / ".fetch/unpacked").mkdir(parents=True)
    (toy / ".fetch/toy.zip").write_text("half")
    assert get({})[1] is None
    assert_installed(toy)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_wait_for_a_set(mfbench, tmp_path, number):
    folder = tmp_path / "filmtrust"
    folder.mkdir()
    with open(folder / ".fetch.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = subprocess.Popen([mfbench.program, "data", "fetch", "filmtrust", "--into", tmp_path], text=True,
                                   stdout=subprocess.PIPE, env={**mfbench.environment(), "PYTHON": sys.executable},
                                   preexec_fn=as_from_a_terminal)
        while "held by another process" not in waiting.stdout.readline():
            assert waiting.poll() is None
        waiting.send_signal(number)
        assert waiting.wait(timeout=300) in (130, -number)


def test_a_link_in_the_place_of_the_lock_makes_no_file(get, toy, tmp_path):
    toy.mkdir()
    (toy / ".fetch.lock").symlink_to(tmp_path / "new")
    with pytest.raises(OSError):
        get({})
    assert not (tmp_path / "new").exists()


def test_no_server_listens(get):
    said, failure = get(mirror="http://me:secret@127.0.0.1:1/files")
    assert failure.code == fetch.IO and "refused" in str(failure)
    assert "secret" not in said + str(failure)


def test_a_mirror_is_a_url(get):
    _, failure = get(mirror="file:///etc")
    assert failure.code == fetch.USAGE and "expected a URL of http or https" in str(failure)


def test_a_wrong_checksum_names_both_and_installs_nothing(get, server, toy):
    other = zipped([("toy/train.dat", TRAIN), ("toy/test.dat", "altered")])
    _, failure = get({"content": other})
    assert failure.code == fetch.DATA and sha256(other) in str(failure) and sha256(ARCHIVE) in str(failure)
    assert names(toy) == set()


def test_the_md5_of_the_origin_is_checked(get, entry, toy):
    del entry["archive_sha256"]
    entry["archive_md5"] = hashlib.md5(b"something else").hexdigest()
    _, failure = get({})
    assert hashlib.md5(ARCHIVE).hexdigest() in str(failure) and entry["archive_md5"] in str(failure)
    entry["archive_md5"] = hashlib.md5(ARCHIVE).hexdigest()
    said, failure = get({})
    assert failure is None
    assert said.index("MD5, which can be forged; over http, others on the way can change it") < said.index("downloaded")
    assert_installed(toy)


def test_without_a_published_checksum_it_says_so(get, entry, toy):
    del entry["archive_sha256"]
    said, failure = get({})
    assert "no checksum is published; over http, others on the way can change it" in said
    assert failure is None and f"SHA-256 {sha256(ARCHIVE)}\n" in said
    assert_installed(toy)
    assert json.loads((toy / "fetched.json").read_text())["checksum_was_known"] is False


@pytest.mark.parametrize("content, said", [
    (zipped([("toy/train.dat", "altered"), ("toy/test.dat", "t")]),
     f"train.dat: wrong checksum: SHA-256 {sha256(b'altered')}, expected {sha256(TRAIN)}"),
    (zipped([("toy/train.dat", TRAIN)]), '0 members "toy/test.dat", expected one'),
    (ARCHIVE[:150_000], "cannot be read"),
    (b"", "cannot be read"),
])
def test_what_is_whole_and_wrong_installs_nothing(get, entry, toy, content, said):
    del entry["archive_sha256"]
    _, failure = get({"content": content})
    assert failure.code == fetch.DATA and said in str(failure)
    assert names(toy) == set()


def test_a_url_that_is_the_file(get, entry, toy):
    entry.update(url="https://example.invalid/ratings.dat",
                 files=[{"name": "ratings.dat", "sha256": sha256(b"1::2::3\n")}])
    del entry["archive_sha256"]
    _, failure = get({"content": b"1::2::4\n"})
    assert "wrong checksum" in str(failure) and not (toy / "ratings.dat").exists()
    assert get({"content": b"1::2::3\n"})[1] is None
    assert (toy / "ratings.dat").read_bytes() == b"1::2::3\n"


def test_without_a_public_download_it_says_how_to_get_it(tmp_path, capsys):
    assert fetch.main(["netflix", "--into", str(tmp_path)]) == fetch.DATA
    assert "there is no public download" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert fetch.main(["ml-100k", "--into", str(tmp_path / "file")]) == fetch.IO
    assert str(tmp_path / "file") in capsys.readouterr().err


@pytest.mark.parametrize("entry", json.loads((SCRIPT.parent / "catalog.json").read_text())["datasets"],
                         ids=lambda entry: entry["name"])
def test_entries_of_the_catalog_can_be_fetched(entry):
    url = entry.get("url", "")
    sums = [(entry.get("archive_sha256"), 64), (entry.get("archive_md5"), 32),
            *((file.get("sha256"), 64) for file in entry["files"])]
    assert all(re.fullmatch(f"[0-9a-f]{{{digits}}}", found) for found, digits in sums if found is not None)
    assert not any("/" in file["name"] for file in entry["files"])  # names are joined to folders
    if not url:
        return
    assert url.startswith("https://")
    files = [file for file in entry["files"] if fetch.is_fetched(entry, file)]
    assert {file["name"] for file in files} & set(entry["whole"])
    assert all(file.get("member") for file in files) or len(files) == 1  # an archive, or the file itself


# ---- by the program ------------------------------------------------------------------------------

def test_the_program_starts_it(mfbench, server, tmp_path):
    environment = {**mfbench.environment(), "PYTHON": sys.executable, "no_proxy": "127.0.0.1"}
    command = ["data", "fetch", "filmtrust", "--mirror", server.url, "--into", "a b", "--quiet"]
    done = mfbench(*command, cwd=tmp_path, env=environment)
    assert done.returncode == fetch.IO and "filmtrust.zip: 404 Client Error" in done.stderr
    assert done.stdout.startswith("filmtrust: ") and (tmp_path / "a b/filmtrust/.fetch.lock").exists()
    done = mfbench("data", "fetch", "filmtrus", cwd=tmp_path, env=environment)
    assert done.returncode == fetch.USAGE and 'did you mean "filmtrust"' in done.stderr
    done = mfbench(*command, cwd=tmp_path, env={**environment, "PYTHON": "no-python"})
    assert done.returncode == fetch.UNSUPPORTED and "no-python: cannot be started" in done.stderr


def test_without_pooch_it_says_what_to_install(tmp_path):
    (tmp_path / "pooch.py").write_text("raise ImportError")
    done = subprocess.run([sys.executable, SCRIPT, "ml-100k", "--into", tmp_path], text=True, capture_output=True,
                          env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert done.returncode == fetch.UNSUPPORTED and "install python3-pooch" in done.stderr


# ---- archives ------------------------------------------------------------------------------------

WANTED = ("set/a.dat", "content")
HOSTILE = {
    "parent": [WANTED, ("../escaped", "x")],
    "absolute": [("/escaped", "x"), WANTED],
    "a link, then a file through it": [("set", "..", 0o120777), WANTED],
}
ARCHIVES = {f"{kind}, {what}": pack(members) for what, members in HOSTILE.items()
            for kind, pack in (("zip", zipped), ("tar", tarred))}
NO_FILES = {f"{kind}, link": pack([("set/a.dat", "/etc/passwd", 0o120777)])
            for kind, pack in (("zip", zipped), ("tar", tarred))}
NO_FILES |= {what: tarred([], [("set/a.dat", kind)])
             for what, kind in {"hard link": tarfile.LNKTYPE, "device": tarfile.CHRTYPE}.items()}


def unpack(folder, content):
    """The failure, or nothing."""
    inside = folder / "in"
    inside.mkdir(exist_ok=True)
    (inside / "out").mkdir(exist_ok=True)
    (inside / "archive").write_bytes(content)
    try:
        fetch.unpack(inside / "archive", {"set/a.dat": "a.dat"}, inside / "out")
    except fetch.Failure as failure:
        return failure
    return None


@pytest.mark.parametrize("what", ARCHIVES)
def test_names_in_an_archive_decide_no_place(tmp_path, what):
    assert unpack(tmp_path, ARCHIVES[what]) is None
    assert names(tmp_path) == {"in"} and names(tmp_path / "in") == {"archive", "out"}
    assert names(tmp_path / "in/out") == {"a.dat"} and (tmp_path / "in/out/a.dat").read_text() == "content"


@pytest.mark.parametrize("what", NO_FILES)
def test_a_wanted_member_is_a_file(tmp_path, what):
    failure = unpack(tmp_path, NO_FILES[what])
    assert failure.code == fetch.DATA and 'refused: its member "set/a.dat" is not a file' in str(failure)
    assert names(tmp_path) == {"in"} and names(tmp_path / "in/out") == set()


PACKED = {"zip": zipped([WANTED])}
PACKED |= {f"tar:{how}": tarred([WANTED], how=f"w:{how}") for how in ("", "gz", "bz2", "xz")}


@pytest.mark.parametrize("how", PACKED)
def test_wanted_members_are_written_and_no_others(tmp_path, how):
    assert unpack(tmp_path, PACKED[how]) is None
    assert (tmp_path / "in/out/a.dat").read_text() == "content" and names(tmp_path / "in/out") == {"a.dat"}


def test_a_wanted_member_is_there_once(tmp_path):
    assert '2 members "set/a.dat", expected one' in str(unpack(tmp_path, tarred([WANTED, WANTED])))


def test_what_is_too_large_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(fetch, "MOST_UNPACKED", 6)
    failure = unpack(tmp_path, PACKED["tar:gz"])
    assert failure.code == fetch.IO and "unpacks to 7 bytes" in str(failure) and names(tmp_path / "in/out") == set()


@pytest.mark.parametrize("how", PACKED)
def test_damaged_archives_are_errors_and_write_nowhere_else(tmp_path, how):
    rng = random.Random(3)
    content = PACKED[how]
    damaged = 0
    for _ in range(150):
        other = bytearray(content[:rng.randrange(len(content))] if rng.random() < 0.2 else content)
        for _ in range(rng.randrange(1, 5)):
            if other:
                other[rng.randrange(len(other))] = rng.randrange(256)
        failure = unpack(tmp_path, bytes(other))
        damaged += failure is not None
        assert names(tmp_path) == {"in"} and names(tmp_path / "in") == {"archive", "out"}
        assert failure or names(tmp_path / "in/out") == {"a.dat"}
        (tmp_path / "in/out/a.dat").unlink(missing_ok=True)
        assert names(tmp_path / "in/out") == set()
    assert damaged > 20
