"""Expected staleness, and the weights and long-run shares π_i that follow from it, by formula and exactly.

The identity. Client i sends a fraction p_i of the updates, so 1/(b·p_i) server versions pass from one of its
updates to the next. It reads its model when it sends: at the version that its update will enter, or one later if
the update completes the buffer and the answer waits for the aggregation. Hence in the long run, whatever the delays,

    reply=post   E[τ_i] = 1/(b·p_i) − P(its own update completes the buffer)
    reply=pre    E[τ_i] = 1/(b·p_i)
    reply=wait   E[τ_i] = 1/(b·p_i) − 1

and the paper's (6), (1/p_i − 1)/b, is reply=post with probability 1/b, which i.i.d. arrivals have exactly.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, final

import numpy as np
import sympy
from numpy.typing import NDArray

from boundlab.delays import ServerPolicy
from boundlab.errors import SpecError
from boundlab.options import Options, nearest, number, one_of
from boundlab.randomness import Floats, Streams
from boundlab.registry import lookup
from boundlab.simulate.work import compile_trial
from boundlab.tape import NOTHING, Tape

Values = NDArray[Any]  # float64, or objects: Fractions and SymPy expressions stay exact
Kind = Literal["paper", "post", "pre", "wait"]
KINDS: tuple[Kind, ...] = ("paper", "post", "pre", "wait")
_LONGEST = 10**6


def as_rates(rates: Sequence[Any] | Values, what: str = "rates") -> Values:
    """Return an array of shape (n,); floats become float64, exact numbers and symbols stay what they are.

    Raises
    ------
    SpecError
        If there are none, or one is known not to be positive and finite.
    """
    given = list(rates)
    if not given:
        raise SpecError(f"{what} is an empty list; give one rate a client")
    if any(isinstance(value, sympy.Basic | Fraction) for value in given):
        found = np.empty(len(given), dtype=object)
        found[:] = given
    else:
        found = np.asarray(given, dtype=np.float64)
    for place, value in enumerate(given):
        unknown = isinstance(value, sympy.Basic) and not value.is_number
        if not unknown and not 0 < value < math.inf:
            raise SpecError(f"{what} must be > 0 and finite, got {value} for client {place}")
    return found


def check_buffer(b: int) -> int:
    """Return b if it is a buffer size.

    Raises
    ------
    SpecError
        If it is not an integer ≥ 1.
    """
    if isinstance(b, bool) or int(b) != b or b < 1:
        raise SpecError(f"the buffer size b must be an integer ≥ 1, got {b!r}")
    return int(b)


def frequencies(rates: Sequence[Any] | Values) -> Values:
    """Return p_i = r_i/Σr_j, shape (n,): the paper's (2)."""
    given = as_rates(rates)
    p: Values = given / given.sum()
    return p


def _identity(p: Any, b: Any, kind: str, completes: Any) -> Any:
    """Return E[τ_i]; works on floats, arrays, Fractions and SymPy expressions alike."""
    if kind == "paper":
        return (1 / p - 1) / b
    return 1 / (b * p) - {"post": completes, "pre": 0, "wait": 1}[kind]


def staleness_formula(kind: Kind = "paper") -> sympy.Expr:
    """Return E[τ_i] in the symbols p_i, b and P_c, the probability that an own update completes the buffer.

    Examples
    --------
    >>> print(staleness_formula("post"))
    -P_c + 1/(b*p_i)
    """
    p, b, completes = sympy.symbols("p_i b P_c", positive=True)
    return sympy.sympify(_identity(p, b, one_of(kind, KINDS, "kind"), completes))


