import gc
import sys

from mfplots import needs

if __name__ == "__main__":
    needs.check()
    gc.disable()  # results are millions of objects, which all live to the end
    from mfplots.site.cli import main
    sys.exit(main(sys.argv[1:]))
