"""What ./dev looks for, and what it installs where that is missing, with stand-ins for what looks."""

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEV = (ROOT / "dev").read_text(encoding="utf-8")
GROUPS = re.search(r"known: (build .*?)\"", DEV)[1].split()


def function(name):
    return re.search(rf"^{name}\(\) \{{.*?^\}}", DEV, re.M | re.S)[0]


LOOKS = set(re.findall(r'(?:^|")(\w+)(?: [^|\n"]+)? \| [\w.+-]+', function("wanted"), re.M)) - {"have_header"}
HEADERS = 'printf "%s\\n" "$@"'


def looked(group, found):
    """(what was asked, the packages that are missing) where everything is there, or nothing."""
    stubs = "\n".join(f'{look}() {{ echo "{look} $*" >&3; return {0 if found else 1}; }}' for look in sorted(LOOKS))
    script = "\n".join([stubs, function("wanted"), function("missing_packages"),
                        f"missing_headers() {{ {'true' if found else HEADERS}; }}", f"missing_packages {group} 3>&2"])
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], text=True, capture_output=True, check=True)
    return [line.rstrip() for line in done.stderr.splitlines()], done.stdout.split("\n")[:-1]


@pytest.mark.parametrize("group", [*GROUPS, "spark"])
def test_each_thing_that_is_missing_is_one_package(group):
    asked, missing = looked(group, found=False)
    assert missing and all(re.fullmatch(r"[a-z0-9][a-z0-9.+-]+", package) for package in missing), missing
    assert all(re.fullmatch(r"\w+( [\w./+-]+)*", question) for question in asked), asked
    assert looked(group, found=True)[1] == []


def test_all_that_a_look_names_is_looked_for():
    assert looked("report", found=False) == (["python_with venv ensurepip"], ["python3-venv"])
    assert looked("workers", found=False) == (["python_with pytest xdist"], ["python3-pytest-xdist"])


def test_a_group_that_is_not_there_is_an_error():
    done = subprocess.run([ROOT / "dev", "deps", "bogus"], text=True, capture_output=True)
    assert done.returncode == 1 and "there is no group 'bogus'" in done.stderr and "all there" not in done.stdout
