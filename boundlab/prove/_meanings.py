"""What the letters of a claim stand for, in words and formulas, for readers; nothing is decided by it."""

import re
from collections.abc import Iterable, Iterator, Mapping

from boundlab.prove._kernel import Kernel
from boundlab.prove._scalars import FIRST, Scalar, variable
from boundlab.prove._terms import expr
from boundlab.prove.document import Step
from boundlab.prove.outcome import Outcome
from boundlab.prove.setting import Setting

_LETTER = re.compile(r"(?<![\w.])([A-Za-z]\w*)(\[)?")
_INDEX = "k"


def meanings(kernel: Kernel, setting: Setting | None) -> Mapping[str, tuple[str, str]]:
    """Return each declared letter as it is written, such as ``x[k]``, and what it stands for.

    Symbols of the theorem have their meaning there, and indices theirs in the claim: neither is among them.
    """
    found = dict(_named(kernel))
    for written, meaning in () if setting is None else setting.letters.items():
        found[written.partition("[")[0]] = written, meaning
    declared = {*kernel.vectors.known, *kernel.context.order()}
    slopes = dict(_slopes(kernel))
    return {name: one for name, one in {**slopes, **found}.items() if name in declared}


def _slopes(kernel: Kernel) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the gradients that the kernel knows."""
    for name, slope in kernel.vectors.slopes.items():
        index = "".join(f"_{{{one}}}" if len(str(one)) > 1 else f"_{one}" for one in slope.which)
        at = ", ".join(slope.symbols)
        yield name, (f"{name}[{at}]" if at else name, f"the (sub)gradient of f{index} at {slope.at}")


def _named(kernel: Kernel) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the numbers that a proof gave names to."""
    yield from ((name, (name, f"√({expr(value)})")) for name, value in kernel.roots.items())
    yield from ((name, (name, str(expr(value)))) for name, value in kernel.values.items())
    for name, family in kernel.families.items():
        yield name, (f"{name}[{_INDEX}]", _at(family))
    for name, exponent in kernel.exponents.items():
        own = f"{name}[{_INDEX}]" if FIRST.names() & exponent.names() else name
        yield name, (own, f"exp({_at(exponent)})")


def _at(value: Scalar) -> str:
    return str(expr(value.put(dict.fromkeys(FIRST.names(), variable(_INDEX)))))


def letters_in(texts: Iterable[str], known: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """Return what the letters in claims stand for, in the order in which a reader meets them, with those in it."""
    found: dict[str, str] = {}
    waiting = list(texts)
    while waiting:
        for name, indexed in _LETTER.findall(waiting.pop(0)):
            written, meaning = known.get(name, ("", ""))
            # One letter may also be an index, or a word of a sentence.
            if not meaning or written in found or bool(indexed) != ("[" in written):
                continue
            found[written] = meaning
            waiting.append(meaning)
    return found


def letters(outcome: Outcome, *steps: Step) -> dict[str, str]:
    """Return what the letters in the claims of steps stand for, of all steps by default."""
    claims = [step.claim for step in steps or outcome.steps if step.claim is not None]
    return letters_in((f"{claim} {claim!r}" for claim in claims), meanings(outcome.kernel, outcome.setting))
