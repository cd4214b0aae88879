"""The Python package: classes of one's own as algorithms."""

import os
import pathlib
import subprocess
import sys

import pytest

from python_api import frame, mfbench, place, run  # noqa: F401

from mfbench import call, own

OWN = '''
import numpy as np

class Means:
    """Shrunk means of the items."""
    model = "biased"
    deterministic = True
    def __init__(self, train, damping=5.0):
        self.train, self.damping = train, damping
    def fit_epoch(self):
        count = np.bincount(self.train.item, minlength=self.train.n_items)
        total = np.bincount(self.train.item, self.train.value - self.train.mean, minlength=self.train.n_items)
        self.bias = total / (count + self.damping)
    def factors(self):
        rows = np.zeros((self.train.n_users, 1)), np.zeros((self.train.n_items, 1))
        return *rows, np.zeros(self.train.n_users), self.bias, self.train.mean

class Predicted:
    model = "biased"
    __init__, fit_epoch = Means.__init__, Means.fit_epoch
    def predict(self, users, items):
        return self.train.mean + self.bias[items]

class Step:
    """One step a pass, by the rate of the schedule."""
    starts_from = "mfbench"
    def __init__(self, train, factors=3):
        self.P, self.Q = np.array(train.initial_p), np.array(train.initial_q)
        self.rates = []
    def fit_epoch(self, learning_rate):
        self.P *= 1 + learning_rate
    def factors(self):
        return self.P, self.Q
'''


@pytest.fixture(scope="module")
def own_file(place):
    path = pathlib.Path("own_means.py")
    path.write_text(OWN)
    return path


def test_a_class_runs_as_an_algorithm(place, frame, own_file):
    results = run({"name": "own", "algorithms": ["bias", {"name": "peer:own_means:means", "damping": [0.5, 5.0]}],
                   "stop": {"epochs": 2}, "split": {"seed": 1}}, frame, algorithms=[own_file])
    cases = results.cases.set_index("label")
    assert set(cases["status"]) == {"completed"}, results._repr_html_()
    assert {"peer:own_means:means damping=0.5 factors=1", "peer:own_means:means damping=5.0 factors=1"} <= set(cases.index)
    assert any("step" in label for label in cases.index)  # entries for those that the spec does not name
    file = results.all.cases.query("algorithm == 'peer:own_means:means'").iloc[0]
    assert file["facts"]["starts_from"] == "library"


def test_predictions_are_compared_as_factors_are(place, frame, own_file):
    results = run({"name": "both", "algorithms": ["bias"], "stop": {"epochs": 1}}, frame,
                  algorithms=[f"{own_file}:Means", f"{own_file}:Predicted"])
    by_label = results.cases.set_index("algorithm")["headline"]
    cold = results.all.cases["cold_ratings"].iloc[0]
    assert cold == 0  # otherwise each class decides about rows without ratings
    assert by_label["peer:own_means:means"] == pytest.approx(by_label["peer:own_means:predicted"], abs=1e-6)


def test_an_edited_file_runs_anew(place, frame):
    path = pathlib.Path("edited.py")
    path.write_text(OWN)
    spec = {"name": "edited", "algorithms": ["bias"]}
    first = set(run(spec, frame, algorithms=["edited.py:Step"]).cases["case_id"])
    assert set(run(spec, frame, algorithms=["edited.py:Step"]).cases["case_id"]) == first
    path.write_text(OWN + "\n# edited\n")
    assert len(set(run(spec, frame, algorithms=["edited.py:Step"]).cases["case_id"]) & first) == 1  # that of bias


def test_a_spec_alone_starts_no_class(place, frame, own_file):
    with pytest.raises(mfbench.ProgramError) as found:
        run({"algorithms": ["peer:own_means:means"]}, frame)
    assert found.value.code == 2


WRONG_CLASSES = {
    "no file": ("nowhere.py", None, "nowhere.py: no such file"),
    "no class": ("a.py", "x = 1", "no class with fit_epoch"),
    "another class": ("a.py:Other", "class One:\n def fit_epoch(self): pass\n def factors(self): pass",
                      'no class Other with fit_epoch.*did you mean "One"'),
    "no model": ("a.py", "class One:\n def fit_epoch(self): pass", "neither factors.. nor predict"),
    "no default": ("a.py", "class One:\n def __init__(self, train, reg): pass\n def fit_epoch(self): pass\n"
                           " def factors(self): pass", r"One\(reg\): found no default"),
    "does not import": ("a.py", "import no_such_module", "a.py: ModuleNotFoundError: No module named 'no_such_module'"),
}


