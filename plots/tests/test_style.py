import json
import lzma
import math
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from mfplots import palette
from mfplots.style import duration, looks, si, si_tick, significant, time_tick, variant_look


def test_every_algorithm_and_system_has_a_pair_of_its_own():
    for table in (palette.ALGORITHMS, palette.SYSTEMS):
        assert len(set(table.values())) == len(table)


def test_every_algorithm_of_the_program_is_in_the_table():
    root = Path(__file__).resolve().parents[2]
    run = {json.loads(line)["algorithm"]["name"]
           for path in (root / "results" / "reference").rglob("*.jsonl.xz")
           for line in lzma.open(path, "rt", encoding="utf-8") if line.startswith('{"type":"header"')}
    assert run and run <= palette.ALGORITHMS.keys()


def test_every_peer_that_a_spec_names_is_in_the_table():
    root = Path(__file__).resolve().parents[2]
    peers = set()
    for path in (root / "experiments").rglob("*.json"):
        for entry in json.loads(path.read_text()).get("algorithms", []):
            if entry.get("name") == "peer":
                peers.add(f"peer:{entry['library']}:{entry.get('algorithm', '')}")
    assert peers
    for peer in peers:
        assert any(name == peer or (peer.endswith(":") and name.startswith(peer)) for name in palette.ALGORITHMS), peer


def test_every_published_system_that_a_recipe_draws_is_in_the_table():
    root = Path(__file__).resolve().parents[2]
    table = pd.read_csv(root / "results" / "published" / "published.csv", dtype=str)
    metrics = ("test_rmse", "total_time", "iteration_time", "time_to_rmse_0.92")
    drawn = table[table["metric"].isin(metrics)]["system"]
    assert {palette.system_name(name) for name in drawn} <= palette.SYSTEMS.keys()


def test_an_unknown_name_has_the_same_look_in_every_process():
    code = "from mfplots.palette import of_algorithm; print(of_algorithm('mine'))"
    runs = {subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                           cwd=Path(__file__).parents[1], env={"PYTHONHASHSEED": seed}).stdout
            for seed in ("1", "2")}
    assert runs == {f"{palette.of_algorithm('mine')}\n"}


def test_variants_share_the_colour_and_marker_and_differ_in_line_and_filling():
    found = looks(["als a=1", "als a=2", "fpsgd", "als a=3"], None)
    ours = [found[label] for label in found if label.startswith("als")]
    assert {(one.colour, one.marker) for one in ours} == {palette.ALGORITHMS["als"]}
    assert len({str(one.line) for one in ours}) == len({one.fill for one in ours}) == 3
    assert len({(str(one.line), one.fill) for one in
                (variant_look("als", i) for i in range(36))}) == 36


def test_two_algorithms_of_one_colour_differ_in_line_and_filling():
    found = looks(["batch_hogwild", "als", "ccd++"], None)
    assert found["batch_hogwild"].colour == found["ccd++"].colour
    assert found["batch_hogwild"].line != found["ccd++"].line and found["batch_hogwild"].fill != found["ccd++"].fill
    assert found["als"].line == found["batch_hogwild"].line


def test_a_line_has_one_meaning_for_all_algorithms_and_any_order():
    labels = ["ebgtg factors=300", "ebgtg factors=50", "ebltg factors=50", "sgd_serial factors=300", "sgd_serial factors=1000"]
    found = looks(labels, None)
    place = {label: found[label].variant for label in labels}
    assert place["ebgtg factors=50"] == place["ebltg factors=50"] < place["ebgtg factors=300"]
    assert place["ebgtg factors=300"] == place["sgd_serial factors=300"] < place["sgd_serial factors=1000"]
    assert {label: look.variant for label, look in looks(labels[::-1], None).items()} == place


def test_an_algorithm_looks_the_same_whatever_else_is_there():
    assert looks(["als"], None)["als"].colour == looks(["fpsgd", "x", "als"], "x")["als"].colour


def test_the_baseline_is_the_solid_one_of_its_algorithm():
    assert looks(["a p=1", "a p=2"], "a p=2")["a p=2"].line == "-"


@pytest.mark.parametrize("value, text", [
    (0, "0"), (1.234, "1.23"), (0.01234, "0.0123"), (123.4, "123"), (1234.5, "1234"),
    (1.5e7, "1.50e+07"), (float("nan"), "–")])
def test_significant(value, text):
    assert significant(value) == text


def test_si():
    assert si(1.234e7, "/s") == "12.3 M/s" and si(12, "/s") == "12.0 /s"
    assert si(0, "/s") == "0 /s" and si(0.25, "/s") == "0.250 /s"
    assert si(999.9e6, "/s") == "1.00 G/s"
    assert si_tick(2e3) == "2 k" and si_tick(0) == "0" and si_tick(0.5) == "0.5"
    assert time_tick(3 * 1e-6) == "3 µs"


def test_duration():
    assert [duration(s) for s in (12.34, 0.0123, 1.5e-6, 0)] == ["12.3 s", "12.3 ms", "1.50 µs",
                                                                 "0 s"]
    assert [duration(s) for s in (12345.6, 2e-8, math.nan)] == ["12346 s", "20.0 ns", "–"]
