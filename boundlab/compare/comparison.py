"""The outcome of a comparison, with everything that it rests on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundlab.__about__ import __version__
from boundlab.case import as_json, provenance
from boundlab.compare.confidence import Band
from boundlab.compare.judge import ratio_of
from boundlab.compare.trials import trial_events
from boundlab.compare.trivial_bound import TrivialBound
from boundlab.compare.unsampled import random_events
from boundlab.files import Document, json_value, schema
from boundlab.instance.membership import Membership, of_runs
from boundlab.instance.plan import Plan
from boundlab.instance.ranges import MetricEnclosure
from boundlab.simulate.simulation import NUMPY, Backend
from boundlab.tape import Statistics
from boundlab.theorems import Theorem, core
from boundlab.verdict import Verdict

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The outcome of a comparison.

    Parameters
    ----------
    band
        Of the left side at plan.ks; what it says is ``sampled``. Where the bound depends on the schedule, each
        trial counts relative to the bound of its own schedule, scaled by their harmonic mean ``bound``: the
        theorem then says that the mean is at most ``bound``, and a left side that is the same in all trials
        stays what it is.
    bound, terms
        Shape (points,) each: the harmonic mean of the right sides of the trials' schedules, and its named
        terms in the proportions of their averages.
    reason
        One sentence on why the verdict is what it is.
    worst_trial
        The trial with the largest ratio, whose events go into a case file.
    exact
        ``expectation``: the left side is E over all events and noise, computed; ``given schedules``: each trial is
        E over the noise given its schedule; empty: samples.
    trivial_bound
        How the bound compares with a run that stays at x0.
    range_
        Of the left side of a sample, for every event sequence and batch; None where nothing is known, or nothing
        was sampled.
    backend
        Where the trials ran.
    """

    plan: Plan
    band: Band
    bound: Floats
    terms: Mapping[str, Floats]
    verdict: Verdict
    reason: str
    seed: int
    statistics: Statistics
    worst_trial: int
    trivial_bound: TrivialBound
    exact: str = ""
    range_: MetricEnclosure | None = None
    backend: Backend = NUMPY

    @property
    def membership(self) -> Membership | None:
        """Membership of the runs in the class of the theorem's proof, decided when asked; None where it has none."""
        return of_runs(self.plan, self.band.trials, self.seed)

    @property
    def theorem(self) -> Theorem:
        """Compared theorem."""
        return self.plan.theorem

    @property
    def vacuous(self) -> str:
        """Why a theorem that was not refuted is vacuous here; empty where it is not."""
        upheld = self.verdict in (Verdict.HOLDS, Verdict.CONSISTENT)
        return self.trivial_bound.words(self.plan.theorem.horizon_symbol) if upheld else ""

    @property
    def headline(self) -> str:
        """The verdict, and whether the bound is vacuous."""
        return f"{self.verdict.value}, but vacuous here" if self.vacuous else self.verdict.value

    @property
    def explanation(self) -> str:
        """Explanation that follows the headline."""
        return f"{self.vacuous}; {self.reason}" if self.vacuous else self.reason

    @property
    def ratio(self) -> Floats:
        """How close the bound came: mean/bound, shape (points,); 0 where both are 0."""
        return ratio_of(self.bound, self.band)

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields with the full provenance."""
        plan, left, membership = self.plan, self.band, self.membership
        return {
            "schema": schema("comparison"),
            "boundlab": __version__,
            "provenance": provenance(plan.theorem, plan.problem, plan.delays, plan.policy, plan.parameters),
            "theorem": plan.theorem.id,
            **({"asked": plan.asked} if plan.asked else {}),
            "core": core(plan.theorem).sha256,
            "status": plan.theorem.status,
            **plan.theorem.links(),
            "metric": plan.metric.id,
            "problem": plan.problem.spec(),
            "objective": plan.objective,
            "delays": plan.delays.id,
            "rates": {"values": plan.delays.rates().tolist(), "how": plan.delays.how_rates},
            "server": plan.policy.describe(),
            "algorithm": plan.algorithm.id,
            "parameters": {key: json_value(value) for key, value in plan.parameter_values.items()},
            "iterations": plan.iterations,
            "trials": left.trials,
            "seed": self.seed,
            "backend": self.backend.as_dict(),
            "level": left.level,
            "method": left.method,
            "kind": "numeric" if self.exact == "expectation" or left.level == 1.0 else "sampled",
            "exact": self.exact,
            "upper_guaranteed": left.guaranteed or left.level == 1.0,
            "range": None if self.range_ is None else {"high": json_value(self.range_.high), "how": self.range_.how},
            **({"membership": membership.words} if membership else {}),
            "no_step": self.trivial_bound.as_dict(),
            "values": {key: json_value(value) for key, value in plan.values.items()},
            "constants": {name: constant.as_dict() for name, constant in plan.constants.items()},
            "symbols": [reading.as_dict() for reading in plan.symbols],
            "optimum": _optimum(plan) if plan.metric.over.one_record else None,
            "outside": dict(plan.outside),
            "statistics": self.statistics.as_dict(),
            "rows": [
                {
                    "k": int(k),
                    "mean": json_value(left.mean[row]),
                    "lower": json_value(left.lower[row]),
                    "upper": json_value(left.upper[row]),
                    "bound": json_value(self.bound[row]),
                    "ratio": json_value(self.ratio[row]) if self.bound[row] else None,
                    "terms": {name: json_value(term[row]) for name, term in self.terms.items()},
                }
                for row, k in enumerate(plan.ks)
            ],
            "verdict": self.verdict.value,
            "reason": self.reason,
        }

    @property
    def case(self) -> Document:
        """A case file of the worst trial: its events, the problem, the constants and the claim.

        ``boundlab run`` runs it with full gradients; the sampled run itself is repeated by the recorded seed, delays
        and server policy. Where the theorem is about the mean over schedules, ``boundlab exact`` takes their law.
        """
        plan = self.plan
        problem = dict(plan.problem.spec())
        start = {"x0": problem.pop("x0")} if "x0" in problem else {}
        row = int(np.argmax(self.ratio))
        if self.exact == "expectation":
            schedule = random_events(plan)
        elif plan.metric.in_seconds:  # events do not say how long an update takes
            schedule = {"delays": as_json(plan.delays.spec())}
        else:
            events = trial_events(plan, self.seed, self.worst_trial)
            schedule = {"events": plan.algorithm.events_as_json(events)}
            if plan.schedules is None or plan.schedules.averaged:  # the theorem is about the mean over schedules
                schedule["law"] = {"delays": as_json(plan.delays.spec()), "server": plan.policy.spec()}
        parameters = {key: json_value(value) for key, value in plan.parameter_values.items()}
        return Document(
            {
                "schema": schema("case"),
                "algorithm": plan.algorithm.id,
                "problem": problem,
                **start,
                "parameters": parameters,
                **schedule,
                "theorem": plan.theorem.id,
                "iterations": plan.iterations,
                "settings": {one.name: one.value for one in plan.symbols if one.origin == "yours"},
                "constants": {name: constant.as_dict() for name, constant in plan.constants.items()},
                "symbols": [reading.as_dict() for reading in plan.symbols],
                "seed": self.seed,
                "trial": self.worst_trial,
                "provenance": provenance(plan.theorem, plan.problem, plan.delays, plan.policy, plan.parameters),
                "claim": {
                    "k": int(plan.ks[row]),
                    "bound": json_value(self.bound[row]),
                    "mean": json_value(self.band.mean[row]),
                    "lower": json_value(self.band.lower[row]),
                    "level": self.band.level,
                    "trials": self.band.trials,
                },
            }
        )


def _optimum(plan: Plan) -> dict[str, Any]:
    best = plan.problem.optimum()
    return {"value": best.value, "gap": best.gap, "distance": best.distance, "how": best.how}
