"""Compare a theorem's bound with what really happens."""

from boundlab.compare.comparison import Comparison as Comparison
from boundlab.compare.comparison import compare as compare
from boundlab.compare.confidence import Band as Band
from boundlab.compare.confidence import band as band
