"""Which options of a theorem's algorithm a setting covers, each of them word by word."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from boundlab.errors import BoundlabError, SpecError
from boundlab.options import Options
from boundlab.registry import lookup
from boundlab.theorems import Option, Theorem, elaborated_options

NUMBERS: Final = ("any number",)
"""What a setting covers of an option that is no choice between words: all its values."""
# Where an iteration is another one: with a proximal step, or a projection.
_OTHER_ALGORITHM = frozenset({"composite", "constrained"})


def uncovered(
    theorem: Theorem,
    fixed: Mapping[str, Iterable[str]],
    covered: Mapping[str, Iterable[str]],
    symbols: Mapping[str, str] = MappingProxyType({}),
    *,
    composite: bool = False,
) -> tuple[str, ...]:
    """Return what a setting does not know of the runs that a printed theorem is about; raise of any other theorem.

    Parameters
    ----------
    fixed
        Option → the words that the setting knows where one of them is fixed, by the theorem or as the default.
    covered
        Option → all its words, where what the setting says is true with each of them: the theorem may leave it open.
    symbols
        Option → the symbol as which the setting reads it.
    composite
        Whether the setting knows proximal steps.

    Raises
    ------
    SpecError
        If a theorem is about other runs, too: its proof would be one of fewer runs than it speaks of.
    """
    who = f"proofs about {theorem.algorithm} know"
    refuse_other_steps(theorem, composite=composite)
    algorithm = lookup("algorithms", theorem.algorithm)
    missing = []
    for option in elaborated_options(theorem, algorithm):
        name = option.id
        if option.how in ("step", "unused"):
            continue
        if option.symbol or symbols.get(name) in theorem.read:
            if option.symbol != symbols.get(name, ""):
                wanted = f"as the symbol {symbols[name]}" if name in symbols else "as no symbol"
                raise SpecError(f"{theorem.id}: {who} {name} {wanted}, see [parameters]; got {option.symbol or None}")
            continue
        known, all_of = (tuple(one.get(name, ())) for one in (fixed, covered))
        if option.how == "open":
            if not all_of or not _words(algorithm, name) <= {*all_of}:
                missing.append(f"{name}={', '.join(known)}" if known else f"no {name} but the default")
        elif not all_of and not _among(theorem, algorithm, option, known):
            given = option.value if option.how == "fixed" else "the default"
            raise SpecError(f"{theorem.id}: {who} {name}={', '.join(known) or 'the default'}, not {given}")
    if missing and not theorem.of_paper:
        raise SpecError(
            f"{theorem.id} leaves open what {who} in one way only: {'; '.join(missing)}; fix it under [options]"
        )
    return tuple(missing)


def refuse_other_steps(theorem: Theorem, *, composite: bool = False) -> None:
    """Refuse a theorem whose steps are others than those that proofs know, or that assumes what no proof knows.

    Parameters
    ----------
    composite
        Whether they know proximal steps, and projections.

    Raises
    ------
    SpecError
        If it is such a theorem.
    """
    who = f"proofs about {theorem.algorithm} know"
    if not composite and (other := sorted(_OTHER_ALGORITHM & theorem.core.assumed)):
        raise SpecError(f"{theorem.id}: {who} no {', '.join(other)} functions")
    if theorem.assume:
        raise SpecError(
            f"{theorem.id}: {who} no inequalities that hold at every x: {', '.join(theorem.assume)} (assume)"
        )


def chosen(theorem: Theorem) -> dict[str, str | None]:
    """Return the options of which a theorem knows one word, or the default (None)."""
    known = elaborated_options(theorem, lookup("algorithms", theorem.algorithm))
    return {
        one.id: one.value if one.how == "fixed" else None for one in known if one.how in ("fixed", "default", "unused")
    }


def _words(algorithm: Any, name: str) -> set[str]:
    """Return the words between which an option chooses; what makes it another one with numbers is left out."""
    some = algorithm.examples(2).get(name) or ()
    return {one.partition(":")[0] for one in some if one[:1].isalpha()}


def _among(theorem: Theorem, algorithm: Any, option: Option, known: Iterable[str]) -> bool:
    """Return whether an option that is not open has one of these words, or its default where there are none."""
    if option.how == "fixed":
        return option.value in known
    rates: dict[str, Any] = {one: 1 for one in theorem.step if one in algorithm.parameters}
    try:
        default = algorithm.read(Options(algorithm.id, dict(rates)))
        return not known or any(
            algorithm.read(Options(algorithm.id, {**rates, option.id: word})) == default for word in known
        )
    except BoundlabError:
        return False
