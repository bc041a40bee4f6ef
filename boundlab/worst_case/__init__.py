"""Worst cases over all functions of a class, by semidefinite programs (performance estimation)."""

from boundlab.worst_case.analysis import worst_case as worst_case
from boundlab.worst_case.result import WorstCase as WorstCase, WorstCaseOutcome as WorstCaseOutcome
