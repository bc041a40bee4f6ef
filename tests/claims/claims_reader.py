"""Instances that a reader follows by hand, in the tables of docs/refutations.md and in the notebook of verdicts."""

import math
import re
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

from page_numbers import CLAIMS, NUMBER, Claim, claim, words
from replays import CASES, case, comparisons, replay, slopes

import boundlab as bl
from boundlab.case import read_case

REFUTATIONS = "docs/refutations.md"


@claim(REFUTATIONS, "one client, L = #/#, a step of #/L, T = #: #/# > #/# | # |")
def squared_smoothness_in_the_table() -> list[str]:
    one, L = (
        replay("fedfa.theorem1.squared-smoothness"),
        Fraction(str(case("fedfa.theorem1.squared-smoothness")["problem"]["w"][0])),
    )
    (left, right), step = one.sides, one.values["eta_g"] * one.values["eta_l"]
    millionths = ["10⁶" if part == str(10**6) else part for part in comparisons(left, right)[0]]
    return [*str(L).split("/"), str(step * L), str(one.values["T"]), *millionths, f"{float(left / right):.2f}"]


@claim(REFUTATIONS, "slopes that stay the same; left/right is # or more.")
def least_ratio_of_a_reader() -> list[str]:
    own = [file.stem for file in CASES.glob("*.json") if not file.stem.endswith(".smallest")]
    long = [name for name in own if not replay(name).found.derivation.by_hand]
    assert long == ["area.theorem8.printed-start"]  # whose rows docs/theory/area.md adds up
    ratios = [replay(name).found.ratio for name in own]
    return [f"{math.floor(100 * min(ratios)) / 100:g}"]


def sides_of_area(**said: Any) -> tuple[float, float]:
    """Return both sides of Theorem 8 on the instance of its proof's start, as changed."""
    raw = dict(case("area.theorem8")) | said
    name = "area.theorem8" if raw["parameters"]["start"] == "analysis" else "area.theorem8.printed-start"
    found = bl.exact(name, read_case(raw, has_theorem=True))
    return found.left, found.right


@claim(
    REFUTATIONS, "With Algorithm 2's start the instance of `area.theorem8` is none: the error is #/#, the bound #/#."
)
def algorithm_start_on_the_instance_of_the_other() -> list[str]:
    sides = sides_of_area(parameters={"start": "algorithm", "M": 48})
    return [part for side in sides for part in str(Fraction(side)).split("/")]


@claim(REFUTATIONS, "With σ = #, # and # in bound and step, left > right is # > #, # > # and # > # |")
def noise_that_is_allowed_and_absent() -> list[str]:
    sigmas = ("0.01", "0.1", "0.3")
    sides = [sides_of_area(settings={"sigma": sigma}) for sigma in sigmas]
    assert all(left > right for left, right in sides)
    return [*sigmas, *(f"{side:.5f}" for pair in sides for side in pair)]


_FRACTION = rf"({NUMBER.pattern}(?:/{NUMBER.pattern})?)"
# What a row of the table calls something of its case: both sides of the comparison and the ratio stand last.
_CALLED = {
    **{
        rf"\b{symbol} = {_FRACTION}": key
        for symbol, key in {"M": "M", "K": "K", "T": "T", "α": "alpha", "p": "p"}.items()
    },
    rf"slopes −{_FRACTION} and {_FRACTION}": "slopes",
    rf"{_FRACTION} local steps": "local_steps",
    rf"f' = {_FRACTION} all the way": "G",
    rf"from {_FRACTION} to −{_FRACTION} in steps of {_FRACTION}": "way",
    rf"noise ±{_FRACTION}": "sigma_l",
    rf"server rate of {_FRACTION}": "eta_g",
    r"\| ([^|]* > [^|]*) \| ([\d.]+) \|$": "sides",
}


def places(row: str) -> list[tuple[tuple[int, int], str, int]]:
    """Return where a row says something of its case, and what: the key of it, and which of its values."""
    found = ((match, key) for called, key in _CALLED.items() for match in re.finditer(called, row))
    return sorted((match.span(place + 1), key, place) for match, key in found for place in range(len(match.groups())))


def says(row: str) -> str:
    """Return a row with # for the numbers that its case has."""
    shown, end = "", 0
    for (first, last), _, _ in places(row):
        shown, end = shown + row[end:first] + NUMBER.sub("#", row[first:last]), last
    return shown + row[end:]


def has(name: str, row: str) -> list[str]:
    """Return the numbers that a row should have in place of #."""
    one, options = replay(name), case(name)["parameters"]
    known = {key: [str(value)] for key, value in one.values.items()}
    known["local_steps"] = [str(options.get("local_steps"))]
    if "delta" in case(name)["problem"]:
        known["slopes"] = [*slopes(name)]
    if name.endswith(".reused-gradients"):
        (step,), (x0,) = {now - then for now, then in pairwise(one.models)}, case(name)["x0"]
        # The left side reads w_0 … w_{T−1}: T − 1 steps.
        known["way"] = [f"{x0:g}", str((one.values["T"] - 1) * step - Fraction(x0)), str(step)]
    if "sqrt" in one.found.left_text:
        known["p"], ways = [str(1 - one.values["p_s"])], [[f"{side:.4f}" for side in (one.found.left, one.found.right)]]
    else:
        ways = comparisons(*one.sides)
    numbers = NUMBER.findall(row.split(" | ")[-2])
    known["sides"] = ["/".join(next((way for way in ways if way == numbers), ways[0])), f"{one.found.ratio:.2f}"]
    return [part for _, key, place in places(row) for part in known[key][place].split("/")]


def rows_for_a_reader() -> Iterator[tuple[str, str]]:
    """Yield the case that each row of the table is about, and the row."""
    table = words(REFUTATIONS).partition("| as printed | instance for a reader |")[2].partition("\n\n")[0]
    more = {"fedfa.theorem1": "window"}
    theorem = ""
    for row in table.split("\n")[2:]:
        named = re.match(r"\| `([\w.-]+)`", row)
        theorem = named[1] if named else theorem
        if theorem == "afl_dga.theorem1":  # re-use leads: the reading does not matter there
            yield f"{theorem}.reused-gradients" if named else theorem, row
        else:
            yield theorem if named else f"{theorem}.{more[theorem]}", row


for _name, _row in rows_for_a_reader():
    CLAIMS.append(Claim(REFUTATIONS, says(_row), partial(has, _name, _row), partly=True))


# ---------------------------------------------------------------------- how the notebook of verdicts tells them

FIVE = "notebooks/06_five_papers_five_verdicts.py"


@claim(FIVE, "so that the error is #/#, and the bound is #/#.")
def area_in_the_notebook() -> list[str]:
    return comparisons(*replay("area.theorem8").sides)[1]


@claim(FIVE, "two steps of slope −# where the other takes one of slope #: the server stands still")
def fedcompass_in_the_notebook() -> tuple[str, ...]:
    return slopes("fedcompass.theorem1")


@claim(FIVE, "two updates of slope −# against one of slope #, and the server goes round three points")
def fedfa_in_the_notebook() -> tuple[str, ...]:
    return slopes("fedfa.theorem1")
