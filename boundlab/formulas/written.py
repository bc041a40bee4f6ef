"""Formulas as people write them: ``√(A·(σ² + (M + 1)·B²/2)/(M·K))``, on one line.

What :func:`written` prints is for reading. Text that :func:`boundlab.formulas.parse.parse` reads back is ``str(…)``.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import sympy
from sympy.printing.precedence import PRECEDENCE, precedence
from sympy.printing.str import StrPrinter

from boundlab.formulas.symbols import SYMBOLS, SymbolInfo
from boundlab.greek import LETTERS

_STEP = (-1, 2)
_COUNTERS = {"K", "T"}
_SQUARE = 2
_DIGITS: Final = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_RAISED: Final = str.maketrans("0123456789", _DIGITS)
# A letter or a name with marks, prime and index: it needs no parentheses to stand below a root or to be raised.
_PLAIN = re.compile(rf"(?:(?![{_DIGITS}])[\w\u0300-\u036f])+[′₊₋]?(?:(?![{_DIGITS}])[\w\u0300-\u036f])*")
_CLOSED = re.compile(r"\([^()]*\)")


def letters_of(names: Iterable[str], symbols: Mapping[str, SymbolInfo] = SYMBOLS) -> dict[str, str]:
    """Return name → what is written for it: its Unicode letter, or the name itself where two would look alike.

    Parameters
    ----------
    names
        All names that stand side by side; ``p`` is written as such if nothing else is.
    symbols
        The table of the names.

    Examples
    --------
    >>> letters_of(["sigma", "K"])
    {'sigma': 'σ', 'K': 'K'}
    >>> letters_of(["sigma", "sigma2"])
    {'sigma': 'sigma', 'sigma2': 'sigma2'}
    """
    found = {name: symbols[name].unicode if name in symbols else name for name in names}
    # A σ beside a σ² that is one symbol: nobody could tell that symbol from the square.
    bare = {name: letter.rstrip(_DIGITS) for name, letter in found.items()}
    seen = list(bare.values())
    return {name: name if seen.count(bare[name]) > 1 else letter for name, letter in found.items()}


def written(
    expression: sympy.Expr, symbols: Mapping[str, SymbolInfo] = SYMBOLS, letters: Mapping[str, str] | None = None
) -> str:
    """Return a formula on one line, as people write it.

    Parameters
    ----------
    symbols
        The table of its names, which also says in which order they stand.
    letters
        Name → letter; :func:`letters_of` the names of the formula where it is not given.

    Examples
    --------
    >>> from boundlab.formulas.symbols import symbol
    >>> K, sigma, alpha = symbol("K"), symbol("sigma"), symbol("alpha")
    >>> written(sympy.sqrt((K + 1) * sigma**2 / 2) - alpha / (K - 1))
    'σ·√(2·(K + 1))/2 − α/(K − 1)'
    """
    names = sorted(symbol.name for symbol in expression.free_symbols)
    return str(_Printer(symbols, letters_of(names, symbols) if letters is None else letters).doprint(expression))


def letter_of_latex(text: str) -> str:
    r"""Return a letter that is given in LaTeX as plain text: ``\tau_{\max}`` is ``τ_max``, ``F^*`` is ``F*``."""
    for mark, plain in ((r"^\star", "*"), ("^*", "*"), ("'", "′"), (r"\ell", "ℓ")):
        text = text.replace(mark, plain)
    text = re.sub(r"\\([A-Za-z]+) ?", lambda command: LETTERS.get(command[1], command[1]), text)
    text = re.sub(r"\^\{?(\d+)\}?", lambda found: found[1].translate(_RAISED), text)
    return text.replace("{", "").replace("}", "")


class _Printer(StrPrinter):  # type: ignore[misc]  # SymPy has no types
    """The printer; its order of terms and factors depends on the table of symbols alone."""

    printmethod = None  # how parts print themselves is for text that is read back

    def __init__(self, symbols: Mapping[str, SymbolInfo], letters: Mapping[str, str]) -> None:
        super().__init__()
        self._symbols = symbols
        self._letters = letters
        self._place = {name: place for place, name in enumerate(symbols)}

    # ------------------------------------------------------------------------------------------ atoms

    def _print_Symbol(self, expr: Any) -> str:  # noqa: N802
        return str(self._letters.get(expr.name, expr.name))

    def _print_Integer(self, expr: Any) -> str:  # noqa: N802
        return str(expr.p).replace("-", "−")

    def _print_Rational(self, expr: Any) -> str:  # noqa: N802
        return f"{expr.p}/{expr.q}".replace("-", "−")

    def _print_Float(self, expr: Any) -> str:  # noqa: N802
        return str(super()._print_Float(expr)).replace("-", "−")

    # -------------------------------------------------------------------------------------- functions

    def _called(self, name: str, parts: Iterable[Any]) -> str:
        return f"{name}({', '.join(self._print(part) for part in parts)})"

    def _print_Max(self, expr: Any) -> str:  # noqa: N802
        return self._called("max", sorted(expr.args, key=self._term_key))

    def _print_Min(self, expr: Any) -> str:  # noqa: N802
        return self._called("min", sorted(expr.args, key=self._term_key))

    def _print_floor(self, expr: Any) -> str:
        return f"⌊{self._print(expr.args[0])}⌋"

    def _print_ceiling(self, expr: Any) -> str:
        return f"⌈{self._print(expr.args[0])}⌉"

    def _print_Abs(self, expr: Any) -> str:  # noqa: N802
        inside = self._print(expr.args[0])
        return f"abs({inside})" if "|" in inside else f"|{inside}|"

    def _print_FoldIndex(self, expr: Any) -> str:  # noqa: N802
        return str(expr.plain)

    def _print_EntryOf(self, expr: Any) -> str:  # noqa: N802
        return "{}[{}]".format(*expr.shown(self._print))

    def _print_Choice(self, expr: Any) -> str:  # noqa: N802
        return "({2} if {0} ≤ {1}, else {3})".format(*map(self._print, expr.args))

    def _print_StepAt(self, expr: Any) -> str:  # noqa: N802
        return "{}[{}]".format(*map(self._print, expr.args))

    def _print_IndexFold(self, expr: Any) -> str:  # noqa: N802
        body, index, first, last = map(self._print, expr.args)
        return f"{expr.sign}({body}, {index} = {first}…{last})"

    def _print_Exp1(self, expr: Any) -> str:  # noqa: N802
        return "exp(1)"

    def _print_ExpBase(self, expr: Any) -> str:  # noqa: N802
        return self._called("exp", (expr.exp,))

    # ---------------------------------------------------------------------------- powers and products

    def _print_Pow(self, expr: Any, rational: bool = False) -> str:  # noqa: N802
        base, exponent = expr.as_base_exp()
        if base is sympy.E:
            return self._called("exp", (exponent,))
        if exponent.could_extract_minus_sign():
            return f"1/{self._factor(base**-exponent)}"
        if exponent == sympy.Rational(1, _SQUARE):
            inside = self._print(base)
            return f"√{inside}" if self._simple(base, inside) else f"√({inside})"
        inside = self._print(base)
        raised = inside if self._simple(base, inside) else f"({inside})"
        if exponent.is_Integer:
            return raised + str(exponent.p).translate(_RAISED)
        power = self._print(exponent)
        return f"{raised}^{power}" if self._simple(exponent, power) else f"{raised}^({power})"

    @staticmethod
    def _simple(part: Any, text: str) -> bool:
        """Return whether a part needs no parentheses below a root, or to be raised."""
        if part.is_Integer:
            return bool(part >= 0)
        if part.is_Symbol:  # which a number may stand for, in parentheses of its own
            return bool(_PLAIN.fullmatch(text) or _CLOSED.fullmatch(text))
        return bool(part.is_Function) and text[-1] in ")⌋⌉|"

    def _print_Mul(self, expr: Any) -> str:  # noqa: N802
        number, rest = expr.as_coeff_Mul()
        over, under, roots = _sorted_out(rest)
        above, below = self._product(over), self._product(under)
        for degree, inside in roots.items():
            powers = [(base, power) for base, power in inside if power > 0]
            whole = sympy.Mul(*(base**power for base, power in inside), evaluate=False)
            if powers:
                above.append(self._root(whole, degree))
            else:
                below.append(self._root(sympy.Mul(*(base**-power for base, power in inside), evaluate=False), degree))
        if number.is_Rational:
            above = ([self._print(sympy.Integer(abs(number.p)))] if abs(number.p) != 1 or not above else []) + above
            below = ([self._print(sympy.Integer(number.q))] if number.q != 1 else []) + below
        else:
            above = [self._factor(abs(number)), *above]
        top = ("−" if number.is_negative else "") + "·".join(above)
        if not below:
            return top
        return f"{top}/{below[0]}" if len(below) == 1 else f"{top}/({'·'.join(below)})"

    def _product(self, factors: Iterable[Any]) -> list[str]:
        return [self._factor(part) for part in sorted(factors, key=self._factor_key)]

    def _root(self, inside: Any, degree: int) -> str:
        """Return the root of a product of several factors."""
        return f"√({self._print(inside)})" if degree == _SQUARE else f"({self._print(inside)})^(1/{degree})"

    def _factor(self, part: Any) -> str:
        text = self._print(part)
        return f"({text})" if precedence(part) < PRECEDENCE["Mul"] or part.is_Mul else text

    def _factor_key(self, part: Any) -> tuple[Any, ...]:
        """Order factors: numbers, what has no units, step sizes, constants, roots, and last the counter of iterations.

        Of each kind letters come before sums, and what stands first in the table before what comes later.
        """
        base, power = part.as_base_exp()
        names = [symbol.name for symbol in part.free_symbols]
        units = {self._symbols[name].units for name in names if name in self._symbols}
        if set(names) <= _COUNTERS and names:
            kind = 5
        elif not names or part.is_number:
            kind = 0
        elif not power.is_Integer:
            kind = 4
        else:
            kind = 1 if units <= {(0, 0)} else 2 if units <= {_STEP, (0, 0)} else 3
        return kind, not base.is_Symbol, *self._places(names)

    # ------------------------------------------------------------------------------------------- sums

    def _print_Add(self, expr: Any, order: Any = None) -> str:  # noqa: N802
        terms = list(expr.args)
        numbers = [part for part in terms if part.is_number]
        rest = sorted((part for part in terms if not part.is_number), key=self._term_key)
        # M + 1 and K − 1, but 1 − α·μ and 1 + 1/d: a number comes first where the others are more than letters.
        first = any(map(_minus, rest[:1])) or not all(map(_letters_only, rest))
        first &= not any(map(_minus, numbers))
        found = ""
        for part in (*numbers, *rest) if first else (*rest, *numbers):
            text = self._print(part)
            if not found:
                found = text
            elif text.startswith("−"):
                found += f" − {text[1:]}"
            else:
                found += f" + {text}"
        return found

    def _term_key(self, part: Any) -> tuple[Any, ...]:
        """Order terms: what is added before what is subtracted, then by the letter that stands last in the table."""
        return _minus(part), *self._places(symbol.name for symbol in part.free_symbols), part.count_ops()

    def _places(self, names: Iterable[str]) -> tuple[Any, ...]:
        """Return a key that sorts by places in the table, the last one first; names beyond it by themselves."""
        ranked = sorted(((self._place.get(name, len(self._place)), name) for name in names), reverse=True)
        return (ranked,)


def _sorted_out(product: Any) -> tuple[list[Any], list[Any], dict[int, list[tuple[Any, Any]]]]:
    """Return the factors above and below the line, and by degree what several factors have below one root."""
    over: list[Any] = []
    under: list[Any] = []
    roots: dict[int, list[tuple[Any, Any]]] = {}
    for part in sympy.Mul.make_args(product):
        base, power = part.as_base_exp()
        if base is sympy.E:
            over.append(part)
        # √a·√b is √(a·b) where one knows that both are real.
        elif power.is_Rational and not power.is_Integer and base.is_nonnegative:
            roots.setdefault(int(power.q), []).append((base, int(power.p)))
        elif power.could_extract_minus_sign():
            under.append(base**-power)
        else:
            over.append(part)
    for degree in [degree for degree, inside in roots.items() if len(inside) == 1]:
        ((base, power),) = roots.pop(degree)
        (over if power > 0 else under).append(base ** sympy.Rational(abs(power), degree))
    return over, under, roots


def _minus(part: Any) -> bool:
    return bool(part.could_extract_minus_sign()) and (part.is_number or part.is_Mul)


def _letters_only(part: Any) -> bool:
    """Return whether a term is a product of letters, and of powers of letters."""
    if _minus(part):
        return True
    factors = (factor.as_base_exp() for factor in sympy.Mul.make_args(part))
    return all(base.is_number or (base.is_Symbol and power.is_Integer and power > 0) for base, power in factors)
