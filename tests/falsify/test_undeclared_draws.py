"""No judge takes one run of an algorithm that draws for the mean, whatever is declared; nor one that cannot repeat."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from boundlab.audit import audit
from boundlab.case import load_case
from boundlab.compare import compare
from boundlab.errors import AssumptionError, BoundlabError
from boundlab.exact import evaluate
from boundlab.falsify import falsify
from boundlab.instance.fitting import CompareOptions
from boundlab.registry import using
from boundlab.theorems import Theorem, load_theorem
from boundlab.worst_case import worst_case

# Steps 1/L, each with probability keep: E ‖x_T − x*‖² ≤ (1 − keep·(1 − (1 − mu/L)²))^T R², and no run without a step is
# below that.
PLUGIN = """
from dataclasses import dataclass
import numpy as np
from boundlab.algorithms import Algorithm, Draw, Parameters, option
from boundlab.events import Events
from boundlab.randomness import Stream
from boundlab.tape import SERVER_MODEL, Writer

@dataclass(frozen=True, slots=True)
class CoinParameters(Parameters):
    alpha: float = option.number("step size", above=0.0)
    keep: float = option.number("probability of a step", above=0.0, maximum=1.0)

class CoinGd(Algorithm):
    id, summary, parameter_type = "coin_gd", "gradient descent that rests now and then", CoinParameters
    DRAWS

    def sample(self, parameters, delays, policy, streams, clients, count):
        u = COINS
        coins = tuple((int(v < parameters.keep),) for v in u)
        return Events(np.arange(1.0, count + 1), np.zeros(count, dtype=np.int32), coins)

    def schedule(self, parameters, events, clients, records, iterations):
        writer = Writer(events, clients, records, iterations)
        own = writer.register(count=clients)
        for event, (coin,) in enumerate(events.detail):
            if writer.done:
                break
            runs = [writer.descend(own + i, SERVER_MODEL, i, 1, parameters.alpha) for i in range(clients)]
            writer.begin(event)
            for run in runs:
                writer.arrive(run)
            mean = [(1.0 / clients, own + i) for i in range(clients)]
            writer.replace_model(*(mean if coin else [(1.0, SERVER_MODEL)]))
            writer.end()
        return writer.tape()

    READ

BOUNDLAB = {"algorithms": CoinGd()}
"""
READ = """
    def read_events(self, raw, clients, where):
        coins = tuple((int(row[2]),) for row in raw)
        return Events(np.array([float(row[0]) for row in raw]), np.zeros(len(raw), dtype=np.int32), coins)
