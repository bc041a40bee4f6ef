"""Exact models of asynchronous SGD whose clients have one function, with the schedule of the instance."""

from boundlab.prove._arrivals import replay_arrivals
from boundlab.prove._instance import Instance
from boundlab.prove._replay import Runs
from boundlab.prove.setting import Setting
from boundlab.prove.settings._instances import DELAYED
from boundlab.prove.settings._parameters import parameters_of
from boundlab.registry import lookup


class DelayedSetting(Setting):
    """Models x[k], gradients g[k] at them, noise e[k] of the gradient that is applied in iteration k."""

    def instances(self) -> tuple[Instance, ...]:
        """Return exact instances: who arrives is fixed, and so is of which model a gradient is."""
        return DELAYED

    def runs(self, instance: Instance) -> Runs:
        """Replay the program."""
        compiler = lookup("algorithms", "async_sgd")
        program = compiler.program(parameters_of(compiler, {"alpha": float(instance.alpha)}), instance.n)
        return replay_arrivals(program, instance)
