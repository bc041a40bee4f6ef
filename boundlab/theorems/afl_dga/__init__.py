"""The theorems about AFL-DGA, anarchic federated learning with delayed gradient averaging."""

from pathlib import Path

from boundlab.theorems.record import of_package

THEOREMS = of_package(
    Path(__file__).parent,
    (
        "afl_dga.theorem1",
        "afl_dga.corollary1",
        "afl_dga.r0",
        "afl_dga.r1",
        "afl_dga.r2",
        "afl_dga.r2n",
        "afl_dga.r2b",
        "afl_dga.r3",
        "afl_dga.r0.along-run",
        "afl_dga.r1.along-run",
        "afl_dga.r2.along-run",
        "afl_dga.r2n.along-run",
        "afl_dga.r2b.along-run",
        "afl_dga.r3.along-run",
    ),
)
