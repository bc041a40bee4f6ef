"""The page of a worst case, and the multipliers of its certificates."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from boundlab.pages.blocks import GAP, Block, figures, table, tone_of, words

if TYPE_CHECKING:
    from boundlab.worst_case import WorstCase

_WHAT = {"exact": "a rational number", "certified": "enclosed by balls", "numeric": "iterated in floating point"}


def worst_case_page(result: "WorstCase") -> list[Block]:
    """Return the program and its numbers, each with what it is, and what they say of the bound."""
    relaxed = f"an upper value of the worst case: {result.kind.relaxed}" if result.kind.relaxed else ""
    return [
        *(words(one) for one in _program(result)),
        *([words((relaxed, "dim"))] if relaxed else []),
        GAP,
        figures(("", "value", "what it is"), _numbers(result), words=(2,)),
        GAP,
        words((f"{result.words}: ", tone_of(result.outcome.verdict)), result.reason),
    ]


def _program(result: "WorstCase") -> Iterator[str]:
    """Yield what is asked, of which functions, with which step, and the size of the program."""
    plan = result.plan
    runs = "mean over all event sequences" if plan.average else "one run"
    step = ", ".join(f"{name} = {value:.6g}" for name, value in plan.options.items() if isinstance(value, float))
    units = f"; {', '.join(f'{name} = 1' for name in plan.defaults)} (units)" if plan.defaults else ""
    asked = f"{plan.metric.expectation}, {plan.theorem.horizon_symbol} = {plan.horizon}, {runs}"
    yield f"{plan.theorem.id} ({plan.theorem.status}): {asked}"
    clients = f"{plan.clients} client{'s' * (plan.clients > 1)}"
    yield f"class: {clients}, every f_i {result.kind.words}; full gradients"
    yield f"step: {step}{units}"
    yield f"program: {result.points} points, {result.inequalities} inequalities, Clarabel: {result.status}"


def _numbers(result: "WorstCase") -> Iterator[tuple[str, str, str]]:
    """Yield each number by name, with what it is."""
    from boundlab.worst_case.result import downwards, upwards

    plan = result.plan
    yield "primal", f"{result.primal:.9f}", "numeric"
    yield "dual", f"{result.dual:.9f}", "numeric"
    yield "gap", f"{result.gap:.2e}", "numeric"
    if result.certified_upper is None:
        yield "upper value", "-", "no certificate was found"
    else:
        yield "upper value", upwards(result.certified_upper), "certified: rational multipliers, checked exactly"
    if result.replayed is None:
        yield "replayed", "-", result.missing
    else:
        belongs = "of the class" if result.in_class else "whose constants were not certified"
        found = f"numeric: a function in {result.rank} dimension{'s' * (result.rank > 1)}, {belongs}"
        yield "replayed", f"{result.replayed:.9f}", found
    if result.certified_lower is not None:
        yield "lower value", downwards(result.certified_lower), "certified: a point of the program, checked exactly"
    kind = plan.exactly.right.kind
    yield "bound", f"{result.bound:.9f}", f"{kind}: {_WHAT[kind]}; {plan.theorem.id}"
    for name, value in plan.repaired.items():
        yield "repaired", f"{value:.9f}", f"numeric: {name}{'' if 'fixed' in name else ', with its own step'}"


def multipliers_page(result: "WorstCase") -> list[Block]:
    """Return the inequalities that each certified value follows from, with their multipliers."""
    page: list[Block] = []
    for side, certificate in result.certificates.items():
        if certificate is None or not certificate.get("rows"):
            continue
        squares = ", and from squares" if certificate.get("remainder") else ""
        head = f"the {side} value, {certificate['value']}, follows from these times their multipliers{squares}:"
        rows = [(str(row.get("multiplier", "")), _inequality(row)) for row in certificate["rows"]]
        page += [GAP, words((head, "strong")), table("", ("multiplier", "inequality"), rows, whole=(0,))]
    return page or [GAP, words(("no certificate was found, and so there is no derivation", "dim"))]


def _inequality(row: "Mapping[str, Any]") -> str:
    """Return a row of a certificate in words; its points are numbered as the certificate lists them."""
    match row["kind"]:
        case "given":
            return str(row["words"])
        case "interpolation":
            return f"interpolation of f_{row['client']} from point {row['i']} to point {row['j']}"
        case "gradient":
            return f"the bound on the gradient of f_{row['client']} at point {row['i']}"
        case other:
            return str(row.get("words", other))
