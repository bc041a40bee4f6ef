"""The battery: the true claims, and the mutants with the witnesses of their falsity."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from referee.claims import Claim, Instance, Sides, sides
from referee.mutate import mutants

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
    """Return the mutants, made again from the true claims.

    Raises
    ------
    KeyError
        If a mutant of the list is made no longer.
    """
    claims, made = true_claims(), {}
    found = []
    for raw in json.loads(WITNESSES.read_text(encoding="utf-8")):
        theorem = raw["theorem"]
        if theorem not in made:
            made[theorem] = {what: claim for _, what, claim in mutants(claims[theorem][0])}
        claim = renamed(made[theorem][raw["what"]], raw["id"])
        witness = Instance.read(raw["witness"])
        found.append(Mutant(raw["id"], theorem, raw["slip"], raw["what"], claim, witness, raw["left"], raw["bound"]))
    return found


def renamed(claim: Claim, name: str) -> Claim:
    """Return the claim under another name, with nothing that tells what was done."""
    data: dict[str, Any] = {key: entry for key, entry in claim.data.items() if key not in ("note", "title")}
    return Claim({**data, "id": f"battery.{name}"})
