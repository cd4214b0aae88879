"""The commands of ./dev: each module has those on one matter, __main__ lists them all."""
