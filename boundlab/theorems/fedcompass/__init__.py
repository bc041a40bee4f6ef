"""The theorems about FedCompass (Li et al.), as printed and as repaired."""

from pathlib import Path

from boundlab.theorems.record import of_package

THEOREMS = of_package(
    Path(__file__).parent,
    (
        "fedcompass.theorem1",
        "fedcompass.corollary1",
        "fedcompass.corollary1.explicit",
        "fedcompass.window.a",
        "fedcompass.window.b",
        "fedcompass.window.b.noiseless",
        "fedcompass.group",
        "fedcompass.window.a.along-run",
        "fedcompass.window.b.along-run",
        "fedcompass.window.b.noiseless.along-run",
        "fedcompass.group.along-run",
    ),
)
