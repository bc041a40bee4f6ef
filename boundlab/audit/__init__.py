"""The report card of a theorem: everything that boundlab knows or finds of it within a minute, on one page.

``audit(theorem)`` asks :mod:`boundlab.api`; the verdict follows from the answers alone.
"""

from boundlab.audit._audit import Audit as Audit
from boundlab.audit._evidence import Evidence as Evidence
from boundlab.audit._evidence import Panel as Panel
from boundlab.audit._evidence import ProofEvidence as ProofEvidence
from boundlab.audit._evidence import Repair as Repair
from boundlab.audit._evidence import Search as Search
from boundlab.audit._evidence import Undecided as Undecided
from boundlab.audit._evidence import WorstCaseEvidence as WorstCaseEvidence
from boundlab.audit._gather import audit as audit
from boundlab.audit._ruling import Ruling as Ruling
from boundlab.audit._sections import claim as claim
