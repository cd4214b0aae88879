"""The files behind a table give the sentences about tuned algorithms and their numbers of points."""

import re
import sys

import pytest

from number_sources import PACKED, ROOT, cases_of

sys.path.insert(0, str(ROOT / "plots"))
pytest.importorskip("pandas")

from mfplots.tuned import tuning_text  # noqa: E402


def tuned(trials=8, **values):
    return {"trials": trials, "search": {"over": dict.fromkeys(values, [0, 1])}, "values": values}


def test_who_was_searched_for_and_who_has_the_point_of_another_is_told():
    cases = [("als_fused", tuned(reg=0.04), {"reg": 0.04}), ("als", None, {"reg": 0.04, "solver": "cg"}),
             ("fpsgd", tuned(reg=0.1, learning_rate=0.2), {"reg": 0.1}), ("bias", None, {"reg": 1})]
    assert tuning_text(cases) == ("8 points each: over one parameter als_fused; over two parameters fpsgd. "
                                  "als has the point of als_fused. Not tuned: bias.")
    cases[2] = ("peer:libmf:sgd", tuned(29, reg=0.1), {"reg": 0.1})
    assert tuning_text(cases).startswith("8 points over one parameter als_fused; 29 points over one parameter LIBMF SGD.")
    assert tuning_text([("als", None, {})]) == ""


@pytest.mark.parametrize("heading, name", [("Real ml-1m", "peers-explicit"), ("Netflix look-alike", "peers-explicit.netflix"),
                                           ("Look-alike of ml-20m", "peers-explicit.ml-20m")])
def test_the_sentence_of_a_table_is_the_one_of_its_files(heading, name):
    page = (ROOT / "docs/comparison.md").read_text()
    section = re.search(rf"^## {heading}\n(.*?)(?=^## )", page, re.M | re.S)[1]
    cases = cases_of(ROOT / f"results/reference/h100/{name}{PACKED}")
    said = tuning_text((case.header["algorithm"]["name"], case.header.get("tuned"), case.header["algorithm"]["params"]) for case in cases)
    assert said in " ".join(section.replace("`", "").split())
