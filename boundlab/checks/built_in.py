"""The groups of checks that come with boundlab, in the order in which they are asked."""

from boundlab.checks import admissible, limits, monotone, relations, scope, truths, units, vacuity
from boundlab.checks._check import CheckGroup

GROUPS: tuple[CheckGroup, ...] = (
    scope.checks,
    units.checks,
    limits.checks,
    truths.checks,
    relations.replication,
    relations.refinement,
    relations.gauge,
    monotone.checks,
    vacuity.checks,
    admissible.checks,
)