def expected_staleness(
    rates: Sequence[Any] | Values, b: int, kind: Kind = "paper", completes: Sequence[Any] | Values | None = None
) -> Values:
    """Return each client's expected staleness, shape (n,), in server versions.

    Parameters
    ----------
    rates
        Shape (n,): long-run updates of each client per unit of time, in any unit. With ``wait`` these are the
        rates that come out, waiting included: no client can have p_i > 1/b. Floats, Fractions or SymPy symbols.
    b
        Updates in a full buffer.
    kind
        ``paper``: (Σ_j r_j/r_i − 1)/b. ``post``, ``pre``, ``wait``: the exact long-run identity for that ``reply``.
    completes
        Shape (n,), for ``post``: the probability that a client's own update completes the buffer; 1/b by default,
        which is exact for i.i.d. arrivals.

    Raises
    ------
    SpecError
        If a rate, b or the kind is out of range, or ``completes`` comes with another kind.

    Source
    ------
    FedStaleWeight, Section 4.2, equation (6); the identity is derived in docs/theory/fedstaleweight.md.

    Examples
    --------
    >>> expected_staleness([2, 1, 1], b=2).tolist()
    [0.5, 1.5, 1.5]
    """
    p, size = frequencies(rates), check_buffer(b)
    if completes is not None and one_of(kind, KINDS, "kind") != "post":
        raise SpecError(f"only kind='post' depends on who completes the buffer; leave completes out of {kind!r}")
    if completes is not None and len(completes) != len(p):
        raise SpecError(f"completes has {len(completes)} entries for {len(p)} clients; give one a client")
    share = Fraction(1, size) if p.dtype == object else 1.0 / size
    if isinstance(p[0], sympy.Basic):
        share = sympy.Rational(1, size)
    part = np.full(len(p), share) if completes is None else np.asarray(completes)
    if one_of(kind, KINDS, "kind") == "wait" and p.dtype != object and (p * size > 1.0 + 1e-9).any():
        worst = int(np.argmax(p))
        raise SpecError(
            f"with reply=wait no client sends more than 1/b = {1 / size:.4g} of the updates; client {worst} has "
            f"{p[worst]:.4g}: give the rates that come out, not those of the clients alone"
        )
    return np.asarray(_identity(p, size, kind, part))


def arrival_pattern(rates: Sequence[Any]) -> tuple[int, ...]:
    """Return who arrives, in order, over one period of clients that take exactly 1/r_i for each update.

    All start at time 0; at equal times the smaller index comes first.

    Raises
    ------
    SpecError
        If the period holds more than a million arrivals.

    Examples
    --------
    >>> arrival_pattern([2, 1])
    (0, 0, 1)
    """
    exact = [Fraction(rate) for rate in as_rates([Fraction(rate) for rate in rates])]
    # The first time at which everybody arrives: the least T with all T·r_i integers.
    common = Fraction(math.lcm(*(rate.denominator for rate in exact)), math.gcd(*(rate.numerator for rate in exact)))
    counts = [int(common * rate) for rate in exact]
    if sum(counts) > _LONGEST:
        raise SpecError(f"these rates repeat after {sum(counts)} arrivals; round them to simpler fractions")
    times = sorted(
        (k / rate, i) for i, (rate, count) in enumerate(zip(exact, counts, strict=True)) for k in range(1, count + 1)
    )
    return tuple(i for _, i in times)


@final
@dataclass(frozen=True, slots=True)
class Periodic:
    """Exact statistics of each client under a periodic order of arrivals.

    Parameters
    ----------
    pattern
        Who arrives, repeated for ever.
    b, reply
        Size of the buffer; ``post`` or ``pre``.
    p, staleness, completes
        Shape (n,) each, Fractions: part of the updates; mean staleness; part of the own updates that complete a
        buffer.
    """

    pattern: tuple[int, ...]
    b: int
    reply: str
    p: tuple[Fraction, ...]
    staleness: tuple[Fraction, ...]
    completes: tuple[Fraction, ...]

    def shares(self, weights: Sequence[Any]) -> tuple[Any, ...]:
        """Return the long-run shares π_i, shape (n,), of weights of shape (n,) that are normalised over each buffer."""
        total: list[Any] = [Fraction(0)] * len(self.p)
        repeated, count = self.pattern * self.b, len(self.pattern)
        for first in range(0, len(repeated), self.b):
            buffer = repeated[first : first + self.b]
            scale = count * sum(weights[i] for i in buffer)
            for i in buffer:
                total[i] += weights[i] / scale
        return tuple(total)

    def staleness_shares(self, scale: int | Fraction) -> tuple[Any, ...]:
        """Return the shares under weights 1 + scale·(observed mean staleness): where FedStaleWeight settles."""
        return self.shares([1 + scale * tau for tau in self.staleness])


