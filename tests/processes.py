"""What tests ask the system about processes."""

import pathlib


def children_of(pid):
    """Those that it has started, by their ids."""
    return [int(one) for one in
            pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
