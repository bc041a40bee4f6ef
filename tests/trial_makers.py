"""One trial of a plan, alone."""

from boundlab.compare.trials import trial_tape
from boundlab.instance import Plan
from boundlab.metrics import Watch
from boundlab.randomness import Streams
from boundlab.simulate import run_once


def run_trial(plan: Plan, seed: int, trial: int):
    """Return both ends of the left sides, shape (points,) each, and the tape."""
    watch = Watch(plan.metric, plan.problem, plan.ks)
    tape = trial_tape(plan, seed, trial)
    run_once(tape, plan.problem, Streams(seed, trial), watch)
    return watch.low, watch.high, tape
