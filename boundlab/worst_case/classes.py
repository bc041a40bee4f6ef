"""Which functions a theorem is about, as a class that PEPit knows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from boundlab.arithmetic.rational import Exact, exact
from boundlab.assumptions import DETERMINISTIC, UNCONSTRAINED, assumption, definers
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
    }
)
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
    """

    kind: str
    constants: Mapping[str, Exact]
    words: str
    gradient_square: Exact | None
    deviation: Exact | None
    minimiser: bool
    relaxed: str
    rounded: bool = False

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
        return FunctionClass(
            "SmoothConvexLipschitzFunction", constants, self.words, None, self.deviation, True, self.relaxed, True
        )


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

    def constant(name: str, why: str) -> Exact:
        if name not in values:
            raise SymbolError(f"{theorem.id}: worst-case needs {name} ({why}); set {name}=…")
        number = float(np.asarray(values[name]).reshape(-1)[0])
        if not number > 0.0 or not np.isfinite(number):
            raise SymbolError(f"{theorem.id}: worst-case needs {name} > 0 ({why}), got {number:g}")
        return exact(number)

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
    if "lipschitz" in assumed:
        B = constant("B", "f_i is B-Lipschitz")
        if "smooth" in assumed:
            L = constant("L", "f_i is L-smooth")
            kind, constants = "SmoothConvexLipschitzFunction", {"L": L, "M": B}
            # Sufficient too: the gradients of the smooth convex interpolant are means of those at the points.
            words = f"convex, {B:g}-Lipschitz, {L:g}-smooth"
        else:
            kind, constants, words = "ConvexLipschitzFunction", {"M": B}, f"convex and {B:g}-Lipschitz"
    elif "strongly-convex" in assumed and "smooth" in assumed:
        mu, L = constant("mu", "f_i is mu-strongly convex"), constant("L", "f_i is L-smooth")
        if not mu.value < L.value:
            raise SpecError(f"{theorem.id}: worst-case needs mu < L, got mu = {mu:g}, L = {L:g}")
        kind, constants = "SmoothStronglyConvexFunction", {"mu": mu, "L": L}
        words = f"{L:g}-smooth and {mu:g}-strongly convex"
    elif "strongly-convex" in assumed:
        mu = constant("mu", "f_i is mu-strongly convex")
        kind, constants, words = "StronglyConvexFunction", {"mu": mu}, f"{mu:g}-strongly convex"
    elif "convex" in assumed and "smooth" in assumed:
        L = constant("L", "f_i is L-smooth")
        kind, constants, words = "SmoothConvexFunction", {"L": L}, f"convex and {L:g}-smooth"
    elif "convex" in assumed:
        kind, constants, words = "ConvexFunction", {}, "convex"
        if square is not None:
            words = f"convex with ‖g‖² ≤ {square:g}"
    elif "smooth" in assumed:
        L = constant("L", "f_i is L-smooth")
        kind, constants, words = "SmoothFunction", {"L": L}, f"{L:g}-smooth"
    else:
        raise AssumptionError(
            f"{theorem.id} assumes {', '.join(theorem.core.asked)}: worst-case needs convex, strongly-convex, "
            "smooth or lipschitz among them"
        )
    if square is not None and kind != "ConvexFunction":
        words += f", ‖∇f_i‖² ≤ {square:g}"
        relaxed.append("gradients are bounded at the visited points only")
    if deviation is not None:
        words += f", ‖∇f_i − ∇f‖ ≤ {deviation:g}"
        relaxed.append("the clients' gradients are compared at recorded points only")
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
    return FunctionClass(kind, constants, words, square, deviation, minimiser, "; ".join(relaxed))


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
