"""How far substitutes of a real set, look-alikes or enlarged sets, rank algorithms as the set itself does."""

import collections
import itertools
import json
import re
import statistics

SEARCHED = "reg"  # each configuration is taken at its best value of this


def configuration(case):
    params = {key: value for key, value in case.header["algorithm"]["params"].items() if key != SEARCHED}
    return case.header["algorithm"]["name"], json.dumps(params, sort_keys=True)


def outcomes(cases):
    """{configuration: its final test RMSE at the best `reg`, the median over seeds}, of the cases of a data set."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for case in cases:
        by_reg = found[configuration(case)]
        by_reg[case.header["algorithm"]["params"].get(SEARCHED)].append(case.footer["final_test_rmse"])
    return {name: min(map(statistics.median, by_reg.values())) for name, by_reg in found.items()}


def without_seed(name):
    return re.sub(r" seed\d+\b", "", name)


def is_of(case, real, substitute):
    return without_seed(case.header["dataset"]["name"]) == f"{real} {substitute}"


class Agreement:
    """For a real set and a substitute ("look-alike", "expanded 2x2"), of which several may have been drawn: their
    median is what counts."""

    def __init__(self, cases, real, substitute):
        by_set = collections.defaultdict(list)
        for case in cases:
            by_set[case.header["dataset"]["name"]].append(case)
        drawn = [outcomes(found) for found in by_set.values() if is_of(found[0], real, substitute)]
        self.real = outcomes(by_set[real])
        if not drawn or any(one.keys() != self.real.keys() for one in drawn):
            raise ValueError(f"{real} and its {substitute} do not have the same configurations")
        self.drawn = {name: statistics.median(one[name] for one in drawn) for name in self.real}
        self.above = {name: self.drawn[name] - self.real[name] for name in self.real}

    def level(self):
        """By how much the substitute's RMSE is higher, the mean of all configurations."""
        return statistics.fmean(self.above.values())

    def deviations(self):
        """For each configuration beside that level."""
        return [abs(above - self.level()) for above in self.above.values()]

    def within(self, margin):
        """How many configurations are so near to it."""
        return sum(deviation <= margin for deviation in self.deviations())

    def pairs(self, clear):
        """Pairs of configurations that differ by more than `clear` on the real set: whether their order is the same
        on the substitute."""
        pairs = [(self.real[a] - self.real[b], self.drawn[a] - self.drawn[b])
                 for a, b in itertools.combinations(self.real, 2)]
        return [real * drawn > 0 for real, drawn in pairs if abs(real) > clear]


def sets_of(cases, keys):
    """The cases whose known() has these keys, by the set that they are of; drawings of a substitute share a name."""
    found = collections.defaultdict(list)
    for case in cases:
        known = {**case.known(), "data": without_seed(case.header["dataset"]["name"])}
        if all(known.get(key) == value for key, value in keys.items()):
            found[case.header["dataset"]["name"]].append(case)
    if not found:
        raise ValueError(f"no case is {keys}")
    return list(found.values())


def drawn(cases, column, keys):
    """A value of the last trace point; of several drawings the median."""
    found = sets_of(cases, keys)
    if any(len(of_set) != 1 for of_set in found):
        raise ValueError(f"{sorted(map(len, found))} cases are {keys}, expected one of each set")
    return statistics.median(case.trace[-1][column] for case, in found)
