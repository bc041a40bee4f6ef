"""Runs: one trial after the other, and the metrics that each shows."""

from boundlab.simulate.simulation import Simulation as Simulation
from boundlab.simulate.simulation import simulate as simulate
from boundlab.simulate.trial import compile_trial as compile_trial
from boundlab.simulate.trial import run_once as run_once
from boundlab.simulate.trial import spaced_iterations as spaced_iterations
