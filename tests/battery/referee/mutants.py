"""The battery: the true claims, and the mutants with the witnesses of their falsity."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import final

from referee.claims import Claim, Instance, Sides, sides

FOLDER = Path(__file__).parents[1]
THEOREMS = FOLDER / "theorems"
WITNESSES = FOLDER / "mutants.json"


@final
@dataclass(frozen=True, slots=True)
class Mutant:
    """A false claim: its name, which slip was made in which theorem, and an instance on which it fails."""

    id: str
    theorem: str
    slip: str
    what: str
    claim: Claim
    witness: Instance
    left: float
    bound: float

    def sides(self) -> Sides:
        """Compute both sides on the witness again."""
        return sides(self.claim, self.witness)


def true_claims() -> dict[str, tuple[Claim, Path]]:
    """Return the true claims with their files, by name."""
    return {path.stem: (Claim.read(path), path) for path in sorted(THEOREMS.glob("*.toml"))}


def read_mutants() -> list[Mutant]:
    """Return the mutants: what of a true claim is changed, None where it is gone, without what tells what was done."""
    claims, found = true_claims(), []
    for raw in json.loads(WITNESSES.read_text(encoding="utf-8")):
        own = {key: entry for key, entry in claims[raw["theorem"]][0].data.items() if key not in ("note", "title")}
        data = own | raw["changed"] | {"id": f"battery.{raw['id']}"}
        claim = Claim({key: entry for key, entry in data.items() if entry is not None})
        told = (raw["id"], raw["theorem"], raw["slip"], raw["what"])
        found.append(Mutant(*told, claim, Instance.read(raw["witness"]), raw["left"], raw["bound"]))
    return found
