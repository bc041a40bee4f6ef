"""Claims and proofs as LaTeX; the verdict of each step stands in the margin."""

import re
from fractions import Fraction
from typing import TypeAlias

from boundlab.arithmetic.writing import breakable
from boundlab.documentation import pointers
from boundlab.prove._scalars import NUMBER, Scalar, ordered, shape
from boundlab.prove._terms import Claim, Expr
from boundlab.prove.document import Outcome, Step, letters
from boundlab.recheck.kernel import ONE, Atom, Monomial, Symbol

_GREEK = (
    "alpha",
    "beta",
    "gamma",
    "delta",
    "epsilon",
    "zeta",
    "eta",
    "theta",
    "kappa",
    "lambda",
    "mu",
    "nu",
    "xi",
    "pi",
    "rho",
    "sigma",
    "tau",
    "phi",
    "chi",
    "psi",
    "omega",
    "Gamma",
    "Delta",
    "Theta",
    "Lambda",
    "Sigma",
    "Phi",
    "Psi",
)
_NAMED = {"star": r"x^\star", "xbar": r"\bar x", "gbar": r"\bar g", "qbar": r"\bar q"}
_RELATIONS = {"≤": r"\le", "≥": r"\ge", "=": "="}
_DISPLAYED = 50  # letters of a claim that stands on one line; a longer one is broken between its summands
_INDEXED = re.compile(r"(f_\{[^{}]*\}|\bf_\w\b|[A-Za-z]\w*\[[^\[\]]*\])")  # f_{c[t, j]}, f_i, x[k]
_FRACTION = 40  # letters above or below a line
_Part: TypeAlias = tuple[bool, str]


def claim_latex(claim: Claim) -> str:
    r"""Return a claim as a formula.

    Examples
    --------
    >>> from boundlab.prove import expr, variable
    >>> alpha, m = variable("alpha"), variable("M")
    >>> print(claim_latex(expr(alpha * m) <= expr(1 / (2 * alpha))))
    M \alpha \le \frac{1}{2 \alpha}
    """
    return f"{_expression(claim.left)} {_RELATIONS[claim.relation]} {_expression(claim.right)}"


def proof_latex(outcome: Outcome) -> str:
    """Return the steps of a proof, to be read into a page that loads amsmath and amssymb."""
    script = outcome.script
    lines = [f"% {script.id}: {pointers(script.source)}".replace("\n", " ")]
    for step in outcome.steps:
        lines += ["", *_step(step)]
    if known := letters(outcome):
        lines += [
            "",
            r"\begin{flushleft}\sloppy\textbf{Letters.}",
            *(f"${_letter(one)}$: {_meant(own)}." for one, own in known.items()),
            r"\end{flushleft}",
        ]
    return "\n".join(lines) + "\n"


def _step(step: Step) -> list[str]:
    margin = rf"\marginpar{{\footnotesize\raggedright {_text(step.status.value)}}}"
    own = step.at.removeprefix(step.name)
    # A place that begins with the name of the step goes on from it.
    place = _text(own) if own != step.at else f" ({_text(own)})" if own else ""
    lines = [rf"\paragraph{{{_text(step.name)}{place}.}}{margin}"]
    if step.claim is None or step.says not in (str(step.claim), step.name):
        lines.append(_text(step.says))
    if step.claim is not None:
        lines += _displayed(claim_latex(step.claim))
    if step.rests_on:
        lines.append(f"(follows from {', '.join(map(_text, step.rests_on))})")
    return lines


def _displayed(formula: str) -> list[str]:
    if _size(formula) <= _DISPLAYED:
        return [r"\begin{equation*}", f"  {formula}", r"\end{equation*}"]
    return [r"\begin{quote}\raggedright\sloppy", f"  ${formula}$", r"\end{quote}"]


def _size(formula: str) -> int:
    """Return about how many letters are seen of a formula."""
    return len(re.sub(r"\\[a-zA-Z]+|[{}_^\s\\]", "", formula))


def _text(words: str) -> str:
    return breakable(words).replace("\n", " ")


def _over(top: str, below: str) -> str:
    """Return a quotient, as a fraction where that is not too wide for a line."""
    if max(_size(top), _size(below)) <= _FRACTION:
        return rf"\frac{{{top}}}{{{below}}}"
    return rf"({top}) / \allowbreak ({below})"


# ---------------------------------------------------------------------- numbers


def _indexed(name: str, indices: tuple[Scalar, ...] = ()) -> str:
    return _below(name, [_polynomial(one) for one in indices])


