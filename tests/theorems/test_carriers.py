"""Carriers: a server that holds the weighted average of the iterates shows what the grammar of left sides says.

Its real iterate hides in another register. The last model of a carrier and an average of the grammar are one number, in
floats, in fractions and by moments.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from statements import statement

from boundlab.algorithms._algorithm import Rounds
from boundlab.algorithms.gd import GdParameters
from boundlab.case import delays_from, problem_from
from boundlab.compare import compare
from boundlab.delays import read_policy
from boundlab.events import Events
from boundlab.instance.plan import Plan, make_plan
from boundlab.tape import SERVER_MODEL, Initial, RecordAt, Tape, Writer

Weight = Callable[[int], Fraction]
TWO = "quadratic:clients=2,dimension=2,x0=1"
NOISY = "quadratic:clients=2,dimension=2,sigma=1,x0=1"
KINKED = "huber:clients=2,spread=1,x0=3"


@dataclass(frozen=True, slots=True)
class Span:
    """Weights of the models from one on."""

    weight: Weight
    begin: int = 0


class Carrier(Rounds[GdParameters]):
    """Gradient descent, or single local steps, behind a server model that is the weighted average of the iterates."""

    id = "gd"
    summary = "gradient descent behind its average"
    parameter_type = GdParameters
    step_size_symbols = ("alpha", "c")
    rule = "decay"

    def __init__(self, span: Span) -> None:
        self.span = span

    def schedule(
        self, parameters: GdParameters, events: Events, clients: int, records: RecordAt, iterations: int
    ) -> Tape:
        """Compile; each event is one iteration."""
        writer = Writer(events, clients, records, iterations)
        hidden, first, total = writer.register(Initial.START), writer.register(count=clients), Fraction(0)
        for event in range(len(events)):
            if writer.done:
                break
            k = writer.version
            own, together, size = range(first, first + clients), parameters.averaged(k), parameters.at(k)
            begin = [(to, hidden if together else to, i, parameters.steps, size) for i, to in enumerate(own)]
            runs = [writer.descend(*one) for one in begin]
            writer.begin(event)
            for run in runs:
                writer.arrive(run)
            weight = self.span.weight(k) if k >= self.span.begin else Fraction(0)
            total += weight
            share = weight / total if total else Fraction(1)
            # x_k joins the average before the hidden iterate goes on.
            writer.replace_model((float(1 - share), SERVER_MODEL), (float(share), hidden))
            writer.affine(hidden, *((1.0 / clients, to) for to in own))
            writer.end()
        return writer.tape()


LEFTS: dict[str, tuple[dict[str, str], Span]] = {
    "plain": ({}, Span(lambda _: Fraction(1))),
    "linear": ({"weights": "k + 1"}, Span(lambda k: Fraction(k + 1))),
    "growing": ({"weights": "2**k"}, Span(lambda k: Fraction(2**k))),
    "steps": ({"weights": "alpha_at(k)"}, Span(lambda k: Fraction(1, k + 2))),
    "suffix": ({"from": "2"}, Span(lambda _: Fraction(1), 2)),
}
UNIT = {"gap": "L*R**2", "distance": "R**2", "slope": "L**2*R**2"}


def plan_of(folder: Path, problem: str, last: int, left: dict[str, str], local: bool, algorithm: Any = None) -> Plan:
    options = {"decay": "1/(k + 2)", **({"iteration": "step", "M": "2"} if local else {})}
    one = statement(
        folder,
        metric="",
        assumptions="smooth minimiser bounded-variance",
        left=left,
        options=options,
        terms={"bound": UNIT[left["quantity"]]},
    )
    built, ks = problem_from(problem), np.array([last])
    delays = delays_from("deterministic", built.n)
    policy = read_policy(None, delays, "none", "gd")
    return make_plan(one, built, delays, policy, last, {"alpha": "1/4"}, ks=ks, algorithm=algorithm)


@pytest.mark.sweep(51)
@pytest.mark.parametrize("problem", [TWO, NOISY, KINKED])
@pytest.mark.parametrize("quantity", sorted(UNIT))
@pytest.mark.parametrize(("index", "k"), [("iteration", "k"), ("update", "t")])
@pytest.mark.parametrize("name", sorted(LEFTS))
@pytest.mark.parametrize("local", [False, True])
def test_a_carrier_and_the_grammar_show_the_same(
    tmp_path: Path, name: str, index: str, k: str, quantity: str, problem: str, local: bool
) -> None:
    """With noise by moments, without by floats; both enclosed."""
    more, span = LEFTS[name]
    for last in (3, 6):
        left = {"quantity": quantity, "index": index}
        grammar = {**left, "over": "average", **{key: text.replace("k", k) for key, text in more.items()}}
        plans = (
            plan_of(tmp_path, problem, last, grammar, local),
            plan_of(tmp_path, problem, last, {**left, "over": "last"}, local, Carrier(span)),
        )
        one, other = (compare(plan, 2, 0, exact=problem == NOISY or None).band for plan in plans)
        assert one.mean[-1] == pytest.approx(other.mean[-1], rel=1e-10)
        assert one.lower[-1] <= other.upper[-1]
        assert other.lower[-1] <= one.upper[-1]
