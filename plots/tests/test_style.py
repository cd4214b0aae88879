import math
from itertools import combinations

import pytest
from matplotlib.colors import to_rgb

from mfplots.style import duration, look, looks, si, si_tick, significant, time_tick


def luminance(colour):
    """Relative luminance of sRGB (IEC 61966-2-1)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear))


def test_first_six_series_differ_without_colour():
    for a, b in combinations(map(look, range(6)), 2):
        assert a.line != b.line or abs(luminance(a.colour) - luminance(b.colour)) > 0.1
        assert a.marker != b.marker


def test_first_37_series_differ_in_colour_or_line():
    assert len({(look(i).colour, str(look(i).line)) for i in range(37)}) == 37


def test_black_is_the_first_alone():
    assert [i for i in range(50) if look(i).colour == "#000000"] == [0]


def test_every_colour_stands_out_from_white():
    # Graphical objects need a contrast of about 2 to be seen at all; text is never coloured.
    for i in range(7):
        assert 1.05 / (luminance(look(i).colour) + 0.05) > 2


def test_the_baseline_is_black_and_solid():
    assert looks(["a", "b"], "b")["b"] == look(0)


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
