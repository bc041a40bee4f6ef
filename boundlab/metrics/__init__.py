"""Metrics that theorems bound: a quantity at a point, and how the iterates of a run enter it.

A metric is a quantity (squared distance, function gap, squared gradient norm) of what a run shows, and a rule over its
iterations (the last iterate, the average iterate, the mean over all versions). Every reader of a run asks the metric
in its own arithmetic: which records it needs, the quantity at one of them, and the left side that they make.
"""

from boundlab.metrics._aggregation import (
    INDEX as INDEX,
    INDICES as INDICES,
    KINDS as KINDS,
    MODEL as MODEL,
    QUANTITIES as QUANTITIES,
    Counter as Counter,
    Kind as Kind,
    Range as Range,
    Term as Term,
    compose as compose,
    compose_sum as compose_sum,
    index_symbol as index_symbol,
    of_models as of_models,
    range_of as range_of,
    summands as summands,
    terms_of as terms_of,
    valued as valued,
)
from boundlab.metrics._metric import (
    AVERAGE_ITERATE as AVERAGE_ITERATE,
    BUILT_IN as BUILT_IN,
    LAST as LAST,
    MEAN as MEAN,
    METRICS as METRICS,
    Measured as Measured,
    Metric as Metric,
    Over as Over,
    Quantity as Quantity,
    choices as choices,
    metric as metric,
)
from boundlab.metrics._observe import (
    Certified as Certified,
    Enclosure as Enclosure,
    Proved as Proved,
    Series as Series,
    Watch as Watch,
    gradient_at_minimum as gradient_at_minimum,
    squares as squares,
)
