#!/usr/bin/env python3
"""Fetches a data set of catalog.json from its origin: terms first, then a download that goes on where an
earlier one was cut, its checksum, and only then the files that the catalog lists, each checked before it
gets its name. `mfbench data fetch` starts it; its exit codes are those of mfbench."""

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
import urllib.parse
import zipfile

try:
    import pooch
    import requests  # which pooch asks for
except ImportError:
    pooch = None

USAGE, DATA, IO, UNSUPPORTED = 2, 3, 4, 5  # exit codes of mfbench
MOST_UNPACKED = 1 << 36  # bytes of all files of a set
STUCK_S = 600  # without a byte from the process that is waited for


class Failure(Exception):
    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


def printable(text):
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(text))


def say(text):
    print(printable(text), flush=True)


def shown(url):
    """Without a password or a key."""
    parts = urllib.parse.urlsplit(url)
    return urllib.parse.urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def bytes_text(count):
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} B"


def size_of(path):
    return path.stat().st_size if path.exists() else 0


# ---- download ------------------------------------------------------------------------------------

class Progress:
    """What pooch tells of a download: a line a second at most, so that logs stay short."""

    def __init__(self, begin):
        self.begin, self.done, self.total, self.last = begin, 0, 0, time.monotonic()

    def update(self, count):
        self.done += count
        if time.monotonic() - self.last >= 1:
            self.last = time.monotonic()
            of = f" of {bytes_text(self.begin + self.total)}" if self.total else ""
            say(f"  {bytes_text(self.begin + self.done)}{of}")

    def reset(self):
        self.done = 0

    def close(self):
        pass


class AnotherRange(Exception):
    """The server cannot go on at the place that was asked for."""


class Resuming:
    """A downloader for pooch. What has arrived stays in `part` for the next attempt, or the next call."""
    attempts = 5  # in a row that bring the file no further, on errors that may pass
    wait, longest_wait = 1, 30  # seconds before the second attempt; doubled for each further one
    stall = 60  # seconds without a byte are an error that may pass

    def __init__(self, part, quiet):
        self.part, self.quiet = part, quiet
        self.resumed = 0  # bytes that were there before
        self.continued = False  # the file was put together of several answers

    def __call__(self, url, output_file, _pooch):
        self.resumed = most = size_of(self.part)
        self.continued = self.resumed > 0
        failures, wait = 0, self.wait
        while True:
            try:
                self.get(url)
                os.replace(self.part, output_file)
                return
            except AnotherRange:
                say(f"{shown(url)}: the server cannot go on where the download was cut; beginning anew")
                self.begin_anew()
                continue
            except requests.RequestException as error:
                found = error
            failures = 1 if size_of(self.part) > most else failures + 1
            most = max(most, size_of(self.part))
            self.continued = most > 0
            if not may_pass(found) or failures >= self.attempts:
                kept = "; run the command again to continue" if size_of(self.part) > 0 else ""
                raise Failure(IO, f"{shown(url)}: {cause(found)}{kept}")
            say(f"{shown(url)}: {cause(found)}; trying again in {wait} s")
            time.sleep(wait)
            wait = min(2 * wait, self.longest_wait)

    def begin_anew(self):
        self.part.unlink(missing_ok=True)
        self.resumed = 0

    def get(self, url):
        """One request, whose body goes to where the answer says that it belongs."""
        offset = size_of(self.part)
        expected = None

        def place(response, **_):
            nonlocal expected
            if response.status_code == 416 and offset > 0:
                raise AnotherRange
            if response.status_code not in (200, 206):
                return
            begin = 0
            if response.status_code == 206:
                found = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
                begin = int(found[1]) if found else -1
            if begin not in (0, offset):
                raise AnotherRange if offset > 0 else requests.ConnectionError("it answered with another range")
            if begin < offset:  # the whole file comes although a part was asked for
                file.truncate(0)
                self.resumed = 0
            if "Content-Length" in response.headers:
                expected = begin + int(response.headers["Content-Length"])

        headers = {"User-Agent": "mfbench", "Accept-Encoding": "identity"}
        if offset > 0:
            headers["Range"] = f"bytes={offset}-"
        with open(self.part, "ab") as file:
            pooch.HTTPDownloader(progressbar=not self.quiet and Progress(offset), chunk_size=1 << 16,
                                 headers=headers, timeout=(30, self.stall),
                                 hooks={"response": place})(url, file, None)
        if expected is not None and size_of(self.part) < expected:
            raise requests.ConnectionError(f"{size_of(self.part)} of {expected} bytes came")


