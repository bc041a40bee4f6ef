"""Make the list of mutants: those of each theorem, slip by slip, for which a small instance shows that they are false.

python tests/battery/referee/find.py [theorem …]     # all of them, or those of these theorems anew; several minutes
"""

import json
import sys
import zlib
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from referee.claims import Claim
from referee.instances import worst
from referee.mutants import WITNESSES, true_claims
from referee.mutate import mutants

_WANTED = 3
_TRIED = 12
_INSTANCES = 120
# A bound that is exceeded by less is no clear case.
_CLEAR = 1.002
_PLAIN = 1.05
# The shapes that boundlab's own problems have.
_KNOWN = ("quadratic", "huber", "absolute")


def false_mutants(name: str, claim: Claim) -> list[dict[str, Any]]:
    """Return up to three mutants of a theorem, of different slips where possible, each with its witness."""
    random = np.random.default_rng(zlib.crc32(name.encode()))
    slips: dict[str, list[tuple[str, Claim]]] = defaultdict(list)
    for slip, what, mutant in mutants(claim):
        slips[slip].append((what, mutant))
    for some in slips.values():
        random.shuffle(some)  # type: ignore[arg-type]
    names = [list(slips)[place] for place in random.permutation(len(slips))]
    queue = [(slip, *slips[slip][turn]) for turn in range(_TRIED) for slip in names if turn < len(slips[slip])]
    found: list[dict[str, Any]] = []
    for slip, what, mutant in queue[:_TRIED]:
        shown = worst(mutant, random, _INSTANCES, _PLAIN, _KNOWN)
        if shown is not None and shown[0].ratio > _CLEAR:
            sides, witness = shown
            found.append(
                {
                    "id": f"{name}.{len(found) + 1}",
                    "theorem": name,
                    "slip": slip,
                    "what": what,
                    "left": sides.left,
                    "bound": sides.bound,
                    "witness": witness.raw(),
                }
            )
        if len(found) == _WANTED:
            break
    return found


def main(names: list[str]) -> None:
    """Write the list."""
    claims = true_claims()
    old = json.loads(WITNESSES.read_text(encoding="utf-8")) if names and WITNESSES.exists() else []
    found = {name: [raw for raw in old if raw["theorem"] == name] for name in claims}
    for name in names or claims:
        found[name] = false_mutants(name, claims[name][0])
        sys.stdout.write(f"{name}: {len(found[name])}\n")
        sys.stdout.flush()
        rows = [json.dumps(raw) for some in found.values() for raw in some]
        WITNESSES.write_text("[\n" + ",\n".join(rows) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
