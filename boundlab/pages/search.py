"""The page of a search for a counterexample."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from boundlab.pages.blocks import GAP, Block, Rows, Words, constants_of, figure, figures, verdict_words, words
from boundlab.registry import command_line

if TYPE_CHECKING:
    from boundlab.falsify import Falsification, JudgedInstance

# What stands before a command on the page.
REPEAT: Final = "repeat: "
OR: Final = "or: "
BY_HAND: Final = "step-by-step derivation: "
BOTH_SIDES: Final = "both sides there: "
_FAMILIES = 12
_REASONS = 5
_HORIZONS = (5, 10, 20, 40)  # at which a comparison shows how both sides grow


def search_page(found: "Falsification", typed: str = "", written: Path | None = None) -> list[Block]:
    """Return what was tried, the counterexample or the closest instance, and the commands that repeat it.

    Parameters
    ----------
    typed
        The theorem as the user gave it, an id or a file.
    written
        The case file of the counterexample.
    """
    best, statement = found.best, found.theorem
    count = sum(found.tried.values())
    head = f"{statement.id} ({statement.status}): {count} candidates in {found.seconds:.0f} s, seed {found.seed}"
    page: list[Block] = [words(found.nothing)] if found.nothing else []
    page += [words(head), *_tried(found.tried), *_refused(found.refused)]
    page += [words(kept)] if (kept := found.kept()) else []
    if best is None:
        what = "no family was found along which left/right is unbounded" if statement.growth else "none is confirmed"
        return [*page, verdict_words("inconclusive", found.nothing or what)]
    constants = ((name, figure(one.value), one.side, one.how) for name, one in best.constants.items())
    page += [
        GAP,
        words(f"{_called(found)}: {best.words()}"),
        constants_of(constants),
        GAP,
        *(words(one) for one in _sides(found, best)),
    ]
    if found.growth is not None:
        one = found.growth
        page += [GAP, *(words(line) for line in (one.family, f"left  = {one.left}", f"right = {one.right}"))]
        page.append(verdict_words("violated", f"{statement.id} is false whatever its constants are: {one.why}"))
    elif found.violated:
        page.append(verdict_words("violated", f"{statement.id} is false as stated"))
    else:
        page.append(verdict_words("inconclusive", f"none found; the closest instance has left/right {best.ratio:.4g}"))
    return [*page, *_commands(found, best, typed or statement.id, written)]


def _called(found: "Falsification") -> str:
    """Return what the instance of a search is."""
    return found.called if found.growth is None else "a family begins at"


def _tried(tried: Mapping[str, int]) -> tuple[Words, Rows] | tuple[()]:
    """Return how many candidates of which families were tried."""
    if not tried:
        return ()
    ranked = sorted(tried.items(), key=lambda item: -item[1])
    rows = [(name, str(number)) for name, number in ranked[:_FAMILIES]]
    if len(ranked) > _FAMILIES:
        rows.append((f"{len(ranked) - _FAMILIES} more", str(sum(number for _, number in ranked[_FAMILIES:]))))
    return words(("what was tried", "note")), figures(("family", "candidates"), rows)


def _sides(found: "Falsification", best: "JudgedInstance") -> list[str]:
    """Return both sides on the instance, as the paper may count, and on the smallest and the clearest instance."""
    counter = found.theorem.horizon_symbol
    lines = [
        f"at {counter} = {best.iterations}: left {best.left:.10g}, right {best.right:.10g}, "
        f"ratio {best.ratio:.6g} ({best.kind}: {best.method})"
    ]
    if best.generous is not None:
        counts = " and ".join(f"{name} counted as {name} + {more}" for name, more in found.theorem.generous.items())
        lines.append(f"with {counts}, as the paper may: ratio {best.generous:.6g}")
    for which, one in (("smallest instance", found.smaller), ("largest violation", found.clearest)):
        if one is not None:
            where = f"{one.words()}, {counter} = {one.iterations}"
            lines.append(f"{which} found: {where}: ratio {one.ratio:.6g} ({one.kind})")
    return lines


def _commands(found: "Falsification", best: "JudgedInstance", typed: str, written: Path | None) -> list[Words]:
    """Return the commands that say again what was found; of the closest instance, the one that shows both sides."""
    compare = best.command(typed)
    if found.growth is not None and found.growth.along == (found.theorem.horizon_symbol,):
        several = replace(best.candidate.compared(found.theorem), iterations=list(_HORIZONS))
        compare = several.command(typed, "--trials", "2")
    if not found.violated:
        return [_command(BOTH_SIDES, compare)] if compare else []
    commands = []
    if (best.kind != "numeric" or found.growth is not None) and written is not None:
        commands.append(command_line("exact", typed, str(written)))
    if compare:
        commands.append(compare)
    elif found.clearest is not None and (clearest := found.clearest.command(typed)):
        commands.append(clearest)  # a sample tells the clearest instance, and not the smallest one
    said = [_command(OR if place else REPEAT, command) for place, command in enumerate(commands)]
    if best.by_hand and written is not None:
        said.append(_command(BY_HAND, command_line("exact", typed, str(written), "--derivation")))
    return said


def _command(before: str, command: str) -> Words:
    return words(before, (command, "command"))


def _refused(refused: Mapping[str, int]) -> list[Words]:
    """Return how many candidates were given up and why."""
    if not refused:
        return []
    ranked = sorted(refused.items(), key=lambda item: -item[1])
    lines = [f"{sum(refused.values())} more candidates were skipped:"]
    lines += [f"  {number} times: {reason}" for reason, number in ranked[:_REASONS]]
    if len(ranked) > _REASONS:
        rest = ranked[_REASONS:]
        lines.append(f"  {sum(number for _, number in rest)} times: {len(rest)} other reasons (--json lists them)")
    return [GAP, *(words(one) for one in lines)]
