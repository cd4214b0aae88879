#!/usr/bin/env python3
"""Writes the seeds of the fuzz targets, testing/fuzz/corpus/TARGET/.

    MFBENCH=build/cpu/mfbench python3 testing/fuzz/make_corpus.py

Ratings are made up here, a few dozen; models, caches and results are what mfbench makes of them. A
seed named valid-* must be taken by its target. Files named found-* are inputs that once were a
finding: this program leaves them alone.
"""

import bz2
import gzip
import io
import itertools
import json
import lzma
import os
import pathlib
import struct
import subprocess
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
CORPUS = HERE / "corpus"
PROGRAM = str(pathlib.Path(os.environ.get("MFBENCH", "build/cpu/mfbench")).resolve())
SPEC = {"name": "fuzz", "datasets": [{"path": "ratings.txt", "format": "triples"}],
        "stop": {"epochs": 2}, "target_rmse": 0.9,
        "algorithms": [{"name": "sgd_serial", "factors": 2}]}

ROWS = [(user, item, 1 + (user * 3 + item * 5) % 5)
        for user, item in itertools.product(range(1, 6), range(1, 5)) if (user + item) % 3]


def put(target, name, content):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)


def lines(form, rows=None):
    return "".join(form.format(*row) + "\n" for row in (ROWS if rows is None else rows))


def parts(*contents):
    """As testing/fuzz/mutate.hpp has them: lengths before all but the last."""
    contents = [c.encode() if isinstance(c, str) else c for c in contents]
    return b"".join(struct.pack("<I", len(c)) + c for c in contents[:-1]) + contents[-1]


def npy(dtype, values, shape=None, version=1, order=False):
    letter = {"<i1": "b", "|u1": "B", "<i2": "h", "<i4": "i", "<u4": "I", "<i8": "q", "<u8": "Q",
              "<f4": "f", "<f8": "d"}[dtype]
    shape = f"({len(values)},)" if shape is None else shape
    text = f"{{'descr': '{dtype}', 'fortran_order': {order}, 'shape': {shape}, }}\n".encode()
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return (b"\x93NUMPY" + bytes([version, 0]) + length + text
            + struct.pack(f"<{len(values)}{letter}", *values))


def text_readers():
    with_time = [(*row, 881250949 + at) for at, row in enumerate(ROWS)]
    put("csv", "valid-movielens", "userId,movieId,rating,timestamp\n" + lines("{},{},{},{}", with_time))
    put("csv", "valid-quoted", '"user";"item";"rating"\n' .replace(";", ",") + lines("{},{},{}.5"))
    put("csv", "valid-crlf", "rating,item,user\r\n" + lines("{2},{1},{0}\r"))
    names = ["alice", "bob", "B000123", "J\u00fcrgen", "x y"]
    put("csv", "valid-names", "user,item,rating\n" + "".join(f'"{names[u - 1]}",m-{i},{r}\n' for u, i, r in ROWS))
    put("csv", "valid-quotes", 'user,item,rating\n"a""b",1,2\n"c,d",2,3\n')
    put("delimited", "valid-names", "".join(f"{names[u - 1].replace(' ', '_')}\t{i}\t{r}\n" for u, i, r in ROWS))
    put("csv", "strange", "user,item,rating\n1,2,1e39\n1,2,0x5\n99999999999,1,1\n\n,,\n")
    put("delimited", "valid-triples", lines("{} {} {}"))
    put("delimited", "valid-tab", lines("{}\t{}\t{}\t{}", with_time))
    put("delimited", "valid-colon", lines("{}::{}::{}::{}", with_time))
    put("delimited", "valid-numbers", "0 2147483647 1e-3\n1 1 00000000000000000000005\n2 2 -.5e+1")
    put("delimited", "strange", "1 2\n1::2:3\n\t\t\n2147483648 1 1\n1 1 nan\n1 1 inf\n")
    movies = itertools.groupby(sorted(ROWS, key=lambda row: row[1]), key=lambda row: row[1])
    put("netflix", "valid-two", "".join(
        f"{movie}:\n" + lines("{0},{2},2005-09-06", rows) for movie, rows in movies))
    put("netflix", "valid-empty-movie", "1:\n2:\n1488844,3,2005-09-06")
    put("netflix", "strange", "1488844,3,2005-09-06\n1:\n:\n7,,\n8:9:\n")
    put("probe", "valid-pairs", "1:\n1\n3\n2:\n4\n")
    put("probe", "strange", "1:\n1\n1\n9:\n5\n")
    put("kddcup", "valid-users", "1|2\n10\t90\t4\t20:36:00\n11\t50\t4\t20:37:00\n2|1\n10\t0\t5\t1:00:00\n")
    put("kddcup", "strange", "1|3\n10\t90\n2|-1\n3|99999999999\n||\n")
    head = "%%MatrixMarket matrix coordinate {} general\n% made up\n"
    put("matrix_market", "valid-integer", head.format("integer") + f"5 4 {len(ROWS)}\n" + lines("{} {} {}"))
    put("matrix_market", "valid-real", head.format("real") + "3 3 1\n3 3 1.25e0")
    put("matrix_market", "strange", head.format("real") + "9999999999 4 9223372036854775807\n1 1 1\n")


