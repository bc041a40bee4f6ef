"""The report card of a theorem: everything that boundlab knows or finds of it within a minute, on one page.

``audit(theorem)`` asks :mod:`boundlab.api`; the verdict follows from the answers alone.
"""

from boundlab.audit._audit import Audit as Audit, audit as audit
from boundlab.audit._ruling import (
    Asked as Asked,
    Evidence as Evidence,
    Panel as Panel,
    ProofEvidence as ProofEvidence,
    Repair as Repair,
    Ruling as Ruling,
    Undecided as Undecided,
)
