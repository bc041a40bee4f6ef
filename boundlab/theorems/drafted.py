r"""A draft of a theorem file from a theorem in LaTeX.

One reader translates the formulas that theorems are made of: fractions, roots, powers, products without a sign. SymPy's
own parser, 1.14 with lark, reads 7 of 18 such formulas: it stops at norms and at ``R^2 \exp``. What the reader does not
know to its end stays in the draft as a comment, and so does what the text leaves open: no guess is silent.
"""

import re
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from boundlab.errors import SpecError, visible

_LONGEST: Final = 200_000  # letters of a file whose commands are written out
_FUNCTIONS: Final = {"sqrt": "sqrt", "exp": "exp", "log": "log", "ln": "log", "max": "Max", "min": "Min"}
_TOKEN: Final = re.compile(
    r"\s*(?:(\\[A-Za-z]+|\\[\\{}|]|\d+(?:\.\d+)?|[A-Za-z]|[\^_{}()\[\]+\-*/,|'=<>!;:.~&])|(.{1,12}))", re.DOTALL
)
_UNCLAIMED: Final = re.compile(r"_.*(?:[<≤>]|\\(?:[lg]e|lesssim|l?eqsim|asymp|preceq)(?![a-z]))")
_RELATION: Final = re.compile(r"\\(?:leqslant|leq|le)(?![A-Za-z])|<|≤")
_SPACES: Final = re.compile(
    r"\\(?:left|right|[bB]igg?[lrm]?|displaystyle|limits|nolimits|quad|qquad|nonumber|notag)(?![A-Za-z])|\\[,;:! ]"
    r"|\\(?:label|tag|eqref|ref|cite)\{[^}]*\}|[~&]"
).pattern


class UnreadableError(Exception):
    """A formula that the reader does not know to its end."""


@dataclass
class Draft:
    """A theorem file in the making.

    Attributes
    ----------
    text
        The TOML file: assumptions are comments to be ticked, and so is what was not understood.
    assumptions
        The assumptions that the text names, each a comment of the file.
    open
        What the draft leaves to its author, a sentence each.
    """

    text: str
    assumptions: list[str]
    open: list[str]


class _Formula:
    """A recursive reader of one formula: sums of products of powers, in the grammar of theorem files."""

    def __init__(self, latex: str, names: dict[str, str]) -> None:
        self.tokens, self.names = ["", *reversed(_tokens(latex))], names  # the next one is the last

    def whole(self) -> str:
        found = self.sum()
        if self.seen():
            raise UnreadableError(self.seen())
        return found

    def seen(self) -> str:
        return self.tokens[-1]

    def next(self, *wanted: str) -> bool:
        """Pass over the next token if it is one of those that are wanted."""
        return self.seen() in wanted and self.token() in wanted

    def token(self) -> str:
        if not self.seen():
            raise UnreadableError("the formula ends too early")
        return self.tokens.pop()

    def closed(self, *closing: str) -> None:
        if not self.next(*closing):
            raise UnreadableError(f"{closing[0]} is missing")

    def sum(self) -> str:
        found = ("-" if self.next("-") else "") + _inside(self.product(), 1)
        while self.seen() and self.seen() in "+-":
            found += f" {self.token()} {_inside(self.product(), 1)}"
        return found

    def product(self) -> str:
        """Return a product; a slash ends it, since 1/2K is read in two ways."""
        parts = [self.power()]
        while self.seen() not in ("", "+", "-", ")", "]", "}", r"\}", ","):
            if self.next("/"):
                below = self.power()
                if self.seen() not in ("", "+", "-", ")", "]", "}", r"\}", ","):
                    raise UnreadableError("a slash before a product is read in two ways")
                return _quotient(_times(parts), below)
            self.next("*", r"\cdot", r"\times")
            parts.append(self.power())
        return _times(parts)

    def power(self) -> str:
        base = self.atom()
        return f"{_inside(base, 3)}**{_inside(self.group(), 3)}" if self.next("^") else base

    def group(self) -> str:
        """Return what stands in braces, or one sign."""
        if len(self.seen()) > 1 and self.seen().isdigit():
            self.tokens[-1:] = reversed(self.seen())  # \\frac12 is 1/2, and x^10 is x to the 1, times 0
        return self.atom()

    def atom(self) -> str:
        token = self.token()
        if (closing := {"(": ")", "[": "]", "{": "}", r"\{": r"\}"}.get(token)) is not None:
            inside = self.sum()
            self.closed(closing)
            return inside
        if token[0].isdigit():
            return token
        name = token.removeprefix("\\")
        if name in ("frac", "tfrac", "dfrac"):
            above = self.group()
            return _quotient(above, self.group())
        if name in _FUNCTIONS:
            return self.function(_FUNCTIONS[name])
        if name == "e" and self.next("^"):
            return f"exp({self.group()})"
        if self.next("_"):
            name += f"_{self.index()}"
        if name not in self.names:
            raise UnreadableError(f"the letter {name}")
        return self.names[name]

    def index(self) -> str:
        """Return the index of a letter, without braces."""
        if not self.next("{"):
            return self.token().removeprefix("\\")
        inside = ""
        while not self.next("}"):
            inside += self.token().removeprefix("\\")
        return inside

    def function(self, name: str) -> str:
        if name == "sqrt":
            if self.seen() == "[":
                raise UnreadableError("a root of another order")
            return f"sqrt({self.group()})"
        if self.seen() == "^":
            raise UnreadableError(f"a power of {name}")
        if not self.next("(", r"\{", "{", "["):
            if name in ("Max", "Min"):
                raise UnreadableError(f"{name} of what")
            return f"{name}({self.power()})"
        parts = [self.sum()]
        while self.next(","):
            parts.append(self.sum())
        self.closed(")", r"\}", "}", "]")
        return f"{name}({', '.join(parts)})"


