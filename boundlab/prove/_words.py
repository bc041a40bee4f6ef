"""Expressions as they were written.

What a fact says is kept multiplied out, which few can read. So an expression carries, beside its terms, how it was put
together; it is read by people only, and nothing that the kernel decides looks at it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias, final

from boundlab.prove._scalars import Scalar, scalar, shape
from boundlab.recheck.kernel import ONE, UNIT, Atom, Monomial, Symbol, Vec

Kind: TypeAlias = Literal["vector", "terms", "number", "plus", "minus", "times", "dot", "value", "sum"]
# An expression of more parts than this was made in a loop, and is shown multiplied out.
_MAX_PARTS = 300
# The atom of a plain number.
NUMBER = Atom(UNIT)
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
# A part of a sum: whether it is subtracted, and its text.
_Part: TypeAlias = tuple[bool, str]


@final
@dataclass(frozen=True, eq=False, slots=True)
class Said:
    """A node of an expression as it was written.

    Parameters
    ----------
    kind
        What it is made by.
    parts
        What it is made of: nodes, numbers and names.
    size
        How many nodes it has.
    """

    kind: Kind
    parts: tuple[Any, ...]
    size: int = 1


def said(kind: Kind, *parts: Any) -> Said | None:
    """Return a node; None if it is too large, or a part of it is None."""
    if any(part is None for part in parts):
        return None
    size = 1 + sum(part.size for part in parts if isinstance(part, Said))
    return Said(kind, parts, size) if size <= _MAX_PARTS else None


def function_label(name: str, indices: tuple[Scalar, ...]) -> str:
    """Return f_i, or f[i + 1]."""
    inside = ", ".join(map(_polynomial, indices))
    return f"{name}_{inside}" if inside.isalnum() else f"{name}[{inside}]" if inside else name


def words(node: Said) -> str:
    """Return the text of a node.

    Examples
    --------
    >>> x, star = said("vector", Vec("x")), said("vector", Vec("star"))
    >>> far = said("minus", x, star)
    >>> print(words(said("plus", said("dot", far, far), said("number", scalar(2)))))
    E‖x − x*‖² + 2
    """
    return _joined(_parts(node))


def _joined(parts: list[_Part]) -> str:
    text = ""
    for negative, part in parts:
        text += (("−" if negative else "") if not text else " − " if negative else " + ") + part
    return text or "0"


def _parts(node: Said) -> list[_Part]:
    match node.kind, node.parts:
        case "vector", (vector,):
            return [(False, _vector(vector))]
        case "terms", (terms,):
            return _terms(terms)
        case "number", (number,):
            return _number(number)
        case "plus", (one, other):
            return [*_parts(one), *_parts(other)]
        case "minus", (one, other):
            return [*_parts(one), *_times(scalar(-1), _parts(other))]
        case "times", (number, of):
            return _times(number, _parts(of))
        case "dot", (one, other):
            u, v = words(one), words(other)
            return [(False, f"E‖{u}‖²" if u == v else f"E⟨{u}, {v}⟩")]
        case "value", (function, at):
            return [(False, f"E {function}({words(at)})")]
        case "sum", (name, lo, hi, of):
            inside = _parts(of)
            if not inside:
                return []
            body = inside[0][1] if len(inside) == 1 else f"({_joined(inside)})"
            ranges = f"Σ_{{{_joined(_number(lo))} ≤ {name} < {_joined(_number(hi))}}}"
            return [(len(inside) == 1 and inside[0][0], f"{ranges} {body}")]
    raise AssertionError(node.kind)


# ---------------------------------------------------------------------- products


def _times(number: Scalar, parts: list[_Part]) -> list[_Part]:
    if not number or not parts:
        return []
    negative, text = parts[0] if len(parts) == 1 else (False, f"({_joined(parts)})")
    top, factors = shape(number)
    if len(top) > 1 or factors:
        ((sign, factor), *more) = _number(number)
        if more:
            return [(negative, f"({_joined([(sign, factor), *more])})·{text}")]
        return [(negative != sign, f"{factor}·{text}")]
    ((powers, value),) = top
    above, below = _monomial(powers, value)
    if not above and below and "Σ" not in text:
        # A sum over k, divided by a k outside of it, would read as if it was the same k.
        factor = f"{text}/{below}"
    elif above or below:
        factor = f"{above or '1'}{f'/{below}' if below else ''}·{text}"
    else:
        # The sign of several parts stays before their bracket.
        factor = text
    if factor == text and len(parts) > 1 and value > 0:
        return parts
    return [(negative != (value < 0), factor)]


# ---------------------------------------------------------------------- numbers


def _number(value: Scalar) -> list[_Part]:
    top, parts = shape(value)
    if not parts:
        return _summands(top)
    factors = [f"({_polynomial(one)}){_power(count)}" for one, count in parts]
    above, below, negative = f"({_joined(_summands(top))})", "", False
    if len(top) == 1:
        ((powers, number),) = top
        above, below = _monomial(powers, number)
        negative = number < 0
    under = "·".join([*([below[1:-1] if below.startswith("(") else below] if below else []), *factors])
    return [(negative, f"{above or '1'}/{under if len(factors) == 1 and not below else f'({under})'}")]


def _summands(top: Iterable[tuple[Monomial, Fraction]]) -> list[_Part]:
    found = []
    for powers, value in top:
        above, below = _monomial(powers, value)
        found.append((value < 0, f"{above or '1'}/{below}" if below else above or "1"))
    return found


def _polynomial(value: Scalar) -> str:
    return _joined(_summands(shape(value).top))


def _monomial(powers: Monomial, value: Fraction) -> tuple[str, str]:
    """Return what stands above and what stands below the line, without a sign; "" for 1."""
    size = abs(Fraction(value))
    above = [_symbol(symbol, power) for symbol, power in powers if power > 0]
    below = [_symbol(symbol, -power) for symbol, power in powers if power < 0]
    if size.numerator != 1:
        above.insert(0, str(size.numerator))
    if size.denominator != 1:
        below.insert(0, str(size.denominator))
    return "·".join(above), "·".join(below) if len(below) < 2 else f"({'·'.join(below)})"


def _symbol(symbol: Symbol, power: int) -> str:
    base = symbol.name
    if symbol.indices:
        base = f"{base}[{', '.join(map(_polynomial, symbol.indices))}]"
    if symbol.exponent is None:
        return f"{base}{_power(power)}"
    exponent = _polynomial(symbol.exponent * power)
    return f"{base}^{exponent}" if exponent.isalnum() else f"{base}^({exponent})"


def _power(count: int) -> str:
    return "" if count == 1 else str(count).translate(_SUPERSCRIPTS)


# ---------------------------------------------------------------------- vectors and atoms


def _vector(vector: Vec) -> str:
    if vector.name == "star" and not vector.indices:
        return "x*"
    inside = ", ".join(map(_polynomial, vector.indices))
    return f"{vector.name}[{inside}]" if inside else vector.name


def ordered(terms: Mapping[Atom, Scalar]) -> list[tuple[Atom, Scalar]]:
    """Return terms as they are read: the number first, sums last."""
    kinds = ("one", "value", "inner", "vector")
    return sorted(terms.items(), key=lambda term: (bool(term[0].ranges), kinds.index(term[0].base.kind), term[0].key))


def _terms(terms: Mapping[Atom, Scalar]) -> list[_Part]:
    found: list[_Part] = []
    for atom, number in ordered(terms):
        found += _number(number) if atom == NUMBER else _times(number, [(False, _atom(atom))])
    return found


def _atom(atom: Atom) -> str:
    ranges = "".join(
        f"Σ_{{{_polynomial(lo)} ≤ _{place} < {_polynomial(hi)}}} " for place, (lo, hi) in enumerate(atom.ranges)
    )
    base, vectors = atom.base, [_vector(one) for one in atom.base.vectors]
    match base.kind:
        case "one":
            return f"{ranges}{_joined(_number(atom.weight))}"
        case "inner":
            one, two = vectors
            text = f"E‖{one}‖²" if one == two else f"E⟨{one}, {two}⟩"
        case "value":
            text = f"E {function_label(base.function, base.indices)}({vectors[0]})"
        case "vector":
            text = vectors[0]
    return text if atom.weight == ONE and not ranges else f"{ranges}{_joined(_times(atom.weight, [(False, text)]))}"
