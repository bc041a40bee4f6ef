"""Objectives Σ p_i f_i whose clients do not weigh the same: what an algorithm with weights of its own minimises."""

from boundlab.objective.weighted._problem import Weighted as Weighted
from boundlab.objective.weighted._problem import minimised as minimised
from boundlab.objective.weighted._problem import objective_of as objective_of
from boundlab.objective.weighted._problem import stepped as stepped
