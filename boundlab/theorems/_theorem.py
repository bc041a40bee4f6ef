"""Theorems as objects: each says what it needs, evaluates its bound, gives its step sizes, and shows itself."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, final

import numpy as np
import sympy
from numpy.typing import ArrayLike

from boundlab.errors import SpecError, SymbolError
from boundlab.formulas.assignments import arrival_statistics
from boundlab.formulas.symbols import lookup, names_of
from boundlab.registry import by_id
from boundlab.theorems._bound import Evaluation, Floats
from boundlab.theorems._conditions import admissible
from boundlab.theorems._core import CoreStatement, core as elaborated
from boundlab.theorems._evaluate import derive, evaluated, expanded, inputs, rules
from boundlab.theorems._options import step_at
from boundlab.theorems._show import statement_fields, statement_latex
from boundlab.theorems._statement import Statement


@final
@dataclass(frozen=True, slots=True)
class Theorem(Statement):
    """A statement that can be evaluated and shown; its fields are those of the statement."""

    @property
    def core(self) -> CoreStatement:
        """Statement with nothing left implicit: what engines ask for its options and assumptions.

        Raises
        ------
        SpecError
            As :func:`boundlab.theorems.core`.
        """
        return elaborated(self)

    def inputs(self, given: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the symbols that need a value when those of ``given`` are set, in the order of the table.

        ``p`` counts as n, p_s, p_min and qbar.
        """
        return inputs(self, given)

    def free(self, given: Iterable[str] = ()) -> frozenset[str]:
        """Return what may still be set when those of ``given`` are: inputs, and what has a default."""
        known = expanded(given)
        return frozenset((*self.inputs(known), *self.settable, *self.bound.replacements())) - known

    def unused(self, given: Iterable[str]) -> tuple[str, ...]:
        """Return the symbols of ``given`` that the theorem does not read."""
        names = tuple(given)
        read = set(self.inputs(names))
        wide = {"p": {"p_s", "p_min", "qbar"}, "rates": {"p", "p_s", "p_min", "qbar"}}
        wide["lambda_s"] = wide["rates"]
        return tuple(name for name in names if name not in read and not wide.get(name, set()) & read)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Return the id of a registered theorem, and all fields of another one."""
        return by_id("theorems", self, protocol)

    def __repr__(self) -> str:
        """Say what it is about, in one line."""
        return f"<Theorem {self.id} ({self.status}): {self.left.expectation} for {self.algorithm}>"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle\n{self.latex()}\n$"

    @property
    def terms(self) -> Mapping[str, sympy.Expr]:
        """The named terms of the bound."""
        return self.bound.expressions()

    def evaluate(
        self, values: Mapping[str, ArrayLike] = MappingProxyType({}), *, exactly: bool = False, **symbols: ArrayLike
    ) -> Evaluation:
        """Evaluate the bound.

        Parameters
        ----------
        values
            Numbers or arrays by symbol name, broadcastable with each other; vectors have shape (n,).
            Symbols that the theorem does not read are ignored.
        exactly
            Whether conditions are checked at the very numbers, as a comparison needs it; else up to rounding.
        symbols
            More values, as keywords.

        Raises
        ------
        SymbolError
            If a symbol is unknown, missing or outside its domain, if the theorem defines it itself, or if a
            term is infinite or not a number.
        AssumptionError
            If a condition of the theorem is not met.
        """
        return evaluated(self, self._known({**values, **symbols}), self.first_iteration, exactly=exactly)

    def value_at(self, values: Mapping[str, ArrayLike], ks: ArrayLike) -> Floats:
        """Return the bound at many iterations of one run, shape (m,); see :meth:`at_iterations`."""
        return self.at_iterations(values, ks).total

    def at_iterations(self, values: Mapping[str, ArrayLike], ks: ArrayLike) -> Evaluation:
        """Evaluate the bound and its terms at many iterations of one run, with conditions at the very numbers.

        Parameters
        ----------
        values
            One number a symbol, the counter apart; vectors of shape (n,).
        ks
            K or T, shape (m,): none below the first that the theorem is about.

        Returns
        -------
        Evaluation
            Arrays of shape (m,), in the units of the metric.

        Raises
        ------
        SymbolError
            As :meth:`evaluate`; and with horizon ``fixed``, if an iteration is not the one of ``values``.
        """
        iterations = np.asarray(ks)
        if iterations.ndim != 1 or iterations.size == 0 or not np.issubdtype(iterations.dtype, np.integer):
            raise SymbolError(f"{self.id}: iterations must be a list of integers")
        own = values.get(self.horizon_symbol)
        if self.horizon == "fixed" and (own is None or (iterations != np.asarray(own)).any()):
            raise SymbolError(
                f"{self.id} is about the one {self.horizon_symbol} for which its step size is chosen, "
                f"and {self.horizon_symbol} is {own}"
            )
        found = evaluated(
            self, self._known({**values, self.horizon_symbol: iterations}), self.first_iteration, exactly=True
        )
        # A bound that does not depend on the counter is the same at all of them.
        terms = {name: np.broadcast_to(term, iterations.shape) for name, term in found.terms.items()}
        total = np.broadcast_to(found.total, iterations.shape)
        return Evaluation(total, MappingProxyType(terms), found.derived, found.kind)

    def step_options(self, values: Mapping[str, ArrayLike]) -> dict[str, float]:
        """Return what the theorem sets, as options of the algorithm: alpha, or c and d, or eta_l and eta_g, ….

        Each is one number, rounded so that it meets the conditions without any tolerance.

        Raises
        ------
        SymbolError
            As :meth:`evaluate`; and if it is not one finite number of its symbol's domain each.
        """
        known = self._known(values)
        names = self.bound.instead(self.step, frozenset(known))
        found = derive(self, known, names, self.first_iteration)
        options = {}
        for name in names:
            value = found[name]
            domain = self.symbols[name].domain
            if value.size != 1 or not np.isfinite(value).all() or not domain.contains(value).all():
                raise SymbolError(
                    f"{self.id}: the step size needs one finite {name}, {domain.rule}, got {value.tolist()}"
                )
            options[name] = float(value.reshape(-1)[0])
        return admissible(self, known, options)

    def step_sizes(self, values: Mapping[str, ArrayLike], K: int) -> Floats:
        """Return α_0 … α_K, shape (K+1,), unit (−1, 2).

        Raises
        ------
        SpecError
            If the theorem sets several rates.
        """
        options = self.step_options({**values, self.horizon_symbol: K} if self.horizon == "fixed" else values)
        if "c" in options:
            return np.asarray(options["c"] / (np.arange(K + 1) + options["d"]), dtype=np.float64)
        if len(options) > 1:
            raise SpecError(f"{self.id} sets {', '.join(options)}; take step_options")
        return np.full(K + 1, next(iter(options.values())))

    def _known(self, values: Mapping[str, ArrayLike]) -> dict[str, Any]:
        for name in values:
            lookup(name, self.symbols)
            if name in self.defining() and name not in self.settable:
                hint = f"{self.id}.fixed-step takes it" if name == "alpha" else "leave it out"
                raise SymbolError(f"{self.id} defines {name} itself ({self.symbols[name].meaning}); {hint}")
        known: dict[str, Any] = dict(values)
        if "p" in known and "qbar" not in known:
            p_s = known.get("p_s")
            known |= arrival_statistics(known["p"], None if p_s is None else float(np.asarray(p_s).reshape(-1)[0]))
        return known

    def rules(self) -> dict[str, sympy.Expr]:
        """Return the defined symbols that the statement uses, each by the ones after it."""
        return rules(self)

    @property
    def step_of_each(self) -> sympy.Expr | str | None:
        """The step of each iteration, or the algorithm's word for its factor; None where there is one step for all."""
        return step_at(self)

    def spelling(self) -> dict[str, str]:
        """Return name → how people write it, for all symbols of the statement; no two look alike."""
        from boundlab.formulas.written import letters_of

        rules = self.rules()
        formulas = (
            *self.expressions(),
            *self.step.values(),
            *rules.values(),
            *([] if self.rule is None else [self.rule]),
        )
        names = {name for one in formulas for name in names_of(one)} | {*self.step, *rules, *self.inputs()}
        return letters_of(sorted(names), self.symbols)

    def latex(self) -> str:
        """Return the statement in LaTeX: the bound, then the step size and the definitions it uses."""
        return statement_latex(self)

    def as_dict(self) -> dict[str, Any]:
        """Return the theorem as JSON-ready fields, formulas as text."""
        return statement_fields(self)
