"""A theorem under the larger counts that its paper leaves open: what refutes it there refutes it under both."""

from dataclasses import replace

from boundlab.theorems import FormulaBound, Theorem


def generously(theorem: Theorem) -> Theorem:
    """Return the theorem with each symbol that its paper may count larger so much larger in the bound."""
    if not theorem.generous or not isinstance(theorem.bound, FormulaBound):
        return theorem
    info = theorem.symbols
    larger = {info[name].symbol: info[name].symbol + more for name, more in theorem.generous.items()}
    terms = {name: term.subs(larger, simultaneous=True) for name, term in theorem.bound.terms.items()}
    return replace(theorem, bound=FormulaBound(terms), generous={})
