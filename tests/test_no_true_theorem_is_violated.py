"""No theorem that is true is called violated, whatever the options of algorithm, problem and delays are.

What an instance does not fit ends with exit 4 or 2, and that is fine; only a false `violated` counts here. Options and
their words are read off the help, so that a new option of any algorithm takes part by itself.
"""

import os
import re
from typing import Any

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from instance_makers import BUILT_IN, fitting

from boundlab.assumptions import about_the_mean
from boundlab.build import delays_from, problem_from
from boundlab.compare import compare
from boundlab.errors import BoundlabError
from boundlab.instance import make_plan
from boundlab.instance.settings import options_of, rates
from boundlab.registry import lookup
from boundlab.theorems import Theorem
from boundlab.verdict import Verdict

EXAMPLES = int(os.environ.get("BOUNDLAB_EXAMPLES", "50")) * 2 // 5
TRUE = sorted(name for name, theorem in BUILT_IN.items() if theorem.status != "as printed")
# A sample refutes a true bound with probability at most 1 − LEVEL: never, in as many examples as there will be.
LEVEL = 0.9999999
DELAYS = (
    "exponential", "exponential:spread=5", "deterministic", "deterministic:spread=3", "uniform", "lognormal",
    "two-speed", "markov", "iid:p_s=0.3", "iid", "gamma", "per-step:jitter=0.1",
)  # fmt: skip
MEMORYLESS = ("exponential", "exponential", "exponential:spread=5", "iid:p_s=0.3", "iid")
SERVERS = (None, None, None, None, "poisson:rate=2", "count:every=2", "count:every=3", "periodic:every=1")
FAMILIES = (
    "huber", "pseudo-huber", "lad", "quadratic", "max-affine", "smoothed-max-affine", "logistic", "softmax", "hinge",
    "lad-regression",
)  # fmt: skip
CURVED = ("quadratic", "quadratic", "logistic", "softmax")
STEEP = ("huber", "huber", "pseudo-huber", "lad", "max-affine", "smoothed-max-affine", "logistic", "hinge")
SMOOTH = ("huber", "huber", "pseudo-huber", "smoothed-max-affine", "logistic")
NUMBERS = ("0", "0.25", "0.5", "1", "1.5", "2", "3", "5")
FACTORS = (0.01, 0.1, 0.5, 0.9, 1.0, 1.0000000000001, 1.1, 2.0, 3.9)


def entries(draw: Any, count: int, choices: tuple[str, ...]) -> str:
    return f"[{','.join(draw(st.sampled_from(choices)) for _ in range(count))}]"


def families(theorem: Theorem) -> tuple[str, ...]:
    """Return the families of problems that mostly meet the assumptions; any may be asked now and then."""
    assumed = set(theorem.assumptions)
    if "strongly-convex" in assumed:
        return CURVED
    return SMOOTH if "smooth" in assumed else STEEP


@st.composite
def problem_specs(draw: Any, theorem: Theorem) -> tuple[str, int]:
    """Return a small problem, and its number of clients."""
    n = 1 if theorem.algorithm == "proximal_point" else draw(st.integers(1, 3))
    often = draw(st.integers(0, 9)) > 0
    quiet = often and fitting(theorem).quiet
    kind = draw(st.sampled_from(families(theorem) if often else FAMILIES))
    centres, weights = ("-2", "0", "0.5", "1", "4"), ("0.1", "1", "3")
    parts: list[str] = []
    if kind in ("huber", "pseudo-huber", "lad"):
        parts += [f"c={entries(draw, n, centres)}", f"w={entries(draw, n, weights)}"]
        parts += [f"delta={draw(st.sampled_from(('0.1', '1', '10')))}"] if kind != "lad" else []
    elif kind == "quadratic":
        A = ",".join(f"[[{draw(st.sampled_from(weights))}]]" for _ in range(n))
        b = ",".join(f"[{draw(st.sampled_from(centres))}]" for _ in range(n))
        parts += [f"A=[{A}]", f"b=[{b}]"]
    elif kind in ("max-affine", "smoothed-max-affine"):
        parts += [f"clients={n}", "pieces=2", f"dimension={draw(st.integers(1, 2))}", f"seed={draw(st.integers(0, 3))}"]
    else:
        rows = [entries(draw, 2, ("-1", "0", "1", "2")) for _ in range(2 * n)]
        targets = ",".join(draw(st.permutations(["0", "1"] * n)))
        owners = ",".join(str(client) for client in range(n) for _ in range(2))
        parts += [f"features=[{','.join(rows)}]", f"targets=[{targets}]", f"owners=[{owners}]"]
        nu = ("0.1", "1") if often and families(theorem) is CURVED else ("0",) if often else ("0", "0.1")
        batch = ("full",) if quiet else ("full", "1")
        parts += [f"nu={draw(st.sampled_from(nu))}", f"batch={draw(st.sampled_from(batch))}"]
        parts += [
            f"weights={draw(st.sampled_from(('equal', 'size', 'paper')))}",
            f"bias={draw(st.sampled_from(('yes', 'no')))}",
        ]
        parts += ["solver=newton"] if kind in ("logistic", "softmax") else []
    if kind in ("huber", "pseudo-huber", "lad", "quadratic", "max-affine", "smoothed-max-affine"):
        parts += [f"sigma={draw(st.sampled_from(('0',) if quiet else ('0', '0.3')))}"]
    parts += [f"x0={draw(st.sampled_from(('0', '0.5', '3')))}"]
    return f"{kind}:{','.join(parts)}", n


