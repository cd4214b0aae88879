"""Races matrix factorizations on your data frame (docs/python.md).

    import mfbench
    results = mfbench.run({"algorithms": ["sgd_serial", "als_cpu"]}, data=frame)

It starts the program `mfbench`, which does the work in a separate process, and reads its files:

    runs       run(), evaluate() and load()
    tables     a data frame, table or matrix becomes files that the program reads
    own        your own classes become algorithms
    call       starts the program
    jobs       starts it by an executor
    progress   the display of run()
    results    Results: frames, tables, figures
    model      Model: arrays and recommendations
    places     paths of mfplots and of the program's files
    __main__   the command `mfbench` of an installed package
"""

from mfbench import places

places.find_mfplots()

from mfplots.errors import PlotError as Error  # noqa: E402
from mfbench.call import ProgramError  # noqa: E402
from mfbench.model import Model  # noqa: E402
from mfbench.results import Results  # noqa: E402
from mfbench.runs import evaluate, load, run  # noqa: E402

__version__ = places.version()
CMAKE = str(places.HERE / "lib" / "cmake" / "mfbench")  # of an installed package: for plugins (mfbench_DIR)

__all__ = ["CMAKE", "Error", "Model", "ProgramError", "Results", "evaluate", "load", "run"]
