"""AREA along a run: B bounds the subgradients, sigma the noise, of all passes that a client could begin."""

from fractions import Fraction

from boundlab.prove._errors import ProofError
from boundlab.prove._functions import inner, root_above
from boundlab.prove._instance import Instance
from boundlab.prove._terms import Vec
from boundlab.prove.setting import Setting


class AreaPoints(Setting):
    """The part of the setting that knows where B is taken."""

    opening: int

    def _passed(self, gradient: Vec) -> None:
        if gradient.name not in ("g", "e"):
            raise ProofError(f"{gradient} is no gradient of a pass")
        _, r, m = gradient.indices
        for value, what in (
            (r - self.opening, "there is no such pass"),
            (self.symbol("K") - 1 - r, "passes begin in iterations before K"),
            (m, "a local step has a number ≥ 0"),
            (self.symbol("M") - 1 - m, "a pass has M steps"),
        ):
            self.kernel.need(value, self.context, what)

    def why_not(self, instance: Instance) -> str:
        """Return which assumption an instance does not meet; along a run gradients are bounded."""
        of_run = {"bounded-run": "convex", "lipschitz": "convex"} if self.theorem.points else {}
        return instance.why_not({of_run.get(one, one) for one in self.assumed}, self.noisy)

    def constants(self, instance: Instance) -> dict[str, Fraction]:
        """Return the numbers of symbols; of a theorem along the run, with B as all its passes have it."""
        found = super().constants(instance)
        if self.theorem.points:
            iterations, steps = range(self.opening, instance.horizon), range(instance.steps)
            taken = [
                inner(at, at)
                for (name, place), column in self.runs(instance).columns.items()
                if name == "g" and place[1] in iterations and place[2] in steps
                for at in column.values
            ]
            found["B"] = root_above(max(taken))
        return found
