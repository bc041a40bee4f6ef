"""Classes of runs: what proofs are about, decided exactly on every run."""

from boundlab.classes.formal import Formal as Formal
from boundlab.classes.formal import of_program as of_program
from boundlab.classes.formal import of_tape as of_tape
from boundlab.classes.known import CLASSES as CLASSES
from boundlab.classes.membership import Membership as Membership
from boundlab.classes.membership import of_events as of_events
from boundlab.classes.membership import of_runs as of_runs
from boundlab.classes.membership import proved as proved
