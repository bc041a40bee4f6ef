"""Which options of a theorem a setting knows."""

from collections.abc import Iterable

from boundlab.errors import SpecError
from boundlab.theorems import Theorem

# Where an iteration is another one: with a proximal step, or a projection.
_OTHER_ALGORITHM = frozenset({"composite", "constrained"})


def refuse_options(theorem: Theorem, fixed: dict[str, Iterable[str]]) -> None:
    """Raise unless each option of a theorem is one of those that a setting knows, and no other changes the run."""
    if other := sorted(_OTHER_ALGORITHM & set(theorem.assumptions)):
        raise SpecError(f"{theorem.id}: proofs about {theorem.algorithm} know no {', '.join(other)} functions")
    if more := sorted(theorem.options.keys() - fixed.keys() - {"*"}):
        raise SpecError(f"{theorem.id}: proofs about {theorem.algorithm} know no option {', '.join(more)}")
    free = theorem.read_by(theorem.names_in())
    if more := sorted(name for name in fixed if name not in theorem.options and name in free):
        raise SpecError(f"{theorem.id}: proofs about {theorem.algorithm} know {', '.join(more)} only where it is fixed")
    for name, allowed in fixed.items():
        value = theorem.options.get(name)
        if value is not None and value not in allowed:
            raise SpecError(
                f"{theorem.id}: proofs about {theorem.algorithm} know {name}={', '.join(allowed)}, not {value}"
            )
