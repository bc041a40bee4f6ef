"""A schedule in words, unfolded again, is the schedule."""

import re
from typing import Any

from hypothesis import given, strategies as st

from boundlab.exact._rows import schedule

_FOLDED = re.compile(r"\[([^\]]*)\] and (\d+) times again, each (\S+) later(?: with numbers (-?\d+) larger)?")


def unfolded(text: str) -> list[tuple[float, int, int | None]]:
    """Return (time, client, number) of each event that words say."""
    found = []
    for part in re.findall(r"\[[^\]]*\][^;]*|[^;\[\]]+", text):
        folded = _FOLDED.match(part.strip())
        inside, often, later, by = folded.groups() if folded else (part, "0", "0", None)
        for turn in range(int(often) + 1):
            for at, what in re.findall(r"at (\S+) ([^;]*)", inside):
                for client, number in re.findall(r"client (\d+)(?: step (-?\d+))?", what):
                    round_ = int(number) + turn * int(by or 0) if number else None
                    found.append((float(at) + turn * float(later), int(client), round_))
    return found


@st.composite
def turns(draw: st.DrawFn) -> list[list[Any]]:
    """Draw a beginning, a turn that comes several times, and an end."""
    moment = st.lists(st.integers(0, 2), min_size=1, max_size=3)
    head, turn, tail = (draw(st.lists(moment, max_size=3)) for _ in range(3))
    numbered, by = draw(st.booleans()), draw(st.integers(0, 2))
    events: list[list[Any]] = []
    for at, (again, clients) in enumerate(
        [*((0, one) for one in head), *((k, one) for k in range(draw(st.integers(1, 4))) for one in turn)]
        + [(0, one) for one in tail]
    ):
        events += [[at / 4, client, *(["step", again * by] if numbered else [])] for client in clients]
    return events


@given(turns())
def test_what_is_folded_unfolds_to_the_events(events: list[list[Any]]) -> None:
    text = schedule(events)
    if "…" not in text:
        assert unfolded(text) == [(one[0], one[1], one[3] if len(one) > 2 else None) for one in events]


def test_what_repeats_takes_a_line_and_what_does_not_is_cut() -> None:
    assert len(schedule([[k / 2, k % 3] for k in range(3000)])) < 100
    long = schedule([[k * k * 1.0, (k * k) % 7 % 3] for k in range(200)])
    assert long.endswith("… as the case file has it")
    assert long.count("client") <= 600


def test_a_time_that_is_shortened_says_so() -> None:
    assert schedule([[0.123456789, 0], [0.5, 1]]) == "at ≈ 0.123457 client 0; at 0.5 client 1"
    assert schedule([[0.1 * k, 0] for k in range(1, 9)]) == "[at 0.1 client 0] and 7 times again, each 0.1 later"
    assert schedule([[k / 7, 0] for k in range(1, 9)]).endswith("each ≈ 0.142857 later")
