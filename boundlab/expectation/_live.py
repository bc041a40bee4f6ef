"""Which registers anything reads later: at which event, and over all events."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from boundlab.arithmetic.numbers import hashable
from boundlab.expectation._graph import Edge, EventChoices, Graph, Groups, Level, PassRow, Row, SumRow

Number = TypeVar("Number")
_EDGES = 1000  # that are looked at to tell which registers outlive an event


def slimmed(edge: Edge[Number], after: frozenset[int]) -> tuple[Edge[Number], set[int]]:
    """Return the edge without rows whose result nothing reads, and what is read before it.

    Parameters
    ----------
    after
        The registers that are read after it.
    """
    order = edge.order
    needed = {order[register] for register in after} if order is not None else set(after)
    rows: list[Row[Number]] = []
    for row in reversed(edge.rows):
        if row.dst not in needed:
            continue
        needed.discard(row.dst)
        needed |= {source for _, source in row.terms} if isinstance(row, SumRow) else {row.src}
        rows.append(row)
    if order is not None:
        order = tuple(order[r] if r in after else r for r in range(len(order)))
        order = None if order == tuple(range(len(order))) else order
    return replace(edge, rows=tuple(rows[::-1]), order=order), needed


def lasting(events: EventChoices[Number], seen: frozenset[int], registers: int) -> frozenset[int]:
    """Return which of so many registers something reads in a later event than the one that wrote them.

    All of them where what an event does depends on when it happens, or where there are many control states.

    Parameters
    ----------
    seen
        The registers that metrics see.
    """
    everything = frozenset(range(registers))
    if events.clock(0) != events.clock(1):
        return everything
    waiting = [events.opening()[1]]
    known, edges = set(waiting), list[Edge[Number]]()
    while waiting:
        for edge, after in events.edges(waiting.pop(), 0)[0]:
            edges.append(edge)
            if after not in known:
                known.add(after)
                waiting.append(after)
        if len(edges) > _EDGES:
            return everything
    found, before = seen, everything
    while found != before:
        before = found
        found = found.union(*(slimmed(edge, found)[1] for edge in edges))
    return found


def pruned(graph: Graph[Number], shown: Sequence[bool]) -> Graph[Number]:
    """Drop what nothing reads that is shown, and merge control states that no later event tells apart.

    Parameters
    ----------
    shown
        Whether metrics look at the register ``graph.shown`` after 0, 1, … events; they do after the last.
    """
    seen = frozenset((graph.shown,))
    nodes = len(graph.levels[-1].alike) if graph.levels else 1
    live: list[frozenset[int]] = [seen] * nodes
    same = [0] * nodes  # the class of each control state after the event
    levels: list[Level[Number]] = []
    for place in range(len(graph.levels) - 1, -1, -1):
        level = graph.levels[place]
        first = list({one: node for node, one in reversed(list(enumerate(same)))}.items())
        nodes_of = [node for _, node in sorted(first)]
        classes: dict[Any, int] = {}
        edges: list[list[Edge[Number]]] = []
        before, names = [], []
        for own in level.edges:
            kept: dict[Any, Edge[Number]] = {}
            reads = set(seen) if shown[place] else set()
            for edge in own:
                slim, needed = slimmed(replace(edge, to=same[edge.to]), live[edge.to])
                key = tuple(map(_name, slim.rows)), slim.order, slim.to
                if key in kept:
                    slim = replace(slim, share=slim.share + kept[key].share, events=slim.events + kept[key].events)
                kept[key] = slim
                reads |= needed
            signature = tuple((key, edge.share, edge.events) for key, edge in kept.items())
            names.append(classes.setdefault(signature, len(classes)))
            if names[-1] == len(edges):
                edges.append(list(kept.values()))
            before.append(frozenset(reads))
        alike = [_among(level.alike[node], live[node]) for node in nodes_of]
        levels.append(Level(edges, alike, [live[node] for node in nodes_of], level.iteration))
        live, same = before, names
    opening = slimmed(Edge(1, graph.opening, None, 0), live[0])[0].rows
    return replace(graph, opening=opening, levels=levels[::-1])


def _name(row: Row[Any]) -> Any:
    """Return what equal rows share."""
    match row:
        case SumRow():
            return row.dst, *((hashable(coefficient), source) for coefficient, source in row.terms)
        case PassRow():
            return row.dst, row.src, row.client, *map(hashable, row.sizes)
    return row


def _among(groups: Groups, live: frozenset[int]) -> Groups:
    """Return the groups as far as anything reads their registers later; a group that is not read alike is none."""
    out = []
    for group in groups:
        read = {tuple(register in live for register in slot) for slot in group}
        if len(read) == 1 and any(mask := next(iter(read))):
            out.append(tuple(tuple(r for r, keep in zip(slot, mask, strict=True) if keep) for slot in group))
    return tuple(out)
