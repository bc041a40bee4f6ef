"""Classes of runs: every run of an algorithm with the options that its proofs know is in the class, and no other is."""

import pytest

from boundlab.classes import CLASSES, known, of_tape
from boundlab.registry import lookup
from boundlab.testing._algorithm import Subject


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_runs_with_the_options_that_proofs_know_are_in_the_class(name: str) -> None:
    subject, inside = Subject(lookup("algorithms", name)), 0
    for run in subject.schedules:
        found = of_tape(run.long)
        why = list(CLASSES[name](run.parameters, run.long.clients).why_not(found))
        assert not (known(name, run.parameters) and why), (run.parameters, why)
        inside += not why
    assert inside >= 5
