"""Compare a theorem's bound with what really happens."""

from boundlab.compare.horizons import Horizons as Horizons
from boundlab.compare.judge import Band as Band, Comparison as Comparison, band as band
from boundlab.compare.run import compare as compare
