import sys

from mfplots.site.cli import main

sys.exit(main(sys.argv[1:]))
