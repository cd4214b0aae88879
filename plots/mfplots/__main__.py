import sys

from mfplots import needs

if __name__ == "__main__":
    needs.check()
    from mfplots.cli import main
    sys.exit(main(sys.argv[1:]))