def periodic(pattern: Sequence[int], b: int, reply: Literal["post", "pre"] = "post") -> Periodic:
    """Run one period: b repetitions of the pattern, after which buffer and models are where they were.

    Parameters
    ----------
    pattern
        Client indices, each of 0 … n−1 at least once.

    Raises
    ------
    SpecError
        If an index is missing, or the reply is neither post nor pre (with ``wait`` the arrivals depend on the
        aggregations, so there is no given pattern).

    Examples
    --------
    Two equally fast clients in turn: the second completes every buffer of 2 and is always fresh.

    >>> run = periodic([0, 1], b=2)
    >>> [int(tau) for tau in run.staleness], [str(share) for share in run.staleness_shares(2)]
    ([1, 0], ['3/4', '1/4'])
    """
    size, order = check_buffer(b), tuple(int(i) for i in pattern)
    n = max(order, default=-1) + 1
    if not order or set(order) != set(range(n)):
        raise SpecError("a pattern must name each of the clients 0 … n−1 at least once")
    if reply not in ("post", "pre"):
        raise SpecError(f"reply must be post or pre for a given order of arrivals, got {reply!r}")
    late = 1 if reply == "post" else 0
    repeated = order * size
    last = {client: k - len(repeated) for k, client in enumerate(repeated)}  # the period before
    tau, full, count = [0] * n, [0] * n, [0] * n
    for k, client in enumerate(repeated):
        # Before event k there are k//b versions; the model was read after event last[client], or just before its end.
        tau[client] += k // size - (last[client] + late) // size
        full[client] += (k + 1) % size == 0
        count[client] += 1
        last[client] = k
    return Periodic(
        order,
        size,
        reply,
        tuple(Fraction(c, len(repeated)) for c in count),
        tuple(Fraction(t, c) for t, c in zip(tau, count, strict=True)),
        tuple(Fraction(f, c) for f, c in zip(full, count, strict=True)),
    )


# Weights and the long-run shares π_i they give, by formula and exactly for i.i.d. arrivals.
#
# A client's update in a buffer has the weight w_i/Σ_k w_k, and π_i is its expected part of a buffer: if N_j of the
# b updates come from client j, multinomial with the probabilities p_j,
#
#     π_i = E[N_i·w_i / Σ_j N_j·w_j] = b·p_i·w_i ∫_0^∞ e^{−t·w_i} (Σ_j p_j·e^{−t·w_j})^{b−1} dt,
#
# since 1/W = ∫ e^{−tW} dt. In the mean field the denominator is replaced by its expectation.

Method = Literal["mean-field", "first-order", "enumeration", "quadrature"]
METHODS: tuple[Method, ...] = ("mean-field", "first-order", "enumeration", "quadrature")
WEIGHTS = ("equal", "E+1", "bE+1")
_MOST_BUFFERS = 200_000
_TOLERANCE = 1e-12


def read_scale(weights: str | float | Fraction, b: int) -> Any:
    """Return the scale of the weights 1 + scale·E[τ_i]: 0 for ``equal``, 1 for ``E+1``, b for ``bE+1``, or the number.

    Raises
    ------
    SpecError
        If the word is unknown or the number negative.
    """
    if isinstance(weights, str):
        if weights not in WEIGHTS:
            raise SpecError(f"weights must be a number or one of {', '.join(WEIGHTS)}; {nearest(weights, WEIGHTS)}")
        return {"equal": 0, "E+1": 1, "bE+1": check_buffer(b)}[weights]
    scale = weights if isinstance(weights, int | Fraction) else number(weights, "weights")
    if scale < 0:
        raise SpecError(f"weights: the scale of the staleness must be ≥ 0, got {scale}")
    return scale


