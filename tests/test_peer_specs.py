"""Peers as entries of a spec, libraries of one's own among them, and their tuning."""

import json
import runpy
import sys
import types

import pytest

from peer_runs import MODES, ROOT, fake, fakes, install, run, spec  # noqa: F401

# ---- specs ---------------------------------------------------------------------------------------

def test_peers_are_listed_described_and_swept(mfbench, tmp_path):
    assert "peer:surprise:svd" in mfbench("list", cwd=tmp_path).stdout
    text = mfbench("describe", "peer:surprise:svd", cwd=tmp_path).stdout
    assert text.count("parameters:") == 1 and "reg_user_bias" in text
    assert isinstance(json.loads(mfbench("describe", "peer:torch", "--json", cwd=tmp_path).stdout), dict)
    assert len(json.loads(mfbench("describe", "peer:libmf", "--json", cwd=tmp_path).stdout)) == 2
    what = spec([{"name": "peer", "library": "libmf", "algorithm": ["sgd", "bpr"],
                  "learning_rate": [0.005, 0.01]}])
    done = mfbench("validate", "spec.json", "--json", cwd=tmp_path, spec=what)
    cases = json.loads(done.stdout)
    assert [case["case"]["algorithm"] for case in cases] == \
        ["peer:libmf:sgd"] * 2 + ["peer:libmf:bpr"] * 2
    assert all(":" not in case["id"] for case in cases)
    other = spec([{"name": "peer:libmf:sgd", "learning_rate": 0.005}])
    (tmp_path / "spec.json").write_text(json.dumps(other))
    same = json.loads(mfbench("validate", "spec.json", "--json", cwd=tmp_path).stdout)
    assert same[0]["case"] == cases[0]["case"]


@pytest.mark.parametrize("entry, words", [
    ({"name": "peer"}, "library"),
    ({"name": "peer", "library": "surprize"}, 'did you mean "surprise"?'),
    ({"name": "peer", "library": "cmfrec"}, "algorithm"),
    ({"name": "peer", "library": "surprise", "algorithm": "sdv"}, 'did you mean "svd"?'),
    ({"name": "peer", "library": "implicit", "regs": 1}, '"reg"'),
    ({"name": "peer", "library": "implicit", "alpha": -1}, "alpha"),
])
def test_a_wrong_entry_names_the_nearest(mfbench, tmp_path, entry, words):
    done = mfbench("validate", "spec.json", cwd=tmp_path, spec=spec([entry]))
    assert done.returncode == 2 and words in done.stderr and "$.algorithms[0]" in done.stderr, done.stderr


# ---- a library of one's own ----------------------------------------------------------------------

def blocks_of_guide():
    """The files of docs/peers.md: {"peer.json": text, "adapter.py": text}."""
    page = (ROOT / "docs" / "peers.md").read_text().split("## A library of your own")[1]
    return {"peer.json": page.split("```jsonc\n")[1].split("```")[0],
            "adapter.py": page.split("```python\n")[1].split("```")[0]}


@pytest.fixture
def own(fakes, monkeypatch):
    """The example of the guide, beside the libraries that there are."""
    folder = fakes / "own" / "item_means"
    folder.mkdir(parents=True)
    for name, text in blocks_of_guide().items():
        (folder / name).write_text(text)
    install(fakes / "places", "item_means")
    monkeypatch.setenv("MFBENCH_PEERS_PATH", f"{fakes / 'own'}:")
    return folder


def test_a_library_of_ones_own_is_one_folder(mfbench, fakes, own):
    pytest.importorskip("numpy")
    assert "peer:item_means:damped" in mfbench("list", cwd=fakes).stdout
    assert "ratings of the mean" in mfbench("describe", "peer:item_means", cwd=fakes).stdout
    entry = {"name": "peer", "library": "item_means", "damping": [0, 5]}
    what = spec([entry])
    assert mfbench("validate", "spec.json", cwd=fakes, spec=what).returncode == 0
    schema = mfbench("schema", cwd=fakes).stdout
    assert "peer:item_means:damped" in schema and "item_means" in mfbench("doctor", "--verbose", cwd=fakes).stdout
    plain, damped = run(mfbench, fakes, what, code=0)
    assert plain[0]["facts"]["version"] == "1.0" and plain[0]["algorithm"]["name"] == "peer:item_means:damped"
    assert plain[1][-1]["test_rmse"] > damped[1][-1]["test_rmse"]


