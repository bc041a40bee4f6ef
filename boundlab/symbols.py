"""Every symbol of every theorem, once: its meaning, its domain and its units.

Units are degrees (a, b): the symbol's behaviour under f → c·f (degree a) and x → s·x (degree b).
L and mu are (1, −2), B, G and sigma (1, −1), zeta and R (0, 1), function values (1, 0), step sizes
(−1, 2), probabilities and counts (0, 0). Rates of arrival are (0, 0): time is neither f nor x.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, final

import numpy as np
import sympy
from numpy.typing import ArrayLike, NDArray

from boundlab.errors import SymbolError
from boundlab.specs import nearest

Degrees = tuple[int, int]


@final
@dataclass(frozen=True, slots=True)
class Domain:
    """The values that a symbol may take: an interval of the reals or of the integers.

    Parameters
    ----------
    id
        Its name in TOML files: ``positive``, ``nonnegative``, ``real``, ``probability``, ``fraction``,
        ``count``, ``natural`` or ``above-one``.
    rule
        What a message says after "must be".
    low, high
        Ends of the interval; ``open_low`` excludes the lower one.
    integer
        Whether only integers belong to it.
    """

    id: str
    rule: str
    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    integer: bool = False

    def contains(self, value: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return, entry by entry, whether the value is finite and inside; same shape."""
        inside = np.isfinite(value) & (value <= self.high)
        inside &= value > self.low if self.open_low else value >= self.low
        if self.integer:
            inside &= value == np.floor(value)
        return np.asarray(inside)

    def symbol(self, name: str) -> sympy.Symbol:
        """Return a SymPy symbol with the assumptions of this domain."""
        assumptions: dict[str, bool] = {"real": True, "finite": True}
        if self.low > 0 or (self.low == 0 and self.open_low):
            assumptions["positive"] = True
        elif self.low == 0:
            assumptions["nonnegative"] = True
        if self.integer:
            assumptions["integer"] = True
        return sympy.Symbol(name, **assumptions)


DOMAINS: Mapping[str, Domain] = MappingProxyType(
    {
        domain.id: domain
        for domain in (
            Domain("positive", "> 0", low=0.0, open_low=True),
            Domain("nonnegative", "≥ 0", low=0.0),
            Domain("real", "a finite number"),
            Domain("probability", "in (0, 1]", low=0.0, high=1.0, open_low=True),
            Domain("fraction", "in [0, 1]", low=0.0, high=1.0),
            Domain("count", "an integer ≥ 1", low=1.0, integer=True),
            Domain("natural", "an integer ≥ 0", low=0.0, integer=True),
            Domain("above-one", "≥ 1", low=1.0),
        )
    }
)


@final
@dataclass(frozen=True, slots=True)
class SymbolInfo:
    """One symbol.

    Parameters
    ----------
    name
        How code, the command line and files spell it.
    symbol
        The SymPy symbol, with the assumptions of the domain.
    meaning
        What it is, in words that a message can quote.
    domain
        Its values.
    units
        Degrees (a, b) under f → c·f and x → s·x.
    latex, unicode
        How it is printed for people.
    vector
        Whether it stands for one number per client, shape (n,).
    """

    name: str
    symbol: sympy.Symbol
    meaning: str
    domain: Domain
    units: Degrees
    latex: str
    unicode: str
    vector: bool = False

    def describe(self) -> str:
        """Return meaning, domain and units in one line.

        Examples
        --------
        >>> lookup("sigma").describe()
        'noise level: the variance of a stochastic (sub)gradient is at most sigma²; ≥ 0; units (1, −1)'
        """
        a, b = (str(degree).replace("-", "−") for degree in self.units)
        each = "one number per client, " if self.vector else ""
        return f"{self.meaning}; {each}{self.domain.rule}; units ({a}, {b})"

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        return {
            "name": self.name, "meaning": self.meaning, "domain": self.domain.id, "units": list(self.units),
            "latex": self.latex, "unicode": self.unicode, "vector": self.vector,
        }  # fmt: skip


