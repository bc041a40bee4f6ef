"""Numbers and sentences as people write them: for a terminal, for LaTeX, and without shortening.

``1 − √15/160`` in place of ``1 + -1/160*sqrt(15)``. A number that takes more than :data:`LONGEST` letters is written as
a decimal that is near it, and says so.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, gcd, lcm
from typing import Any, Final, Literal, final

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import Scalar
from boundlab.greek import COMMANDS, NAMES

LONGEST: Final = 24
_DECIMAL: Final = 20  # letters of a decimal that a float is written with
_DIGITS: Final = 6
_MOST_BITS: Final = 14_000  # Python writes no number of more than 4,300 digits
RAISED: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# What words of boundlab are made of beside ASCII.
_TEX: Final = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": "$<$", ">": "$>$", "|": "$|$",
    "−": "$-$", "–": "--", "·": r"$\cdot$", "×": r"$\times$", "±": r"$\pm$", "√": r"$\surd$", "∇": r"$\nabla$",
    "‖": r"$\|$", "≤": r"$\le$", "≥": r"$\ge$", "≠": r"$\ne$", "≈": r"$\approx$", "→": r"$\to$", "∈": r"$\in$",
    "∞": r"$\infty$", "Σ": r"$\Sigma$", "…": r"\dots{}", "²": r"$^2$", "₁": "$_1$", "½": r"$\tfrac12$",
    "ȳ": r"$\bar y$", "α": r"$\alpha$", "β": r"$\beta$", "η": r"$\eta$", "μ": r"$\mu$", "σ": r"$\sigma$",
    "τ": r"$\tau$", "′": "$'$", "⌊": r"$\lfloor$", "⌋": r"$\rfloor$", "⌈": r"$\lceil$", "⌉": r"$\rceil$",
    "ℓ": r"$\ell$", "⟨": r"$\langle$", "⟩": r"$\rangle$", "∂": r"$\partial$", "∑": r"$\Sigma$", "≡": r"$\equiv$",
    "∼": r"$\sim$", "⇒": r"$\Rightarrow$", "⟺": r"$\iff$", "⇔": r"$\iff$", "←": r"$\leftarrow$", "—": "---",
    "’": "'", "‘": "`", "“": "``", "”": "''", "«": "``", "»": "''", "°": r"$^\circ$", "⊤": r"$\top$", "ᵀ": r"$^\top$",
    "∪": r"$\cup$", "∩": r"$\cap$", "∅": r"$\emptyset$", "∀": r"$\forall$", "∃": r"$\exists$", "≪": r"$\ll$",
    "≫": r"$\gg$", "∉": r"$\notin$", "⊆": r"$\subseteq$", "𝒫": r"$\mathcal{P}$", "§": r"\S{}", "⪯": r"$\preceq$",
    "⪰": r"$\succeq$", "∫": r"$\int$", "ß": r"\ss{}", "ø": r"\o{}", "ł": r"\l{}",
}  # fmt: skip
# Marks above and below a letter, in text and in formulas.
_ACCENTS: Final = {
    "\u0300": ("`", "grave"),
    "\u0301": ("'", "acute"),
    "\u0302": ("^", "hat"),
    "\u0303": ("~", "tilde"),
    "\u0304": ("=", "bar"),
    "\u0307": (".", "dot"),
    "\u0308": ('"', "ddot"),
    "\u030a": ("r", "mathring"),
    "\u030c": ("v", "check"),
    "\u0327": ("c", ""),
}
_AFTER: Final = re.compile(r"(?:(?<=[·/_,=:;(−+\[\]-])|(?<=[^\d]\.))(?=[^\s.,=:;])")
_LONG: Final = re.compile(r"\w{18}(?=\w)|(?:(?!\w{19})[\s\S])+")


@final
@dataclass(frozen=True, slots=True)
class Written:
    """A piece of mathematics.

    Parameters
    ----------
    text
        For a terminal.
    latex
        For the math mode of LaTeX.
    exact
        As ``text``, with all digits.
    near
        Whether ``text`` is only near what is meant.
    """

    text: str
    latex: str
    exact: str
    near: bool = False


@final
@dataclass(frozen=True, slots=True)
class Sentence:
    """Words with mathematics in them.

    Parameters
    ----------
    text, exact
        As of :class:`Written`.
    latex
        For the text mode of LaTeX.
    """

    text: str
    latex: str
    exact: str


def math(text: str, latex: str) -> Written:
    """Return a formula that is written out here and there."""
    return Written(text, latex, text)


def words(text: str) -> Sentence:
    """Return words that are taken as they are, whoever wrote them."""
    return Sentence(text, tex(text), text)


def say(pattern: str, *parts: Written | Sentence) -> Sentence:
    """Return words with each ``{}`` replaced by the next of the parts."""
    between = pattern.split("{}")
    text = exact = between[0]
    latex = tex(between[0])
    for part, rest in zip(parts, between[1:], strict=True):
        text, exact = text + part.text + rest, exact + part.exact + rest
        latex += (part.latex if isinstance(part, Sentence) else f"${part.latex}$") + tex(rest)
    return Sentence(text, latex, exact)


def tex(text: str) -> str:
    r"""Return words for the text mode of LaTeX with amsmath; a character that it may lack becomes its code point.

    Examples
    --------
    >>> print(tex("x\u0304₃ ≤ σ\u0304, é, 5 %"))
    \={x}$_{3}$ $\le$ $\bar{\sigma}$, \'{e}, 5 \%
    """
    found: list[str] = []
    for letter in "".join(one if one in _TEX else unicodedata.normalize("NFD", one) for one in text):
        mark = _ACCENTS.get(letter)
        last = found[-1] if mark and found else ""
        if mark and mark[1] and last.startswith("$") and last.endswith("$"):
            found[-1] = rf"$\{mark[1]}{{{last[1:-1]}}}$"
        elif mark and last.isalpha():
            found[-1] = rf"\{mark[0]}{{{last}}}"
        else:
            found.append(_tex(letter))
    return "".join(found)


def breakable(text: str) -> str:
    r"""Return the same for narrow places: a line may be broken in formulas, commands and long numbers, too.

    Examples
    --------
    >>> print(breakable("a·b, 0.25"))
    a$\cdot$\allowbreak{}b, 0.25
    """
    parts = (part for piece in _AFTER.split(text) for part in _LONG.findall(piece))
    return r"\allowbreak{}".join(map(tex, parts))


def _tex(letter: str) -> str:
    if letter.isascii() or letter in _TEX:
        return _TEX.get(letter, letter)
    plain = unicodedata.normalize("NFKD", letter)
    kind = unicodedata.decomposition(letter).partition(" ")[0]
    if kind in ("<super>", "<sub>") and (plain.isascii() or plain == "−"):
        return f"${'^' if kind == '<super>' else '_'}{{{plain.replace('−', '-')}}}$"
    name = NAMES.get(letter, f"U+{ord(letter):04X}")
    return rf"$\{name}$" if name in COMMANDS else rf"\texttt{{{name}}}"


def sides(x: Scalar | Fraction | int) -> tuple[Fraction, Fraction, Fraction] | None:
    """Return a, b, r of the number a + b√r, with b = r = 0 for a rational number; None for a ball."""
    if isinstance(x, (Fraction, int)):
        return Fraction(x), Fraction(0), Fraction(0)
    arb = numbers.flint().arb
    if isinstance(x, numbers.Surd):
        if isinstance(x.a, arb) or isinstance(x.b, arb):
            return None
        a, b, r = numbers.fraction(x.a), numbers.fraction(x.b), numbers.fraction(x.r)
        return (a, b, r) if b else (a, Fraction(0), Fraction(0))
    if isinstance(x, arb):
        return None
    return numbers.fraction(x), Fraction(0), Fraction(0)


def written(x: Scalar | Fraction | int) -> Written:
    """Return a number as people write it, as its own decimal, or near it where either takes too many letters."""
    parts = sides(x)
    if parts is None or _bits(parts) > 4 * LONGEST:
        return decimal(x)
    whole, value = _sum(*parts), parts[0]
    if len(whole.text) > LONGEST and not parts[1] and 10**_DECIMAL % value.denominator == 0:
        own = replace(_plain(value, 0), exact=whole.exact)
        whole = own if len(own.text) <= _DECIMAL else whole
    return whole if len(whole.text) <= LONGEST else decimal(x)


def _bits(parts: tuple[Fraction, ...]) -> int:
    return max(max(abs(one.numerator), one.denominator).bit_length() for one in parts)


def decimal(x: Scalar | Fraction | int) -> Written:
    """Return the decimal with six digits that is nearest to a number."""
    parts = sides(x)
    if parts is not None and _bits(parts) > _MOST_BITS:
        parts = None
    value = numbers.ball(x) if parts is None else _ball(parts)
    exact = numbers.text(value) if parts is None else _sum(*parts).exact
    if not value.is_finite():
        return Written("an unbounded ball", r"\text{an unbounded ball}", exact, True)
    mantissa, _, power = value.str(_DIGITS, radius=False).partition("e")
    text = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    text = text.replace("-", "−")
    latex = text.replace("−", "-")
    if power:
        front, dot, times = text, "·", r"\cdot "
        if text in ("1", "−1"):
            front, dot, times, latex = text[:-1], "", "", latex[:-1]
        text = f"{front}{dot}10{str(int(power)).translate(RAISED)}"
        latex = rf"{latex}{times}10^{{{int(power)}}}"
    if parts is None and value.is_exact():  # a ball of radius 0 is a number
        parts = numbers.fraction(value.fmpq()), Fraction(0), Fraction(0)
    near = parts is None or bool(parts[1]) or not _is_decimal(parts[0], text)
    return Written(text, latex, exact, near)


def vector(x: Sequence[Scalar]) -> Written:
    """Return a point: its one coordinate, or all of them in parentheses."""
    entries = [written(entry) for entry in x]
    if len(entries) == 1:
        return entries[0]
    near = any(entry.near for entry in entries)
    text, latex, exact = (", ".join(getattr(entry, of) for entry in entries) for of in ("text", "latex", "exact"))
    return Written(f"({text})", f"({latex})", f"({exact})", near)


def equals(x: Scalar | Fraction | int) -> Written:
    """Return ``= 1 − √15/160 ≈ 0.975794``; ``≈`` alone where a number is too long, ``=`` for short decimals."""
    full, about = written(x), decimal(x)
    if full.near:
        return Written(f"≈ {full.text}", rf"\approx {full.latex}", f"= {full.exact}")
    if full.text == about.text:
        return Written(f"= {full.text}", f"= {full.latex}", f"= {full.exact}")
    sign, command = ("≈", r"\approx") if about.near else ("=", "=")
    return Written(
        f"= {full.text} {sign} {about.text}",
        f"= {full.latex} {command} {about.latex}",
        f"= {full.exact} {sign} {about.text}",
    )


def is_(x: Written) -> Written:
    """Return ``= 1/8``, or ``≈`` and what is near it."""
    sign, command = ("≈", r"\approx") if x.near else ("=", "=")
    return Written(f"{sign} {x.text}", f"{command} {x.latex}", f"= {x.exact}")


def about(x: Written) -> Written:
    """Return a number, or ≈ and what is near it."""
    return Written(f"≈ {x.text}", rf"\approx {x.latex}", x.exact) if x.near else x


def cell(x: Written) -> Sentence:
    """Return a number as an entry of a table: a decimal that is only near it begins with ≈."""
    return say("{}", about(x))


def coordinate(place: int, dimension: int) -> Written:
    """Return x, or x_1, x_2, … in several dimensions; ``place`` counts from 0."""
    return math("x", "x") if dimension == 1 else math(f"x_{place + 1}", f"x_{{{place + 1}}}")


def functions(formulas: Sequence[Written]) -> list[Sentence]:
    """Return ``f_0(x) = f_1(x) = |x|``: the functions of the clients, equal ones together."""
    groups: dict[str, list[int]] = {}
    for client, one in enumerate(formulas):
        groups.setdefault(one.exact, []).append(client)
    found = []
    for clients in groups.values():
        names = [math(f"f_{i}(x)", f"f_{{{i}}}(x)") for i in clients[:3]]
        more = " = …" * (len(clients) > 3)
        many = f" ({len(clients)} clients)" if more else ""
        words = " = ".join(["{}"] * len(names))
        found.append(say(f"{words}{more} = {{}}{many}", *names, formulas[clients[0]]))
    return found


def linear(terms: Sequence[tuple[Scalar | Fraction, Written]], constant: Scalar | Fraction | int = 0) -> Written:
    """Return ``2·|x − 1| + 3``: a sum of multiples of pieces of mathematics, and a number."""
    pieces: list[tuple[bool, str, str, str]] = []
    near = False
    for factor, piece in terms:
        parts = sides(factor)
        if parts is not None and parts[0] == 0 == parts[1]:
            continue
        negative = _negative(factor)
        size = written(-factor if negative else factor)
        near = near or size.near or piece.near
        one = size.exact == "1"
        many = " " in size.text
        front = "" if one else f"({size.text})·" if many else f"{size.text}·"
        exact = "" if one else f"({size.exact})·" if " " in size.exact else f"{size.exact}·"
        dot = r" \cdot " if piece.text[0].isdigit() else r"\,"
        before = "" if one else (rf"\left({size.latex}\right)" if many else size.latex) + dot
        pieces.append((negative, front + piece.text, before + piece.latex, exact + piece.exact))
    parts = sides(constant)
    if parts is None or parts[0] or parts[1] or not pieces:
        negative = _negative(constant)
        size = written(-constant if negative else constant)
        near = near or size.near
        pieces.append((negative, size.text, size.latex, size.exact))
    return replace(_signed(pieces), near=near)


def _negative(x: Any) -> bool:
    return numbers.sign(numbers.rational(Fraction(x)) if isinstance(x, (Fraction, int)) else x) < 0


def _signed(pieces: Sequence[tuple[bool, str, str, str]]) -> Written:
    text = latex = exact = ""
    for negative, *words in pieces:
        first = not text
        sign, minus = ("−" if first else " − ", "-" if first else " - ")
        plus = "" if first else " + "
        text += (sign if negative else plus) + words[0]
        latex += (minus if negative else plus) + words[1]
        exact += (sign if negative else plus) + words[2]
    return Written(text, latex, exact)


def _sum(a: Fraction, b: Fraction, r: Fraction) -> Written:
    pieces = []
    if a or not b:
        pieces.append((a < 0, *_quotient("", "", abs(a))))
    if b:
        inside = str(r) if r.denominator == 1 else f"({r})"
        pieces.append((b < 0, *_quotient(f"√{inside}", rf"\sqrt{{{_quotient('', '', r)[1]}}}", abs(b))))
    return _signed(pieces)


def _quotient(root: str, latex_root: str, size: Fraction) -> tuple[str, str, str]:
    """Return size·root."""
    top, bottom = size.numerator, size.denominator
    above = f"{'' if top == 1 and root else top}{root}"
    text = above if bottom == 1 else f"{above}/{bottom}"
    latex_above = f"{'' if top == 1 and root else top}{latex_root}"
    return text, latex_above if bottom == 1 else rf"\frac{{{latex_above}}}{{{bottom}}}", text


def _ball(parts: tuple[Fraction, Fraction, Fraction]) -> Any:
    a, b, r = (numbers.rational(part) for part in parts)
    return numbers.ball(numbers.Surd(a, b, r) if parts[1] else a)


def _is_decimal(value: Fraction, text: str) -> bool:
    """Return whether a decimal is the number itself."""
    plain = re.sub(r"(·|^|(?<=−))10(?=[⁻⁰¹²³⁴⁵⁶⁷⁸⁹])", lambda front: "e" if front[1] == "·" else "1e", text)
    plain = plain.translate(_LOWERED)
    return Fraction(plain.replace("−", "-")) == value


_LOWERED: Final = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


# How constants follow from a problem, each in one short formula that a hand can check.

_SHOWN = 4  # numbers that are written out


@final
@dataclass(frozen=True, slots=True)
class Reason:
    """A constant as a formula, and the same in numbers; None where these are too many, or too long."""

    formula: Written
    numbers: Written | None = None

    @property
    def parts(self) -> tuple[Written, ...]:
        """Formulas that are equal to the constant, one after the other."""
        return (self.formula,) if self.numbers is None else (self.formula, self.numbers)


def reason(text: str, latex: str, numbers: Written | None = None) -> Reason:
    """Return a formula that is written so for people and so in LaTeX, with its numbers unless one is shortened."""
    return Reason(math(text, latex), None if numbers is None or numbers.near else numbers)


def joined(text: str, latex: str, *parts: Written) -> Written:
    """Return a formula in which each ``{}`` is the next of the parts; braces of LaTeX are doubled."""
    return Written(
        text.format(*(one.text for one in parts)),
        latex.format(*(one.latex for one in parts)),
        text.format(*(one.exact for one in parts)),
        any(one.near for one in parts),
    )


def entry(x: Scalar | Fraction | int) -> Written:
    """Return a number that stands behind an operator: a negative one in brackets."""
    found = written(x)
    return joined("({})", "({})", found) if found.text.startswith("−") else found


def difference(a: Any, b: Any) -> Written:
    """Return a − b."""
    return joined("{} − {}", "{} - {}", written(a), entry(b))


def away(a: Any, b: Any) -> Written:
    """Return |a − b|."""
    return joined("|{}|", "|{}|", difference(a, b))


def length(pairs: Sequence[tuple[Any, Any]]) -> Written | None:
    """Return the length of the vector of differences; None where it has many entries."""
    if len(pairs) == 1:
        return away(*pairs[0])
    squares = _added([joined("({})²", "({})^2", difference(a, b)) for a, b in pairs])
    return None if squares is None else joined("√({})", r"\sqrt{{{}}}", squares)


def root_mean_square(parts: Sequence[Written]) -> Written | None:
    """Return the root of the mean of squares of so many parts."""
    squares = _added([joined("({})²", "({})^2", one) for one in parts])
    count = written(len(parts))
    return None if squares is None else joined("√(({})/{})", r"\sqrt{{({})/{}}}", squares, count)


def norm(entries: Sequence[Fraction]) -> Written | None:
    """Return the length of a vector; None where it has many entries."""
    if len(entries) == 1:
        return entry(abs(entries[0]))
    squares = _added([_squared(one) for one in entries])
    return None if squares is None else joined("√({})", r"\sqrt{{{}}}", squares)


def extreme(of: Iterable[Written | None], which: str = "max") -> Written | None:
    """Return the largest, or the least, of several numbers; None where there are many different ones."""
    every = list(of)
    found = list({one.text: one for one in every if one is not None}.values())
    if None in every:
        return None
    if len(found) == 1:
        return found[0]
    inside = _listed(found, ", ")
    return None if inside is None else joined(f"{which}({{}})", rf"\{which}({{}})", inside)


def times(a: Written | None, b: Fraction) -> Written | None:
    """Return a·b; a where b is 1."""
    return a if a is None or b == 1 else joined("{}·{}", r"{} \cdot {}", a, entry(b))


def square(a: Written | None) -> Written | None:
    """Return a²."""
    if a is None:
        return None
    return _of_square(a)


def with_noise(square_of_slope: Written | None, sigma: Fraction) -> Written | None:
    """Return √(s² + σ²)."""
    if square_of_slope is None:
        return None
    return joined("√({} + {})", r"\sqrt{{{} + {}}}", square_of_slope, _squared(sigma))


def _squared(x: Scalar | Fraction | int) -> Written:
    """Return x²; whatever is no digits alone stands in brackets, as 2/3² is 2/9."""
    return _of_square(written(x))


def _of_square(a: Written) -> Written:
    return joined("{}²", "{}^2", a) if a.text.isdigit() else joined("({})²", "({})^2", a)


def _added(parts: Sequence[Written]) -> Written | None:
    return _listed(parts, " + ")


def _listed(parts: Sequence[Written], between: str) -> Written | None:
    if not 0 < len(parts) <= _SHOWN:
        return None
    pattern = between.join("{}" for _ in parts)
    return joined(pattern, pattern, *parts)


# Why one number is larger than another, in steps that are checked by hand.
#
# For numbers a + b√r over one root r: bring the root to one side, clear denominators, square. Each step is equivalent
# to
# the one before it. Other numbers, and steps of too many letters, are compared as decimals that lie between them.

Relation = Literal[">", "≤"]
_SIGNS = {">": ">", "≤": r"\le"}
_LONGEST = 60  # digits of a decimal


@final
@dataclass(frozen=True, slots=True)
class InequalityStep:
    """One inequality.

    Parameters
    ----------
    left, right
        Exact numbers.
    """

    left: Scalar
    right: Scalar
    relation: Relation

    @property
    def true(self) -> bool:
        """True if the inequality holds, decided without rounding."""
        order = numbers.sign(self.left - self.right)
        return order > 0 if self.relation == ">" else order <= 0

    def written(self) -> Written:
        """Return both sides with the sign between them."""
        left, right = written(self.left), written(self.right)
        return Written(
            f"{left.text} {self.relation} {right.text}",
            f"{left.latex} {_SIGNS[self.relation]} {right.latex}",
            f"{left.exact} {self.relation} {right.exact}",
        )


@final
@dataclass(frozen=True, slots=True)
class Between:
    """Two decimals with left ≥ ``low`` > ``high`` ≥ right; or with ≤ throughout, left ≤ ``low`` ≤ ``high`` ≤ right."""

    low: Fraction
    high: Fraction
    relation: Relation

    def written(self) -> Written:
        """Return the chain."""
        outer, command = ("≥", r"\ge") if self.relation == ">" else ("≤", r"\le")
        size = max(abs(self.low), abs(self.high))
        power = _magnitude(size) if size else 0
        power = 0 if -4 < power < 6 else power
        low, high = (_plain(one / Fraction(10) ** power, power) for one in (self.low, self.high))
        return math(
            f"left {outer} {low.text} {self.relation} {high.text} {outer} right",
            rf"\text{{left}} {command} {low.latex} {_SIGNS[self.relation]} {high.latex} {command} \text{{right}}",
        )


def steps(left: Scalar, right: Scalar, relation: Relation) -> list[InequalityStep]:
    """Return equivalent inequalities, from ``left relation right`` to one between integers.

    Returns
    -------
    None of them where the numbers are not over one root, or where one would take too many letters.
    """
    a, b = sides(left), sides(right)
    if a is None or b is None:
        return []
    roots = {part[2] for part in (a, b) if part[1]}
    if len(roots) > 1:
        return []
    root = roots.pop() if roots else Fraction(0)
    whole, part = a[0] - b[0], b[1] - a[1]  # left relation right ⟺ whole relation part·√root
    out = [InequalityStep(left, right, relation)]
    if not part:
        bottom = lcm(a[0].denominator, b[0].denominator)
        pair = (a[0] * bottom, b[0] * bottom) if not a[1] else (whole * bottom, Fraction(0))
        share = gcd(int(pair[0]), int(pair[1])) or 1
        if pair != (a[0], b[0]) or a[1]:
            out.append(InequalityStep(_number(pair[0] / share), _number(pair[1] / share), relation))
        return out if _short(out) else []
    bottom = lcm(whole.denominator, part.denominator)
    whole, part = whole * bottom, part * bottom
    share = gcd(int(whole), int(part))
    whole, part = whole / share, part / share
    if whole >= 0 and part > 0:
        out.append(InequalityStep(_number(whole), _surd(part, root), relation))
        out.append(InequalityStep(_number(whole**2), _number(part**2 * root), relation))
    elif whole <= 0 and part < 0:  # both sides change their signs, so that the larger one is to the right
        out.append(InequalityStep(_surd(-part, root), _number(-whole), relation))
        out.append(InequalityStep(_number(part**2 * root), _number(whole**2), relation))
    else:
        out.append(InequalityStep(_number(whole), _surd(part, root), relation))  # signs tell
    if root.denominator != 1 and len(out) == 3:
        last = out.pop()
        out.append(InequalityStep(last.left * root.denominator, last.right * root.denominator, relation))
    return out if _short(out) else []


def between(left: Any, right: Any, relation: Relation) -> Between | None:
    """Return decimals that separate two balls, or None: they are not apart.

    Parameters
    ----------
    left, right
        Balls that contain the numbers.
    """
    upper, lower = (left, right) if relation == ">" else (right, left)
    bottom, top = (_fraction(upper.lower()), _fraction(lower.upper()))
    if bottom < top or (bottom == top and relation == ">"):
        return None
    size = max(abs(bottom), abs(top))
    first = 6 - (_magnitude(size) if size else 0) - 1
    for digits in range(first, first + _LONGEST):
        unit = Fraction(10) ** -digits
        down, up = floor(bottom / unit) * unit, -floor(-top / unit) * unit
        if down > up or (down == up and relation == "≤"):
            return Between(down, up, relation) if relation == ">" else Between(up, down, relation)
    return None


def _magnitude(size: Fraction) -> int:
    """Return the power of ten of the first digit, however long the number is."""
    power = (size.numerator.bit_length() - size.denominator.bit_length()) * 30103 // 100000
    while size >= Fraction(10) ** (power + 1):
        power += 1
    while size < Fraction(10) ** power:
        power -= 1
    return power


def _short(found: list[InequalityStep]) -> bool:
    return not any(written(side).near or len(written(side).text) > LONGEST for s in found for side in (s.left, s.right))


def _number(value: Fraction) -> Scalar:
    return numbers.rational(value)


def _surd(part: Fraction, root: Fraction) -> Scalar:
    zero = numbers.rational(0)
    return numbers.Surd(zero, numbers.rational(part), numbers.rational(root))


def _fraction(x: Any) -> Fraction:
    return numbers.fraction(x.fmpq())


def _plain(value: Fraction, power: int) -> Written:
    """Return a decimal with a finite number of digits, times 10^power."""
    digits = 0
    while (value * 10**digits).denominator != 1:
        digits += 1
    body = str(abs(int(value * 10**digits))).rjust(digits + 1, "0")
    body = f"{body[:-digits]}.{body[-digits:]}" if digits else body
    raised = f"·10{str(power).translate(RAISED)}" if power else ""
    minus = value < 0
    return math(f"{'−' * minus}{body}{raised}", f"{'-' * minus}{body}" + (rf"\cdot 10^{{{power}}}" if power else ""))
