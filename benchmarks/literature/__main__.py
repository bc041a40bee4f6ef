"""Published theorems, as we remember them: the verdict of every tool, and whether a false mutant of each is refuted.

python -m benchmarks.literature                                   # the whole table
python -m benchmarks.literature --only classics.gd                # the entries whose id begins so
python -m benchmarks.literature --out benchmarks/results/literature.md    # also into a file, and all details as JSON
"""

import argparse
import multiprocessing
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from benchmarks.literature.entries import Entry, entries
from benchmarks.literature.judge import NONE, Row, judge
from boundlab.errors import BoundlabError
from boundlab.files import check_writable, write_json, write_text

KILLED = 0.95  # of the mutants must be refuted
_HEAD = ("theorem", "source", "check", "compare", "worst-case", "exact", "falsify", "prove", "mutant", "refuted by")


def rows_of(some: Sequence[Entry], jobs: int) -> Iterator[Row]:
    """Judge the entries, each for itself, in their order."""
    if jobs == 1:
        yield from map(judge, some)
        return
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(judge, some)


def line(row: Row) -> str:
    """Return a line of the table."""
    said = {tool: answer.words for tool, answer in row.answers.items()}
    tools = (said[tool] for tool in ("check", "compare", "worst-case", "exact", "falsify", "prove"))
    source = f"{row.paper}, {row.place} ({row.source})"
    cells = (f"`{row.id}`", source, *tools, row.changed, row.killer or "**survives**")
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def summary(rows: Sequence[Row]) -> str:
    """Return the counts."""
    alarms = [f"{row.id} ({', '.join(row.alarms)})" for row in rows if row.alarms]
    alive = [row.id for row in rows if not row.killer]
    text = f"{len(rows)} entries, {len(alarms)} alarms about true theorems{': ' * bool(alarms)}{', '.join(alarms)}; "
    text += f"{len(rows) - len(alive)} of {len(rows)} mutants refuted"
    text += f", not those of {', '.join(alive)}" if alive else ""
    return f"{text}."


def heading(rows: Sequence[Row]) -> str:
    """Return what a reader must know first: how many of the statements somebody held against the paper."""
    compared = sum(row.source == "print" for row in rows)
    return f"{len(rows)} theorems, as we remember them; {compared} compared with the print"


def table(rows: Sequence[Row]) -> str:
    """Return the table in Markdown, with the counts below."""
    head = [f"| {' | '.join(_HEAD)} |", f"|{'---|' * len(_HEAD)}"]
    return "\n".join([*head, *map(line, rows), "", summary(rows)]) + "\n"


def stands(rows: Sequence[Row]) -> bool:
    """Return whether no true theorem is called false, and enough of the mutants are."""
    killed = sum(bool(row.killer) for row in rows)
    return not any(row.alarms for row in rows) and killed >= KILLED * len(rows)


def main(given: Sequence[str] | None = None) -> int:
    """Judge the entries and show the table; 1 with an alarm, or where too many mutants survive."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.literature",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", default="", help="entries whose id begins so")
    parser.add_argument("--out", type=Path, help="a file of the table; what every tool said stands beside it as JSON")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2); results are the same")
    asked = parser.parse_args(given)
    try:
        if asked.out is not None:
            check_writable(asked.out)
        some = entries(asked.only)
    except BoundlabError as error:
        sys.stderr.write(f"error: {error}\n")
        return int(error.exit_code)
    if not some or asked.jobs < 1:
        sys.stderr.write("error: --jobs must be at least 1\n" if some else f"error: no entry {asked.only!r}\n")
        return 2
    rows = []
    for row in rows_of(some, asked.jobs):
        rows.append(row)
        words = "; ".join(f"{tool} {answer.words}" for tool, answer in row.answers.items() if answer.words != NONE)
        sys.stderr.write(f"{row.id:40} {row.seconds:6.1f} s  {words}; mutant: {row.killer or 'SURVIVES'}\n")
    sys.stderr.write(f"{sum(row.seconds for row in rows):.0f} s of a processor\n")
    text = table(rows)
    sys.stdout.write(text)
    if asked.out is not None:
        write_text(asked.out, f"# {heading(rows)}\n\n{text}")
        write_json(asked.out.with_suffix(".json"), [row.as_dict() for row in rows])
    return 0 if stands(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