def make_symbol(
    name: str,
    meaning: str,
    domain: str,
    units: Degrees,
    latex: str = "",
    unicode: str = "",
    vector: bool = False,
) -> SymbolInfo:
    """Make a symbol; ``latex`` and ``unicode`` default to its name.

    Raises
    ------
    SymbolError
        If there is no such domain.
    """
    if domain not in DOMAINS:
        raise SymbolError(f"symbol {name}: unknown domain {domain!r}; {nearest(domain, DOMAINS)}")
    shown = latex or (name if len(name) == 1 else rf"\mathrm{{{name.replace('_', chr(92) + '_')}}}")
    return SymbolInfo(
        name, DOMAINS[domain].symbol(name), meaning, DOMAINS[domain], units, shown, unicode or name, vector
    )


_S = make_symbol
_STEP: Degrees = (-1, 2)
_TABLE: tuple[SymbolInfo, ...] = (
    # The functions.
    _S("mu", "strong convexity: every f_i is mu-strongly convex", "positive", (1, -2), r"\mu", "μ"),
    _S("L", "smoothness: every gradient of f_i is L-Lipschitz", "positive", (1, -2)),
    _S("B", "Lipschitz constant of every f_i: bounds its subgradients", "nonnegative", (1, -1)),
    _S("G", "bound on the norm of gradients", "nonnegative", (1, -1)),
    _S(
        "sigma", "noise level: the variance of a stochastic (sub)gradient is at most sigma²", "nonnegative",
        (1, -1), r"\sigma", "σ",
    ),
    _S("zeta", "heterogeneity: largest distance from x* to a minimiser of an f_i", "nonnegative", (0, 1),
       r"\zeta", "ζ"),
    _S("R", "initial distance ‖x_s,0 − x*‖", "nonnegative", (0, 1)),
    _S("G_star", "norms ‖∇f_i(x*)‖ of the client gradients at the optimum", "nonnegative", (1, -1),
       r"G^\star", "G*", vector=True),
    # The run.
    _S("n", "number of clients", "count", (0, 0)),
    _S("M", "local steps of an update", "count", (0, 0)),
    _S("K", "number of iterations (arrivals and aggregations alike)", "count", (0, 0)),
    _S("p", "probabilities p_i that an iteration is an arrival of client i", "probability", (0, 0), "p", "p",
       vector=True),
    _S("p_s", "probability that an iteration is an aggregation", "probability", (0, 0), "p_s", "pₛ"),
    _S("p_min", "smallest of p_s and all p_i", "probability", (0, 0), r"p_{\min}", "p_min"),
    _S("qbar", "average of 1/p_i over the clients", "above-one", (0, 0), r"\bar q", "q̄"),
    _S("rates", "arrival rates λ_i of the clients, per unit of time", "positive", (0, 0), r"\lambda_i", "λ_i",
       vector=True),
    _S("lambda_s", "rate of aggregations, per unit of time", "positive", (0, 0), r"\lambda_s", "λₛ"),
    # Step sizes.
    _S("alpha", "constant step size", "positive", _STEP, r"\alpha", "α"),
    _S("c", "numerator of the step size alpha_k = c/(k+d)", "positive", _STEP),
    _S("d", "offset of the step size alpha_k = c/(k+d)", "positive", (0, 0)),
    _S("D", "first step size α_0 of Theorem 7", "positive", _STEP, r"\mathcal{D}", "D"),
    _S("a0", "step size with which the first iteration answers", "positive", _STEP, "a_0", "a₀"),
    _S("a_init", "step size of the initial broadcast", "positive", _STEP, r"a_{\mathrm{init}}", "a_init"),
    # Short forms of the proofs.
    _S("A", "weighted squared initial distance (1/p_s + 2·qbar)·R²", "nonnegative", (0, 2)),
    _S("gamma", "contraction 2·mu·L/(mu+L)", "positive", (1, -2), r"\gamma", "γ"),
    _S("kappa", "condition number L/mu", "positive", (0, 0), r"\kappa", "κ"),
    _S("delta", "share of local steps after the first, 1 − 1/M", "fraction", (0, 0), r"\delta", "δ"),
    _S("r_p", "ratio p_s/p_min", "above-one", (0, 0), "r_p", "r_p"),
    _S("d_eff", "offset of the steps that iterations answer with: d, or d+1 with clock=algorithm", "positive",
       (0, 0), "d'", "d′"),
    _S("Ktilde", "shifted iteration count K + d − 1", "positive", (0, 0), r"\tilde K", "K̃"),
    _S("kg", "L/gamma", "positive", (0, 0), r"\kappa_\gamma", "κ_γ"),
    _S("q0", "first contraction exponent a0·M·gamma", "positive", (0, 0), "q_0", "q₀"),
    _S("W1", "weight exp(q0/3)", "positive", (0, 0), "W_1", "W₁"),
    _S("W2", "weight exp(q0/6)", "positive", (0, 0), "W_2", "W₂"),
    _S("d_ratio", "ratio d/(d−1)", "positive", (0, 0), r"\varphi", "φ"),
    _S("X0", "initial squared distances of the x_i to their targets", "nonnegative", (0, 2), "X_0", "X₀"),
    _S("Y0", "initial squared distances of the y_i to their targets", "nonnegative", (0, 2), "Y_0", "Y₀"),
    _S("Lam0", "initial value of the weighted Lyapunov function", "nonnegative", (0, 2), r"\Lambda_0", "Λ₀"),
    _S("Ns", "coefficient of sigma² in one iteration", "nonnegative", (-2, 4), r"N_\sigma", "N_σ"),
    _S("Nz", "coefficient of zeta² in one iteration", "nonnegative", (0, 0), r"N_\zeta", "N_ζ"),
)  # fmt: skip
SYMBOLS: Mapping[str, SymbolInfo] = MappingProxyType({info.name: info for info in _TABLE})


