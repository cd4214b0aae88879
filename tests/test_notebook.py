"""docs/notebooks: every cell runs, in order, in a folder of its own: by a kernel where nbclient and ipykernel are there,
else by exec. No output is committed, since no test would check it."""

import ast
import json
import os
import pathlib
import subprocess
import sys

import pytest

for _name in ("pandas", "matplotlib", "scipy"):
    pytest.importorskip(_name)

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))

# As a kernel does it: the value of the last expression of a cell is shown, by its richest form.
RUN_CELLS = '''
import ast, json, sys
shown, names = [], {}
for source in json.load(sys.stdin):
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    value = eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None
    for kind, form in [("image/png", "_repr_png_"), ("text/html", "_repr_html_")]:
        if hasattr(value, form) and getattr(value, form)():
            shown.append(kind)
print(json.dumps(shown))
'''


def cells(path):
    return [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]


def by_kernel(path, folder, environment):
    """Kinds of what the cells have shown."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    notebook = nbformat.read(path, as_version=4)
    before = dict(os.environ)
    os.environ.update(environment)
    try:
        nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    finally:
        os.environ.clear()
        os.environ.update(before)
    return [kind for cell in notebook.cells if cell.cell_type == "code" for out in cell.outputs
            for kind in out.get("data", {})]


def by_exec(path, folder, environment):
    sources = ["".join(cell["source"]) for cell in cells(path)]
    done = subprocess.run([sys.executable, "-c", RUN_CELLS], input=json.dumps(sources), cwd=folder, env=environment,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def has_kernel():
    try:
        import ipykernel  # noqa: F401
        import nbclient  # noqa: F401
    except ImportError:
        return False
    return True


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_runs(mfbench, path, tmp_path):
    environment = {**mfbench.environment(), "MFBENCH": mfbench.program,
                   "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT / "python"), os.environ.get("PYTHONPATH")]))}
    kinds = (by_kernel if has_kernel() else by_exec)(path, tmp_path, environment)
    assert kinds.count("image/png") == 1 and kinds.count("text/html") >= 6


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_is_committed_without_outputs(path):
    assert cells(path)
    for cell in cells(path):
        assert cell["outputs"] == [] and cell["execution_count"] is None
        ast.parse("".join(cell["source"]))  # no command of a shell, which exec does not know
