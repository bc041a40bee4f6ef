"""Steps that a file gives as formulas of k, in the words of algorithms."""

import re
from collections.abc import Mapping, Sequence

import sympy

from boundlab.errors import SpecError
from boundlab.formulas.defined import Demands, looked_at
from boundlab.formulas.symbols import SYMBOLS, SymbolInfo, names_of
from boundlab.metrics import INDEX
from boundlab.theorems._steps_at import put_in

_LOOKED_AT = 100  # models at which a divisor of a step is looked at


def steps_in_k(
    formulas: Mapping[str, dict[str, sympy.Expr]],
    options: dict[str, str],
    symbols: Mapping[str, SymbolInfo],
    others: Sequence[str],
    written: Mapping[sympy.Expr, Demands],
    where: str,
) -> sympy.Expr | None:
    """Put a step that depends on k into the words of algorithms: c/(k + d), or alpha with a decay.

    Returns
    -------
    The step of iteration k as a formula; None where an option decay says what it is.

    Raises
    ------
    SpecError
        If it is neither, or if another formula (or a text of ``others``) reads it.
    """
    step, k = formulas["step"], INDEX["K"]
    found = SYMBOLS["c"].symbol / (k + SYMBOLS["d"].symbol) if "c" in step else SYMBOLS["alpha"].symbol
    for name, rule in list(step.items()):
        index = {one for one in rule.free_symbols if one.name not in symbols}
        place = f"{where}, step.{name}"
        _require_kept(rule, written.get(rule, ()), symbols, place)
        if not index:
            continue
        if name != "alpha" or len(index) > 1 or "decay" in options:
            raise SpecError(f"{place}: alpha alone may depend on k (or t), and then there is no option decay")
        rules = (*formulas["definitions"].values(), *formulas["terms"].values())
        read = [str(one) for one in rules if name in names_of(put_in(one, sympy.S.Zero))]
        read += [one for one in others if re.search(rf"\b{name}\b", one)]
        if read:
            raise SpecError(f"{place}: alpha is another one at each k, so that {read[0]} cannot read it; write it out")
        rule = found = rule.subs(index.pop(), k)
        c, d = _falling(rule, k)
        if c is not None and d is not None:
            del step[name]
            step |= {"c": c, "d": d}
            return found
        alpha, rest = sympy.factor(rule).as_independent(k, as_Add=False)
        if names_of(rest) - {k.name, "K"}:
            what = (
                "the horizon in it is K, of a left side over iterations"
                if "T" in names_of(rest)
                else "no other is known"
            )
            raise SpecError(f"{place}: {rule} is neither c/(k + d) nor a number times a formula of k and K; {what}")
        sign = -1 if alpha.could_extract_minus_sign() else 1
        step[name], options["decay"] = sign * alpha, str(sign * rest)
        if "K" in names_of(rest):
            step["K"] = SYMBOLS["K"].symbol
        return found
    return None if "decay" in options else found


def _require_kept(rule: sympy.Expr, written: Demands, symbols: Mapping[str, SymbolInfo], place: str) -> None:
    """Refuse a step in which a divisor cancels that is 0 at some k: there the formula has no value as it is written."""
    for one in looked_at(written):
        index = [symbol for symbol in one.of.free_symbols if symbol.name not in symbols]
        rest = one.of.as_independent(*index, as_Add=False)[1] if index else sympy.S.One
        for k in range(_LOOKED_AT) if len(rest.free_symbols) == 1 else ():
            at = {index[0]: k}
            if rest.subs(at) == 0 and rule.subs(at).is_finite is not False:
                raise SpecError(f"{place}: {one.of} is 0 at {index[0]} = {k}, and the step has no value there")


def _falling(rule: sympy.Expr, k: sympy.Symbol) -> tuple[sympy.Expr | None, sympy.Expr | None]:
    """Return c and d of c/(k + d), None where a step is not so."""
    top, below = map(sympy.expand, sympy.fraction(sympy.together(rule)))
    if k in top.free_symbols or not below.is_polynomial(k) or sympy.degree(below, k) != 1:
        return None, None
    slope, rest = below.coeff(k, 1), below.coeff(k, 0)
    return sympy.simplify(top / slope), sympy.simplify(rest / slope)
