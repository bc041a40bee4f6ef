"""Compare a theorem's bound with what really happens."""

from boundlab.compare.confidence import Band, band
from boundlab.compare.plan import Plan, make_plan
from boundlab.compare.verdict import Comparison, Verdict, compare

__all__ = ["Band", "Comparison", "Plan", "Verdict", "band", "compare", "make_plan"]
