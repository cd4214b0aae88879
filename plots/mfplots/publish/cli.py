"""mfbench publish DIR --by NAME: a folder of results, checked and packed, to be handed in.
mfbench publish --check DIR: the same check of what was handed in, DIR/WHO/SPEC."""

from __future__ import annotations

import argparse
import json
import lzma
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from mfplots.errors import PlotError
from mfplots.files import folder_in
from mfplots.printable import say
from mfplots.publish.apart import copy_results, held_folder, place
from mfplots.publish.checks import problems, unknown_data
from mfplots.publish.contribution import NAME, check_contributed, contribution, folder_of, packed_files, strays, today
from mfplots.publish.found import Found, find, unlisted
from mfplots.publish.packed import CASE, PACKED, compressed, packed_text, write
from mfplots.publish.personal import own_names, without_homes

OUT = Path("results/contributed")


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    try:
        return _check(options.results) if options.check else _publish(options)
    except (PlotError, OSError, EOFError, lzma.LZMAError) as error:
        say(f"error: {error}", sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mfbench publish", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, metavar="DIR", help="folder of results; with --check, of contributions")
    parser.add_argument("--by", metavar="NAME", help="your name, as the report shows it")
    parser.add_argument("--out", type=Path, default=OUT, metavar="DIR",
                        help=f"folder for DIR/WHO/SPEC.jsonl.xz (default: {OUT})")
    parser.add_argument("--partial", action="store_true", help="hand in finished cases although others are missing")
    parser.add_argument("--check", action="store_true", help="only check contributions")
    return parser


def _publish(options: argparse.Namespace) -> int:
    if not options.by:
        raise PlotError("--by is missing; expected --by NAME, your name as the report shows it")
    source: Path = options.results
    who = folder_of(options.by)
    if not source.is_dir() or source.is_symlink():
        raise PlotError(f"{source}: expected a folder of results as mfbench run writes it; ./dev pack --unpack gives back "
                        "one that was packed")
    above = next(path for path in (options.out, *options.out.parents) if path.is_dir())
    with tempfile.TemporaryDirectory(prefix="mfbench-publish-") as scratch, held_folder(source) as results, held_folder(above) as out:
        source = source.resolve()
        for path in (options.out / who / source.name, options.out / who / f"{source.name}{PACKED}"):
            if path.exists():
                raise PlotError(f"{path}: is there already; rename {source.name}, or delete that first")
        copy, made = Path(scratch, "found", source.name), Path(scratch, "made")
        target = made / options.out.relative_to(above) / who / source.name
        try:
            copy_results(results, source, copy)
            said = _pack_copy(copy, target, options)
        except PlotError as error:  # the user knows other folders
            raise PlotError(str(error).replace(str(copy), str(source)).replace(str(made), str(above))) from error
        place(made, out, above)
        files = [above / path.relative_to(made) for path in [*packed_files(target), target / NAME]]
    say(f"{said['cases']} cases of {said['by']}: {', '.join(map(str, files))}")
    return 0


def _pack_copy(source: Path, target: Path, options: argparse.Namespace) -> dict:
    found = find(source)
    names = {name: what for name, what in own_names().items() if name.lower() not in options.by.lower().split()}
    _raise_all(problems(found, options.partial, names))
    said = _pack(source, found, target, {"by": options.by, "date": today(), "partial": options.partial})
    for name in unlisted(source, found):
        say(f"left out, since spec.json does not list it: {name}", sys.stderr)
    for note in [*said["notes"], *(f"no other result knows these data: {name}" for name in unknown_data(found))]:
        say(f"note: {note}")
    return said


def _pack(source: Path, found: Found, target: Path, given: dict) -> dict:
    """What contribution.json says. What was packed is read back, and passes the check of a contribution."""
    target.mkdir(parents=True)
    folders = {target: source} | {target / "tune" / folder.name: folder for folder in sorted(folder_in(source, "tune").glob("*"))
                                  if any(folder_in(source / "tune", folder.name).glob(f"*{CASE}"))}
    for made, folder in folders.items():
        made.parent.mkdir(exist_ok=True)
        text, _ = packed_text(folder, found.names if folder == source else None)
        write(made.with_name(made.name + PACKED), compressed(without_homes(text)))
    said = contribution(target, find(packed_files(target)[0]), given)
    write(target / NAME, (json.dumps(said, ensure_ascii=False, indent=2) + "\n").encode())
    _raise_all(check_contributed(target)[1])
    return said


def _check(root: Path) -> int:
    if not root.is_dir():
        raise PlotError(f"{root}: expected a folder of contributions, WHO/SPEC{PACKED} in it")
    pages = sorted(root.rglob(NAME))
    wrong = [f"{path}: belongs to no contribution; expected WHO/SPEC{PACKED} and WHO/SPEC/{NAME}, as mfbench publish writes them"
             for path in strays(root)]
    for page in pages:
        said, own = check_contributed(page.parent)
        wrong += own
        if not own:
            say(f"{page.parent}: {said['cases']} cases of {said['by']}")
    _raise_all(wrong)
    say(f"contributions checked: {len(pages)}")
    return 0


def _raise_all(wrong: Sequence[str]) -> None:
    if wrong:
        raise PlotError("\nerror: ".join(wrong))
