"""What the exact models of FedFa are."""

from fractions import Fraction

import pytest
from setting_facts import models, setting

from boundlab.prove import equal, scalar, squared, variable
from boundlab.prove._scalars import ProofError
from boundlab.prove.models import evaluate

F = Fraction


@pytest.mark.nightly
def test_what_is_read_off_a_run_of_fedfa_is_what_it_is_by_hand() -> None:
    """Models take the numbers that the algorithm reads; here they are worked out by hand."""
    found = models("fedfa.param.a")
    one = next(model for model in found if model.values["window"] == 2 and model.values["lag"] == 0)
    assert one.values["kappa_lag"] == F(2, 3)
    # After 0, 1, 2, … updates Δ stands in the model with 1/2 (half), 3/4, 5/8, …
    assert one.values["C_lag"] >= F(1, 6)


def test_a_lag_that_is_not_constant_makes_no_model_of_mode_param() -> None:
    assert all("lag" in model.values for model in models("fedfa.param.a"))
    with pytest.raises(ProofError):
        setting("fedfa.delta.a").response(scalar(0))


@pytest.mark.nightly
def test_the_virtual_iterate_moves_by_the_whole_change_of_each_arrival() -> None:
    s = setting("fedfa.delta.a")
    claim = equal(squared(s.v(s.t + 1) - s.v(s.t) - s.change(s.t) * s.rate), 0)
    rows = [row for model in models("fedfa.delta.a") for row in evaluate(model, claim, s.kernel)]
    assert len(rows) > 40
    assert all(row.holds for row in rows)
    assert variable("t").names() == {"t"}
