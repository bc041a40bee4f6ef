"""What a symbol means stands in the table of symbols: other literal tables of symbols are few, each with a reason."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import boundlab
from boundlab.checks._check import View
from boundlab.formulas.symbols import SYMBOLS, ordered
from boundlab.registry import registered

ROOT = Path(boundlab.__file__).parent
APART = ("formulas/symbols.py", "theorems/", "algorithms/")
# By the reason why they are there: files with tables of three or more symbols, and how many each holds.
ALLOWED = {
    "letters and words that happen to be names of symbols": {
        "prove/latex.py": 1,
        "falsify/_result.py": 1,
        "worst_case/result.py": 1,
        "cli/demo.py": 1,
    },
    "which assumption defines what": {"assumptions.py": 4},
    "constants that clients pass on as they are": {"objective/_wrapped.py": 1},
    "who computes what, client by client": {"objective/facts.py": 1},
    "values of one instance": {"checks/truths.py": 4, "worst_case/model.py": 2, "exact/_evaluate.py": 1},
    "what a function computes, under the names of its results": {
        "formulas/assignments.py": 2,
        "tape/_usage.py": 3,
    },
    "what theorems along the run read off gradients": {"instance/readings.py": 2},
    "which bound is true anyway, of each quantity": {"checks/behaviour.py": 1},
    "the order in which a proof names symbols": {"prove/setting.py": 1},
    "exact instances of proofs, with their bounds": {
        "prove/_instance.py": 2,
        "prove/settings/_instances.py": 8,
    },
    "what the axioms of a setting read off a tape": {
        "prove/settings/area.py": 1,
        "prove/settings/buffered.py": 3,
        "prove/settings/tapes.py": 5,
    },
}


def entries(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what a literal table lists: keys, entries, or the heads of its rows."""
    if isinstance(node, ast.Dict):
        yield from (key for key in node.keys if key is not None)
    elif isinstance(node, (ast.Set, ast.Tuple, ast.List)):
        yield from (one.elts[0] if isinstance(one, ast.Tuple) and one.elts else one for one in node.elts)


def tables(text: str) -> int:
    """Return how many literals list three built-in symbols or more."""
    names = (
        {one.value for one in entries(node) if isinstance(one, ast.Constant)} for node in ast.walk(ast.parse(text))
    )
    return sum(len(found & SYMBOLS.keys()) >= 3 for found in names)


def test_tables_of_symbols_are_those_that_have_a_reason() -> None:
    files = ((str(path.relative_to(ROOT).as_posix()), path) for path in ROOT.rglob("*.py"))
    found = Counter({name: tables(path.read_text("utf-8")) for name, path in files if not name.startswith(APART)})
    assert dict(+found) == {name: count for group in ALLOWED.values() for name, count in group.items()}


def test_no_point_of_a_check_has_two_symbols_the_wrong_way_round() -> None:
    seen = set()
    for theorem in registered("theorems").values():
        for point in View(theorem).points:
            pairs = [(small, large) for small, large in ordered() if {small, large} <= point.keys()]
            assert all(point[small] <= point[large] for small, large in pairs), theorem.id
            seen |= {*pairs}
    assert {("mu", "L"), ("Qmin", "Qmax"), ("W_min", "W_max"), ("p_min", "p_s")} <= seen


def test_a_table_is_seen_in_every_form() -> None:
    forms = ('("L", "mu", "B")', '{"L": 1, "mu": 2, "B": 3}', '{"L", "mu", "B"}', '[("L", 1), ("mu", 2), ("B", 3)]')
    assert [tables(one) for one in forms] == [1, 1, 1, 1]
    assert tables('("L", "mu", "other")') == 0
