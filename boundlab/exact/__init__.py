"""Exact values, without sampling: :func:`evaluate` decides a case file, in rational numbers where it is rational."""

from boundlab.exact._derivation import STANDS_ON as STANDS_ON
from boundlab.exact._derivation import Chain as Chain
from boundlab.exact._derivation import Derivation as Derivation
from boundlab.exact._derivation import DerivationSection as DerivationSection
from boundlab.exact._derivation import Item as Item
from boundlab.exact._derivation import Table as Table
from boundlab.exact._evaluate import evaluate as evaluate
from boundlab.exact._result import ExactResult as ExactResult
from boundlab.exact._result import Growth as Growth
from boundlab.exact._sentence import apart as apart
