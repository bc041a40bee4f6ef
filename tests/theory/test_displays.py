"""Every numbered display of an argument on a theory page has a number of its own, and something that decides it."""

import pytest
from theory_pages import PAGES, decided, displays, shown

_PAGES = sorted(path.stem for path in PAGES.glob("*.md"))
# What no line of a proof names: an argument's assumptions and definitions, which the settings of the machine proofs
# assume and tests/prove decides in exact models; lines of area.theorem8.repaired, which names no displays; and how
# FedFa's responses settle, (V16) and (V20), which tests/algorithms/test_fedfa.py finds on tapes.
GIVEN = {
    "afl_dga": "AD1 AD2 AD3",
    "area": "T8.1 T8.2 T8.3 T8.4 T8.5 T8.6 T8.9 P7.6",
    "fedcompass": "W1 W4 W5 W6 C1 C2",
    "fedfa": "V8 V11 V13 V14 V15 V16 V17 V19 V20",
    "fedstaleweight": "R1 R2 R7 R16",
}


@pytest.mark.parametrize("page", _PAGES)
def test_no_two_displays_have_one_number(page: str) -> None:
    tags = displays(page)
    assert len(tags) == len(set(tags))


@pytest.mark.parametrize("page", _PAGES)
def test_each_display_is_given_or_decided_by_a_proof_or_a_test(page: str) -> None:
    tests, given, tags = shown().get(page, set()), set(GIVEN.get(page, "").split()), set(displays(page))
    assert tests <= tags
    assert not tests & given
    assert tags - tests - decided(page) == given
