#!/usr/bin/env python3
"""Writes the seeds of the fuzz targets that are in mfbench's own formats: testing/fuzz/corpus/cache, model, packed,
results and study.

    MFBENCH=build/cpu/mfbench python3 testing/fuzz/make_corpus.py

Ratings are made up here, a few dozen; mfbench makes the seeds from them.
"""

import itertools
import json
import os
import pathlib
import struct
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CORPUS = HERE / "corpus"
PROGRAM = str(pathlib.Path(os.environ.get("MFBENCH", "build/cpu/mfbench")).resolve())
SPEC = {"name": "fuzz", "datasets": [{"path": "ratings.txt", "format": "triples"}],
        "stop": {"epochs": 2}, "target_rmse": 0.9,
        "algorithms": [{"name": "sgd_serial", "factors": 2}]}

ROWS = [(user, item, 1 + (user * 3 + item * 5) % 5)
        for user, item in itertools.product(range(1, 6), range(1, 5)) if (user + item) % 3]


def put(target, name, content):
    (CORPUS / target).mkdir(exist_ok=True)
    (CORPUS / target / name).write_bytes(content.encode() if isinstance(content, str) else content)


def lines(form):
    return "".join(form.format(*row) + "\n" for row in ROWS)


def parts(*contents):
    """As testing/fuzz/mutate.hpp has them: lengths before all but the last."""
    contents = [c.encode() if isinstance(c, str) else c for c in contents]
    return b"".join(struct.pack("<I", len(c)) + c for c in contents[:-1]) + contents[-1]


def without_the_machine(text):
    """A result whose environment, times and paths are made up."""
    out = []
    for line in text.splitlines():
        record = json.loads(line)
        if "environment" in record:
            record["environment"] = {"mfbench": "0.1.0", "git_sha": "0" * 40, "git_dirty": False,
                                     "cpu": "a processor", "cores": 2, "gpu": None}
        out.append(json.dumps(record, separators=(",", ":")))
    return "\n".join(out) + "\n"


def run(folder, spec, name):
    (folder / "spec.json").write_text(json.dumps(spec))
    environment = {**os.environ, "MFBENCH_CACHE": str(folder / "cache"), "MFBENCH_DATA": str(folder / "none")}
    done = subprocess.run([PROGRAM, "run", "spec.json", "--out", name, "--save-model", f"{name}-model"],
                          cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (result,) = (folder / name).glob("*.jsonl")
    (model,) = (folder / f"{name}-model").glob("*/")
    return without_the_machine(result.read_text()), model


def made_by_mfbench():
    history = "1 4\n2 5\n3\n9 1\n"
    arrays_of = ["P", "Q", "user_bias", "item_bias", "user_ids", "item_ids", "seen_offsets", "seen_items"]

    def model_parts(folder):
        files = [folder / f"{name}.npy" for name in arrays_of]
        files += [folder / "user_names.txt", folder / "item_names.txt"]
        return parts((folder / "model.json").read_bytes(),
                     *(file.read_bytes() if file.exists() else b"" for file in files), history)

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "ratings.txt").write_text(lines("{} {} {}"))
        result, model = run(folder, SPEC, "explicit")
        put("model", "valid-biased", model_parts(model))
        plain = {**SPEC, "algorithms": [{"name": "sgd_serial", "factors": 2, "model": "plain"}],
                 "evaluate": {"clip": True}}
        plain["datasets"] = [{**SPEC["datasets"][0], "rating_scale": {"min": 1, "max": 5, "step": 1}}]
        other, model = run(folder, plain, "plain")
        put("model", "valid-plain-clip", model_parts(model))
        implicit = {"name": "fuzz", "datasets": [{**SPEC["datasets"][0], "implicit": {"min_rating": 2}}],
                    "stop": {"epochs": 2}, "algorithms": [{"name": "ials_cpu", "factors": 2}]}
        ranked, model = run(folder, implicit, "implicit")
        put("model", "valid-implicit", model_parts(model))
        (folder / "names.txt").write_text("".join(f"user{u}\tmovie{i}\t{r}\n" for u, i, r in ROWS))
        named = {**SPEC, "datasets": [{"path": "names.txt", "format": "movielens-tab"}]}
        _, model = run(folder, named, "named")
        history = "movie1 4\nmovie2 5\nmovie9 1\n"
        put("model", "valid-names", model_parts(model))
        put("results", "valid-twice", parts(result, result))
        put("results", "valid-implicit", parts(ranked, ranked))
        put("results", "others", parts(result, other))
        put("results", "unfinished", parts(result, result.rsplit("\n", 2)[0] + "\n"))
        put("results", "damaged", parts('{"type":1}\n' + result, result[:-20]))
        put("results", "bare", parts('{"type":"header","seed":1}\n{"type":"footer","status":"completed"}\n', result))
        cases = [json.loads(one.split("\n", 1)[0])["case_id"] for one in (result, other)]
        put("packed", "valid-two", json.dumps({"type": "spec", "cases": cases}) + "\n" + result + other)
        put("packed", "valid-without-spec", '{"type":"spec"}\n' + result)
        put("packed", "cut", '{"type":"spec"}\n' + result[:-20])
        tuned = {**SPEC, "datasets": [{**SPEC["datasets"][0], "split": {"holdout": 0.2, "validation": 0.2}}]}
        tuned["algorithms"] = [{**SPEC["algorithms"][0],
                                "tune": {"trials": 2, "eta": 1, "over": {"reg": [0.01, 0.1], "order": {"choices": ["shuffled", "sequential"]}}}}]
        del tuned["target_rmse"]
        run(folder, tuned, "tuned")
        (study,) = (folder / "tuned" / "tune").iterdir()
        trial = without_the_machine(min(study.glob("*.jsonl")).read_text())
        plan = json.loads((study / "study.json").read_text())
        put("study", "valid-tuned", parts(json.dumps(plan), trial))
        put("study", "found-a-text-for-a-number", parts(json.dumps({**plan, "points": [{**plan["points"][0], "reg": "x"}]}), trial))
        put("study", "unfinished", parts(json.dumps(plan), trial.rsplit("\n", 2)[0] + "\n"))
        for at, file in enumerate(sorted((folder / "cache").glob("*.mfc"))):
            put("cache", f"valid-{at}", file.read_bytes())
        given = {**SPEC, "datasets": [{"train": "ratings.txt", "test": "test.txt", "format": "triples"}]}
        (folder / "test.txt").write_text("1 2 2\n5 4 4\n7 3 1\n")
        (folder / "cache").rename(folder / "old")
        run(folder, given, "given")
        (file,) = (folder / "cache").glob("*.mfc")
        put("cache", "valid-parts", file.read_bytes())
        timed = {**SPEC, "datasets": [{"path": "timed.txt", "format": "movielens-tab", "split": {"by_time": 0.8}}]}
        (folder / "timed.txt").write_text("".join(f"{u}\t{i}\t{r}\t{9 - u}\n" for u, i, r in ROWS))
        (folder / "cache").rename(folder / "given-cache")
        run(folder, timed, "timed")
        (file,) = (folder / "cache").glob("*.mfc")
        put("cache", "valid-times", file.read_bytes())


if __name__ == "__main__":
    made_by_mfbench()
