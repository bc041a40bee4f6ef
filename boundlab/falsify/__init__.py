"""Search for counterexamples: structured families, local optimisation, shrinking, exact confirmation."""

from boundlab.falsify._candidate import Candidate as Candidate
from boundlab.falsify._families import known_witnesses as known_witnesses
from boundlab.falsify._result import (
    Falsification as Falsification,
    JudgedInstance as JudgedInstance,
    falsify as falsify,
    minimise as minimise,
)