def fair_weights(rates: Sequence[Any] | Values) -> Values:
    """Return 1/(n·p_i), shape (n,): the weights that make p_i·w_i equal for all clients, with Σ p_i·w_i = 1.

    They are (b·E[τ_i] + 1)/n with the paper's E[τ_i], for every b.

    Source
    ------
    FedStaleWeight, Sections 4.1 and 4.2, equations (7) and (8).

    Examples
    --------
    >>> fair_weights([2, 1, 1]).round(12).tolist()
    [0.666666666667, 1.333333333333, 1.333333333333]
    """
    p = frequencies(rates)
    return np.asarray(1 / (len(p) * p))


def staleness_weights(
    rates: Sequence[Any] | Values, b: int, weights: str | float | Fraction = "bE+1", kind: Kind = "paper"
) -> Values:
    """Return 1 + scale·E[τ_i], shape (n,), not normalised.

    Parameters
    ----------
    weights
        ``equal``, ``E+1`` (Algorithm 1 as printed), ``bE+1`` (the derivation), or the scale.
    kind
        Which expected staleness; see :func:`boundlab.mechanism.expected_staleness`.
    """
    return np.asarray(1 + read_scale(weights, b) * expected_staleness(rates, b, kind))


def normalised_weights(weights: Sequence[Any] | Values, buffer: Sequence[int]) -> Values:
    """Return the weight of each update of a buffer, shape (b,); they sum to 1.

    Parameters
    ----------
    weights
        Shape (n,), positive.
    buffer
        The clients whose updates are in the buffer; a client may stand there more than once.
    """
    chosen = as_rates(weights, "weights")[list(buffer)]
    return np.asarray(chosen / chosen.sum())


def long_run_shares(
    rates: Sequence[Any] | Values,
    b: int,
    weights: str | float | Fraction | Sequence[Any] | Values = "bE+1",
    method: Method = "mean-field",
) -> Values:
    """Return π_i, each client's long-run part of the aggregated weight, shape (n,); they sum to 1.

    Parameters
    ----------
    rates
        Shape (n,): floats; Fractions and SymPy symbols give exact answers where the method can.
    weights
        As in :func:`staleness_weights` with the paper's E[τ_i], or one positive weight a client, shape (n,).
    method
        ``mean-field``: p_i·w_i/Σ_j p_j·w_j, the limit b → ∞ at fixed weights.
        ``first-order``: with the term in 1/b, π_i + π_i·(Σ_j p_j·w_j² − m·w_i)/(b·m²), m = Σ_j p_j·w_j.
        ``enumeration``: the exact expectation over i.i.d. arrivals, all compositions of a buffer; small n and b.
        ``quadrature``: the same by a one-dimensional integral, any n and b, to about 1e-11; floats only.

    Raises
    ------
    SpecError
        If something is out of range, or there are too many buffers to enumerate.

    Examples
    --------
    One client twice as fast, buffers of 2: the fair weights leave 16/27 instead of 1/2.

    >>> long_run_shares([Fraction(2), Fraction(1)], 2, "bE+1", "enumeration").tolist()
    [Fraction(16, 27), Fraction(11, 27)]
    """
    p, size = frequencies(rates), check_buffer(b)
    one_of(method, METHODS, "method")
    if isinstance(weights, str | float | int | Fraction):
        w = staleness_weights(rates, size, weights)
    else:
        w = as_rates(weights, "weights")
    if len(w) != len(p):
        raise SpecError(f"{len(w)} weights for {len(p)} clients; give one a client")
    if method == "enumeration":
        return _enumerate(p, w, size)
    if method == "quadrature":
        return _integrate(p.astype(np.float64), w.astype(np.float64), size)
    mean = (p * w).sum()
    share = p * w / mean
    if method == "mean-field":
        return np.asarray(share)
    return np.asarray(share + share * ((p * w**2).sum() - mean * w) / (size * mean**2))