def may_pass(error):
    if isinstance(error, requests.HTTPError):
        status = error.response.status_code
        return status in (408, 429) or status >= 500
    return isinstance(error, (requests.ConnectionError, requests.Timeout,
                              requests.exceptions.ChunkedEncodingError))


def cause(error):
    """In words of ours, as those of requests repeat the URL with all that it holds."""
    if isinstance(error, requests.HTTPError):
        return f"the server answered with HTTP status {error.response.status_code}"
    inner = error.args[0] if error.args else error
    inner = getattr(inner, "reason", inner)
    return re.sub(r"\w+://\S+", "the URL", re.sub(r"^.*>: ", "", str(inner)))


def download(url, name, place, known, quiet):
    """(path, bytes that were there before) of the whole download below `place`, as its checksum says."""
    resuming = Resuming(place / f"{name}.part", quiet)
    for again in (False, True):
        try:
            return pathlib.Path(pooch.retrieve(url, known, name, place, downloader=resuming)), resuming.resumed
        except ValueError as wrong:  # pooch has removed the file
            # One that changed on the server between a cut download and its continuation shows so.
            if again or not resuming.continued:
                raise Failure(DATA, f"{shown(url)}: wrong checksum: {wrong}") from None
            say(f"{shown(url)}: wrong checksum after continuing; beginning anew")


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
                count = "more than one" if found else "no"
                among = ", ".join(one[0] for one in members) if len(members) <= 12 else f"{len(members)} members"
                raise Failure(DATA, f'{archive.name}: {count} member "{name}" among {among}')
            chosen[name] = found[0]
            if not is_file(found[0][2]):
                raise Failure(DATA, f'{archive.name}: refused: its member "{name}" is no file')
        total = sum(size for _, size, _ in chosen.values())
        if total > min(MOST_UNPACKED, shutil.disk_usage(folder).free):
            raise Failure(IO, f"{folder}: cannot be written: the archive unpacks to {bytes_text(total)}, "
                              "more than there is space for")
        for name, (_, _, member) in chosen.items():
            with (packed.open if is_zip else packed.extractfile)(member) as source, \
                    open(folder / wanted[name], "xb") as target:
                shutil.copyfileobj(source, target, 1 << 20)


def unpack(archive, wanted, folder):
    """Writes members of a zip or tar archive, {name: file}, into a new folder.

    Nothing is ever written to a place that a name in the archive decides, and links are not followed."""
    folder.mkdir()
    try:
        unpack_members(archive, wanted, folder)
    except BaseException as error:
        shutil.rmtree(folder)
        of_system = isinstance(error, OSError) and error.errno not in (None, errno.EINVAL)
        if isinstance(error, Failure) or not isinstance(error, Exception) or of_system:
            raise
        # Readers of archives fail in many ways where bytes are damaged; one is to seek to nowhere.
        raise Failure(DATA, f"{archive.name}: cannot be read: {error or type(error).__name__}") from None


# ---- a data set ----------------------------------------------------------------------------------

def newest(folder):
    """When a file below it changed last; None without files."""
    paths = [os.path.join(place, name) for place, _, names in os.walk(folder) for name in names]
    with contextlib.suppress(FileNotFoundError):  # the files of one that has just ended
        return max((os.lstat(path).st_mtime_ns for path in paths), default=None)


def wait_for_lock(file, path, work):
    """As long as its holder gets on."""
    seen, since, said = None, 0.0, False
    while True:
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(file, 200, 0).decode("utf-8", "replace").strip() or "another process"
        if (now := newest(work)) != seen or not since:
            seen, since = now, time.monotonic()
        if time.monotonic() > since + STUCK_S:
            raise Failure(IO, f"{path}: held by {holder}, which has written nothing for {STUCK_S:.0f} s; "
                              "run the command again when it has ended")
        if not said:
            say(f"{path}: held by {holder}, waiting for it")
        said = True
        time.sleep(0.2)


