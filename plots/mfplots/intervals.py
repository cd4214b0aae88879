"""95 % intervals of ratios, over runs: Student's t on logarithms, or ranks where runs never end.

docs/methodology.md ("Comparing two runs") has the sources; tests count how often they hold the truth.
"""

from __future__ import annotations

import math

import numpy as np

LEVEL = 0.95
FEWEST = 3  # runs a side, for an interval, a band or whiskers

NONE = (math.nan, math.nan)


def of_pairs(ratios: np.ndarray) -> tuple[float, float]:
    """Of the geometric mean of ratios, each of two runs that share what varies between repeats."""
    if ratios.size < FEWEST or not (ratios > 0).all():
        return NONE
    logs = np.log(ratios)
    error = logs.std(ddof=1) / math.sqrt(logs.size)
    return _around(logs.mean(), _t_limit(logs.size - 1) * error)


def of_sides(numerator: np.ndarray, denominator: np.ndarray) -> tuple[float, float]:
    """Of the ratio by which one side is above the other, run against run; positive or infinite.

    Welch's t on logarithms. Where a run is infinite, by the exact rank sum; its ends may be 0, and
    there is no interval where it would be without end.
    """
    if min(numerator.size, denominator.size) < FEWEST or not (
            (numerator > 0).all() and (denominator > 0).all()):
        return NONE
    if not (np.isfinite(numerator).all() and np.isfinite(denominator).all()):
        return _by_ranks(numerator, denominator)
    a, b = np.log(numerator), np.log(denominator)
    first, second = a.var(ddof=1) / a.size, b.var(ddof=1) / b.size
    both = first + second
    if both == 0:
        return _around(a.mean() - b.mean(), 0.0)
    freedom = both ** 2 / (first ** 2 / (a.size - 1) + second ** 2 / (b.size - 1))
    return _around(a.mean() - b.mean(), _t_limit(freedom) * math.sqrt(both))


def _around(middle: float, reach: float) -> tuple[float, float]:
    return math.exp(middle - reach), math.exp(middle + reach)


def _t_limit(freedom: float) -> float:
    from scipy.special import stdtrit  # here, since it loads slowly and not every figure asks

    return float(stdtrit(freedom, (1 + LEVEL) / 2))


def _by_ranks(numerator: np.ndarray, denominator: np.ndarray) -> tuple[float, float]:
    outside = ratios_outside(numerator.size, denominator.size)
    if outside == 0:
        return NONE
    with np.errstate(invalid="ignore"):
        ratios = np.divide.outer(numerator, denominator).ravel()
    unknown = np.isnan(ratios)  # of two that never end: any ratio
    low = np.sort(np.where(unknown, 0.0, ratios))[outside - 1]
    high = np.sort(np.where(unknown, math.inf, ratios))[-outside]
    return (float(low), float(high)) if math.isfinite(high) else NONE


def ratios_outside(n: int, m: int) -> int:
    """How many of the smallest, and of the largest, of n * m ratios the interval leaves out."""
    ways = np.zeros((n + 1, n * m + 1))  # by how many of the first side stand where, and rank sum
    ways[0, 0] = 1
    for rank in range(n + m):
        for taken in range(min(rank, n - 1), -1, -1):
            shift = rank - taken  # of the other side, those below this one
            if shift <= m:
                ways[taken + 1, shift:] += ways[taken, :n * m + 1 - shift]
    tails = np.cumsum(ways[n]) / ways[n].sum()
    return int((tails <= (1 - LEVEL) / 2).sum())
