"""The same work on several cards: the figure, and the page of the report."""

import pytest
from synthetic import Made, draw, svg_text, write

from mfplots.site.cards import cards_data
from mfplots.site.gather import gather

H100, H200 = "NVIDIA H100 80GB HBM3", "NVIDIA H200"


def on(card, seconds, **changes):
    """Three seeds, at the target after one of two epochs."""
    return [Made("als", seed=seed, hardware="cuda", gpu=card, watts=100, trace=((0, 0.0, 2.0), (1, seconds, 0.9), (2, 2 * seconds, 0.8)), **changes)
            for seed in (1, 2, 3)]


@pytest.fixture
def folders(tmp_path):
    write(tmp_path / "results/h100", on(H100, 3.0))
    write(tmp_path / "results/h200", [*on(H200, 2.0), *on(H200, 1.0, params={"factors": 9})])
    write(tmp_path / "results/own", on("My card", 6.0))
    return tmp_path / "results"


def test_a_marker_a_card_beside_the_ratio_of_memory_rates(folders, tmp_path):
    code, words, table = draw(folders, tmp_path, {"figure": "cards"})
    assert code == 0
    assert f"times as fast as on {H100}" in words and "1.50 times as fast" in words and "2.00 times as slow" in words
    assert "its memory rate, 1.43 times" in words and "Not drawn (unknown): memory rate of My card." in words
    assert list(table["card"]) == [H200, "My card"], "the configuration of one card has no ratio"
    assert table["train_s_x"].tolist() == pytest.approx([1.5, 0.5])
    assert table["energy_j"].tolist() == [200, 600]


def test_the_card_and_the_clock_are_those_of_the_recipe(folders, tmp_path):
    _, words, table = draw(folders, tmp_path, {"figure": "cards", "baseline": "My", "clock": "answer_s", "filter": {"factors": 50}})
    assert "times as fast as on My card" in words
    assert table["answer_s_x"].tolist() == pytest.approx([6.25 / 3.25, 6.25 / 2.25])
    assert draw(folders, tmp_path, {"figure": "cards", "filter": {"factors": 9}})[0] == 1


def test_the_page_has_the_folders_that_share_cases(folders, tmp_path):
    write(folders / "alone", [Made()])
    data = cards_data(gather([folders])[0], tmp_path / "cards.svg")
    assert [card["card"] for card in data["cards"]] == [H100, H200, "My card"], "not the folder that shares none"
    assert [row["train_s_x"] for row in data["rows"]] == pytest.approx([1.5, 0.5])
    assert data["picture"] and "1.50 times as fast" in svg_text(tmp_path / "cards.svg")
    assert cards_data(gather([folders / "h100"])[0], tmp_path / "none.svg") is None
