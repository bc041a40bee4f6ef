"""Linear forms in function values and in the Gram matrix of a basis, with fractions as coefficients."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, TypeVar, final

# What is wrong with a file.


class WrongError(Exception):
    """A line of a certificate, or of a proof, that is wrong, and why."""


# Objects and lists as they stand in a file: of the kind, the size and with the keys that are known.

_MOST = 1 << 16


def only(own: dict[str, Any], keys: Iterable[str], where: str) -> dict[str, Any]:
    """Return an object that has no other keys; raises if it has one: it may say what nobody looks at."""
    if more := sorted(own.keys() - set(keys)):
        raise WrongError(f"{where}: {', '.join(more)[:80]!r} is no key that is known here")
    return own


def as_list(raw: Any, where: str, size: int | None = None, most: int = _MOST) -> list[Any]:
    """Return a list, of that size if one is given; raises if it is none, or longer than ``most``."""
    if not isinstance(raw, list) or len(raw) > most or (size is not None and len(raw) != size):
        raise WrongError(f"{where} must be a list{'' if size is None else f' of {size}'}")
    return raw


def as_dict(raw: Any, where: str) -> dict[str, Any]:
    """Return an object; raises if it is none."""
    if not isinstance(raw, dict):
        raise WrongError(f"{where} must be an object")
    return raw


Vector = Mapping[int, Fraction]
K = TypeVar("K", int, tuple[int, int])
_DIGITS = 4000  # of an integer in decimal; Python refuses to read much more, and longer ones are hexadecimal
_WHOLE = rf"[0-9]{{1,{_DIGITS}}}|0x[0-9a-f]+"
_TEXT = re.compile(rf"(-?)({_WHOLE})(?:/({_WHOLE}))?")


def text_of(number: Fraction) -> str:
    """Return a fraction as text of any length: decimal, or hexadecimal where it is long.

    Examples
    --------
    >>> text_of(Fraction(-2, 3))
    '-2/3'
    """

    def whole(part: int) -> str:
        return str(part) if part.bit_length() < 3 * _DIGITS else hex(part)

    top = f"{'-' * (number < 0)}{whole(abs(number.numerator))}"
    return top if number.denominator == 1 else f"{top}/{whole(number.denominator)}"


def number_of(text: str) -> Fraction:
    """Return the fraction that :func:`text_of` writes.

    Raises
    ------
    ValueError
        If it is none.
    """
    found = _TEXT.fullmatch(text)
    if found is None:
        raise ValueError("no fraction")
    sign, top, bottom = found.groups()
    below = 1 if bottom is None else int(bottom, 0 if bottom.startswith("0x") else 10)
    if below == 0:
        raise ValueError("a fraction over 0")
    return (-1 if sign else 1) * Fraction(int(top, 0 if top.startswith("0x") else 10), below)


def fraction(raw: Any, where: str) -> Fraction:
    """Return a fraction that stands there as text or as a whole number; raises if there is none."""
    if isinstance(raw, int) and not isinstance(raw, bool):
        return Fraction(raw)
    if isinstance(raw, str):
        try:
            return number_of(raw)
        except ValueError:
            pass
    raise WrongError(f"{where} must be a fraction as text, got {str(raw)[:40]!r}")


@final
@dataclass(frozen=True, slots=True)
class Form:
    """Σ values[i]·F_i + Σ_{i≤j} gram[i, j]·⟨u_i, u_j⟩ + constant, without coefficients 0.

    Examples
    --------
    >>> one = Fraction(1)
    >>> Form({0: one}, {(0, 0): one}).plus(Form({0: one}), Fraction(-1))
    Form(values={}, gram={(0, 0): Fraction(1, 1)}, constant=Fraction(0, 1))
    """

    values: Mapping[int, Fraction] = field(default_factory=dict)
    gram: Mapping[tuple[int, int], Fraction] = field(default_factory=dict)
    constant: Fraction = Fraction(0)

    def plus(self, other: "Form", weight: Fraction = Fraction(1)) -> "Form":
        """Return the form and so many times another one."""
        return Form(
            _plus(self.values, other.values, weight),
            _plus(self.gram, other.gram, weight),
            self.constant + weight * other.constant,
        )


def _plus(one: Mapping[K, Fraction], other: Mapping[K, Fraction], weight: Fraction) -> dict[K, Fraction]:
    """Return a sum of coefficients and so many times others, without coefficients 0."""
    found = dict(one)
    for key, entry in other.items():
        found[key] = found.get(key, Fraction(0)) + weight * entry
    return {key: entry for key, entry in found.items() if entry}


def inner(one: Vector, other: Vector, weight: Fraction = Fraction(1)) -> Form:
    """Return weight·⟨u, v⟩ for combinations u and v of the basis."""
    gram: dict[tuple[int, int], Fraction] = {}
    for i, left in one.items() if weight else ():
        for j, right in other.items():
            pair = (min(i, j), max(i, j))
            gram[pair] = gram.get(pair, Fraction(0)) + weight * left * right
    return Form({}, {pair: entry for pair, entry in gram.items() if entry})


def minus(one: Vector, other: Vector) -> Vector:
    """Return u − v."""
    return _plus(one, other, Fraction(-1))


# What functions of a class are known to obey at any two points: Taylor, Hendrickx and Glineur (2017), Theorem 4.


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


# What a check of a file comes to.


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """What came out.

    Parameters
    ----------
    right
        Whether no line is wrong.
    reason
        What is certified, or which line is wrong and why.
    given
        What the file takes for granted, as it words it: nobody can check that here.
    checked
        How many lines were.
    claim
        What the objective is, or which theorem it is; nobody can check that here.
    left
        Signs that are not shown here, and not false at a few points: another method is needed for them.
    proof
        Whether the file is a proof.
    trusted
        What is taken on trust, by its name: rules that are not known here, steps that are only claimed.
    setting
        What only the setting of a theorem can answer for: when vectors are known, how a run moves.
    depends
        The names of all that the conclusions depend on.
    declared
        What a proof declares of its parameters and vectors, in words.
    """

    right: bool
    reason: str
    given: tuple[str, ...] = ()
    checked: int = 0
    claim: str = ""
    left: tuple[str, ...] = ()
    proof: bool = False
    trusted: tuple[str, ...] = ()
    setting: tuple[str, ...] = ()
    depends: frozenset[str] = frozenset()
    declared: tuple[str, ...] = ()

    @property
    def open(self) -> tuple[str, ...]:
        """What was not checked, in words: where there is any, nothing is accepted."""
        signs = (f"a sign that is not shown here: {one}" for one in self.left)
        return (*(f"taken on trust: {one}" for one in (*self.trusted, *self.setting)), *signs)

    @property
    def accepted(self) -> bool:
        """Whether every line was checked and found right, and nothing is taken on trust."""
        return self.right and not self.open

    @property
    def verdict(self) -> Literal["accepted", "rejected", "not decided"]:
        """What it comes to."""
        return "accepted" if self.accepted else "not decided" if self.right else "rejected"


# The hash of a statement, by which a proof file names its theorem.


def digest(statement: Mapping[str, Any]) -> str:
    """Return the SHA-256 hash of a statement, in hexadecimal digits: that of its JSON with sorted keys."""
    text = json.dumps(statement, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
