"""Which theorems apply to a problem, to look at."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from boundlab.api._shown import Tabular
from boundlab.files import schema
from boundlab.instance.fitting import Fit

if TYPE_CHECKING:
    from boundlab.pages import Block


@final
@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Applicable(Tabular):
    """Theorems with what they apply with, and the others with a reason each.

    Parameters
    ----------
    problem
        In words.
    found
        One for each theorem.
    """

    problem: str
    found: tuple[Fit, ...]

    def line(self) -> str:
        """Return how many apply."""
        return f"{sum(one.options is not None for one in self.found)} of {len(self.found)} apply to {self.problem}"

    def columns(self) -> dict[str, Any]:
        """Return its columns by name: each theorem, whether it applies, with which delays and options, or why not."""
        entries = self.entries()
        return {name: [entry[name] for entry in entries] for name in ("id", "applies", "delays", "settings", "reason")}

    def entries(self) -> list[dict[str, Any]]:
        """Return JSON-ready fields of each theorem."""
        return [
            {
                "id": one.theorem.id,
                "title": one.theorem.title,
                "status": one.theorem.status,
                "applies": one.options is not None,
                "delays": one.options and one.options.delays,
                "settings": dict(one.options.settings) if one.options else {},
                "reason": one.reason.removeprefix(f"{one.theorem.id} ").removeprefix(f"{one.theorem.id}: "),
            }
            for one in self.found
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        return {"schema": schema("list"), "what": "theorems", "for": self.problem, "entries": self.entries()}

    def page(self) -> "list[Block]":
        """Return two tables: what applies, and why the others do not."""
        from boundlab.pages.blocks import GAP, table, words

        entries = self.entries()
        fit = [(one["id"], one["status"], one["delays"], _words(one["settings"])) for one in entries if one["applies"]]
        rest = [(one["id"], one["reason"]) for one in entries if not one["applies"]]
        found: list[Block] = []
        if fit:
            found += [table("", ("applies", "status", "for example under", "with"), fit, whole=(0,)), GAP]
        if rest:
            found += [table("", ("does not apply", "why"), rest, whole=(0,)), GAP]
        return [*found, words(self.line())]


def _words(settings: dict[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items())