def arrays():
    users, items, ratings = (list(column) for column in zip(*ROWS))
    put("npy", "valid-i4", npy("<i4", users))
    put("npy", "valid-i8", npy("<i8", users))
    put("npy", "valid-f4-matrix", npy("<f4", [0.5] * 6, "(3, 2)"))
    put("npy", "valid-version-2", npy("<f8", ratings, version=2))
    put("npy", "valid-bytes", npy("|u1", users))
    put("npy", "valid-scalar", npy("<i4", [7], "()"))
    def texts(descr, elements):
        header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({len(elements)},), }}\n".encode()
        return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + b"".join(elements)

    people = [f"user{number}" for number in users]
    put("npy", "valid-text", texts("<U5", [name.encode("utf-32-le") for name in people]))
    put("npy", "valid-bytes-text", texts("|S7", [name.encode().ljust(7, b"\0") for name in people]))
    put("npz", "valid-text", parts(texts("<U5", [name.encode("utf-32-le") for name in people]),
                                   npy("<i4", items), npy("<f4", ratings)))
    put("npy", "fortran", npy("<f4", [0.5] * 6, "(3, 2)", order=True))
    put("npy", "huge", npy("<i4", [1], "(4611686018427387904, 4)"))
    put("npy", "cut", npy("<i4", users)[:40])
    put("npz", "valid-i4", parts(npy("<i4", users), npy("<i4", items), npy("<f4", ratings)))
    put("npz", "valid-i8", parts(npy("<i8", users), npy("<u4", items), npy("<f8", ratings)))
    put("npz", "lengths", parts(npy("<i8", users), npy("<u4", items[1:]), npy("<i1", ratings)))


