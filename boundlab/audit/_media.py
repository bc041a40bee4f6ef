"""Rendering shared by all media other than the terminal: derivations as blocks."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from boundlab.arithmetic.writing import Sentence
from boundlab.audit._blocks import Block, FormulaBlock, Points, Rows, Words, line
from boundlab.exact import Chain, Derivation, Item, Table


def derived(derivation: Derivation) -> Iterator[Block]:
    """Yield a derivation as paragraphs, tables and displayed chains."""
    for section in derivation.sections:
        yield Words(line((section.title, "strong")))
        for listed, items in groupby(section.items, lambda item: isinstance(item, Sentence)):
            if listed:
                yield Points(tuple(line(item.text) for item in items if isinstance(item, Sentence)))
            else:
                yield from _displayed(items, section.title)


def _displayed(items: Iterable[Item], title: str) -> Iterator[Block]:
    for item in items:
        match item:
            case Table():
                rows = tuple(tuple(line(entry.text) for entry in row) for row in item.rows)
                yield Rows(title, tuple(column.text for column in item.columns), rows)
            case Chain():
                links = [f"{sign} {piece.text}" for sign, _, piece in item.links]
                first = f"{item.first.text} {links[0]}" if links else item.first.text
                yield FormulaBlock((first, *(f"    {one}" for one in links[1:])))
