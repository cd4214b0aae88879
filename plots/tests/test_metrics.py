import math

import numpy as np
import pytest

from mfplots import metrics

NAN = math.nan


def reached(clock, values, target):
    return metrics.time_to_target(clock, values, metrics.Target(target))


def test_time_to_target_is_that_of_the_first_evaluated_point_not_of_one_between():
    # From (2 s, 1.0) to (4 s, 0.9): nobody had a model of 0.95 at 3 s.
    assert reached([0, 2, 4], [2.0, 1.0, 0.9], 0.95) == 4.0


def test_time_to_target_on_a_point_is_that_point():
    assert reached([0, 2, 4], [2.0, 1.0, 0.9], 1.0) == 2.0


def test_time_to_target_counts_the_first_point_even_if_it_rises_again():
    assert reached([0, 1, 2, 3], [1.0, 0.8, 1.0, 0.7], 0.9) == 1.0


def test_time_to_target_of_a_start_below_it_is_the_start():
    assert reached([0.0, 1.0], [0.8, 0.7], 0.9) == 0.0


def test_time_to_target_never_reached_is_nan():
    assert math.isnan(reached([0, 1], [1.0, 0.96], 0.95))
    assert math.isnan(reached([], [], 0.95))


def test_time_to_target_passes_over_unknown_points():
    assert reached([0, 1, 2], [1.0, NAN, 0.8], 0.9) == 2.0
    assert math.isnan(reached([NAN, NAN], [1.0, 0.8], 0.9))


def test_the_first_epoch_is_by_itself_and_the_others_have_a_median():
    assert metrics.epoch_times([0, 1, 2, 3, 4], [0, 9, 11, 15, 18]) == (9.0, 3.0)


def test_epochs_between_two_points_count_with_their_mean():
    # Ten of 1 s and two of 2 s after the first.
    assert metrics.epoch_times([0, 1, 2, 3, 13], [0, 2, 4, 6, 16]) == (2.0, 1.0)


def test_a_first_epoch_that_was_not_timed_by_itself_is_unknown():
    first, steady = metrics.epoch_times([0, 10, 20, 30], [0, 50, 60, 80])
    assert math.isnan(first) and steady == 1.5
    assert all(map(math.isnan, metrics.epoch_times([0, 10], [0, 50])))
    first, steady = metrics.epoch_times([0, 1], [0, 5])
    assert first == 5.0 and math.isnan(steady)
    assert all(map(math.isnan, metrics.epoch_times([], [])))


def test_a_weighted_median_is_the_median_of_all_written_out():
    rng = np.random.default_rng(5)
    for _ in range(200):
        n = int(rng.integers(1, 8))
        values, counts = rng.integers(0, 6, n) / 2, rng.integers(1, 6, n)
        assert metrics.weighted_median(values, counts) == np.median(np.repeat(values, counts))
    assert math.isnan(metrics.weighted_median([], []))


def test_a_clock_moved_by_more_than_two_percent_of_its_highest_value():
    def moved(low, high):
        return metrics.clock_moved({"min": low, "median": high, "max": high})

    assert moved(1740e6, 1935e6) and moved(979e6, 1000e6)
    assert not moved(1980e6, 1980e6) and not moved(980e6, 1000e6)
    assert not metrics.clock_moved(None) and not metrics.clock_moved(NAN)


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
    a, b = np.log([10.0, 12.0, 11.0]), np.log([2.0, 2.2, 2.1])
    from scipy.stats import ttest_ind
    assert ttest_ind(a - np.log(found.low), b, equal_var=False).pvalue == pytest.approx(0.05)
    assert ttest_ind(a - np.log(found.high), b, equal_var=False).pvalue == pytest.approx(0.05)


@pytest.mark.parametrize("n", [1, 2])
def test_ratio_of_fewer_than_three_seeds_has_no_interval(n):
    for sides in (([10.0] * n, [2.0] * 5), ([10.0] * 5, [2.0] * n)):
        found = metrics.ratio_of_medians(*sides)
        assert found.value == 5.0 and math.isnan(found.low) and math.isnan(found.high)


def test_whiskers_are_of_three_seeds_or_more():
    assert metrics.spread([1.0, 2.0, 4.0]).whiskers == metrics.Interval(2.0, 1.0, 4.0)
    two = metrics.spread([1.0, 2.0]).whiskers
    assert two.value == 1.5 and math.isnan(two.low) and math.isnan(two.high)


def test_ratio_is_unknown_where_a_median_never_reached():
    assert not metrics.ratio_of_medians([1.0, 1.0, 1.0], [NAN, NAN, 1.0]).known
    assert not metrics.ratio_of_medians([NAN, NAN, 1.0], [1.0, 1.0, 1.0]).known
    assert not metrics.ratio_of_medians([], [1.0]).known


def test_seeds_that_did_not_reach_widen_the_interval_down_to_zero():
    # By ranks, the third smallest of the 25 ratios: 0 is that of a seed that never got there.
    found = metrics.ratio_of_medians([10.0] * 5, [2.0, 2.0, 2.0, 2.0, NAN])
    assert (found.value, found.low, found.high) == (5.0, 0.0, 5.0)
    few = metrics.ratio_of_medians([10.0] * 3, [2.0, 2.0, NAN])
    assert few.value == 5.0 and math.isnan(few.low), "three a side are too few for ranks"


def test_a_baseline_that_often_did_not_reach_gives_no_interval():
    found = metrics.ratio_of_medians([10.0, 10.0, 10.0, NAN, NAN], [2.0] * 5)
    assert found.value == 5.0 and math.isnan(found.low) and math.isnan(found.high)


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
    assert found.value == 3.0
    from scipy.stats import ttest_1samp
    logs = np.log([2.0, 3.0, 4.0])
    assert ttest_1samp(logs, np.log(found.low)).pvalue == pytest.approx(0.05)
    assert ttest_1samp(logs, np.log(found.high)).pvalue == pytest.approx(0.05)
    assert not metrics.median_of_ratios([math.nan], [1.0]).known
    alone = metrics.median_of_ratios([3.0], [2.0])
    assert alone.value == 1.5 and math.isnan(alone.low)