def _inside(formula: str, least: int) -> str:
    """Put a formula in parentheses where it binds less than ``least``: 0 a sum, 1 a product, 2 a power, 3 a name."""
    flat = formula
    while flat != (flat := re.sub(r"\([^()]*\)", "", flat)):
        pass
    binds = 0 if re.search(r"[+-]", flat) else 1 if re.search(r"(?<!\*)\*(?!\*)|/", flat) else 2 if "**" in flat else 3
    return formula if binds >= least else f"({formula})"


def _times(parts: list[str]) -> str:
    return "*".join(_inside(one, 1) for one in parts) if len(parts) > 1 else parts[0]


def _quotient(above: str, below: str) -> str:
    return f"{_inside(above, 1)}/{_inside(below, 2)}"


def _tokens(latex: str) -> list[str]:
    found = _TOKEN.findall(latex.strip())
    for _, strange in found:
        if strange:
            raise UnreadableError(strange)
    return [token for token, _ in found]


# What the words of a theorem say. A letter is what stands between dollars.
_X: Final = r"(?:\\theta|x|w|z)"
_I: Final = r"_(?:\{([A-Za-z][+-]1)\}|([A-Za-z]))"
_OPT: Final = (
    rf"(?:[fF]\^\*|[fF]\({_X}\^\*\)|[fF]_\{{?\\(?:min|inf)\}}?|\\(?:min|inf)(?:_{_X}|_\{{{_X}\}})? ?[fF](?:\({_X}\))?)"
)
_LETTER: Final = r"\$\s*(?![fF]\s*\$)(\\?[A-Za-z]+(?:_(?:\w|\{\w+\}))?)\s*(?:>\s*0\s*)?\$"
_OF: Final = r"(?:constant|parameter|modulus)"
_LIPSCHITZ: Final = r"Lipschitz[- ](?:continuous )?gradient"
_METRICS: Final = {"gap": "gap", "distance": "squared-distance", "slope": "gradient-norm-last"}
_SAID: Final = (
    ("smooth", "L", rf"{_LETTER}[- ]*smooth|smooth\w*,? with {_OF} {_LETTER}"),
    ("smooth", "L", rf"{_LETTER}[- ]*{_LIPSCHITZ}|gradients? (?:\$[^$]*\$ )?(?:is|are) {_LETTER}[- ]*Lipschitz"),
    ("smooth", "L", rf"{_LIPSCHITZ}s?,? (?:with )?{_OF}? ?{_LETTER}"),
    ("smooth", "L", rf"\$\\nabla f\$ (?:is|be) {_LETTER}[- ]*Lipschitz"),
    ("smooth", "L", rf"\$\\nabla f\$ (?:is )?Lipschitz with {_OF} {_LETTER}"),
    ("strongly-convex", "mu", rf"{_LETTER}[- ]*strongly[- ]convex|strongly[- ]convex,? with {_OF} {_LETTER}"),
    ("lipschitz", "B", rf"{_LETTER}[- ]*Lipschitz(?! *(?:continuous )?gradient)"),
    ("lipschitz", "B", rf"subgradients? bounded (?:in norm )?by {_LETTER}"),
    ("bounded-variance", "sigma", r"variance (?:is |of )?(?:at most|bounded (?:above )?by) \$(\\?[A-Za-z]+)\^2\$"),
    ("", "kappa", rf"condition number {_LETTER}"),
    ("", "n", rf"{_LETTER} (?:clients|workers|nodes|devices|agents)"),
)
_DEFINED: Final = (
    ("", "R", r"\\Rzero(?:=|\\le ?)(\\?[A-Za-z]+)|\\Rzero\^2(?:=|\\le ?)(\\?[A-Za-z]+)\^2"),
    ("", "F0", r"\\Fzero(?:=|\\le ?)(\\?[A-Za-z]+(?:_0)?)"),
    ("lipschitz", "B", rf"\\\|(?:g_?\w?|\\nabla f\({_X}\))\\\|\\le ?(\\?[A-Za-z]+)"),
    ("bounded-second-moment", "G", r"E\[?\\\|g[^|]*\\\|\^2\]?\\le ?(\\?[A-Za-z]+)\^2"),
    ("bounded-variance", "sigma", r"E\[?\\\|g[^|]*-\\nabla f[^|]*\\\|\^2\]?\\le ?(\\?[A-Za-z]+)\^2"),
)
_PLAIN: Final = (
    r"(?:gradient[- ]descent|(?:sub-?)?gradient (?:method|steps|descent)|steepest[- ]descent)(?: algorithm)?"
)
# All words of a method that boundlab has; what else the text says of the method leaves it open.
_METHODS: Final = (
    (
        r"(?:Nesterov(?:['’]s)? )?accelerated (?:gradient (?:descent|method)|method(?: of Nesterov)?)|"
        r"Nesterov['’]s (?:gradient )?method",
        "nesterov",
        (),
    ),
    (rf"(?:{_PLAIN} with )?heavy[- ]ball (?:method|momentum|iterates?)", "heavy_ball", ()),
    (r"proximal[- ]point (?:method|algorithm)", "proximal_point", ()),
    (r"proximal[- ]gradient (?:method|descent)(?: algorithm)?|ISTA\b", "gd", ("composite",)),
    (
        rf"projected {_PLAIN}(?: onto (?:the|a) (?:closed )?(?:convex )?set\b)?",
        "gd",
        ("constrained",),
    ),
    (rf"(?:stochastic )?{_PLAIN}|SGD\b|\bGD\b", "gd", ()),
)
_NEGATION: Final = r"\b(?:not|no|nor|neither|never|without|cannot|unless|fails?)\b|n't\b"
# Words that neither claim nor qualify anything: every other word that gave no line of the draft is left open.
_NEUTRAL: Final = """a after all also an and any apply applied are assume assuming at be begin begins bound bounds by
    choose choosing chosen closed consider converge converges convergence define defined denote denotes descent
    ensures estimate every expectation expected each following for from function functions gave generated get given
    gives global gradient gradients guarantees had has have hold holds if in inequality initial initialised
    initialized is it iterate iterates iteration iterations its let method minimiser minimisers minimizer minimizers
    minimum obey obeys objective obtain obtains of on our point points produced proper rate run running satisfied
    satisfies satisfy satisfying sequence set size sizes solution start starting starts step steps stochastic
    subgradient subgradients such suppose taken take taking that the then theorem these this to unbiased update
    updates use used uses using value values we when where which whose with yield yields you"""
