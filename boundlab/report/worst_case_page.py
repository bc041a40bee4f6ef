"""The page of ``boundlab worst-case``."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.text import Text

from boundlab.report.tables import plain_table

if TYPE_CHECKING:
    from boundlab.worst_case import WorstCase


def worst_case_page(result: "WorstCase") -> list[Any]:
    """Return the program and its numbers, each with what it is, and what they say of the bound."""
    from boundlab.worst_case import WorstCaseOutcome
    from boundlab.worst_case.result import downwards, upwards

    plan = result.plan
    runs = "mean over all event sequences" if plan.average else "one run"
    step = ", ".join(f"{name} = {value:.6g}" for name, value in plan.options.items() if isinstance(value, float))
    units = f"; {', '.join(f'{name} = 1' for name in plan.defaults)} (units)" if plan.defaults else ""
    lines: list[Any] = [
        Text(
            f"{plan.theorem.id} ({plan.theorem.status}): {plan.metric.expectation}, {plan.theorem.counter} = "
            f"{plan.horizon}, {runs}\n"
            f"class: {plan.clients} client{'s' * (plan.clients > 1)}, every f_i {result.kind.words}; full gradients\n"
            f"step: {step}{units}\n"
            f"program: {result.points} points, {result.inequalities} inequalities, Clarabel: {result.status}"
        )
    ]
    if result.kind.relaxed:
        lines.append(Text(f"an upper value of the worst case: {result.kind.relaxed}", style="dim"))
    table = plain_table("", "value", "what it is")
    table.columns[2].justify = "left"
    table.add_row("primal", f"{result.primal:.9f}", "numeric")
    table.add_row("dual", f"{result.dual:.9f}", "numeric")
    table.add_row("gap", f"{result.gap:.2e}", "numeric")
    certified = result.certified_upper
    table.add_row(
        "upper value", "-" if certified is None else upwards(certified),
        "no certificate was found" if certified is None else "certified: rational multipliers, checked exactly",
    )  # fmt: skip
    if result.replayed is None:
        table.add_row("replayed", "-", result.missing)
    else:
        belongs = "of the class" if result.in_class else "whose constants were not certified"
        table.add_row(
            "replayed",
            f"{result.replayed:.9f}",
            f"numeric: a function in {result.rank} dimension{'s' * (result.rank > 1)}, {belongs}",
        )
    if result.certified_lower is not None:
        table.add_row(
            "lower value", downwards(result.certified_lower), "certified: a point of the program, checked exactly"
        )
    what = {"exact": "a rational number", "certified": "enclosed by balls", "numeric": "iterated in floating point"}
    kind = plan.exactly.right.kind
    table.add_row("bound", f"{result.bound:.9f}", f"{kind}: {what[kind]}; {plan.theorem.id}")
    for name, value in plan.repaired.items():
        table.add_row("repaired", f"{value:.9f}", f"numeric: {name}{'' if 'fixed' in name else ', with its own step'}")
    style = {WorstCaseOutcome.HOLDS: "bold green", WorstCaseOutcome.EXCEEDS: "bold red"}
    style |= dict.fromkeys((WorstCaseOutcome.CONDITIONAL, WorstCaseOutcome.UNDECIDED), "bold yellow")
    headline = (f"{result.words}: ", style.get(result.outcome, "bold blue"))
    return [*lines, "", table, "", Text.assemble(headline, result.reason)]


def multipliers_page(result: "WorstCase") -> list[Any]:
    """Return the inequalities that each certified value follows from, with their multipliers."""
    lines: list[Any] = []
    for side, certificate in result.certificates.items():
        if certificate is None or not certificate.get("rows"):
            continue
        table = plain_table("multiplier", "inequality")
        table.columns[1].justify, table.columns[1].overflow = "left", "fold"
        for row in certificate["rows"]:
            table.add_row(str(row.get("multiplier", "")), _inequality(row))
        squares = ", and from squares" if certificate.get("remainder") else ""
        head = f"\nthe {side} value, {certificate['value']}, follows from these times their multipliers{squares}:"
        lines += [Text(head, "bold"), table]
    return lines or [Text("\nno certificate was found, and so there is no derivation", "dim")]


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
