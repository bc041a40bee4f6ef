"""Claims and proofs as LaTeX; the verdict of each step stands in the margin."""

import re
from collections.abc import Sequence

from boundlab.arithmetic.writing import breakable
from boundlab.documentation import pointers
from boundlab.prove._scalars import FormulaWriter
from boundlab.prove._terms import Claim
from boundlab.prove.document import Outcome, Step, letters

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
_DISPLAYED = 50  # letters of a claim that stands on one line; a longer one is broken between its summands
_INDEXED = re.compile(r"(f_\{[^{}]*\}|\bf_\w\b|[A-Za-z]\w*\[[^\[\]]*\])")  # f_{c[t, j]}, f_i, x[k]
_FRACTION = 40  # letters above or below a line


def claim_latex(claim: Claim) -> str:
    r"""Return a claim as a formula.

    Examples
    --------
    >>> from boundlab.prove import expr, variable
    >>> alpha, m = variable("alpha"), variable("M")
    >>> print(claim_latex(expr(alpha * m) <= expr(1 / (2 * alpha))))
    M \alpha \le \frac{1}{2 \alpha}
    """
    return claim.written(_TEX)


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


class _Tex(FormulaWriter):
    minus, dot = "-", " "

    def named(self, name: str, indices: Sequence[str] = ()) -> str:
        return _below(name, list(indices))

    def relation(self, sign: str) -> str:
        return {"≤": r"\le", "≥": r"\ge"}.get(sign, sign)

    def function(self, name: str, indices: Sequence[str]) -> str:
        return self.named(name, indices)

    def power(self, base: str, exponent: str) -> str:
        return base if exponent == "1" else f"{base}^{{{exponent}}}"

    def quotient(self, above: str, below: Sequence[str]) -> str:
        return _over(above or "1", " ".join(below))

    def scaled(self, above: str, below: Sequence[str], text: str) -> str:
        factor = self.quotient(above, below) if below else above
        return rf"{factor} \allowbreak {text}" if factor else text

    def product(self, one: str, other: str) -> str:
        return rf"\mathbb{{E}}\|{one}\|^2" if one == other else rf"\mathbb{{E}}\langle {one}, {other}\rangle"

    def value(self, function: str, at: str) -> str:
        return rf"\mathbb{{E}} {function}({at})"

    def total(self, name: str, lo: str, hi: str, of: str) -> str:
        return rf"\sum_{{{lo} \le {name} < {hi}}} \allowbreak {of}"


_TEX = _Tex()
