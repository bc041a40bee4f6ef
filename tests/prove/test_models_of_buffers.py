"""What the exact models of FedBuff and FedStaleWeight are."""

from dataclasses import replace
from fractions import Fraction

import pytest
from setting_facts import setting

from boundlab.prove import equal, squared
from boundlab.prove._functions import Huber
from boundlab.prove._instance import Instance, UnfitError
from boundlab.prove.models import Model, evaluate

F = Fraction


def _bowl(width: int) -> Huber:
    return Huber(F(1), F(0), F(width))


def test_two_entries_of_one_client_begin_at_two_models() -> None:
    s = setting("fedbuff.rf1")
    one = Instance((_bowl(9), _bowl(9)), (F(8),), F(1, 2), horizon=2, events=(0, 0, 1, 1), options=(("count", 2),))
    model = Model(s, one)
    # 8 − (8 + 8)/2·½ = 4; then client 1, first from 8 and then from 4: 4 − (8 + 4)/2·½.
    for t, value in enumerate((8, 4, 1)):
        assert [row.left for row in evaluate(model, equal(squared(s.w(t)), value**2), s.kernel)] == [F(value) ** 2]


def test_the_entry_of_a_buffer_is_a_clients_with_its_probability() -> None:
    s = setting("fedbuff.rf3")
    one = Instance((_bowl(4), _bowl(8)), (F(6),), F(1, 16), horizon=1, p=(F(3, 4), F(1, 4)), options=(("count", 2),))
    (row,) = evaluate(Model(s, one), equal(squared(s.vec("dk", 0)), F(3, 4) * 16 + F(1, 4) * 36), s.kernel)
    assert row.holds


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"p": (F(1, 2), F(1, 4))}, "law"),
        ({"options": (("reply", "wait"),)}, "waits"),
        ({"options": (("count", 2), ("scale", 1.0))}, "depend on what came before"),
        ({"alpha": F(4)}, "condition"),
    ],
)
def test_what_is_not_stationary_or_too_fast_is_no_model(more, why) -> None:  # type: ignore[no-untyped-def]
    plain = Instance((_bowl(1), _bowl(2)), (F(1),), F(1, 8), horizon=2, p=(F(3, 4), F(1, 4)))
    Model(setting("fedstaleweight.rf3"), plain)
    with pytest.raises(UnfitError, match=why):
        Model(setting("fedstaleweight.rf3"), replace(plain, **more))
