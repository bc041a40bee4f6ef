"""Sweeps: one question for many theorems, problems, delay models and settings, on all cores or on a cluster."""

from boundlab.sweep.plan import Cell as Cell, SweepPlan as SweepPlan
