"""mfbench list: the algorithms in groups, on a screen of any width."""

import json
import re

import pytest

from test_terminal import on_terminal


@pytest.fixture(scope="module")
def listed(mfbench, tmp_path_factory):
    return json.loads(mfbench("list", "--json", cwd=tmp_path_factory.mktemp("list"), code=0).stdout)


def groups_in(text):
    """{title: [names]} of the text."""
    found, title = {}, None
    for line in text.splitlines():
        if re.match(r"  \S", line):
            found[title].append(line.split()[0])
        elif not line.startswith((" ", "*")):
            title = line
            found[title] = []
    return found


def test_every_algorithm_stands_below_the_title_of_its_family(mfbench, tmp_path, listed):
    expected = {}
    for one in listed:
        expected.setdefault(one["group"], []).append(one["name"])
    text = mfbench("list", cwd=tmp_path, code=0).stdout
    assert groups_in(text) == expected
    assert len(expected) == len({one["family"] for one in listed}) > 5
    own = [title for title in expected if title != "Other people's libraries"]
    assert own == sorted(own, key=str.lower), "not by title"
    assert all(len(line) < 100 for line in text.splitlines())
    said = " ".join(text.split())
    assert all(one["summary"] in said for one in listed), "cut"


def test_those_that_are_not_built_have_a_star(mfbench, tmp_path, listed):
    text = mfbench("list", cwd=tmp_path, code=0).stdout
    stars = {line.split()[0] for line in text.splitlines() if re.match(r"  \S+ +(cpu|cuda)\*", line)}
    assert stars == {one["name"] for one in listed if not one["built"]}
    assert ("* not in this build" in text) == bool(stars)


@pytest.mark.parametrize("columns, widest", [(70, 69), (80, 79), (200, 99)])
def test_no_line_wraps(mfbench, tmp_path, columns, widest):
    text = on_terminal(mfbench.program, ["list"], tmp_path, mfbench.environment(), columns=columns)
    assert widest - 10 < max(map(len, text.splitlines())) <= widest
