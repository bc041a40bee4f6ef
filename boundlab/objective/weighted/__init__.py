"""Objectives Σ p_i f_i whose clients do not weigh the same: what an algorithm with weights of its own minimises."""

from boundlab.objective.weighted._problem import (
    Weighted as Weighted,
    minimised as minimised,
    objective_of as objective_of,
    stepped as stepped,
)
