"""``boundlab list``, ``boundlab show`` and ``boundlab eval``: what is registered, and one theorem of it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from boundlab.cli import _options as option
from boundlab.cli.terminal import answer, print_json, print_links, print_page
from boundlab.errors import SpecError, visible
from boundlab.files import named_file, schema
from boundlab.options import nearest
from boundlab.references import PAPERS, reference

if TYPE_CHECKING:
    from boundlab.formulas.symbols import SymbolInfo
    from boundlab.pages.blocks import Cells, Rows
    from boundlab.registry import Kind, Registration
T = TypeVar("T")
Entry = dict[str, Any]  # of what is registered, JSON-ready
LISTED = ("theorems", "algorithms", "problems", "delays", "metrics", "assumptions", "checks", "proofs", "symbols")


def list_command(
    what: Annotated[str, option.argument(f"[{'|'.join(LISTED)}]", None, option.choices(LISTED))] = "theorems",
    word: Annotated[str | None, option.argument("[WORD]", "Only objects with this word in the id or summary.")] = None,
    problem: Annotated[
        str | None,
        option.named("--for PROBLEM", "Show which theorems apply to this problem.", option.specs("problems")),
    ] = None,
    delays: option.Delays = "",
    as_json: option.AsJson = False,
) -> None:
    """List theorems, algorithms, problems, delays and more.

    Objects of plug-ins are listed too, and plug-ins that cannot be loaded.
    """
    if problem is not None or delays:
        if problem is None or what != "theorems":
            raise SpecError("--for PROBLEM lists theorems, and --delays says under which: list theorems --for PROBLEM")
        from boundlab.api import applicable

        found = applicable(
            problem, delays or None, theorems=[row.id for row in _rows("theorems", word) if not row.reason]
        )
        answer(found, as_json=as_json)
        return
    if as_json:
        entries = [one.as_dict() for one in _symbols(word)] if what == "symbols" else _entries(_kind(what), word)
        print_json({"schema": schema("list"), "what": what, "entries": entries})
        return
    from boundlab.pages.blocks import GAP

    print_page(block for table in tables(what, word) for block in (table, GAP))


def tables(what: str, word: str | None = None) -> "list[Rows]":
    """Return what is listed of a kind, or of the symbols: all, or what has a word in its id or its summary.

    Raises
    ------
    SpecError
        If there is no such kind, or nothing that has the word.
    """
    if what == "symbols":
        columns = ("symbol", "letter", "meaning; its values; units (a, b) under f → c·f, x → s·x")
        return [_listed(columns, [(one.name, one.unicode, one.describe()) for one in _symbols(word)])]
    from boundlab.registry import BUILT_IN

    kind = _kind(what)
    entries = _entries(kind, word)
    found = [one for one in entries if "cannot_be_loaded" not in one]
    broken = [
        (one["id"], f"cannot be loaded ({one['cannot_be_loaded']})", one.get("from", BUILT_IN))
        for one in entries
        if "cannot_be_loaded" in one
    ]
    more = ("from",) if any("from" in one for one in found) else ()
    listed = [_theorems(found, more)] if kind == "theorems" else _others(kind, found, more)
    return [*listed, *([_listed(("plug-in", "problem", "from"), broken)] if broken else [])]


def _kind(what: str) -> "Kind":
    from boundlab.registry import KINDS

    if what not in KINDS:
        raise SpecError(f"cannot list {what!r}; {nearest(what, (*KINDS, 'symbols'))}")
    return what


def _rows(what: "Kind", word: str | None) -> "list[Registration]":
    from boundlab.registry import catalogue

    names = ("title", "algorithm")  # a theorem is found by these, too
    found = ((row, (getattr(row.item, name, "") for name in names)) for row in catalogue(what))
    return _found([row for row, more in found if _has(word, row.id, _summary(row.item), *map(str, more))], word, what)


def _symbols(word: str | None) -> "list[SymbolInfo]":
    """Return the built-in symbols: how they are written here and on paper, what they mean, and their units."""
    from boundlab.formulas.symbols import SYMBOLS

    named = [one for name, one in SYMBOLS.items() if word in (name, one.unicode)]  # a letter stands in every text
    return named or _found([one for name, one in SYMBOLS.items() if _has(word, name, one.meaning)], word, "symbols")


def _listed(columns: "Cells", rows: "Iterable[Cells]") -> "Rows":
    from boundlab.pages.blocks import table

    return table("", columns, rows, whole=(0,))


def _has(word: str | None, *texts: str) -> bool:
    """Return whether a word stands in one of the texts, whatever its case; no word stands in all."""
    return word is None or any(word.lower() in text.lower() for text in texts)


def _found(rows: list[T], word: str | None, what: str) -> list[T]:
    if word is not None and not rows:
        from boundlab.registry import find

        about = f"; boundlab list theorems --for {word} lists those that apply to this problem"
        known = what == "theorems" and find("problems", word) is not None
        raise SpecError(
            f"none of the {what} has {word!r} in its id or its summary; boundlab list {what} shows all"
            + (about if known else "")
        )
    return rows


def _theorems(entries: Sequence[Entry], more: Sequence[str]) -> "Rows":
    names = ("id", "status", "metric", "title", *more)
    rows = ([str(one.get(name, "")) for name in names] for one in entries)
    return _listed(("theorem", "status", "metric", "statement", *more), rows)


def _others(what: "Kind", entries: Sequence[Entry], more: Sequence[str]) -> "list[Rows]":
    from boundlab.pages.blocks import line
    from boundlab.registry import WORDS

    shared: Mapping[str, str] = {}
    if what == "delays":
        from boundlab.delays import RATE_OPTIONS

        shared = RATE_OPTIONS
    of_data = {one["id"]: one["options"] for one in entries if what == "problems" and "data" in one["options"]}
    if len(of_data) > 1:
        first, *others = of_data.values()
        shared = {key: said for key, said in first.items() if all(one.get(key) == said for one in others)}
    listed: list[Cells] = []
    for one in entries:
        below = shared if what == "delays" or one["id"] in of_data else {}
        own = [(key, said) for key, said in one["options"].items() if below.get(key) != said]
        listed.append((one["id"], one["summary"], *(one.get(name, "") for name in more)))
        listed += [(line((f"    {key}", "dim")), line((said, "dim")), *[""] * len(more)) for key, said in own]
    table = _listed((WORDS[what], "summary", *more), listed)
    if what == "delays":
        return [table, *_delay_tables(shared)]
    if what != "problems":
        return [table]
    options = [(f"    {key}", said) for key, said in shared.items()]
    data = [_listed(("data split over clients", ", ".join(of_data)), options)] if shared else []
    return [table, *data, *_of_all_problems()]


def _of_all_problems() -> "list[Rows]":
    from boundlab.objective import ERROR_OPTION
    from boundlab.objective.simple import OPTIONS

    tables = {"F = f + h": OPTIONS, "gradients with an error": ERROR_OPTION}
    return [
        _listed((what, "all problems"), [(f"    {key}", said) for key, said in options.items()])
        for what, options in tables.items()
    ]


def _delay_tables(shared: Mapping[str, str]) -> "list[Rows]":
    from boundlab.delays import POLICIES

    rates = [(f"    {key}", said) for key, said in shared.items()]
    return [
        _listed(("rates of the clients", "all models but iid and trace"), rates),
        _listed(("server policy", "--server NAME:key=value"), list(POLICIES.items())),
    ]


def _summary(item: Any) -> str:
    """Return one line: metrics call it a label, assumptions their words."""
    return next((str(getattr(item, name)) for name in ("summary", "label", "words") if hasattr(item, name)), "")


def _options(item: Any) -> dict[str, str]:
    return dict(getattr(item, "options", None) or getattr(item, "parameters", None) or {})


def _entries(what: "Kind", word: str | None) -> list[Entry]:
    """Return JSON-ready fields of what is registered; ``from`` where it is not built in."""
    from boundlab.registry import BUILT_IN

    rows = _rows(what, word)
    return [_entry(row, what, {"from": row.origin} if row.origin != BUILT_IN else {}) for row in rows]


def _entry(row: "Registration", what: str, origin: Entry) -> Entry:
    item = row.item
    if row.reason:
        return {"id": row.id, "cannot_be_loaded": row.reason, **origin}
    if hasattr(item, "metric"):
        paper, found = item.paper, {"title": item.title, "status": item.status, "metric": item.metric}
    else:
        paper = PAPERS.get(item.id, "") if what == "algorithms" and not origin else ""
        found = {"summary": _summary(item), "options": _options(item)}
    numbers = {"paper": paper, "reference": reference(paper).as_dict()} if paper or hasattr(item, "metric") else {}
    return {"id": item.id, **found, **numbers, **origin}


# One theorem.


def show(
    theorem: option.Theorem,
    latex: Annotated[bool, option.named("--latex", "Print the bound as LaTeX.")] = False,
    core: Annotated[bool, option.named("--core", "Print the complete statement and its hash.")] = False,
    as_json: option.AsJson = False,
) -> None:
    """Show a theorem: assumptions, step size, bound, symbols."""
    from boundlab.cli._kept import keep, kept, key_of

    if latex and as_json:
        raise SpecError("give --latex or --json, not both")
    asked, file = ["show", theorem, latex, core, as_json], named_file(theorem, ".toml")
    key = key_of(asked, file)
    shown = kept(key)
    if shown is None:
        shown = _shown(theorem, latex, core, as_json)
        if key == key_of(asked, file):  # nothing has changed while it was made
            keep(key, shown)
    if as_json:
        print_json(shown)
    elif core or latex:
        for line in shown:
            typer.echo(visible(line))
    else:
        from boundlab.pages.blocks import from_data

        print_page(map(from_data, shown["page"]))
        print_links(shown["links"])


def _shown(theorem: str, latex: bool, core: bool, as_json: bool) -> Any:
    """Return what is shown of a theorem, JSON-ready: a document, lines, or a page and its links."""
    from boundlab.pages import page
    from boundlab.pages.blocks import as_data
    from boundlab.pages.theorem import related_links
    from boundlab.theorems import core as core_of, load_theorem, words_of_core

    statement = load_theorem(theorem)
    if core:
        return core_of(statement).as_dict() if as_json else words_of_core(core_of(statement))
    if latex:
        return [statement.latex()]
    if as_json:
        return statement.as_dict()
    return {"page": [*map(as_data, page(statement))], "links": related_links(statement)}


def evaluate(
    theorem: option.Theorem,
    settings: option.Settings = None,
    terms: option.Terms = False,
    csv: Annotated[bool, option.named("--csv", "Print CSV instead of a table.")] = False,
    as_json: option.AsJson = False,
) -> None:
    """Evaluate a bound at numbers, vectors and grids."""
    from boundlab.theorems import load_theorem
    from boundlab.theorems.grid import evaluate as evaluate_theorem

    if csv and as_json:
        raise SpecError("give --csv or --json, not both")
    statement = load_theorem(theorem)
    result = evaluate_theorem(statement, settings or [])
    if as_json:
        print_json(result.as_dict())
    elif csv:
        typer.echo(result.csv(terms), nl=False)
    else:
        from boundlab.pages.theorem import values_page

        for line in values_page(result, terms):
            typer.echo(line)