"""
DECLARED = 'draws = (Draw("coins", "the coins", ("keep",), lambda one, _: one.keep < 1.0),)'
STREAMS = "streams.uniforms(Stream.SCHEDULE, 0, 0, count)[0]"
THEOREM = """id = "coin-gd"
algorithm = "coin_gd"
metric = "squared-distance"
assumptions = ["strongly-convex", "smooth", "minimiser", "deterministic"]
[symbols.keep]
meaning = "probability of a step"
domain = "probability"
units = [0, 0]
[parameters]
keep = "keep"
[step]
alpha = "1/L"
[terms]
bound = "BOUND*R**2"
"""
TRUE = "(1 - keep*(1 - (1 - mu/L)**2))**K"
NUMBERS = count()
PROBLEM = {"type": "quadratic", "A": [[[1]], [[3]]], "b": [[0], [4]]}


@pytest.fixture
def coin_gd(tmp_path: Path) -> Iterator[Any]:
    """Return what makes the theorem about such an algorithm; it is registered until the test ends."""
    with ExitStack() as stack:

        def make(draws: str = "", coins: str = STREAMS, read: str = READ, bound: str = TRUE) -> Theorem:
            path, file = tmp_path / f"coin{len(list(tmp_path.iterdir()))}.py", tmp_path / "coin.toml"
            name = f"coin_gd_{next(NUMBERS)}"  # searches keep the algorithm of a name
            text = PLUGIN.replace("coin_gd", name).replace("DRAWS", draws or "pass").replace("COINS", coins)
            text = text.replace("    READ\n", read)
            path.write_text(text, encoding="utf-8")
            file.write_text(THEOREM.replace("coin_gd", name).replace("BOUND", bound), encoding="utf-8")
            stack.close()
            stack.enter_context(using([path]))
            return load_theorem(str(file))

        yield make


def case_of(theorem: Theorem, folder: Path, when: dict[str, Any]) -> Any:
    path = folder / "case.json"
    raw = {"algorithm": theorem.algorithm, "problem": PROBLEM, "x0": [4], **when}
    raw["parameters"] = {"keep": 0.5, "alpha": 1 / 3}
    path.write_text(json.dumps(raw), encoding="utf-8")
    return load_case(path)


COMPARE: dict[str, Any] = {
    "problem": "quadratic:A=[[[1]],[[3]]],b=[[0],[4]],x0=4",
    "delays": "deterministic",
    "iterations": 6,
    "settings": {"keep": "0.5"},
}
NOT_SAID = r"coin_gd_\d+ draws 1 number an event and does not say so"


def compared(theorem: Theorem, trials: int = 2, **changes: Any) -> str:
    plan = CompareOptions(theorem, **{**COMPARE, **changes}).plan()
    return str(compare(plan, trials, 0).verdict.value)


@pytest.mark.nightly
def test_no_judge_takes_one_run_for_the_mean(coin_gd: Any, tmp_path: Path) -> None:
    theorem = coin_gd()
    with pytest.raises(AssumptionError, match=NOT_SAID):
        compared(theorem)
    for when in ({"delays": "deterministic", "iterations": 2}, {"events": [[1, 0, 0], [2, 0, 0]]}):
        with pytest.raises(AssumptionError, match=NOT_SAID):
            evaluate(theorem, case_of(theorem, tmp_path, when))
    found = falsify(theorem, limit=10)
    assert not found.violated
    assert any("does not say so" in reason for reason in found.refused)
    with pytest.raises(BoundlabError, match=NOT_SAID):
        worst_case(theorem, iterations=2, settings={"L": "1", "mu": "1/4", "keep": "1/2"})
    assert audit(theorem, budget=20.0, candidates=5).verdict != "violated"
    # With random delays trials are drawn, coins and all.
    assert compared(theorem, delays="exponential", trials=60) in ("consistent", "inconclusive", "holds")


def test_what_is_declared_is_averaged(coin_gd: Any) -> None:
    assert compared(coin_gd(DECLARED), trials=60) in ("consistent", "inconclusive", "holds")


@pytest.mark.parametrize(
    "coins",
    [
        f"0.499999 * {STREAMS}",  # every coin shows the same side
        "np.random.default_rng([streams.seed, streams.trial]).random(count)",  # past the streams
        "np.random.default_rng().random(count)",
    ],
)
def test_whether_runs_draw_is_observed(coin_gd: Any, coins: str) -> None:
    with pytest.raises(AssumptionError, match=r"coin_gd_\d+ draws .* and does not say so"):
        compared(coin_gd(coins=coins), settings={"keep": "0.5"})


def test_a_run_that_nobody_can_repeat_is_shown_and_refutes_nothing(coin_gd: Any) -> None:
    # A false bound, no draw, and events that no file can hold.
    theorem = coin_gd(coins="np.zeros(count)", read="", bound="(keep/1000)**K")
    found = falsify(theorem, limit=4)
    assert not found.violated
    assert found.best is not None
    assert found.best.ratio > 1.0
    assert "boundlab exact cannot repeat it: its case file: event 1 must be [time, actor]" in found.best.method
    assert falsify(coin_gd(coins="np.zeros(count)", bound="(keep/1000)**K"), limit=4).violated
