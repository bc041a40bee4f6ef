"""Sweeps: one question for many theorems, problems, delay models and settings, on all cores or on a cluster."""

from boundlab.sweep.cell import Cell as Cell
from boundlab.sweep.plan import SweepPlan as SweepPlan
