"""How a file may write its symbols: as one letter with accents and indices, which is that of no other symbol in use.

What is displayed is to be read as the formula that it stands for: a letter called ``K − 1`` or ``σ²``, a Greek capital
that looks like a Latin one, or LaTeX that draws something else, would show another statement than the one compared.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping

from boundlab.errors import SpecError
from boundlab.formulas.symbols import SymbolInfo
from boundlab.formulas.written import letter_of_latex
from boundlab.greek import COMMANDS

_ACCENTS = "bar hat tilde dot ddot vec check breve acute grave overline mathcal mathbf mathrm mathbb mathit"
_VARIANTS = ("varepsilon", "vartheta", "varpi", "varrho", "varsigma", "varphi")
_ANY_GREEK = rf"\\(?:{'|'.join((*COMMANDS, *_VARIANTS))})(?![A-Za-z])"
_LETTER = rf"(?:[A-Za-z]|{_ANY_GREEK}|\\ell(?![A-Za-z]))"
_BASE = rf"(?:{_LETTER}|\\(?:{_ACCENTS.replace(' ', '|')})(?:\{{{_LETTER}\}}|(?![A-Za-z]) ?{_LETTER}| {_LETTER}))"
_WORD = rf"(?:{_ANY_GREEK}|\\(?:max|min|star|ell|prime)(?![A-Za-z])|\\(?:mathrm|text)\{{[A-Za-z0-9 ]+\}})"
_INDEX = rf"(?:[A-Za-z0-9*+-]|{_WORD}|\{{(?:[A-Za-z0-9*+,' -]|{_WORD})+\}})"
# A raised number would be read as a power.
_LATEX = re.compile(rf"{_BASE}'*(?:_{_INDEX}|\^(?!\{{?[0-9+-]){_INDEX}){{0,2}}'*")
_PLAIN = re.compile(r"[A-Za-z\u0370-\u03ffℓ][\u0300-\u036f]*[′*]*(?:_[A-Za-z0-9]{1,12}|[₀-₉₊₋ₐ-ₜ]{1,12})?[′*]*")
# Letters of other alphabets that look like Latin ones.
_LIKE = str.maketrans("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹ\u03f3ικνορυχ\u03f2ℓ′", "ABEZHIKMNOPTYXCjikvopuxcl'")


def checked_letter(text: str, what: str) -> str:
    """Return a letter in Unicode; raise unless it is one, with accents and indices."""
    if text and not _PLAIN.fullmatch(unicodedata.normalize("NFD", text)):
        raise SpecError(
            f"{what} must be one Latin or Greek letter with accents and indices, such as τ̄_max; got {text!r}"
        )
    return text


def checked_latex(text: str, what: str) -> str:
    r"""Return a letter in LaTeX; raise unless it is one, with accents and indices."""
    if text and not _LATEX.fullmatch(text):
        raise SpecError(
            rf"{what} must be one letter in LaTeX with accents and indices, such as \bar\tau_{{\max}}; got {text!r}"
        )
    return text


def refuse_lookalikes(own: Iterable[str], read: Iterable[str], symbols: Mapping[str, SymbolInfo], where: str) -> None:
    """Refuse letters of a file's own symbols that look like those of others in use.

    Parameters
    ----------
    own
        The names that the file declares.
    read
        All names that its formulas read.
    """
    seen: dict[str, str] = {}
    names = sorted(read)
    for name in [*(one for one in names if one not in own), *(one for one in names if one in own)]:
        info = symbols[name]
        shown = {_skeleton(one) for one in (name, info.unicode, letter_of_latex(info.latex))}
        if name in own:
            for one in sorted(shown & seen.keys()):
                raise SpecError(f"{where}, symbols.{name}: it is written like {seen[one]}; choose another letter")
        seen |= dict.fromkeys(shown, name)


def _skeleton(text: str) -> str:
    """Return what a reader sees of a letter."""
    plain = unicodedata.normalize("NFKC", text.translate(_LIKE)).translate(_LIKE)
    return re.sub(r"[_ ]|mathrm", "", plain).replace("\\", "")
