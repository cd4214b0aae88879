"""The Python that the README shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

PLOTS = Path(__file__).parents[1]
README = PLOTS / "README.md"


def test_the_python_of_the_readme_runs():
    (example,) = re.findall(r"^```python\n(.*?)^```$", README.read_text(), re.M | re.S)
    done = subprocess.run([sys.executable, "-c", example], cwd=PLOTS, text=True,
                          capture_output=True, env={**os.environ, "PYTHONPATH": str(PLOTS)})
    assert done.returncode == 0, done.stderr
    assert re.search(r"^fpsgd +0\.8\d+ +5$", done.stdout, re.M), done.stdout
