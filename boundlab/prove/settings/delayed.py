"""Exact models of asynchronous SGD whose clients have one function, with the schedule of the instance."""

from boundlab.prove._instance import Instance, Runs, compiled, replay_tape, used_runs
from boundlab.prove.setting import Setting
from boundlab.prove.settings._instances import DELAYED


class DelayedSetting(Setting):
    """Models x[k], gradients g[k] at them, noise e[k] of the gradient that is applied in iteration k."""

    def instances(self) -> tuple[Instance, ...]:
        """Return exact instances: who arrives is fixed, and so is of which model a gradient is."""
        return DELAYED

    def runs(self, instance: Instance) -> Runs:
        """Replay the tape."""
        options = (("alpha", float(instance.alpha)),)
        tape = compiled("async_sgd", options, instance.events, instance.n, instance.horizon)
        found = replay_tape(tape, instance, {(k,): row for (k, _), row in used_runs(tape).items()})
        for k in range(instance.horizon + 1):
            found.columns["x", (k,)] = found.columns["w", (k,)]
        for k in range(instance.horizon):
            found.columns["e", (k,)] = found.columns["e", (k, 0)]
        return found