def lookup(name: str, symbols: Mapping[str, SymbolInfo] = SYMBOLS) -> SymbolInfo:
    """Return the symbol of that name.

    Raises
    ------
    SymbolError
        If there is none; the message names the nearest one.
    """
    if name not in symbols:
        raise SymbolError(f"unknown symbol {name!r}; {nearest(name, symbols)}")
    return symbols[name]


def symbol(name: str) -> sympy.Symbol:
    """Return the SymPy symbol of a built-in name."""
    return lookup(name).symbol


def check(name: str, value: ArrayLike, symbols: Mapping[str, SymbolInfo] = SYMBOLS) -> NDArray[np.float64]:
    """Return the value as float64, after making sure that every entry is finite and in the domain.

    Parameters
    ----------
    name
        A symbol of the table.
    value
        A number or an array of any shape; shape (n,) for a vector symbol.

    Raises
    ------
    SymbolError
        If the symbol is unknown, the value is not numeric or empty, or an entry is outside the domain.

    Examples
    --------
    >>> check("sigma", -1)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    boundlab.errors.SymbolError: sigma must be ≥ 0, got -1 (noise level: ...)
    """
    info = lookup(name, symbols)
    try:
        if isinstance(value, (str, bytes, bool)) or np.iscomplexobj(value):
            raise TypeError
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise SymbolError(f"{name} must be {info.domain.rule}, got {value!r} ({info.meaning})") from None
    if info.vector and numbers.ndim != 1:
        raise SymbolError(f"{name} must be a list of numbers, one per client ({info.meaning})")
    if numbers.size == 0:
        raise SymbolError(f"{name} is empty; give at least one number ({info.meaning})")
    outside = ~info.domain.contains(numbers)
    if outside.any():
        first = numbers[outside].flat[0]
        raise SymbolError(f"{name} must be {info.domain.rule}, got {first:.12g} ({info.meaning})")
    return numbers