# Phrases of neutral words and others: with which line of the draft they say nothing more.
_PHRASES: Final = (
    (r"(?:constant |fixed )?(?:step[- ]?(?:size|length)s?|learning rates?)", ""),
    (r"bounded (?:from )?below(?: by)?|lower[- ]bounded(?: by)?", ""),
    (r"last iterate", r'metric = "(?!ergodic)'),
    (r"average(?:d)? (?:iterates?|of the iterates)|average|mean", "average|mean|ergodic"),
    (r"best iterate|minimum over the iterates", "best"),
    (r"bounded variance|variance", "bounded-variance"),
    (r"(?:continuously )?differentiable", "smooth"),
    (r"minimi[sz]es", "minimiser"),
)
_MATH: Final = re.compile(
    r"\$\$(.+?)\$\$|\$([^$]+)\$|\\\((.+?)\\\)|\\\[(.+?)\\\]|"
    r"\\begin\{(equation|align|gather|multline|eqnarray)\*?\}(.+?)\\end\{\5\*?\}",
    re.DOTALL,
)
_THEOREM: Final = re.compile(
    r"\\begin\{(theorem|thm|lemma|lem|proposition|prop|corollary|cor)\*?\}(.+?)\\end\{\1\*?\}",
    re.DOTALL | re.IGNORECASE,
)
_MACRO: Final = re.compile(
    r"\\(?:re)?newcommand\*?\{?(\\[A-Za-z]+)\}?(?:\[(\d)\])?\{|\\DeclareMathOperator\*?\{(\\[A-Za-z]+)\}\{"
)
_FONTS: Final = r"\\(?:math(?:bf|rm|bb|cal|sf)|boldsymbol|bm|vec|operatorname)\*?"
_BETWEEN: Final = re.compile(r"\\(?:text|mbox)\{[^}]*\}|\\(?:forall|q?quad)(?![A-Za-z])")
# What says nothing of numbers: the space, the method's own line, where k begins.
_SAYS_NOTHING: Final = re.compile(
    rf"\\?[A-Za-z]+(?:_\w|\^2)?(?:>0)?|[fF]\^\*|\(?{_X}(?:_\w|\^\*)\)?|R\^\w|\\nabla [fF]|[fF]:.*|"
    r"F(?:\(x\))?=f(?:\(x\))?\+[gh](?:\(x\))?|"
    rf"{_X}(?:_0|_1|\^\*)?\\in.*|n(?:\\ge|>)[01]"
)


