"""``reach`` without a clock: within so many iterations some model has a small left side."""

from pathlib import Path

import pytest
from core_files import as_toml

from boundlab.errors import AssumptionError
from boundlab.falsify import falsify
from boundlab.theorems import Theorem, load_theorem

TEXT = """
id = "mine"
algorithm = "gd"
assumptions = ["smooth", "bounded-below", "deterministic"]
{conditions}
[left]
quantity = "slope"
over = "best"
index = "{index}"
{reach}
[step]
alpha = "1/L"
[terms]
time = "{time}"
[symbols.eps]
meaning = "squared accuracy of the gradient"
domain = "positive"
units = [2, -2]
side = "any"
"""


def written(folder: Path, time: str, index: str = "iteration", reach: str = 'reach = "eps"', more: str = "") -> Theorem:
    path = folder / "mine.toml"
    text = TEXT.format(time=time, index=index, reach=reach, conditions=more)
    path.write_text(text if reach else text.replace("time =", "eps ="))
    return load_theorem(str(path))


@pytest.mark.parametrize(("index", "counter"), [("iteration", "K"), ("update", "T")])
def test_it_is_the_bound_eps_from_that_many_iterations_on(tmp_path: Path, index: str, counter: str) -> None:
    said = written(tmp_path, "2*L*F0/eps", index)
    assert [one.statement for one in said.conditions] == [f"2*L*F0/eps ≤ {counter}"]
    spelt = written(tmp_path, "eps", index, reach="", more=f'conditions = ["2*L*F0/eps <= {counter}"]')
    assert said.core.sha256 == spelt.core.sha256
    again = tmp_path / "again.toml"
    again.write_text(as_toml(said.core))
    assert load_theorem(str(again)).core.sha256 == said.core.sha256


def test_one_iteration_fewer_than_it_takes_is_no_claim(tmp_path: Path) -> None:
    said = written(tmp_path, "ceil(2*L*F0/eps)")
    values = {"L": 1.0, "F0": 1.0, "eps": 0.25}
    assert said.evaluate({**values, "K": 8}).total == 0.25
    with pytest.raises(AssumptionError, match=r"needs ceil\(2\*L\*F0/eps\) ≤ K, got 8 > 7"):
        said.evaluate({**values, "K": 7})


@pytest.mark.nightly
def test_a_search_finds_that_fewer_are_too_few_and_that_enough_are_enough(tmp_path: Path) -> None:
    # x0 = 1 of x²/2 has the gradient 1, and min over k < 1 is there: one step is too few for eps = 1/2.
    assert falsify(written(tmp_path, "ceil(L*F0/(8*eps))"), limit=30).violated
    assert not falsify(written(tmp_path, "ceil(2*L*F0/eps)"), limit=60).violated
