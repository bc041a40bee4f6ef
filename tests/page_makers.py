"""One result of every kind that has a page, each found in seconds."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import boundlab as bl
from boundlab.pages import page
from boundlab.pages.blocks import Block, Chart, Commands, Fold, FormulaBlock, Part, Points, Rows, Section, Words, plain

VSIM = Path(__file__).parent / "traces" / "vsim.log"
FALSE = ("area.theorem8", "lad:x0=3", "iid:p_s=0.5")

RESULTS: dict[str, Callable[[], Any]] = {
    "comparison": lambda: bl.compare(*FALSE, iterations=6, M=50),
    "horizons": lambda: bl.compare(*FALSE, iterations=[3, 6], M=50),
    "exact value": lambda: bl.exact("area.theorem8", derivation=False),
    "derivation": lambda: bl.exact("area.theorem8"),
    "worst case": lambda: bl.worst_case("classics.gd.convex", 2, find_function=True),
    "checks": lambda: bl.check("area.theorem8", "units,limits"),
    "all checks": lambda: bl.check("area.theorem7"),
    "search": lambda: bl.falsify("fedstaleweight.theorem1", candidates=5, jobs=1),
    "proof": lambda: bl.prove("classics.gd.convex"),
    "rate": lambda: bl.optimal_rate([10, 10, 2.5]),
    "rate per time": lambda: bl.optimal_rate([10, 10, 2.5], "per-time"),
    "constants": lambda: bl.constants("huber:c=[0,1],x0=3"),
    "trace": lambda: bl.trace(VSIM, "appfl"),
    "fitted delays": lambda: bl.fit(VSIM, "appfl"),
    "run": lambda: bl.run("gd", "huber", iterations=50, trials=2, alpha=0.1),
    "theorem": lambda: bl.theorem("area.theorem8"),
    "audit": lambda: bl.audit("classics.gd.convex", candidates=5, jobs=1),
}


@cache
def result_of(name: str) -> Any:
    """Return a result, found once."""
    return RESULTS[name]()


def page_of(result: Any) -> list[Block]:
    """Return the page of a result: its own, but a theorem's ``page`` is an address."""
    return page(result) if isinstance(result, bl.Theorem) else result.page()


def texts(blocks: Sequence[Block], *, folded: bool = True) -> Iterator[str]:
    """Yield every text of a page, a title before what stands below it."""
    for block in blocks:
        match block:
            case Words():
                yield plain(block.words)
            case Points():
                yield from map(plain, block.points)
            case FormulaBlock():
                yield from block.texts
            case Rows():
                yield from (plain(cell) for row in (block.columns, *block.rows) for cell in row)
            case Commands():
                yield from block.commands
            case Chart():
                yield block.description
            case Fold() if not folded:
                pass
            case Part() | Fold() | Section():
                yield block.title
                yield from texts(block.blocks, folded=folded)


def closes_what_it_opens(latex: str) -> bool:
    """Return whether environments and braces of LaTeX are closed in their order."""
    marks = re.findall(r"\\(?:begin|end)\{\w+\*?\}|[{}]", re.sub(r"\\[\\$&%#_{}]", "", latex))
    opened: list[str] = []
    for mark in (one.removeprefix("\\") for one in marks):
        if mark == "{" or mark.startswith("begin"):
            opened.append(mark.removeprefix("begin"))
        elif not opened or opened.pop() != {"}": "{"}.get(mark, mark.removeprefix("end")):
            return False
    return not opened