def drafted(latex: str, name: str) -> Draft:
    """Return a draft of the one theorem in a text.

    Parameters
    ----------
    latex
        A file in LaTeX: its one theorem, lemma, proposition or corollary, or else all of it.

    Raises
    ------
    SpecError
        If there are several theorems, or nothing in it has the form of a bound.
    """
    text = _expanded(re.sub(r"(?<!\\)%.*", "", latex))
    found = _THEOREM.findall(text)
    if len(found) > 1:
        raise SpecError(f"the file has {len(found)} theorems; leave one in it")
    return _Reading(found[0][1] if found else text, name).draft()


def _expanded(text: str) -> str:
    r"""Write out the author's own commands, and ``\norm``, which most authors have."""
    macros = {r"\norm": (1, r"\|#1\|")}
    while (match := _MACRO.search(text)) is not None:
        body = _braced(text, match.end() - 1)
        macros[match[1] or match[3]] = (int(match[2] or 0), body if match[1] else rf"\mathrm{{{body}}}")
        text = text[: match.start()] + text[match.end() + len(body) + 1 :]
    for _ in range(4):  # commands within commands
        for command, (count, body) in macros.items():
            text = _replaced(text, command, count, body)
            if len(text) > _LONGEST:
                raise SpecError(
                    f"the commands of the file write out to more than {_LONGEST} letters; \\{command[1:]} is one"
                )
    return text


def _replaced(text: str, command: str, count: int, body: str) -> str:
    pattern = re.compile(re.escape(command) + r"(?![A-Za-z])\s*")
    at = 0
    while (match := pattern.search(text, at)) is not None:
        end, filled = match.end(), body
        for place in range(1, count + 1):
            if text[end : end + 1] != "{":
                return text
            value = _braced(text, end)
            filled, end = filled.replace(f"#{place}", value), end + len(value) + 2
        text = text[: match.start()] + filled + (" " if not count else "") + text[end:]
        at = match.start() + len(filled)
    return text


def _braced(text: str, start: int) -> str:
    """Return what stands between the brace at ``start`` and the one that closes it."""
    depth = 0
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return text[start + 1 : at]
    raise SpecError("a brace of the file is not closed")


def _canonical(latex: str) -> str:
    r"""Return mathematics without spaces, sizes and fonts; norms are ``\|``, the minimiser is ``x^*``."""
    text = re.sub(_SPACES, " ", latex).replace("\\\\", " ")
    text = re.sub(_FONTS + r"\s*(?:\{\s*(\\?[A-Za-z]+)\s*\}|([A-Za-z]))", r" \1\2", text)
    parts = [*re.findall(r"\\[A-Za-z]+|\\.|\S", text), ""]
    text = "".join(one + (" " if len(one) > 2 and after.isalpha() else "") for one, after in pairwise(parts))
    for pattern, to in (
        (r"\\(?:[lr]?Vert|\|)(?:_2|_\{2\})?", r"\\|"),
        (r"\\(?:star|ast) ?", "*"),
        (r"\\(?:leqslant|leq) ?|≤", r"\\le "),
        (r"\\(?:geqslant|geq) ?|≥", r"\\ge "),
        (r":=|\\coloneqq ?|\\equiv ?", "="),
        (r"(?:\^|_)\{\*\}|_\*", "^*"),
        (rf"({_X})\^\{{\(?([A-Za-z01](?:[+-]1)?)\)?\}}", r"\1_{\2}"),
        (rf"({_X})\^([A-Za-z01])", r"\1_\2"),
        (r"_\{(\w)\}", r"_\1"),
        (r"\\(le|ge) (?![A-Za-z])", r"\\\1"),
    ):
        text = re.sub(pattern, to, text)
    return text.strip(" .,;:")


