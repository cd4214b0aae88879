"""What ./dev does: each module has the commands of one matter, __main__ lists them all."""
