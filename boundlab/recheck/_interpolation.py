"""What functions of a class are known to obey at any two points: Taylor, Hendrickx and Glineur (2017), Theorem 4."""

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from boundlab.recheck._forms import Form, Vector, inner, minus


@final
@dataclass(frozen=True, slots=True)
class Sample:
    """A point, a (sub)gradient there and the value there.

    Parameters
    ----------
    x, g
        Combinations of the basis.
    f
        A combination of function values, or a constant.
    """

    x: Vector
    g: Vector
    f: Form


def interpolation(one: Sample, other: Sample, mu: Fraction, inverse: Fraction) -> Form:
    """Return the form that is ≤ 0 for functions of curvature between mu and L; equal to 0 where it is attained.

    f_i ≥ f_j + ⟨g_j, x_i − x_j⟩ + (‖g_i − g_j‖²/L + μ‖x_i − x_j‖² − (2μ/L)⟨g_i − g_j, x_i − x_j⟩)/(2(1 − μ/L)).

    Parameters
    ----------
    one, other
        The samples i and j.
    mu
        μ; 0 for convex functions, −L for smooth ones that need not be convex.
    inverse
        1/L; 0 for functions that need not be smooth. It must be below 1/μ.
    """
    x, g = minus(one.x, other.x), minus(one.g, other.g)
    share = 1 / (2 * (1 - mu * inverse))
    found = other.f.plus(one.f, Fraction(-1)).plus(inner(other.g, x))
    found = found.plus(inner(g, g, share * inverse)).plus(inner(x, x, share * mu))
    return found.plus(inner(g, x, -2 * share * mu * inverse))


def gradient_bound(one: Sample, square: Fraction) -> Form:
    """Return ‖g_i‖² − square, which is ≤ 0."""
    return inner(one.g, one.g).plus(Form(constant=-square))
