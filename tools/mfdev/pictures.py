"""./dev pictures: the pictures of the documents, from committed results and recipes.

For each, docs/images/pictures.json has its recipe and results, or the timeline that it shows, and the hash of these from
when it was drawn.
"""

import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

from mfdev.build import run_mfbench
from mfdev.shell import ROOT, Failure, say

IMAGES = ROOT / "docs/images"
LIST = IMAGES / "pictures.json"


def listed():
    return json.loads(LIST.read_text(encoding="utf-8"))


def recipe_of(entry):
    """The one figure of its recipe file that the picture shows."""
    data = json.loads((ROOT / entry["recipe"]).read_text(encoding="utf-8"))
    found = [one for one in (data if isinstance(data, list) else [data]) if one.get("name", one["figure"]) == entry["figure"]]
    if not found:
        raise Failure(f"{entry['recipe']}: no figure named {entry['figure']}, which {LIST.relative_to(ROOT)} asks for")
    return found[0]


def results_of(entry):
    """Folders and packed results that the patterns of the entry name."""
    found = [path for pattern in entry["results"] for path in sorted(ROOT.glob(pattern))]
    if not found:
        raise Failure(f"{LIST.relative_to(ROOT)}: no results fit {', '.join(entry['results'])}")
    return found


def digest(entry):
    """A hash of all that the picture is drawn from."""
    if trace := entry.get("timeline"):
        return hashlib.sha256(json.dumps(entry["width"]).encode() + (ROOT / trace).read_bytes()).hexdigest()
    recipe, files = recipe_of(entry), []
    for path in results_of(entry):
        files += sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    if published := recipe.get("published"):
        files.append((ROOT / entry["recipe"]).parent / published["csv"])
    whole = hashlib.sha256(json.dumps([recipe, entry["width"]], sort_keys=True).encode())
    for file in files:
        whole.update(hashlib.sha256(file.read_bytes()).digest())
    return whole.hexdigest()


def stale(pictures):
    """The pictures that were drawn from other inputs, or are missing."""
    return [name for name, entry in pictures.items()
            if entry.get("inputs") != digest(entry) or not (IMAGES / name).is_file()]


def draw_timeline(name, entry):
    sys.path.insert(0, str(ROOT / "plots"))
    from mfplots.style import styled
    from mfplots.timeline import draw_timeline as page_of
    with styled(entry["width"]):
        page_of(ROOT / entry["timeline"]).save(IMAGES / name.removesuffix(".png"), ["png"])


def draw(name, entry):
    if "timeline" in entry:
        return draw_timeline(name, entry)
    with tempfile.TemporaryDirectory() as folder:
        recipe = recipe_of(entry)
        if published := recipe.get("published"):
            published["csv"] = str(((ROOT / entry["recipe"]).parent / published["csv"]).resolve())
        made = pathlib.Path(folder) / "recipe.json"
        made.write_text(json.dumps({**recipe, "name": "picture"}), encoding="utf-8")
        run_mfbench(["plot", *map(str, results_of(entry)), "--recipe", str(made), "--out", folder, "--width", entry["width"],
                     "--format", "png"], stdout=subprocess.DEVNULL)
        (IMAGES / name).write_bytes((pathlib.Path(folder) / "picture.png").read_bytes())


def pictures(words):
    """Draws the stale pictures, the named ones, or all."""
    found = listed()
    if strange := [word for word in words if word != "--all" and word not in found]:
        raise Failure(f"pictures: {strange[0]} is not in {LIST.relative_to(ROOT)}; known: --all, {', '.join(found)}")
    for name in found if "--all" in words else words or stale(found):
        draw(name, found[name])
        found[name]["inputs"] = digest(found[name])
        say(f"drew docs/images/{name}")
        LIST.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
