"""The report card of a theorem: everything that boundlab knows or finds of it within a minute, on one page.

``audit(theorem)`` asks :mod:`boundlab.api`; the verdict follows from the answers alone.
"""

from boundlab.audit._audit import Audit as Audit
from boundlab.audit._evidence import (
    Evidence as Evidence,
    Panel as Panel,
    ProofEvidence as ProofEvidence,
    Repair as Repair,
    Search as Search,
    Undecided as Undecided,
    WorstCaseEvidence as WorstCaseEvidence,
)
from boundlab.audit._gather import audit as audit
from boundlab.audit._ruling import Ruling as Ruling
from boundlab.audit._sections import claim as claim
