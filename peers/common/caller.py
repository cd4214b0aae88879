"""What a peer may have changed of mfbench where no kernel keeps it from that: found, and set back."""

import contextlib
import os
import resource
from functools import partial

LIMITS = sorted({getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")})
# Of a thread, how each is read and set; all threads have the same limits.
STATES = {
    "limits": (lambda one: [resource.prlimit(one, kind) for kind in LIMITS],
               lambda one, limits: list(map(resource.prlimit, [one] * len(LIMITS), LIMITS, limits))),
    "priority": (partial(os.getpriority, os.PRIO_PROCESS), partial(os.setpriority, os.PRIO_PROCESS)),
    "policy": (lambda one: (os.sched_getscheduler(one), os.sched_getparam(one)), lambda one, was: os.sched_setscheduler(one, *was)),
    "affinity": (os.sched_getaffinity, os.sched_setaffinity)}


def state_of(process):
    """{(what, thread): value}"""
    found = {}
    for thread in map(int, os.listdir(f"/proc/{process}/task")):
        with contextlib.suppress(OSError):  # it has ended
            found.update({(what, thread): read(thread) for what, (read, _) in STATES.items()})
    return found


def set_back(process, before):
    """What had changed."""
    changed = {key for key, now in state_of(process).items() if now != before.get(key, now)}
    for what, thread in changed:
        with contextlib.suppress(OSError):  # ordinary users cannot raise a priority again
            STATES[what][1](thread, before[what, thread])
    return sorted({what for what, _ in changed})
