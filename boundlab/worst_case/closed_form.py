"""Multipliers of several horizons as closed forms in K and k, where a small basis fits all of them exactly.

At K = 1, 2, 3, … a bound that is attained has a certificate with few multipliers (:mod:`boundlab.worst_case.attained`).
Those of one kind of inequality, such as interpolation from iterate k to iterate k + 1, are often one quotient of
polynomials in K and k. A fit proves nothing: it proposes what to multiply facts with in a proof for every K.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, final

from boundlab.arithmetic.numbers import flint, fraction, rational
from boundlab.errors import CertificateError

# Degrees of the numerator and of the denominator, in the order in which they are tried. The coefficients come from all
# horizons but the largest, whose multipliers a fit has to foretell.
_DEGREES = ((0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (0, 2), (1, 2), (2, 1), (2, 2))
_Powers: TypeAlias = tuple[int, int]
_Data: TypeAlias = dict[tuple[int, int], Fraction]
_STAR, _LAST = "x*", "the last point"


@final
@dataclass(frozen=True)
class Fitted:
    """The multipliers of one kind of inequality.

    Parameters
    ----------
    label
        Which inequalities, in words; those of iterate k hold a multiplier each.
    top, bottom
        Coefficients of the numerator and of the denominator, by the powers of K and of k; no ``bottom`` where nothing
        fits.
    values
        How many multipliers, those that are 0 included.
    """

    label: str
    top: Mapping[_Powers, Fraction]
    bottom: Mapping[_Powers, Fraction]
    values: int

    @property
    def fits(self) -> bool:
        """True if there is a closed form."""
        return bool(self.bottom)

    def at(self, K: Any, k: Any = 0) -> Any:
        """Return the multiplier, for numbers of any kind that can be added, multiplied and divided.

        Raises
        ------
        CertificateError
            If there is no closed form.
        """
        if not self.fits:
            raise CertificateError(f"the multipliers of {self.label} have no closed form here")
        return _polynomial(self.top, K, k) / _polynomial(self.bottom, K, k)

    def __str__(self) -> str:
        import sympy

        return "no closed form" if not self.fits else str(sympy.factor(self.at(*sympy.symbols("K k"))))


def _polynomial(terms: Mapping[_Powers, Fraction], K: Any, k: Any) -> Any:
    found: Any = 0
    for (i, j), weight in terms.items():
        part: Any = weight if weight.denominator != 1 else weight.numerator
        if not isinstance(K, (int, Fraction)) and isinstance(part, Fraction):
            found = found + K**i * k**j * part.numerator / part.denominator
        else:
            found = found + part * K**i * k**j
    return found


def closed_form(certificates: Mapping[int, Mapping[str, Any]]) -> tuple[Fitted, ...]:
    """Return the closed forms of the multipliers of certificates, one for each kind of inequality.

    Parameters
    ----------
    certificates
        By K: upper certificates of the same theorem, numbers and class, as ``worst-case --certificate`` writes them.

    Raises
    ------
    CertificateError
        If they are of one horizon only, are no upper certificates, or do not have one sample an iterate.
    """
    if len(certificates) < 2:
        raise CertificateError("multipliers are fitted over several horizons: give two or more")
    for K, certificate in certificates.items():
        if certificate.get("kind") != "upper":
            raise CertificateError(f"the certificate of K = {K} is not one of an upper value")
    # The last point may be one of the iterates, or another one, such as their average.
    ways = [_forms(certificates, apart=apart) for apart in (False, True)]
    return min(ways, key=lambda found: (sum(not one.fits for one in found), len(found)))


def _forms(certificates: Mapping[int, Mapping[str, Any]], *, apart: bool) -> tuple[Fitted, ...]:
    kinds: dict[tuple[Any, ...], _Data] = {}
    for K, certificate in sorted(certificates.items()):
        for kind, k, weight in _multipliers(certificate, K, apart=apart):
            kinds.setdefault(kind, {})[K, k] = weight
    found = []
    for kind, data in sorted(kinds.items(), key=lambda one: str(one[0])):
        if any(data.values()):
            found += _fitted(kind, data)
    return tuple(found)


def _multipliers(
    certificate: Mapping[str, Any], K: int, *, apart: bool
) -> Iterator[tuple[tuple[Any, ...], int, Fraction]]:
    """Yield kind, iterate and multiplier of all inequalities, those without a multiplier included."""
    weights: dict[tuple[Any, ...], Fraction] = {}
    for row in certificate["rows"]:
        key = (row["kind"], row.get("client", 0), row.get("i", row.get("words")), row.get("j"))
        weights[key] = weights.get(key, Fraction(0)) + Fraction(row["multiplier"])
    for key, weight in weights.items():
        if key[0] == "given":
            yield key[:3], 0, weight
    for client, function in enumerate(certificate["functions"]):
        samples = function["samples"]
        first = -1 if not samples[0]["x"] and not samples[0]["g"] else 0  # x* is the origin, where there is one
        if len(samples) + first not in (K, K + 1):
            raise CertificateError(f"K = {K}: {len(samples)} points of client {client} are not one an iterate")
        words = dict.fromkeys(range(len(samples)), "x_k")
        if first:
            words[0] = _STAR
        if apart:
            words[len(samples) - 1] = _LAST
        for i, word in words.items():
            if word != _STAR:
                k = i + first if word == "x_k" else 0
                yield ("gradient", client, word), k, weights.get(("gradient", client, i, None), Fraction(0))
        for i, j in itertools.permutations(words, 2):
            weight = weights.get(("interpolation", client, i, j), Fraction(0))
            names, k = [words[i], words[j]], min((one for one in (i, j) if words[one] == "x_k"), default=-first) + first
            if names == ["x_k", "x_k"]:
                names, k = ["x_k", f"x_(k{'+' if j > i else '−'}{abs(j - i)})"], i + first
            yield ("interpolation", client, ", ".join(names)), k, weight


def _fitted(kind: tuple[Any, ...], data: _Data) -> list[Fitted]:
    """Return one form for all iterates, or one for the last and one for the others."""
    whole = _form(data)
    if whole is not None:
        return [Fitted(_label(kind), *whole, len(data))]
    ends = {K: max(k for other, k in data if other == K) for K, _ in data}
    last = {at: value for at, value in data.items() if at[1] == ends[at[0]]}
    rest = {at: value for at, value in data.items() if at not in last}
    found = []
    for part, words in ((rest, ", but for the last"), (last, ", the last")):
        if part:
            form = _form({(K, 0): value for (K, _), value in part.items()} if part is last else part)
            found.append(Fitted(_label(kind) + words, *(form or ({}, {})), len(part)))
    return [one for one in found if one.top or not one.fits]


def _label(kind: tuple[Any, ...]) -> str:
    if kind[0] == "given":
        return str(kind[2])
    return f"{'the gradient' if kind[0] == 'gradient' else 'interpolation'} of f_{kind[1]} at {kind[2]}"


def _form(data: _Data) -> tuple[dict[_Powers, Fraction], dict[_Powers, Fraction]] | None:
    """Return numerator and denominator of lowest degrees that fit all values exactly, or None."""
    if not any(data.values()):
        return {}, {(0, 0): Fraction(1)}
    single = len({k for _, k in data}) == 1
    largest = max(K for K, _ in data)
    seen = {at: value for at, value in data.items() if at[0] < largest}
    for up, down in _DEGREES:
        top, bottom = (_monomials(degree, single) for degree in (up, down))
        found = _kernel(seen, top, bottom) if len(seen) >= len(top) + len(bottom) - 1 else None
        if found is not None and all(_is(found, at, value) for at, value in data.items()):
            return found
    return None


def _is(
    form: tuple[Mapping[_Powers, Fraction], Mapping[_Powers, Fraction]], at: tuple[int, int], value: Fraction
) -> bool:
    """Return whether a quotient has a value at a place, where it was fitted or not."""
    below = _polynomial(form[1], *at)
    return bool(below) and Fraction(_polynomial(form[0], *at)) == value * below


def _monomials(degree: int, single: bool) -> list[_Powers]:
    return [(i, j) for i in range(degree + 1) for j in range(degree + 1 - i) if not (single and j)]


def _kernel(
    data: _Data, top: Sequence[_Powers], bottom: Sequence[_Powers]
) -> tuple[dict[_Powers, Fraction], dict[_Powers, Fraction]] | None:
    """Return P and Q with P(K, k) = value·Q(K, k) and Q ≠ 0 everywhere, if they are the only ones up to a factor."""
    lines = []
    for (K, k), value in data.items():
        lines.append([Fraction(K**i * k**j) for i, j in top] + [-value * K**i * k**j for i, j in bottom])
    width = len(top) + len(bottom)
    entries = [rational(one) for line in lines for one in line]
    reduced, rank = flint().fmpq_mat(len(lines), width, entries).rref()
    if int(rank) != width - 1:
        return None
    pivots = [next(column for column in range(width) if reduced[row, column] != 0) for row in range(int(rank))]
    (free,) = set(range(width)) - set(pivots)
    found = [Fraction(0)] * width
    found[free] = Fraction(1)
    for row, pivot in enumerate(pivots):
        found[pivot] = -fraction(reduced[row, free])
    upper = {at: one for at, one in zip(top, found[: len(top)], strict=True) if one}
    lower = {at: one for at, one in zip(bottom, found[len(top) :], strict=True) if one}
    if any(not _polynomial(lower, K, k) for K, k in data):
        return None
    return upper, lower
