"""A plan says which cells there are: lists multiply, zips go in step, names in braces stand in specs."""

from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from boundlab.errors import SpecError
from boundlab.sweep import SweepPlan
from boundlab.sweep.plan import key

ONE = {"theorems": ["area.theorem8"], "problems": ["huber:x0=3"]}


def plan(**more: Any) -> SweepPlan:
    return SweepPlan.of({**ONE, **more})


def settings(found: SweepPlan) -> list[dict[str, str]]:
    return [dict(cell.settings) for cell in found.cells()]


def test_lists_multiply() -> None:
    found = plan(theorems=["a", "b", "c"], problems=["p", "q"], delays=["d", "e"], set={"M": [1, 2], "B": [3]})
    assert found.total() == found.size() == 3 * 2 * 2 * 2
    assert len({(cell.theorem, cell.problem, cell.delays, cell.settings) for cell in found.cells()}) == 24


def test_a_zip_goes_in_step() -> None:
    assert settings(plan(zip=[{"M": [1, 5], "p_s": [0.5, 0.1]}])) == [
        {"M": "1", "p_s": "0.5"},
        {"M": "5", "p_s": "0.1"},
    ]


def test_ranges_are_those_of_eval_and_formulas_stay_formulas() -> None:
    assert [one["M"] for one in settings(plan(set={"M": "1:100:log:3"}))] == ["1", "10", "100"]
    assert [one["alpha"] for one in settings(plan(set={"alpha": ["sqrt(2)", "1/3"]}))] == ["sqrt(2)", "1/3"]
    assert [one["alpha"] for one in settings(plan(set={"alpha": "sqrt(2),1/3"}))] == ["sqrt(2)", "1/3"]


def test_a_name_in_a_spec_is_no_symbol_and_makes_no_cell_where_it_does_not_stand() -> None:
    found = plan(problems=["lad:clients={clients}", "huber:x0=3"], set={"clients": [1, 2], "M": [7]})
    assert [cell.problem for cell in found.cells()] == ["lad:clients=1", "lad:clients=2", "huber:x0=3"]
    assert {cell.settings for cell in found.cells()} == {(("M", "7"),)}
    assert found.names() == ("clients", "M")
    assert [cell.where()["settings"].get("clients") for cell in found.cells()] == ["1", "2", None]


def test_what_is_excluded_has_all_of_the_values() -> None:
    found = plan(theorems=["a", "b"], set={"M": [1, 2, 3]}, exclude=[{"theorem": "a", "M": [2, 3]}])
    assert [(cell.theorem, dict(cell.settings)["M"]) for cell in found.cells()] == [
        ("a", "1"), ("b", "1"), ("b", "2"), ("b", "3"),
    ]  # fmt: skip


def test_cells_of_a_problem_stand_together() -> None:
    found = plan(theorems=["a", "b"], problems=["p", "q", "r"], set={"M": [1, 2]})
    problems = [cell.problem for cell in found.cells()]
    assert problems == sorted(problems)


