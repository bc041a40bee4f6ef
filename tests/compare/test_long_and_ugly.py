"""Long runs on ugly instances: rounding makes no true theorem ``violated``, and no false one ``holds``."""

import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import sympy
from run_makers import plan_of

from boundlab.compare import compare
from boundlab.errors import BoundlabError
from boundlab.registry import registered
from boundlab.theorems import FormulaBound, load_theorem
from boundlab.verdict import Verdict

BATTERY = sorted((Path(__file__).parents[1] / "battery" / "theorems").glob("*.toml"))
THEOREMS = registered("theorems")
TRUE = [*sorted(name for name, one in THEOREMS.items() if not one.of_paper), *map(str, BATTERY)]
SMOOTH = ("quadratic", "huber", "logistic", "pseudo-huber", "smoothed-max-affine")
SHARP = ("lad", "max-affine", "hinge")
HORIZONS = (10, 30, 100, 300, 1000, 3000, 10_000)
LONGEST = 20_000  # rows of a tape, about: iterations times clients


class Run(NamedTuple):
    """What :func:`verdict` is asked."""

    theorem: str
    problem: str
    delays: str
    iterations: int
    settings: dict[str, str]
    seed: int


def runs(seed: int, longest: int = HORIZONS[-1]) -> Iterator[Run]:
    """Draw instances without end, most of which fit their theorems."""
    rng = random.Random(seed)  # noqa: S311  (no cryptography)
    while True:
        name = rng.choice(TRUE)
        theorem = load_theorem(name)
        strong, smooth = ("strongly-convex" in theorem.assumptions), ("smooth" in theorem.assumptions)
        kinds = ("quadratic", "quadratic", "logistic") if strong else SMOOTH if smooth else (*SHARP, "huber")
        kind, scale = rng.choice(kinds), rng.choice(("1", "1", "1e-12", "1e12"))
        options = {"clients": str(rng.randint(1, 4)), "seed": str(rng.randint(0, 9))}
        if kind in ("quadratic", "huber", "lad", "max-affine", "pseudo-huber"):
            options |= {"dimension": str(rng.choice((2, 3)))}
        if kind == "quadratic":
            options |= {"mu": f"{0.2 * float(scale)!r}", "L": f"{2.0 * float(scale)!r}"}
        if kind in ("logistic", "hinge") and strong:
            options |= {"nu": "0.1"}
        if rng.random() < 0.4 and kind not in ("logistic", "hinge", "smoothed-max-affine"):
            options |= {"x0": rng.choice(("0", "1e6", "1e-6", "3"))}
        if rng.random() < 0.5 and kind not in ("logistic", "hinge"):
            options |= {"sigma": f"{0.5 * float(scale)!r}"}
        problem = f"{kind}:" + ",".join(f"{key}={value}" for key, value in options.items())
        delays = rng.choice(("exponential", "deterministic", *sorted(registered("delays"))))
        clients = int(options["clients"])
        K = rng.choice([one for one in HORIZONS if one <= min(longest, LONGEST // clients)])
        settings = {rate: f"{0.01 / float(scale)!r}" for rate in theorem.free() if rate in theorem.step}
        yield Run(name, problem, delays, K, settings, rng.randint(0, 99))


def verdict(run: Run, factor: float = 1.0) -> Any:
    """Return what ``compare`` says of a run where the bound is so much larger, or None if it does not fit."""
    try:
        theorem = load_theorem(run.theorem)
        if factor != 1.0:
            more = sympy.Rational(Fraction(factor))
            terms = {name: more * term for name, term in theorem.bound.expressions().items()}
            theorem = replace(theorem, bound=FormulaBound(terms), written={})
        return compare(plan_of(theorem, run.problem, run.delays, run.iterations, **run.settings), 2, run.seed)
    except BoundlabError:
        return None


@pytest.mark.slow  # long runs
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(2, 40))])
def test_no_true_theorem_is_violated_and_no_false_twin_holds_however_long_and_ugly_a_run_is(seed: int) -> None:
    fitting, drawn = 0, runs(seed, 100 if seed == 1 else HORIZONS[-1])
    for _, run in zip(range(12 if seed == 1 else 60), drawn, strict=False):
        found = verdict(run)
        assert found is None or found.verdict is not Verdict.VIOLATED, (run, found.reason)
        fitting += found is not None
        if found is not None and found.band.lower[-1] > 0 and load_theorem(run.theorem).bound.closed:
            twin = verdict(run, float(found.band.lower[-1] / found.bound[-1]) / 2.0)
            assert twin is None or twin.verdict is not Verdict.HOLDS, (run, twin.reason)
    assert fitting > (2 if seed == 1 else 10)