def zipped(members, method=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return out.getvalue()


def packed():
    text = lines("{} {} {}").encode()
    put("compressed", "valid-plain", text)
    put("compressed", "valid-gz", gzip.compress(text, mtime=0))
    put("compressed", "valid-two-gz", gzip.compress(text, mtime=0) + gzip.compress(b"9 9 1\n", mtime=0))
    put("compressed", "valid-xz", lzma.compress(text))
    put("compressed", "valid-bz2", bz2.compress(text))
    put("compressed", "valid-zip", zipped([("ratings.txt", text)]))
    put("compressed", "valid-stored-zip", zipped([("ratings.txt", text)], zipfile.ZIP_STORED))
    # A frame with one raw block (RFC 8878).
    frame = b"\x28\xb5\x2f\xfd" + bytes([0x20, len(text)]) + struct.pack("<I", len(text) << 3 | 1)[:3]
    put("compressed", "valid-zst", frame + text)
    put("compressed", "valid-colon", lines("{}::{}::{}::1"))
    put("compressed", "cut-gz", gzip.compress(text, mtime=0)[:-6])
    put("compressed", "zeros-gz", gzip.compress(bytes(100_000), mtime=0))
    users, items, ratings = (list(column) for column in zip(*ROWS))
    put("compressed", "valid-npz", zipped([("users.npy", npy("<i4", users)), ("items.npy", npy("<i4", items)),
                                           ("ratings.npy", npy("<f4", ratings))]))


def splits():
    text = lines("{} {} {}")
    for name, split in {"holdout": {"holdout": 0.3}, "leave-out": {"leave_out": 1, "seed": 3},
                        "users": {"users": 0.5, "fold_in": 0.6},
                        "validation": {"holdout": 0.2, "validation": 0.25, "seed": 5},
                        "users-validation": {"users": 0.2, "validation": 0.4}}.items():
        put("split", f"valid-{name}", parts(json.dumps(split), text))
    put("split", "none", parts(json.dumps({"holdout": 0, "leave_out": 2}), text))
    cut = len(ROWS) // 3
    thirds = [lines("{} {} {}", ROWS[at * cut:(at + 1) * cut]) for at in range(3)]
    put("given", "valid-three", parts(*thirds))
    put("given", "valid-one", parts(thirds[0], "", ""))
    put("given", "overlap", parts(thirds[0], thirds[0], ""))


def specs():
    put("spec", "valid-small", json.dumps(SPEC))
    put("spec", "valid-words", json.dumps({"datasets": ["like:ml-1m:0.1", "ml-100k"], "algorithms": ["sgd_serial"]}))
    put("spec", "valid-implicit", json.dumps(
        {"datasets": [{"like": "ml-100k", "implicit": {"min_rating": 4}}], "split": {"users": 0.1},
         "evaluate": {"ranking": True}, "target": {"metric": "ndcg_100", "value": 0.1},
         "algorithms": [{"name": "ials_cpu", "factors": 8, "alpha": 1.5}]}))
    put("spec", "bad-keys", '{"algoritms": ["sgd_serial"], "datasets": [{"nme": "ml-100k"}]}')
    put("spec", "deep", "[" * 300 + "]" * 300)
    put("spec", "twice", '{"name": "a", "name": "b"}')
    put("spec", "numbers", '{"seeds": [1e999, -0.0, 18446744073709551616], "stop": {"epochs": 1e18}}')
    put("spec", "valid-sweeps", json.dumps(
        {"name": "a sweep", "description": "of everything", "seeds": [1, 2], "baseline": "fpsgd",
         "datasets": [{"like": "ml-1m", "scale": [0.1, 0.2]},
                      {"path": "a/b.csv", "format": "csv", "rating_scale": {"min": 1, "max": 5, "step": 0.5}},
                      {"train": "t.txt", "test": "e.txt", "format": "triples", "duplicates": "mean"}][:2],
         "split": {"holdout": 0.1, "validation": 0.1, "seed": 3},
         "schedule": {"kind": "plateau", "learning_rate": 0.01, "monitor": "validation"},
         "init": {"kind": "uniform"}, "stop": {"epochs": 20, "wall_seconds": 5, "plateau": {"patience": 3}},
         "evaluate": {"every": 2, "train": True, "clip": False, "user_groups": 2},
         "algorithms": [{"name": "fpsgd", "factors": [8, 16], "reg": 0.05, "threads": 2},
                        {"name": "als_cpu", "factors": 8, "reg": [0.1, 0.2]}, "hogwild"]}))
    entry = {"name": "set", "title": "A set", "origin": "made up", "url": "http://localhost/set.zip",
             "licence": "none", "citation": "none", "redistributable": False,
             "files": [{"name": "r.csv", "format": "csv", "member": "set/r.csv", "sha256": "00"}],
             "whole": ["r.csv"], "splits": [{"name": "u1", "train": "r.csv", "test": "r.csv", "nnz": 3}],
             "scale": {"min": 1, "max": 5, "step": 0.5}, "n_users": 2, "n_items": 2, "nnz": 3,
             "counts_verified": True, "duplicates": "last", "note": "x"}
    put("catalog", "valid-one", json.dumps({"datasets": [entry]}))
    put("catalog", "none", json.dumps({"about": "nothing", "datasets": []}))
    wrong = {**entry, "whole": [1], "splits": {"name": 1}}
    put("catalog", "types", json.dumps({"datasets": [wrong]}))
    put("pairs", "valid-pairs", lines("{0} {1}"))
    put("pairs", "valid-names", "alice bob\nein Name\tbob\n")
    put("pairs", "valid-history", lines("{1} {2}.5"))
    put("pairs", "strange", "4294967303 1\n1 2 3\n\n-1 nan\n1 1e39\n")


def strange_models():
    def model(name, users, items, factors, more):
        info = {"mfbench_model": 1, "kind": "plain", "n_users": users, "n_items": items, "factors": factors,
                "mean": 1e30, "train_mean": -1e30, **more}
        put("model", name, parts(
            json.dumps(info), npy("<f4", [3e38] * (users * factors if users else 0)),
            npy("<f4", [-3e38] * (items * factors if items else 0)), "", "",
            npy("<i4", list(range(users))), npy("<i4", list(range(items))),
            npy("<i8", [0] * (users + 1)), npy("<i4", []), "", "", "0 1\n1 -1e38\n"))

    ridge = {"loss": {"kind": "ridge", "reg": 0}}
    model("nobody", 0, 0, 2147483647, ridge)
    model("no-items", 2, 0, 3, ridge)
    model("found-no-factors", 2, 2, 0, ridge)
    model("valid-huge-numbers", 2, 2, 2, {**ridge, "clip": {"min": -1e30, "max": 1e30}})
    model("valid-without-loss", 1, 1, 1, {})


def peers():
    """A model of 3 users, 2 items and 2 factors."""
    p, q = npy("<f4", [0.5] * 6, "(3, 2)"), npy("<f4", [0.25] * 4, "(2, 2)")
    b, c = npy("<f4", [1, 2, 3]), npy("<f4", [-1, 0])
    both = {"type": "model", "p": "p.npy", "q": "q.npy"}
    biased = {**both, "user_bias": "b.npy", "item_bias": "c.npy", "mean": 3.5}
    put("peer", "valid-plain", parts(json.dumps(both), p, q, "", ""))
    put("peer", "valid-biased", parts(json.dumps(biased), p, q, b, c))
    put("peer", "valid-nothing", parts('{"type": "model"}', "", "", "", ""))
    put("peer", "outside", parts(json.dumps({**both, "p": "../p.npy"}), p, q, "", ""))
    put("peer", "not-finite", parts(json.dumps(both), npy("<f4", [float("nan")] * 6, "(3, 2)"), q, "", ""))
    put("peer", "short", parts(json.dumps(both), p[:-3], q, "", ""))


def without_the_machine(text):
    """A result whose environment, times and paths are nobody's."""
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
        for at, file in enumerate(sorted((folder / "cache").glob("*.mfc"))):
            put("cache", f"valid-{at}", file.read_bytes())
        given = {**SPEC, "datasets": [{"train": "ratings.txt", "test": "test.txt", "format": "triples"}]}
        (folder / "test.txt").write_text("1 2 2\n5 4 4\n7 3 1\n")
        (folder / "cache").rename(folder / "old")
        run(folder, given, "given")
        (file,) = (folder / "cache").glob("*.mfc")
        put("cache", "valid-parts", file.read_bytes())


def main():
    for file in CORPUS.glob("*/*"):
        if not file.name.startswith("found-"):
            file.unlink()
    for make in (text_readers, arrays, packed, splits, specs, strange_models, peers,
                 made_by_mfbench):
        make()
    files = [file for file in CORPUS.glob("*/*")]
    print(f"{len(files)} seeds, {sum(file.stat().st_size for file in files)} bytes")


if __name__ == "__main__":
    main()
