"""The report card: the evidence with its verdict, to look at in every medium."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

from boundlab.api import Shown, reported
from boundlab.audit._brief import brief
from boundlab.audit._evidence import Evidence
from boundlab.audit._ruling import Ruling, rule
from boundlab.audit._sections import sections
from boundlab.errors import visible
from boundlab.pages.blocks import Block, Line, line
from boundlab.verdict import ExitCode


@final
@dataclass(frozen=True, repr=False)
class Audit(Evidence, Shown):
    """The report card of one theorem; its fields are those of the evidence."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what is shown: its proofs stay where they were derived."""
        return reported(self)

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

    @property
    def only_tried(self) -> bool:
        """True if nothing refutes the theorem, and nothing proves it either."""
        return self.ruling.word == "not refuted"

    def line(self) -> str:
        """Return the verdict in one line of at most 200 letters."""
        return visible(self.ruling.within(200, f"{self.theorem.id}: "))

    def brief(self) -> list[Block]:
        """Return about ten lines, to be pasted into a review."""
        return [*brief(self)]

    def page(self) -> list[Block]:
        """Return the sections of the page, in the order in which a referee asks."""
        return [*sections(self)]

    def html(self) -> str:
        """Return one self-contained page of HTML."""
        from boundlab.pages.html import document

        return document(self._title(), f"Audit of {self.theorem.id}: {self.verdict}", sections(self))

    def markdown(self) -> str:
        """Return the page as Markdown."""
        from boundlab.pages.markdown import markdown

        return markdown(self._title(), self.page())

    def latex(self) -> str:
        """Return the page as LaTeX, to be read into a document that loads amsmath, amssymb, graphicx and longtable."""
        from boundlab.pages.latex import latex

        return latex(self._title(), self.page())

    def _title(self) -> Line:
        return line("Audit of ", (self.theorem.id, "code"))

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        from boundlab.audit.fields import fields

        return fields(self)
