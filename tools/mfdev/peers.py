"""./dev peers: other people's libraries to race against, each in its own environment."""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess

from mfdev.deps import deps, python_with
from mfdev.shell import ROOT, Ended, Failure, have_program, output_of, say

USUAL = ("implicit", "libmf", "surprise")


def known():
    """By name, the folders that have requirements: in peers, and in the folders of MFBENCH_PEERS_PATH."""
    own = [folder for folder in os.environ.get("MFBENCH_PEERS_PATH", "").split(":") if folder]
    return {path.parent.name: path.parent for top in [*own, ROOT / "peers"]
            for path in sorted(pathlib.Path(top).glob("*/requirements.txt"))}


def requirements_of(name):
    return known()[name] / "requirements.txt"


def folder_of(name):
    return pathlib.Path(os.environ.get("MFBENCH_PEERS", "build/peers")) / name


def has_avx():
    return " avx " in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").replace("\n", " ")


def flags_of(name):
    """The flags of a library that is compiled here. LIBMF's own makefile has these for this machine, its vector units
    and the loops over all ratings; its Python package asks for none of them."""
    if name != "libmf":
        return ""
    return "-O3 -march=native -mavx -DUSEAVX -fopenmp -DUSEOMP" if has_avx() else "-O3 -fopenmp -DUSEOMP"


def cuda_requirements(name):
    """A library's requirements for GPUs only, in a separate file: installed if there is a GPU, or on request."""
    path = known()[name] / "requirements-cuda.txt"
    wanted = os.path.exists("/dev/nvidiactl") or os.environ.get("PEERS_CUDA")
    return [path] if path.is_file() and wanted else []


def is_there(name):
    folder, flags = folder_of(name), flags_of(name)
    asked = b"".join(path.read_bytes() for path in [requirements_of(name), *cuda_requirements(name)])
    kept, built = folder / "requirements.txt", folder / "built.txt"
    return (folder / "installed.txt").is_file() and kept.is_file() and kept.read_bytes() == asked and \
        (not flags or (built.is_file() and f", {flags}" in built.read_text(encoding="utf-8")))


def pip(folder, *words, flags=""):
    with open(folder / "pip.log", "ab") as log:
        return subprocess.run(
            [folder / "bin/python3", "-m", "pip", "install", "--disable-pip-version-check", "--quiet", "--timeout",
             os.environ.get("PEERS_TIMEOUT", "30"), "--retries", "1", *words], stdout=log, stderr=log, check=False,
            env={**os.environ, "CFLAGS": flags, "CXXFLAGS": flags, "LDFLAGS": "-fopenmp" if flags else ""}
        ).returncode == 0


def install(name):
    """Whether it is installed then: whole or not at all. installed.txt, pip's list, comes last."""
    folder, flags = folder_of(name), flags_of(name)
    if is_there(name):
        say(f"{name}: there")
        return True
    say(f"{name}: installing into {folder}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    if subprocess.run([python_with("venv", "ensurepip"), "-m", "venv", folder], check=False).returncode != 0:
        return False
    # Libraries compiled here are compiled for this machine, and not taken from a cache of wheels.
    options = ["--no-cache-dir", "--no-binary", name] if flags else []
    cuda = cuda_requirements(name)
    if not pip(folder, *options, "-r", requirements_of(name), flags=flags) or \
            not all(pip(folder, "--no-deps", "-r", path) for path in cuda):
        log = folder.with_name(f"{name}.log")
        shutil.move(folder / "pip.log", log)
        shutil.rmtree(folder)
        end = log.read_text(encoding="utf-8", errors="replace").splitlines()[-5:]
        say("\n".join([f"{name}: not installed ({log})", *end]))
        return False
    if flags:
        version = output_of("c++", "--version").splitlines()[0]
        (folder / "built.txt").write_text(f"{version}, {flags}\n", encoding="utf-8")
    if why := what_is_wrong(name, folder):
        say(f"{name}: {why}")
        shutil.rmtree(folder)
        return False
    asked = b"".join(path.read_bytes() for path in [requirements_of(name), *cuda])
    (folder / "requirements.txt").write_bytes(asked)
    listed = output_of(folder / "bin/python3", "-m", "pip", "list", "--format=freeze", "--exclude", "pip",
                       "--disable-pip-version-check")
    listed = without_folders(listed)
    (folder / "installed.txt").write_text(listed, encoding="utf-8")
    say(f"{name}: {' '.join(listed.split())}")
    return True


def without_folders(listed):
    """pip names a file by its place, "x @ file:///home/me/x-1.whl#sha256=..."; a result needs only its name."""
    return re.sub(r" @ file:[^#\n]*/", " @ ", listed)


def what_is_wrong(name, folder):
    """LIBMF without its vector code and its loops would lose a race that it has not run."""
    if name != "libmf":
        return ""
    library = next(folder.rglob("libmf*.so"))
    if b"GOMP_parallel" not in library.read_bytes():
        return "compiled without OpenMP"
    if have_program("objdump") and has_avx() and output_of("objdump", "-d", library).count("%ymm") <= 100:
        return "compiled without AVX"
    return ""


def install_peers(names=()):
    """NAME...: installed ones with the same requirements are kept. All at once: they wait for a network."""
    names = list(names) or list(USUAL)
    for name in names:
        if name not in known():
            raise Failure(f"peers: there is no library '{name}'; known: {' '.join(sorted(known()))}")
    deps(["peers", *(["spark"] if "spark" in names else [])])
    with concurrent.futures.ThreadPoolExecutor(len(names)) as pool:
        if not all(list(pool.map(install, names))):
            raise Ended(1)
