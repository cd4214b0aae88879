"""ALS that solves for biases, against numpy's dense solver."""

import pytest

np = pytest.importorskip("numpy")

FACTORS, REG = 3, 0.3


@pytest.fixture(scope="module")
def ratings():
    random = np.random.default_rng(1)
    rows = [(u, i, random.integers(1, 6)) for u in range(12) for i in range(9) if random.random() < 0.7]
    return np.array(rows)


@pytest.fixture(scope="module", params=["cholesky", "lu", "cg"])
def model(request, mfbench, tmp_path_factory, ratings):
    folder = tmp_path_factory.mktemp(request.param)
    np.savetxt(folder / "train.txt", ratings, fmt="%d")
    (folder / "test.txt").write_text("0 9 5\n")
    spec = {"name": "solved", "stop": {"epochs": 3}, "save_model": True,
            "datasets": [{"train": "train.txt", "test": "test.txt", "format": "triples"}],
            "algorithms": [{"name": "als_cpu", "factors": FACTORS, "reg": REG, "reg_power": 1, "center": "solved",
                            "solver": request.param, "cg_steps": 30, "cg_tolerance": 1e-6}]}
    mfbench("run", "s.json", "--out", "out", cwd=folder, code=0, spec=spec)
    (saved,) = (folder / "out" / "models").iterdir()
    return {name: np.load(saved / f"{name}.npy")
            for name in ("P", "Q", "user_bias", "item_bias", "user_ids", "item_ids")}


def test_an_item_is_solved_with_its_bias(model, ratings):
    """Items come last in an epoch. Each item is the ridge regression of its residuals on (p_u, 1)."""
    users = np.searchsorted(model["user_ids"], ratings[:, 0])
    rest = ratings[:, 2] - ratings[:, 2].mean() - model["user_bias"][users]
    rows = np.column_stack([model["P"], np.ones(len(model["P"]))])[users]
    for number in range(9):
        item = np.searchsorted(model["item_ids"], number)
        own = ratings[:, 1] == number
        a = rows[own].T @ rows[own] + REG * own.sum() * np.eye(FACTORS + 1)
        exact = np.linalg.solve(a, rows[own].T @ rest[own])
        assert model["Q"][item] == pytest.approx(exact[:-1], abs=1e-4)
        assert model["item_bias"][item] == pytest.approx(exact[-1], abs=1e-4)
