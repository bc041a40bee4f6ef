"""Exact values, without sampling: :func:`evaluate` decides a case file, in rational numbers where it is rational."""

from boundlab.exact._evaluate import evaluate as evaluate
from boundlab.exact._result import ExactResult as ExactResult, Growth as Growth
from boundlab.exact._rows import (
    STANDS_ON as STANDS_ON,
    Chain as Chain,
    Derivation as Derivation,
    DerivationSection as DerivationSection,
    Item as Item,
    Table as Table,
    apart as apart,
)
