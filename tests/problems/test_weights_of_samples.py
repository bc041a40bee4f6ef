"""Weights of samples: whole numbers repeat rows, 0 leaves them out, and mini-batches draw rows all the same."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from problem_makers import LOSSES, MODELS, OF_VALUES, make, point, sample_gradients

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import exact_array
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


@pytest.mark.parametrize("kind", [*LOSSES, "squared-hinge", "least-squares"])
def test_c_is_that_of_the_sum_of_the_weights(kind: str) -> None:
    if kind in OF_VALUES:
        with pytest.raises(SpecError, match="no option 'C'"):
            weighted(kind, WEIGHTS, C=2.0)
        return
    data = {"features": ROWS, "targets": targets(kind), "owners": OWNERS}
    problem = make(kind, **data, sample_weight=WEIGHTS, C=2.0)
    assert problem.nu == pytest.approx(1 / (2 * 8), rel=1e-15)
    doubled = make(kind, **data, sample_weight=[2 * one for one in WEIGHTS], C=1.0)
    assert doubled.nu == problem.nu


@pytest.mark.sweep(2)
@pytest.mark.parametrize("kind", MODELS)
def test_equal_weights_change_nothing(kind: str) -> None:
    plain, same = weighted(kind, None, batch=2), weighted(kind, [0.1] * 6, batch=2)
    assert same.relative is None
    assert {name: one.value for name, one in plain.constants().items()} == {
        name: one.value for name, one in same.constants().items()
    }


@pytest.mark.parametrize("kind", [*LOSSES, "squared-hinge", "least-squares"])
def test_gradients_of_drawn_rows_have_the_clients_as_their_mean(kind: str) -> None:
    problem = weighted(kind, WEIGHTS, batch=1)
    x = point(problem, 1)
    for client in range(2):
        drawn = sample_gradients(problem, client, x).mean(axis=0)
        np.testing.assert_allclose(drawn, problem.gradient(client, x), rtol=0, atol=1e-13)


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


BY_HAND = {
    "squared-hinge": lambda r, y: -2 * max(Fraction(0), 1 - y * r) * y,
    "modified-huber": lambda r, y: (-4 if y * r < -1 else -2 * max(Fraction(0), 1 - y * r)) * y,
    "huber-regression": lambda r, y: max(Fraction(-3, 4), min(Fraction(3, 4), r - y)),
}


@pytest.mark.parametrize("kind", BY_HAND)
def test_exact_gradients_are_those_worked_out_by_hand(kind: str) -> None:
    pytest.importorskip("flint")
    more = {"delta": 0.75} if kind == "huber-regression" else {}
    problem = weighted(kind, [1.0, 3.0, 0.0, 1.0, 0.0, 1.0], weights="size", **more)
    twin, x = problem.in_balls(), [Fraction(3, 2), Fraction(-5, 8)]
    # Shares 4/6 and 2/6 of all weight; relative weights 3/4, 9/4, 0 and 3/2, 0, 3/2.
    shares, relative = [Fraction(4, 6), Fraction(2, 6)], [[0.75, 2.25, 0.0], [1.5, 0.0, 1.5]]
    for client in range(2):
        slope = [Fraction(0), Fraction(0)]
        for row, v in zip(range(3 * client, 3 * client + 3), relative[client], strict=True):
            a = [Fraction(one) for one in ROWS[row]]
            y = Fraction(targets(kind)[row]) if more else Fraction(2 * targets(kind)[row] - 1)
            push = Fraction(v) * BY_HAND[kind](a[0] * x[0] + a[1] * x[1], y) / 3
            slope = [one + push * entry for one, entry in zip(slope, a, strict=True)]
        expected = [2 * shares[client] * (one + Fraction(1, 4) * entry) for one, entry in zip(slope, x, strict=True)]
        found = [numbers.fraction(one) for one in twin.gradient(client, exact_array(x))]
        assert found == expected
        np.testing.assert_allclose(problem.gradient(client, np.array(x, dtype=float)), np.array(expected, dtype=float))


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


def test_a_column_of_weights_is_read_from_every_table(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    X, y, w = rng.normal(size=(12, 2)), np.arange(12) % 2, rng.uniform(0.5, 2.0, size=12)
    np.savez(tmp_path / "rows.npz", X=X, y=y, w=w)
    np.save(tmp_path / "rows.npy", np.column_stack([X, w, y]))
    lines = "\n".join(f"{a[0]!r},{a[1]!r},{v!r},{label}" for a, v, label in zip(X.tolist(), w.tolist(), y, strict=True))
    (tmp_path / "rows.csv").write_text(f"a,b,w,y\n{lines}\n")
    common = {"clients": 2, "nu": 0.1, "weights": "size", "samples": 9}
    found = [
        make("logistic", data=f"npz:{tmp_path / 'rows.npz'}", sample_weight="w", **common),
        make("logistic", data=f"npy:{tmp_path / 'rows.npy'}", sample_weight="3", **common),
        make("logistic", data=f"csv:{tmp_path / 'rows.csv'}", target="y", sample_weight="w", **common),
    ]
    x = np.array([0.3, -0.2, 0.5])
    assert {one.d for one in found} == {3}  # weights are no feature
    assert len({one.value(x) for one in found}) == 1
    again = make("logistic", **{key: value for key, value in found[2].spec().items() if key != "type"})
    assert again.value(x) == found[2].value(x)
    assert again.spec()["sample_weight"] == "w"
