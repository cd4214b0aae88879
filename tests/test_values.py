"""Values that a method cannot learn from: one rule for the whole file, and a word before training."""

import random

import pytest
from support import footers, lines_of


def write_ratings(path, value, users=60, items=80, count=2000):
    """Ratings of different pairs; `value` gives that of the k-th."""
    random.seed(1)
    pairs = sorted({(random.randrange(users), random.randrange(items)) for _ in range(count)})
    lines = [f"{u},{i},{value(k)}\n" for k, (u, i) in enumerate(pairs)]
    path.write_text("user,item,rating\n" + "".join(lines))


def spec_of(*algorithms, **keys):
    return {"datasets": [{"path": "r.csv"}], "algorithms": list(algorithms), "stop": {"epochs": 2}, **keys}


def run(mfbench, folder, spec, code=0):
    done = mfbench("run", "s.json", "--out", "out", cwd=folder, code=code, spec=spec)
    return footers(folder / "out"), done


# The split puts the one value into the test part for some of the seeds.
def test_a_negative_value_is_refused_wherever_the_split_puts_it(mfbench, tmp_path):
    write_ratings(tmp_path / "r.csv", lambda k: -1 if k == 777 else 3)
    ends, _ = run(mfbench, tmp_path, spec_of("ials_cpu", "popular", "item_knn", seeds=list(range(1, 11))), code=3)
    assert len(ends) == 30
    for end in ends:
        assert end["status"] == "error"
        assert "is -1; implicit feedback takes values of 0" in end["stop_reason"]
        assert '"implicit": {"min_rating": ...}' in end["stop_reason"]


def test_values_that_are_all_zero_were_not_observed(mfbench, tmp_path):
    write_ratings(tmp_path / "r.csv", lambda k: 0)
    ends, _ = run(mfbench, tmp_path, spec_of("ials_cpu", "popular", "bpr_cpu"), code=3)
    for end in ends:
        assert end["status"] == "error" and "values of the training part are 0" in end["stop_reason"]


def test_zeros_are_told(mfbench, tmp_path):
    write_ratings(tmp_path / "r.csv", lambda k: k % 3)
    [end], done = run(mfbench, tmp_path, spec_of({"name": "bpr_cpu", "factors": 4}))
    [warning] = end["warnings"]
    assert "values are 0, which implicit feedback takes for not observed" in warning
    assert done.stdout.count(warning) == 1, "before training, and not again"


# The same pairs in both parts, with and without pairs that say not observed. `bias` has ratings, of which 0 is one.
def test_zeros_change_nothing(mfbench, tmp_path):
    write_ratings(tmp_path / "all.csv", lambda k: 1 + k % 5)
    head, *lines = (tmp_path / "all.csv").read_text().splitlines()
    zeros = [f"{line.rsplit(',', 1)[0]},0" for line in lines]
    sets = []
    for name, train, test in (("plain", [], []), ("zeros", zeros[3::8], zeros[5::8])):
        for part, pairs in (("train", lines[::2] + train), ("test", lines[1::8] + test)):
            (tmp_path / f"{name}.{part}.csv").write_text("\n".join([head, *pairs]) + "\n")
        sets.append({"train": f"{name}.train.csv", "test": f"{name}.test.csv"})
    algorithms = ["popular", "bias", {"name": "ials_cpu", "factors": 4}, "item_knn", "ease_cpu",
                  {"name": "bpr_cpu", "factors": 4, "threads": 1}]
    mfbench("run", "s.json", "--out", "out", cwd=tmp_path, code=0,
            spec={"datasets": sets, "algorithms": algorithms, "stop": {"epochs": 2}})
    found = {}
    for path in (tmp_path / "out").glob("*.jsonl"):
        header, *trace, footer = lines_of(path)
        data = header["dataset"]
        found[header["algorithm"]["name"], data["name"][:5]] = (
            [data[key] for key in ("nnz_train", "nnz_test", "n_items", "cold_items")],
            header["work_per_epoch"], [{key: value for key, value in point.items() if not key.endswith(("_s", "_j"))}
                                       for point in trace], len(footer.get("warnings", [])))
    for name in ("popular", "ials_cpu", "item_knn", "ease_cpu", "bpr_cpu"):
        plain, with_zeros = found[name, "plain"], found[name, "zeros"]
        assert plain[:-1] == with_zeros[:-1] and (plain[-1], with_zeros[-1]) == (0, 1), name
        assert plain[0][:2] == [len(lines[::2]), len(lines[1::8])]
        assert plain[2][-1]["passes"] == plain[2][-1]["updates"] / len(lines[::2])
    assert found["bias", "zeros"][0][0] == len(lines[::2]) + len(zeros[3::8])


@pytest.mark.parametrize(("value", "said"), [
    (lambda k: 1_700_000_000 + k % 30, "is it a column of times"),
    (lambda k: 1, "observed pairs are implicit feedback")])
def test_ratings_that_are_one_value_are_told(mfbench, tmp_path, value, said):
    write_ratings(tmp_path / "r.csv", value)
    [end], _ = run(mfbench, tmp_path, spec_of("bias"))
    assert end["status"] == "completed"
    [warning] = end["warnings"]
    assert "the ratings of the training part are all" in warning and said in warning


def test_ratings_that_differ_are_not(mfbench, tmp_path):
    write_ratings(tmp_path / "r.csv", lambda k: 1_000_000.5 + k % 5 * 100)
    [end], _ = run(mfbench, tmp_path, spec_of("bias"))
    assert "warnings" not in end


def test_that_no_user_can_be_ranked_is_told_before_training(mfbench, tmp_path):
    (tmp_path / "r.csv").write_text("user,item,rating\n" + "".join(f"{u},{u % 30},1\n" for u in range(500)))
    [end], done = run(mfbench, tmp_path, spec_of({"name": "ials_cpu", "factors": 4}))
    assert "no user of the 100 with items in the test part has a history" in end["warnings"][0]
    lines = done.stdout.splitlines()
    assert "warning: no user of the 100" in lines[0] and lines[1].endswith(("  completed", "  contended"))


def test_ratings_beyond_fp32_are_named_beside_reg(mfbench, tmp_path):
    write_ratings(tmp_path / "r.csv", lambda k: (k % 5 + 1) * 1e30)
    [als, sgd], _ = run(mfbench, tmp_path, spec_of("als_cpu", "sgd_serial"), code=1)
    assert als["status"] == "error" and sgd["status"] == "diverged"
    for end in (als, sgd):
        assert "ratings of about 3.3e+30, beside which fp32" in end["stop_reason"]
        assert "counts" not in end["stop_reason"]
    assert "; the learning rate was 0.005;" in sgd["stop_reason"]


def test_the_same_ratings_within_fp32_train(mfbench, tmp_path):
    write_ratings(tmp_path / "r.csv", lambda k: k % 5 + 1)
    [end], _ = run(mfbench, tmp_path, spec_of("als_cpu"))
    assert end["status"] == "completed"
    [path] = (tmp_path / "out").glob("*.jsonl")
    assert lines_of(path)[0]["dataset"]["n_users"] == 60


def test_the_header_says_whether_threads_race(mfbench, tmp_path):
    write_ratings(tmp_path / "r.csv", lambda k: k % 5 + 1)
    run(mfbench, tmp_path, spec_of("als_cpu", {"name": "fpsgd", "factors": 4, "threads": 2}))
    heads = [lines_of(path)[0]["algorithm"] for path in (tmp_path / "out").glob("*.jsonl")]
    assert {one["name"]: one["deterministic"] for one in heads} == {"als_cpu": True, "fpsgd": False}
