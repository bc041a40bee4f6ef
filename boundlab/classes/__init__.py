"""Classes of runs: what proofs are about, decided exactly on every run."""

from boundlab.classes.formal import Formal as Formal
from boundlab.classes.formal import drawn as drawn
from boundlab.classes.formal import of_program as of_program
from boundlab.classes.formal import of_tape as of_tape
from boundlab.classes.known import CLASSES as CLASSES
from boundlab.classes.known import class_of as class_of
