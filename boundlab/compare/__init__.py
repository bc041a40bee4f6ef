"""Compare a theorem's bound with what really happens."""

from boundlab.compare.judge import Band as Band, Comparison as Comparison, band as band
from boundlab.compare.run import Horizons as Horizons, compare as compare
