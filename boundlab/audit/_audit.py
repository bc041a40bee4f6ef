"""The report card: the evidence with its verdict, to look at in every medium."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

from boundlab.api import Shown
from boundlab.audit._evidence import Evidence
from boundlab.audit._ruling import Ruling, rule
from boundlab.errors import visible
from boundlab.verdict import ExitCode


@final
@dataclass(frozen=True, repr=False)
class Audit(Evidence, Shown):
    """The report card of one theorem; its fields are those of the evidence."""

    @cached_property
    def ruling(self) -> Ruling:
        """Ruling on the theorem that follows from the whole audit."""
        return rule(self)

    @property
    def verdict(self) -> str:
        """``false``, ``proved``, ``not refuted``, …: the first words of :attr:`ruling`."""
        return self.ruling.word

    @property
    def exit_code(self) -> ExitCode:
        """How the command ends."""
        return self.ruling.code

    def line(self) -> str:
        """Return the verdict in one line."""
        return visible(f"{self.theorem.id}: {self.ruling.sentence}")

    def page(self, *, folded: bool = False) -> list[Any]:
        """Return what the command prints; ``folded``: with what the HTML page has folded away."""
        from boundlab.audit.terminal import terminal

        return terminal(self, folded=folded)

    def html(self) -> str:
        """Return one self-contained page of HTML."""
        from boundlab.audit.html import html

        return html(self)

    def markdown(self) -> str:
        """Return the page as Markdown."""
        from boundlab.audit.markdown import markdown

        return markdown(self)

    def latex(self) -> str:
        """Return the page as LaTeX, to be read into a document that loads amsmath, amssymb, graphicx and longtable."""
        from boundlab.audit.latex import latex

        return latex(self)

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        from boundlab.audit.fields import fields

        return fields(self)
