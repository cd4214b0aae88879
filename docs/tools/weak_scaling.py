#!/usr/bin/env python3
"""Weak scaling of als_fused to 64 devices, on paper: a model, fed with what was measured.

    python3 docs/tools/weak_scaling.py            prints the table of docs/several-gpus.md
    python3 docs/tools/weak_scaling.py --check    ends with 1 where that page has another
    python3 docs/tools/weak_scaling.py --write    puts it there

K devices have K times the users and ratings of the Netflix look-alike and the same items, so each has
the work of one device today. Measured are the half-steps of one device (results/reference/h200-x4/
scaling), the all-gathers of four (docs/tools/nccl_links.log), and what four devices take beyond the
model. The link between machines is assumed, not measured: one port of 400 Gbit/s a device, machines
of eight.
"""

import argparse
import json
import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/several-gpus.md"
RESULTS = ROOT / "results/reference/h200-x4/scaling"
LINKS = ROOT / "docs/tools/nccl_links.log"
BEGIN, END = "<!-- docs/tools/weak_scaling.py -->\n", "<!-- end -->"

FACTORS = 100
ROW_BYTES = 2 * 112  # a row's words in fp16, padded
PART_S = 30e-6  # and MOST_PARTS: algorithms/core/exchange_parts.cpp
MOST_PARTS = 16
OF_A_MACHINE = 8  # devices
NETWORK = 50e9  # bytes a second and device between machines: assumed
COUNTS = (1, 2, 4, 8, 16, 32, 64)


def measured_links(text):
    """[(bytes, seconds)] of the all-gathers of four devices."""
    rows = re.findall(r"^4 GPUs all_gather +(\d+) MiB +([\d.]+) ms", text, re.M)
    return [(int(mebibytes) * 2**20, float(ms) * 1e-3) for mebibytes, ms in rows]


def fit_link(points):
    """Latency (s) and bandwidth (bytes/s that a device receives), least squares of relative errors."""
    xs = [3 / 4 * size for size, _ in points]
    ys = [seconds for _, seconds in points]
    w = [1 / y**2 for y in ys]
    s, sx, sy = sum(w), sum(a * x for a, x in zip(w, xs)), sum(a * y for a, y in zip(w, ys))
    sxx = sum(a * x * x for a, x in zip(w, xs))
    sxy = sum(a * x * y for a, x, y in zip(w, xs, ys))
    slope = (s * sxy - sx * sy) / (s * sxx - sx * sx)
    return (sy - slope * sx) / s, 1 / slope


def measured_runs(folder):
    """{devices: (seconds of X, of Theta, of an iteration)}, medians over the seeds, and the sizes."""
    seen, sizes = {}, None
    for path in sorted(folder.glob("*.jsonl")):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        header, footer = lines[0], lines[-1]
        params = header["algorithm"]["params"]
        if header["algorithm"]["name"] != "als_fused" or params["factors"] != FACTORS:
            continue
        sizes = header["dataset"]
        phases = footer["phases"]
        sides = [phases[name]["device_s"] / phases[name]["count"] for name in ("update_x", "update_theta")]
        seen.setdefault(params.get("devices", 1), []).append((*sides, footer["steady_epoch_s"]))
    runs = {count: tuple(map(statistics.median, zip(*rows))) for count, rows in seen.items()}
    return runs, (sizes["n_users"], sizes["n_items"])


def exchange_s(count, size, link, of_a_machine=OF_A_MACHINE):
    """An all-gather of `size` bytes over `count` devices; a ring's latency grows with its steps."""
    latency, bandwidth = link
    if count > of_a_machine:
        bandwidth = min(bandwidth, NETWORK)
    return latency * (count - 1) / 3 + size * (count - 1) / count / bandwidth


def half_step_s(count, solve, size, link, of_a_machine=OF_A_MACHINE):
    """In as many equal parts as take least, each exchanged while the next is solved. Those of the program
    shrink (algorithms/core/exchange_parts.hpp), which hides a little more."""
    if count == 1:
        return solve

    def in_parts(parts):
        own = solve / parts + PART_S
        sent = exchange_s(count, size / parts, link, of_a_machine)
        return own + (parts - 1) * max(own, sent) + sent

    return min(map(in_parts, range(1, MOST_PARTS + 1)))


class Model:
    def __init__(self, runs, sizes, link):
        self.solve = runs[1][:2]  # X, Theta
        self.rest = runs[1][2] - sum(self.solve)  # of an iteration, on one device
        self.sizes, self.link = sizes, link
        self.excess = runs[4][2] / self.iteration_s(4, weak=False)

    def iteration_s(self, count, weak=True, of_a_machine=OF_A_MACHINE):
        share = 1 if weak else count
        users, items = self.sizes
        sizes = (users * (count if weak else 1) * ROW_BYTES, items * ROW_BYTES)
        steps = (half_step_s(count, solve / share, size, self.link, of_a_machine)
                 for solve, size in zip(self.solve, sizes))
        return self.rest + sum(steps)

    def weak_s(self, count, of_a_machine=OF_A_MACHINE):
        """With what four devices were measured to take beyond the model; of two, a third of that."""
        excess = 1 + (self.excess - 1) * min(1, (count - 1) / 3)
        return self.iteration_s(count, of_a_machine=of_a_machine) * excess


def load():
    runs, sizes = measured_runs(RESULTS)
    return Model(runs, sizes, fit_link(measured_links(LINKS.read_text()))), runs


def table(model):
    rows = ["| devices | ms an iteration | efficiency, % | the same, all by NVLink, % "
            "| received by each, MB | words on each, GB |",
            "| --- | --- | --- | --- | --- | --- |"]
    one = model.weak_s(1)
    users, items = model.sizes
    for count in COUNTS:
        seconds, linked = model.weak_s(count), model.weak_s(count, of_a_machine=count)
        words = (users * count + items) * ROW_BYTES
        rows.append(f"| {count} | {1e3 * seconds:.1f} | {100 * one / seconds:.0f} | {100 * one / linked:.0f} "
                    f"| {words * (count - 1) / count / 1e6:.0f} | {words / 1e9:.1f} |")
    return "\n".join(rows) + "\n"


def replaced(page, text):
    begin, end = page.index(BEGIN) + len(BEGIN), page.index(END)
    return page[:begin] + "\n" + text + "\n" + page[end:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    model, runs = load()
    text = table(model)
    if asked.write:
        PAGE.write_text(replaced(PAGE.read_text(), text))
    elif asked.check:
        return 0 if replaced(PAGE.read_text(), text) == PAGE.read_text() else 1
    else:
        latency, bandwidth = model.link
        print(text)
        print(f"link: {1e6 * latency:.0f} us and {bandwidth / 1e9:.0f} GB/s; "
              f"four devices, the same problem: {1e3 * runs[4][2]:.2f} ms measured, "
              f"{1e3 * model.iteration_s(4, weak=False):.2f} by the model")
    return 0


if __name__ == "__main__":
    sys.exit(main())