class _Reading:
    """One theorem while it is read: its letters, its mathematics, and the parts that are not used yet."""

    def __init__(self, said: str, name: str) -> None:
        self.name = name
        self.names: dict[str, str] = {}
        self.assumptions: list[str] = []
        self.open: list[str] = []
        self.starts: set[int] = set()
        raw = [next(one for one in (*match[:4], match[5]) if one) for match in _MATH.findall(said)]
        self.raw = [part for one in raw for part in _BETWEEN.split(one) if part.strip()]
        self.maths = [self._named(_canonical(one)) for one in self.raw]
        self.stochastic = re.search(r"stochastic|SGD", said, re.IGNORECASE) is not None
        self.prose = re.sub(r"\\(?:emph|textbf|textit)\{([^{}]*)\}", r"\1", re.sub(r"\s+|~", " ", said))

    def _named(self, text: str) -> str:
        r"""Name the distance and the gap of the start, ``\Rzero`` and ``\Fzero``."""
        for pattern, name in (
            (rf"\\\|{_X}_([01])-{_X}\^\*\\\||\\\|{_X}\^\*-{_X}_([01])\\\|", r"\\Rzero"),
            (rf"(?:(?<![^({{\[=+])|(?<=\\le))[fF]\({_X}_([01])\)-{_OPT}(?=$|[)}}\]=+]|\\le)", r"\\Fzero"),
        ):
            self.starts |= {int(one[one.lastindex or 0]) for one in re.finditer(pattern, text)}
            text = re.sub(pattern, name, text)
        return text

    def _mean(self, letter: str, symbol: str, assumption: str) -> bool:
        """Let a letter be a symbol; return whether it had no other meaning."""
        letter = letter.removeprefix("\\")
        if self.names.setdefault(letter, symbol) != symbol:
            return False
        self._assume(assumption)
        return True

    def _assume(self, *assumptions: str) -> None:
        self.assumptions += [one for one in assumptions if one and one not in self.assumptions]

    def _formula(self, latex: str) -> str:
        found = _Formula(latex, {**self.names, "Rzero": "R", "Fzero": "F0"}).whole()
        found = re.sub(r"\(K ([+-] \d)\) ([+-] \d)(?![\d*])|(?<!\w)K ([+-] \d) ([+-] \d)(?![\d*])", _joined, found)
        return re.sub(r"(?<!\w)\(K\)", "K", found)

    def _pass(self, pattern: str) -> re.Match[str] | None:
        """Return what a piece of mathematics says that is all of the pattern, and pass over it from now on."""
        for place, one in enumerate(self.maths):
            if one and (match := re.fullmatch(pattern, one)) is not None:
                self.maths[place] = ""
                return match
        return None

    def _take(self, pattern: str) -> re.Match[str] | None:
        """Return what the prose says first that is the pattern, and pass over all that say the same.

        Nothing is taken from words behind a negation, nor what is said of another function than f.
        """
        found = [one for one in re.finditer(pattern, self.prose, re.IGNORECASE) if self._is_said(one)]
        for one in reversed(found):
            if one.groups() == found[0].groups():
                self.prose = f"{self.prose[: one.start()]}|{self.prose[one.end() :]}"
        return found[0] if found else None

    def _is_said(self, match: re.Match[str]) -> bool:
        before = re.split(r"[.;](?=\s)", self.prose[: match.start()])[-1]
        if re.search(_NEGATION, before, re.IGNORECASE) or re.match(
            r" (?:is|are|need) not\b", self.prose[match.end() :]
        ):
            return False
        subject = re.findall(r"\$([^$]*)\$ (?:is|are|be)\b", before)
        of_f = not subject or re.match(r"\\?(?:nabla )?[fF]\b|[fF]_", subject[-1].strip()) is not None
        return of_f or re.search(r"convex|smooth|Lipschitz", match[0], re.IGNORECASE) is None

    def draft(self) -> Draft:
        method = self._method()
        self._letters()
        steps = self._steps()
        self._begins()
        left, right = self._claim()
        self._definitions(steps)
        try:
            bound = self._formula(right)
        except UnreadableError as reason:
            self.open.append(f"the bound is not understood: {reason}")
            bound = ""
        rule, conditions = self._step(steps)
        self._unsaid(method)
        first = self._first()
        known = re.search(r"\bR\b", bound) or not any("slope" in line or "gradient" in line for line in left)
        self._assume("minimiser" if known else "bounded-below")
        strange = [f'"{words}"' for words in self._unread(left)]
        pieces = zip(self.raw, self.maths, strict=True)
        strange += [f"${raw.strip()}$" for raw, one in pieces if one and not _SAYS_NOTHING.fullmatch(one)]
        self.open += [f"not understood: {one}" for one in strange]
        if method and strange:
            self.open.append(f'the method, algorithm = "{method}" if what is not understood says nothing else')
            method = ""
        if len(self.starts) > 1:
            self.open.append("the start is x_0 in one place and x_1 in another")
        return self._written(method, first, left, bound, right, rule, conditions)

    def _first(self) -> int:
        """Return the least number of iterations that the text speaks of, 0 or 1: what it says of its horizon."""
        least = 1
        for place, one in enumerate(self.maths):
            if match := re.fullmatch(r"([A-Za-z])(?:(\\ge|>)(\d)|=([01]),.*)", one):
                begins = int(match[3] or match[4]) + (match[2] == ">")
                if shift := re.fullmatch(
                    r"K(?: ([+-]) (\d))?", self.names.get(match[1], "")
                ):  # the letter is K + shift
                    begins -= int(f"{shift[1] or ''}{shift[2] or 0}")
                    least = min(least, begins)
                self.maths[place] = "" if begins in (0, 1) else one
        return least

    def _unread(self, left: list[str]) -> list[str]:
        """Return the phrases of the text that gave no line of the draft and that are not neutral."""
        lines = " ".join((*left, *self.assumptions))
        for pattern, line in _PHRASES:
            if re.search(line, lines):
                self._take(rf"\b(?:{pattern})(?![-\w])")
        plain = re.sub(
            r"\\(?:begin|end|label|ref|eqref|cite\w*|documentclass|usepackage)\*?(?:\[[^]]*\])?\{[^}]*\}",
            " ",
            _MATH.sub("|", self.prose),
        )
        found, neutral = [], {"", *_NEUTRAL.split()}
        for part in re.split(r"[|,;:()\[\]{}]|\.(?!\d)", re.sub(r"\\[A-Za-z]+\*?|\\.", " ", plain)):
            words = part.split()
            plainly = (re.sub(r"^\W+|['’]s$|\W+$", "", word.lower()) for word in words)
            strange = [at for at, word in enumerate(plainly) if word not in neutral]
            found += [" ".join(words[strange[0] : strange[-1] + 1])] if strange else []
        return found

    def _definitions(self, step: str) -> None:
        r"""Write out letters that the text defines by a formula, ``\kappa = L/\mu``."""
        horizons = {name for name, meaning in self.names.items() if "K" in meaning}
        for _ in self.maths:
            for place, one in enumerate(self.maths):
                match = re.fullmatch(r"(\\?[A-Za-z]+(?:_(?:\w|\{\w+\}))?)=(.+)", one)
                letter = re.sub(r"[\\{}]", "", match[1]) if match else ""
                if (
                    match is None
                    or match[1].partition("_")[0] == step
                    or letter in self.names
                    or letter.rpartition("_")[2] in horizons
                ):
                    continue
                with suppress(UnreadableError):
                    self.names[letter] = self._formula(match[2])
                    self.maths[place] = ""

    def _begins(self) -> None:
        """Look for the number of the first model where neither the distance nor the gap of the start names it."""
        if not self.starts:
            found = {int(at) for one in self.maths for at in re.findall(rf"{_X}_([01])", one)}
            self.starts = {min(found, default=0)}
            if len(found) != 1:
                self.open.append("the method is taken to start at x_0")

    def _method(self) -> str:
        found = [(name, assumptions) for pattern, name, assumptions in _METHODS if self._take(pattern)]
        if len(found) == 1:
            self._assume(*found[0][1])
            return found[0][0]
        self.open.append("the text names several methods" if found else "the text names no method that boundlab has")
        return ""

    def _unsaid(self, method: str) -> None:
        """Say what the text leaves open about the method."""
        noise = {"bounded-variance", "bounded-second-moment"} & {*self.assumptions}
        if self.stochastic and not noise:
            self.open.append(
                "gradients are noisy: tick bounded-variance, or let an iteration draw a client, sampling = 'uniform'"
            )
        if method == "heavy_ball":
            self.open.append("the momentum is the option beta")
        if method == "nesterov" and "strongly-convex" in self.assumptions:
            self.open.append("the momentum for strongly convex functions is the option q = 'mu/L'")

    def _letters(self) -> None:
        for assumption, symbol, pattern in _SAID:
            if match := self._take(pattern):
                self._mean(next(one for one in match.groups() if one), symbol, assumption)
        for assumption, symbol, pattern in _DEFINED:
            while match := self._pass(pattern):
                self._mean(next(one for one in match.groups() if one), symbol, assumption)
        for word, assumption, letter, symbol in (
            (rf"(?<![-\w])smooth\b|{_LIPSCHITZ}|\$\\nabla f\$ (?:is )?Lipschitz", "smooth", "L", "L"),
            (r"(?<![-\w])strongly[- ]convex\b", "strongly-convex", "mu", "mu"),
            (
                r"(?<![-\w])(?<!weakly )(?<!quasi )(?<!star )convex\b(?! (?:set|hull|body|combination|constraint))",
                "convex",
                "",
                "",
            ),
        ):
            if self._take(word) and assumption not in self.assumptions:
                if not letter:
                    self._assume(assumption)
                elif self._mean(letter, symbol, assumption):
                    self.open.append(f"{letter} is taken as the constant of {assumption}, since the text names none")

    def _steps(self) -> str:
        """Return the letter of the step, as it stands in the mathematics; "" without one."""
        update = self._pass(rf"{_X}_\{{\w\+1\}}={_X}_\w-(\\?[A-Za-z]+)(?:_\w)? ?(?:\\nabla f\({_X}_\w\)|g_\w)")
        match = update or re.search(
            r"(?:step[- ]?(?:size|length)s?|learning rates?)[^$]{0,40}\$\s*(\\?[A-Za-z]+)(?![A-Za-z])", self.prose
        )
        if match is None:
            return self._unsaid_step()
        return match[1] if self._mean(match[1], "alpha", "") else ""

    def _unsaid_step(self) -> str:
        """Return the one letter that steps often have and that the text defines, where it names no step."""
        found = {
            match[1]
            for one in self.maths
            if (match := re.match(r"(?:0<)?(\\eta|\\alpha|\\gamma|h|s)(?:=|\\le|<)", one))
        }
        free = [one for one in found if one.removeprefix("\\") not in self.names]
        if len(free) != 1:
            return ""
        self._mean(free[0], "alpha", "")
        self.open.append(f"{free[0]} is taken as the step")
        return free[0]

    def _step(self, letter: str) -> tuple[str, list[str]]:
        """Return the rule of the step, and the conditions on it."""
        rule, conditions = "", []
        it = re.escape(letter) + r"(?:_\w)?"
        while letter and (match := self._pass(rf"(?:0(?:<|\\le ?))?{it}(=|\\le ?|<)(.+)|{it}\\in[(\[]0,(.+)([)\]])")):
            latex = match[2] or match[3]
            index = re.match(rf"(?:0(?:<|\\le ?))?{re.escape(letter)}_(\w)", match[0])
            try:
                if index and re.search(rf"(?<![A-Za-z\\]){index[1]}(?![A-Za-z])", latex):
                    raise UnreadableError(
                        f"it changes with {index[1]}; see steps of each iteration in docs/theorems.md"
                    )
                found = self._formula(latex)
            except UnreadableError as reason:
                self.open.append(f"the step is not understood: {match[0]}: {reason}")
            else:
                sign = "=" if match[1] == "=" else "<" if match[1] == "<" or match[4] == ")" else "<="
                conditions += [] if sign == "=" else [f"alpha {sign} {found}"]
                rule = found if sign == "=" else rule or (found if sign == "<=" else f"({found})/2")
        plain = None if rule or letter else re.search(r"step[- ]?(?:size|length)s? (?:of )?\$([^$]+)\$", self.prose)
        if plain is not None and self._pass(re.escape(_canonical(plain[1]))):
            with suppress(UnreadableError):
                rule = self._formula(_canonical(plain[1]))
        return rule, conditions

    def _claim(self) -> tuple[list[str], str]:
        """Return the left side as lines of a file, and the right side in LaTeX; the horizon gets its name."""
        found: tuple[list[str], str] | None = None
        for place, one in enumerate(self.maths):
            left, *sides = _sides(one)
            if not sides or (lines := self._left(left.strip())) is None:
                continue
            self.maths[place] = ""
            if found is None:
                found = lines, sides[0].strip(" .,;")
                self.open += [f"the text goes on: ... <= {more.strip()}" for more in sides[1:]]
            else:
                self.open.append(f"a second claim: ${self.raw[place].strip()}$")
        if found is None:
            tried = [raw for raw, one in zip(self.raw, self.maths, strict=True) if _UNCLAIMED.search(one)]
            where = visible(f" in {' '.join(max(tried, key=len).split())}" if tried else "")
            raise SpecError(
                f"no bound is found{where}: a draft is made of f(x_K) - f^* \\le ..., of \\|x_K - x^*\\|^2, of "
                "\\|\\nabla f(x_K)\\|^2, of their minima and means over k, and of f(\\bar x_K) - f^*; without its "
                "LaTeX boundlab new theorem NAME writes a file to fill in"
            )
        return found

    def _left(self, left: str) -> list[str] | None:
        mean = re.match(r"E(?:_\w|_\{[^}]*\})?(?=[\[\\f({])", left)
        left = left[mean.end() :] if mean else left
        left = re.sub(r"^\[(.*)\]$|^\\\{(.*)\\\}$", r"\1\2", left)
        left = re.sub(r"^\[([fF]\(.*\))\]-", r"\1-", left)
        if match := re.fullmatch(rf"[fF]\(\\bar ?(?:\{{{_X}\}}|{_X}){_I}\)-{_OPT}", left):
            return self._average(match[1] or match[2])
        if match := re.fullmatch(rf"[fF]\((\\frac.*\\sum.*){_X}_(\w)\)-{_OPT}", left):
            return self._range(match[1], match[2], "gap", "average")
        over, index = "last", None
        if match := re.match(r"\\min_(?:\{(.*?)(?<!\\)\}|(\w))(.*)", left):
            over, index, left = "best-expected" if match[3].startswith("E") else "best", match[1] or match[2], match[3]
        elif match := re.match(r"(\\frac(?:\{1\}|1)(?:\{[^}]*\}|\w)\\sum_\{.*?\}\^(?:\{.*?\}|\w))(.*)", left):
            over, index, left = "mean", match[1], match[2]
        left = re.sub(r"^ ?E?(?:\[(.*)\]|\((.*)\)|\{(.*)\}|(.*))$", r"\1\2\3\4", left) if index else left
        for quantity, pattern in (
            ("gap", rf"[fF]\({_X}{_I}\)-{_OPT}"),
            ("distance", rf"\\\|{_X}{_I}-{_X}\^\*\\\|\^2"),
            ("slope", rf"\\\|\\nabla [fF]\({_X}{_I}\)\\\|\^2"),
        ):
            if match := re.fullmatch(pattern, left):
                if index is None:
                    return self._last(quantity, match[1] or match[2])
                return self._range(index, match[1] or match[2], quantity, over)
        return None

    def _last(self, quantity: str, index: str) -> list[str]:
        """Return the metric of the last iterate: x_(K+1) of a method that starts at x_1 is boundlab's x_K."""
        self._horizon(index[0], int(index[1:] or 0) - min(self.starts))
        return [f'metric = "{_METRICS[quantity]}"']

    def _horizon(self, letter: str, ahead: int) -> None:
        """Name the horizon: the model that the letter counts is ``ahead`` models after its number."""
        self.names[letter] = "K" if ahead == 0 else f"K {'-' if ahead > 0 else '+'} {abs(ahead)}"

    def _average(self, letter: str) -> list[str]:
        for place, one in enumerate(self.maths):
            match = re.fullmatch(rf"\\bar ?\{{?{_X}\}}?_\w=(?:.*=)??(\\frac.*\\sum.*?){_X}_(\w)", one)
            if match and (lines := self._range(match[1], match[2], "gap", "average")):
                self.maths[place] = ""
                return lines
        self.open.append("the average is taken as that of x_0 to x_(K-1), all alike")
        self._horizon(letter, 0)
        return ['metric = "ergodic-gap"']

    def _range(self, over: str, index: str, quantity: str, how: str) -> list[str] | None:
        """Return a left side over a range of k: 0 <= k <= K - 1, k < K, k = 0, ..., K - 1, or a mean over it."""
        plain = over.replace(" ", "")
        match = re.fullmatch(rf"(?:(\d)\\le)?{index}(<|\\le)([A-Za-z])([+-]1)?", plain) or re.fullmatch(
            rf"{index}(?:=|\\in\\\{{)(\d),(?:\\[lc]?dots),()([A-Za-z])([+-]1)?(?:\\\}})?", plain
        )
        if match is None:
            match = re.fullmatch(
                rf"\\frac(?:\{{1\}}|1)(?:\{{(.*?)\}}|(\w))\\sum_\{{{index}=(\d)\}}\^(?:\{{([A-Za-z])([+-]1)?\}}|([A-Za-z]))",
                plain,
            )
            if match is None:
                return None
            low, letter, shift = int(match[3]), match[4] or match[6], int(match[5] or 0)
            count = shift - low + 1
            if (match[1] or match[2]) != (letter if count == 0 else f"{letter}{count:+d}"):
                return None
        else:
            low, letter = int(match[1] or min(self.starts)), match[3]
            shift = int(match[4] or 0) - (match[2] == "<")
        first = min(self.starts)
        self._horizon(letter, 0)
        to = shift - first
        if low < first or to > 0:
            return None
        lines = ["[left]", f'quantity = "{quantity}"', f'over = "{how}"', f'from = "{low - first}"']
        return [*lines, f'to = "K{f" - {-to}" if to else ""}"']

    def _written(
        self, method: str, first: int, left: list[str], bound: str, right: str, rule: str, conditions: list[str]
    ) -> Draft:
        """Write the file; tables stand after keys."""
        table = left[0] == "[left]"
        limits = f"conditions = [{', '.join(_quoted(one) for one in conditions)}]"
        lines = [
            f'id = "{self.name}"',
            *(f"# open: {' '.join(visible(one).split())}" for one in self.open),
            f'algorithm = "{method}"' + ("" if method else "  # open: boundlab list algorithms"),
            *(["first = 0"] if first == 0 else []),
            *([] if table else left),
            "# Tick what your theorem assumes: remove the sign # before it. boundlab list assumptions has all.",
            "assumptions = [",
            *(f'    # "{one}",' for one in self.assumptions),
            "]",
            *(['settable = ["alpha"]', limits] if conditions else []),
            *(["", *left] if table else []),
            *("", "[step]", f"alpha = {_quoted(rule)}" if rule else '# alpha = "1/L"  # which step?'),
            *("", "[terms]", f"main = {_quoted(bound)}" if bound else f"# main = {_quoted(right)}"),
        ]
        return Draft("\n".join(lines) + "\n", self.assumptions, self.open)


def _joined(match: re.Match[str]) -> str:
    """Write (K + 1) - 1 as K."""
    shift = sum(int(one.replace(" ", "")) for one in match.groups() if one)
    return f"K {'+' if shift > 0 else '-'} {abs(shift)}" if shift else "K"


def _sides(text: str) -> list[str]:
    """Split at the signs of an inequality that stand outside of braces."""
    found, begin, depth = [], 0, 0
    for match in re.finditer(rf"[{{}}]|{_RELATION.pattern}", text):
        if match[0] in "{}":
            depth += 1 if match[0] == "{" else -1
        elif depth == 0:
            found.append(text[begin : match.start()])
            begin = match.end()
    return [*found, text[begin:]]


def _quoted(text: str) -> str:
    return "'" + text + "'" if "\\" in text else f'"{text}"'
