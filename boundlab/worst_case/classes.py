"""Which functions a theorem is about, as a class that PEPit knows."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, final

import numpy as np

from boundlab.arithmetic.rational import Exact, exact, fraction
from boundlab.assumptions import DETERMINISTIC, ERRORS, UNCONSTRAINED, assumption, definers
from boundlab.errors import AssumptionError, SpecError, SymbolError
from boundlab.formulas.symbols import SYMBOLS, ZERO_WITHOUT_NOISE, having
from boundlab.metrics import Quantity
from boundlab.theorems import Theorem, at_lowest

_UNITS = ("R", "B", "L", "F0")
_KNOWN = frozenset(
    {
        "convex",
        "strongly-convex",
        "smooth",
        "lipschitz",
        "bounded-variance",
        "bounded-gradients",
        "bounded-second-moment",
        "bounded-heterogeneity",
        "bounded-below",
        "minimiser",
        DETERMINISTIC,
        UNCONSTRAINED,
        *ERRORS,
    }
)
# By what is assumed, the first that fits: the class, the constants that PEPit wants, words. Where f is Lipschitz and
# smooth the inequalities are sufficient, too: the gradients of the smooth interpolant are means of those at the points.
_CLASSES = (
    (("lipschitz", "smooth"), "SmoothConvexLipschitzFunction", ("M", "L"), "convex, {M:g}-Lipschitz, {L:g}-smooth"),
    (("lipschitz",), "ConvexLipschitzFunction", ("M",), "convex and {M:g}-Lipschitz"),
    (
        ("strongly-convex", "smooth"),
        "SmoothStronglyConvexFunction",
        ("mu", "L"),
        "{L:g}-smooth and {mu:g}-strongly convex",
    ),
    (("strongly-convex",), "StronglyConvexFunction", ("mu",), "{mu:g}-strongly convex"),
    (("convex", "smooth"), "SmoothConvexFunction", ("L",), "convex and {L:g}-smooth"),
    (("convex",), "ConvexFunction", (), "convex"),
    (("smooth",), "SmoothFunction", ("L",), "{L:g}-smooth"),
)
_CONSTANTS = {
    "M": ("B", "f_i is B-Lipschitz"),
    "L": ("L", "f_i is L-smooth"),
    "mu": ("mu", "f_i is mu-strongly convex"),
}
# What the program takes from the values: constants of the functions, and how far the start is away.
CONSTANTS = having("function", "heterogeneity", "start") - {"L_sq", "L_max"} | {"G"}


def noise(theorem: Theorem) -> tuple[str, ...]:
    """Return what makes a theorem one about gradients with noise: its assumptions on noise, else symbols of noise."""
    named = tuple(name for name in theorem.core.asked if assumption(name).noise)
    if named or theorem.core.noiseless:
        return named
    own = having("noise", symbols=theorem.symbols) - at_lowest(theorem.conditions, theorem.symbols)
    return tuple(name for name in theorem.inputs() if name in own)


def undefined(theorem: Theorem, values: Mapping[str, Any], clients: int) -> tuple[str, ...]:
    """Return the symbols of functions that a theorem reads and no assumption defines, and its own, in words."""
    assumed = theorem.core.assumed
    if "convex" in assumed:
        assumed |= {"minimiser", "bounded-below"}  # the program holds an x*
    out = []
    for name in theorem.inputs(values):
        if name not in SYMBOLS:
            out.append(f"{name} (a symbol of its own)")
        elif clients == 1 and SYMBOLS[name].role == "heterogeneity":
            continue
        elif name in CONSTANTS and not assumed & set(definers(name)):
            out.append(f"{name} (no assumption of the theorem defines it)")
    return tuple(out)


@final
@dataclass(frozen=True, slots=True)
class FunctionClass:
    """Class of functions: what is known of every f_i, and of f.

    Parameters
    ----------
    kind
        The name of PEPit's class.
    constants
        Its parameters, by PEPit's names.
    words
        The class for people.
    gradient_square
        ‖∇f_i‖² is at most this, unit (2, −2); None where nothing is known or the class says it.
    deviation
        ‖∇f_i − ∇f‖ is at most this, unit (1, −1); None where nothing is known.
    minimiser
        Whether the program holds a minimiser x*; else it knows inf f only.
    relaxed
        Why the program may be larger than the class, or '': then its optimum is the worst case itself.
    rounded
        Whether L is there only to avoid ties between pieces.
    errors
        Of gradients that a run takes, by symbol: delta_g is how long they are at most, eps_g the same over the length
        of the gradient. Empty: there are none.
    """

    kind: str
    constants: Mapping[str, Exact]
    words: str
    gradient_square: Exact | None
    deviation: Exact | None
    minimiser: bool
    relaxed: str
    rounded: bool = False
    errors: Mapping[str, float] = field(default_factory=dict)

    @property
    def curvatures(self) -> tuple[Fraction, Fraction]:
        """The least curvature, and 1/L, which is 0 where gradients may jump."""
        inverse = 1 / fraction(self.constants["L"]) if "L" in self.constants else Fraction(0)
        least = -1 / inverse if self.kind == "SmoothFunction" else fraction(self.constants.get("mu", Exact(0)))
        return least, inverse

    def slightly_smooth(self, share: float, radius: float) -> "FunctionClass":
        """Return convex Lipschitz functions whose kinks are rounded off a little.

        The piece that a function of this class has at one of the program's points is above the others there by
        ‖g_i − g_j‖²/(2L), so that the maximum of the pieces has the same subgradients, without ties.

        Parameters
        ----------
        share
            L = B/(share·radius).
        """
        bound = self.constants["M"]
        constants = {"L": bound / (exact(share) * exact(radius)), "M": bound}
        kind = "SmoothConvexLipschitzFunction"
        return replace(self, kind=kind, constants=constants, gradient_square=None, minimiser=True, rounded=True)


def require_alike(theorem: Theorem) -> None:
    """Refuse constants of single clients, and what holds at every x: the inequalities are those of classes.

    Raises
    ------
    AssumptionError
        Naming one that the theorem reads.
    """
    if theorem.assume:
        raise AssumptionError(
            f"{theorem.id} assumes {', '.join(theorem.assume)} at every x (assume), of which worst-case knows no "
            "interpolation inequalities"
        )
    each = [name for name in theorem.read if theorem.symbols[name].vector and name != "G_star"]
    for name in sorted(one for one in each if theorem.symbols[one].role != "schedule"):
        raise AssumptionError(
            f"{theorem.id} reads {name}, one number per client, which worst-case has no inequalities for"
        )


def function_class(theorem: Theorem, values: Mapping[str, Any], clients: int) -> FunctionClass:
    """Return the class of a theorem.

    Parameters
    ----------
    values
        The constants by symbol: L, mu, B, G_sq, G, sigma_g as far as the assumptions need them.

    Raises
    ------
    AssumptionError
        If the assumptions name no class that has interpolation inequalities.
    SymbolError
        If a constant is missing.
    """
    assumed = theorem.core.assumed
    for name in sorted(name for name in set(theorem.core.asked) - _KNOWN if assumption(name).of == "functions"):
        raise AssumptionError(f"{theorem.id} assumes {name}, of which worst-case knows no interpolation inequalities")

    def constant(name: str, why: str, *, zero: bool = False) -> Exact:
        if name not in values:
            raise SymbolError(f"{theorem.id}: worst-case needs {name} ({why}); set {name}=…")
        number = float(np.asarray(values[name]).reshape(-1)[0])
        if not (number > 0.0 or (zero and number == 0.0)) or not np.isfinite(number):
            raise SymbolError(f"{theorem.id}: worst-case needs {name} > 0 ({why}), got {number:g}")
        return exact(number)

    assumptions = [assumption(name) for name in theorem.core.errors]
    errors = {symbol: constant(symbol, one.words, zero=True) for one in assumptions for symbol in one.defines}
    if errors and "bounded-second-moment" in assumed:
        raise AssumptionError(
            f"{theorem.id}: worst-case knows no G of gradients with errors; bounded-gradients would fit"
        )
    square = None
    if "bounded-gradients" in assumed and not assumed & {"lipschitz"}:
        if "G_sq" not in theorem.inputs(values) and "G" in theorem.inputs(values):
            largest = constant("G", "‖∇f_i‖ ≤ G")
            square = largest * largest
        else:
            square = constant("G_sq", "‖∇f_i‖² ≤ G_sq")
    if "bounded-second-moment" in assumed:
        second = constant("G", "full gradients have ‖∇f_i‖ ≤ G")
        square = second * second
    deviation = None
    if "bounded-heterogeneity" in assumed and clients > 1:
        name = "sigma_g" if "sigma_g" in theorem.inputs() else "sigma_g_mean"
        deviation = exact(float(np.asarray(values.get(name, 0.0)).reshape(-1)[0]))
    relaxed = []
    kind, names, words = next((row[1:] for row in _CLASSES if assumed.issuperset(row[0])), ("", (), ""))
    if not kind:
        raise AssumptionError(
            f"{theorem.id} assumes {', '.join(theorem.core.asked)}: worst-case needs convex, strongly-convex, "
            "smooth or lipschitz among them"
        )
    constants = {name: constant(*_CONSTANTS[name]) for name in names}
    words = words.format(**constants)
    if {"mu", "L"} <= constants.keys() and not constants["mu"].value < constants["L"].value:
        mu, L = constants["mu"], constants["L"]
        raise SpecError(f"{theorem.id}: worst-case needs mu < L, got mu = {mu:g}, L = {L:g}")
    if square is not None and kind == "ConvexFunction":
        words = f"convex with ‖g‖² ≤ {square:g}"
    if square is not None and kind != "ConvexFunction":
        words += f", ‖∇f_i‖² ≤ {square:g}"
        relaxed.append("gradients are bounded at the visited points only")
    if deviation is not None:
        words += f", ‖∇f_i − ∇f‖ ≤ {deviation:g}"
        relaxed.append("the clients' gradients are compared at recorded points only")
    if errors := errors if all(errors.values()) else {}:
        sizes = (f", ‖e(x)‖ ≤ {size:g}{'·‖∇f_i(x)‖' * (name == 'eps_g')}" for name, size in errors.items())
        words += f"; a gradient taken at x has an error e(x){''.join(sizes)}"
    about = sorted({*assumption("minimiser").defines} & set(theorem.inputs(values)))
    minimiser = kind != "SmoothFunction"
    if kind == "SmoothConvexFunction" and clients == 1 and theorem.left.quantity is Quantity.SLOPE:
        # f ≥ inf f says all of it; x* itself may be arbitrarily far, and the program without an optimum.
        minimiser = bool(about)
    unknown = about if not minimiser else []
    if unknown:
        relaxed.append(f"there is no x* in it that {' and '.join(unknown)} could bound")
    if not minimiser and clients > 1:
        relaxed.append("f ≥ inf f is asked for at recorded points only")
    because = "; ".join(relaxed)
    return FunctionClass(kind, constants, words, square, deviation, minimiser, because, errors=errors)


def fill(theorem: Theorem, values: dict[str, Any], clients: int) -> tuple[str, ...]:
    """Fill in units, and what has only one value without noise or with one client; return the names."""
    read = {*theorem.inputs(values)}
    found = []
    candidates: dict[str, Any] = {**dict.fromkeys(sorted(ZERO_WITHOUT_NOISE), 0.0), **dict.fromkeys(_UNITS, 1.0)}
    if clients == 1:
        apart = sorted(having("heterogeneity"))
        candidates |= {name: np.zeros(1) if SYMBOLS[name].vector else 0.0 for name in apart}
    for name, value in candidates.items():
        if name in read and name not in values:
            values[name] = value
            if name in _UNITS:
                found.append(name)
    return tuple(found)
