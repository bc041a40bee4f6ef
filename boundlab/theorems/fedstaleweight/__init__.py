"""The theorems about FedStaleWeight (Ma et al.), as recovered and as repaired; the repaired hold for FedBuff too."""

from pathlib import Path

from boundlab.theorems.record import of_package

THEOREMS = of_package(
    Path(__file__).parent,
    (
        "fedstaleweight.theorem1",
        "fedstaleweight.rf1",
        "fedstaleweight.rf2",
        "fedstaleweight.rf3",
        "fedstaleweight.rf1.along-run",
        "fedstaleweight.rf2.along-run",
        "fedstaleweight.rf3.along-run",
    ),
)
FEDBUFF_THEOREMS = of_package(
    Path(__file__).parent,
    (
        "fedbuff.rf1",
        "fedbuff.rf2",
        "fedbuff.rf3",
        "fedbuff.rf1.along-run",
        "fedbuff.rf2.along-run",
        "fedbuff.rf3.along-run",
    ),
)
