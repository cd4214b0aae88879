#!/usr/bin/env python3
"""Fetches a data set of catalog.json from its origin: terms first, then a download by pooch, its checksum, and
only then the files that the catalog lists, each checked before it gets its name. `mfbench data fetch` starts it;
its exit codes are those of mfbench."""

import argparse
import errno
import fcntl
import json
import os
import pathlib
import re
import shutil
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


def say(text, file=None):
    print("".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(text)), file=file, flush=True)


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

    close = reset


def download(url, shown, name, known, work, quiet):
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
        raise Failure(IO, f"{shown}: " + re.sub(r"\w+://\S+", "the URL", str(error))) from None
    except ValueError as wrong:
        raise Failure(DATA, f"{shown}: wrong checksum: {wrong}") from None


def unpack(archive, wanted, folder):
    """Writes members of a zip or tar archive, {name: file}, into a folder. A processor of pooch would write
    where a name or a link in the archive says."""
    try:
        is_zip = zipfile.is_zipfile(archive)
        with (zipfile.ZipFile if is_zip else tarfile.open)(archive) as packed:
            members = packed.infolist() if is_zip else packed.getmembers()
            chosen = {}
            for name in wanted:
                found = [one for one in members if name == (one.filename if is_zip else one.name)]
                if len(found) != 1:
                    raise Failure(DATA, f'{archive.name}: {len(found)} members "{name}", expected one')
                chosen[name] = found[0]
                if not (found[0].external_attr >> 28 in (0, 8) if is_zip else found[0].isreg()):  # 8: S_IFREG
                    raise Failure(DATA, f'{archive.name}: refused: its member "{name}" is not a file')
            total = sum(one.file_size if is_zip else one.size for one in chosen.values())
            if total > min(MOST_UNPACKED, shutil.disk_usage(folder).free):
                raise Failure(IO, f"{folder}: cannot be written: the archive unpacks to {total} bytes, "
                                  "more than there is space for")
            for name, member in chosen.items():
                with (packed.open if is_zip else packed.extractfile)(member) as source, \
                        open(folder / wanted[name], "xb") as target:
                    shutil.copyfileobj(source, target, 1 << 20)
    except Failure:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        # Readers of archives fail in many ways if bytes are damaged; one is to seek to nowhere.
        raise Failure(DATA, f"{archive.name}: cannot be read: {error or type(error).__name__}") from None


def is_fetched(entry, file):
    """Whether its URL brings this file: a member of the archive, or the download itself."""
    return bool(file.get("member")) or entry["url"].endswith("/" + file["name"])


def is_as_known(path, file):
    return path.is_file() and file.get("sha256") in (None, pooch.file_hash(str(path)))


def install(entry, files, archive, record, folder, work):
    """The record comes first: a call that is killed in between leaves no file without one."""
    ready = {file["name"]: archive for file in files}
    if files[0].get("member"):
        ready = {name: work / "unpacked" / name for name in ready}
        (work / "unpacked").mkdir()
        unpack(archive, {file["member"]: file["name"] for file in files}, work / "unpacked")
    sums = {name: pooch.file_hash(str(path)) for name, path in ready.items()}
    for file in files:
        if (found := sums[file["name"]]) != file.get("sha256", found):
            raise Failure(DATA, f"{file['name']}: wrong checksum: SHA-256 {found}, expected {file['sha256']}")
    record |= {key: entry[key] for key in ("licence", "redistributable", "citation")} | {"files_sha256": sums}
    (work / "record").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    os.replace(work / "record", folder / "fetched.json")
    for name, path in ready.items():
        os.replace(path, folder / name)


def fetch(entry, into, mirror=None, again=False, quiet=False):
    """Into <into>/<name>/, with fetched.json beside the files; unfinished ones are in .fetch there."""
    def shown(url):  # without a password
        return re.sub(r"//[^/]*@", "//", url)

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
    say(f"{entry['name']}: {entry['title']}")
    known = entry.get("archive_sha256") or ("archive_md5" in entry and "md5:" + entry["archive_md5"]) or \
        (None if files[0].get("member") else files[0].get("sha256"))
    check = "no checksum is published" if not known else "MD5, which can be forged" if known.startswith("md5:") else "SHA-256"
    check += "; over http, others on the way can change it" if url.startswith("http:") and check != "SHA-256" else ""
    for label, text in (("licence", entry["licence"]), ("cite", entry["citation"]), ("from", shown(url)), ("check", check)):
        say(f"  {label + ':':10}{text}")
    folder = pathlib.Path(into) / entry["name"]
    work = folder / ".fetch"
    folder.mkdir(parents=True, exist_ok=True)
    # Others of this machine could hold a file that they can read.
    with open(os.open(folder / ".fetch.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600), "rb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"{lock.name}: held by another process, waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(work, ignore_errors=True)  # of a call that was killed
        if not again and all(is_as_known(folder / file["name"], file) for file in files):
            return say(f"already in {folder}: {names}")
        work.mkdir()
        try:
            archive = download(url, shown(url), name, known, work, quiet)
            came, size = pooch.file_hash(str(archive)), archive.stat().st_size
            install(entry, files, archive, {
                "name": entry["name"], "url": shown(url), "download_bytes": size, "download_sha256": came,
                "fetched_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                "checksum_was_known": bool(known)}, folder, work)
        finally:
            shutil.rmtree(work)
    say(f"{size} bytes downloaded, SHA-256 {came}" + (": as in the catalog" if known else ""))
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
        return fetch(entries[options.pop("name")], **options) or 0
    except (Failure, OSError) as error:
        of_system = isinstance(error, OSError)
        say(f"error: {error.filename or options['into']}: {error.strerror or error}" if of_system else
            f"error: {error}", sys.stderr)
        return IO if of_system else error.code
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
