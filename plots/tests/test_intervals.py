"""Intervals against scipy's tests, and by how often they hold the truth."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from mfplots import intervals

TRIALS = 4000  # three standard errors of 95 % are 1 %


def scatters():
    """Of logarithms: symmetric; most runs alike, some late; one of ten disturbed."""
    return {"normal": lambda rng, n: 0.05 * rng.standard_normal(n),
            "skewed": lambda rng, n: 0.05 * rng.exponential(size=n),
            "disturbed": lambda rng, n: 0.01 * rng.standard_normal(n) + 0.1 * (rng.random(n) < 0.1)}


def share(holds):
    rng = np.random.default_rng(2026)
    return sum(holds(rng) for _ in range(TRIALS)) / TRIALS


@pytest.mark.parametrize("n", [3, 5])
@pytest.mark.parametrize("name", scatters())
def test_pairs_and_sides_hold_the_truth_as_often_as_they_say(name, n):
    draw = scatters()[name]

    def pairs_hold(rng):
        low, high = intervals.of_pairs(2 * np.exp(draw(rng, n) - draw(rng, n)))
        return low <= 2 <= high

    def sides_hold(rng):
        low, high = intervals.of_sides(2 * np.exp(draw(rng, n)), np.exp(draw(rng, n)))
        return low <= 2 <= high

    assert share(pairs_hold) >= 0.93
    assert share(sides_hold) >= 0.93


def test_an_interval_of_many_runs_is_narrow():
    rng = np.random.default_rng(1)

    def width(n):
        low, high = intervals.of_sides(np.exp(0.05 * rng.standard_normal(n)), np.ones(n))
        return high - low

    assert width(200) < width(8) / 2


def test_ranks_hold_the_truth_where_runs_never_end():
    def holds(rng):
        a, b = (np.where(rng.random(6) < 0.2, math.inf, np.exp(0.05 * rng.standard_normal(6)))
                for _ in range(2))
        if np.isfinite(a).all() and np.isfinite(b).all():
            return True
        low, high = intervals.of_sides(a, b)
        return math.isnan(low) or low <= 1 <= high

    assert share(holds) >= 0.95


@pytest.mark.parametrize("n, m", itertools.product(range(3, 8), repeat=2))
def test_as_many_ratios_are_outside_as_the_rank_sum_cannot_tell(n, m):
    outside = intervals.ratios_outside(n, m)

    def p(u):
        """Of samples in which u pairs are in the wrong order, by scipy."""
        a = np.arange(n, dtype=float)
        b = np.full(m, 100.0)
        for k in range(u):  # each step puts one more pair into the wrong order
            b[k // n] = (n - 1 - k % n) - 0.5 - 0.001 * (k // n)
        found = mannwhitneyu(a, b, method="exact")
        assert min(found.statistic, n * m - found.statistic) == u
        return found.pvalue

    if outside:
        assert p(outside - 1) <= 0.05
    if 2 * outside < n * m:
        assert p(outside) > 0.05


def test_the_percentile_bootstrap_of_a_median_of_seven_holds_it_in_seven_of_eight_samples():
    """Why there is none here. Of seven values, resampled medians are values; the 2.5 % and 97.5 %
    ends of their distribution are the second and the sixth, which hold the median but where at
    least six fall on one side of it."""
    ranks = np.arange(1, 8)
    # P(resampled median <= k-th value) = P(at least 4 of 7 draws are among the k smallest)
    below = np.array([sum(math.comb(7, j) * (k / 7) ** j * (1 - k / 7) ** (7 - j)
                          for j in range(4, 8)) for k in ranks])
    low, high = ranks[below >= 0.025][0], ranks[below >= 0.975][0]
    assert (low, high) == (2, 6)
    assert 1 - 2 * sum(math.comb(7, j) for j in (0, 1)) / 2 ** 7 == 0.875


def test_no_interval_of_what_has_no_logarithm():
    assert all(map(math.isnan, intervals.of_pairs(np.array([1.0, 0.0, 2.0]))))
    assert all(map(math.isnan, intervals.of_sides(np.array([1.0, 0.0, 2.0]), np.ones(3))))
    assert intervals.of_sides(2 * np.ones(3), np.ones(3)) == (2, 2)
