"""Weights of samples: whole numbers repeat rows, 0 leaves them out, and mini-batches draw rows all the same."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from problem_makers import MODELS, OF_VALUES, make, point, sample_gradients

from boundlab.errors import DataError, SpecError

ROWS = [[1.0, 0.5], [-1.0, 2.0], [0.5, -1.0], [2.0, 1.0], [-1.5, -1.0], [0.25, 1.0]]
OWNERS = [0, 0, 0, 1, 1, 1]
WEIGHTS = [1, 2, 0, 3, 1, 1]
SMOOTH = sorted(set(MODELS) - {"hinge", "lad-regression", "quantile-regression", "poisson"})


def targets(kind: str) -> list[float]:
    if kind in OF_VALUES or kind == "poisson":
        return [0.5, 1.0, 2.0, 0.0, 1.5, 3.0]
    return [0, 1, 2, 1, 0, 2] if kind == "softmax" else [0, 1, 0, 1, 1, 0]


def weighted(kind: str, hefts: list[float] | None, rows: Any = range(6), **more: Any) -> Any:
    given = {} if hefts is None else {"sample_weight": hefts}
    given |= {"box": [-1.0, 1.0]} if kind == "poisson" else {}
    data = {"features": ROWS, "targets": targets(kind), "owners": OWNERS}
    chosen = {name: [entries[row] for row in rows] for name, entries in data.items()}
    return make(kind, **chosen, **({"nu": 0.25} | given | more))


@pytest.mark.sweep(4)
@pytest.mark.parametrize("how", ["equal", "size", "paper"])
@pytest.mark.parametrize("kind", MODELS)
def test_a_weight_is_how_often_a_row_is_there(kind: str, how: str) -> None:
    repeated = weighted(kind, None, [row for row, often in enumerate(WEIGHTS) for _ in range(often)], weights=how)
    problem = weighted(kind, WEIGHTS, weights=how)
    for seed in range(3):
        x = point(problem, seed)
        assert problem.value(x) == pytest.approx(repeated.value(x), rel=1e-13)
        for client in range(2):
            assert problem.client_value(client, x) == pytest.approx(repeated.client_value(client, x), rel=1e-13)
            np.testing.assert_allclose(problem.gradient(client, x), repeated.gradient(client, x), rtol=0, atol=1e-13)
    known, same = problem.constants(), repeated.constants()
    room = 1e-6 if problem.loss.smooth else 1e-3  # where solvers leave a gap
    for name in set(known) & set(same) - {"L_max", "sigma_star"}:
        assert known[name].value == pytest.approx(same[name].value, rel=room, abs=1e-9), name


@pytest.mark.sweep(2)
@pytest.mark.parametrize("kind", SMOOTH)
@pytest.mark.parametrize("replacement", ["yes", "no"])
def test_sigma_star_is_the_spread_of_the_drawn_rows_at_the_minimiser(kind: str, replacement: str) -> None:
    problem = weighted(kind, WEIGHTS, batch=2, replacement=replacement)
    best, told = problem.optimum(), problem.constants()["sigma_star"].value
    spread = []
    for client in range(2):
        rows = sample_gradients(problem, client, best.x)
        one = ((rows - rows.mean(axis=0)) ** 2).sum(axis=1).mean()
        spread.append(one / 2 * (1 if replacement == "yes" else (3 - 2) / (3 - 1)))
    assert told == pytest.approx(float(np.sqrt(np.mean(spread))), rel=1e-6)
    assert told >= float(np.sqrt(np.mean(spread))) * (1 - 1e-12)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("a,w,c,y\n1,-1,0,0\n2,1,1,1\n", "row 1 has the weight -1"),
        ("a,w,c,y\n1,nan,0,0\n2,1,1,1\n", "row 1 has the weight nan"),
        ("a,w,c,y\n1,heavy,0,0\n2,1,1,1\n", "column 2 .w.: 'heavy' is not a number"),
        ("a,w,c,y\n1,0,0,0\n2,1,1,1\n", "client 0 has no sample of positive weight"),
    ],
)
def test_weights_that_are_none_get_one_line(tmp_path: Path, text: str, wrong: str) -> None:
    (tmp_path / "rows.csv").write_text(text)
    with pytest.raises((SpecError, DataError), match=wrong):
        make("logistic", data=f"csv:{tmp_path / 'rows.csv'}", target="y", sample_weight="w", partition="column", by="c")


def test_other_mistakes_about_weights_get_one_line(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a,w,y\n1,1,0\n2,1,1\n")
    data = {"data": f"csv:{tmp_path / 'rows.csv'}", "target": "y", "clients": 1}
    with pytest.raises(SpecError, match="has no column 'v' for sample_weight"):
        make("logistic", **data, sample_weight="v")
    with pytest.raises(SpecError, match="'w' is named twice among columns, target and sample_weight"):
        make("logistic", **data, sample_weight="w", columns=["a", "w"])
    with pytest.raises(SpecError, match="2 numbers in sample_weight, but 6 targets"):
        weighted("logistic", [1.0, 2.0])
