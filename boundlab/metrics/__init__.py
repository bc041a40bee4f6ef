"""Metrics that theorems bound: a quantity at a point, and how the iterates of a run enter it.

A metric is a quantity (squared distance, function gap, squared gradient norm) of what a run shows, and a rule over its
iterations (the last iterate, the average iterate, the mean over all versions). Every reader of a run asks the metric
in its own arithmetic: which records it needs, the quantity at one of them, and the left side that they make.
"""

from boundlab.metrics._aggregation import INDEX as INDEX
from boundlab.metrics._aggregation import INDICES as INDICES
from boundlab.metrics._aggregation import KINDS as KINDS
from boundlab.metrics._aggregation import QUANTITIES as QUANTITIES
from boundlab.metrics._aggregation import Counter as Counter
from boundlab.metrics._aggregation import Range as Range
from boundlab.metrics._aggregation import index_symbol as index_symbol
from boundlab.metrics._aggregation import range_of as range_of
from boundlab.metrics._aggregation import valued as valued
from boundlab.metrics._compose import compose as compose
from boundlab.metrics._enclosure import Enclosure as Enclosure
from boundlab.metrics._metric import BUILT_IN as BUILT_IN
from boundlab.metrics._metric import METRICS as METRICS
from boundlab.metrics._metric import Measured as Measured
from boundlab.metrics._metric import Metric as Metric
from boundlab.metrics._metric import Quantity as Quantity
from boundlab.metrics._metric import choices as choices
from boundlab.metrics._metric import metric as metric
from boundlab.metrics._observe import Certified as Certified
from boundlab.metrics._observe import Proved as Proved
from boundlab.metrics._observe import Series as Series
from boundlab.metrics._observe import Watch as Watch
from boundlab.metrics._observe import gradient_at_minimum as gradient_at_minimum
from boundlab.metrics._observe import squares as squares
from boundlab.metrics._over import AVERAGE_ITERATE as AVERAGE_ITERATE
from boundlab.metrics._over import LAST as LAST
from boundlab.metrics._over import MEAN as MEAN
from boundlab.metrics._over import Over as Over
from boundlab.metrics._sum import MODEL as MODEL
from boundlab.metrics._sum import Term as Term
from boundlab.metrics._sum import compose_sum as compose_sum
from boundlab.metrics._sum import measures as measures
from boundlab.metrics._sum import summands as summands
from boundlab.metrics._sum import terms_of as terms_of
