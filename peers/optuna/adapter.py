"""Suggests the points of a search, by Optuna's TPE (docs/tuning.md). mfbench asks by lines of JSON on descriptor 3:

    {"type": "begin", "seed", "number", "maximize", "over": [{"name", "low", "high", "log", "whole"} or
     {"name", "choices"}]}                                 -> {}     a search without trials
    {"type": "tried", "values": {...}, "score"}            -> {}     a trial of it
    {"type": "suggest"}                                    -> {"values": {...}}

A choice is its index. The sampler's seed is made of the search's and the point's number, so that a point depends on
these and on the trials alone.
"""

import json
import socket

import optuna


def distribution(one):
    if "choices" in one:
        return optuna.distributions.CategoricalDistribution(list(range(one["choices"])))
    if one["whole"]:
        return optuna.distributions.IntDistribution(int(one["low"]), int(one["high"]), log=one["log"])
    return optuna.distributions.FloatDistribution(one["low"], one["high"], log=one["log"])


class Search:
    def __init__(self, asked):
        self.distributions = {one["name"]: distribution(one) for one in asked["over"]}
        seed = (asked["seed"] * 1_000_003 + asked["number"]) % 2**32
        # The first points are mfbench's own: the sampler needs no points of its own to begin with.
        sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=1)
        self.study = optuna.create_study(direction="maximize" if asked["maximize"] else "minimize", sampler=sampler)

    def values(self, numbers):
        return {name: number if isinstance(kind, optuna.distributions.FloatDistribution) else int(number)
                for (name, kind), number in zip(self.distributions.items(), (numbers[n] for n in self.distributions))}

    def add(self, asked):
        self.study.add_trial(optuna.trial.create_trial(
            params=self.values(asked["values"]), distributions=self.distributions, value=asked["score"]))

    def suggest(self):
        return {"values": self.study.ask(self.distributions).params}


def main():
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    channel = socket.socket(fileno=3).makefile("rwb")
    search = None
    for line in channel:
        asked, answer = json.loads(line), {}
        if asked["type"] == "begin":
            search = Search(asked)
        elif asked["type"] == "tried":
            search.add(asked)
        else:
            answer = search.suggest()
        channel.write(json.dumps(answer).encode() + b"\n")
        channel.flush()


if __name__ == "__main__":
    main()
