"""What one event does to an algorithm's registers, read off its program: what a setting's statements must equal."""

from typing import TypeAlias

from boundlab.algorithms import AffineRow, DescendRow, Event, EventProgram, MoveRow

# Register before the event, or the pass of a client: (client, where it starts from, steps, step size).
Start: TypeAlias = int | tuple[tuple[int, float], ...]
Source: TypeAlias = int | tuple[int, Start, int, float]
Combination: TypeAlias = dict[Source, float]


def moves(program: EventProgram, event: Event, number: int = 0) -> dict[int, Combination]:
    """Return what each register that changes is after one event, from the opening's control state."""
    _, control = program.opening()
    return run(program.event(control, event, number).rows)


def opening(program: EventProgram) -> dict[int, Combination]:
    """Return what the registers are before the first event, where rows are run for that."""
    return run(program.opening()[0])


def run(rows: tuple[AffineRow | DescendRow | MoveRow, ...]) -> dict[int, Combination]:
    """Run rows on names in place of vectors."""
    now: dict[int, Combination] = {}

    def of(register: int) -> Combination:
        return now.get(register, {register: 1.0})

    for row in rows:
        if isinstance(row, AffineRow):
            found: Combination = {}
            for weight, register in row.terms:
                for source, value in of(register).items():
                    found[source] = found.get(source, 0.0) + weight * value
            now[row.dst] = {source: value for source, value in found.items() if abs(value) > 1e-12}
        elif isinstance(row, DescendRow):
            now[row.dst] = {(row.client, _start(of(row.src)), row.steps, row.step_size): 1.0}
        else:
            now[row.dst] = of(row.src)
    return now


def _start(combination: Combination) -> Start:
    if list(combination.values()) == [1.0] and isinstance(register := next(iter(combination)), int):
        return register
    if any(isinstance(source, tuple) for source in combination):
        raise ValueError("a pass starts where another one ended")
    return tuple(sorted((source, value) for source, value in combination.items() if isinstance(source, int)))


def agrees(found: Combination, wanted: Combination) -> bool:
    """Return whether two combinations are the same up to rounding."""
    return found.keys() == wanted.keys() and all(abs(found[key] - wanted[key]) < 1e-9 for key in found)
