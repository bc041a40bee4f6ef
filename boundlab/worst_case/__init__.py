"""Worst cases over all functions of a class, by semidefinite programs (performance estimation, with PEPit)."""

from boundlab.worst_case.analysis import Outcome, WorstCase, worst_case

__all__ = ["Outcome", "WorstCase", "worst_case"]
