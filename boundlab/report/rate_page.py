"""The page of ``boundlab optimal-rate``."""

from typing import TYPE_CHECKING, Any

from rich.text import Text

from boundlab.report.tables import figure, plain_table

if TYPE_CHECKING:
    from boundlab.server_rate import OptimalRate


def rate_page(result: "OptimalRate") -> list[Any]:
    """Return the best rate by its closed form and by a minimiser, or the limit where there is none."""
    total = float(result.rates.sum())
    head = f"{len(result.rates)} clients, Σλ_i = {figure(total)}, objective {result.objective}; {result.note}"
    table = plain_table("quantity", "value")
    if result.lambda_s is not None:
        table.add_row("λ_s*  closed form", f"{result.lambda_s:.10g}")
        table.add_row("λ_s*  numerical minimiser", f"{result.numeric:.10g}")
        table.add_row("objective there", f"{result.value:.6g}")
    else:
        table.add_row("objective as λ_s → ∞", f"{result.limit:.6g}")
        table.add_row(f"bound within {result.epsilon:.3g} of its limit from λ_s =", f"{result.lambda_epsilon:.6g}")
    table.add_row("p_s there", f"{result.p_s:.6g}")
    shown = ", ".join(figure(p) for p in result.p[:8]) + (", …" if len(result.p) > 8 else "")
    table.add_row("p_i there", shown)
    return [Text(head), table]
