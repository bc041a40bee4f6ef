"""The theorems about AREA (Iakovidou and Kim), as printed and as repaired.

docs/theory/area.md says which reading of the algorithm each is about, and what supports or refutes it.
"""

from pathlib import Path

from boundlab.theorems.record import of_package

THEOREMS = of_package(
    Path(__file__).parent,
    (
        "area.theorem7",
        "area.theorem7.explicit",
        "area.theorem7.onepass",
        "area.theorem7.onepass.algorithm-start",
        "area.theorem7.recursion",
        "area.theorem7.recursion.algorithm-start",
        "area.theorem8",
        "area.theorem8.fixed-step",
        "area.theorem8.printed-start",
        "area.theorem8.printed-start.fixed-step",
        "area.theorem8.repaired",
        "area.theorem8.repaired.fixed-step",
        "area.theorem8.algorithm-start",
        "area.theorem8.repaired.along-run",
        "area.theorem8.repaired.fixed-step.along-run",
        "area.theorem8.algorithm-start.along-run",
    ),
)
