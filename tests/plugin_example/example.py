"""A plug-in with one of each: an algorithm, a metric, an assumption, a group of checks and a delay law."""

from dataclasses import dataclass

import numpy as np

from boundlab.algorithms import Algorithm, Parameters, option
from boundlab.assumptions import Assumption
from boundlab.checks import Check, group
from boundlab.delays import ByMean, renewal
from boundlab.metrics import Metric, Over, Quantity
from boundlab.tape import SERVER_MODEL, Initial, RecordAt, Writer


@dataclass(frozen=True, slots=True)
class RennalaParameters(Parameters):
    """The options, each with its help, its default and its limits."""

    alpha: float = option.number("step size", above=0.0)
    batch: int = option.integer("gradients of the present model that make a step (default 1)", 1, minimum=1)


class Rennala(Algorithm[RennalaParameters]):
    """Rennala SGD (Tyurin, Richtarik, NeurIPS 2023): x ← x − alpha·(mean of ``batch`` gradients taken at x)."""

    id = "myrennala"
    summary = "stale gradients are ignored; every batch of gradients of the present model makes a step"
    parameter_type = RennalaParameters

    def schedule(self, parameters, events, clients, records, iterations):
        """Compile; a client that has sent a gradient begins the next one at the present model."""
        writer = Writer(events, clients, records, iterations)
        mine, total, batch = writer.register(count=clients), writer.register(Initial.ZERO), []

        def begin(client):
            row = writer.descend(mine + client, SERVER_MODEL, client, 1, parameters.alpha)
            writer.affine(mine + client, (1.0, mine + client), (-1.0, SERVER_MODEL))
            return row, writer.version

        work = [begin(client) for client in range(clients)]
        for event, client in enumerate(events.actor.tolist()):
            if writer.done:
                break
            writer.begin(event)
            row, version = work[client]
            writer.arrive(row)
            if version == writer.version:
                batch.append(row)
                writer.affine(total, (1.0, total), (1.0, mine + client))
            else:
                writer.note("dropped", row)  # a stale gradient
            if len(batch) == parameters.batch:
                for one in batch:
                    writer.use(one, 1.0 / parameters.batch)
                writer.server_update((1.0 / parameters.batch, total))
                writer.affine(total)
                batch = []
            work[client] = begin(client)
            writer.end()
        return writer.tape()


class Best(Over):
    """The best of the iterates 0 … K; no share(k), since a minimum is no weighted mean."""

    def records(self, ks):
        """Return all iterates up to the last horizon."""
        return RecordAt(np.arange(int(ks[-1]) + 1))

    def complete(self, ks):
        """Return K + 1, the number of iterates that compete."""
        return ks + 1

    def fold(self, total, value):
        """Keep the smaller one."""
        return value if total is None else np.minimum(total, value)


def no_common_minimiser(problem):
    """Return '' if every ∇f_i vanishes at x*, up to rounding; else how far it is from that."""
    slopes = problem.gradient_norms_at_optimum()
    if slopes is None:
        return "no bound of ‖∇f_i(x*)‖ is known"
    return "" if slopes.max() <= 1e-12 else f"‖∇f_i(x*)‖ is up to {slopes.max():.3g}"


@group("stale", "a server that ignores stale updates has a bound without staleness")
def stale(view):
    """Ask a theorem about Rennala SGD, whose staleness is 0."""
    verdict, told, follows = "passed", "it reads none", ""
    if view.theorem.algorithm != Rennala.id:
        verdict, told = "not applicable", "the algorithm uses stale updates"
    elif {"tau_max", "tau_mean"} & set(view.inputs):
        verdict, told, follows = "failed", "it reads tau_max or tau_mean, and both are 0", "implies more"
    yield Check("stale.none", "no staleness is read", verdict, told, follows)


@dataclass(frozen=True, slots=True)
class Triangular(ByMean):
    """The symmetric triangular law on mean·[1 − width, 1 + width]."""

    mean: np.ndarray
    width: float

    def durations(self, u, client):
        """Invert the distribution function."""
        half = 1.0 - np.sqrt(2.0 * np.minimum(u[:, 0], 1.0 - u[:, 0]))  # 1 at the ends, 0 at the mean
        return self.mean[client] * (1.0 + self.width * np.where(u[:, 0] < 0.5, -half, half))


HELP = {"width": "half-width relative to the mean, 0 to 1 (default 0.5)"}
SYMBOLS = ("min_{j≤k} f(x_s,j) − f*", "E min_{j≤K} f(x_s,j) − f*", r"\mathbb{E}\min_{j\leq K}f(x_{s,j})-f^\star")
BOUNDLAB = {
    "algorithms": Rennala(),
    "metrics": Metric("best-gap", "gap of the best iterate", *SYMBOLS, Quantity.GAP, Best(), "K"),
    "assumptions": Assumption("interpolation", "all f_i share a minimiser", check=no_common_minimiser),
    "checks": stale,
    "delays": renewal(
        "triangular", "triangular times", HELP, lambda o, m: Triangular(m, o.number("width", 0.5, minimum=0, maximum=1))
    ),
}
