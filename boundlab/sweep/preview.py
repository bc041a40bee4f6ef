"""A look at a sweep before it runs: how many cells, which do not apply, about how long."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from boundlab.algorithms import Algorithm
from boundlab.case.build import delays_from
from boundlab.errors import BoundlabError
from boundlab.pages.blocks import Block, table, words
from boundlab.registry import lookup
from boundlab.simulate.parallel import processes
from boundlab.sweep.cell import Cell
from boundlab.sweep.plan import SweepPlan
from boundlab.sweep.question import key, problem_of, theorem_of
from boundlab.sweep.worker import Warm

_LOOKED_AT, _TIMED = 1000, 10


def preview(plan: SweepPlan, jobs: int | None) -> Iterator[Block]:
    """Yield what a sweep would do, as blocks."""
    number = plan.total()
    yield words(f"{number} cells of {plan.run.ask}, of {plan.size()} in the whole grid")
    looked = _spread(plan.cells(), number, _LOOKED_AT)
    reasons = Counter(filter(None, map(why_not, looked)))
    if reasons:
        share = "" if len(looked) == number else f" (of {len(looked)} that were looked at)"
        rows = [(why, str(number)) for why, number in reasons.most_common()]
        yield table(f"cells that do not apply{share}", ("why", "cells"), rows, numbers=(1,))
    warm, most = Warm(memory=plan.run.memory), plan.run.seconds
    try:
        warm.ask(looked[0], key(looked[0]), most)  # begins the process
        timed = _spread(iter(looked), len(looked), _TIMED)
        spent = [float(warm.ask(cell, key(cell), most).get("seconds", most)) for cell in timed]
    finally:
        warm.stop()
    mean, many = float(np.mean(spent)), processes(jobs)
    yield words(
        f"about {_time(mean * number / many)} with {many} processes: {mean:.2g} s a cell, the mean of {len(spent)}"
    )


def why_not(cell: Cell) -> str:
    """Return why a cell does not apply; empty where it does, or where only the answer says."""
    try:
        theorem = theorem_of(cell.theorem)
        if cell.run.ask == "compare":
            from boundlab.instance import make_plan

            algorithm: Algorithm[Any] = lookup("algorithms", theorem.algorithm)
            problem = problem_of(cell.problem)
            delays = delays_from(cell.delays, problem.n)
            policy = algorithm.policy(cell.server or None, delays)
            make_plan(
                theorem,
                problem,
                delays,
                policy,
                cell.run.iterations[0],
                dict(cell.settings),
                trials=cell.run.trials,
                seed=cell.seed,
                forms=True,
            )
    except BoundlabError as error:
        return str(error)
    return ""


def _spread(cells: Iterator[Cell], number: int, few: int) -> list[Cell]:
    """Return a few of so many cells, evenly over them."""
    places = set(np.linspace(0, number - 1, min(few, number)).astype(int).tolist())
    return [cell for place, cell in enumerate(cells) if place in places]


def _time(seconds: float) -> str:
    for unit, size in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2.0 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.1f} s"
