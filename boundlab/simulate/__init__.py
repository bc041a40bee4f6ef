"""Runs: one trial after the other, and the metrics that each shows."""

from boundlab.simulate.backend import BACKENDS as BACKENDS
from boundlab.simulate.backend import NUMPY as NUMPY
from boundlab.simulate.backend import Backend as Backend
from boundlab.simulate.backend import pick as pick
from boundlab.simulate.backend import run_work as run_work
from boundlab.simulate.simulation import Simulation as Simulation
from boundlab.simulate.simulation import simulate as simulate
from boundlab.simulate.trial import compile_trial as compile_trial
from boundlab.simulate.trial import run_once as run_once
from boundlab.simulate.trial import spaced_iterations as spaced_iterations
from boundlab.simulate.work import Work as Work
from boundlab.simulate.work import stoppable as stoppable
