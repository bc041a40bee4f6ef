"""An index that a sum inside of an axiom runs over cannot be caught by it, whatever the setting."""

from collections.abc import Callable
from typing import Any

import pytest

from boundlab.prove import ProofError
from boundlab.prove.settings import setting_of
from boundlab.theorems import load_theorem

# Each would say of a mean at one time what holds of clients at times of their own, and so make unequal things equal.
CAUGHT: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    ("classics.gd.convex", lambda s: s.move(s.i)),
    ("fedcompass.window.b", lambda s: s.whole_gradient(s.i)),
    ("fedfa.delta.b", lambda s: s.whole_gradient(s.i)),
    ("fedfa.delta.b", lambda s: s.update(s.j)),
    ("fedfa.delta.b", lambda s: s.added("gr", s.q)),
    ("fedfa.delta.b", lambda s: s.heterogeneity(s.i, s.i)),
    ("fedbuff.rf1", lambda s: s.whole_gradient(s.i)),
    ("fedbuff.rf1", lambda s: s.mean_heterogeneity(s.i)),
    ("fedbuff.rf3", lambda s: s.whole_gradient(s.i)),
    ("fedbuff.rf3", lambda s: s.expected(s.i)),
)


@pytest.mark.parametrize(("theorem", "attempt"), CAUGHT)
def test_an_index_that_a_sum_runs_over_is_refused(theorem: str, attempt: Callable[[Any], Any]) -> None:
    s = setting_of(load_theorem(theorem))
    many, known = len(s.kernel.facts), s.context.order()
    with pytest.raises(ProofError):
        attempt(s)
    # Nothing of the attempt is left.
    assert len(s.kernel.facts) == many
    assert s.context.order() == known


def test_another_index_is_as_good_as_any() -> None:
    s = setting_of(load_theorem("fedfa.delta.b"))
    assert str(s.heterogeneity(s.i, s.t)).startswith("E‖d[i, t]")
    assert s.update(s.t).left.names() == {"t"}


def test_no_proof_tries_what_it_then_forgets() -> None:
    with pytest.raises(ProofError, match="a proof cannot use it"):
        setting_of(load_theorem("fedbuff.rf1")).kernel.trial()
