"""Text from result files reaches a terminal with its control characters escaped."""

import io
import json
import unicodedata

import pytest
from synthetic import Made, write

from mfplots.cli import main
from mfplots.printable import csv_cell, one_line, printable, say

HOSTILE = "\x1b[31mred\x07\u009b2J\x7f\u202egpj.exe"


def is_clean(text):
    return not any(unicodedata.category(c) == "Cc" and c not in "\t\n" for c in text) and \
        "\u202e" not in text


@pytest.mark.parametrize("text, shown", [
    ("plain, zoë, 日本\t\n", "plain, zoë, 日本\t\n"),
    ("\x1b[2J", "\\x1b[2J"), ("\r", "\\x0d"), ("\0", "\\x00"), ("\u009b", "\\xc2\\x9b"),
    ("\u202e", "\\xe2\\x80\\xae"), ("\udcff", "\\xed\\xb3\\xbf")])
def test_control_characters_are_escaped_as_mfbench_does(text, shown):
    assert printable(text) == shown


def test_a_name_cannot_pass_for_a_line():
    assert one_line("als\ncompleted\t1") == "als\\ncompleted\\t1"


def test_what_the_terminal_cannot_show_is_escaped():
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    say("zoë \udcff", out)
    out.flush()
    assert out.buffer.getvalue() == b"zo\\xeb \\xed\\xb3\\xbf\n"


def test_tables_of_hostile_results(tmp_path, capsys):
    cases = [Made(dataset=f"toy{HOSTILE}\nforged", host=HOSTILE, reason=f"done{HOSTILE}"),
             Made("als\x1b]0;title\x07", status="error", reason=f"{HOSTILE}\nforged: line")]
    folder = write(tmp_path / "hostile", cases)
    (folder / "spec.json").write_text(json.dumps(
        {"schema_version": 1, "cases": [*(case.case_id for case in cases), f"absent{HOSTILE}"]}))
    assert main(["table", str(folder)]) == 0
    text = capsys.readouterr().out
    assert "\\x1b[31mred" in text and is_clean(text)
    assert "\nforged" not in text
    assert main(["table", str(folder), "--baseline", HOSTILE]) in (0, 1)
    captured = capsys.readouterr()
    assert is_clean(captured.out + captured.err)


def test_errors_about_hostile_files(tmp_path, capsys):
    path = tmp_path / "bad\x1b[31m.jsonl"
    path.write_text('{"type": "\\u001b[2J"}\n')
    assert main(["table", str(path)]) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ") and is_clean(error)


def test_dollars_in_a_name_are_no_formula(tmp_path):
    folder = write(tmp_path / "made", [Made(dataset="$^$ for $_$", seed=seed) for seed in (1, 2)])
    assert main([str(folder), "--out", str(tmp_path / "figures"), "--format", "svg"]) == 0
    texts = [path.read_text() for path in (tmp_path / "figures").glob("*.svg")]
    assert any("$^$ for $_$" in text for text in texts)


@pytest.mark.parametrize("value, cell", [
    ("=1+2", "'=1+2"), ("@a", "'@a"), ("+a", "'+a"), ("-", "'-"), ("-2.5e-3", "-2.5e-3"), ("plain", "plain"), ("", ""),
    ("\t=1", "'\t=1"), ("a\x1bb", "a\\x1bb"), (-2.5, -2.5), (None, None)])
def test_a_cell_of_a_table_is_no_formula(value, cell):
    assert csv_cell(value) == cell
