"""No theorem that is true is called violated, whatever the options of algorithm, problem and delays are.

What an instance does not fit ends with exit 4 or 2, and that is fine; only a false `violated` counts here. Options and
their values are those that algorithms declare, so that a new option of any algorithm takes part by itself.
"""

import os

import pytest
from hypothesis import given, note, settings, strategies as st
from instance_makers import BUILT_IN, fitting

from boundlab.compare import compare
from boundlab.errors import BoundlabError
from boundlab.testing.strategies import cases
from boundlab.verdict import Verdict

EXAMPLES = int(os.environ.get("BOUNDLAB_EXAMPLES", "25")) * 2 // 5
TRUE = sorted(name for name, theorem in BUILT_IN.items() if not theorem.of_paper)
# A sample refutes a true bound with probability at most 1 − LEVEL: never, in as many examples as there will be.
LEVEL = 0.9999999


@pytest.mark.sweep(96)
@pytest.mark.parametrize("name", TRUE)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_no_true_theorem_is_violated(name: str, data: st.DataObject) -> None:
    theorem = BUILT_IN[name]
    setting = data.draw(cases(theorem, fits=False, around=[fitting(theorem)]))
    note(setting.command())
    try:
        plan = setting.plan(trials=2)
        number = 2 if plan.problem.noiseless and plan.schedules else 12
        found = compare(plan, trials=number, seed=0, level=LEVEL)
    except BoundlabError:
        return
    assert found.verdict is not Verdict.VIOLATED, found.reason


@pytest.mark.sweep(39)
@pytest.mark.parametrize("name", TRUE)
def test_the_same_way_reaches_a_verdict_on_an_instance_that_fits(name: str) -> None:
    theorem = BUILT_IN[name]
    found = compare(fitting(theorem).plan(), trials=8, seed=0)
    assert found.verdict in (Verdict.HOLDS, Verdict.CONSISTENT, Verdict.INCONCLUSIVE)
    assert found.verdict is not Verdict.INCONCLUSIVE or theorem.shape or "more trials" in found.reason
