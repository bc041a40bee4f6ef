"""The page of the best server rate."""

from typing import TYPE_CHECKING

from boundlab.pages.blocks import Block, figure, figures, words

if TYPE_CHECKING:
    from boundlab.server_rate import OptimalRate


def rate_page(result: "OptimalRate") -> list[Block]:
    """Return the best rate by its closed form and by a minimiser, or the limit where there is none."""
    total = float(result.rates.sum())
    head = f"{len(result.rates)} clients, Σλ_i = {figure(total)}, objective {result.objective}; {result.note}"
    if result.lambda_s is not None:
        rows = [
            ("λ_s*  closed form", f"{result.lambda_s:.10g}"),
            ("λ_s*  numerical minimiser", f"{result.numeric:.10g}"),
            ("objective there", f"{result.value:.6g}"),
        ]
    else:
        near = f"bound within {result.epsilon:.3g} of its limit from λ_s ="
        rows = [("objective as λ_s → ∞", f"{result.limit:.6g}"), (near, f"{result.lambda_epsilon:.6g}")]
    shown = ", ".join(figure(p) for p in result.p[:8]) + (", …" if len(result.p) > 8 else "")
    rows += [("p_s there", f"{result.p_s:.6g}"), ("p_i there", shown)]
    return [words(head), figures(("quantity", "value"), rows)]
