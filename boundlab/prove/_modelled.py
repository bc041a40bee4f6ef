"""What a setting tells exact models: its instances, the numbers of its symbols there, and all runs."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from boundlab.events import Events
from boundlab.prove._errors import ProofError
from boundlab.prove._instance import Instance
from boundlab.prove._replay import Runs
from boundlab.theorems import Condition, Theorem

# The members of a family by their indices.
Members = Mapping[tuple[int, ...], Fraction]


class Modelled:
    """The part of a setting that proofs do not look at."""

    theorem: Theorem
    assumed: frozenset[str]
    noisy: bool
    model: Any  # the server's model after k iterations, by k

    def instances(self) -> tuple[Instance, ...]:
        """Return exact instances on which proofs are tested; some may not fit this theorem."""
        return ()

    def given_by(self, events: Events) -> dict[str, Any]:
        """Return how an instance says that these events are given, by its parameters."""
        return {"events": tuple(events.actor.tolist())}

    def why_not(self, instance: Instance) -> str:
        """Return which assumption of the theorem an instance does not meet, exactly; empty if it meets all."""
        return instance.why_not(self.assumed, self.noisy)

    def decides(self, condition: Condition) -> bool:
        """Return whether :meth:`why_not` decides if an instance meets a condition of the theorem."""
        return False

    def constants(self, instance: Instance) -> dict[str, Fraction]:
        """Return the numbers of symbols on an instance; those that have none there are left out."""
        return instance.constants()

    def families(self, instance: Instance) -> dict[str, Members]:
        """Return the members of families on an instance."""
        found = {"p": instance.p} if instance.p and "iid-events" in self.assumed else {}
        if instance.events:
            found["s"] = tuple(map(Fraction, instance.schedule))
        return {name: {(place,): one for place, one in enumerate(own)} for name, own in found.items()}

    def runs(self, instance: Instance) -> Runs:
        """Return all runs of the algorithm on an instance, with every vector of this setting."""
        raise ProofError(f"{self.theorem.algorithm} has no exact models")

    def _with_points(self, runs: Runs, instance: Instance) -> Runs:
        """Add x* with its subgradients."""
        if "minimiser" in self.assumed and (best := instance.minimum()) is not None:
            runs.constant(("star", ()), best[0])
            for i, slope in enumerate(best[1]):
                runs.constant(("h", (i,)), slope)
        return runs
