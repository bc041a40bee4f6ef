"""Numbers on pages, and what holds each: a claim, a rule, or a phrase that is listed.

A *claim* is a sentence or a table of a page with the function that finds its numbers again: from the registry, the
code, a recorded result, or a run. A number that no claim holds is no result by a *rule* (a reference, a date, a name, a
small number inside of a formula), or stands in a phrase of ``given.toml``: ``chosen`` are settings and quotations, ``by
hand`` what nothing finds again yet. A number without any of these is a test's failure.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from boundlab.verdict import ExitCode

ROOT = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").exists())
_PLACES = ("README.md", "docs/*.md", "docs/theory/*.md", "benchmarks/README.md", "notebooks/*.md", "notebooks/*.py")
PAGES = [str(path.relative_to(ROOT)) for place in _PLACES for path in sorted(ROOT.glob(place))]
NUMBER = re.compile(r"(?:\d{1,3}(?:,\d{3})+(?!,?\d)|\d+(?:\.\d+)*)(?:⁻?[⁰¹²³⁴-⁹]+)?")

# What is no prose: code and links, which other tests run or look up. Formulas of TeX stay, as formulas.
_CODE = (
    re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL),
    re.compile(r"(?<=\n\n)(?: {4}.*\n(?:\n(?= {4}))*)+"),
    re.compile(r"``.+?``|`[^`]+`|\]\([^)\n]*\)|<!--.*?-->|https?://\S+", re.DOTALL),
)
_CELL = re.compile(r"^# %% *(\[markdown\])?.*")
_TEX = re.compile(r"\$\$.*?\$\$|\$[^$]+\$", re.DOTALL)
_PART = r"[A-Z]{0,3}\.?\d+(?:\.\d+)*[a-z]?"
_MANY = rf"{_PART}(?:(?:, | and | to | or |–|/){_PART})*"
_NAMED = r"(?:[A-Z]{1,3}\d+(?:\.\d+)*[a-z]?|\d{1,3})"
_OPERATOR = r"[<>≤≥≠∈·+−√×^_‖⟨⟩∞*′ΣΠ±≈→]"
_RAISED = r"⁻?[⁰¹²³⁴-⁹]"
_LETTER = r"[A-Za-zΑ-ωℓ∂∇₀-₉ᵢ√ᵀ½(]"
_WORDS = (
    "Theorem|Lemma|Corollary|Proposition|Algorithm|Alg|Equation|equation|Section|Appendix|Table|Figure|Assumption|"
    "Definition|Remark|Line|line|Step|step|page|Chapter|Thm|Cor|footnote|notebook|client|group|WCAG|Nesterov 2018,"
)
RULES = {
    "reference": re.compile(
        rf"\b(?:{_WORDS})(?:s|ies|\.)? {_MANY}|§ ?{_MANY}|(?<![\w)])\({_NAMED}(?:(?:, |–| to ){_NAMED})*\)"
        r"|\\tag\{[^}]*\}|\b[A-Z]{1,2}\d+(?:\.\d+)*[a-z]?\b"
        r"|^ *(?:\*\*|## |)\d+\.(?:\*\*)? |\*\*\d+\.\*\*|\[\d\d_|arXiv:[\d.]+v?\d*",
        re.MULTILINE,
    ),
    "date": re.compile(r"\b(?:1[6-9]|20)\d\d(?:-\d\d(?:-\d\d)?)?\b"),
    "name": re.compile(
        r"\b(?:Python|APPFL|FLSim|float|int|ISO|sm_|UTF-|ℓ)[ -]?\d+(?:\.\d+)*(?: (?:to|or|and) \d+\.\d+)*"
        r"|\b[A-Za-zα-ω][A-Za-zα-ω_-]*\d+\w*|\b\d+(?:th|st|nd|rd)\b|\b\d+-bit\b"
    ),
    "version": re.compile(r"(?<![\d.])\d+\.\d+\.\d+(?![\d.]*\d)"),
    "exit code": re.compile(
        rf"\b[Ee]xit(?: code)?s? (?:is |are |of )?(?:{'|'.join(str(int(code)) for code in ExitCode)})\b"
    ),
    # Whole numbers of at most two digits that an operator or a letter touches; what stands behind "=" is a value.
    "formula": re.compile(
        rf"(?:(?<={_OPERATOR})|(?<={_OPERATOR} )|(?<=/)|(?<=[a-zA-Zα-ω)]\())\d\d?(?![.,]?\d|{_RAISED})"
        rf"|(?<![\d.,])\d\d?(?= ?{_OPERATOR}|/|{_LETTER})|[\[(]\d(?:, \d)*[\])]|(?<==) ?[01](?![\d.]|{_RAISED})"
    ),
    "0 or 1": re.compile(r"(?<![\d.,])[01](?![\d.,%]\d| of \d|\d| ?%)"),
}


@dataclass(frozen=True)
class Number:
    """A number on a page: where it stands, and what is around it."""

    page: str
    start: int
    text: str
    line: int
    around: str


@dataclass(frozen=True)
class Claim:
    """What a page says, and how its numbers are found again.

    Parameters
    ----------
    says
        Text of the page, with # for each number that ``find`` returns in turn; '' where it returns all of the text.
    nightly
        Whether that takes more than a second or so.
    partly
        Whether ``says`` is itself read off the page, so that of its numbers only those at # are held.
    """

    page: str
    says: str
    find: Callable[[], str | Sequence[str]]
    nightly: bool = False
    partly: bool = False

    @property
    def name(self) -> str:
        return f"{self.page}-{getattr(self.find, '__name__', 'row')}"

    def pattern(self) -> re.Pattern[str]:
        """Return what finds the sentence, each number a group, lines broken anywhere."""
        text = self.says or self.find()
        assert isinstance(text, str)
        parts = [r"\s+".join(map(re.escape, re.split(r"\s+", part))) for part in text.split("#")]
        return re.compile(rf"({NUMBER.pattern})".join(parts))

    def place(self) -> re.Match[str]:
        """Return where the page says it; it says it once."""
        places = list(self.pattern().finditer(words(self.page)))
        assert len(places) == 1, f"{self.page} says {len(places)} times: {self.says or self.find()}"
        return places[0]

    def holds(self) -> list[tuple[int, int]]:
        """Return where on the page the numbers stand that it holds."""
        said = self.place()
        return [said.span(one + 1) for one in range(len(said.groups()))] if self.partly else [said.span()]

    def check(self) -> None:
        """Fail where the page does not say what is found."""
        said = self.place()
        if self.says:
            said_numbers, found = list(said.groups()), list(self.find())
            assert said_numbers == found, f"{self.says}: it says {said_numbers} and should say {found}"


CLAIMS: list[Claim] = []


def claim(page: str, says: str = "", *, nightly: bool = False) -> Callable[[Callable[[], str | Sequence[str]]], object]:
    """Return a decorator that makes a claim of a function."""

    def add(find: Callable[[], str | Sequence[str]]) -> object:
        CLAIMS.append(Claim(page, says, find, nightly))
        return find

    return add


@cache
def words(page: str) -> str:
    """Return the text of a page; of the text beside a notebook the prose, each sign at its place."""
    text = (ROOT / page).read_text(encoding="utf-8")
    if not page.endswith(".py"):
        return text
    kept, prose = [], False
    for line in text.split("\n"):
        cell = _CELL.match(line)
        prose = bool(cell[1]) if cell else prose
        kept.append("  " + line[2:] if prose and not cell else _blank(line))
    return "\n".join(kept)


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def numbers(page: str, text: str | None = None) -> Iterator[Number]:
    """Yield the numbers of a page's prose, tables and formulas."""
    text = words(page) if text is None else text
    for code in _CODE:
        text = code.sub(lambda found: _blank(found[0]), text)
    for found in NUMBER.finditer(text):
        around = " ".join(text[max(0, found.start() - 40) : found.end() + 40].split())
        yield Number(page, found.start(), found[0], text.count("\n", 0, found.start()) + 1, around)


