"""The command lines that repeat an audit, which statement they are about, and what must be there for them to run."""

from pathlib import Path
from typing import TYPE_CHECKING

from boundlab.registry import BUILT_IN, Kind, catalogue, command_line
from boundlab.theorems import core

if TYPE_CHECKING:
    from boundlab.audit._evidence import Evidence
    from boundlab.theorems import Theorem


def commands(audit: "Evidence") -> list[str]:
    """Return what repeats each number, each command once."""
    typed = audit.typed
    found = [
        command_line("show", typed),
        command_line("show", typed, "--core"),
        command_line("check", typed, "--all"),
    ]
    if audit.search is not None:
        found.append(audit.search.command)
        if (best := audit.search.found.best) is not None and (command := best.command(typed)):
            found.append(command)
    elif audit.exact is not None:
        found.append(command_line("exact", typed, *(["--derivation"] if audit.exact.derivation is not None else [])))
    found += [one.command for one in audit.proofs]
    found += [] if audit.panel is None else [audit.panel.command]
    for repair in audit.repairs:
        name = repair.theorem.id
        found += [one.command for one in repair.proofs]
        own = audit.theorem.id if audit.case_file.startswith("proofs/") else audit.case_file
        found += [] if repair.on_case is None or not own else [command_line("exact", name, own)]
        found += [] if repair.worst is None else [repair.worst.command]
        found += [] if repair.search is None else [repair.search.command]
        found += [] if repair.panel is None else [repair.panel.command]
    return list(dict.fromkeys(found))


def statement_hash(theorem: "Theorem") -> str:
    """Return the SHA-256 of the core statement: equal hashes say the same."""
    return core(theorem).sha256


def origins(theorem: "Theorem") -> dict[str, str]:
    """Return where the theorem, its algorithm, metric and assumptions come from, of those that boundlab has not itself.

    Of an installed package, its name and version; of a file, its path.
    """
    asked: list[tuple[Kind, str]] = [("theorems", theorem.id), ("algorithms", theorem.algorithm)]
    asked += [("metrics", theorem.metric), *(("assumptions", name) for name in theorem.assumptions)]
    found: dict[str, str] = {}
    for kind, name in asked:
        for row in catalogue(kind):
            own = kind != "theorems" or row.item is theorem  # a file of the same id is another theorem
            if row.id == name and row.origin != BUILT_IN and own and not row.reason:
                found[f"{_SINGULAR[kind]} {name}"] = row.origin
    return found


_SINGULAR = {"theorems": "theorem", "algorithms": "algorithm", "metrics": "metric", "assumptions": "assumption"}


def how_to_have(origin: str) -> str:
    """Return in words how something that boundlab has not itself is there: a file is named, a package installed."""
    if Path(origin).is_absolute():
        return f"the plug-in {origin}, named by --plugin or in BOUNDLAB_PLUGINS"
    name, _, version = origin.partition(" ")
    return f"the package {origin}, installed with pip install {name}=={version}"
