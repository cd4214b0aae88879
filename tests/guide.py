"""The worked examples of docs/adding-an-algorithm.md, which stand in docs/examples."""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
GUIDE = ROOT / "docs" / "adding-an-algorithm.md"
EXAMPLES = ROOT / "docs" / "examples"


def files_of(family):
    """{path below algorithms: text}"""
    return {str(path.relative_to(EXAMPLES)): path.read_text()
            for path in sorted((EXAMPLES / family).rglob("*")) if path.is_file()}


def write(family, folder):
    """As a copy of the example to FOLDER/algorithms has them."""
    for path, text in files_of(family).items():
        target = pathlib.Path(folder) / "algorithms" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
