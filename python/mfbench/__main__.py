"""The command `mfbench` of an installed package: the program, with this Python for its figures."""

import os
import sys


def main():
    from mfbench import Error
    from mfplots import program
    os.environ.setdefault("PYTHON", sys.executable)
    try:
        found = program.find()
    except Error as error:
        sys.exit(f"error: {error}")
    os.execv(found, [found, *sys.argv[1:]])


if __name__ == "__main__":
    main()
