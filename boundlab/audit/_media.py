"""What the media that are no terminal share: derivations as blocks."""

from collections.abc import Iterator

from boundlab.arithmetic.writing import Sentence
from boundlab.audit._blocks import Block, Formulas, Rows, Words, line
from boundlab.exact import Chain, Derivation, Table


def derived(derivation: Derivation) -> Iterator[Block]:
    """Yield a derivation as paragraphs, tables and displayed chains."""
    for section in derivation.sections:
        yield Words(line((section.title, "strong")))
        for item in section.items:
            match item:
                case Sentence():
                    yield Words(line(item.text))
                case Table():
                    rows = tuple(tuple(line(entry.text) for entry in row) for row in item.rows)
                    yield Rows(section.title, tuple(column.text for column in item.columns), rows)
                case Chain():
                    links = [f"{sign} {piece.text}" for sign, _, piece in item.links]
                    first = f"{item.first.text} {links[0]}" if links else item.first.text
                    yield Formulas((first, *(f"    {one}" for one in links[1:])))
