"""Ask the recorded questions again: ``python -m benchmarks.golden check``, ``renew ID … --because TEXT``, ``make``.

``check`` ends with 1 where an answer differs from the recorded one, and says how. ``renew`` records new answers of
some questions and writes the sentence that says which of the two answers was wrong into changes.md; ``make`` makes and
records all anew, ``more`` adds the questions that have come since, ``answer`` answers those that are there, ``tenth``
chooses those that make test asks, by what each runs (``check --reach`` keeps that).
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path

from benchmarks.golden.ask import ask
from benchmarks.golden.differ import differences
from benchmarks.golden.lines import FOLDER, Line, inputs, read, shuffled, write, write_inputs

CHANGES = FOLDER / "changes.md"
KEPT = FOLDER.parents[1] / "build" / "golden-answers.jsonl"
SHOWN = 5  # differences of one answer


def answers(lines: Sequence[Line], jobs: int, asked: Callable[[Line], Line] = ask) -> Iterator[Line]:
    """Yield the lines with today's answers, in their order."""
    if jobs == 1:
        yield from map(asked, lines)
    else:
        with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
            yield from pool.map(asked, lines, chunksize=8)


def kept(lines: Sequence[Line], jobs: int) -> list[Line]:
    """Return the lines with today's answers, each of which is kept as soon as it is there: asking takes an hour.

    What was kept when it ended early is not asked again.
    """
    KEPT.parent.mkdir(exist_ok=True)
    known = {}
    if KEPT.exists():
        for text in KEPT.read_text("utf-8").splitlines():
            try:
                one = Line(**json.loads(text))
            except ValueError:  # half a line
                continue
            known[one.id, *one.words] = one
    missing = [one for one in lines if (one.id, *one.words) not in known]
    with KEPT.open("a", encoding="utf-8") as out:
        for one in answers(missing, jobs):
            known[one.id, *one.words] = one
            out.write(json.dumps(asdict(one), ensure_ascii=False) + "\n")
            out.flush()
    found = [known[one.id, *one.words] for one in lines]
    KEPT.unlink()
    return found


def changed(lines: Iterable[Line], now: Iterable[Line]) -> Iterator[tuple[Line, list[str]]]:
    """Yield the lines whose answers differ, with how they do."""
    for line, new in zip(lines, now, strict=True):
        found = list(differences(line.answer, new.answer))
        if found:
            yield line, found


def check(lines: Sequence[Line], jobs: int, *, first: bool = False, reach: bool = False) -> int:
    """Return how many answers differ, and say how; of those up to the first, in an order that nobody chose."""
    if first:
        lines = shuffled(lines)
    count, spent = 0, 0.0
    how = ask
    if reach:
        from benchmarks.golden.reach import asked as how

    def counted() -> Iterator[Line]:
        nonlocal spent
        for one in answers(lines, jobs, how):
            spent += one.seconds
            yield one

    for line, found in changed(lines, counted()):
        count += 1
        more = f"\n    and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        sys.stdout.write(f"{line.id}: {' '.join(line.words)}\n    " + "\n    ".join(found[:SHOWN]) + more + "\n")
        if first:
            break
    sys.stdout.write(f"{len(lines)} answers, {count} differ, {spent:.0f} CPU seconds\n")
    return count


def renew(names: Sequence[str], because: str, jobs: int) -> None:
    """Record new answers of some questions, and why."""
    lines = read()
    chosen = [one for one in lines if one.id in names]
    if len(chosen) < len(set(names)):
        raise SystemExit(f"no such question: {', '.join(sorted(set(names) - {one.id for one in chosen}))}")
    new = {one.id: one for one in answers(chosen, jobs)}
    write(new.get(one.id, one) for one in lines)
    with CHANGES.open("a", encoding="utf-8") as out:
        out.write(f"- {', '.join(names)}: {because}\n")


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m benchmarks.golden")
    commands = parser.add_subparsers(required=True, dest="command")
    for name in ("check", "renew", "make", "more", "answer", "tenth"):
        one = commands.add_parser(name)
        one.add_argument("--jobs", type=int, default=2)
        if name == "check":
            one.add_argument("--tenth", action="store_true", help="only those that make test asks")
            one.add_argument("--only", default="", help="kinds, such as compare,exact")
            one.add_argument("--reach", action="store_true", help="keep which lines each runs: build/golden-reach")
            one.add_argument("--ids", type=Path, help="a file that names the questions, one a line")
            one.add_argument("--first", action="store_true", help="end with the first answer that differs")
        if name == "renew":
            one.add_argument("ids", nargs="+", help="questions, as check prints them")
            one.add_argument("--because", required=True, help="a sentence: which of the two answers was wrong, and why")
    given = parser.parse_args()
    if given.command == "make":
        from benchmarks.golden.make import made

        found = made()
        write_inputs(found.files)
        write(found.lines)
    if given.command == "more":
        from benchmarks.golden.make import with_sharp

        known = read()
        found = with_sharp(known, inputs())
        write_inputs(found.files)
        write([*known, *kept(found.lines[len(known) :], given.jobs)])
        return 0
    if given.command in ("make", "answer"):
        lines = read()
        write(kept(lines, given.jobs))
        return 0
    if given.command == "tenth":
        from benchmarks.golden.reach import COMPUTE, Reach
        from benchmarks.golden.tenth import with_tenth

        write(with_tenth(read(), *Reach.read().lines(COMPUTE)))
        return 0
    if given.command == "renew":
        renew(given.ids, given.because, given.jobs)
        return 0
    kinds = set(given.only.split(",")) - {""}
    names = set(given.ids.read_text("utf-8").split()) if given.ids else None
    asked = [
        one
        for one in read()
        if (one.tenth or not given.tenth) and (not kinds or one.kind in kinds) and (names is None or one.id in names)
    ]
    if given.reach and names is None:  # of some questions it is added to what there is
        from benchmarks.golden.reach import forget

        forget()
    return int(check(asked, given.jobs, first=given.first, reach=given.reach) > 0)


if __name__ == "__main__":
    sys.exit(main())
