"""./dev wheel: a wheel of the CPU parts, which brings its libraries and needs no compiler."""

import os
import pathlib
import re
import shutil
import tempfile

from mfdev.build import build_target, configure
from mfdev.deps import deps, install_libraries
from mfdev.shell import ROOT, run, say

TOOLS = ROOT / ".cache/wheel/bin"


def wheel(_):
    deps(["build"], ["optional", "report"])
    install_libraries("wheel")
    configure("cpu", more=["-B", "build/wheel", "-DMF_MPI=OFF"])
    say("building mfbench (build/wheel)")
    build_target("wheel", "mfbench")
    made = make(ROOT / "build/wheel", ROOT / "dist")
    say(f"{made.relative_to(ROOT)}: {made.stat().st_size / 1e6:.1f} MB, for Python 3.11 and glibc "
        f"{'.'.join(re.search('manylinux_([0-9]+)_([0-9]+)', made.name).groups())} or newer (docs/python.md: which systems)")


def make(build, out):
    """Packs the program of a build folder with the shared libraries that it loads."""
    with tempfile.TemporaryDirectory() as folder:
        path = {"PATH": f"{TOOLS}{os.pathsep}{os.environ['PATH']}"}
        run(TOOLS / "python", "-m", "pip", "wheel", ROOT, "--quiet", "--no-deps", "--wheel-dir", folder,
            f"--config-settings=cmake.define.MF_BUILT_IN={build}")
        run(TOOLS / "python", "-m", "auditwheel", "repair", *pathlib.Path(folder).glob("*.whl"), "--wheel-dir",
            f"{folder}/portable", env=path)
        (made,) = pathlib.Path(folder, "portable").glob("*.whl")
        out.mkdir(parents=True, exist_ok=True)
        return pathlib.Path(shutil.copy(made, out))
