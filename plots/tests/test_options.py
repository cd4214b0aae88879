"""Options of the command that made a result."""

import pytest

from mfplots.command_line import options_of


@pytest.mark.parametrize("line, options", [
    ("mfbench run experiments/a.json --out /tmp/r/a --quiet --no-share", ("--no-share",)),
    ("mfbench run a.json", ()),
    ("mfbench run --no-share --profile-warmup 3 a.json --save-model m", ("--no-share", "--profile-warmup", "3")),
    ("mfbench run --out 'a folder/x.json' a.json --trace t --json", ()),
    ("mfbench run a.json --shard 2/8 --out=r --profile-warmup=3 --trace=t", ("--profile-warmup=3",))])
def test_what_belongs_to_the_place_is_left(line, options):
    assert options_of(line) == options
