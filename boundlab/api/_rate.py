"""The best server rate, to look at."""

from dataclasses import dataclass
from typing import Any

from boundlab.api._shown import Shown
from boundlab.server_rate import OptimalRate


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class BestRate(Shown, OptimalRate):
    """The best server rate."""

    def line(self) -> str:
        """Return the rate, or from where on the bound is near its limit."""
        what = (
            f"λ_s* = {self.lambda_s:.6g}"
            if self.lambda_s is not None
            else f"no minimum; within {self.epsilon:.3g} of the limit from λ_s = {self.lambda_epsilon:.6g}"
        )
        return f"{what} for {len(self.rates)} clients, {self.objective}"

    def plot(self, ax: Any = None) -> Any:
        """Draw both objectives over the server rate; return the axes of matplotlib."""
        from boundlab.pages.plots import draw_rates

        return draw_rates(self, ax)
