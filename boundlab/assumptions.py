"""Assumptions of theorems, each stated once: its words, its subject, and what follows for a comparison."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal, final

from boundlab import registry


@final
@dataclass(frozen=True, slots=True)
class Assumption:
    """An assumption.

    Parameters
    ----------
    id
        How theorems, files and the command line name it.
    words
        What it says.
    of
        ``functions``: the problem answers for it (:meth:`boundlab.objective.Problem.assumptions`). ``run``: the
        algorithm does, with its parameters and the delays (:meth:`boundlab.algorithms.Algorithm.why_not`).
    mean
        Whether the theorem is then about the mean over random events, not about each schedule.
    independent
        Whether each event is drawn without regard to those before, so that the mean is one over all sequences.
    by_construction
        Whether every run meets it, or the schedule itself shows that it does not.
    noise
        Whether it says how large the noise of stochastic gradients may be. A theorem without any such assumption, and
        without a symbol of noise, is about full gradients: see ``deterministic``.
    fits
        What to run instead where it fails, for messages.
    check
        About functions: check(problem), a :class:`boundlab.objective.Problem` that does not answer for it by itself,
        returns '' if it is met, else why not. None: only a problem's own answer counts.
    defines
        The symbols that have a value because of it: without it they stand for nothing.
    implies
        Assumptions that whatever meets this one meets, too.
    along
        (metric, symbol, power), looked at run by run: at no server model is the metric, one of a single model, more
        than this power of the symbol, a constant of the start. () for all that is decided before a run.
    """

    id: str
    words: str
    of: Literal["functions", "run"] = "functions"
    mean: bool = False
    independent: bool = False
    by_construction: bool = False
    noise: bool = False
    fits: str = ""
    check: Callable[[Any], str] | None = None
    defines: tuple[str, ...] = ()
    implies: tuple[str, ...] = ()
    along: tuple[str, str, int] | tuple[()] = ()


DETERMINISTIC: Final = "deterministic"
UNCONSTRAINED: Final = "unconstrained"
COMPOSITE: Final = "composite"
BOUNDED_DOMAIN: Final = "bounded-domain"
BOUNDED_RUN: Final = "bounded-run"
FIXED_TIMES: Final = "fixed-compute-times"
CONSTANT_LAG: Final = "constant-lag"
UNBIASED: Final = "unbiased"
INEXACT: Final = "inexact-gradients"
RELATIVE: Final = "relative-inexact-gradients"
ERRORS: Final = (INEXACT, RELATIVE)


def _met(_problem: Any) -> str:
    return ""


def _why_noisy(problem: Any) -> str:
    return "" if problem.noiseless else "its gradients are stochastic; sigma=0, or full batches, would fit"


def _why_not_sampled(_problem: Any) -> str:
    return "nobody has found L_max and sigma_star of its stochastic gradients; least-squares would fit"


def _why_composite(problem: Any) -> str:
    if problem.simple is None:
        return ""
    words = problem.simple.words
    return (
        f"it minimises f with {words}; f alone would fit, or a theorem about f with {words} "
        "(boundlab list theorems --for …)"
    )


def _why_not_constrained(problem: Any) -> str:
    h = problem.simple
    return "" if h is None or h.bounded else f"its h is {h.words}; box or ball in its place would fit"


def _why_unbounded(problem: Any) -> str:
    h = problem.simple
    if h is not None and h.bounded:
        return ""
    return f"{'it is minimised over all of R^d' if h is None else f'its h is {h.words}'}; box or ball would fit"


def _why_run_unbounded(problem: Any) -> str:
    if problem.run_limit is not None:
        return ""
    if not problem.noiseless and problem.confinement() is None:
        return "nobody has found a bounded set that its noise does not leave; sigma=0 would fit"
    fits = "shorter steps, or full gradients of strongly convex f_i, would fit"
    return f"nobody has found a bounded set that its steps do not leave; {fits}"


def _why_different(problem: Any) -> str:
    keys = {problem.client_key(client) for client in range(problem.n)}
    alike = problem.n == 1 or (len(keys) == 1 and None not in keys)
    return "" if alike else "its clients have different functions; one client, or equal ones, would fit"


BUILT_IN: tuple[Assumption, ...] = (
    Assumption("convex", "every f_i is convex"),
    Assumption(
        "strongly-convex", "every f_i is mu-strongly convex", defines=("mu", "mu_i"), implies=("convex", "minimiser")
    ),
    Assumption("smooth", "every f_i has L-Lipschitz gradients", defines=("L", "L_sq", "L_i")),
    Assumption("lipschitz", "every f_i is convex and B-Lipschitz", defines=("B",), implies=("convex",)),
    Assumption(DETERMINISTIC, "(sub)gradients are full ones: they have no noise", check=_why_noisy),
    Assumption(
        "bounded-variance",
        "stochastic (sub)gradients are unbiased with variance at most sigma^2, each from a sample of its own, drawn "
        "independently of all others and of the events",
        noise=True,
        defines=("sigma", "sigma_l", "sigma_i"),
    ),
    Assumption(
        "sampled-functions",
        "stochastic gradients are those of convex L_max-smooth functions, drawn independently",
        noise=True,
        check=_why_not_sampled,
        defines=("L_max", "sigma_star"),
    ),
    Assumption("bounded-gradients", "every ‖∇f_i‖ is bounded", defines=("G_sq", "G")),
    Assumption("bounded-second-moment", "stochastic (sub)gradients have E‖g‖² ≤ G²", noise=True, defines=("G",)),
    Assumption("bounded-heterogeneity", "‖∇f_i − ∇f‖ ≤ sigma_g everywhere", defines=("sigma_g", "sigma_g_mean")),
    Assumption("bounded-below", "f is bounded below", defines=("F0",)),
    Assumption(
        "minimiser",
        "f has a minimiser with a certificate",
        defines=("R", "zeta", "G_star", "gap_i"),
        implies=("bounded-below",),
    ),
    # What every theorem assumes that does not say "composite": see boundlab.instance.
    Assumption(UNCONSTRAINED, "the objective is f alone: no constraint, and no h beside it", check=_why_composite),
    Assumption(COMPOSITE, "the objective is f, or F = f + h with a simple convex h", check=_met),
    Assumption(
        "constrained",
        "the objective is f on all of R^d or on a box or a ball",
        check=_why_not_constrained,
        implies=(COMPOSITE,),
    ),
    # What a theorem assumes beside it of values and gradients is about that set: see boundlab.instance.
    Assumption(
        BOUNDED_DOMAIN,
        "the objective is f on a box or a ball, and B, G, sigma and sigma_g are those on it",
        check=_why_unbounded,
        defines=("diameter",),
        implies=("constrained",),
    ),
    # What a theorem says that bounds gradients where a run goes, and projects nothing.
    Assumption(
        BOUNDED_RUN,
        "B, G, sigma and sigma_g are those on a bounded set that no step of the run leaves, or where the theorem says",
        check=_why_run_unbounded,
        defines=("diameter",),
    ),
    Assumption(
        "run-in-ball",
        "no server model of the run, from x0 to the last one, is further than R from the minimiser",
        check=lambda problem: _why_noisy(problem) or problem.why_not("minimiser"),
        implies=("minimiser",),
        along=("squared-distance", "R", 2),
    ),
    # What every theorem assumes that states none of the next two: see boundlab.instance.
    Assumption(UNBIASED, "(sub)gradients have no error beside noise of mean 0", check=_met),
    Assumption(
        INEXACT,
        "the mean of a stochastic (sub)gradient is at most delta_g from one of f_i; its noise is about that mean",
        check=_met,
        defines=("delta_g",),
    ),
    Assumption(
        RELATIVE,
        "the mean of a stochastic (sub)gradient is at most eps_g·‖∇f_i‖ from one of f_i; its noise is about that mean",
        check=_met,
        defines=("eps_g",),
    ),
    Assumption("one-function", "all clients have the same function", check=_why_different),
    Assumption(
        "iid-events",
        "events are i.i.d.: at each iteration client i with p_i, the server with p_s",
        "run",
        mean=True,
        independent=True,
        fits="exponential delays with the server poisson, or delays iid, would fit",
        defines=("p", "p_s", "p_min", "qbar", "rates", "lambda_s"),
    ),
    # Compilers never look at gradients.
    Assumption("fixed-schedule", "the schedule does not depend on the sampled gradients", "run", by_construction=True),
    Assumption(
        "stationary-participation",
        "given the past, client i enters a buffer with expected weight pi_i",
        "run",
        mean=True,
        fits="exponential or iid delays with equal weights would fit",
        defines=("chi2", "pi_max"),
    ),
    Assumption(
        "uniform-buffer",
        "every buffer is a uniform subset of the clients",
        "run",
        mean=True,
        fits="exponential delays of equal rates with reply=wait or count=1 would fit",
    ),
    Assumption(
        "uniform-sampling",
        "each step asks one client, drawn uniformly and independently of the others",
        "run",
        mean=True,
        independent=True,
        fits="an algorithm with sampling=uniform would fit",
    ),
    Assumption(
        "equal-weights",
        "every update of every client weighs 1/n, whatever its staleness and local steps",
        "run",
        fits="p, alpha and normalise at their defaults would fit",
    ),
    Assumption(
        FIXED_TIMES,
        "every update of client i takes compute[i] seconds at most, and nothing that is drawn moves an update",
        "run",
        fits="deterministic delays would fit",
        defines=("compute", "compute_sorted"),
    ),
    # A lag that is not constant is found when the schedule is read.
    Assumption(
        CONSTANT_LAG,
        "every update is used the same number of server updates after it was begun, x_(−j) = x0",
        "run",
        by_construction=True,
        fits="async_sgd with delays staleness:constant=3 would fit, or fedfa with mode=param and equal rates",
        defines=("lag", "C_lag"),
    ),
)
ASSUMPTIONS: Mapping[str, Assumption] = MappingProxyType({one.id: one for one in BUILT_IN})
RUN_ASSUMPTIONS: frozenset[str] = frozenset(one.id for one in BUILT_IN if one.of == "run")


@final
@dataclass(frozen=True, slots=True)
class Contradiction:
    """Assumptions that no problem meets at once.

    Parameters
    ----------
    among
        Their ids.
    why
        The proof, in a line.
    unless
        Assumptions beside which there is none: what is assumed of gradients is then about a bounded set, or may be.
    """

    among: tuple[str, ...]
    why: str
    unless: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The whole in one line."""
        return f"no problem meets {' and '.join(self.among)}: {self.why}"


