"""./dev lint: lines of code an area beside their budget."""

import json
import shutil
import subprocess
import sys

from mfdev import budget


def test_lines_are_counted_by_area(tmp_path, monkeypatch):
    files = {"base/a.cpp": 3, "base/test/a_test.cpp": 4, "testing/b.hpp": 5, "docs/examples/x/test/c.cu": 6,
             "docs/examples/x/c.cu": 7, "python/d.py": 8}
    for name, count in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("\n" * count)
    monkeypatch.setattr(budget, "ROOT", tmp_path)
    assert budget.lines(files) == {"base": 3, "python": 8, "tests": 15}


def test_an_area_over_its_budget_is_told():
    [message] = budget.over({"base": 5, "tests": 6}, {"base": 4, "tests": 6})
    assert message.startswith("base: 5, budget 4;") and message.endswith("tools/mfdev/budget.json")
    assert budget.over({"new": 1}, {})


def test_a_folder_of_many_files_is_told():
    names = [f"base/{number}.cpp" for number in range(29)] + [f"base/test/{number}.cpp" for number in range(99)]
    assert budget.wide(names) == ["base: 29 sources, more than 28; consider subfolders"]
    assert budget.wide(names[1:]) == []


def test_clauses_of_the_documents_are_counted_and_may_only_become_fewer(tmp_path, monkeypatch):
    text = """# Head: one two three four five
A sentence: it has one clause behind a colon here. Two names: `a`, `b`.
It has another one; this too has more than four words.

| cell: one two three four five |

    code: one two three four five

A list follows:

- one two three four five
"""
    (tmp_path / "a.md").write_text(text)
    monkeypatch.setattr(budget, "ROOT", tmp_path)
    monkeypatch.setattr(budget, "sources", lambda endings: ["a.md"])
    assert budget.clauses() == 2
    [message] = budget.over({budget.CLAUSES: 2}, {budget.CLAUSES: 1})
    assert message.startswith("clauses behind ':' or ';' in the documents: 2, budget 1; take some out")


def test_an_update_does_not_raise_the_budget_of_clauses(tmp_path):
    room = tmp_path / "tools" / "mfdev"
    room.mkdir(parents=True)
    shutil.copy(budget.__file__, room)
    (tmp_path / "a.md").write_text("One: this has more than four words. Two: this has more than four words.\n")
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    for most, expected in ((1, 1), (5, 2)):
        (tmp_path / budget.FILE).write_text(json.dumps({budget.CLAUSES: most}))
        subprocess.run([sys.executable, room / "budget.py", "--update"], check=True)
        assert json.loads((tmp_path / budget.FILE).read_text())[budget.CLAUSES] == expected
