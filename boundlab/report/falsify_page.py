"""The page of ``boundlab falsify``."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boundlab.registry import command_line
from boundlab.report.tables import figure, plain_table, verdict_line

if TYPE_CHECKING:
    from boundlab.falsify import Falsification, JudgedInstance

# What stands before a command on the page.
REPEAT, OR, BOTH_SIDES = "repeat: ", "or: ", "both sides there: "
_FAMILIES = 12
_REASONS = 5


def falsify_page(found: "Falsification", typed: str = "", written: Path | None = None) -> list[Any]:
    """Return what was tried, the smallest counterexample or the closest instance, and the commands that repeat it.

    Parameters
    ----------
    typed
        The theorem as the user gave it, an id or a file.
    written
        The case file of the counterexample.
    """
    best, statement = found.best, found.theorem
    count = sum(found.tried.values())
    families = plain_table("family", "candidates", title="what was tried")
    ranked = sorted(found.tried.items(), key=lambda item: -item[1])
    for name, number in ranked[:_FAMILIES]:
        families.add_row(name, str(number))
    if len(ranked) > _FAMILIES:
        families.add_row(f"{len(ranked) - _FAMILIES} more", str(sum(number for _, number in ranked[_FAMILIES:])))
    head = f"{statement.id} ({statement.status}): {count} candidates in {found.seconds:.0f} s, seed {found.seed}"
    page: list[Any] = [head, families, *_refused(found.refused)]
    if best is None:
        why = f": no instance was found that meets {found.unmet}" if found.unmet else ""
        return [*page, verdict_line("inconclusive", f"the theorem applies to nothing that was tried{why}")]
    constants = plain_table("constant", "value", "side", "how")
    constants.columns[2].justify = constants.columns[3].justify = "left"
    for name, constant in best.constants.items():
        constants.add_row(name, figure(constant.value), constant.side, constant.how)
    page += [
        f"\n{'smallest counterexample' if found.violated else 'closest instance'}: {best.words()}", constants,
        f"\nat {statement.counter} = {best.iterations}: left {best.left:.10g}, right {best.right:.10g}, "
        f"ratio {best.ratio:.6g} ({best.kind}: {best.method})",
    ]  # fmt: skip
    if best.generous is not None:
        counts = " and ".join(f"{name} counted as {name} + {more}" for name, more in statement.generous.items())
        page.append(f"with {counts}, as the paper may: ratio {best.generous:.6g}")
    if found.clearest is not None:
        page.append(
            f"the clearest one met: {found.clearest.words()}, {statement.counter} = {found.clearest.iterations}: "
            f"ratio {found.clearest.ratio:.6g} ({found.clearest.kind})"
        )
    if found.violated:
        page.append(verdict_line("violated", f"{statement.id} is false as stated"))
    else:
        page.append(verdict_line("inconclusive", f"none found; the closest instance has left/right {best.ratio:.4g}"))
    return [*page, *_commands(found, best, typed or statement.id, written)]


def _commands(found: "Falsification", best: "JudgedInstance", typed: str, written: Path | None) -> list[str]:
    """Return the commands that say again what was found; of the closest instance, the one that shows both sides."""
    compare = best.command(typed)
    if not found.violated:
        return [f"{BOTH_SIDES}{compare}"] if compare else []
    commands = []
    if best.kind != "numeric" and written is not None:
        commands.append(command_line("exact", typed, str(written)))
    if compare:
        commands.append(compare)
    elif found.clearest is not None and (clearest := found.clearest.command(typed)):
        commands.append(clearest)  # a sample tells the clearest instance, and not the smallest one
    return [f"{(OR if place else REPEAT)}{command}" for place, command in enumerate(commands)]


def _refused(refused: Mapping[str, int]) -> list[str]:
    """Return how many candidates were given up and why."""
    if not refused:
        return []
    ranked = sorted(refused.items(), key=lambda item: -item[1])
    lines = [f"\n{sum(refused.values())} more were given up, and do not count:"]
    lines += [f"  {number} times: {reason}" for reason, number in ranked[:_REASONS]]
    if len(ranked) > _REASONS:
        rest = ranked[_REASONS:]
        lines.append(f"  {sum(number for _, number in rest)} times: {len(rest)} other reasons (--json lists them)")
    return lines