def given(page: str, kind: str) -> list[str]:
    """Return the phrases of a page in ``given.toml``: ``chosen``, or found ``by hand``."""
    document = tomllib.loads((Path(__file__).parent / "given.toml").read_text(encoding="utf-8"))
    return list(document.get(page, {}).get(kind, []))


def spans(page: str, phrase: str) -> list[tuple[int, int]]:
    """Return where a phrase stands, lines broken anywhere."""
    pattern = r"\s+".join(map(re.escape, phrase.split()))
    return [one.span() for one in re.finditer(rf"(?<![\d.,]){pattern}(?![.,]?\d)", words(page))]


def rules(page: str) -> dict[str, list[tuple[int, int]]]:
    """Return rule → where it applies on a page; inside TeX every small whole number is part of the formula."""
    text = words(page)
    found = {name: [one.span() for one in rule.finditer(text)] for name, rule in RULES.items()}
    for tex in _TEX.finditer(text):
        small = re.finditer(r"(?<![\d.])\d{1,2}(?!\.?\d)", tex[0])
        found["formula"] += [(tex.start() + one.start(), tex.start() + one.end()) for one in small]
    return found


def held(page: str) -> Iterator[tuple[Number, str]]:
    """Yield each number of a page with the class that holds it, '' where none does."""
    classes = {"claim": [span for one in CLAIMS if one.page == page for span in one.holds()]}
    for kind in ("chosen", "by hand"):
        classes[kind] = [span for phrase in given(page, kind) for span in spans(page, phrase)]
    classes |= rules(page)
    for number in numbers(page):
        here = (name for name, places in classes.items() if any(a <= number.start < b for a, b in places))
        yield number, next(here, "")
