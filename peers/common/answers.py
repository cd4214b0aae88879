"""Checks an answer of a peer: its type, its keys and their values (mfpeer.py has the protocol)."""

import json
import re

LONGEST_BUILD, EXCERPT = 16 << 10, 60
OPTIONAL = {"starts_from", "warm_up_s", "build", "p", "q", "user_bias", "item_bias", "mean", "peak_device_bytes",
            "kind", "message"}


class Wrong(Exception):
    """The answer cannot be used; the text says why."""


def shallow(value, levels=100):
    """Readers of the results take no more than 200 levels."""
    within = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels > 0 and all(shallow(x, levels - 1) for x in within)


# A rule is a text that says what is expected, and a function that checks a value.
def number(least, most, null=False):
    return f"a number from {least:g} to {most:g}", lambda x: (
        x is None and null or type(x) in (int, float) and least <= x <= most)


def whole(least, most):
    return f"an integer from {least} to {most}", lambda x: type(x) is int and least <= x <= most


def one_of(*words):
    return f"one of {', '.join(words)}", lambda x: x in words


def text(matches, expected):
    return expected, lambda x: isinstance(x, str) and re.fullmatch(matches, x, re.ASCII | re.DOTALL)


def rules_of(type_, order, until):
    """By the keys of the message."""
    each_epoch, file = order["each_epoch"], text(r"\w[\w.-]{0,99}", "the name of a file in its folder")
    own = {"rmse": number(0, 1e30, null=True)} if order["request"].get("evaluated_by") == "program" else {}
    return {
        "hello": {"protocol": whole(1, 1), "version": text(".+", "a text"), "library": one_of(order["library"]),
                  "each_epoch": (f"{json.dumps(each_epoch)}, as in its peer.json", lambda x: x is each_epoch),
                  "starts_from": one_of("library", "mfbench"), "warm_up_s": number(0, 1e9, null=True),
                  "build": (f"an object of at most {LONGEST_BUILD} bytes",
                            lambda x: isinstance(x, dict) and shallow(x) and len(json.dumps(x)) <= LONGEST_BUILD)},
        "converted": {"seconds": number(0, 1e9)},
        "epoch": {"epoch": whole(until, until), "train_s": number(0, 1e9), **own},
        "model": {**dict.fromkeys(("p", "q", "user_bias", "item_bias"), file), "mean": number(-1e30, 1e30)},
        "done": {"peak_device_bytes": whole(0, 1 << 50)},
        "error": {"kind": one_of("failed", "memory", "unsupported"), "message": text(".*", "a text")},
    }[type_]


def checked(line, type_, order, until):
    """The message, which is of this type or an "error". Raises Wrong."""
    excerpt = ascii(line[:EXCERPT])
    try:
        # An integer beyond 64 bits counts as infinite.
        message = json.loads(line, parse_int=lambda digits: int(digits) if len(digits) < 19 else float(digits))
        # Raises if it is nested too deep, or has infinite numbers or half a character.
        json.dumps(message, allow_nan=False, ensure_ascii=False).encode()
        found = message["type"]
        rules = rules_of(found, order, until) if found in (type_, "error") else None
    except (ValueError, TypeError, LookupError, RecursionError):
        rules = None
    if rules is None:
        raise Wrong(f'expected a message "{type_}", found {excerpt}')
    for key, (expected, fits) in rules.items():
        if key not in message and key not in OPTIONAL:
            raise Wrong(f'its message {excerpt}: $: the key "{key}" is missing')
        value = message.get(key)
        if key in message and not fits(value):
            shown = ("the number " if type(value) in (int, float) else "") + json.dumps(value)[:EXCERPT]
            raise Wrong(f"its message {excerpt}: $.{key}: found {shown}, expected {expected}")
    for key in message:
        if key not in rules and key != "type":
            raise Wrong(f"its message {excerpt}: $.{key[:EXCERPT]}: unknown key; keys allowed here: {', '.join(rules)}")
    return message
