"""Search for counterexamples to every theorem as printed, and write the case files and the README of this folder.

python proofs/counterexamples/regenerate.py                    # all theorems
python proofs/counterexamples/regenerate.py --only fedfa       # those whose id begins so; the README is then left alone
"""

import argparse
import json
import sys
from pathlib import Path

from boundlab.falsify import Falsification, falsify
from boundlab.files import replacing, write_json
from boundlab.registry import registered

HERE = Path(__file__).parent
INTRODUCTION = """# Counterexamples

Each file is a case on which a theorem, as printed, fails: found by `boundlab falsify THEOREM` itself, shrunk, and
confirmed. `boundlab exact THEOREM FILE` replays those marked exact or enclosure; the others are repeated by the
comparison below the table. Constants are certified, all assumptions are met, and the step size is one that the theorem
allows. This page is written by `regenerate.py`; smaller instances may exist.

| theorem | instance | left | right | ratio | kind | candidates |
|---|---|---|---|---|---|---|
"""


def line(found: Falsification) -> str:
    """Return the row of a theorem."""
    best = found.best
    if best is None or not found.violated:
        return f"| `{found.theorem.id}` | none found | | | {found.ratio:.3g} | | {sum(found.tried.values())} |\n"
    words = f"{best.words()}, {found.theorem.counter} = {best.iterations}"
    return (
        f"| `{found.theorem.id}` | {words.replace('|', chr(92) + '|')} | {best.left:.6g} | {best.right:.6g} | "
        f"{best.ratio:.4g} | {best.kind} | {sum(found.tried.values())} |\n"
    )


def main() -> None:
    """Run the searches."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="theorems whose id begins so")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds a theorem")
    chosen = parser.parse_args()
    rows, commands = [], []
    for name, theorem in registered("theorems").items():
        if theorem.status != "as printed" or theorem.shape or not name.startswith(chosen.only):
            continue
        found = falsify(theorem, chosen.budget)
        rows.append(line(found))
        sys.stdout.write(rows[-1])
        if found.violated and found.best is not None:
            write_json(HERE / f"{name}.json", json.loads(json.dumps(found.case)))
            commands.append(f"    {found.best.as_dict(theorem)['compare']}\n")
    if not chosen.only:
        with replacing(HERE / "README.md") as path:
            text = INTRODUCTION + "".join(rows) + "\nAs comparisons:\n\n" + "".join(commands)
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
