"""Compare a theorem's bound with what really happens."""

from boundlab.compare.comparison import Comparison as Comparison
from boundlab.compare.confidence import Band as Band, band as band
from boundlab.compare.run import compare as compare
