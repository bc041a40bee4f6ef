"""The checker of worst-case certificates and of proofs: the standard library and this folder, nothing else.

It imports neither the search that proposes certificates nor the checker that the search asks, nothing of what writes
proofs, and no SymPy, NumPy or solver; files are read as they stand. Polynomials in proofs are python-flint's, which is
imported when a proof is read. Who writes a proof asks :mod:`boundlab.recheck.kernel` about each line.
"""

from boundlab.recheck._certificate import (
    SCHEMA as SCHEMA,
    load as load,
    recheck as recheck,
    recheck_loaded as recheck_loaded,
)
from boundlab.recheck._forms import (
    Finding as Finding,
    Form as Form,
    Sample as Sample,
    digest as digest,
    gradient_bound as gradient_bound,
    inner as inner,
    interpolation as interpolation,
    text_of as text_of,
)
