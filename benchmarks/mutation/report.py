"""The score of a run, with the survivors and why some of them change nothing."""

import json
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from benchmarks.mutation.rooms import room
from benchmarks.mutation.run import Result

ENOUGH = 0.95
JUDGED = Path(__file__).with_name("survivors.toml")


@final
@dataclass(frozen=True, slots=True)
class Table:
    """The text, and whether at least 95 % of what is not equivalent was noticed."""

    text: str
    enough: bool


def read(results: Path | None) -> dict[str, Result]:
    """Return what an earlier run found."""
    if results is None or not results.exists():
        return {}
    rows = [Result(**json.loads(line)) for line in results.read_text(encoding="utf-8").splitlines()]
    return {row.mutant: row for row in rows}


def judged() -> dict[str, tuple[str, str]]:
    """Return the survivors that were looked at: what they are (``equivalent`` or ``gap``), and the reason."""
    listed = tomllib.loads(JUDGED.read_text(encoding="utf-8")).get("survivor", ())
    return {one["mutant"]: (one["kind"], one["reason"]) for one in listed}


def table(results: Sequence[Result], seed: int) -> Table:
    """Return the score by room, and every survivor."""
    known = judged()
    left = [row for row in results if row.outcome in ("survived", "no test")]
    equivalent = {row.mutant for row in left if known.get(row.mutant, ("", ""))[0] == "equivalent"}
    counted = len(results) - len(equivalent)
    killed = len(results) - len(left)
    share = killed / counted if counted else 1.0
    lines = [
        f"{len(results)} errors planted (seed {seed}): {killed} noticed, {len(equivalent)} equivalent, "
        f"{counted - killed} not noticed; {100 * share:.1f} % of those that are not equivalent.",
        "",
        "| room | planted | noticed | equivalent | not noticed |",
        "|---|---|---|---|---|",
    ]
    rooms = Counter(_room(row) for row in results)
    for name in sorted(rooms):
        own = [row for row in left if _room(row) == name]
        same = sum(row.mutant in equivalent for row in own)
        lines.append(f"| {name} | {rooms[name]} | {rooms[name] - len(own)} | {same} | {len(own) - same} |")
    lines += ["", "| not noticed | why |", "|---|---|"]
    for row in sorted(left, key=lambda one: one.mutant):
        kind, reason = known.get(row.mutant, ("not judged", ""))
        lines.append(f"| `{row.mutant.replace('|', '¦')}` | {kind}{': ' if reason else ''}{reason} |")
    return Table("\n".join(lines) + "\n", share >= ENOUGH)


def _room(row: Result) -> str:
    return room(row.mutant.partition(" ")[0])