@contextlib.contextmanager
def locked(path, work):
    """Others of this machine could hold a file that they can read."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        wait_for_lock(file, path, work)
        os.ftruncate(file, 0)
        os.pwrite(file, f"process {os.getpid()} on {os.uname().nodename}\n".encode(), 0)
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


def ready_files(archive, files, work):
    """Paths of the files of a finished download, checked, not under their names yet."""
    if not files[0].get("member"):
        return [archive]
    folder = work / "unpacked"
    unpack(archive, {file["member"]: file["name"] for file in files}, folder)
    paths = [folder / file["name"] for file in files]
    for file, path in zip(files, paths):
        if not is_as_known(path, file):
            raise Failure(DATA, f"{file['name']}: wrong checksum: SHA-256 {pooch.file_hash(str(path))}, "
                                f"expected {file['sha256']}")
    return paths


def install(entry, files, archive, url, folder, work):
    """The record comes first: a call that is killed in between leaves no file without one."""
    ready = ready_files(archive, files, work)
    record = {
        "name": entry["name"], "url": shown(url),
        "fetched_at": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "download_bytes": size_of(archive), "download_sha256": pooch.file_hash(str(archive)),
        "checksum_was_known": known_checksum(entry, files) is not None,
        "files_sha256": {file["name"]: pooch.file_hash(str(path)) for file, path in zip(files, ready)},
        "licence": entry["licence"], "redistributable": entry["redistributable"],
        "citation": entry["citation"]}
    (work / "record").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    os.replace(work / "record", folder / "fetched.json")
    for file, path in zip(files, ready):
        os.replace(path, folder / file["name"])
    return record


def fetch(entry, into, mirror=None, again=False, keep_archive=False, quiet=False):
    """Into <into>/<name>/, with fetched.json beside the files; what is not finished is in .fetch there."""
    if not entry.get("url"):
        raise Failure(DATA, f"{entry['name']}: there is no public download. {entry['origin']}")
    if mirror and not mirror.startswith(("http://", "https://")):
        raise Failure(USAGE, f"--mirror: found {shown(mirror)}, expected a URL of http or https")
    if pooch is None:
        raise Failure(UNSUPPORTED, f"data fetch needs pooch, which {sys.executable} lacks; install python3-pooch "
                                   "(Debian, Ubuntu), or by pip; PYTHON may name another Python")
    pooch.get_logger().setLevel("WARNING")
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
    with locked(folder / ".fetch.lock", work):
        if not again and all(is_as_known(folder / file["name"], file) for file in files):
            shutil.rmtree(work, ignore_errors=True)  # of a call that was killed
            say(f"already in {folder}: {names}")
            return
        work.mkdir(exist_ok=True)
        shutil.rmtree(work / "unpacked", ignore_errors=True)
        known = known_checksum(entry, files)
        try:
            archive, resumed = download(url, name, work, known, quiet)
            record = install(entry, files, archive, url, folder, work)
            if keep_archive and archive.exists():
                os.replace(archive, folder / name)
        except Failure as failure:
            if failure.code == DATA:  # whole, yet not what it should be: there is nothing to continue
                shutil.rmtree(work)
            raise
        shutil.rmtree(work)
    say(f"{bytes_text(record['download_bytes'])} downloaded"
        f"{f' ({bytes_text(resumed)} were there)' if resumed else ''}, SHA-256 {record['download_sha256']}"
        f"{', as in the catalog' if known else '; the catalog has no published checksum'}")
    say(f"in {folder}: {names}, fetched.json")


def find_entry(name, catalog):
    entries = {entry["name"]: entry for entry in json.loads(catalog.read_text(encoding="utf-8"))["datasets"]}
    if name not in entries:
        raise Failure(USAGE, f'unknown data set "{name}"; known: {", ".join(entries)}')
    return entries[name]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("--into", required=True, help="folder")
    parser.add_argument("--mirror", help="URL of a folder to use instead of the origin")
    parser.add_argument("--again", action="store_true", help="download again what is there already")
    parser.add_argument("--keep-archive", action="store_true", help="keep the downloaded archive")
    parser.add_argument("--quiet", action="store_true", help="show no progress; the licence is shown")
    catalog = pathlib.Path(__file__).resolve().parent / "catalog.json"
    options = vars(parser.parse_args(arguments))
    try:
        fetch(find_entry(options.pop("name"), catalog), **options)
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
