"""AREA, Appendix B as printed."""

from boundlab.proofs import (
    _appendix_b_constants,
    _appendix_b_models,
    _appendix_b_norms,
    _appendix_b_passes,
    _appendix_b_preliminaries,
    _appendix_b_squares,
    _appendix_b_start,
    _appendix_b_theorem,
)
from boundlab.proofs._appendix_b import AppendixB
from boundlab.prove import Proof, Script


def appendix_b(proof: Proof) -> None:
    """From (8) to the end of B.4."""
    b = AppendixB(proof)
    _appendix_b_preliminaries.write(b)
    _appendix_b_passes.write(b)
    _appendix_b_norms.write(b)
    _appendix_b_squares.write(b)
    _appendix_b_models.write(b)
    _appendix_b_theorem.write(b)
    _appendix_b_start.write(b)
    _appendix_b_constants.write(b)


PROOFS = (
    Script(
        "area.theorem7",
        "Appendix B, every display as printed",
        "AREA, Appendix B",
        appendix_b,
        "area.theorem7.explicit",
        printed=True,
    ),
)
