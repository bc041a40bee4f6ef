"""Worst cases over all functions of a class, by semidefinite programs (performance estimation, with PEPit)."""

from boundlab.worst_case.analysis import worst_case as worst_case
from boundlab.worst_case.result import WorstCase as WorstCase, WorstCaseOutcome as WorstCaseOutcome
