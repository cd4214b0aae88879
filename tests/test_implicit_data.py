"""Implicit feedback from ratings and held-out users, from the spec to the result."""

import json

SPEC = {
    "name": "implicit", "seeds": [1],
    "datasets": [{"path": "r.csv", "implicit": {"min_rating": 4, "value": "rating"}}],
    "split": {"users": 0.25, "fold_in": 0.5, "validation": 0.2},
    "algorithms": [{"name": "sgd_serial", "factors": 2}], "stop": {"epochs": 1}}


def write_ratings(folder):
    """40 users rate 30 items 1 to 5 by a rule that a reader can follow; user 0 rates nothing above 3."""
    ratings = {(u, i): 1 + (u * i + u + i) % (3 if u == 0 else 5)
               for u in range(40) for i in range(30) if (u + 2 * i) % 3 == 0}
    lines = [f"{u},{i},{r}\n" for (u, i), r in ratings.items()]
    (folder / "r.csv").write_text("user,item,rating\n" + "".join(lines))
    return ratings


def header_of(folder):
    [result] = (folder / "results/runs/implicit").glob("*.jsonl")
    return json.loads(result.read_text().splitlines()[0])["dataset"]


def test_the_header_says_what_the_rule_left(mfbench, tmp_path):
    ratings = write_ratings(tmp_path)
    kept = {pair: r for pair, r in ratings.items() if r >= 4}
    users, items = {u for u, _ in kept}, {i for _, i in kept}
    mfbench("run", "spec.json", cwd=tmp_path, code=0, spec=SPEC)
    header = header_of(tmp_path)
    assert header["name"] == "r.csv implicit >=4 rating"
    assert (header["n_users"], header["n_items"]) == (len(users), len(items))
    assert header["implicit"] == {
        "min_rating": 4, "value": "rating", "ratings_dropped": len(ratings) - len(kept),
        "users_dropped": len({u for u, _ in ratings} - users),
        "items_dropped": len({i for _, i in ratings} - items)}
    assert header["implicit"]["users_dropped"] >= 1
    parts = [header["nnz_" + part] for part in ("train", "test", "validation", "fold_in")]
    assert sum(parts) == len(kept) and min(parts) > 0
    assert header["cold_users"] == round(0.25 * len(users))  # all have two or more


def test_data_stats_applies_the_rule(mfbench, tmp_path):
    ratings = write_ratings(tmp_path)
    for value, mean in [("binary", 1), ("rating", None)]:
        done = mfbench("data", "stats", "./r.csv", "--min-rating", "4", "--value", value, "--json",
                       cwd=tmp_path, code=0)
        stats = json.loads(done.stdout)
        kept = [r for r in ratings.values() if r >= 4]
        assert stats["nnz"] == len(kept)
        assert abs(stats["mean"] - (mean or sum(kept) / len(kept))) < 1e-9
        assert stats["implicit"]["ratings_dropped"] == len(ratings) - len(kept)


def test_a_rule_that_leaves_nothing_is_an_error_with_the_highest_rating(mfbench, tmp_path):
    write_ratings(tmp_path)
    done = mfbench("data", "stats", "./r.csv", "--min-rating", "5.5", cwd=tmp_path, code=3)
    assert "min_rating 5.5 leaves no rating: found 5 as the highest" in done.stderr
    mfbench("data", "stats", "./r.csv", "--value", "rating", cwd=tmp_path, code=2)
