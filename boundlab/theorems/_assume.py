"""Assumptions that are inequalities between quantities of a point, and hold at every x: the table [assume]."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, final

import sympy

from boundlab.errors import SpecError
from boundlab.formulas.choice import sides
from boundlab.formulas.defined import Demands, looked_at
from boundlab.formulas.parse import parse
from boundlab.formulas.symbols import SYMBOLS, SymbolInfo, make_symbol, names_of
from boundlab.options import nearest

# Their names are those of boundlab.objective.facts; stochastic gradients are those of a client drawn uniformly.
POINTWISE: Final[Mapping[str, SymbolInfo]] = MappingProxyType(
    {
        name: make_symbol(name, meaning, domain, units, latex, unicode)
        for name, meaning, domain, units, latex, unicode in (
            ("gap", "f(x) − f*", "nonnegative", (1, 0), r"\left(f(x)-f^\star\right)", "(f(x) − f*)"),
            ("slope", "‖∇f(x)‖²", "nonnegative", (2, -2), r"\|\nabla f(x)\|^2", "‖∇f(x)‖²"),
            ("distance", "‖x − x*‖²", "nonnegative", (0, 2), r"\|x-x^\star\|^2", "‖x − x*‖²"),
            ("inner", "⟨∇f(x), x − x*⟩", "real", (1, 0), r"\langle\nabla f(x),x-x^\star\rangle", "⟨∇f(x), x − x*⟩"),
            ("second_moment", "E‖g(x)‖²", "nonnegative", (2, -2), r"\mathbb{E}\|g(x)\|^2", "E‖g(x)‖²"),
            (
                "variance",
                "E‖g(x) − ∇f(x)‖²",
                "nonnegative",
                (2, -2),
                r"\mathbb{E}\|g(x)-\nabla f(x)\|^2",
                "E‖g(x) − ∇f(x)‖²",
            ),
            (
                "mean_i(slope_i)",
                "(1/n)Σ‖∇f_i(x)‖²",
                "nonnegative",
                (2, -2),
                r"\frac1n\sum_i\|\nabla f_i(x)\|^2",
                "(1/n)Σ‖∇f_i(x)‖²",
            ),
        )
    }
)
OF_NOISE: Final = frozenset({"second_moment", "variance"})
_MEAN: Final = re.compile(r"\bmean_i\s*\(\s*slope_i\s*\)")
_PLACEHOLDER: Final = "slope_i"
_PER_RUN: Final = ("schedule", "step", "horizon", "option")


@final
@dataclass(frozen=True, slots=True)
class Inequality:
    """``smaller ≤ larger`` at every x, linear in the quantities of a point.

    Parameters
    ----------
    smaller, larger
        SymPy expressions over symbols and :data:`POINTWISE`.
    statement
        The inequality as it was written.

    Raises
    ------
    SpecError
        If it holds no quantity, or is not linear in them.
    """

    smaller: sympy.Expr
    larger: sympy.Expr
    statement: str
    coefficients: Mapping[str, sympy.Expr] = field(init=False)

    def __post_init__(self) -> None:
        found = of_quantities(self.larger - self.smaller, self.statement)
        if not {*found} - {""}:
            raise SpecError(f"{self.statement!r} compares no quantity of a point; one of {', '.join(POINTWISE)}")
        object.__setattr__(self, "coefficients", MappingProxyType(found))

    def __reduce__(self) -> tuple[object, ...]:
        """Return what makes it again."""
        return Inequality, (self.smaller, self.larger, self.statement)

    @property
    def reads(self) -> frozenset[str]:
        """The symbols in the coefficients."""
        return frozenset().union(*map(names_of, self.coefficients.values()))

    def rate(self, symbol: sympy.Symbol) -> dict[str, sympy.Expr] | None:
        """Return how the coefficients change with a symbol, or None where they are not linear in it."""
        found = {quantity: sympy.diff(one, symbol) for quantity, one in self.coefficients.items()}
        return None if any(symbol in one.free_symbols for one in found.values()) else found


def of_quantities(side: sympy.Expr, statement: str) -> dict[str, sympy.Expr]:
    """Return the coefficient of each quantity that has one, and under '' what is left.

    Raises
    ------
    SpecError
        If the expression is not linear in them.
    """
    found = {name: sympy.diff(side, info.symbol) for name, info in POINTWISE.items()}
    found[""] = side.xreplace({info.symbol: sympy.S.Zero for info in POINTWISE.values()})
    for name, one in found.items():
        if mixed := names_of(one) & POINTWISE.keys():
            raise SpecError(
                f"{statement!r} is not linear in {name or min(mixed)}: no certificate knows such inequalities"
            )
    return {name: one for name, one in found.items() if one != 0}


def inequality(text: str, symbols: Mapping[str, SymbolInfo] = SYMBOLS, where: str = "assume") -> Inequality:
    """Read an inequality ``left >= right`` or ``left <= right`` between quantities of a point.

    Raises
    ------
    SpecError
        If it is none, is not linear in the quantities, or a symbol has the name of one.
    FormulaError
        If a side cannot be read.
    """
    what = f"{where}, {text!r}"
    parts = sides(text, ">=|<=")
    if parts is None:
        raise SpecError(f"{what}: must be one inequality, left >= right or left <= right")
    names = {name: info.symbol for name, info in symbols.items()}
    names |= {_PLACEHOLDER if "(" in name else name: info.symbol for name, info in POINTWISE.items()}
    if taken := sorted(names.keys() & symbols.keys() & {*POINTWISE, _PLACEHOLDER}):
        raise SpecError(f"{what}: in [assume] {taken[0]} is a quantity of a point; choose another name for the symbol")
    written = dict[sympy.Expr, Demands]()
    texts = (parts[0], parts[2])
    for side in texts:
        if _PLACEHOLDER in _MEAN.sub("", side):
            raise SpecError(f"{what}: {_PLACEHOLDER} stands in mean_i({_PLACEHOLDER}) alone")
    left, right = (parse(_MEAN.sub(_PLACEHOLDER, side).strip(), names, what, written) for side in texts)
    try:
        found = Inequality(*((right, left) if parts[1] == ">=" else (left, right)), text)
    except SpecError as error:
        raise SpecError(f"{where}: {error}") from None
    lost = {name for needed in written.values() for one in looked_at(needed) for name in names_of(one.of)} - found.reads
    if lost:
        raise SpecError(f"{what}: {min(lost)} cancels; leave it out")
    return found


def check_inequalities(
    where: str,
    assume: Mapping[str, Inequality],
    symbols: Mapping[str, SymbolInfo],
    read_by: Mapping[str, frozenset[str]],
) -> None:
    """Refuse names that are none, and coefficients that are not the same number at every x of every run.

    Parameters
    ----------
    read_by
        For each inequality the symbols that its coefficients read, their definitions included.

    Raises
    ------
    SpecError
        Naming the inequality.
    """
    from boundlab.assumptions import ASSUMPTIONS

    for name in assume:
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,30}", name) or name in ASSUMPTIONS or name in symbols:
            raise SpecError(
                f"{where}: assume.{name}: choose a name of letters and digits, and of no symbol or assumption"
            )
        for other in sorted(read_by[name]):
            if other not in symbols:
                raise SpecError(f"{where}: assume.{name}: unknown symbol {other!r}; {nearest(other, symbols)}")
            if symbols[other].vector or symbols[other].role in _PER_RUN:
                raise SpecError(f"{where}: assume.{name} reads {other}, which is not one number of the problem")
