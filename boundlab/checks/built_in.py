"""The groups of checks that come with boundlab, in the order in which they are asked."""

from boundlab.checks import behaviour, relations, scope, truths, units
from boundlab.checks._check import CheckGroup

GROUPS: tuple[CheckGroup, ...] = (
    scope.checks,
    units.checks,
    behaviour.limits,
    truths.checks,
    relations.replication,
    relations.refinement,
    relations.gauge,
    behaviour.monotone,
    behaviour.vacuity,
    behaviour.admissible,
)
