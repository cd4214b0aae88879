import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from synthetic import Made, rich_cases, write

from mfplots.cli import main


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    """What the default figures need, of one seed: less to draw."""
    return write(tmp_path_factory.mktemp("few"), rich_cases((2,)), spec=True)


def test_table_shows_every_series_and_every_failure(rich, capsys):
    assert main(["table", str(rich)]) == 0
    text = capsys.readouterr().out
    assert re.search(r"toy \(look-alike, synthetic\) +gpusgd factors=50 +3 +3 skipped", text)
    assert re.search(r"ebgtg factors=50 +3 +3 completed +0\.9322 \[0\.9282, 0\.9342\]", text)
    assert re.search(r"als factors=100 .* 3 of 3 did not reach", text)
    assert "gpusgd needs CUDA; this build lacks it" in text
    assert "git 0123456789 + uncommitted changes" in text


def test_table_shows_unfinished_and_absent_cases(tmp_path, capsys):
    absent = Made(seed=3)
    folder = write(tmp_path, [Made(), Made("als", status=None), absent], spec=True)
    (folder / f"{absent.case_id}.jsonl").unlink()
    assert main(["table", str(folder)]) == 0
    text = capsys.readouterr().out
    assert re.search(r"als +1 +1 unfinished", text)
    assert f"not begun (1): {absent.case_id}" in text


def test_table_takes_target_and_baseline(rich, capsys):
    assert main(["table", str(rich), "--target", "0.97", "--baseline", "hogwild"]) == 0
    text = capsys.readouterr().out
    assert "target test RMSE: toy: 0.97" in text and "over hogwild factors=300" in text


def test_errors_are_messages_not_tracebacks(tmp_path, capsys):
    assert main([str(tmp_path / "absent")]) == 1
    assert capsys.readouterr().err.startswith("error: ")
    folder = write(tmp_path, [Made()])
    assert main([str(folder), "--format", "jpg"]) == 1
    assert 'unknown "jpg"' in capsys.readouterr().err
    assert main([str(folder), "--figure", "rmse-tim"]) == 1
    assert 'did you mean "rmse-time"?' in capsys.readouterr().err


def test_no_name_in_a_folder_of_results_leads_a_figure_out_of_it(tmp_path, capsys):
    folder = write(tmp_path, [Made()])
    call = [str(folder), "--figure", "rmse-time", "--format", "svg"]
    assert main(call) == 0
    names = sorted(path.name for path in (folder / "figures").iterdir())
    assert len(names) == 3
    (tmp_path / "mine").write_text("what the user keeps")
    for name in names:
        (folder / "figures" / name).unlink()
        (folder / "figures" / name).symlink_to(tmp_path / "mine")
    assert main(call) == 0 and not any(path.is_symlink() for path in (folder / "figures").iterdir())
    assert (tmp_path / "mine").read_text() == "what the user keeps"
    shutil.move(folder / "figures", tmp_path / "elsewhere")
    (folder / "figures").symlink_to(tmp_path / "elsewhere")
    capsys.readouterr()
    assert main(call) == 1 and "figures: found a link, expected a folder" in capsys.readouterr().err
    assert main([*call, "--out", str(folder / "figures")]) == 0  # named by the user


def test_runs_as_a_module_without_a_display(tmp_path):
    folder = write(tmp_path, [Made()])
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "MPLBACKEND")}
    done = subprocess.run([sys.executable, "-m", "mfplots", str(folder), "--figure", "rmse-time",
                           "--format", "svg"], cwd=Path(__file__).parents[1], env=environment,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.splitlines()[0] == str(folder / "figures" / "rmse-time.svg")


def test_optional_figures_are_left_out_where_there_is_no_case(few, tmp_path, capsys):
    absent = {"figure": "rmse-time", "name": "absent", "filter": {"algorithm": "no such"}}
    recipe = tmp_path / "recipe.json"
    arguments = [str(few), "--recipe", str(recipe), "--out", str(tmp_path / "out"), "--format", "svg"]
    recipe.write_text(json.dumps([{"figure": "rmse-time"}, absent | {"optional": True}]))
    assert main(arguments) == 0
    said = capsys.readouterr()
    assert "rmse-time.svg" in said.out and "absent" not in said.out
    assert "left out absent: the filter" in said.err
    recipe.write_text(json.dumps([{"figure": "rmse-time"}, absent]))
    assert main(arguments) != 0
    assert "leaves no case" in capsys.readouterr().err


def test_the_python_of_the_readme_runs():
    plots = Path(__file__).parents[1]
    (example,) = re.findall(r"^```python\n(.*?)^```$", (plots / "README.md").read_text(), re.M | re.S)
    done = subprocess.run([sys.executable, "-c", example], cwd=plots, text=True, capture_output=True,
                          env={**os.environ, "PYTHONPATH": str(plots)})
    assert done.returncode == 0, done.stderr
    assert re.search(r"^fpsgd +0\.8\d+ +5$", done.stdout, re.M), done.stdout


def test_a_folder_that_cannot_be_written_names_out(few, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main([str(few), "--out", str(tmp_path / "file/figures")]) == 1
    error = capsys.readouterr().err
    assert "figures cannot be written there: Not a directory; name another folder with --out" in error