def test_warm_up_is_the_start_of_a_peer_and_no_part_of_its_answer(mfbench, fakes, own):
    """For the guide's adapter with 1.5 s of it: they are on the start, which is in no answer."""
    pytest.importorskip("numpy")
    entry = {"name": "peer", "library": "item_means"}
    ((header, _, _, _),) = run(mfbench, fakes, spec([entry]), code=0)
    assert header["facts"]["warm_up_s"] is None, "it has none"
    adapter = own / "adapter.py"
    warm = "    def warm_up(self):\n        import time\n        time.sleep(1.5)\n\n    def convert"
    adapter.write_text(adapter.read_text().replace("    def convert", warm))
    ((header, _, footer, _),) = run(mfbench, fakes, spec([entry]), "--rerun", code=0)
    clocks = footer["clocks"]
    assert header["facts"]["warm_up_s"] >= 1.5 and clocks["start_s"] >= 1.5
    assert clocks["prepare_s"] + clocks["transfer_s"] + clocks["train_s"] < 1.5


def test_a_library_that_is_imported_in_convert_is_warned_of(mfbench, fakes, own):
    pytest.importorskip("numpy")
    adapter = own / "adapter.py"
    slow = "def convert(self, task):\n        import time; time.sleep(1.1)"
    adapter.write_text(adapter.read_text().replace("def convert(self, task):", slow))
    said = mfbench("run", "spec.json", "--quiet", cwd=fakes, spec=spec([{"name": "peer", "library": "item_means"}]), code=0).stderr
    assert "warning: item_means: convert() took 1.1" in said and "at the top of the file" in said


WRONG = {
    "no JSON": (lambda form: "{", "not valid JSON"),
    "another key": (lambda form: form | {"sumary": "x"}, ': $.sumary: unknown key, did you mean "summary"?'),
    "no algorithm": (lambda form: form | {"algorithms": {}}, ": $.algorithms: found no entry"),
    "an environment elsewhere": (lambda form: form | {"environment": "../x"}, ": $.environment: found '../x'"),
}
WRONG_PARAMS = {
    "no help": ({"damping": {"type": "number", "default": 1, "min": 0, "max": 2}}, ".damping.help: expected a name"),
    "a default outside": ({"damping": {"type": "number", "default": 3, "min": 0, "max": 2, "help": "x"}},
                          ".damping.default: found the number 3, expected a number from 0 to 2"),
    "no factors": ({"damping": {"type": "boolean", "default": True, "help": "x"}}, ": expected 'factors' among"),
    "a rate": ({"learning_rate": {"type": "number", "default": 1, "min": 0, "max": 2, "help": "x"}},
               '.learning_rate: an entry of a spec has this key already, expected none: "uses_learning_rate": true beside'),
    "a key of every entry": ({"stop": {"type": "boolean", "default": True, "help": "x"}}, ".stop: an entry of a spec"),
}


@pytest.mark.parametrize("name", [*WRONG, *WRONG_PARAMS])
def test_a_wrong_form_is_told_with_its_place(mfbench, fakes, own, name):
    form = json.loads((own / "peer.json").read_text())
    if name in WRONG:
        change, words = WRONG[name]
        form = change(form)
    else:
        form["algorithms"]["damped"]["params"], words = WRONG_PARAMS[name]
        words = ": $.algorithms.damped.params" + words
    (own / "peer.json").write_text(form if isinstance(form, str) else json.dumps(form))
    done = mfbench("list", cwd=fakes, code=2)
    assert str(own / "peer.json") in done.stderr and words in done.stderr.replace('"factors"', "'factors'"), done.stderr


def test_two_libraries_of_a_name_are_refused(mfbench, fakes, own):
    own.rename(own.parent / "libmf")
    done = mfbench("list", cwd=fakes)
    assert done.returncode == 2 and "two libraries are named libmf" in done.stderr
    assert str(own.parent / "libmf") in done.stderr


