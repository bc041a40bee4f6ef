"""All runs of an algorithm whose clients arrive in a fixed order, on an exact instance: only the noise is random."""

import itertools
from collections.abc import Sequence
from fractions import Fraction
from math import prod
from typing import TypeAlias

from boundlab.algorithms import X_S, AffineRow, DescendRow, EventProgram, MoveRow
from boundlab.prove._errors import ProofError
from boundlab.prove._functions import Point, plus
from boundlab.prove._instance import Instance, UnfitError
from boundlab.prove._replay import MAX_OUTCOMES, Column, Name, Runs, exact_weight
from boundlab.tape import Initial

Row: TypeAlias = AffineRow | DescendRow | MoveRow
_ZERO = Fraction(0)


def replay_arrivals(program: EventProgram, instance: Instance) -> Runs:
    """Run all values of the noise through the program, with the arrivals of the instance.

    The model after k arrivals is ``x[k]``, the noise of the gradient that arrives in iteration k ``e[k]``.

    Raises
    ------
    UnfitError
        If there are too many outcomes.
    """
    opening, blocks = _rows(program, instance)
    zero: Point = tuple(_ZERO for _ in instance.start)
    laws = [instance.noise[i].points() if instance.noise else ((Fraction(1), zero),) for i in instance.events]
    if prod(len(law) for law in laws) > MAX_OUTCOMES:
        raise UnfitError(f"there are more than {MAX_OUTCOMES} outcomes")
    chances: list[Fraction] = []
    found: dict[Name, list[Point]] = {}
    for drawn in itertools.product(*laws):
        one = _Run(program, instance, [noise for _, noise in drawn])
        one.apply(opening)
        models = [one.now[X_S]]
        for rows in blocks:
            one.apply(rows)
            models.append(one.now[X_S])
        chances.append(prod((chance for chance, _ in drawn), start=Fraction(1)))
        for k, model in enumerate(models):
            found.setdefault(("x", (k,)), []).append(model)
        for k, (_, noise) in enumerate(drawn):
            found.setdefault(("e", (k,)), []).append(noise)
    return Runs(chances, {name: Column(values) for name, values in found.items()}, instance.functions)


def _rows(program: EventProgram, instance: Instance) -> tuple[Sequence[Row], list[Sequence[Row]]]:
    opening, control = program.opening()
    blocks: list[Sequence[Row]] = []
    for k, client in enumerate(instance.events):
        step = program.event(control, (client,), k)
        if not step.iteration:
            raise ProofError("an event that ends no iteration is not known to exact models")
        blocks.append(step.rows)
        control = step.control
    return opening, blocks


class _Run:
    """Registers, and the noise by iteration of arrival."""

    def __init__(self, program: EventProgram, instance: Instance, noise: Sequence[Point]) -> None:
        zero: Point = tuple(_ZERO for _ in instance.start)
        held = {Initial.START: instance.start, Initial.ZERO: zero}
        self.now = {place: held[one] for place, one in enumerate(program.initial) if one in held}
        self._instance = instance
        # What a client computes arrives when the client does; what never arrives needs no noise.
        self._coming = {
            client: iter([noise[k] for k, who in enumerate(instance.events) if who == client])
            for client in range(instance.n)
        }
        self._quiet = zero

    def apply(self, rows: Sequence[Row]) -> None:
        alpha = self._instance.alpha
        for row in rows:
            if isinstance(row, AffineRow):
                value = self._quiet
                for weight, source in row.terms:
                    value = plus(value, self.now[source], exact_weight(weight))
                self.now[row.dst] = value
            elif isinstance(row, DescendRow):
                if row.steps != 1 or abs(row.step_size - float(alpha)) > 1e-9 * row.step_size:
                    raise ProofError("a step that is not one gradient step is not known here")
                begin = self.now[row.src]
                slope = self._instance.functions[row.client].slope(begin)
                noise = next(self._coming[row.client], self._quiet)
                self.now[row.dst] = plus(begin, plus(slope, noise), -alpha)
            else:
                self.now[row.dst] = self.now[row.src]
