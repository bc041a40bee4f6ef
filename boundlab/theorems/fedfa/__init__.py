"""The theorems about FedFa (Xu et al.), as printed and as repaired."""

from pathlib import Path

from boundlab.theorems.record import of_package

THEOREMS = of_package(
    Path(__file__).parent,
    (
        "fedfa.theorem1",
        "fedfa.theorem1.squared-smoothness",
        "fedfa.corollary",
        "fedfa.delta.a",
        "fedfa.delta.b",
        "fedfa.delta.b.noiseless",
        "fedfa.param.a",
        "fedfa.param.b",
        "fedfa.param.b.noiseless",
        "fedfa.delta.a.along-run",
        "fedfa.delta.b.along-run",
        "fedfa.delta.b.noiseless.along-run",
        "fedfa.param.a.along-run",
        "fedfa.param.b.along-run",
        "fedfa.param.b.noiseless.along-run",
    ),
)