def test_what_is_installed_is_told_without_folders_of_the_machine(mfbench, fakes):
    from mfdev.peers import without_folders

    lines = {"numpy==2.4.6": None, "LIBMF @ file:///home/me/my wheels/libmf-0.9.2.tar.gz#sha256=00/11":
             "LIBMF @ libmf-0.9.2.tar.gz#sha256=00/11", "x @ file:///home/me/x-1.whl": "x @ x-1.whl",
             "y @ git+https://example.org/a/y": None}
    (fakes / "places" / "libmf" / "installed.txt").write_text(without_folders("\n".join(lines) + "\n"))
    peers = json.loads(mfbench("doctor", "--json", cwd=fakes).stdout)["peers"]
    (libmf,) = [peer for peer in peers if peer["name"] == "libmf"]
    assert libmf["packages"] == [said or line for line, said in lines.items()] and libmf["installed"]


def test_a_program_without_its_peers_says_where_they_are(mfbench, fakes, monkeypatch):
    (fakes / "nothing").mkdir()
    monkeypatch.setenv("MFBENCH_PEER_SCRIPTS", str(fakes / "nothing"))
    assert "peer:" not in mfbench("list", cwd=fakes).stdout
    done = mfbench("validate", "spec.json", cwd=fakes, spec=spec([fake("well")]))
    assert done.returncode == 2 and "$.algorithms[0].library: no library is beside" in done.stderr, done.stderr


# ---- tuning --------------------------------------------------------------------------------------

def test_a_peer_is_tuned_as_an_algorithm_is(mfbench, fakes):
    over = {"reg": [0.01, 0.2, "log"]}
    modes = {"choices": [MODES.index("exits"), MODES.index("well")]}
    peer = {"name": "peer", "library": "libmf", "factors": 2,
            "tune": {"trials": 8, "over": {**over, "bins": modes}}}
    ours = {"name": "sgd_serial", "factors": 2, "tune": {"trials": 8, "over": over}}
    cases = run(mfbench, fakes, spec([peer, ours], split={"validation": 0.2, "seed": 1}), code=0)
    assert [case[0]["tuned"]["trials"] for case in cases] == [8, 8]
    assert cases[0][0]["tuned"]["values"]["bins"] == MODES.index("well"), "who fails has lost"
    done = mfbench("tune", "out", "--json", cwd=fakes)
    studies = {study["label"].split()[0]: study for study in json.loads(done.stdout)}
    tried = {name: {trial["trial"]: trial["values"]["reg"] for trial in study["trials"]}
             for name, study in studies.items()}
    assert tried["peer:libmf:sgd"] == tried["sgd_serial"], "the same points for all"
    lost = [trial for trial in studies["peer:libmf:sgd"]["trials"] if trial["status"] == "error"]
    assert lost and all("ended with code 1" in trial["reason"] for trial in lost)


def test_libmf_is_not_handed_ids_that_its_floats_do_not_hold(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "peers" / "common"))
    import mfpeer
    monkeypatch.setattr(mfpeer, "run", lambda *_: None)
    names = runpy.run_path(str(ROOT / "peers" / "libmf" / "adapter.py"))

    adapter = object.__new__(names["Sgd"])  # without the library
    task = types.SimpleNamespace(n_users=2**24 + 1, n_items=3, nnz=2, user=[0, 1], item=[0, 2], value=[1.0, 2.0])
    with pytest.raises(mfpeer.Unsupported, match="16,777,216"):
        adapter.convert(task)
    task.n_users = 2**24
    adapter.convert(task)
    assert adapter.ratings.tolist() == [[0, 0, 1], [1, 2, 2]]


def test_facts_name_the_blas_and_its_threading(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "peers" / "common"))
    import mfpeer
    pools = [{"user_api": "openmp", "internal_api": "openmp", "version": None, "num_threads": 16},
             {"user_api": "blas", "internal_api": "openblas", "version": "0.3.31", "threading_layer": "pthreads",
              "architecture": "SkylakeX", "num_threads": 1}]
    monkeypatch.setitem(sys.modules, "threadpoolctl", types.SimpleNamespace(threadpool_info=lambda: pools))
    assert mfpeer.blas_facts() == {"blas": ["openblas 0.3.31 pthreads SkylakeX 1"]}
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)  # not installed
    assert mfpeer.blas_facts() == {}
