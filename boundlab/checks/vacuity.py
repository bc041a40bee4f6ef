"""Vacuity: whether the right side is above what is true of any run, or of no run at all."""

from collections.abc import Iterator

import sympy

from boundlab.checks._check import Check, Decision, View, asked, group
from boundlab.errors import BoundlabError, UndecidedError
from boundlab.formulas.symbols import QUIET
from boundlab.metrics import Quantity, terms_of


@group("vacuity", "the bound is below what is trivially true")
def checks(view: View) -> Iterator[Check]:
    """Compare with the trivial bound, and look for a range of the integers on which a single term exceeds it."""
    statement = "somewhere the right side is below the trivial bound"
    if view.theorem.shape:
        yield Check("vacuity", statement, "not applicable", "constants are unknown")
        return
    found = trivial(view)
    if found is None:
        yield Check("vacuity", statement, "not applicable", "no trivial bound of the left side is known")
        return
    bound, words = found
    yield asked("vacuity", f"somewhere the right side is below {words}", lambda: _somewhere(view, bound))
    if view.formula:
        statement = "no single term is above the trivial bound on a range of the integers"
        yield asked("vacuity.range", statement, lambda: _regions(view, bound, words))


def trivial(view: View) -> tuple[sympy.Expr, str] | None:
    """Return what is true anyway, or without any step."""
    names, assumed = set(view.inputs), view.theorem.core.assumed
    if terms_of(view.theorem.left):
        return None
    if view.theorem.left.quantity is Quantity.SLOPE:
        if "G_sq" in names and "bounded-gradients" in assumed:
            return view.symbol("G_sq"), "G_sq ≥ ‖∇f‖², which is true anyway"
        if "G" in names and "bounded-second-moment" in assumed:
            return view.symbol("G") ** 2, "G² ≥ ‖∇f‖², which is true anyway"
    elif view.theorem.left.quantity is Quantity.DISTANCE and "R" in names:
        return view.symbol("R") ** 2, "R², the error of never moving"
    elif view.theorem.left.quantity is Quantity.GAP:
        if "R" in names and "B" in names and "lipschitz" in assumed:
            return view.symbol("B") * view.symbol("R"), "B·R, the error of never moving"
        if "F0" in names:
            return view.symbol("F0"), "F0, the error of never moving"
        if "R" in names and "L" in names and "smooth" in assumed:
            return view.symbol("L") * view.symbol("R") ** 2 / 2, "L·R²/2, the error of never moving"
    return None


def _somewhere(view: View, bound: sympy.Expr) -> Decision:
    counter = view.theorem.horizon_symbol
    for point in view.points:
        # A bound that does not read the counter is the same at every horizon.
        horizons = (point[counter], 1e4, 1e8) if counter in point else (None,)
        for horizon in horizons:
            values = dict(point) if horizon is None else {**point, counter: horizon}
            small = {name: 0.0 for name in view.inputs if name in QUIET and not view.symbols[name].vector}
            for options in ({}, small):
                try:
                    right = float(view.theorem.evaluate({**values, **options}).total)
                except BoundlabError:  # a point at which the theorem does not speak
                    continue
                level = view.number(bound, {**values, **options})
                if right < level * (1 - 1e-9):
                    shown = ", ".join(
                        f"{name} = {value:.4g}"
                        for name, value in {**values, **options}.items()
                        if isinstance(value, float)
                    )
                    return Decision("passed", f"{right:.4g} < {level:.4g} at {shown}")
    if view.formula and any(_above(view, term, bound, {}) for term in view.terms.values()):
        # Such a claim is true: it fails nobody, and helps nobody.
        return Decision("suspicious", "a single term is above it everywhere", "claim vacuous")
    return Decision("unknown", f"not at any of {len(view.points)} points, but there is no certificate")


def _above(view: View, term: sympy.Expr, bound: sympy.Expr, at_least: dict[str, int]) -> bool:
    try:
        return view.prover(at_least).certain(view.expand(term) / bound - 1)
    except UndecidedError:
        return False


def _regions(view: View, bound: sympy.Expr, words: str) -> Decision:
    """Look for integers from which on a single term is above the trivial bound."""
    for name, term in view.terms.items():
        try:
            whole = view.expand(term)
        except UndecidedError:
            continue
        if whole.free_symbols & {view.symbol(step) for step in (*view.free_steps, view.theorem.horizon_symbol)}:
            continue
        integers = sorted(symbol.name for symbol in whole.free_symbols if view.symbols[symbol.name].domain.integer)
        if not integers:
            continue
        region = {one: int(view.symbols[one].domain.low) + 1 for one in integers}
        if _above(view, term, bound, region):
            for one in integers:
                wider = {other: low for other, low in region.items() if other != one}
                region = wider if _above(view, term, bound, wider) else region
            shown = ", ".join(f"{one} ≥ {low}" for one, low in region.items())
            text = f"{name} alone is above {words}, for {shown or 'all values'}, whatever horizon, step and noise"
            return Decision("suspicious", text, "claim vacuous", sympy.latex(term))
    return Decision("passed")
