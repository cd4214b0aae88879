"""What is wrong with results that are to be handed in, and what who reads them should know."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mfplots import program
from mfplots.errors import PlotError
from mfplots.publish.found import Found
from mfplots.publish.known_data import catalog, measured_contents, source_hashes
from mfplots.publish.personal import personal_in

ENOUGH = 5     # seeds
SHOWN = 3      # problems of a kind
SECTIONS = ("algorithm", "dataset", "params", "schedule", "init", "stop", "evaluate", "split")

Json = dict[str, Any]


def problems(found: Found, partial: bool = False, names: Mapping[str, str] | None = None) -> list[str]:
    """Why it is refused. `partial`: cases may be missing; `names`: of user and host, which must not stand in it."""
    if found.left_out:
        return [f"{why}; run the spec again, or move the file away" for why in found.left_out]
    kinds = (_of_the_spec(found), _other_specs(found), [] if partial else _not_done(found), _other_data(found),
             _personal(found, dict(names or {})))
    return [line for kind in kinds for line in _first(list(kind))]


def _first(kind: list[str]) -> list[str]:
    more = [f"... and {len(kind) - SHOWN} more of this kind"] if len(kind) > SHOWN else []
    return [*kind[:SHOWN], *more]


def _of_the_spec(found: Found) -> Iterator[str]:
    """That spec.json is of the spec that it holds, and lists all of its cases."""
    head, where = found.head, found.spec_file
    known = {row["schema_version"] for row in found.rows if row["schema_version"] is not None}
    if known and known != {head.get("schema_version")}:
        yield (f"{where}: $.schema_version: found {head.get('schema_version')}, expected {known.pop()}, as in the cases; "
               "run the spec again into a new folder")
    expected = program.ask("spec hash", spec=head["spec"])
    if head.get("spec_hash") != expected:
        yield (f"{where}: $.spec_hash: found {_short(head.get('spec_hash'))}, expected {_short(expected)}, the hash of "
               "$.spec: it was edited after the run; run the spec again into a new folder")
    if any(row.get("plugin") for row in found.rows):
        return  # only who has the plugin can resolve its cases
    try:
        planned = len(found.planned)
    except PlotError as error:
        yield f"{error}; this mfbench does not take the spec: hand in results of its version"
        return
    if len(found.rows) != planned:
        yield (f"{where}: $.cases: found {len(found.rows)}, expected all {planned} of the spec: no case is left out; run "
               "the spec again into this folder, which keeps what is finished")


def _other_specs(found: Found) -> Iterator[str]:
    for row in found.done:
        if row["spec_hash"] != found.head.get("spec_hash"):
            yield (f"{row['file']}: $.spec_hash: found {_short(row['spec_hash'])}, expected "
                   f"{_short(found.head.get('spec_hash'))} of the spec.json beside it: it was run for another spec; run this "
                   "one into a new folder, or here with --rerun")


def _not_done(found: Found) -> Iterator[str]:
    for row in found.rows:
        if row["status"] in program.PENDING:
            yield (f"{row['file']}: is {row['status']}, expected a finished case; run the spec again, which goes on where it "
                   "ended, or hand in the others by --partial")


def _other_data(found: Found) -> Iterator[str]:
    for row in found.done:
        if row["source"] == "catalog" and (known := _catalog_hashes(row)) and row["source_sha256"] not in known:
            yield (f"{row['file']}: $.dataset.source_sha256: found {_short(row['source_sha256'])}, expected "
                   f"{' or '.join(map(_short, sorted(known)))} of the catalog: \"{row['dataset']}\" was read from other "
                   "files; mfbench data fetch gets the right ones; then run the spec again")
        elif row["content_hash"] and row["content_hash"] not in (known := _contents(row) or {row["content_hash"]}):
            yield (f"{row['file']}: $.dataset.content_hash: found {row['content_hash']}, expected "
                   f"{' or '.join(sorted(known))}, which results/reference has for \"{row['dataset']}\"; give other "
                   "ratings a \"label\" of their own in the spec, and run it again")


def _catalog_hashes(row: Json) -> set[str]:
    """Those of its entry, or of all where its label names none; empty where a checksum is not known."""
    entry = catalog().get(str(row["dataset"]).partition("@")[0])
    return source_hashes(entry) if entry else set().union(*map(source_hashes, catalog().values()))


def _contents(row: Json) -> set[str]:
    return measured_contents().get(str(row["dataset"]), set())


def _personal(found: Found, names: dict[str, str]) -> Iterator[str]:
    for where, line in found.lines():
        of_case = line.get("type") != "spec"
        for path, text, what in personal_in(line, names):
            if of_case and not found.packed and what == "the folder of a user":
                continue  # is packed as ~
            yield (f"{where}: {path}: found '{text}', {what}, expected nothing of a person or a machine; "
                   f"{'run the case again by a newer mfbench' if path.endswith('.host') else _mend(path)}")


def _mend(path: str) -> str:
    if path.startswith("$.spec"):
        return "name data by mfbench data import, or by a path below the working folder, and run the spec again"
    return "run the case again without it"


def notes(found: Found) -> list[str]:
    """What is no reason to refuse them, and stands beside them."""
    done = found.done
    seeds = Counter(_configuration(row) for row in done)
    few = [count for count in seeds.values() if count < ENOUGH]
    statuses = Counter(row["status"] for row in done if row["status"] != "completed")
    plugins = sorted({str(row["plugin"]) for row in done if row.get("plugin")})
    said = [
        ("missing", len(found.rows) - len(done), len(found.rows), "cases of the spec"),
        *((status, count, len(done), "cases") for status, count in sorted(statuses.items())),
        (f"fewer than {ENOUGH} seeds", len(few), len(seeds), f"configurations, the fewest {min(few, default=0)}"),
        ("contended", sum(map(_is_contended, done)), len(done), "cases: other programs took part of the machine"),
        ("uncommitted changes, or an unknown commit", sum(row["git_dirty"] is not False for row in done), len(done), "cases")]
    return [*(f"{what}: {count} of {total} {words}" for what, count, total, words in said if count),
            *(f"of a plugin, whose code is not here: {name}" for name in plugins)]


def unknown_data(found: Found) -> list[str]:
    """Data sets that neither the catalog nor other results know, so that their hashes can only be believed."""
    return distinct(row["dataset"] for row in found.done if row["content_hash"] and not _is_known(row))


def _is_contended(row: Json) -> bool:
    return row["contended"] is True or row["host_contended"] is True


def _is_known(row: Json) -> bool:
    return bool(_catalog_hashes(row) if row["source"] == "catalog" else _contents(row))


def _configuration(row: Json) -> str:
    """Repeats have the same; they differ in seed and fold."""
    def plain(value: Any) -> Any:
        return {key: own for key, own in value.items() if key not in ("seed", "fold")} if isinstance(value, dict) else value
    return json.dumps([plain(row[key]) for key in SECTIONS], sort_keys=True)


def _short(digest: Any) -> str:
    return digest[:10] if isinstance(digest, str) else "none"


def distinct(values: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(value for value in values if value is not None))