_STEEP: Final = "‖∇f_i‖ ≥ mu·‖x − x_i*‖ has no bound on R^d"
_ON_A_SET: Final = (COMPOSITE, BOUNDED_RUN)  # a box or a ball implies the first
CONTRADICTIONS: tuple[Contradiction, ...] = (
    Contradiction(("strongly-convex", "lipschitz"), _STEEP, _ON_A_SET),
    Contradiction(("strongly-convex", "bounded-gradients"), _STEEP, _ON_A_SET),
    Contradiction(("strongly-convex", "bounded-second-moment"), f"{_STEEP}, and E‖g‖² ≥ ‖∇f_i‖²", _ON_A_SET),
    Contradiction((UNCONSTRAINED, BOUNDED_DOMAIN), "a box or a ball is a constraint"),
)


def contradiction(assumed: frozenset[str]) -> Contradiction | None:
    """Return why no problem meets these assumptions and what they imply; None where nothing is known to say so."""
    return next(
        (one for one in CONTRADICTIONS if assumed.issuperset(one.among) and assumed.isdisjoint(one.unless)), None
    )


def choices(name: str) -> Mapping[str, Assumption]:
    """Return the assumptions among which an id is looked for."""
    return registry.choices("assumptions", name, ASSUMPTIONS)


def assumption(name: str) -> Assumption:
    """Return the assumption of that id, built in or of a plug-in.

    Raises
    ------
    SpecError
        If there is none.
    """
    found: Assumption = registry.lookup("assumptions", name, ASSUMPTIONS)
    return found


def about_the_mean(names: Iterable[str]) -> bool:
    """Return whether a theorem with these assumptions bounds a mean over random events, not each schedule."""
    return any(assumption(name).mean for name in names)


def with_implied(names: Iterable[str]) -> frozenset[str]:
    """Return the ids, with those of all assumptions that they imply."""
    found: set[str] = set()
    stack = list(names)
    while stack:
        name = stack.pop()
        if name not in found:
            found.add(name)
            stack += assumption(name).implies
    return frozenset(found)


def definers(symbol: str) -> tuple[str, ...]:
    """Return the ids of the assumptions that define a symbol, those of plug-ins among them."""
    known: Mapping[str, Assumption] = {**ASSUMPTIONS, **registry.registered("assumptions")}
    return tuple(name for name, one in known.items() if symbol in one.defines)
