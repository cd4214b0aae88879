"""./dev lint: lines of code an area beside their budget."""

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
    assert message.startswith("base: 5 lines, budget 4;") and message.endswith("tools/mfdev/budget.json")
    assert budget.over({"new": 1}, {})


def test_a_folder_of_many_files_is_told():
    names = [f"base/{number}.cpp" for number in range(29)] + [f"base/test/{number}.cpp" for number in range(99)]
    assert budget.wide(names) == ["base: 29 sources, more than 28; consider subfolders"]
    assert budget.wide(names[1:]) == []
