"""What of a person or a machine may stand in results: folders of users, addresses, names of user and host."""

from __future__ import annotations

import getpass
import re
import socket
from collections.abc import Iterable, Iterator
from typing import Any

HOME = re.compile(r"/(?:home|Users)/[^/\s\"',;:]+|/root(?=/)")
ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}")
HASHED_HOST = re.compile(r"host-[0-9a-f]{12}")
# Names that many machines and users have, which say nothing.
COMMON = {"root", "user", "admin", "ubuntu", "debian", "runner", "test", "host", "localhost", "localdomain", "container"}


def without_homes(text: str) -> str:
    """Lines of JSON with ~ for the folders of users."""
    return HOME.sub("~", text)


def own_names() -> dict[str, str]:
    """{name: what it is} of who runs this and where, but for those that say nothing."""
    names = {socket.gethostname().split(".")[0]: "the name of this host"}
    try:
        names[getpass.getuser()] = "the name of this user"
    except (KeyError, OSError):  # a user without an entry
        pass
    return {name: what for name, what in names.items() if len(name) > 2 and name.lower() not in COMMON}


def strings_in(value: Any, path: str = "$") -> Iterator[tuple[str, str]]:
    """(JSON path, text)"""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from strings_in(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from strings_in(inner, f"{path}[{index}]")


def personal_in(value: Any, names: dict[str, str]) -> Iterable[tuple[str, str, str]]:
    """(JSON path, what was found, what that is)"""
    words = {re.compile(rf"(?<![\w]){re.escape(name)}(?![\w])"): what for name, what in names.items()}
    for path, text in strings_in(value):
        for pattern, what in ((HOME, "the folder of a user"), (ADDRESS, "an address"), *words.items()):
            if hit := pattern.search(text):
                yield path, hit[0], what
    host = value.get("environment", {}).get("host") if isinstance(value, dict) else None
    if isinstance(host, str) and not HASHED_HOST.fullmatch(host):
        yield "$.environment.host", host, "the name of a host"
