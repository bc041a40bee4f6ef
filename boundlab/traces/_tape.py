"""A run as a trace: what its tape says of arrivals, and of what they had read."""

import numpy as np

from boundlab.delays.recorded import Recorded, recorded
from boundlab.errors import SpecError
from boundlab.tape import Op, Tape, staleness


def of_tape(tape: Tape, source: str) -> Recorded:
    """Return the updates that arrive in a run, with what the tape knows of each.

    Raises
    ------
    SpecError
        If nothing arrives: ``source`` then says which run it is.
    """
    descend, rows = tape.descend, np.flatnonzero(tape.descend.arrival >= 0)
    if not rows.size:
        raise SpecError(f"{source} has no arrivals of clients that a trace could record")
    rows = rows[np.argsort(descend.arrival[rows], kind="stable")]
    begun = np.empty(len(descend.arrival), dtype=np.int64)
    steps = tape.op == Op.DESCEND.value
    begun[tape.row[steps]] = tape.event[steps]
    time = np.append(tape.events.time, 0.0)  # what is begun before all events has the event −1
    columns = {
        "client": [str(one) for one in descend.client[rows].tolist()],
        "time": time[descend.arrival[rows]].tolist(),
        "dispatch": time[begun[rows]].tolist(),
        "version": descend.version[rows].tolist(),
        "steps": descend.steps[rows].tolist(),
        "staleness": staleness(tape).tolist(),
    }
    return recorded(source, [dict(zip(columns, one, strict=True)) for one in zip(*columns.values(), strict=True)])
