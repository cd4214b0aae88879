#!/usr/bin/env python3
"""Fetches a data set of catalog.json from its origin: terms first, then a download by pooch, its checksum, and
only then the files that the catalog lists, each checked before it gets its name. `mfbench data fetch` starts it;
its exit codes are those of mfbench."""

import argparse
import contextlib
import datetime
import errno
import fcntl
import json
import os
import pathlib
import re
import shutil
import stat
import sys
import tarfile
import time
import zipfile

try:
    import pooch
    import requests  # which pooch asks for
except ImportError:
    pooch = None

USAGE, DATA, IO, UNSUPPORTED = 2, 3, 4, 5  # exit codes of mfbench
MOST_UNPACKED = 1 << 36  # bytes of all files of a set
RETRIES = 2  # after a download that failed


class Failure(Exception):
    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


def printable(text):
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(text))


def say(text):
    print(printable(text), flush=True)


def shown(url):
    """Without a password."""
    return re.sub(r"//[^/]*@", "//", url)


# ---- download ------------------------------------------------------------------------------------

class Progress:
    """Told by pooch; a line in five seconds, so that logs stay short."""

    def __init__(self, quiet):
        self.done, self.total, self.last = 0, 0, float("inf") if quiet else time.monotonic()

    def update(self, count):
        self.done += count
        if time.monotonic() - self.last >= 5:
            self.last = time.monotonic()
            say(f"  {self.done / 1e6:.0f} of {self.total / 1e6:.0f} MB")

    def reset(self):
        self.done = 0

    def close(self):
        pass


def download(url, name, known, work, quiet):
    """The path of the whole download below `work`, whose checksum is the known one."""
    def get(url, file, fetcher):
        progress = Progress(quiet)
        headers = {"User-Agent": "mfbench", "Accept-Encoding": "identity"}
        pooch.HTTPDownloader(progress, 1 << 16, headers=headers, timeout=(30, 60))(url, file, fetcher)
        if (size := os.path.getsize(file)) < progress.total:
            raise requests.ConnectionError(f"{size} of {progress.total} bytes came")

    pooch.get_logger().setLevel("WARNING")  # below it are URLs with all that they hold
    try:
        return pathlib.Path(pooch.create(work, "", registry={name: known}, urls={name: url},
                                         retry_if_failed=RETRIES).fetch(name, downloader=get))
    except requests.RequestException as error:
        raise Failure(IO, f"{shown(url)}: " + re.sub(r"\w+://\S+", "the URL", str(error))) from None
    except ValueError as wrong:
        raise Failure(DATA, f"{shown(url)}: wrong checksum: {wrong}") from None


# ---- archives ------------------------------------------------------------------------------------

def is_file(member):
    if isinstance(member, tarfile.TarInfo):
        return member.isreg()
    return not member.is_dir() and stat.S_IFMT(member.external_attr >> 16) in (0, stat.S_IFREG)


def unpack_members(archive, wanted, folder):
    is_zip = zipfile.is_zipfile(archive)
    with (zipfile.ZipFile if is_zip else tarfile.open)(archive) as packed:
        members = [(one.filename, one.file_size, one) for one in packed.infolist()] if is_zip else \
            [(one.name, one.size, one) for one in packed]
        chosen = {}
        for name in wanted:
            found = [one for one in members if one[0] == name]
            if len(found) != 1:
                raise Failure(DATA, f'{archive.name}: {len(found)} members "{name}", expected one')
            if not is_file(found[0][2]):
                raise Failure(DATA, f'{archive.name}: refused: its member "{name}" is not a file')
            chosen[name] = found[0]
        total = sum(size for _, size, _ in chosen.values())
        if total > min(MOST_UNPACKED, shutil.disk_usage(folder).free):
            raise Failure(IO, f"{folder}: cannot be written: the archive unpacks to {total} bytes, "
                              "more than there is space for")
        for name, (_, _, member) in chosen.items():
            with (packed.open if is_zip else packed.extractfile)(member) as source, \
                    open(folder / wanted[name], "xb") as target:
                shutil.copyfileobj(source, target, 1 << 20)


def unpack(archive, wanted, folder):
    """Writes members of a zip or tar archive, {name: file}, into a folder.

    Not by a processor of pooch, which writes where a name or a link in the archive says."""
    try:
        unpack_members(archive, wanted, folder)
    except Exception as error:
        of_system = isinstance(error, OSError) and error.errno not in (None, errno.EINVAL)
        if isinstance(error, Failure) or of_system:
            raise
        # Readers of archives fail in many ways if bytes are damaged; one is to seek to nowhere.
        raise Failure(DATA, f"{archive.name}: cannot be read: {error or type(error).__name__}") from None


# ---- a data set ----------------------------------------------------------------------------------