def words_of(line: str) -> list[str]:
    """Return what a line of help may name: words, and words with options."""
    return sorted({*re.findall(r"[a-z][a-z_-]+(?::[a-z]=[0-9.]+(?:,[a-z]=[0-9.]+)?)?", line)})


@st.composite
def option_values(draw: Any, theorem: Theorem, clients: int) -> dict[str, str]:
    """Return values for some options of the algorithm: words of its help, numbers, or one number a client."""
    algorithm = lookup("algorithms", theorem.algorithm)
    chosen: dict[str, str] = {}
    for name in sorted(options_of(theorem, algorithm)):
        if draw(
            st.integers(0, 20 if name in theorem.options or (name == "count" and algorithm.server == "any") else 3)
        ):
            continue
        kind = draw(st.integers(0, 3))
        words = words_of(algorithm.parameters[name])
        if kind == 0 and clients > 1:
            chosen[name] = entries(draw, clients, NUMBERS[1:])
        elif kind <= 2 and words:
            chosen[name] = draw(st.sampled_from(words))
        else:
            chosen[name] = draw(st.sampled_from(NUMBERS))
    return chosen


@pytest.mark.parametrize("name", TRUE)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_no_true_theorem_is_violated(name: str, data: st.DataObject) -> None:
    theorem = BUILT_IN[name]
    algorithm = lookup("algorithms", theorem.algorithm)
    spec, clients = data.draw(problem_specs(theorem))
    often = data.draw(st.integers(0, 9)) > 0
    delays = data.draw(st.sampled_from(MEMORYLESS if often and about_the_mean(theorem.assumptions) else DELAYS))
    servers = (None, "poisson:rate=2") if often else SERVERS
    server = data.draw(st.sampled_from(servers)) if algorithm.server == "any" else None
    base = dict(fitting(theorem).settings) if data.draw(st.booleans()) else {}
    if "speeds" in base:
        base["speeds"] = ["[1]", "[1,2]", "[1,1,2]"][clients - 1]
    base = {option: value for option, value in base.items() if option not in rates(theorem, algorithm)}
    chosen = base | data.draw(option_values(theorem, clients))
    iterations = data.draw(st.sampled_from((1, 2, 3, 5, 12, 30)))
    for symbol in sorted({"N", "D"} & set(theorem.settable)):
        if data.draw(st.booleans()):
            chosen[symbol] = data.draw(st.sampled_from(("1", "2", "3") if symbol == "N" else ("0.01", "0.05", "0.2")))
    factor = {
        rate: data.draw(st.sampled_from(FACTORS)) for rate in sorted(rates(theorem, algorithm) & theorem.free() - {"K"})
    }
    note(f"{name} -p '{spec}' -d '{delays}' --server {server} -k {iterations} {chosen} {factor}")
    try:
        problem = problem_from(spec)
        model = delays_from(delays, clients)
        policy = algorithm.policy(server, model)
        required = {rate: "0.05" for rate in factor if theorem.step.get(rate) == theorem.symbols[rate].symbol}
        plan = make_plan(theorem, problem, model, policy, iterations, {**chosen, **required}, trials=2)
        own = {
            rate: repr(by * plan.parameter_values[rate]) for rate, by in factor.items() if rate in plan.parameter_values
        }
        if data.draw(st.booleans()):
            plan = make_plan(theorem, problem, model, policy, iterations, {**chosen, **own}, trials=2)
        found = compare(plan, trials=2 if problem.noiseless and plan.schedules else 12, seed=0, level=LEVEL)
    except BoundlabError:
        return
    assert found.verdict is not Verdict.VIOLATED, found.reason


@pytest.mark.parametrize("name", TRUE)
def test_the_same_way_reaches_a_verdict_on_an_instance_that_fits(name: str) -> None:
    theorem = BUILT_IN[name]
    found = compare(fitting(theorem).plan(theorem), trials=8, seed=0)
    assert found.verdict in (Verdict.HOLDS, Verdict.CONSISTENT, Verdict.INCONCLUSIVE)
    assert found.verdict is not Verdict.INCONCLUSIVE or theorem.shape or "more trials" in found.reason
