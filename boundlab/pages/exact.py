"""The page of both sides on one case."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from boundlab.arithmetic.numbers import shortened
from boundlab.arithmetic.writing import Sentence
from boundlab.exact import Chain, Item, Table
from boundlab.pages.blocks import (
    GAP,
    Block,
    FormulaBlock,
    Line,
    Part,
    Piece,
    Rows,
    constants_of,
    figure,
    of_objective,
    points,
    proof_speaks,
    verdict_words,
    words,
)

if TYPE_CHECKING:
    from boundlab.exact import Derivation, DerivationSection, ExactResult


# Derivations as blocks: sentences, tables, and chains of equations.


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


_LONG = 60  # characters of an exact number that are shown; --json has all


def exact_page(result: "ExactResult") -> list[Block]:
    """Return both sides with what they were made from, or the way to them where that was asked for."""
    left = "both sides" if result.statement is None else result.statement.left.expectation
    head = [words(f"{result.theorem} at k = {result.k}: {left}{of_objective(result.objective)}")]
    if result.sentence:
        head.append(words((result.sentence, "strong")))
    if result.derivation is not None:
        return [*head, GAP, *derived(result.derivation)]
    values = ", ".join(f"{name} = {_word(value)}" for name, value in result.values.items())
    constants = ((name, _word(one["value"]), one["side"], one["how"]) for name, one in result.constants.items())
    return [
        *head,
        constants_of(constants),
        words((values, "dim")),
        GAP,
        words(f"left  = {result.left_text}"),
        words(f"right = {result.right_text}"),
        words(f"left/right = {figure(result.ratio)} ({result.kind}: {result.method})"),
        *([words((result.note, "dim"))] if result.note else []),
        *proof_speaks(result.proof),
        GAP,
        verdict_words(result.verdict, result.reason, result.headline.removeprefix(result.verdict)),
    ]


def _word(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else shortened(str(value), _LONG)