@contextlib.contextmanager
def locked(path):
    """Others of this machine could hold a file that they can read."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"{path}: held by another process, waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def is_fetched(entry, file):
    """Whether its URL brings this file: a member of the archive, or the download itself."""
    return bool(file.get("member")) or entry["url"].endswith("/" + file["name"])


def is_as_known(path, file):
    return path.is_file() and file.get("sha256") in (None, pooch.file_hash(str(path)))


def known_checksum(entry, files):
    if "archive_sha256" in entry:
        return entry["archive_sha256"]
    if "archive_md5" in entry:
        return "md5:" + entry["archive_md5"]
    return None if files[0].get("member") else files[0].get("sha256")


def install(entry, files, archive, url, folder, work):
    """The record comes first: a call that is killed in between leaves no file without one."""
    ready = {file["name"]: archive for file in files}
    if files[0].get("member"):
        ready = {file["name"]: work / "unpacked" / file["name"] for file in files}
        (work / "unpacked").mkdir()
        unpack(archive, {file["member"]: file["name"] for file in files}, work / "unpacked")
    for file in files:
        if not is_as_known(ready[file["name"]], file):
            found = pooch.file_hash(str(ready[file["name"]]))
            raise Failure(DATA, f"{file['name']}: wrong checksum: SHA-256 {found}, expected {file['sha256']}")
    record = {
        "name": entry["name"], "url": shown(url),
        "fetched_at": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "download_bytes": archive.stat().st_size, "download_sha256": pooch.file_hash(str(archive)),
        "checksum_was_known": known_checksum(entry, files) is not None,
        "files_sha256": {name: pooch.file_hash(str(path)) for name, path in ready.items()},
        "licence": entry["licence"], "redistributable": entry["redistributable"],
        "citation": entry["citation"]}
    (work / "record").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    os.replace(work / "record", folder / "fetched.json")
    for name, path in ready.items():
        os.replace(path, folder / name)
    return record


def fetch(entry, into, mirror=None, again=False, quiet=False):
    """Into <into>/<name>/, with fetched.json beside the files; unfinished ones are in .fetch there."""
    if not entry.get("url"):
        raise Failure(DATA, f"{entry['name']}: there is no public download. {entry['origin']}")
    if mirror and not mirror.startswith(("http://", "https://")):
        raise Failure(USAGE, f"--mirror: found {shown(mirror)}, expected a URL of http or https")
    if pooch is None:
        raise Failure(UNSUPPORTED, f"data fetch needs pooch, which {sys.executable} lacks; install python3-pooch "
                                   "(Debian, Ubuntu), or by pip; PYTHON may name another Python")
    name = entry["url"].rpartition("/")[2]
    url = f"{mirror.rstrip('/')}/{name}" if mirror else entry["url"]
    files = [file for file in entry["files"] if is_fetched(entry, file)]
    names = ", ".join(file["name"] for file in files)
    for line in (f"{entry['name']}: {entry['title']}", f"  licence:  {entry['licence']}",
                 f"  cite:     {entry['citation']}", f"  from:     {shown(url)}"):
        say(line)
    folder = pathlib.Path(into) / entry["name"]
    work = folder / ".fetch"
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / ".fetch.lock"):
        shutil.rmtree(work, ignore_errors=True)  # of a call that was killed
        if not again and all(is_as_known(folder / file["name"], file) for file in files):
            return say(f"already in {folder}: {names}")
        work.mkdir()
        try:
            archive = download(url, name, known_checksum(entry, files), work, quiet)
            record = install(entry, files, archive, url, folder, work)
        finally:
            shutil.rmtree(work)
    known = "as in the catalog" if record["checksum_was_known"] else "the catalog has no published checksum"
    say(f"{record['download_bytes']} bytes downloaded, SHA-256 {record['download_sha256']}: {known}")
    say(f"in {folder}: {names}, fetched.json")


def main(arguments=None):
    catalog = json.loads(pathlib.Path(__file__).resolve().with_name("catalog.json").read_text(encoding="utf-8"))
    entries = {entry["name"]: entry for entry in catalog["datasets"]}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=entries)
    parser.add_argument("--into", required=True, help="folder")
    parser.add_argument("--mirror", help="URL of a folder to use instead of the origin")
    parser.add_argument("--again", action="store_true", help="download again what is there already")
    parser.add_argument("--quiet", action="store_true", help="show no progress; the licence is shown")
    options = vars(parser.parse_args(arguments))
    try:
        fetch(entries[options.pop("name")], **options)
    except Failure as failure:
        print(printable(f"error: {failure}"), file=sys.stderr)
        return failure.code
    except OSError as error:
        print(printable(f"error: {error.filename or options['into']}: {error.strerror or error}"), file=sys.stderr)
        return IO
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