def test_theorems_that_are_files_are_looked_for_beside_the_plan(tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    file.write_text('theorems = ["mine.toml", "area.theorem8"]\nproblems = ["lad"]\n')
    assert [cell.theorem for cell in SweepPlan.read(file).cells()] == [str(tmp_path / "mine.toml"), "area.theorem8"]


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"theorem": ["a"]}, "unknown key 'theorem'; did you mean theorems"),
    ({"theorems": []}, "it needs theorems"),
    ({"problems": []}, "it needs problems"),
    ({"problems": [1]}, "problems must be a list of texts"),
    ({"problems": ["lad:clients={clients}"]}, r"a spec has \{clients\}, and \[set\] gives it no values"),
    ({"set": {"M": []}}, "M has no values"),
    ({"set": {"M": [1]}, "zip": [{"M": [1]}]}, "M is set twice"),
    ({"zip": [{"M": [1, 2], "B": [1]}]}, "go in step are equally many; M has 2, B has 1"),
    ({"zip": {"M": [1]}}, r"zip must be a list of tables, \[\[zip\]\]"),
    ({"set": 3}, r"set must be a table, \[set\]"),
    ({"exclude": [{}]}, "names nothing"),
    ({"exclude": [{"N": 3}]}, "unknown key 'N'"),
    ({"exclude": [{"seed": 0}]}, "leaves out every cell"),
    ({"run": {"ask": "comprae"}}, "ask must be one of compare, .*; did you mean compare"),
    ({"run": {"iterations": [3, 3]}}, "different numbers"),
    ({"run": {"rate": 1}}, "false alarms of the whole sweep"),
    ({"run": {"seconds": 0}}, "a limit above 0"),
    ({"run": {"seconds": 1e30}}, "at most 1e\\+09"),
    ({"run": {"rate": 1e-17}}, r"in \[1e-06, 1\)"),
    ({"run": {"memory": "1.2.3 GiB"}}, "memory must be a number"),
    ({"run": {"memory": "1 KiB"}}, "from 64 MiB to 1 EiB"),
    ({"run": {"memory": "9999999999 GiB"}}, "from 64 MiB to 1 EiB"),
    ({"run": {"seeds": [-1]}}, "seeds must be"),
    ({"run": {"seeds": [10**30]}}, "seeds must be"),
    ({"set": {"M": [[1, 2]]}}, "a list or a table"),
    ({"run": {"memory": 7}}, 'a size such as "2 GiB"'),
    ({"run": {"ask": "check"}}, "problems: check has none; leave it out"),
    ({"problems": [], "run": {"ask": "check", "trials": 5}}, "trials: check has none"),
    ({"run": {"ask": "exact", "iterations": [3, 4]}}, "asked at one horizon"),
    ({"set": {"M": "1:1e4:log:5000", "B": "1:1e4:lin:5000"}}, "cells, at most"),
]


@pytest.mark.sweep(3)
@pytest.mark.parametrize(("more", "words"), WRONG, ids=lambda one: str(one)[:40])
def test_what_is_wrong_is_one_line_that_says_what_would_be_right(more: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecError, match=words) as found:
        plan(**more)
    assert "\n" not in str(found.value)


def test_a_file_that_is_no_toml_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    file.write_text("theorems = [\n1 = 2\n")
    with pytest.raises(SpecError, match=r"plan\.toml: .*line 2"):
        SweepPlan.read(file)


VALUES = st.recursive(
    st.one_of(
        st.booleans(),
        st.integers(-3, 10**6),
        st.floats(allow_nan=True),
        st.sampled_from(
            ["area.theorem8", "lad:x0=3", "lad:clients={clients}", "{", "1:10:lin:3", "sqrt(2)", "compare", ""]
        ),
        st.text(max_size=6),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["M", "clients", "ask", "iterations", "rate", "seeds", "memory"]), inner, max_size=3
        ),
    ),
    max_leaves=6,
)
KEYS = ["theorems", "problems", "delays", "servers", "set", "zip", "exclude", "run", "nonsense"]


@given(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=4))
def test_whatever_a_file_says_is_a_plan_or_refused(more: dict[str, Any]) -> None:
    try:
        found = plan(**more)
    except SpecError:
        return
    cells = list(islice(found.cells(), 50))
    assert len(cells) == min(50, found.total())
    assert len(set(cells)) == len(cells)


def test_options_in_another_order_are_one_cell() -> None:
    assert plan(problems=["lad:clients=2,x0=3", "lad:x0=3,clients=2"]).total() == 1
    assert plan(problems=["huber:x0=3", "huber:x0={x}"], set={"x": [3, 4]}).total() == 2


@given(
    st.lists(st.sampled_from(["lad:x0=3", "huber:x0={x}", "lad:x0={y}", "lad:x0=3"]), min_size=1, max_size=4),
    st.fixed_dictionaries(
        {"x": st.lists(st.integers(1, 3), min_size=1, max_size=4), "y": st.just([1, 1]), "M": st.just([1, 2])}
    ),
)
def test_cells_are_as_many_as_they_are_counted_and_differ(problems: list[str], values: dict[str, Any]) -> None:
    found = plan(problems=problems, set=values)
    cells = list(found.cells())
    assert found.total() == len(cells) == len({key(cell) for cell in cells})
    assert {cell.level for cell in cells} == {1.0 - 0.01 / len(cells)}