def _below(name: str, indices: list[str]) -> str:
    """Return a name with what stands below it: the part after its first underscore, and indices."""
    bare = name.rstrip("'")
    stem, _, below = bare.partition("_")
    if stem in _GREEK:
        head = f"\\{stem}"
    elif stem:
        head = _NAMED.get(stem, stem if len(stem) == 1 else rf"\mathrm{{{stem}}}")
    else:
        head = "j"  # bound by a sum
    own = [] if not below else [below if len(below) == 1 else rf"\mathrm{{{below.replace('_', ',')}}}"]
    own += indices
    return head + (f"_{{{','.join(own)}}}" if own else "") + name[len(bare) :]


def _letter(written: str) -> str:
    """Return a letter as it is written, such as ``x[k]`` or ``f_{c[t, j]}``."""
    if written.startswith("f_{"):
        return f"f_{{{_letter(written[3:-1])}}}"
    name, _, indices = written.rstrip("]").replace("−", "-").partition("[")
    return _below(name, indices.split(", ") if indices else [])


def _meant(words: str) -> str:
    """Return what a letter stands for, with the letters in it as formulas."""
    parts = _INDEXED.split(words)
    return "".join(
        f"${_letter(part)}$" if place % 2 else _text(part) if part else "" for place, part in enumerate(parts)
    )


def _symbol(symbol: Symbol, power: int) -> str:
    head = _indexed(symbol.name, symbol.indices)
    if symbol.exponent is not None:
        return f"{head}^{{{_scalar(symbol.exponent * power)}}}"
    return head if power == 1 else f"{head}^{{{power}}}"


def _monomial(powers: Monomial, value: Fraction) -> _Part:
    """Return whether it is negative, and its size."""
    size = abs(value)
    above = [_symbol(symbol, power) for symbol, power in powers if power > 0]
    below = [_symbol(symbol, -power) for symbol, power in powers if power < 0]
    if size.numerator != 1 or not above:
        above.insert(0, str(size.numerator))
    if size.denominator != 1:
        below.insert(0, str(size.denominator))
    top = " ".join(above)
    return value < 0, _over(top, " ".join(below)) if below else top


def _signed(parts: list[_Part]) -> str:
    text = ""
    for negative, size in parts:
        text += (("-" if negative else "") if not text else " - " if negative else " + ") + size
    return text or "0"


def _polynomial(value: Scalar) -> str:
    return _signed([_monomial(*term) for term in shape(value).top])


def _scalar(value: Scalar) -> str:
    top, factors = shape(value)
    above = _signed([_monomial(*term) for term in top])
    below = "".join(f"({_polynomial(one)})" + (f"^{{{count}}}" if count > 1 else "") for one, count in factors)
    return _over(above, below) if below else above


# ---------------------------------------------------------------------- expressions


def _atom(atom: Atom) -> str:
    base, vectors, weight = atom.base, [_indexed(one.name, one.indices) for one in atom.base.vectors], ""
    match base.kind:
        case "one":
            text = "1"
        case "inner":
            one, two = vectors
            text = rf"\mathbb{{E}}\|{one}\|^2" if one == two else rf"\mathbb{{E}}\langle {one}, {two}\rangle"
        case "value":
            text = rf"\mathbb{{E}} {_indexed(base.function, base.indices)}({vectors[0]})"
        case "vector":
            text = vectors[0]
    if not atom.ranges:
        return text
    ranges = r" \allowbreak ".join(
        rf"\sum_{{{_polynomial(lo)} \le j_{{{place}}} < {_polynomial(hi)}}}"
        for place, (lo, hi) in enumerate(atom.ranges)
    )
    if atom.weight != ONE:
        weight, text = _polynomial(atom.weight) + " ", "" if base.kind == "one" else text
    return rf"{ranges} \allowbreak {weight}{text}".rstrip()


def _expression(value: Expr) -> str:
    parts: list[_Part] = []
    for atom, coefficient in ordered(value.terms):
        top, factors = shape(coefficient)
        if atom == NUMBER:
            parts += [(False, _scalar(coefficient))] if factors else [_monomial(*term) for term in top]
        elif len(top) == 1 and not factors:
            negative, size = _monomial(*top[0])
            parts.append((negative, _atom(atom) if size == "1" else rf"{size} \allowbreak {_atom(atom)}"))
        else:
            own = _scalar(coefficient) if factors else f"({_scalar(coefficient)})"
            parts.append((False, rf"{own} \allowbreak {_atom(atom)}"))
    return _signed(parts)
