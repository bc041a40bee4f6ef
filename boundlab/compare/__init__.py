"""Compare a theorem's bound with what really happens."""

from boundlab.compare.confidence import Band as Band
from boundlab.compare.confidence import band as band
from boundlab.compare.verdict import Comparison as Comparison
from boundlab.compare.verdict import Verdict as Verdict
from boundlab.compare.verdict import compare as compare
