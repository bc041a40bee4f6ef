"""The options of a statement's algorithm, each with how the statement reads it: elaborated here and nowhere else."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, final

import sympy

from boundlab.algorithms import VARIABLES, Algorithm, StepRule
from boundlab.errors import SpecError
from boundlab.formulas.parse import parse
from boundlab.options import nearest
from boundlab.registry import find
from boundlab.theorems._statement import ANY, OTHERS, Statement

Of = Literal["fixed", "default", "open", "symbol", "step", "unused"]
_RATES: Final = ("alpha", "c", "d")  # how a step size may be given: one of these ways
_UNSAID: Final = ("M", "M")  # what a statement has where it gives no parameters


@final
@dataclass(frozen=True, slots=True)
class Option:
    """An option of the algorithm.

    Parameters
    ----------
    id
        Its name.
    how
        ``fixed``: the value is the proof's. ``default``: the documented one. ``open``: any value. ``symbol``: any
        value, which formulas read. ``step``: what the statement sets. ``unused``: another form of the step.
    value
        The fixed value, or the default where the algorithm has one; else empty.
    symbol
        The symbol as which formulas read it; empty where none does.
    """

    id: str
    how: Of
    value: str = ""
    symbol: str = ""

    @property
    def varies(self) -> bool:
        """True if the statement is about any value of the option."""
        return self.how in ("open", "symbol", "step")


def elaborated_options(theorem: Statement, algorithm: Algorithm[Any]) -> tuple[Option, ...]:
    """Return every option of the algorithm, in its order.

    Raises
    ------
    SpecError
        If the statement names an option that the algorithm does not have, or one twice.
    """
    parts = (("step", theorem.step), ("option", theorem.options), ("parameter", theorem.parameters))
    strange = "; ".join(
        f"{noun} {name} is no parameter of {algorithm.id}; {nearest(name, algorithm.parameters)}"
        for noun, names in parts
        for name, said in names.items()
        if name not in algorithm.parameters and name != OTHERS and (name, said) != _UNSAID
    )
    if strange:
        raise SpecError(f"{theorem.id}: {strange}")
    if twice := sorted(theorem.step.keys() & theorem.options.keys()):
        raise SpecError(f"{theorem.id}: {', '.join(twice)} stands under step and under options; leave one of them out")
    return tuple(_options(theorem, algorithm))


def _options(theorem: Statement, algorithm: Algorithm[Any]) -> Iterator[Option]:
    read = theorem.read
    for name in algorithm.parameters:
        symbol = theorem.parameters.get(name, "")
        symbol = symbol if symbol in read else ""
        said = theorem.options.get(name)
        if name in theorem.step:
            yield Option(name, "step")
        elif theorem.rule is not None and name == algorithm.rule:
            yield Option(name, "fixed", StepRule(theorem.rule))
        elif said is not None and said != ANY:
            yield Option(name, "fixed", said, symbol)
        elif name in _RATES and set(_RATES) & set(theorem.step):
            yield Option(name, "unused")
        elif symbol:
            yield Option(name, "symbol", symbol=symbol)
        elif ANY in (said, theorem.options.get(OTHERS)):
            yield Option(name, "open")
        else:
            yield Option(name, "default", algorithm.defaults.get(name, ""))


def rule_of(theorem: Statement) -> dict[str, str]:
    """Return the option that multiplies the step in each iteration, and what it is; nothing where the step is constant.

    Nothing, too, where the statement leaves the option open.
    """
    known = find("algorithms", theorem.algorithm)
    if known is None or not known.rule:
        return {}
    said = StepRule(theorem.rule) if theorem.rule is not None else theorem.options.get(known.rule, ANY).strip()
    return {} if said in (ANY, known.defaults[known.rule]) else {known.rule: said}


def step_at(theorem: Statement) -> sympy.Expr | str | None:
    """Return the step of each iteration as a formula, or the algorithm's word for its factor; see :func:`rule_of`."""
    for name, said in rule_of(theorem).items():
        if not isinstance(said, StepRule) and said.isidentifier():
            return said
        return theorem.step["alpha"] * (said.formula if isinstance(said, StepRule) else parse(said, VARIABLES, name))
    return None