def _compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Return all ways to write ``total`` as an ordered sum of ``parts`` integers ≥ 0."""
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _compositions(total - first, parts - 1):
            yield (first, *rest)


def _enumerate(p: Values, w: Values, b: int) -> Values:
    n = len(p)
    buffers = math.comb(b + n - 1, n - 1)
    if buffers > _MOST_BUFFERS:
        raise SpecError(f"{buffers} different buffers of {b} from {n} clients are too many; use method='quadrature'")
    found = np.zeros(n, dtype=p.dtype) + 0 * w
    for counts in _compositions(b, n):
        chance: Any = math.factorial(b)
        for count, q in zip(counts, p, strict=True):
            chance = chance * q**count / math.factorial(count)
        part = np.array(counts, dtype=p.dtype) * w
        found = found + chance * part / part.sum()
    return np.asarray(found)


def _integrate(p: Floats, w: Floats, b: int) -> Floats:
    from scipy.integrate import quad_vec

    w = w / (b * float(p @ w))  # the integrand falls on the scale 1

    def integrand(t: float) -> Floats:
        decay = np.exp(-t * w)
        return np.asarray(b * p * w * decay * float(p @ decay) ** (b - 1))

    found, _ = quad_vec(integrand, 0.0, np.inf, epsabs=_TOLERANCE, epsrel=_TOLERANCE, norm="max")
    return np.asarray(found)


def share_slope(
    rates: Sequence[float] | Values, b: int, weights: str | float | Fraction = "bE+1", client: int = 0
) -> float:
    """Return ∂π_i/∂log r_i of the exact share under i.i.d. arrivals: positive where reporting more speed pays.

    All weights move with the report, since E[τ_j] = (Σr/r_j − 1)/b. For 0 ≤ scale ≤ b the slope is positive for
    all rates and every b (docs/theory/fedstaleweight.md).

    Parameters
    ----------
    rates
        Shape (n,).
    weights
        ``equal``, ``E+1``, ``bE+1`` or the scale.
    client
        i.
    """
    from scipy.integrate import quad_vec

    p, size = frequencies(rates).astype(np.float64), check_buffer(b)
    gamma = float(read_scale(weights, size)) / size
    i = client
    if size == 1:  # every buffer holds one update, of weight 1: π = p
        return float(p[i] * (1.0 - p[i]))
    w = 1.0 - gamma + gamma / p
    # Derivatives with respect to log r_i.
    dp = -p * p[i]
    dp[i] += p[i]
    dw = -gamma * dp / p**2
    unit = size * float(p @ w)

    def integrand(t: float) -> float:
        decay = np.exp(-t * w)
        total = float(p @ decay)
        change = float((dp - t * p * dw) @ decay)
        own = (dp[i] * w[i] + p[i] * dw[i] - t * p[i] * w[i] * dw[i]) * total
        return float(size * decay[i] * total ** (size - 2) * (own + (size - 1) * p[i] * w[i] * change))

    found, _ = quad_vec(lambda s: integrand(s / unit) / unit, 0.0, np.inf, epsabs=_TOLERANCE, epsrel=1e-10)
    return float(found)


# Staleness and shares as they happen: through the compiler of FedStaleWeight, with standard errors.


@final
@dataclass(frozen=True, slots=True)
class Sampled:
    """Means over independent trials, and their standard errors; each of shape (n,).

    Parameters
    ----------
    p
        Part of the updates.
    staleness
        Mean staleness of a client's updates.
    completes
        Part of a client's updates that complete the buffer.
    shares
        π_i: part of the aggregated weight.
    trials
        Their number; standard errors are standard deviations over trials divided by its root.
    """

    p: Floats
    p_se: Floats
    staleness: Floats
    staleness_se: Floats
    completes: Floats
    completes_se: Floats
    shares: Floats
    shares_se: Floats
    trials: int


def simulate_mechanism(
    rates: Sequence[float] | Values,
    b: int,
    weights: str | float | Fraction = "bE+1",
    *,
    delays: str = "exponential",
    reply: str = "post",
    aggregations: int = 400,
    trials: int = 8,
    seed: int = 0,
    burn: float = 0.5,
) -> Sampled:
    """Compile independent trials of FedStaleWeight and read the mechanism off their tapes.

    The weights are the algorithm's own, from moving averages over all that was observed, so what is seen after the
    burn-in is close to, not at, their limit.

    Parameters
    ----------
    rates
        Shape (n,): updates per unit of time of a client that never waits.
    weights
        ``equal``, ``E+1``, ``bE+1`` or the scale.
    delays
        A delay model with the option ``rates``; ``exponential`` makes i.i.d. arrivals.
    reply
        ``post``, ``pre`` or ``wait``.
    aggregations, trials, seed
        Server updates a trial, at least 2; trials, at least 2; the seed.
    burn
        Part of each trial that is left out at its start.

    Raises
    ------
    SpecError
        If an option is out of range.
    """
    given = as_rates(rates).astype(np.float64)
    if trials < 2 or aggregations < 2 or not 0.0 <= burn < 1.0:
        raise SpecError(
            f"a simulation needs trials ≥ 2, aggregations ≥ 2 and 0 ≤ burn < 1, got {trials}, {aggregations}, {burn:g}"
        )
    n, size = len(given), check_buffer(b)
    algorithm = lookup("algorithms", "fedstaleweight")
    options = {"eta_l": 1.0, "count": size, "scale": float(read_scale(weights, size)), "reply": reply}
    parameters = algorithm.read(Options("algorithm fedstaleweight", options))
    model = lookup("delays", delays).build(Options(f"delays {delays}", {"rates": given.tolist()}), n)
    rows = []
    for trial in range(trials):
        tape = compile_trial(
            algorithm, parameters, n, model, ServerPolicy("own", 0.0), aggregations, NOTHING, Streams(seed, trial)
        )
        rows.append(_observe(tape, int(burn * aggregations)))
    # Shape (trials, 4, n).
    table = np.array(rows)
    mean, error = table.mean(axis=0), table.std(axis=0, ddof=1) / np.sqrt(trials)
    return Sampled(
        p=mean[0],
        p_se=error[0],
        staleness=mean[1],
        staleness_se=error[1],
        completes=mean[2],
        completes_se=error[2],
        shares=mean[3],
        shares_se=error[3],
        trials=trials,
    )


def _observe(tape: Tape, first: int) -> list[Floats]:
    """Return p, mean staleness, completions and shares after the first server updates."""
    n, descend = tape.clients, tape.descend
    rows = np.flatnonzero(descend.arrival >= 0)
    event = descend.arrival[rows]
    rows, event = rows[tape.version[event] >= first], event[tape.version[event] >= first]
    client = descend.client[rows]
    count = np.bincount(client, minlength=n)
    if (count == 0).any():
        raise SpecError(f"client {int(np.argmin(count))} sent nothing in a trial; make aggregations larger")
    tau = tape.version[event] - descend.version[rows]
    full = tape.version[event + 1] > tape.version[event]
    used = tape.uses.version >= first
    weight = np.bincount(descend.client[tape.uses.update[used]], weights=tape.uses.weight[used], minlength=n)
    return [
        count / count.sum(),
        np.bincount(client, weights=tau, minlength=n) / count,
        np.bincount(client, weights=full, minlength=n) / count,
        weight / weight.sum(),
    ]
