"""FedStaleWeight as the printed proof sees it: weights that follow the mean staleness of an entry's client.

Every buffer is a uniform subset of the clients. What is said here of one schedule is true of each of them; exact
instances are those in which every buffer holds all clients, so that there is nothing to draw.
"""

from dataclasses import replace
from fractions import Fraction

from boundlab.prove._context import Range
from boundlab.prove._facts import Fact
from boundlab.prove._instance import Instance
from boundlab.prove._modelled import Members
from boundlab.prove._scalars import Number, Scalar, scalar, variable
from boundlab.prove._terms import equal, expr, finite_sum
from boundlab.prove.settings import _letters
from boundlab.prove.settings._buffered_instances import PRINTED
from boundlab.prove.settings.buffered import BufferSetting

_ZERO = scalar(0)


class PrintedBuffers(BufferSetting):
    """Beside what is in a buffer: age[t, j], the mean staleness of the client of entry j; b, the size of a buffer."""

    letters = _letters.PRINTED_BUFFERS
    of_schedules = frozenset({"uniform-buffer"})

    def _size(self) -> Scalar:
        size = self.own_symbol("b", self._range("b"))
        self.scale = self.own_symbol("scale", Range(low=_ZERO, high=size))
        self.context.declare("age", Range(low=_ZERO, high=self.symbol("tau_max"), arity=2))
        self.own_symbols.add("age")
        self.y = self.index("y", 0, size - 1)
        return size

    def age(self, t: Number, j: Number) -> Scalar:
        """Return the mean staleness of the client of entry j in buffer t."""
        return variable("age", t, j)

    def oldest(self, t: Number, j: Number) -> Fact:
        """Return age[t, j] ≤ tau_max: it is a mean of numbers that are."""
        self._seen(t)
        return self.axiom(expr(self.age(t, j)) <= expr(self.symbol("tau_max")), "algorithm")

    def weighting(self, t: Number, j: Number) -> Fact:
        """Return alpha[t, j]·Σ_h (1 + scale·age[t, h]) = 1 + scale·age[t, j] over the entries of buffer t."""
        self._seen(t)
        h = variable("j")
        every = finite_sum("j", 0, self.many, expr(1 + self.scale * self.age(t, h)))
        return self.axiom(equal(every * self.alpha(t, j), expr(1 + self.scale * self.age(t, j))), "algorithm")

    # ------------------------------------------------------------------ exact models

    def instances(self) -> tuple[Instance, ...]:
        """Return exact instances: buffers of all clients."""
        return PRINTED

    def why_not(self, instance: Instance) -> str:
        """Return which assumption an instance does not meet."""
        own = dict(instance.options)
        if own.get("count", 1) != instance.n or (instance.n > 1 and own.get("reply") != "wait"):
            return "not every buffer holds all clients"
        return super().why_not(instance)

    def constants(self, instance: Instance) -> dict[str, Fraction]:
        """Return the numbers of symbols."""
        return super().constants(instance) | {"scale": Fraction(dict(instance.options).get("scale", 1.0))}

    def families(self, instance: Instance) -> dict[str, Members]:
        """Return the members of families; where every buffer holds all clients, nothing is ever late."""
        found = super().families(instance)
        own = self._read_of(replace(instance, bounds=(), noise=()))
        return found | {"age": {at: Fraction(at[0] - start) for at, start in own.s.items()}}
