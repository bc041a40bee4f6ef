"""Derivations as blocks: sentences, tables, and chains of equations."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from boundlab.arithmetic.writing import Sentence
from boundlab.exact import Chain, Item, Table
from boundlab.pages.blocks import GAP, Block, FormulaBlock, Line, Part, Piece, Rows, points

if TYPE_CHECKING:
    from boundlab.exact import Derivation, DerivationSection


def derived(derivation: "Derivation") -> list[Block]:
    """Return a part for each section of a derivation."""
    page: list[Block] = []
    for one in derivation.sections:
        page += [GAP, Part(one.title, tuple(_blocks(one)))]
    return page[1:]


def _blocks(section: "DerivationSection") -> Iterator[Block]:
    for listed, items in groupby(section.items, lambda item: isinstance(item, Sentence)):
        if listed:
            yield points(_words(item) for item in items if isinstance(item, Sentence))
        else:
            yield from _displayed(items, section)


def _displayed(items: Iterable[Item], section: "DerivationSection") -> Iterator[Block]:
    for item in items:
        match item:
            case Table():
                yield from (GAP, _rows(item, section.title))
                yield from () if item is section.items[-1] else (GAP,)
            case Chain():
                yield _formulas(item)


def _words(one: Sentence) -> Line:
    return (Piece(one.text, latex=one.latex),)


def _entries(row: Sequence[Sentence]) -> tuple[Line, ...]:
    return tuple(map(_words, row))


def _rows(one: Table, title: str) -> Rows:
    found = Rows(title, _entries(one.columns), tuple(map(_entries, one.rows)))
    return replace(found, whole=frozenset(filter(found.narrow, range(len(one.columns)))))


def _formulas(chain: Chain) -> FormulaBlock:
    heads = [(chain.first.text, chain.first.latex), *[("", "")] * (len(chain.links) - 1)]
    pairs = list(zip(heads, chain.links, strict=True))
    rows = tuple((head, sign, piece.text) for (head, _), (sign, _, piece) in pairs)
    latex = [f"{head} &{sign} {piece.latex}" for (_, head), (_, sign, piece) in pairs]
    return FormulaBlock(rows, (r" \\" + "\n").join(latex))
