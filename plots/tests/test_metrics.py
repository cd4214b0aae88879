import math

import numpy as np
import pytest

from mfplots import metrics

NAN = math.nan


def test_time_to_target_is_linear_between_points():
    # From (2 s, 1.0) to (4 s, 0.9): 0.95 lies half way.
    assert metrics.time_to_target([0, 2, 4], [2.0, 1.0, 0.9], 0.95) == pytest.approx(3.0)


def test_time_to_target_on_a_point_is_that_point():
    assert metrics.time_to_target([0, 2, 4], [2.0, 1.0, 0.9], 1.0) == 2.0


def test_time_to_target_counts_the_first_touch_even_if_it_rises_again():
    assert metrics.time_to_target([0, 1, 2, 3], [1.0, 0.8, 1.0, 0.7], 0.9) == pytest.approx(0.5)


def test_time_to_target_of_a_start_below_it_is_the_start():
    assert metrics.time_to_target([0.0, 1.0], [0.8, 0.7], 0.9) == 0.0


def test_time_to_target_never_reached_is_nan():
    assert math.isnan(metrics.time_to_target([0, 1], [1.0, 0.96], 0.95))
    assert math.isnan(metrics.time_to_target([], [], 0.95))


def test_time_to_target_passes_over_unknown_points():
    assert metrics.time_to_target([0, 1, 2], [1.0, NAN, 0.8], 0.9) == pytest.approx(1.0)
    assert math.isnan(metrics.time_to_target([NAN, NAN], [1.0, 0.8], 0.9))


def test_spread_leaves_out_what_is_unknown_and_says_how_many_are_known():
    assert metrics.spread([3.0, NAN, 1.0, 2.0]) == metrics.Spread(2.0, 1.0, 3.0, 3)
    assert metrics.spread([NAN]).n == 0


def test_median_counts_seeds_that_never_reached_as_late():
    # The median of the three that reached is 2; of all five it is 3.
    assert metrics.censored_median([1.0, 2.0, 3.0, NAN, NAN]) == 3.0
    assert math.isnan(metrics.censored_median([1.0, NAN, NAN]))
    assert math.isnan(metrics.censored_median([1.0, NAN]))
    assert math.isnan(metrics.censored_median([]))


def test_ratio_of_medians_by_hand():
    found = metrics.ratio_of_medians([10.0, 12.0, 11.0], [2.0, 2.2, 2.1])
    assert found.value == pytest.approx(11.0 / 2.1)
    # Three seeds: resampled medians are seeds themselves, so the ends are extreme ratios.
    assert found.low == pytest.approx(10.0 / 2.2)
    assert found.high == pytest.approx(12.0 / 2.0)


def test_ratio_of_one_seed_has_no_interval():
    found = metrics.ratio_of_medians([10.0], [2.0])
    assert found.value == 5.0 and math.isnan(found.low) and math.isnan(found.high)


def test_ratio_is_unknown_where_a_median_never_reached():
    assert not metrics.ratio_of_medians([1.0, 1.0, 1.0], [NAN, NAN, 1.0]).known
    assert not metrics.ratio_of_medians([NAN, NAN, 1.0], [1.0, 1.0, 1.0]).known
    assert not metrics.ratio_of_medians([], [1.0]).known


def test_a_seed_that_did_not_reach_widens_the_interval_down_to_zero():
    found = metrics.ratio_of_medians([10.0] * 3, [2.0, 2.0, NAN])
    assert found.value == 5.0 and found.low == 0.0 and found.high == 5.0


def test_a_baseline_that_often_did_not_reach_gives_no_interval():
    found = metrics.ratio_of_medians([10.0, 10.0, NAN], [2.0] * 3)
    assert found.value == 5.0 and math.isnan(found.low) and math.isnan(found.high)


def test_interval_is_the_same_in_every_run():
    a, b = [3.0, 4.0, 5.0, 6.0], [1.0, 1.1, 1.2, 1.3]
    assert metrics.ratio_of_medians(a, b) == metrics.ratio_of_medians(a, b)


def test_interval_covers_the_true_ratio_as_often_as_it_says():
    rng = np.random.default_rng(7)
    runs = 300
    hits = 0
    for _ in range(runs):
        base = 10.0 * np.exp(0.2 * rng.standard_normal(15))  # median 10
        fast = 2.0 * np.exp(0.2 * rng.standard_normal(15))   # median 2
        found = metrics.ratio_of_medians(base, fast)
        hits += found.low <= 5.0 <= found.high
    # 95 % wanted; three standard errors of 300 runs are 3.8 %, and the bootstrap of a median of 15
    # is somewhat conservative.
    assert 0.91 <= hits / runs <= 0.995


def test_interval_shrinks_with_seeds():
    rng = np.random.default_rng(3)

    def width(n):
        found = metrics.ratio_of_medians(10 + rng.standard_normal(n), 2 + 0.1 * rng.random(n))
        return found.high - found.low

    assert width(200) < width(8) / 2


def test_rates():
    rates = metrics.rates([100.0, 0.0, 5.0, 5.0], [2.0, 1.0, 0.0, NAN])
    assert rates[0] == 50.0 and all(math.isnan(rate) for rate in rates[1:])


def test_median_of_ratios_by_hand():
    found = metrics.median_of_ratios([2.0, 6.0, 20.0, math.nan], [1.0, 2.0, 5.0, 1.0])
    assert found.value == 3.0 and (found.low, found.high) == (2.0, 4.0)
    assert not metrics.median_of_ratios([math.nan], [1.0]).known
    alone = metrics.median_of_ratios([3.0], [2.0])
    assert alone.value == 1.5 and math.isnan(alone.low)
