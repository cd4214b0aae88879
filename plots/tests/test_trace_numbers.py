import math

import pytest

from mfplots import metrics

NAN = math.nan


def test_a_target_is_met_at_the_first_evaluated_point_not_at_one_between():
    # From 1.0 to 0.9: there was no model of 0.95 between the two.
    traces = [{"test_rmse": [2.0, NAN, 1.0, 0.9]}, {"test_rmse": [1.0]}, {"test_rmse": []}]
    assert metrics.first_at(metrics.Target(0.95), traces) == [3, None, None]


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
    """What `mfbench ask` answers is in harness/test/questions_test.cpp."""
    found = metrics.ratio_of_medians([10.0, 12.0, 11.0], [2.0, 2.2, 2.1])
    assert found.value == pytest.approx(11.0 / 2.1)
    assert found.low < found.value < found.high
    assert not metrics.ratio_of_medians([1.0, 1.0, 1.0], [NAN, NAN, 1.0]).known
    few = metrics.ratio_of_medians([10.0] * 2, [2.0] * 5)
    assert few.value == 5.0 and math.isnan(few.low) and math.isnan(few.high)


def test_whiskers_are_of_three_seeds_or_more():
    assert metrics.spread([1.0, 2.0, 4.0]).whiskers == metrics.Interval(2.0, 1.0, 4.0)
    two = metrics.spread([1.0, 2.0]).whiskers
    assert two.value == 1.5 and math.isnan(two.low) and math.isnan(two.high)


def test_rates():
    rates = metrics.rates([100.0, 0.0, 5.0, 5.0], [2.0, 1.0, 0.0, NAN])
    assert rates[0] == 50.0 and all(math.isnan(rate) for rate in rates[1:])


def test_median_of_ratios_by_hand():
    found = metrics.median_of_ratios([2.0, 6.0, 20.0, math.nan], [1.0, 2.0, 5.0, 1.0])
    assert found.value == 3.0
    assert found.low < found.value < found.high
    assert not metrics.median_of_ratios([math.nan], [1.0]).known
    single = metrics.median_of_ratios([3.0], [2.0])
    assert single.value == 1.5 and math.isnan(single.low)
