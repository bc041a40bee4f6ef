"""FedStaleWeight as the printed proof sees it: weights that follow the mean staleness of an entry's client.

Every buffer is a uniform subset of the clients. What is said here of one schedule is true of each of them; exact
instances are those in which every buffer holds all clients, so that there is nothing to draw.
"""

from dataclasses import replace
from fractions import Fraction

from boundlab.prove._instance import Instance
from boundlab.prove._modelled import Members
from boundlab.prove.settings._buffered_instances import PRINTED
from boundlab.prove.settings.buffered import BufferSetting


class PrintedBuffers(BufferSetting):
    """Beside what is in a buffer: age[t, j], the mean staleness of the client of entry j; b, the size of a buffer."""

    of_schedules = frozenset({"uniform-buffer"})

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