@pytest.mark.parametrize("case", WRONG_CLASSES)
def test_what_is_wrong_with_a_class_is_said(place, frame, case):
    named, text, words = WRONG_CLASSES[case]
    if text is not None:
        pathlib.Path("a.py").write_text(text)
    with pytest.raises(mfbench.Error, match=words):
        run(None, frame, algorithms=[named])


@pytest.mark.parametrize("fit, factors, words", [
    ("raise RuntimeError('no luck')", "pass", "RuntimeError: no luck"),
    ("pass", "return 1, 2, 3", "factors() gave 3 of them, expected P, Q or"),
    ("pass", "pass", "factors() gave NoneType, expected P, Q or")])
def test_a_class_that_fails_is_the_error_of_its_case(place, frame, fit, factors, words):
    pathlib.Path("fails.py").write_text("class Fails:\n def __init__(self, train): pass\n"
                                        f" def fit_epoch(self): {fit}\n def factors(self): {factors}\n")
    results = run({"name": "fails"}, frame, algorithms=["fails.py"])
    row = results.cases.set_index("algorithm").loc["peer:fails:fails"]
    assert row["status"] == "error" and words in row["stop_reason"]


def test_a_class_of_no_file_is_refused():
    made = type("Made", (), {"__module__": "__main__"})
    made.__module__ = "builtins"
    with pytest.raises(mfbench.Error, match="stands in no file"):
        own.classes_of(made)


@pytest.mark.parametrize("guard, words", [
    ("if True:", "script.py: Means is defined in the script that is running, and the peer would run that script again; move the class to my_own.py"),
    ('if __name__ == "__main__":', "")])
def test_a_class_of_the_script_that_runs(place, frame, guard, words):
    """Without a guard the peer would run the script again, data and all."""
    frame.to_csv("of_script.csv", index=False)
    pathlib.Path("script.py").write_text(f"""{OWN}
{guard}
    import mfbench
    found = mfbench.run({{"name": "script", "stop": {{"epochs": 1}}}}, "of_script.csv", algorithms=[Means], progress=False)
    print(list(found.cases["status"]))
""")
    done = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True, timeout=100,
                          env=call.environment({"PYTHONPATH": os.pathsep.join(sys.path)}))
    assert done.stdout == ("" if words else "['completed']\n") and words in done.stderr


def test_a_file_that_is_the_script_is_refused_before_it_runs_itself(monkeypatch, place):
    pathlib.Path("itself.py").write_text("raise SystemExit('ran')\n")
    monkeypatch.setattr(sys.modules["__main__"], "__file__", str(pathlib.Path("itself.py").resolve()), raising=False)
    with pytest.raises(mfbench.Error, match="this is defined in the script that is running"):
        own.classes_of("itself.py")


def test_a_run_inside_a_peer_is_refused(place, frame, monkeypatch):
    monkeypatch.setitem(sys.modules, "mfown", None)
    with pytest.raises(mfbench.Error, match="called while a peer imports the file of its class"):
        run(None, frame)


def test_the_command_line_knows_a_class_in_a_folder_of_its_own(place, own_file, tmp_path):
    environment = call.environment({"PYTHONPATH": os.pathsep.join(sys.path)})
    said = subprocess.run([sys.executable, "-m", "mfbench.own", own_file, tmp_path], capture_output=True, text=True,
                          env=environment, check=True).stdout
    assert "peer:own_means:means" in said
    shown = subprocess.run([call.program.find(), "describe", "peer:own_means:means"], capture_output=True, text=True,
                           env={**environment, "MFBENCH_PEERS_PATH": str(tmp_path)}, check=True).stdout
    assert "Shrunk means of the items." in shown and "damping" in shown
    refused = subprocess.run([sys.executable, "-m", "mfbench.own", "no.py", tmp_path], capture_output=True, text=True,
                             env=environment, check=False)
    assert refused.returncode == 1 and refused.stderr.startswith("error: algorithms: no.py: no such file")
    skipped = subprocess.run([call.program.find(), "doctor", "--verbose"], capture_output=True, text=True, check=True, env={
        **environment, "MFBENCH_PEERS_PATH": str(tmp_path), "PYTHON": "no-python"}).stdout
    assert "found no program no-python to start it with: set PYTHON" in skipped
